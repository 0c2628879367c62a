"""Local search as users meet it: settings, interruption, the trace, files; BDeu beside directed networks."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from math import fsum, lgamma, prod
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.search.test_checkpoint import mixed
from xordal import (
    BIC,
    EBIC,
    BDeu,
    CategoricalTable,
    EntropyDecrement,
    Interrupted,
    Limits,
    SettingsError,
    Significance,
    TraceEntry,
    learn,
)
from xordal.cli.app import app, main
from xordal.data.write import csv_text
from xordal.formats.json import to_json
from xordal.graph.chordal import ChordalGraph, perfect_order
from xordal.learning.fitting import fit_network
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.replay import steps_of
from xordal.search.driver import Progress
from xordal.types.trace import links_after, single_link_part
from xordal.types.varsets import members

TABLE = mixed(0, 10)
SCORE = BIC(0.3)


def test_where_it_is_on() -> None:
    for criterion in (BIC(), EBIC(), BDeu()):
        assert learn(TABLE, criterion=criterion, limits=Limits(time_limit=1e-9)).settings["local_search"]
    quick = Limits(time_limit=1e-9)
    for off in (
        learn(TABLE, limits=quick),
        learn(TABLE, criterion=EntropyDecrement(), limits=quick),
        learn(TABLE, criterion=BIC(), schedule="printed", limits=quick),
        learn(TABLE, criterion=BIC(), prune=False, limits=quick),
        learn(TABLE, criterion=BIC(), local_search=False, limits=quick),
    ):
        assert off.settings["local_search"] is False
    asked = learn(TABLE, criterion=BIC(), schedule="single", local_search=True, limits=quick)
    assert asked.settings["local_search"] is True


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(SettingsError, match="needs a score"):
        learn(TABLE, criterion=Significance(), local_search=True)
    with pytest.raises(SettingsError, match="needs a score"):
        learn(TABLE, local_search=True)
    with pytest.raises(SettingsError, match="True, False or None"):
        learn(TABLE, criterion=BIC(), local_search=3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="only adds chordal link sets"):
        learn(TABLE, criterion=BIC(), engine="reference", local_search=True)


def test_the_moves_of_a_sequence_stand_in_the_trace_and_are_told() -> None:
    progress: list[Progress] = []
    learned = learn(TABLE, criterion=SCORE, fill_in=False, on_progress=progress.append)
    moves = [entry for entry in learned.trace if entry.sequence]
    assert moves
    assert all(entry.lookahead == 1 and len(entry.links) == 1 for entry in moves)
    assert {entry.action for entry in moves} == {"add", "remove"}
    assert all((entry.gain > 0) == (entry.action == "add") for entry in moves)
    assert links_after(learned.trace) == learned.links
    assert {at.lookahead for at in progress if at.is_local} == {1, 2, 3}
    assert [at.sets_scanned for at in progress] == sorted(at.sets_scanned for at in progress)
    assert progress[-1].sets_scanned == learned.run.sets_scanned
    greedy = learn(TABLE, criterion=SCORE, fill_in=False, local_search=False)
    assert single_link_part(learned.trace) == single_link_part(greedy.trace)
    words = [step.words for step in steps_of(learned) if step.sequence == 3]
    assert words
    assert all(told.startswith("one of 3 moves together") for told in words)


def test_an_interruption_does_not_cut_a_sequence() -> None:
    whole = learn(TABLE, criterion=SCORE, fill_in=False)
    first = next(place for place, entry in enumerate(whole.trace) if entry.sequence > 1)

    def stop_at(entry: TraceEntry) -> None:
        if entry == whole.trace[first]:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        learn(TABLE, criterion=SCORE, fill_in=False, on_entry=stop_at)
    assert stop.value.learned.trace == whole.trace[: first + whole.trace[first].sequence]


def test_a_limit_within_a_local_search_keeps_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(at: Progress) -> None:
        if at.is_local:
            monkeypatch.setattr("xordal.search.limits.monotonic", lambda: float("inf"))

    learned = learn(TABLE, criterion=SCORE, limits=Limits(time_limit=3600), on_progress=stop)
    assert learned.run.stopped_by == "time limit"
    assert learned.trace == learn(TABLE, criterion=SCORE, local_search=False).trace


def test_files_and_json_know_sequences(tmp_path: Path) -> None:
    learned = learn(TABLE, criterion=SCORE)
    told = to_json(learned)["trace"]
    assert isinstance(told, list)
    assert [entry.get("sequence", 0) for entry in told] == [entry.sequence for entry in learned.trace]
    fit_network(TABLE, learned).save(tmp_path / "net.json")
    again = DecomposableMarkovNetwork.load(tmp_path / "net.json").learned
    assert again is not None
    assert again.trace == learned.trace


def test_the_command_line(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text(csv_text(TABLE.names, TABLE.rows()))
    runs = {
        option: CliRunner().invoke(app, ["learn", str(data), "--bic", option, "--json"])
        for option in ("--local-search", "--no-local-search")
    }
    for option, result in runs.items():
        assert result.exit_code == 0
        assert json.loads(result.stdout)["local_search"] is (option == "--local-search")
    with pytest.raises(SystemExit) as refused:
        main(["learn", str(data), "--local-search"])
    assert refused.value.code == 2


def bdeu_of(table: CategoricalTable, graph: ChordalGraph, ess: float) -> float:
    """Return the score of the learned network: what the judge adds to that of no links, link by link."""
    from xordal.counting.cpu_numpy import NumpyCounter
    from xordal.graph.chain import additions
    from xordal.graph.signed_sets import change
    from xordal.statistics.criterion import Evidence, Sample
    from xordal.types.varsets import VarSet, varset

    sample = Sample(table.n_levels, table.n_rows, NumpyCounter(table), 3, 4)
    chain = additions(ChordalGraph.empty(table.n_variables), graph.links)
    assert chain is not None
    singles = {VarSet(1 << v): 1 for v in range(table.n_variables)}
    whole = varset(range(table.n_variables))
    parts = [singles, change(chain)] if chain else [singles]
    batch = [Evidence(whole, (), terms, 0.0, 0, table.n_rows) for terms in parts]
    return sum(verdict.rank for verdict in BDeu(ess).on(sample).judge(batch))


def graph_learned(table: CategoricalTable, ess: float) -> ChordalGraph:
    learned = learn(table, criterion=BDeu(ess))
    assert learned.links
    return ChordalGraph.empty(table.n_variables).add(learned.links)


def families(graph: ChordalGraph) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each variable and its parents in the directed graph of a perfect order."""
    order, earlier = perfect_order(graph.neighbours), 0
    assert order is not None
    for v in order:
        yield v, members(graph.neighbours[v] & earlier)
        earlier |= 1 << v


