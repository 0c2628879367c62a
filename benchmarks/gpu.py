"""Scans on a GPU, the user's call and the kernel alone: the numbers of docs/benchmarks/gpu.md.

``python -m benchmarks.gpu`` prints the page on a machine with an NVIDIA GPU; ``-o FILE`` writes it; ``--quick``
takes smaller tables. Times are the best of some runs after one that does not count, which also compiles the
kernels. The kernel's own time is measured by events of the device.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import comb
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.planted import planted
from xordal import Limits, learn, scan
from xordal.counting.gpu.cupy_engine import CupyEngine
from xordal.counting.gpu.engine import threes_bytes
from xordal.counting.gpu.fours import Fours
from xordal.counting.gpu.scan import THREES_BYTES
from xordal.counting.gpu.screening import Columns
from xordal.counting.oracle import Measure
from xordal.counting.select import oracle_for
from xordal.data.table import CategoricalTable
from xordal.types.varsets import VarSet, varset

N_TABLES, TOP = 100, 20  # on which the GPU's best sets are compared with the processor's, and how many
MEASURES: tuple[Measure, ...] = ("total", "needed", "interaction")


@dataclass(frozen=True)
class Timed:
    """Seconds of the first call, which may compile, and of the best of the others."""

    first: float
    best: float


def timed(call: Callable[[], object], rounds: int = 3) -> Timed:
    """Time a call: once for the kernels to be compiled, then some times."""
    seconds = []
    for _ in range(rounds + 1):
        started = perf_counter()
        call()
        seconds.append(perf_counter() - started)
    return Timed(seconds[0], min(seconds[1:]))


def table_of(codes: NDArray[np.int32], names: tuple[str, ...] | None = None) -> CategoricalTable:
    """Return codes as a table; levels are those that occur."""
    known = {r: tuple(range(r)) for r in range(1, 17)}
    n_levels = (codes.max(axis=1) + 1).tolist()
    names = names or tuple(f"v{v}" for v in range(len(codes)))
    return CategoricalTable(names, tuple(known[r] for r in n_levels), codes)


MOST_SECONDS = 100  # of a run of learning
PARENTS = (3, 7, 11)  # places of the columns whose sum the last one is: two of them, or three


def hidden(
    n_columns: int, n_rows: int, n_levels: int, *, skewed: bool = False, parents: int = 2
) -> CategoricalTable:
    """Return independent columns, and one that is the sum of two or three others in nine rows of ten."""
    generator = np.random.default_rng(1)
    if skewed:
        share = generator.uniform(0.1, 0.5, (n_columns, 1))
        codes = (generator.random((n_columns, n_rows), dtype=np.float32) < share).astype(np.int32)
    else:
        codes = generator.integers(0, n_levels, (n_columns, n_rows), dtype=np.int32)
    codes[-1] = (codes[list(PARENTS[:parents])].sum(axis=0) + (generator.random(n_rows) < 0.1)) % n_levels
    return table_of(codes)


def kernel_seconds(n_columns: int, n_rows: int, n_levels: int, nats: float, rounds: int = 3) -> float:
    """Return how long the screen of all triples of fair columns takes on the device, by its own clock."""
    engine = CupyEngine()
    xp = engine.xp
    codes = (xp.random.rand(n_columns, n_rows, dtype=xp.float32) * n_levels).astype(xp.uint8)
    columns = Columns(engine, codes, np.full(n_columns, n_levels))
    job = columns.job(0, n_columns, lambda levels: nats)
    seconds = []
    for _ in range(rounds + 1):
        begin, end = xp.cuda.Event(), xp.cuda.Event()
        begin.record()
        engine.screen(job, 1 << 20)
        end.record()
        end.synchronize()
        seconds.append(xp.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(min(seconds[1:]))


def kernels(quick: bool) -> Iterator[str]:
    """Yield rows: triples of binary columns, by rows of the table."""
    sizes = [(10_240, 1_024), (10_240, 2_048), (10_240, 3_584), (8_192, 8_192), (4_096, 32_768)]
    for n_columns, n_rows in sizes:
        n_columns = n_columns // 4 if quick else n_columns  # noqa: PLW2901
        seconds = kernel_seconds(n_columns, n_rows, 2, nats=21 / n_rows)
        rate = comb(n_columns, 3) * n_rows / seconds / 1e15
        yield f"| {n_columns:,} | {n_rows:,} | {seconds:.3f} | {rate:.2f} |"


def kernel_seconds_of_four(n_columns: int, n_rows: int, nats: float, rounds: int = 3) -> float:
    """Return how long the screen of all sets of four fair columns takes on the device, by its own clock."""
    engine = CupyEngine()
    xp = engine.xp
    codes = (xp.random.rand(n_columns, n_rows, dtype=xp.float32) * 2).astype(xp.uint8)
    fours = Fours(Columns(engine, codes, np.full(n_columns, 2)))
    widest = max(1, THREES_BYTES // threes_bytes(n_columns))
    ranges = [(begin, min(begin + widest, n_columns)) for begin in range(0, n_columns, widest)]
    jobs = [fours.job(begin, end, nats, "total") for begin, end in ranges]
    seconds = []
    for _ in range(rounds + 1):
        begin, end = xp.cuda.Event(), xp.cuda.Event()
        begin.record()
        for job in jobs:
            engine.fours(job, 1 << 20)
        end.record()
        end.synchronize()
        seconds.append(xp.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(min(seconds[1:]))


def kernels_of_four(quick: bool) -> Iterator[str]:
    """Yield rows: sets of four binary columns, by rows of the table."""
    for n_columns, n_rows in [(1_000, 1_024), (1_000, 2_048), (1_000, 10_000), (2_000, 2_000)]:
        n_columns = n_columns // 4 if quick else n_columns  # noqa: PLW2901
        seconds = kernel_seconds_of_four(n_columns, n_rows, nats=29 / n_rows)
        rate = comb(n_columns, 4) * n_rows / seconds / 1e15
        yield f"| {n_columns:,} | {n_rows:,} | {seconds:.3f} | {rate:.2f} |"


def calls(quick: bool) -> Iterator[str]:
    """Yield rows: what a user calls, with a table in the memory of the host."""
    small = 4 if quick else 1
    four = "all sets of four, binary"
    for name, table, order, has_target in (
        ("all triples, fair binary", hidden(10_240 // small, 1_024, 2), 3, False),
        (
            "all triples, binary with shares of 0.1 to 0.5",
            hidden(10_240 // small, 1_024, 2, skewed=True),
            3,
            False,
        ),
        ("all triples, three levels", hidden(5_000 // small, 2_000, 3), 3, False),
        ("pairs with a binary target", hidden(230_000 // small, 2_350, 2), 3, True),
        (four, hidden(1_000 // small, 1_024, 2, parents=3), 4, False),
        (four, hidden(1_000 // small, 10_000, 2, parents=3), 4, False),
        (
            f"{four}, shares of 0.1 to 0.5",
            hidden(1_000 // small, 1_024, 2, skewed=True, parents=3),
            4,
            False,
        ),
    ):
        target = table.names[-1] if has_target else None

        def call(table: CategoricalTable = table, order: int = order, target: str | None = target) -> Any:
            return scan(table, order=order, top=20, target=target, backend="gpu")

        took = timed(call)
        found = call()
        expected = *(table.names[v] for v in PARENTS[: order - 1]), table.names[-1]
        assert found.names(found.sets[0].variables) == expected
        n_columns, n_rows = table.codes.shape
        sizes = f"{n_columns:,} | {n_rows:,} | {found.n_sets:.1e}"
        yield f"| {name} | {sizes} | {took.best:.2f} | {took.first:.2f} |"


def random_table(seed: int, order: int) -> CategoricalTable:
    """Return a table with 1 to 5 levels, ties, constants, and 1 to 20,000 rows; binary for sets of four."""
    generator = np.random.default_rng([seed, order])
    n_rows = int(10 ** generator.uniform(0, np.log10(20_000)))
    if order == 4:
        n_columns = int(generator.integers(5, 60 if n_rows < 2_000 else 30))
        shares = generator.uniform(0.02, 0.5, (n_columns, 1))
        codes = (generator.random((n_columns, n_rows)) < shares).astype(int)
    else:
        n_columns, most = int(generator.integers(4, 150 if n_rows < 2_000 else 60)), generator.integers(2, 6)
        codes = generator.integers(0, generator.integers(2, most + 1, (n_columns, 1)), (n_columns, n_rows))
    codes[1] = codes[0]
    codes[-1] = codes[[0, 2, *range(3, order)]].sum(axis=0) % 2
    if seed % 3 == 0:
        codes[3] = 0
    codes = np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes])
    return table_of(codes.astype(np.int32))


def same_as_the_processor(n_tables: int, order: int) -> tuple[int, int]:
    """Return on how many random tables both scanners have the same best sets, and how many sets there were."""
    same = n_sets = 0
    for seed in range(n_tables):
        table = random_table(seed, order)
        measure, base = MEASURES[seed % 3], varset([2]) if seed % 4 == 0 and order == 3 else VarSet(0)
        size = order - bool(base)
        ours, theirs = (best_by(table, backend, size, measure, base) for backend in ("gpu", "numba"))
        values = {**ours, **theirs}  # exact numbers, and so ranks, come from one function: these stand for them
        best = sorted(values, key=lambda chosen: (-values[chosen], chosen))[:TOP]
        same += all(abs(ours.get(one, np.inf) - theirs.get(one, -np.inf)) < 1e-6 for one in best)
        n_sets += comb(table.n_variables - bool(base), size)
    return same, n_sets


def best_by(
    table: CategoricalTable, backend: str, size: int, measure: Measure, base: VarSet
) -> dict[tuple[int, ...], float]:
    """Return what a scanner returns for the best sets, and what it says of them."""
    oracle = oracle_for(table, backend=backend)
    blocks = oracle.scan(size, lambda levels: 1e-6, measure=measure, top=TOP, base=base)
    return {
        tuple(chosen): value
        for block in blocks
        for chosen, value in zip(block.sets.tolist(), block.shared.tolist(), strict=True)
    }


def learned(n_columns: int, n_rows: int, n_hidden: int, backend: str) -> tuple[float, str]:
    """Return how long learning takes, and which links are found."""
    table, links = planted(n_columns, n_rows, n_hidden)
    started = perf_counter()
    found = learn(table, backend=backend, limits=Limits(time_limit=MOST_SECONDS))
    seconds = perf_counter() - started
    right, wrong = len(set(found.links) & set(links)), len(set(found.links) - set(links))
    return seconds, f"{right:,} of {len(links):,}, {wrong or 'no'} other"


def page(quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    yield "# Scanning on a GPU"
    yield ""
    yield f"One {name}, CuPy {cupy.__version__}, Python {platform.python_version()}."
    yield f"Measured on {datetime.now(UTC):%Y-%m-%d} by `python -m benchmarks.gpu`."
    yield "Times are in seconds, the best of three after one that does not count."
    yield ""
    for section in (of_kernels, of_calls, of_sizes, of_the_same, of_learning):
        yield from section(quick)


def of_kernels(quick: bool) -> Iterator[str]:
    """Yield what the kernels alone take."""
    yield "## The kernel: all triples of binary columns"
    yield ""
    yield "By the clock of the device. The bar is 21 / rows nats, which one triple in sixty million reaches"
    yield "by chance. The rate is in 10^15 triples x rows a second; one-bit products alone reach 5 on an H200."
    yield ""
    yield "| columns | rows | seconds | 10^15 triples x rows/s |"
    yield "|---:|---:|---:|---:|"
    yield from kernels(quick)
    yield ""
    yield "## The kernel: all sets of four binary columns"
    yield ""
    yield "The bar is 29 / rows nats, as rare among sets of four. The rate counts sets x rows."
    yield ""
    yield "| columns | rows | seconds | 10^15 sets x rows/s |"
    yield "|---:|---:|---:|---:|"
    yield from kernels_of_four(quick)
    yield ""


def of_calls(quick: bool) -> Iterator[str]:
    """Yield what a user waits for."""
    yield '## What a user calls: `scan(table, order=3, top=20, backend="gpu")`'
    yield ""
    yield "The table is in the memory of the host: sending it, packing, scanning and the exact numbers of the"
    yield "best are all in it. The last column is the first call of its kind in a process, which compiles"
    yield "kernels or loads them."
    yield ""
    yield "| scan | columns | rows | sets | seconds | first call |"
    yield "|---|---:|---:|---:|---:|---:|"
    yield from calls(quick)
    yield ""


def of_sizes(quick: bool) -> Iterator[str]:
    """Yield from which size a GPU pays."""
    yield "## From which size"
    yield ""
    yield f"All triples of fair binary columns, `top=20`, kernels loaded; the processor has {_cores()} cores."
    yield "`auto` takes the GPU from 5e12 sets x rows, since loading its kernels costs a second once."
    yield ""
    yield "| columns | rows | sets x rows | GPU | processor |"
    yield "|---:|---:|---:|---:|---:|"
    for n_columns in (300, 1_000) if quick else (300, 1_000, 3_000, 6_000):
        table = hidden(n_columns, 1_024, 2)
        gpu, numba = (
            timed(lambda table=table, backend=backend: scan(table, order=3, top=20, backend=backend)).best  # type: ignore[misc]
            for backend in ("gpu", "numba")
        )
        work = comb(n_columns, 3) * 1_024
        yield f"| {n_columns:,} | 1,024 | {work:.1e} | {gpu:.2f} | {numba:.2f} |"
    yield ""


def of_the_same(quick: bool) -> Iterator[str]:
    """Yield on how many tables both scanners agree."""
    n_tables = 10 if quick else N_TABLES
    of_three, n_threes = same_as_the_processor(n_tables, 3)
    of_four, n_fours = same_as_the_processor(n_tables, 4)
    yield "## The same as the processor"
    yield ""
    yield f"On {of_three} of {n_tables} random tables (2 to 5 levels, copies, sums, constants, 1 to 20,000"
    yield f"rows; {n_threes:,} triples in all, three measures, some with a base) both scanners return the"
    yield f"same {TOP} best triples, with the same numbers to 1e-6 nats; on {of_four} of {n_tables}"
    yield f"binary tables with shares of 0.02 to 0.5 the same {TOP} best sets of four"
    yield f"({n_fours:,} sets). Exact numbers and ranks are made of counts by one function for all backends."
    yield ""


def of_learning(quick: bool) -> Iterator[str]:
    """Yield how long learning takes with a GPU and without."""
    yield "## Learning"
    yield ""
    yield f"`learn` on hidden triples among chains, 2,000 rows; the processor has {_cores()} cores. Up to 2,000"
    yield f"columns the better of two runs; a run is ended after {MOST_SECONDS} s."
    yield ""
    yield "| columns | hidden triples | GPU | processor | links found |"
    yield "|---:|---:|---:|---:|---|"
    for n_columns, n_hidden in ((500, 5),) if quick else ((2_000, 20), (5_000, 50), (10_000, 100)):
        is_small = n_columns <= 2_000  # a wide table is the GPU's alone, once
        gpu, links = min(learned(n_columns, 2_000, n_hidden, "gpu") for _ in range(1 + is_small))
        numba = [learned(n_columns, 2_000, n_hidden, "numba")[0] for _ in range(2 * is_small)]
        cpu = f"{min(numba):.1f}" if numba else ""
        yield f"| {n_columns:,} | {n_hidden} | {gpu:.1f} | {cpu} | {links} |"


def _cores() -> int:
    from xordal.counting.threads import n_threads

    return n_threads(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    oracle_for(
        table_of(np.array([[0, 1], [1, 0], [0, 1]], np.int32)), backend="gpu"
    )  # an error before anything
    lines = []
    for line in page(options.quick):
        print(line, flush=True)
        lines.append(line)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
