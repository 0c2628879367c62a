"""Fewer levels: bins for continuous columns, rare levels merged.

Both work on the levels and their counts, so weighted rows give the same bins as repeated rows, and equal values
are never torn apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.levels import as_numbers, unused
from xordal.errors import DataError, SettingsError, nearest

BinBy = Literal["quantile", "width"]
OTHER_LEVEL = "(other)"


@dataclass(frozen=True, slots=True)
class Bins:
    """How continuous columns are cut into levels.

    Parameters
    ----------
    number
        At most this many bins; fewer where a column's values do not fill them.
    by
        ``"quantile"``: about as many rows in each; ``"width"``: equally wide.
    """

    number: int = 4
    by: BinBy = "quantile"

    def __post_init__(self) -> None:
        if not isinstance(self.number, Integral) or self.number < 2:
            raise SettingsError(f"There must be a whole number of at least 2 bins, not {self.number!r}.")
        if self.by not in get_args(BinBy):
            raise SettingsError(f"Unknown way to bin {self.by!r}; {nearest(self.by, get_args(BinBy))}")


def binned(column: Column, bins: Bins, weights: NDArray[np.int64] | None = None) -> Column:
    """Return a column of numbers cut into bins, labelled by their bounds.

    Examples
    --------
    >>> from xordal.data.column import from_values
    >>> ages = from_values("age", [15, 18, 21, 40, 41, 43, 70, 90])
    >>> binned(ages, Bins(2)).levels, binned(ages, Bins(3, by="width")).levels
    (('<= 40', '> 40'), ('<= 40', '(40, 65]', '> 65'))
    """
    numbers = as_numbers(column.levels)
    if numbers is None:
        raise DataError(f"Column {column.name!r} holds no numbers, so it cannot be cut into bins.")
    values = np.array(numbers)
    place = np.argsort(values, kind="stable")
    edges = _edges(values[place], column.counts(weights)[place], bins)
    groups = np.searchsorted(edges, values, side="left")
    return column.regrouped(groups, _labels(edges)).compact()


def _edges(values: NDArray[np.float64], counts: NDArray[np.int64], bins: Bins) -> NDArray[np.float64]:
    """Return the upper bounds of all bins but the last, increasing; a value on a bound is below it."""
    if bins.by == "width":
        inner = np.linspace(values[0], values[-1], bins.number + 1)[1:-1]
        return np.unique(inner[inner < values[-1]])
    middle = np.cumsum(counts) - counts / 2  # a level goes where the middle one of its rows goes
    group = np.floor(bins.number * middle / counts.sum()).astype(np.int64)
    last_of_bin = np.flatnonzero(np.diff(group))
    return values[last_of_bin]


def _labels(edges: NDArray[np.float64]) -> list[str]:
    texts = [f"{edge:g}" for edge in edges]
    if len(set(texts)) < len(texts):
        texts = [repr(float(edge)) for edge in edges]
    if not texts:
        return ["all"]
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]


def merged(column: Column, fewer_than: int, weights: NDArray[np.int64] | None = None) -> Column:
    """Return a column whose levels of fewer rows than that are one level, ``"(other)"``, the last.

    A single rare level stays as it is: there is nothing to merge it with.
    """
    rare = column.counts(weights) < fewer_than
    if rare.sum() < 2:
        return column
    kept = [level for level, is_rare in zip(column.levels, rare, strict=True) if not is_rare]
    groups: Sequence[int] = np.where(rare, len(kept), np.cumsum(~rare) - 1).tolist()
    return column.regrouped(groups, [*kept, unused(OTHER_LEVEL, column.levels)])
