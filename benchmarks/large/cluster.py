"""What a cluster costs beside threads, and what it would take on machines that are not there."""

from __future__ import annotations

import os
from itertools import combinations
from math import ceil, comb
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from xordal.counting.dask.backend import DaskBackend, connected
from xordal.counting.oracle import CellCounter
from xordal.counting.select import CountingJob, oracle_for
from xordal.data.read import read_table
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, varset

_ROUNDS = 3
_WORKERS = (10, 100, 1000)


def seconds(counter: CellCounter, sets: list[VarSet]) -> float:
    """Return the shortest of some times that counting takes; the first, which loads things, does not count."""
    counter.counts(sets[:2])
    found = []
    for _ in range(_ROUNDS):
        began = perf_counter()
        counter.counts(sets)
        found.append(perf_counter() - began)
    return min(found)


def scan_seconds(oracle: Any) -> float:
    """Return the shortest of some times that a scan of all triples takes."""
    list(oracle.scan(2, lambda levels: 1.0))
    found = []
    for _ in range(_ROUNDS):
        began = perf_counter()
        list(oracle.scan(3, lambda levels: 0.01))
        found.append(perf_counter() - began)
    return min(found)


def wide(n_rows: int = 100_000, n_columns: int = 240) -> CategoricalTable:
    """Return a table of random bits."""
    codes = np.random.default_rng(7).integers(0, 2, (n_columns, n_rows), dtype=np.int32)
    return CategoricalTable(tuple(f"b{v}" for v in range(n_columns)), ((0, 1),) * n_columns, codes)


def page(folder: Path) -> list[str]:
    """Return what was measured of a cluster, and the estimate."""
    files = [str(file) for file in sorted(folder.glob("*.parquet"))[:2]]
    tall, broad = read_table(files), wide()
    triples = [varset(chosen) for chosen in combinations(range(tall.n_variables), 3)]
    rows: dict[str, float] = {}
    sets: dict[str, float] = {}
    for threads in (1, 2):
        job = oracle_for(tall, backend="blocks", threads=threads)
        rows[f"{threads} thread{'s' * (threads > 1)}"] = seconds(job, triples)
        sets[f"{threads} thread{'s' * (threads > 1)}"] = scan_seconds(
            oracle_for(broad, backend="numba", threads=threads)
        )
    empty = 0.0
    for workers in (1, 2):
        with connected(workers=workers) as backend:
            client = backend._client
            name = f"{workers} worker{'s' * (workers > 1)}"
            rows[name] = seconds(DaskBackend(client, split="rows")(tall, CountingJob()), triples)
            sets[name] = scan_seconds(DaskBackend(client, split="sets")(broad, CountingJob()))
            empty = _empty(client)
    n_count, n_scan = len(triples) * tall.n_rows, comb(broad.n_variables, 3) * broad.n_rows
    costs = Costs(rows["1 thread"] / n_count, sets["1 thread"] / n_scan, empty)
    return [
        "## Dask beside threads",
        "",
        f"Rows: all {len(triples):,} triples of {tall.n_variables} columns counted in {tall.n_rows:,} rows. "
        "Sets: all "
        f"{comb(broad.n_variables, 3):,} triples of {broad.n_variables} binary columns scanned in "
        f"{broad.n_rows:,} rows. The shortest of {_ROUNDS} times each, workers of one thread, on "
        f"{os.cpu_count()} cores.",
        "",
        "| | rows | beside the same threads | sets | beside the same threads |",
        "|---|---|---|---|---|",
        *[_line(name, rows, sets) for name in rows],
        "",
        f"A task that does nothing takes {1000 * empty:.1f} ms from the client and back, in a stream of 200.",
        "",
        *estimate(costs),
    ]


def _line(name: str, rows: dict[str, float], sets: dict[str, float]) -> str:
    alike = name.replace("worker", "thread")
    ratios = [f"{times[name] / times[alike]:.2f}" if alike != name else "" for times in (rows, sets)]
    return f"| {name} | {rows[name]:.2f} s | {ratios[0]} | {sets[name]:.2f} s | {ratios[1]} |"


def _empty(client: Any) -> float:
    """Return how long one of many tasks takes that does nothing."""
    began = perf_counter()
    client.gather(client.map(abs, range(200), pure=False))
    return (perf_counter() - began) / 200


class Costs:
    """Measured costs in seconds, on one thread: of a set and a row, counted and scanned; and of a task."""

    def __init__(self, count: float, scan: float, task: float) -> None:
        self.count, self.scan, self.task = count, scan, task

    def rows(self, n_rows: float, n_columns: int, workers: int) -> float:
        """Return the seconds to count all pairs and triples, split by rows."""
        n_sets = comb(n_columns, 2) + comb(n_columns, 3)
        work = n_sets * n_rows * self.count / workers
        rounds, ranges = ceil(n_sets / 4096), max(2 * workers, ceil(n_rows / 2**24))
        return work + rounds * ranges * self.task * 8 / 7  # a tree of eights adds a seventh of the tasks

    def sets(self, n_rows: float, n_columns: int, workers: int) -> float:
        """Return the seconds to scan all pairs and triples, split by first variables."""
        n_sets = comb(n_columns, 2) + comb(n_columns, 3)
        longest = comb(n_columns - 1, 2)  # the sets of one first variable are one task
        return max(n_sets / workers, longest) * n_rows * self.scan + 4 * workers * self.task


def estimate(costs: Costs) -> list[str]:
    """Return the estimate for many workers, in words."""
    lines = [
        "## Past two cores: an estimate",
        "",
        "**Not measured.** Costs of one thread as above: "
        f"{costs.count * 1e12:.2f} ps for a triple and a row counted, {costs.scan * 1e12:.3f} ps for a triple "
        f"of binary columns and a row scanned, {costs.task * 1e3:.1f} ms for a task. All pairs and triples "
        "once, which is most of a search with k = 3; columns like those above; every worker one core as fast "
        "as this one, and the packed table in its page cache or its memory. Reading, by the workers, and "
        "packing, by one process, come once on top.",
        "",
        "| table | split by | " + " | ".join(f"{n:,} workers" for n in _WORKERS) + " |",
        "|---|---|" + "---|" * len(_WORKERS),
    ]
    for name, how, n_rows, n_columns in (
        ("10^9 rows x 100 columns", "rows", 1e9, 100),
        ("10^5 rows x 10^4 columns", "sets", 1e5, 10_000),
    ):
        ask = costs.rows if how == "rows" else costs.sets
        times = " | ".join(told(ask(n_rows, n_columns, workers)) for workers in _WORKERS)
        lines.append(f"| {name} | {how} | {times} |")
    return [
        *lines,
        "",
        "By rows, every round of 4,096 sets is a task for each range of rows. By sets, the sets that begin "
        "with one column are one task at least, so that more workers than a third of the columns do not help.",
    ]


def told(time: float) -> str:
    """Return a time in words."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if time >= 2 * size:
            return f"{time / size:.1f} {unit}"
    return f"{time:.0f} s"
