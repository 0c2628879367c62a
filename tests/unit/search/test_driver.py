"""A running search: progress, interruption and what is kept; settings that make no sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from xordal import CategoricalTable, DataError, EntropyDecrement, Interrupted, SettingsError, TraceEntry, learn
from xordal.formats.json import to_json
from xordal.pi.zoo import conditional_pi, music_box, parity
from xordal.search.candidate import gains
from xordal.search.constraints import Constraints
from xordal.search.driver import Progress
from xordal.search.limits import Limits
from xordal.statistics.criterion import Evidence, Sample, Shape, Verdict
from xordal.types.varsets import VarSet

PAIR = CategoricalTable.from_columns({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})


def test_entries_and_progress_are_told_as_they_happen() -> None:
    entries: list[TraceEntry] = []
    progress: list[Progress] = []
    learned = learn(music_box().joint.exact_table(), on_entry=entries.append, on_progress=progress.append)
    assert tuple(entries) == learned.trace
    assert {at.lookahead for at in progress} == {1, 2, 3}
    assert [at.sets_scanned for at in progress] == sorted(at.sets_scanned for at in progress)
    assert progress[-1].sets_scanned == learned.run.sets_scanned


def test_interruption_keeps_what_was_learned() -> None:
    whole = learn(music_box().joint.exact_table())

    def stop_at(entry: TraceEntry) -> None:
        if entry == whole.trace[3]:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        learn(music_box().joint.exact_table(), on_entry=stop_at)
    partial = stop.value.learned
    assert partial.trace == whole.trace[:4]
    assert partial.run.graphs_tested == whole.trace[3].graphs_tested
    assert not partial.run.is_complete
    assert whole.run.is_complete


def test_interruption_while_groups_are_sought_keeps_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("xordal.learning.groups.color", interrupted)
    with pytest.raises(Interrupted) as stop:
        learn(music_box().joint)
    assert len(stop.value.learned.links) == 12
    assert stop.value.learned.submodels is None


def test_a_limit_reached_while_groups_are_sought_keeps_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    table = music_box().joint.exact_table()
    monkeypatch.setattr("xordal.search.limits._AFTER", -1.0)
    monkeypatch.setattr("xordal.search.limits._LEAST_AFTER", -3600.0)
    learned = learn(table, limits=Limits(time_limit=3600))
    assert len(learned.links) == 12
    assert learned.run.is_complete
    assert learned.submodels is None
    assert learned.colored_links is None


def test_groups_of_a_large_clique_are_bounded_and_said_so() -> None:
    learned = learn(parity(variables=12).joint, max_variables=12)
    assert [submodel.kind for submodel in learned.submodels or ()] == ["full"]
    assert learned.submodels_up_to == 4
    assert to_json(learned)["submodels_up_to"] == 4
    small = learn(parity(variables=5).joint, max_variables=5)
    assert small.submodels_up_to is None
    assert "submodels_up_to" not in to_json(small)


def test_groups_in_samples_and_their_context() -> None:
    """By size, what follows from other groups is not listed; by the letter all are."""
    table = music_box().joint.sample_table(5000, seed=1)
    assert len(to_json(learn(table))["submodels"]) == 3  # type: ignore[arg-type]
    found = to_json(learn(table, hidden_by="letter"))
    assert len(found["submodels"]) == 5  # type: ignore[arg-type]
    assert len(found["colored_links"]) == 10  # type: ignore[arg-type]
    groups = to_json(learn(conditional_pi().joint))["submodels"]
    assert isinstance(groups, list)
    assert [(group["variables"], group["context"]) for group in groups] == [(["x", "y", "z"], ["c"])]
    assert learn(conditional_pi().joint).colored_links == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_links": "3"},
        {"max_links": 2.0},
        {"max_links": True},
        {"criterion": 0.02},
    ],
)
def test_wrong_types_are_settings_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        learn(PAIR, **wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="delta_h"):
        EntropyDecrement("0.1")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"survey\.csv"):
        learn("survey.csv")
    with pytest.raises(DataError, match="int"):
        learn(7)


def test_one_column_or_one_row_has_no_links() -> None:
    assert learn(CategoricalTable.from_columns({"x": [0, 1]})).links == ()
    one_row = learn(CategoricalTable.from_columns({"x": [0], "y": [1]}))
    assert one_row.links == ()
    assert one_row.cliques == ((0,), (1,))


def test_settings_that_contradict_or_exceed() -> None:
    with pytest.raises(SettingsError, match="not both"):
        learn(PAIR, max_links=3, max_variables=3)
    with pytest.raises(SettingsError, match="at least 2"):
        learn(PAIR, max_variables=1)
    with pytest.raises(SettingsError, match="did you mean 'fast'"):
        learn(PAIR, engine="fasst")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="only the paper's bound"):
        learn(PAIR, max_variables=2, engine="reference")
    for delta_h in (-0.1, float("nan"), float("inf")):
        with pytest.raises(SettingsError, match="delta_h"):
            EntropyDecrement(delta_h)


def test_the_reference_refuses_other_criteria() -> None:
    class Anything:
        is_score = False

        def on(self, sample: Sample) -> Anything:
            return self

        def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
            return gains

        def highest(self, batch: Sequence[Evidence]) -> list[float]:
            return [e.gain for e in batch]

        def least_gain(self, shape: Shape) -> float:
            return 0.0

        def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
            return [Verdict(e.gain, e.n_rows == 4 and e.dof == 1, log_p_value=-1.0) for e in batch]

        def tolerance(self, best: float) -> float:
            return 0.0

        def log_p_values(self, batch: Sequence[Evidence]) -> list[float] | None:
            return None

        def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
            return [verdict.is_accepted for verdict in self.judge(batch)]

        def to_json(self) -> dict[str, object]:
            return {"name": "Anything"}

    learned = learn(PAIR, criterion=Anything())
    assert learned.links == ((0, 1),)
    assert learned.trace[0].log_p_value == -1.0
    assert learned.submodels == ()
    with pytest.raises(SettingsError, match="only the paper's criterion"):
        learn(PAIR, criterion=Anything(), engine="reference")


def test_a_gain_does_not_depend_on_the_order_of_its_terms() -> None:
    values = {VarSet(1): 0.1, VarSet(2): 0.2, VarSet(4): 0.3, VarSet(7): 0.7}

    class Given:
        def entropies(self, sets: list[VarSet]) -> object:
            import numpy as np

            return np.array([values[s] for s in sets])

    forward = {VarSet(7): 1, VarSet(1): -1, VarSet(2): -1, VarSet(4): -1}
    backward = dict(reversed(forward.items()))
    assert gains([forward], Given()) == gains([backward], Given())  # type: ignore[arg-type]


def test_a_lookahead_beyond_all_links_ends_at_once() -> None:
    assert learn(PAIR, max_links=10**8, criterion=EntropyDecrement()).links == ((0, 1),)
    for wrong in ("3", 2.5, 1):
        with pytest.raises(SettingsError, match="max_clique"):
            Limits(max_clique=wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="time_limit"):
        Limits(time_limit="60s")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="list of pairs"):
        Constraints(required=None)  # type: ignore[arg-type]
