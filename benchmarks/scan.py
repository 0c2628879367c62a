"""Scans beside the machine's limit and beside plain NumPy and pandas: the numbers of docs/benchmarks/scan.md.

``python -m benchmarks.scan`` prints the page; ``-o FILE`` writes it; ``--rounds`` says how often.
Runs of the two sides alternate, so that what else the machine does hits both; each ratio is of two neighbours.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, product
from math import comb
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import limit
from xordal import learn, scan
from xordal.counting.cpu_numba import NumbaOracle
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.finalize import entropy
from xordal.counting.oracle import TableOracle
from xordal.counting.plain import CountingOracle
from xordal.counting.select import CountingJob
from xordal.data.table import CategoricalTable
from xordal.types.varsets import members, varset

N_COLUMNS = 200
TRIPLES = comb(N_COLUMNS, 3)
WIDE = 10_000  # columns beside a target
SHAPES = ((N_COLUMNS, 1_000), (N_COLUMNS, 10_000), (N_COLUMNS, 100_000), (1_000, 1_000))
GOALS = {1_000: 70, 10_000: 80, 100_000: 75}  # per cent of the limit
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Pair:
    """Seconds of two sides, measured in turn."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> NDArray[np.float64]:
        """How fast ours is, as a share of theirs, per round."""
        return np.asarray(np.array(self.theirs) / np.array(self.ours))


def table_of(n_rows: int, n_levels: int, seed: int = 7) -> CategoricalTable:
    """Return independent columns, and one that is the sum of two others."""
    codes = np.random.default_rng(seed).integers(0, n_levels, (N_COLUMNS, n_rows)).astype(np.int32)
    codes[17] = (codes[3] + codes[11]) % n_levels
    levels = (tuple(range(n_levels)),) * N_COLUMNS
    return CategoricalTable(tuple(f"v{v}" for v in range(N_COLUMNS)), levels, codes)


def bar_of(n_rows: int, n_levels: int) -> float:
    """Return the nats that one triple in some ten million reaches by chance."""
    return {2: 20.0, 3: 40.0}[n_levels] / n_rows


def found_by(oracle: TableOracle, bar: float) -> list[list[int]]:
    """Return the triples that a scan finds."""
    return [chosen for block in oracle.scan(3, lambda levels: bar) for chosen in block.sets.tolist()]


def seconds(run: Callable[[], object]) -> float:
    """Return how long a call takes."""
    started = perf_counter()
    run()
    return perf_counter() - started


