"""The margins of many steps at once, in an order that knows no names.

A step adds the link x-y behind S. What its G2 does when the link is absent depends on two lists of counts in
each stratum, that is each combination of levels of S that occurs: how often each level of x occurs there, and
how often each level of y. For x with counts 3 and 5 and y with 2, 2 and 4 in the only stratum it is
([3, 5], [2, 2, 4]).

Within a stratum counts come in increasing order, and of the two lists the shorter one is that of the rows, or
of equal lengths the one with the first lower count. So neither the names of levels nor which of the two is
called x can change a bit of any sum over a stratum; what strata add is sorted before it is summed.

The lists of all strata of all steps of a block stand one behind the other in two flat arrays, so that a few
calls of NumPy serve a block, whether it holds one step or hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import CellCounts

Integers = NDArray[np.int64]

_LARGEST_CODE = 2**62  # of a stratum: what an integer of 64 bits still holds
_BITS = 63  # of a number that has a sign
_WIDE = 4  # strata that there can be, per count, from which on those that there are get numbers


class StepCounts(NamedTuple):
    """What was counted for a step x-y behind S.

    Attributes
    ----------
    of_x, of_y
        The counts of the cells of Sx and of Sy.
    places
        The positions of x and of y among the variables of each.
    n_levels
        The numbers of levels of the variables of S.
    """

    of_x: CellCounts
    of_y: CellCounts
    places: tuple[int, int]
    n_levels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """The margins of the steps of a block; rows are the levels of one end of the link, columns of the other.

    Attributes
    ----------
    rows, columns
        Counts, stratum by stratum.
    row_stratum, column_stratum
        The stratum of each, numbered from 0 through the block.
    step
        The step of each stratum, numbered from 0.
    """

    rows: Integers
    columns: Integers
    row_stratum: Integers
    column_stratum: Integers
    step: Integers


class Strata(NamedTuple):
    """The counts of both ends of the links of some steps, with the strata they lie in.

    Attributes
    ----------
    of_x, of_y
        Of each end: the counts of all steps, the number of the stratum of each within its step, and how many
        counts each step has.
    n_strata
        Of each step, an upper bound on the numbers of its strata; not all of them need occur.
    """

    of_x: tuple[Integers, Integers, Integers]
    of_y: tuple[Integers, Integers, Integers]
    n_strata: Integers

    def n_cells(self) -> Integers:
        """Return the number of cells of each step with a positive fitted count."""
        n_numbers = int(self.n_strata.sum())
        of_x, of_y = (np.bincount(numbers, minlength=n_numbers) for numbers in self.numbered())
        owner = np.repeat(np.arange(len(self.n_strata)), self.n_strata)
        return np.bincount(owner, weights=of_x * of_y, minlength=len(self.n_strata)).astype(np.int64)

    def numbered(self) -> tuple[Integers, Integers]:
        """Return the stratum of each count, of x and of y, numbered through all steps."""
        begins = np.cumsum(self.n_strata) - self.n_strata
        of_x, of_y = (strata + np.repeat(begins, lengths) for _, strata, lengths in (self.of_x, self.of_y))
        return of_x, of_y


def strata(steps: Sequence[StepCounts]) -> Strata:
    """Return the counts of some steps in flat arrays."""
    numbers, n_strata = [], np.empty(len(steps), dtype=np.int64)
    for place, step in enumerate(steps):
        of_x, of_y = strata_of(step)
        n = prod(step.n_levels)
        if n > _WIDE * (len(of_x) + len(of_y)):
            occurring, both = np.unique(np.concatenate([of_x, of_y]), return_inverse=True)
            of_x, of_y, n = both[: len(of_x)], both[len(of_x) :], len(occurring)
        numbers.append((of_x, of_y))
        n_strata[place] = n

    def side(counts: list[Integers], of_side: list[Integers]) -> tuple[Integers, Integers, Integers]:
        lengths = np.array([len(of_step) for of_step in counts], dtype=np.int64)
        return np.concatenate(counts), np.concatenate(of_side), lengths

    return Strata(
        side([step.of_x.counts for step in steps], [of_x for of_x, _ in numbers]),
        side([step.of_y.counts for step in steps], [of_y for _, of_y in numbers]),
        n_strata,
    )


def margins_of(steps: Strata) -> Margins:
    """Return the margins of some steps.

    Examples
    --------
    >>> of_x = CellCounts(np.array([[0], [1]]), np.array([5, 3]))
    >>> of_y = CellCounts(np.array([[0], [1], [2]]), np.array([2, 4, 2]))
    >>> margins = margins_of(strata([StepCounts(of_x, of_y, (0, 0), ())]))
    >>> margins.rows.tolist(), margins.columns.tolist(), margins.row_stratum.tolist()
    ([3, 5], [2, 2, 4], [0, 0])
    """
    (of_x, *_), (of_y, *_) = steps.of_x, steps.of_y
    x_stratum, y_stratum = steps.numbered()
    occurs = np.zeros(int(steps.n_strata.sum()), dtype=np.bool_)
    occurs[x_stratum] = True
    number = np.cumsum(occurs) - 1
    x_stratum, y_stratum = number[x_stratum], number[y_stratum]
    orders = _order([x_stratum, of_x]), _order([y_stratum, of_y])
    (x, x_stratum), (y, y_stratum) = (
        (counts[order], stratum[order])
        for counts, stratum, order in zip((of_x, of_y), (x_stratum, y_stratum), orders, strict=True)
    )
    is_turned = _is_second_lower(x, x_stratum, y, y_stratum)
    if is_turned.any():
        counts, stratum = np.concatenate([x, y]), np.concatenate([x_stratum, y_stratum])
        is_row = np.concatenate([~is_turned[x_stratum], is_turned[y_stratum]])
        order = np.argsort(stratum, kind="stable")
        counts, stratum, is_row = counts[order], stratum[order], is_row[order]
        x, x_stratum, y, y_stratum = counts[is_row], stratum[is_row], counts[~is_row], stratum[~is_row]
    step = np.repeat(np.arange(len(steps.n_strata)), steps.n_strata)[occurs]
    return Margins(x, y, x_stratum, y_stratum, step)


def strata_of(step: StepCounts) -> tuple[Integers, Integers]:
    """Return the stratum of each cell of Sx and of Sy, as a number that tells it from others of the step."""
    (x, y), (of_x, of_y) = step.places, (step.of_x.cells, step.of_y.cells)
    if prod(step.n_levels) > _LARGEST_CODE:
        both = np.concatenate([np.delete(of_x, x, axis=1), np.delete(of_y, y, axis=1)])
        number = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return number[: len(of_x)], number[len(of_x) :]
    return of_x @ _strides(step.n_levels, x), of_y @ _strides(step.n_levels, y)


@lru_cache(maxsize=1 << 10)
def _strides(n_levels: tuple[int, ...], place: int) -> Integers:
    """Return by how much the number of a cell's stratum grows with each code; by none with that at a place."""
    strides = [prod(n_levels[at + 1 :]) for at in range(len(n_levels))]
    return np.array([*strides[:place], 0, *strides[place:]])


