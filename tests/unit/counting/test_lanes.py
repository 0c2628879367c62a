"""Loops over lanes: what is compiled does what the plain form does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from xordal.counting import _lanes

N_SLOTS, N_GROUPS = 96, 5


class Loop(NamedTuple):
    """A loop, how many of its six arrays are counts, all places but the last two, and how many terms it has."""

    compiled: Any
    plain: Any
    n_counts: int
    begins: tuple[int, ...]
    n_terms: int  # without the limit


LOOPS = {
    "reaching": Loop(_lanes.reaching, _lanes._plain_reaching, 2, (8, 16, 24), 6),
    "squares": Loop(_lanes.squares, _lanes._plain_squares, 1, (8, 48, 0, 16, 24, 32), 7),
    "squares_alone": Loop(_lanes.squares_alone, _lanes._plain_squares, 1, (8, 48, 0, 16, 24, 32), 7),
    "two_cells": Loop(_lanes.two_cells, _lanes._plain_two_cells, 2, (8, 16, 0, 40), 4),
    "three_levels": Loop(_lanes.three_levels, _lanes._plain_three_levels, 1, (8, 16, 8, 32), 5),
    "four_cells": Loop(_lanes.four_cells, _lanes._plain_four_cells, 3, (0, 8, 16, 24, 8, 10), 8),
    "marks": Loop(_lanes.marks, _lanes._plain_marks, 0, (), 0),
}


def as_kernel(loop: Any) -> Any:
    """Return what calls a loop from compiled code."""

    @numba.njit
    def run(arrays: Any, hits: Any, places: Any, terms: Any) -> Any:
        a, b, c, d, e, f = arrays
        return loop(a, b, c, d, e, f, hits, places, terms)

    return run


@pytest.mark.parametrize("name", LOOPS)
def test_compiled_loops_do_what_the_plain_ones_do(name: str) -> None:
    generator, loop = np.random.default_rng(3), LOOPS[name]
    compiled = as_kernel(loop.compiled)
    for first in (255, 128, 0b11110000):
        arrays: list[Any] = [generator.integers(0, 50, N_SLOTS).astype(np.int32) for _ in range(loop.n_counts)]
        arrays += [generator.random(N_SLOTS) for _ in range(6 - loop.n_counts)]
        terms = generator.random(loop.n_terms).tolist()
        if name == "squares_alone":  # b and own are zero
            terms[1] = terms[4] = arrays[4][:] = 0.0
        ours, theirs = (tuple(array.copy() for array in arrays) for _ in range(2))
        hits, expected = np.zeros(8, np.uint8), np.zeros(8, np.uint8)
        places, n_marked = (*loop.begins, N_GROUPS, first), set()
        for limit in [-np.inf, *np.geomspace(0.001, 1e6, 60).tolist()]:
            found = compiled(ours, hits, places, (*terms, limit))
            again = loop.plain(*theirs, expected, places, (*terms, limit))
            assert hits.tolist() == expected.tolist()
            assert found == again == np.bitwise_or.reduce(hits)
            assert all(np.allclose(one, other) for one, other in zip(ours, theirs, strict=True))
            n_marked.add(int(np.unpackbits(hits).sum()))
        assert max(n_marked) == 8 * (N_GROUPS - 1) + first.bit_count()
        assert len(n_marked) > 5
