"""Reading 300,000 rows x 10 columns of strings beside ``pandas.factorize`` of the same columns, in one run.

``make bench`` prints the sources together; ``factorize`` is what a user of pandas would pay for codes alone.
``python benchmarks/test_reading.py`` prints the same as a table of seconds and ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from xordal import read_table

N_ROWS, N_COLUMNS, N_LEVELS = 300_000, 10, 8


def strings() -> pd.DataFrame:
    words = np.array([f"level {code}" for code in range(N_LEVELS)], dtype=object)
    codes = np.random.default_rng(0).integers(0, N_LEVELS, size=(N_COLUMNS, N_ROWS))
    return pd.DataFrame({f"column {v}": words[codes[v]] for v in range(N_COLUMNS)})


def factorize(frame: pd.DataFrame) -> None:
    for name in frame.columns:
        pd.factorize(frame[name])


TEXT = strings()
OBJECTS = TEXT.astype(object)
POLARS = pl.from_pandas(TEXT)
TASKS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "pandas.factorize, str": (factorize, TEXT),
    "pandas.factorize, object": (factorize, OBJECTS),
    "pandas str": (read_table, TEXT),
    "pandas object": (read_table, OBJECTS),
    "pandas category": (read_table, TEXT.astype("category")),
    "polars String": (read_table, POLARS),
    "polars Categorical": (read_table, POLARS.cast(pl.Categorical)),
    "Arrow string": (read_table, POLARS.to_arrow()),
    "NumPy object": (read_table, OBJECTS.to_numpy()),
}
LIMITS = {"pandas str": 1.0, "pandas object": 1.0, "polars String": 0.4, "Arrow string": 0.4}  # seconds


@pytest.mark.parametrize("task", TASKS)
def test_reading(benchmark: BenchmarkFixture, task: str) -> None:
    run, source = TASKS[task]
    benchmark.pedantic(run, args=(source,), rounds=5, iterations=1, warmup_rounds=1)  # type: ignore[no-untyped-call]
    if task in LIMITS and benchmark.stats is not None:  # None when timing is switched off
        assert benchmark.stats.stats.median < LIMITS[task]


def seconds(task: str, rounds: int = 5) -> float:
    run, source = TASKS[task]
    times = []
    for _ in range(rounds):
        started = perf_counter()
        run(source)
        times.append(perf_counter() - started)
    return float(np.median(times))


def main() -> None:
    taken = {task: seconds(task) for task in TASKS}
    of_text, of_objects = taken["pandas.factorize, str"], taken["pandas.factorize, object"]
    print(f"{N_ROWS:,} rows x {N_COLUMNS} columns of strings, {N_LEVELS} levels; median of 5")
    print(f"{'source':<26}{'seconds':>9}{'x factorize str':>17}{'x factorize object':>20}")
    for task, time in taken.items():
        print(f"{task:<26}{time:>9.3f}{time / of_text:>17.2f}{time / of_objects:>20.2f}")


if __name__ == "__main__":
    main()