def _is_second_lower(x: Integers, x_stratum: Integers, y: Integers, y_stratum: Integers) -> NDArray[np.bool_]:
    """Return for each stratum whether the list of y is the lower one; lists increase, stratum by stratum."""
    x_length, y_length = np.bincount(x_stratum), np.bincount(y_stratum)
    found = y_length < x_length
    alike = y_length == x_length
    of_x, of_y, stratum = x[alike[x_stratum]], y[alike[y_stratum]], x_stratum[alike[x_stratum]]
    (places,) = (of_x != of_y).nonzero()
    last_first = places[::-1]  # of several values assigned to a stratum the last stays: its first difference
    found[stratum[last_first]] = of_y[last_first] < of_x[last_first]
    return np.asarray(found)


def _order(keys: Sequence[Integers]) -> Integers:
    """Return the order by the first key, then the second, and so on; equal ones as they come.

    Keys are counts and numbers from 0 on, most of them small. NumPy sorts once for each key, so as many
    as fit are put into one number first: sorting took a fifth of the time of p-values on tables of many levels.

    Examples
    --------
    >>> _order([np.array([1, 0, 1]), np.array([2, 5, 0])]).tolist()
    [1, 2, 0]
    """
    packed: list[Integers] = []
    left = 0  # bits of the last number that are free
    for key in keys:
        n_bits = int(key.max(initial=0)).bit_length()
        if packed and n_bits <= left:
            packed[-1] = (packed[-1] << n_bits) | key
            left -= n_bits
        else:
            packed.append(key)
            left = _BITS - n_bits
    return np.argsort(packed[0], kind="stable") if len(packed) == 1 else np.lexsort(packed[::-1])
