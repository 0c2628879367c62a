"""Book numbers with typing errors: generated rows, so that it is known which of them are wrong.

A book number (ISBN-10) is nine digits and a check character, chosen so that ten times the first digit plus nine
times the second and so on is divisible by 11. One number in a hundred is mistyped as people do: a wrong digit,
or two neighbours exchanged.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from xordal.data.table import CategoricalTable

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork

COLUMN = "isbn"
N_ROWS = 3_000
_ERRORS = Fraction(1, 100)
_SEED = 3


def book_numbers() -> tuple[list[str], dict[int, str]]:
    """Return the numbers as typed, and for each row with an error, from 0, the right one.

    Examples
    --------
    >>> typed, right = book_numbers()
    >>> len(typed), typed[0], len(right)
    (3000, '8726678403', 32)
    """
    from xordal.pi.zoo import isbn_10

    rows, errors = isbn_10(errors=_ERRORS).draw(N_ROWS, _SEED)
    return [row[0] for row in rows], {error.row: error.right for error in errors}


def characters_of(numbers: list[str]) -> CategoricalTable:
    """Return numbers as a table with one column for each character."""
    from xordal.data.split import split_column

    return split_column(CategoricalTable.from_columns({COLUMN: numbers}), COLUMN)[0]


def n_filled_in(network: DecomposableMarkovNetwork, numbers: list[str], seed: int = 1) -> int:
    """Return in how many numbers a network tells a character right that cannot be read, another in each row."""
    places = np.random.default_rng(seed).integers(len(numbers[0]), size=len(numbers)).tolist()
    columns = {
        name: [None if place == at else number[at] for number, place in zip(numbers, places, strict=True)]
        for at, name in enumerate(network.variables)
    }
    filled = network.impute(columns)
    characters = [
        np.array(levels, dtype=object)[codes] for levels, codes in zip(filled.levels, filled.codes, strict=True)
    ]
    return sum(
        "".join(row) == number for row, number in zip(zip(*characters, strict=True), numbers, strict=True)
    )