def alternate(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Pair:
    """Measure two calls in turn, after one of each that does not count."""
    ours(), theirs()
    taken = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return Pair([one for one, _ in taken], [two for _, two in taken])


def against_limit(n_rows: int, threads: int, rounds: int, screen: bool = True) -> Pair:
    """Measure all triples of binary columns beside the limit; both must find the same."""
    table, bar = table_of(n_rows, 2), bar_of(n_rows, 2)
    oracle, words = NumbaOracle(table, threads=threads), limit.interleave(table.codes.astype(np.uint8))

    def theirs() -> list[list[int]]:
        shape = (N_COLUMNS, n_rows)
        sets, _ = limit.scan_triples(words, shape, bar, threads=threads, screen=screen)
        return sorted(sets.tolist())

    assert found_by(oracle, bar) == theirs()
    return alternate(lambda: found_by(oracle, bar), theirs, rounds)


def wide_table(n_columns: int, n_rows: int, n_levels: int, seed: int = 7) -> CategoricalTable:
    """Return independent columns, and a binary target that is the parity of two of them, often."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, n_levels, (n_columns + 1, n_rows), dtype=np.int32)
    codes[-1] = (codes[3] + codes[11]) % 2 ^ (generator.random(n_rows) < 0.1)
    levels = (*(tuple(range(n_levels)),) * n_columns, (0, 1))
    return CategoricalTable((*(f"v{v}" for v in range(n_columns)), "target"), levels, codes)


def user_call(table: CategoricalTable, threads: int, rounds: int) -> Pair:
    """Measure what a user calls beside the kernel for total correlation with its packing."""
    bar = bar_of(table.n_rows, 2)
    return alternate(
        lambda: scan(table, order=3, top=20, threads=threads),
        lambda: found_by(NumbaOracle(table, threads=threads), bar),
        rounds,
    )


def with_target(n_levels: int, threads: int, rounds: int) -> Pair:
    """Measure a scan for the best pairs with a target beside the limit; both must find the same twenty."""
    table = wide_table(WIDE, 1_000, n_levels)
    theirs = limit.Given(table.codes[:-1].astype(np.uint8), table.codes[-1])
    run = partial(scan, table, order=3, top=20, target="target", threads=threads)
    found, (sets, values) = run().sets, theirs.best(20, threads=threads)
    assert [list(members(one.variables)[:2]) for one in found] == sets.tolist()
    assert np.allclose([one.interaction for one in found], values, atol=1e-8)
    return alternate(run, lambda: theirs.best(20, threads=threads), rounds)


def widest(n_columns: int = 230_000, n_rows: int = 2_350) -> str:
    """Return how long a scan of as many columns as a chip of genetic markers has takes, with a target."""
    generator = np.random.default_rng(7)
    codes = np.empty((n_columns + 1, n_rows), dtype=np.uint8)
    for begin in range(0, n_columns, 10_000):
        part = codes[begin : min(begin + 10_000, n_columns)]
        part[:] = generator.integers(0, 2, part.shape, dtype=np.uint8)
    codes[-1] = codes[3] ^ codes[11] ^ (generator.random(n_rows) < 0.2)
    names = (*(f"v{v}" for v in range(n_columns)), "target")
    table = CategoricalTable(names, ((0, 1),) * (n_columns + 1), codes)  # type: ignore[arg-type] # one byte each
    started, found = perf_counter(), scan(table, order=3, top=20, target="target")
    taken = perf_counter() - started
    first = members(found.sets[0].variables)
    assert first == (3, 11, n_columns)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"All {found.n_sets:,} pairs of {n_columns:,} binary columns x {n_rows:,} rows with a target: "
        f"{taken:.0f} s, {found.n_sets / taken / 1e6:.0f} million/s, {memory:.1f} GiB with the table itself; "
        "the planted pair is first."
    )


def fours(n_rows: int, threads: int, rounds: int) -> Pair:
    """Measure all sets of four binary columns beside the limit; both must find the same."""
    table, bar = table_of(n_rows, 2), 25.0 / n_rows
    oracle, words = NumbaOracle(table, threads=threads), limit.interleave(table.codes.astype(np.uint8))

    def ours() -> list[list[int]]:
        return [chosen for block in oracle.scan(4, lambda levels: bar) for chosen in block.sets.tolist()]

    def theirs() -> list[list[int]]:
        return sorted(limit.scan_fours(words, (N_COLUMNS, n_rows), bar, threads=threads).tolist())

    assert ours() == theirs()
    return alternate(ours, theirs, rounds)


def four_lines(threads: list[int], rounds: int) -> list[str]:
    """Return the table of all sets of four beside the limit."""
    lines = [
        "| rows | threads | xordal, ms | million sets/s | C, ms | of the limit |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for n_rows in (1_000, 2_000, 10_000):
        for count in threads:
            pair = fours(n_rows, count, rounds)
            rate = comb(N_COLUMNS, 4) / np.median(pair.ours) / 1e6
            lines.append(
                f"| {n_rows:,} | {count} | {np.median(pair.ours) * 1e3:.0f} | {rate:.0f} "
                f"| {np.median(pair.theirs) * 1e3:.0f} | {spread(pair.ratios * 100, 0)} % |"
            )
    return lines


def call_lines(threads: list[int], rounds: int) -> list[str]:
    """Return the tables of what a user calls."""
    lines = [
        "| call | threads | ms | million sets/s | beside | ratio |",
        "|:---|---:|---:|---:|:---|---:|",
    ]
    for n_columns, n_rows in SHAPES:
        table = wide_table(n_columns - 1, n_rows, 2)
        for count in threads:
            pair = user_call(table, count, rounds if n_columns == N_COLUMNS else max(rounds // 3, 3))
            lines.append(
                f"| all triples of {n_columns:,} columns x {n_rows:,} rows | {count} "
                f"| {np.median(pair.ours) * 1e3:.1f} | {comb(n_columns, 3) / np.median(pair.ours) / 1e6:.0f} "
                f"| the kernel and its packing, {np.median(pair.theirs) * 1e3:.1f} ms "
                f"| {spread(1 / pair.ratios)} |"
            )
    for n_levels, count in product((2, 3), threads):
        pair = with_target(n_levels, count, max(rounds // 3, 3))
        lines.append(
            f"| all pairs of {WIDE:,} columns of {n_levels} values x 1,000 rows with a target | {count} "
            f"| {np.median(pair.ours) * 1e3:.0f} | {comb(WIDE, 2) / np.median(pair.ours) / 1e6:.0f} "
            f"| C, packed beforehand, {np.median(pair.theirs) * 1e3:.0f} ms | {spread(1 / pair.ratios)}: "
            f"{np.median(pair.ratios) * 100:.0f} % of C |"
        )
    for count in threads:
        pair = learned(count, max(rounds // 3, 3))
        lines.append(
            f"| `learn(table, max_variables=4)`, {N_COLUMNS} columns x 2,000 rows | {count} "
            f"| {np.median(pair.ours) * 1e3:.0f} | {comb(N_COLUMNS, 4) / np.median(pair.ours) / 1e6:.0f} "
            f"| the kernel, sets of four, {np.median(pair.theirs) * 1e3:.0f} ms | {spread(1 / pair.ratios)} |"
        )
    return lines


def learned(threads: int, rounds: int) -> Pair:
    """Measure learning with groups of up to four columns beside the bare scan of all sets of four."""
    table, bar = table_of(2_000, 2), 25.0 / 2_000
    return alternate(
        lambda: learn(table, max_variables=4, backend=partial(kernels, threads)),
        lambda: list(NumbaOracle(table, threads=threads).scan(4, lambda levels: bar)),
        rounds,
    )


def kernels(threads: int, table: CategoricalTable, job: CountingJob) -> NumbaOracle:
    """Return what counts a table with so many threads."""
    return NumbaOracle(table, threads=threads, check=job.check)


def more_memory(n_columns: int, n_rows: int) -> float:
    """Return by how many megabytes a scan raises the most that a process held, after one of ten columns."""
    program = (
        "import resource\n"
        "from benchmarks.scan import CategoricalTable, scan, wide_table\n"
        f"many = wide_table({n_columns - 1}, {n_rows}, 2)\n"
        "few = CategoricalTable(many.names[:10], many.levels[:10], many.codes[:10].copy())\n"
        "def most():\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "scan(few, order=3, top=20, backend='numba')\n"
        "before = most()\n"
        "scan(many, order=3, top=20, backend='numba')\n"
        "print(most() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def rates() -> list[str]:
    """Return how fast other sets are scanned for the best twenty, one thread."""
    found = []
    for what, table, order, target in (
        ("all sets of four of 100 binary columns x 2,000 rows", wide_table(99, 2_000, 2), 4, None),
        ("all triples of 100 three-valued columns x 2,000 rows", wide_table(99, 2_000, 3), 3, None),
        ("all pairs of 3,000 three-valued columns x 1,000 rows with a target", wide_table(3_000, 1_000, 3), 3,
         "target"),
    ):  # fmt: skip
        scan(table, order=order, top=20, target=target, threads=1)
        run = partial(scan, table, order=order, top=20, target=target, threads=1)
        taken = min(seconds(run) for _ in range(3))
        n_sets = run().n_sets
        found.append(f"- {what}: {n_sets:,} sets in {taken:.2f} s, {n_sets / taken / 1e6:.1f} million/s")
    return found


def ternary(threads: int, rounds: int) -> Pair:
    """Measure triples of three-valued columns beside binary ones of as many rows."""
    three, two = (NumbaOracle(table_of(16_384, r), threads=threads) for r in (3, 2))
    bars = bar_of(16_384, 3), bar_of(16_384, 2)
    return alternate(lambda: found_by(three, bars[0]), lambda: found_by(two, bars[1]), rounds)


def plain_rates(n_rows: int) -> dict[str, float]:
    """Return triples per second of plain scans in Python."""
    table = table_of(n_rows, 2)
    frame = pd.DataFrame(table.codes.T, columns=list(table.names))
    some = list(islice(combinations(range(N_COLUMNS), 3), 300))

    def with_pandas() -> None:
        for chosen in some[:50]:
            entropy(frame.groupby([f"v{v}" for v in chosen]).size().to_numpy())

    def with_numpy() -> None:
        for i, j, k in some:
            entropy(np.bincount(table.codes[i] * 4 + table.codes[j] * 2 + table.codes[k]))

    return {"NumPy": len(some) / seconds(with_numpy), "pandas": 50 / seconds(with_pandas)}


def started_anew(cache: str) -> float:
    """Return the seconds that a new process needs to count, scan and extend a small table."""
    program = (
        "from benchmarks.scan import *\n"
        "from time import perf_counter\n"
        "started = perf_counter()\n"
        "from xordal.counting.cpu_numba import NumbaOracle\n"
        "for r in (2, 3):\n"
        "    oracle = NumbaOracle(table_of(50, r), threads=1)\n"
        "    list(oracle.scan(2, lambda levels: 9.0)), list(oracle.scan(3, lambda levels: 9.0))\n"
        "    oracle.extensions([varset([0, 1])]), oracle.entropies([varset([0, 1])])\n"
        "print(perf_counter() - started)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)


def spread(values: NDArray[np.float64], digits: int = 2) -> str:
    """Return the median and the quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def triples_page(threads: int, rounds: int) -> list[str]:
    """Return the table of one number of threads."""
    lines = [
        "",
        f"#### {threads} thread{'s' * (threads > 1)}",
        "",
        "| rows | xordal, ms | million triples/s | C, ms | of the limit | goal | of C with all logarithms |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for n_rows, goal in GOALS.items():
        pair, slow = (against_limit(n_rows, threads, rounds, screen) for screen in (True, False))
        ours = np.array(pair.ours)
        lines.append(
            f"| {n_rows:,} | {spread(ours * 1e3)} | {TRIPLES / np.median(ours) / 1e6:.0f} "
            f"| {np.median(pair.theirs) * 1e3:.2f} | {spread(pair.ratios * 100, 0)} % | {goal} % "
            f"| {np.median(slow.ratios) * 100:.0f} % |"
        )
    return lines


def page(rounds: int, threads: list[int], wide: str | None) -> str:
    """Return the page."""
    lines = [
        "# Scanning all sets of columns",
        "",
        "## What you call",
        "",
        "`xordal.scan(table, order=3, top=20)` on a table in memory: packing, scanning, exact numbers of",
        "the best. The *kernel* scans all triples for those whose total correlation reaches a bar; it does",
        "less: it fits no margins and ranks nothing. With a target, *C* finds the same twenty pairs by the",
        "same bounds, from columns packed beforehand, and computes no p-values.",
        "",
        *call_lines(threads, rounds),
        "",
        "Beyond a scan of ten columns, with both tables in memory, a scan of all triples takes "
        + ", ".join(f"{more_memory(*shape):.0f} MB ({shape[0]:,} x {shape[1]:,})" for shape in SHAPES)
        + ".",
        "",
        "The best twenty of other sets, one thread:",
        "",
        *rates(),
        "",
        *([] if wide is None else [wide, ""]),
        "## The kernel: all triples",
        "",
        f"All {TRIPLES:,} triples of {N_COLUMNS} columns, keeping those whose total correlation reaches a bar.",
        "*C* is `benchmarks/limit/limit.c`: the best algorithm we know, written for speed alone, compiled",
        "for the machine when measured; both find the same triples. The last column is against the same C",
        "without the bound that spares most logarithms. Medians, with quartiles, of runs that alternate.",
        f"`python -m benchmarks.scan`, {rounds} rounds, {platform.machine()}, {os.cpu_count()} cores "
        f"(load average {os.getloadavg()[0]:.1f} when it began), Python {platform.python_version()}.",
        "",
        "### Binary columns",
    ]
    for count in threads:
        lines += triples_page(count, rounds)
    pair = ternary(1, max(rounds // 2, 3))
    lines += [
        "",
        "### Three-valued columns",
        "",
        f"{N_COLUMNS} columns x 16,384 rows, one thread: {TRIPLES / np.median(pair.ours) / 1e6:.1f} million "
        f"triples/s, 1/{np.median(1 / pair.ratios):.1f} of the binary rate at as many rows (at least 1/8).",
        "",
        "### Sets of four binary columns",
        "",
        f"All {comb(N_COLUMNS, 4):,} sets of four of {N_COLUMNS} columns, beside C that does the same.",
        "",
        *four_lines(threads, max(rounds // 3, 3)),
        "",
        "## Beside plain Python",
        "",
        "Entropies of triples only, one thread, 10,000 rows: "
        + ", ".join(f"{name} {rate:,.0f} triples/s" for name, rate in plain_rates(10_000).items())
        + ".",
        "",
        "## Single sets and extensions",
        "",
        *single_lines(),
        "",
        "## Start-up",
        "",
    ]
    with tempfile.TemporaryDirectory() as cache:
        first, later = started_anew(cache), started_anew(cache)
    lines.append(f"Compiling the kernels the first time: {first:.1f} s; loading them later: {later:.1f} s.")
    return "\n".join(lines) + "\n"


def single_lines() -> list[str]:
    """Return what counting given sets costs."""
    generator = np.random.default_rng(0)
    table = table_of(10_000, 2)
    fast, plain = NumbaOracle(table, threads=1), CountingOracle(NumpyCounter(table), table.n_levels)
    sets = [varset(generator.choice(N_COLUMNS, 3, replace=False).tolist()) for _ in range(10_000)]
    assert fast.entropies(sets[:100]).tolist() == plain.entropies(sets[:100]).tolist()
    pairs = [varset(generator.choice(N_COLUMNS, 2, replace=False).tolist()) for _ in range(500)]
    fast.extensions(pairs[:1])
    quick, slow = (
        seconds(lambda: fast.entropies(sets)) / len(sets),
        seconds(lambda: plain.entropies(sets[:300])) / 300,
    )
    extended = seconds(lambda: fast.extensions(pairs)) / len(pairs)
    return [
        f"10,000 rows, {N_COLUMNS} binary columns, one thread. The entropy of three variables takes "
        f"{quick * 1e6:.1f} microseconds (NumPy {slow * 1e6:.0f}); what all columns share with a pair, "
        f"{extended * 1e6:.0f}.",
    ]


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--widest", action="store_true", help="230,000 columns with a target too: minutes")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    asked = parser.parse_args()
    if limit.library() is None:
        sys.exit("The limit needs a C compiler: cc, gcc or clang on the path.")
    text = page(asked.rounds, asked.threads, widest() if asked.widest else None)
    if asked.output is None:
        print(text, end="")
    else:
        asked.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
