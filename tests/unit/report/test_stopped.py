"""A search that was stopped does not say that there is nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xordal.data.table import CategoricalTable
from xordal.formats.overview import overview
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.report.html import report_page
from xordal.report.summary import summarise
from xordal.types.learned import Learned
from xordal.web.results import result_of

TABLE = CategoricalTable.from_rows(
    ["a", "b", "c"], [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 25 + [(0, 0, 0)] * 60
)


def learned(*, is_stopped: bool) -> Learned:
    """Return a network of pairs, as learned to the end or up to an interruption."""
    found = learn(TABLE, max_links=1)
    assert found.links and not found.submodels and not found.rules
    return replace(found, run=replace(found.run, stopped_by="interruption")) if is_stopped else found


@pytest.mark.parametrize("is_stopped", [False, True])
def test_what_was_not_looked_for_is_not_said_to_be_missing(is_stopped: bool) -> None:
    network = fit_network(TABLE, learned(is_stopped=is_stopped))
    summary = summarise(network)
    assert summary.is_complete is not is_stopped
    assert ("stopped before it was done" in summary.lead) is is_stopped
    assert ("No hidden groups: pairs of columns explain" in report_page(summary)) is not is_stopped
    assert result_of(network, "")["is_complete"] is not is_stopped
    assert ("no hidden groups so far" in overview(learned(is_stopped=is_stopped))) is is_stopped
