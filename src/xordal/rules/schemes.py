"""Known schemes by their weights.

A rule is the same when all of it is multiplied by a number that has an inverse, so weights are compared up to
such a factor, in the order of the columns. Characters that are the same in all codes are no columns of a rule:
the 978 of book numbers, say, adds 8 to the sum of the others, which are ten digits and not thirteen. So a
scheme that is known by its number of digits has a constant of zero, and check digits that are counted from the
right, as those of Luhn and EAN are, have their names whatever is before them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import gcd

import numpy as np

from xordal.rules.candidate import UNKNOWN, Candidate, Values, weight_of
from xordal.rules.coding import numbers_of

_WEEK = 7
_MONTHS = (
    (0, 3, 3, 6, 1, 4, 6, 2, 5, 0, 3, 5),
    (0, 3, 4, 0, 2, 5, 0, 3, 6, 1, 4, 6),
)  # first days, leap year last
_DAYS = range(28, 32)
_FEWEST_OF_EAN = 6  # digits: weights of 3 and 1 in turn mean little of fewer
_FEWEST_OF_LUHN = 8  # characters of a code that is told to be Luhn's as a whole
_GTIN = {8: "EAN-8", 12: "UPC-A", 13: "EAN-13", 14: "GTIN-14", 17: "GSIN", 18: "SSCC"}


def scheme_of(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> str:
    """Return the name of a known scheme, or an empty text.

    Examples
    --------
    >>> import numpy as np
    >>> digits = tuple("0123456789")
    >>> functions = tuple(np.arange(10) * w % 10 for w in (3, 7, 1, 3, 7, 1, 3, 7, 1))
    >>> scheme_of(Candidate(10, tuple(range(9)), functions, 0), [digits] * 9)
    'ABA routing number'
    """
    m, modulus = len(candidate.variables), candidate.modulus
    of = [levels[v] for v in candidate.variables]
    if modulus == 2 and all(len(each) == 2 for each in of):
        return "parity"
    if modulus == 10 and _is_luhn(candidate, of):
        return "Luhn"
    if modulus == _WEEK and _is_calendar(candidate, of):
        return "calendar"
    weights = [weight_of(each, f, modulus) for each, f in zip(of, candidate.functions, strict=True)]
    if modulus == 0 or any(weight is None for weight in weights):
        return ""
    known = [weight for weight in weights if weight is not None]
    for name, wanted in _schemes(m, modulus, is_whole=candidate.constant == 0):
        if any(
            all((factor * a - b) % modulus == 0 for a, b in zip(known, wanted, strict=True))
            for factor in range(1, modulus)
            if gcd(factor, modulus) == 1
        ):
            return name
    return ""


def terms_of_scheme(
    modulus: int, characters: Sequence[Sequence[Hashable]]
) -> Iterator[tuple[str, list[Values]]]:
    """Yield the schemes that codes of so many characters may be: the name, and what each character adds.

    ``characters`` are those that occur in each place. One that a scheme does not know is ``UNKNOWN``; X is 10
    in the last place. Schemes of any length, and those whose sum is another number than 0, are left out.
    """
    m = len(characters)
    numbers = [[_digit(c, is_last=k == m - 1 and modulus == 11) for c in of] for k, of in enumerate(characters)]
    for name, weights in _schemes(m, modulus, is_whole=True):
        if name in ("EAN/UPC", "weights falling to 1", "ISO 7064 mod 11-2"):
            continue
        yield (
            name,
            [_terms(of, [w * n % modulus for n in range(11)]) for of, w in zip(numbers, weights, strict=True)],
        )
    if modulus == 10 and m >= _FEWEST_OF_LUHN:
        doubled = [(2 * n - 9 * (n > 4)) % 10 for n in range(10)]
        ways = [list(range(10)) if (m - 1 - place) % 2 == 0 else doubled for place in range(m)]
        yield "Luhn", [_terms(of, way) for of, way in zip(numbers, ways, strict=True)]


def _digit(character: Hashable, *, is_last: bool) -> int | None:
    text = str(character)
    if is_last and text in ("X", "x"):
        return 10
    return int(text) if len(text) == 1 and text.isascii() and text.isdecimal() else None


def _terms(numbers: Sequence[int | None], adds: Sequence[int]) -> Values:
    return np.array([UNKNOWN if n is None else adds[n] for n in numbers], dtype=np.int64)


def _schemes(m: int, modulus: int, *, is_whole: bool) -> list[tuple[str, list[int]]]:
    """Return the schemes of m columns modulo a number, with their weights; ``is_whole`` without a constant."""
    falling = list(range(m, 0, -1))
    powers = [[pow(base, m - 1 - place, modulus) for place in range(m)] for base in (2, 10)]
    if modulus == 10:
        found = [("CAS registry number", [*range(m - 1, 0, -1), -1])] if is_whole and 5 <= m <= 10 else []
        if is_whole and m == 9:
            found.append(("ABA routing number", [3, 7, 1] * 3))
        if m >= _FEWEST_OF_EAN:
            name = _GTIN.get(m, "EAN/UPC") if is_whole else "EAN/UPC"
            found.append((name, [3 if (m - 1 - place) % 2 else 1 for place in range(m)]))
        return found
    if modulus == 11:
        known = {10: "ISBN-10", 8: "ISSN"} if is_whole else {}
        return [(known.get(m, "weights falling to 1"), falling), ("ISO 7064 mod 11-2", powers[0])]
    if modulus == 97 and m > 2:
        account = [pow(10, m - 3 - place + 6, modulus) for place in range(m - 2)]  # before country and check
        return [("IBAN (mod 97)", [10, 1, *account]), ("ISO 7064 mod 97-10", powers[1])]
    if modulus == 37 and m > 2:
        return [("ISO 7064 mod 37-2", powers[0])]
    return []


def _is_luhn(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> bool:
    """Whether every second digit from the right, the last but one first, is doubled, less 9 if above 9."""
    m = len(candidate.variables)
    if m < 3:
        return False
    for factor in (1, 3, 7, 9):
        fits = True
        for place, (each, values) in enumerate(zip(levels, candidate.functions, strict=True)):
            for number, value in zip(numbers_of(each), values.tolist(), strict=True):
                if number is None or not 0 <= number <= 9:
                    return False
                wanted = number if (m - 1 - place) % 2 == 0 else 2 * number - 9 * (number > 4)
                fits = fits and (value == UNKNOWN or (factor * value - wanted) % 10 == 0)
        if fits:
            return True
    return False


def _is_calendar(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> bool:
    """Whether one column is the day of the week, one the day of the month, and one the month, by any names.

    Counted in days, the twelve months move the week as they do in a common year or in a leap year. Years may
    be as many as months or days.
    """
    columns = list(zip(levels, candidate.functions, strict=True))
    of_size: dict[int, list[Values]] = {}
    for each, values in columns:
        of_size.setdefault(len(each), []).append(values)
    day_weights = [weight_of(each, f, _WEEK) for each, f in columns if len(each) in _DAYS]
    return _WEEK in of_size and any(
        sorted((moved + start) % _WEEK) == sorted(months)
        for values in of_size.get(12, ())
        if UNKNOWN not in values
        for weight in day_weights
        if weight
        for moved in [values * pow(weight, -1, _WEEK)]
        for start in range(_WEEK)
        for months in _MONTHS
    )
