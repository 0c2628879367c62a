"""The study of density estimation: its tree is the best one, and its numbers are those of the network."""

from __future__ import annotations

import gzip
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recovery import density, smoothing
from benchmarks.recovery.density import Task, chow_liu, rows_of
from xordal import CategoricalTable
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate


def task(folder: Path) -> Task:
    """A chain of five noisy copies, written as the files of the study are."""
    (folder / "tiny").mkdir()
    for seed, (part, n) in enumerate((("train", 300), ("valid", 100), ("test", 150))):
        generator = np.random.default_rng(seed)
        columns = [generator.integers(0, 2, n)]
        for _ in range(4):
            columns.append(columns[-1] ^ (generator.random(n) < 0.2))
        lines = "\n".join(",".join(map(str, row)) for row in np.stack(columns).T.tolist())
        with gzip.open(folder / "tiny" / f"tiny.{part}.data.gz", "wt") as file:
            file.write(lines)
    return Task.read(folder, "tiny")


def likelihood(table: CategoricalTable, links: list[tuple[int, int]]) -> float:
    graph = ChordalGraph.empty(table.n_variables).add(links)
    network = estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=0)
    return float(network.log_prob(table.codes).sum())


def test_chow_liu_is_the_likeliest_tree(tmp_path: Path) -> None:
    table = task(tmp_path).train
    found = chow_liu(table).graph.links
    trees = []
    for links in combinations(combinations(range(5), 2), 4):
        reached = {0}
        for _ in range(4):
            reached |= {v for link in links for v in link if reached & set(link)}
        if len(reached) == 5:
            trees.append(likelihood(table, list(links)))
    assert len(trees) == 125
    assert likelihood(table, list(found)) == pytest.approx(max(trees), abs=1e-9)


def test_the_lines_of_one_table(tmp_path: Path) -> None:
    tiny = task(tmp_path)
    rows = list(rows_of(tiny, workers=1))
    assert [row[1] for row in rows] == [
        "Chow-Liu tree",
        "BIC(1), k = 1",
        *(f"tuned, no fill-in, k = {k}" for k in (1, 2, 3)),
        *(f"tuned, k = {k}" for k in (1, 2, 3)),
    ]
    mean = chow_liu(tiny.train.distinct()).log_prob(tiny.test.codes).mean()
    assert rows[0][5] == f"{mean:.4f} ({rows[0][5].split('(')[1]}"  # type: ignore[attr-defined]


def test_rows_spread_as_if_columns_were_independent_make_a_distribution(tmp_path: Path) -> None:
    network = chow_liu(task(tmp_path).train)
    cells = np.indices(network.n_levels).reshape(5, -1).astype(np.int32)
    for rows in (1.0, 100.0):
        assert np.exp(smoothing.margins(network, cells, rows)).sum() == pytest.approx(1)


def test_without_the_tables_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XORDAL_DATA", raising=False)
    with pytest.raises(SystemExit, match="Skipped: set XORDAL_DATA"):
        density.folder()
    monkeypatch.setenv("XORDAL_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="Skipped"):
        density.folder()
