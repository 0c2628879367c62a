"""Rows of evidence on an alarm-sized learned network, beside pyAgrum's exact inference row by row, in one run.

The network is learned from 20,000 rows of the ALARM network (37 columns; needs the folder XORDAL_DATA). pyAgrum
answers fewer rows, since it takes them one at a time; compare rows per second. ``make bench`` prints both;
``python benchmarks/test_inference.py`` prints the same as a table with ratios.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from tests.agrum import as_bayesian_network, gum
from xordal import CategoricalTable, DecomposableMarkovNetwork, learn, read_table
from xordal.learning.fitting import fit_network
from xordal.model.observed import Observed

N_ROWS, N_PEER_ROWS = 100_000, 300
TARGET = "HRBP"
Answers = NDArray[np.float64]


@cache
def alarm() -> tuple[DecomposableMarkovNetwork, CategoricalTable]:
    """Return a network learned from random rows of ALARM, and rows drawn from it."""
    file = Path(os.environ.get("XORDAL_DATA", "")) / "bif" / "alarm.bif"
    if not file.is_file():
        pytest.skip("XORDAL_DATA names no folder of real data sets")
    gum.initRandom(1)
    source = gum.loadBN(str(file))
    drawn = gum.BNDatabaseGenerator(source)  # keeps no hold of the network: it must outlive this
    drawn.drawSamples(20_000)
    table = read_table(drawn.to_pandas().sort_index(axis="columns"))
    network = fit_network(table, learn(table, max_links=1))
    return network, network.sample(N_ROWS, seed=0)


@cache
def observed(share: float) -> NDArray[np.int64]:
    """Return rows of which each cell but the target is observed with that chance."""
    network, rows = alarm()
    codes = network.encode(rows.columns())
    if share < 1:
        codes[np.random.default_rng(0).random(codes.shape) >= share] = -1
    codes[network.variables.index(TARGET)] = -1
    return codes


def ours(codes: NDArray[np.int64]) -> Answers:
    """Return P(target | evidence) of all rows at once."""
    network, _ = alarm()
    logs = network.inference.joint(Observed(codes), [network.variables.index(TARGET)])
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def theirs(codes: NDArray[np.int64]) -> Answers:
    """Return the same by pyAgrum, one row after the other."""
    network, _ = alarm()
    lazy = gum.LazyPropagation(peer())
    lazy.addTarget(TARGET)
    answers = []
    for row in codes.T.tolist():
        lazy.setEvidence({name: code for name, code in zip(network.variables, row, strict=True) if code >= 0})
        lazy.makeInference()
        answers.append(lazy.posterior(TARGET).toarray())
    return np.array(answers)


@cache
def peer() -> gum.BayesNet:
    return as_bayesian_network(alarm()[0])


ENGINES: dict[str, tuple[Callable[[NDArray[np.int64]], Answers], int]] = {
    "xordal": (ours, N_ROWS),
    "pyAgrum": (theirs, N_PEER_ROWS),
}
TASKS = {"one column from all others": 1.0, "one column, 30 % of cells observed": 0.3}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", TASKS)
def test_evidence(benchmark: BenchmarkFixture, task: str, engine: str) -> None:
    run, n_rows = ENGINES[engine]
    codes = observed(TASKS[task])
    found = benchmark.pedantic(run, args=(codes[:, :n_rows],), rounds=3, iterations=1, warmup_rounds=1)  # type: ignore[no-untyped-call]
    assert np.abs(found[:N_PEER_ROWS] - theirs(codes[:, :N_PEER_ROWS])).max() < 1e-10
    if benchmark.stats is not None:  # None when timing is switched off
        benchmark.extra_info["rows_per_second"] = round(n_rows / benchmark.stats.stats.median)


def seconds(engine: str, task: str) -> float:
    run, n_rows = ENGINES[engine]
    codes = observed(TASKS[task])[:, :n_rows]
    times = []
    for _ in range(3):
        started = perf_counter()
        run(codes)
        times.append(perf_counter() - started)
    return float(np.median(times))


def main() -> None:
    network, _ = alarm()
    print(f"{len(network.variables)} columns, {len(network.graph.links)} links; median of 3")
    print(f"{'task':<38}{'xordal, 100,000 rows':>22}{'pyAgrum, a row':>16}{'ratio a row':>13}")
    for task in TASKS:
        mine, other = seconds("xordal", task), seconds("pyAgrum", task) / N_PEER_ROWS
        print(f"{task:<38}{mine:>20.2f} s{1000 * other:>13.2f} ms{other / (mine / N_ROWS):>12.0f}x")


if __name__ == "__main__":
    main()
