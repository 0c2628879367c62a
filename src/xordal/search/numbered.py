"""Links behind separators, numbered as they come, and what the fill-ins of many pairs gain with them.

A link x-y behind a separator gains the same in every graph. So it is told apart by these three alone, gets a
number when it is first met, and what is known of it is kept in arrays by that number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.graph.chain import Addition
from xordal.graph.fill_in import PairFillIn, path_of, ways_of
from xordal.search import _numbered as kernels
from xordal.types.varsets import VarSet

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_ROOM = 1 << 14  # steps listed at first; twice as many where they do not fit


class NumberedSteps:
    """Gives each link and separator a number.

    Parameters
    ----------
    n_words
        Words of a separator.
    """

    def __init__(self, n_words: int) -> None:
        self.n_known = 0
        self.links = np.empty((1024, 2), np.int64)
        self.separators = np.empty((1024, n_words), np.uint64)
        self._slots = np.full(4096, -1, np.int64)

    def numbers(self, ends: Integers, separators: Words) -> tuple[Integers, list[Addition]]:
        """Return the number of each step, and the steps that are new, in the order of their numbers."""
        self._make_room(len(ends))
        first = self.n_known
        numbers = self._numbered(ends, separators)
        new = slice(first, self.n_known)
        both = zip(self.links[new].tolist(), self.separators[new], strict=True)
        return numbers, [Addition(x, y, VarSet(int.from_bytes(s.tobytes(), "little"))) for (x, y), s in both]

    def _numbered(self, ends: Integers, separators: Words) -> Integers:
        numbers = np.empty(len(ends), np.int64)
        known = self._slots, self.links, self.separators, numbers
        self.n_known = kernels.find_numbers(ends, separators, self.n_known, *known)
        return numbers

    def _make_room(self, n_more: int) -> None:
        """Make the arrays large enough for so many steps more, the table of places at most a third full."""
        most = self.n_known + n_more
        if most <= len(self.links) and 3 * most <= len(self._slots):
            return
        size, n = 1 << (2 * most).bit_length(), self.n_known
        ends, separators = self.links[:n], self.separators[:n]
        self.links, self.separators = np.empty((size, 2), np.int64), np.empty((size, separators.shape[1]), "u8")
        self._slots = np.full(4 * size, -1, np.int64)
        self.n_known = 0
        self._numbered(ends, separators)


class Sums(NamedTuple):
    """What the steps of each of some fill-ins come to together.

    Rows of ``sizes`` are how many variables they link, how many they are, on how many other variables they are
    conditioned, and their degrees of freedom.
    """

    gain: Floats
    sizes: Integers


Weigh = Callable[[Sequence[Addition]], Sequence[tuple[float, int]]]
"""Returns the gain of each step and its degrees of freedom."""


class SummedFillIns:
    """Adds up the steps of fill-ins for pairs, which share most of them.

    Parameters
    ----------
    n_words
        Words of a separator.
    weigh
        Asked once for each step.
    """

    def __init__(self, n_words: int, weigh: Weigh) -> None:
        self._steps, self._weigh = NumberedSteps(n_words), weigh
        self._gains, self._dofs = np.empty(0), np.empty(0, np.int64)

    def of(self, masks: Words, fill_ins: Sequence[PairFillIn]) -> Sums:
        """Return what each fill-in comes to in a graph, given the neighbours in it as words."""
        spreads: dict[tuple[int, int, bool], int] = {}
        begins, starts, path, parts = list[int](), [0], list[VarSet](), list[list[int]]()
        for fill_in in fill_ins:
            part = []
            for v, target, place in ways_of(fill_in):
                key = v, target, fill_in.is_hub
                if key not in spreads:
                    spreads[key] = starts[-1]
                    begins.append(v)
                    path += path_of(fill_in, v, target)
                    starts.append(len(path))
                part.append(spreads[key] + place)
            parts.append(part)
        begun = np.array(starts)
        ends, separators_of, up_to = self._listed(masks, np.array(begins), words_as(path, masks), begun)
        numbers = self._known(ends, separators_of)
        own = np.array([one.own[:2] for one in fill_ins], np.int64).reshape(-1, 2)
        own_numbers = self._known(own, words_as([one.own.separator for one in fill_ins], masks))
        known = self._gains, self._dofs, self._steps.links, self._steps.separators
        places = (
            np.empty(len(path)),
            np.empty(len(path), np.int64),
            np.empty((len(path), 2, masks.shape[1]), "u8"),
        )
        kernels.add_up_spreads(begun, up_to, numbers, known, places)
        n_steps = np.diff(up_to, prepend=0)
        n_steps = np.concatenate([np.cumsum(n_steps[a:b]) for a, b in pairwise(starts)])
        whole, sizes = np.empty(len(fill_ins)), np.empty((len(fill_ins), 4), np.int64)
        kernels.put_together(np.array(parts), own_numbers, known, places, n_steps, whole, sizes)
        return Sums(whole, sizes)

    def of_completions(
        self, ends: Integers, separators: Words, until: Integers, is_own: NDArray[np.bool_], sets: Words
    ) -> tuple[Sums, Sums]:
        """Return what the steps that add the links of a set itself come to, and what all of them do.

        Steps of completions stand one behind the other; ``sets`` has the set of each completion as words.
        """
        numbers = self._known(ends, separators)
        known = self._gains, self._dofs, self._steps.links, self._steps.separators
        gain, sizes = np.empty((len(until), 2)), np.empty((len(until), 2, 4), np.int64)
        kernels.add_up_completions(until, numbers, is_own, sets, known, gain, sizes)
        return Sums(gain[:, 0], sizes[:, 0]), Sums(gain[:, 1], sizes[:, 1])

    def _listed(
        self, masks: Words, begins: Integers, path: Words, starts: Integers
    ) -> tuple[Integers, Words, Integers]:
        """Return the steps of all spreads, and how many there are by the end of each place."""
        up_to, room, n = np.empty(len(path), np.int64), _ROOM, -1
        while n < 0:
            ends, separators = np.empty((room, 2), np.int64), np.empty((room, masks.shape[1]), np.uint64)
            n = kernels.list_spreads(masks, begins, path, starts, ends, separators, up_to)
            room *= 2
        return ends[:n], separators[:n], up_to

    def _known(self, ends: Integers, separators: Words) -> Integers:
        """Return the numbers of steps, those that are new weighed."""
        numbers, new = self._steps.numbers(ends, separators)
        if new:
            gains, dofs = zip(*self._weigh(new), strict=True)
            self._gains = np.concatenate([self._gains, gains])
            self._dofs = np.concatenate([self._dofs, dofs])
        return numbers


def words_as(sets: Sequence[VarSet], masks: Words) -> Words:
    """Return sets as rows of as many words as the masks of a graph have."""
    size = masks.shape[1]
    packed = b"".join([s.to_bytes(8 * size, "little") for s in sets])
    return np.frombuffer(packed, dtype="<u8").reshape(-1, size).astype(np.uint64)
