"""Whether a table is worth a search for rules: a look that takes a fraction of the time, for small tables.

A search for rules takes as long as learning a network of a small table, and most tables obey none. A rule that
few rows break is a solution of almost every small choice of rows. So a few choices are solved, each of some
more rows than there are unknowns, and what solves one of them is tried on other rows. If nothing of three or
more columns holds there more often than its columns explain, there is nothing to search for.

With D unknowns and a share e of rows that break a rule, a choice is free of them with chance (1 - e)^(D + 16).
Sixteen choices modulo 2 miss a rule of ten columns that 5 % of the rows break in one table of a hundred, and
one that 10 % break in four of ten; a thousand columns are looked at in three choices, and show rules that
hardly any row breaks. :func:`xordal.find_rules` has more patience.

A network tells some rules already, as those of its hidden groups. One column of each is left out here: a rule
that is left follows from those or is new, and without that column only the new ones show.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from xordal.data.table import CategoricalTable
from xordal.rules import plain
from xordal.rules.candidate import from_solution
from xordal.rules.coding import Coding
from xordal.rules.elimination import words_of
from xordal.rules.evidence import Judge
from xordal.rules.screening import promising

MOST_UNKNOWNS = 400
"""Unknowns up to which primes above 2 are looked at: each takes time with the cube of the unknowns."""
_SPARE = 16  # rows of a choice beyond the unknowns: a false solution solves them with a chance of 2^-16
_CHOICES = (
    3,
    16,
)  # of rows modulo 2: fewest and most; one takes microseconds for ten columns, 0.1 s for a thousand
_WORK = 500_000  # columns added in all choices, about, between those bounds
_FEW = 40  # unknowns up to which two choices are made modulo another prime; one of more takes milliseconds
_MANY = 100  # unknowns from which choices modulo 2 are solved by a kernel, where kernels are loaded
_MOST_TRIED = 12  # solutions of a choice that are tried on other rows
_ROWS_TRIED = 1_000
_ALPHA = 0.05  # level at which those rows must show a rule: a search asks for more


def is_worth_a_search(
    table: CategoricalTable,
    coding: Coding,
    p: int,
    left_out: Collection[int],
    generator: np.random.Generator,
    check: Callable[[], None] = lambda: None,
) -> bool:
    """Whether some rows suggest a rule modulo p in which columns enter as a coding says.

    ``left_out`` are columns that are not looked at. ``check`` is called now and then and may end the look by
    raising.
    """
    places = np.flatnonzero(~np.isin(coding.variable, list(left_out)))
    rows = coding.usable(table.codes)
    if len(rows) < len(places) + _SPARE:
        return True
    few = Judge(table.codes[:, generator.choice(rows, min(len(rows), _ROWS_TRIED))], table.levels, None, 1)
    for vectors in _solved(table, coding, p, places, rows, generator):
        check()
        wide = [v for v in vectors if len(set(coding.variable[places[v != 0]].tolist()) - {-1}) >= 3]
        solutions = np.zeros((len(wide), coding.n_unknowns), dtype=np.int64)
        solutions[:, places] = np.reshape(wide, (len(wide), len(places)))
        for solution in promising(coding, solutions, few.codes, p)[:_MOST_TRIED]:
            candidate = from_solution(coding, solution, p)
            if few.settles(candidate) and few.evidence(candidate).is_rule(_ALPHA):
                return True
    return False


def _solved(
    table: CategoricalTable,
    coding: Coding,
    p: int,
    places: NDArray[np.int64],
    rows: NDArray[np.int64],
    generator: np.random.Generator,
) -> Iterator[NDArray[np.int64]]:
    """Yield what solves each of some choices of rows, one solution a line."""
    size = len(places)
    n_choices = int(np.clip(_WORK / size**2, *_CHOICES)) if p == 2 else 2 if size <= _FEW else 1
    # No row twice in a choice: each that is repeated lets a false solution in.
    choices = [generator.choice(rows, size + _SPARE, replace=False) for _ in range(n_choices)]
    if p == 2:
        bits = coding.bits(table.codes, np.concatenate(choices))[places].reshape(size, n_choices, -1)
        solved = _solved_by_words if size >= _MANY and "numba" in sys.modules else _solved_by_bits
        for choice in range(n_choices):
            yield solved(bits[:, choice])
        return
    for chosen in choices:
        left = coding.matrix(table.codes, chosen, p)[places]
        system = np.concatenate([left, np.eye(size, dtype=np.float32)], axis=1)
        own = plain.reduce_system(system, len(chosen), p, np.arange(len(chosen)))
        yield system[own == plain.NO_ROW][:, len(chosen) :].astype(np.int64)


def _solved_by_bits(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return sums of columns modulo 2 that are zero in all rows; a column is a number, its rows the bits."""
    columns = [int.from_bytes(line, "big") for line in np.packbits(bits, axis=1)]
    leading: dict[int, tuple[int, int]] = {}
    found: list[list[int]] = []
    for place, column in enumerate(columns):
        rest, parts = column, 1 << place
        while rest:
            first = rest.bit_length()
            if first not in leading:
                leading[first] = rest, parts
                break
            rest ^= leading[first][0]
            parts ^= leading[first][1]
        else:
            found.append([parts >> other & 1 for other in range(len(columns))])
    return np.array(found, dtype=np.int64).reshape(len(found), len(columns))


def _solved_by_words(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the same, compiled: of two hundred columns in a fiftieth of the time."""
    from xordal.rules import _packed

    parts = words_of(np.eye(len(bits), dtype=np.uint8))
    is_zero = _packed.solve(words_of(bits), parts)
    found = np.unpackbits(parts[is_zero].view(np.uint8), axis=1, bitorder="little")
    return found[:, : len(bits)].astype(np.int64)
