"""What a person chose is checked before anything begins."""

from __future__ import annotations

import pytest

from xordal.errors import SettingsError
from xordal.statistics.scores import BIC
from xordal.web.settings import RunSettings


@pytest.mark.parametrize(
    "given",
    [
        {"max_links": "3"},
        {"nonsense": 1},
        {"max_links": 99},
        {"max_variables": 7},
        {"criterion": "best"},
        {"bins": 1},
        {"bins": 4, "bin_by": "luck"},
        {"required": [["a"]]},
        {"required": [["a", "a"]]},
        [],
        {"columns": "ab"},
        {"columns": [1]},
        {"max_links": 2, "max_variables": 3},
        {"max_links": True},
        {"time_limit": -1},
        {"missing": "what"},
        {"merge_rare": -1},
        {"value": 2.0},
    ],
)
def test_settings_that_cannot_be_are_refused(given: object) -> None:
    with pytest.raises(SettingsError):
        RunSettings.from_json(given)


def test_settings_become_what_the_library_takes() -> None:
    chosen = RunSettings.from_json(
        {"columns": ["a", "b"], "bins": 5, "max_variables": 4, "criterion": "bic", "forbidden": [["a", "b"]]}
    )
    assert chosen.reading().columns == ["a", "b"] and chosen.reading().bins is not None
    assert isinstance(chosen.search()["criterion"], BIC)
    assert chosen.plan().max_variables == 4
    assert chosen.plan().constraints.forbidden == (("a", "b"),)
