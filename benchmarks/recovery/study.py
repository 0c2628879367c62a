"""What all studies share: repeated runs by seed, intervals, and tables in Markdown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from xordal import CategoricalTable

Result = TypeVar("Result")


def interval(successes: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share.

    >>> [round(end, 4) for end in interval(0, 200)], [round(end, 3) for end in interval(98, 100)]
    ([0.0, 0.0183], [0.93, 0.998])
    """
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, runs - successes + 1, tail))
    high = 1.0 if successes == runs else float(betaincinv(successes + 1, runs - successes, 1 - tail))
    return low, high


def share_text(successes: int, runs: int) -> str:
    """Return a share with its interval, in per cent."""
    low, high = interval(successes, runs)
    return f"{100 * successes / runs:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def table_of(columns: Sequence[ArrayLike], names: Sequence[str] | None = None) -> CategoricalTable:
    """Return a table of columns of codes; levels that do not occur are left out."""
    found = [_coded(np.asarray(column)) for column in columns]
    codes = np.stack([place.reshape(-1).astype(np.int32) for _, place in found])
    levels = tuple(tuple(values.tolist()) for values, _ in found)
    return CategoricalTable(tuple(names or [f"x{place}" for place in range(len(found))]), levels, codes)


def _coded(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the levels of a column in their order, and the number of each row's."""
    is_code = column.dtype.kind == "i" and column.min() >= 0 and column.max() < len(column)
    if is_code and np.bincount(column).all():  # sorting a long column takes longer than learning from it
        return np.arange(column.max() + 1), column
    return np.unique(column, return_inverse=True)


def repeat(run: Callable[[int], Result], seeds: Iterable[int], workers: int) -> list[Result]:
    """Return the results of a run for each seed, in the order of the seeds."""
    if workers == 1:
        return [run(seed) for seed in seeds]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(run, seeds))


def markdown(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def arguments(what: str, runs: int) -> argparse.Namespace:
    """Parse what every study takes."""
    return parser_of(what, runs).parse_args()


def parser_of(what: str, runs: int) -> argparse.ArgumentParser:
    """Return a parser of what every study takes."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--runs", type=int, default=runs, help=f"runs per setting (default {runs})")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1); the result is the same")
    parser.add_argument("--only", default="", help="only settings whose name holds this")
    parser.add_argument("-o", "--output", type=Path, help="write the table here as well")
    return parser


def publish(story: str | None, table: str, output: Path | None, seeds: str = "seeds are 0, 1, 2, ...") -> None:
    """Print a table, and write the page of a study, its story and the table, where wanted."""
    print(table)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page(story, table, Path(sys.argv[0]).stem, seeds), encoding="utf-8")


def page(story: str | None, table: str, module: str, seeds: str = "seeds are 0, 1, 2, ...") -> str:
    """Return the page of a study, with what is to be said of its random numbers."""
    title, _, rest = (story or "").strip().partition("\n\n")
    made = f"Made by `python -m benchmarks.recovery.{module}`; {seeds}"
    return f"# {title.rstrip('.')}\n\n{rest}\n\n{table}\n{made}\n"
