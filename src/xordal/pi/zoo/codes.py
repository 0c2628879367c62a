"""Numbers with check digits, and frames with checksums: rules of more columns than a joint has room for.

Thirteen digits have ten million million states, so these have no joint. Rows are drawn digit by digit and
completed by the check. On request some rows get a typing error: nine of ten times one wrong character, once two
neighbours exchanged, about as people err (J. Verhoeff, Error Detecting Decimal Codes, 1969).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.pi.zoo.parameters import check_at_least, sizes_in

DIGITS = "0123456789"
MOST_CODES = 1_000_000
"""Rows of codes to draw at the most."""
_MOST_WIDE = 64  # characters of a code that can be split
_EXCHANGED = 0.1  # share of typing errors that exchange two neighbours
_CHECK_X = 10  # what the X of a book number counts

Values = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CodeRule:
    """A rule that the codes obey: the places of its characters, from 0, and its modulus."""

    places: tuple[int, ...]
    modulus: int


@dataclass(frozen=True, slots=True)
class TypingError:
    """A row, from 0, and what stood there before the error."""

    row: int
    right: str


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Random codes that obey rules but for typing errors.

    Attributes
    ----------
    variables
        Column names: one, or one for each character.
    alphabets
        The characters that each place can have.
    rules
        What the codes obey.
    errors
        Share of the rows with a typing error.

    Examples
    --------
    >>> rows, errors = ean_13(errors=Fraction(1, 2)).draw(4, seed=1)
    >>> rows[3], errors[0]
    (('9944957442295',), TypingError(row=3, right='9944057442295'))
    """

    variables: tuple[str, ...]
    alphabets: tuple[str, ...]
    rules: tuple[CodeRule, ...]
    errors: Fraction
    complete: Callable[[int, np.random.Generator], Values]

    @property
    def characters(self) -> tuple[str, ...]:
        """The name of the column of each character, once codes are split."""
        if len(self.variables) > 1:
            return self.variables
        return tuple(f"{self.variables[0]}{place + 1}" for place in range(len(self.alphabets)))

    def draw(self, n_rows: int, seed: int) -> tuple[list[tuple[str, ...]], list[TypingError]]:
        """Return random rows, and which of them have a typing error.

        Raises
        ------
        SettingsError
            If there are too many rows.
        """
        if n_rows > MOST_CODES:
            raise SettingsError(f"At most {MOST_CODES:,} codes can be drawn, not {n_rows:,}.")
        generator = np.random.default_rng(seed)
        values = self.complete(n_rows, generator)
        letters = [np.array(list(alphabet)) for alphabet in self.alphabets]
        texts = np.stack([of[column] for of, column in zip(letters, values, strict=True)], axis=1)
        wrong = np.flatnonzero(generator.random(n_rows) < float(self.errors)).tolist()
        found = [TypingError(row, "".join(texts[row])) for row in wrong]
        for row in wrong:
            self._mistype(texts[row], generator)
        if len(self.variables) > 1:
            return [tuple(row) for row in texts.tolist()], found
        return [("".join(row),) for row in texts.tolist()], found

    def _mistype(self, text: NDArray[np.str_], generator: np.random.Generator) -> None:
        """Change a row as a typist does; places with one character only cannot be mistaken."""
        of, places = self.alphabets, np.flatnonzero(text[:-1] != text[1:]).tolist()
        apart = [k for k in places if text[k] in of[k + 1] and text[k + 1] in of[k]]
        if apart and generator.random() < _EXCHANGED:
            place = int(generator.choice(apart))
            text[[place, place + 1]] = text[[place + 1, place]]
            return
        place = int(generator.choice([k for k, of in enumerate(self.alphabets) if len(of) > 1]))
        text[place] = generator.choice([c for c in self.alphabets[place] if c != text[place]])


def ean_13(*, errors: Fraction = Fraction(0), split: int = 0) -> Codes:
    """Article numbers of 13 digits with a check digit; errors is the share of rows with a typing error."""

    def complete(n: int, generator: np.random.Generator) -> Values:
        body = generator.integers(0, 10, (12, n))
        return np.vstack([body, -(body * np.array([1, 3] * 6)[:, None]).sum(axis=0) % 10])

    return _codes("ean", (DIGITS,) * 13, [CodeRule(tuple(range(13)), 10)], errors, split, complete)


def luhn(*, digits: int = 16, errors: Fraction = Fraction(0), split: int = 0) -> Codes:
    """Card numbers: every second digit from the right is doubled, and the sum of all digits is 0 modulo 10."""
    check_at_least("digits", digits, 3)
    _check_width(digits)

    def complete(n: int, generator: np.random.Generator) -> Values:
        body = generator.integers(0, 10, (digits - 1, n))
        is_doubled = np.arange(digits - 1, 0, -1)[:, None] % 2 == 1
        counted = np.where(is_doubled, 2 * body - 9 * (body > 4), body)
        return np.vstack([body, -counted.sum(axis=0) % 10])

    rule = CodeRule(tuple(range(digits)), 10)
    return _codes("card", (DIGITS,) * digits, [rule], errors, split, complete)


