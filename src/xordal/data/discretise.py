"""Fewer levels: bins for continuous columns, rare levels merged.

Both work on the levels and their counts, so weighted rows give the same bins as repeated rows, and equal values
are never torn apart.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise
from numbers import Integral
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.levels import as_numbers, unused
from xordal.errors import DataError, SettingsError, nearest
from xordal.types.choices import BinBy

OTHER_LEVEL = "(other)"

_NUMBER = r"[+-]?[0-9.]+(?:e[+-]?[0-9]+)?"
_LABEL = re.compile(
    rf"<= (?P<to>{_NUMBER})|> (?P<above>{_NUMBER})|\((?P<low>{_NUMBER}), (?P<high>{_NUMBER})\]|all"
)


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


@dataclass(frozen=True, slots=True)
class Binning:
    """Which columns are cut into bins, and how.

    Parameters
    ----------
    others
        How columns that look continuous and are not named are cut; None leaves them.
    named
        How the columns of these names are cut, whatever they look like.
    was_asked
        Whether somebody asked for that of the others; where not, the reader is told.
    """

    others: Bins | None = None
    named: Mapping[str, Bins] = field(default_factory=dict)
    was_asked: bool = True

    @classmethod
    def of(cls, bins: object) -> Binning:
        """Return what a user means by a number, :class:`Bins`, a mapping of names to either, or None.

        Examples
        --------
        >>> Binning.of({"age": 5}).named["age"].number, Binning.of(4).others.number, Binning.of(None).others
        (5, 4, None)
        """
        if isinstance(bins, Binning):
            return bins
        if bins is None:
            return cls()
        if bins == "auto":
            return cls(Bins(), was_asked=False)
        if isinstance(bins, Mapping):
            return cls(named={str(name): _bins_of(one) for name, one in bins.items()})
        return cls(_bins_of(bins))


def _bins_of(bins: object) -> Bins:
    if isinstance(bins, Bins):
        return bins
    if isinstance(bins, Integral) and not isinstance(bins, bool):
        return Bins(int(bins))
    raise SettingsError(
        f"bins must be a whole number, Bins(4, by='quantile'), or such by the name of the column, not {bins!r}."
    )


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
    return column.regrouped(groups, bin_labels(edges, values)).compact()


def is_binned(levels: Sequence[Hashable]) -> bool:
    """Whether levels are the labels of bins; a level of missing values may follow.

    Examples
    --------
    >>> is_binned(("<= 40", "> 40", "(missing)")), is_binned(("no", "yes"))
    (True, False)
    """
    return len(levels) > 0 and isinstance(levels[0], str) and _LABEL.fullmatch(levels[0]) is not None


def bin_of(levels: Sequence[Hashable], number: float) -> int | None:
    """Return which of some levels is the bin that holds a number; None where they are no bins.

    Bins are known by their labels, so that numbers can be put into the bins of a network learned long ago. A
    bin that held no row has no level: None for its numbers.

    Examples
    --------
    >>> bin_of(("<= 40", "(40, 65]", "> 65"), 65), bin_of(("no", "yes"), 65) is None
    (1, True)
    """
    for code, level in enumerate(levels):
        found = _LABEL.fullmatch(level) if isinstance(level, str) else None
        if found is None:
            return None
        low, high = found["above"] or found["low"], found["to"] or found["high"]
        if (low is None or number > float(low)) and (high is None or number <= float(high)):
            return code
    return None


def middle_of(level: Hashable) -> float | None:
    """Return the number in the middle of a bin, or its only bound; None for what is no bin or has no bounds.

    Examples
    --------
    >>> middle_of("(40, 65]"), middle_of("<= 40"), middle_of("> 65"), middle_of("all") is None
    (52.5, 40.0, 65.0, True)
    """
    found = _LABEL.fullmatch(level) if isinstance(level, str) else None
    bounds = [] if found is None else [float(bound) for bound in found.groups() if bound is not None]
    return sum(bounds) / len(bounds) if bounds else None


def _edges(values: NDArray[np.float64], counts: NDArray[np.int64], bins: Bins) -> NDArray[np.float64]:
    """Return the upper bounds of all bins but the last, increasing; a value on a bound is below it."""
    if bins.by == "width":
        inner = np.linspace(values[0], values[-1], bins.number + 1)[1:-1]
        return np.unique(inner[inner < values[-1]])
    middle = np.cumsum(counts) - counts / 2  # a level goes where the middle one of its rows goes
    group = np.floor(bins.number * middle / counts.sum()).astype(np.int64)
    last_of_bin = np.flatnonzero(np.diff(group))
    return values[last_of_bin]


def bin_labels(edges: NDArray[np.float64], values: NDArray[np.float64]) -> list[str]:
    """Return the bounds as text, with as few digits (from six on) as put every value into its own bin.

    Any number from the largest value of a bin up to the next value divides them alike, so that a bound need not
    be spelled out: where it would take many digits it is rounded up instead.

    Examples
    --------
    >>> values = np.array([20.71704376792885, 23.175549941265, 25.5])
    >>> bin_labels(values[:2], values)
    ['<= 20.7171', '(20.7171, 23.1756]', '> 23.1756']
    """
    texts = [_bound(edge, values) for edge in edges.tolist()]
    if not texts:
        return ["all"]
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]


def _bound(edge: float, values: NDArray[np.float64]) -> str:
    """Return the shortest text of a number that parts the values as the edge does."""
    below = values <= edge
    for digits in range(6, 17):
        nearest_text = f"{edge:.{digits}g}"
        step = Decimal(1).scaleb(Decimal(edge).adjusted() + 1 - digits) if edge else Decimal(1)
        above = f"{float(Decimal(edge).quantize(step, ROUND_CEILING)):.{digits}g}"
        for text in (nearest_text, above):
            if np.array_equal(values <= float(text), below):
                return text
    return f"{edge:.17g}"


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