def family_score(table: CategoricalTable, child: int, parents: tuple[int, ...], ess: float) -> float:
    above = Counter(tuple(row[u] for u in parents) for row in table.rows())
    cells = Counter(tuple(row[u] for u in (*parents, child)) for row in table.rows())
    of_above = ess / prod(table.n_levels[u] for u in parents)
    of_cell = of_above / table.n_levels[child]
    return fsum(
        [
            *(lgamma(of_above) - lgamma(of_above + n) for n in above.values()),
            *(lgamma(of_cell + n) - lgamma(of_cell) for n in cells.values()),
        ]
    )


@pytest.mark.parametrize("ess", [1.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_bdeu_of_a_learned_network_is_that_of_its_directed_one(seed: int, ess: float) -> None:
    """By the formula of Heckerman et al. (1995), along a perfect order: a family for each variable."""
    table = mixed(seed, 8)
    graph = graph_learned(table, ess)
    directed = fsum(family_score(table, v, parents, ess) for v, parents in families(graph))
    assert bdeu_of(table, graph, ess) == pytest.approx(directed, rel=1e-12)


@pytest.mark.parametrize("ess", [1.0, 10.0])
@pytest.mark.slow
def test_bdeu_of_a_learned_network_is_that_of_pgmpy(ess: float) -> None:
    """The same data on the arcs along a perfect order, scored by another library."""
    pytest.importorskip("pgmpy", reason="pgmpy is not installed: pip install '.[peers]'")
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # newer versions have another place for it
        from pgmpy.estimators import BDeu as Directed

    table = mixed(1, 8)
    graph = graph_learned(table, ess)
    frame = pd.DataFrame(table.rows(), columns=list(table.names)).astype(str)
    scorer = Directed(frame, equivalent_sample_size=ess)
    directed = fsum(
        scorer.local_score(table.names[v], [table.names[u] for u in parents]) for v, parents in families(graph)
    )
    assert bdeu_of(table, graph, ess) == pytest.approx(directed, rel=1e-9)