def isbn_10(*, errors: Fraction = Fraction(0), split: int = 0) -> Codes:
    """Book numbers of ten characters, the last one a digit or X for ten; their weighted sum is 0 modulo 11."""

    def complete(n: int, generator: np.random.Generator) -> Values:
        body = generator.integers(0, 10, (9, n))
        return np.vstack([body, -(body * np.arange(_CHECK_X, 1, -1)[:, None]).sum(axis=0) % 11])

    alphabets = ((DIGITS,) * 9) + (DIGITS + "X",)
    return _codes("isbn", alphabets, [CodeRule(tuple(range(10)), 11)], errors, split, complete)


def iban(*, country: str = "DE", digits: int = 18, errors: Fraction = Fraction(0), split: int = 0) -> Codes:
    """Account numbers as IBAN has them: two letters, two check digits and an account, which are 1 modulo 97."""
    if len(country) != 2 or not (country.isascii() and country.isalpha()):
        raise SettingsError(f"country must be two letters such as DE, not {country!r}.")
    check_at_least("digits", digits, 3)
    _check_width(digits + 4)
    land = country.upper()
    letters = int("".join(str(int(letter, 36)) for letter in land))

    def complete(n: int, generator: np.random.Generator) -> Values:
        body = generator.integers(0, 10, (digits, n))
        weights = np.array([pow(10, digits - 1 - place + 6, 97) for place in range(digits)])
        check = 98 - ((weights[:, None] * body).sum(axis=0) + letters * 100) % 97
        return np.vstack([np.zeros((2, n), dtype=np.int64), check // 10, check % 10, body])

    alphabets = (land[0], land[1], *(DIGITS,) * (digits + 2))
    rule = CodeRule(tuple(range(2, digits + 4)), 97)
    return _codes("iban", alphabets, [rule], errors, split, complete)


def crc(*, bits: int = 64, polynomial: str = "8+2+1+0", errors: Fraction = Fraction(0)) -> Codes:
    """Random bits and their checksum (CRC), by default of x^8 + x^2 + x + 1; one column for each bit."""
    powers = sizes_in("polynomial", polynomial, "8+2+1+0")
    degree = max(powers)
    if len(set(powers)) < len(powers) or min(powers) != 0 or not 1 <= degree <= 32:
        raise SettingsError(
            "polynomial must be different powers of x, at most 32 and down to 0, such as 8+2+1+0, "
            f"not {polynomial!r}."
        )
    check_at_least("bits", bits, 2)
    if bits > 4096:
        raise SettingsError(f"bits must be at most 4096, not {bits}.")

    def complete(n: int, generator: np.random.Generator) -> Values:
        message = generator.integers(0, 2, (bits, n))
        return np.vstack([message, checksum(message, powers)])

    of_each = checksum(np.eye(bits, dtype=np.int64), powers)
    rules = [CodeRule((*np.flatnonzero(row).tolist(), bits + place), 2) for place, row in enumerate(of_each)]
    names = (*(f"m{k}" for k in range(1, bits + 1)), *(f"c{k}" for k in range(1, degree + 1)))
    _check_errors(errors)
    return Codes(names, ("01",) * len(names), tuple(rules), errors, complete)


def checksum(message: Values, powers: Sequence[int]) -> Values:
    """Return the remainder of messages, one in each column, divided by a polynomial; highest power first.

    Examples
    --------
    >>> checksum(np.array([[1], [0], [1]]), [2, 1, 0])[:, 0].tolist()
    [0, 1]
    """
    degree = max(powers)
    register = np.zeros((degree, message.shape[1]), dtype=np.int64)
    low = [degree - 1 - power for power in powers if power < degree]
    for bit in message:
        out = register[0] ^ bit
        register = np.vstack([register[1:], np.zeros_like(out)[None]])
        register[low] ^= out
    return register


def _codes(
    name: str,
    alphabets: Sequence[str],
    rules: Sequence[CodeRule],
    errors: Fraction,
    split: int,
    complete: Callable[[int, np.random.Generator], Values],
) -> Codes:
    _check_errors(errors)
    if split not in (0, 1):
        raise SettingsError(f"split must be 0 for one column of codes or 1 for one a character, not {split}.")
    names = tuple(f"{name}{place + 1}" for place in range(len(alphabets))) if split else (name,)
    return Codes(names, tuple(alphabets), tuple(rules), errors, complete)


def _check_errors(errors: Fraction) -> None:
    if not 0 <= errors <= 1:
        raise SettingsError(f"errors must be a share of the rows from 0 to 1, not {errors}.")


def _check_width(width: int) -> None:
    if width > _MOST_WIDE:
        raise SettingsError(f"A code can have at most {_MOST_WIDE} characters, not {width}.")
