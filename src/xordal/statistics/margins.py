"""The margins of many steps at once, in an order that knows no names.

A step adds the link x-y behind S. What its G2 does when the link is absent depends on two lists of counts in
each stratum, that is each combination of levels of S that occurs: how often each level of x occurs there, and
how often each level of y. For x with counts 3 and 5 and y with 2, 2 and 4 in the only stratum it is
([3, 5], [2, 2, 4]).

Within a stratum counts come in increasing order, strata in the order of their lists, and of x and y the one
comes first whose lists are lower. So neither the names of levels nor which of the two is called x can change a
bit of any sum over them.

The lists of all strata of all steps of a block stand one behind the other in two flat arrays, so that a few
calls of NumPy serve a block, whether it holds one step or hundreds. Each step begins with one stratum more, of
a single row in which nothing can vary: its terms are zeros. ``np.add.reduceat`` takes the first term of a sum
as it is and adds the others pairwise; behind a zero that is, to the bit, what ``np.sum`` returns for the terms
of a step alone. ([1], [1]) is lower than any other pair of lists, so the order leaves it in front.
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

_LARGEST_CODE = 2**62
_BITS = 63  # of a number that has a sign
_PLACES = 8  # of a list that are compared one by one
_NOTHING_VARIES = np.array([-1])  # the code of the stratum that every step begins with
_ONE_ROW = np.array([1])  # its count


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

    def n_cells(self) -> Integers:
        """Return the number of cells of each step with a positive fitted count, without that of the zeros."""
        widths = np.bincount(self.row_stratum) * np.bincount(self.column_stratum)
        return np.bincount(self.step, weights=widths).astype(np.int64) - 1

    def only(self, is_chosen: NDArray[np.bool_]) -> Margins:
        """Return the margins of some of the steps, numbered anew."""
        kept = is_chosen[self.step]
        number = np.cumsum(kept) - 1
        of_row, of_column = kept[self.row_stratum], kept[self.column_stratum]
        return Margins(
            self.rows[of_row],
            self.columns[of_column],
            number[self.row_stratum[of_row]],
            number[self.column_stratum[of_column]],
            (np.cumsum(is_chosen) - 1)[self.step[kept]],
        )


def margins_of(steps: Sequence[StepCounts]) -> Margins:
    """Return the margins of some steps.

    Examples
    --------
    >>> of_x = CellCounts(np.array([[0], [1]]), np.array([5, 3]))
    >>> of_y = CellCounts(np.array([[0], [1], [2]]), np.array([2, 4, 2]))
    >>> margins = margins_of([StepCounts(of_x, of_y, (0, 0), ())])
    >>> margins.rows.tolist(), margins.columns.tolist(), margins.row_stratum.tolist()
    ([1, 2, 2, 4], [1, 3, 5], [0, 1, 1, 1])
    """
    strata = [strata_of(step) for step in steps]
    counts, number, part = _lists(
        [*(step.of_x.counts for step in steps), *(step.of_y.counts for step in steps)],
        [*(of_x for of_x, _ in strata), *(of_y for _, of_y in strata)],
    )
    keys = _keys(counts, number, len(part))
    n_strata = len(part) // 2  # each occurs on both sides
    step, of_x, of_y = part[:n_strata], keys[:n_strata], keys[n_strata:]
    is_swapped = _is_second_lower(keys, part, len(steps))[step]
    if is_swapped.any():
        turned = is_swapped[:, None]
        of_x, of_y = np.where(turned, of_y, of_x), np.where(turned, of_x, of_y)
    place = np.empty(n_strata, dtype=np.int64)
    place[_order([step, *of_x.T, *of_y.T])] = np.arange(n_strata)
    # All lists of rows come first, in the order of their strata, then those of columns.
    behind = n_strata * is_swapped
    number = np.concatenate([place + behind, place + (n_strata - behind)])[number]
    order = np.argsort(number, kind="stable")
    counts, number = counts[order], number[order]
    n_rows = np.searchsorted(number, n_strata)
    return Margins(counts[:n_rows], counts[n_rows:], number[:n_rows], number[n_rows:] - n_strata, step)


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


def _lists(counts: Sequence[Integers], strata: Sequence[Integers]) -> tuple[Integers, Integers, Integers]:
    """Return the counts in each stratum on each side in increasing order, list behind list.

    With them come the number of the list of each count, and the part that each list belongs to: a part is one
    side of one step.
    """
    part = np.repeat(np.arange(len(counts)), [len(of_part) + 1 for of_part in counts])
    flat = np.concatenate([piece for of_part in counts for piece in (_ONE_ROW, of_part)])
    code = np.concatenate([piece for of_part in strata for piece in (_NOTHING_VARIES, of_part)])
    order = _order([part, code + 1, flat])
    code, part = code[order], part[order]
    is_first = np.empty(len(code), dtype=np.bool_)
    is_first[0] = True
    is_first[1:] = (code[1:] != code[:-1]) | (part[1:] != part[:-1])
    return flat[order], is_first.cumsum() - 1, part[is_first]


def _keys(counts: Integers, number: Integers, n_lists: int) -> Integers:
    """Return lists as rows of equal length that have the same order, padded with zeros.

    Few lists are long, and padding all to the longest might take more memory than there is. So what comes
    behind the first places is put as its rank among all such tails.
    """
    place = np.arange(len(counts)) - np.searchsorted(number, np.arange(n_lists))[number]
    width = int(place.max()) + 1
    found = np.zeros((n_lists, min(width, _PLACES)), dtype=np.int64)
    if width > _PLACES:
        is_tail = place >= _PLACES - 1
        owners, tail = np.unique(number[is_tail], return_inverse=True)
        found[owners, -1] = _ranks(_keys(counts[is_tail], tail, len(owners)))
        counts, number, place = counts[~is_tail], number[~is_tail], place[~is_tail]
    found[number, place] = counts
    return found


def _ranks(keys: Integers) -> Integers:
    """Return the ranks of rows from 1 on; equal ones have the same."""
    order = _order(list(keys.T))
    is_new = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.cumsum([1, *is_new])
    return ranks


def _is_second_lower(keys: Integers, part: Integers, n_steps: int) -> NDArray[np.bool_]:
    """Return for each step whether the lists of its second side, in their order, are lower than the first's."""
    ordered = keys[_order([part, *keys.T])]
    n_strata, width = len(keys) // 2, keys.shape[1]
    difference = (ordered[:n_strata] - ordered[n_strata:]).reshape(-1)
    (places,) = difference.nonzero()
    found = np.zeros(n_steps, dtype=np.bool_)
    last_first = places[
        ::-1
    ]  # of several values assigned to a step the last stays: that of its first difference
    found[part[last_first // width]] = difference[last_first] > 0
    return found


def _order(keys: Sequence[Integers]) -> Integers:
    """Return the order by the first key, then the second, and so on; equal ones as they come.

    Keys are counts, ranks and numbers from 0 on, most of them small. NumPy sorts once for each key, so as many
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
