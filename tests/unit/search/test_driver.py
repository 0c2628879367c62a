"""A running search: progress, interruption and what is kept; settings that make no sense."""

from __future__ import annotations

import pytest

from xordal import CategoricalTable, EntropyDecrement, Interrupted, SettingsError, TraceEntry, learn
from xordal.pi.zoo import music_box
from xordal.search.driver import Progress
from xordal.search.gain import gains
from xordal.statistics.criterion import Evidence
from xordal.types import VarSet

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
        def rank(self, evidence: Evidence) -> float:
            return evidence.gain

        def tolerance(self, best: float) -> float:
            return 0.0

        def is_accepted(self, evidence: Evidence) -> bool:
            return evidence.n_rows == 4 and evidence.dof == 1

        def to_json(self) -> dict[str, object]:
            return {"name": "Anything"}

    assert learn(PAIR, criterion=Anything()).links == ((0, 1),)
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
