"""Codes with check digits: each is right by its published rule, and errors are where they are said to be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from xordal.errors import SettingsError
from xordal.pi.zoo import CODES, build_codes
from xordal.pi.zoo.codes import checksum, crc


def is_right(name: str, code: str) -> bool:
    """Whether a code obeys the rule of its standard, written here the way the standard puts it."""
    if name == "isbn-10":
        return sum((10 - k) * (10 if c == "X" else int(c)) for k, c in enumerate(code)) % 11 == 0
    if name == "iban":
        moved = code[4:] + code[:4]
        return int("".join(str(int(c, 36)) for c in moved)) % 97 == 1
    if name == "ean-13":
        return (sum(map(int, code[::2])) + 3 * sum(map(int, code[1::2]))) % 10 == 0
    doubled = [sum(map(int, str(2 * int(c)))) for c in code[-2::-2]]
    return (sum(doubled) + sum(map(int, code[::-2]))) % 10 == 0


@pytest.mark.parametrize("name", ["ean-13", "luhn", "isbn-10", "iban"])
def test_codes_are_right_and_errors_where_they_are_said_to_be(name: str) -> None:
    codes = build_codes(name, {"errors": "1/10"})
    rows, errors = codes.draw(2000, seed=5)
    wrong = {error.row for error in errors}
    assert 150 < len(wrong) < 250
    assert all(is_right(name, error.right) for error in errors)
    assert all(is_right(name, code) for row, (code,) in enumerate(rows) if row not in wrong)
    for error in errors:
        changed = [(a, b) for a, b in zip(rows[error.row][0], error.right, strict=True) if a != b]
        assert len(changed) == 1 or (len(changed) == 2 and changed[0] == changed[1][::-1])
    exchanged = [e for e in errors if sum(a != b for a, b in zip(rows[e.row][0], e.right, strict=True)) == 2]
    assert 0.03 < len(exchanged) / len(errors) < 0.2
    assert rows == codes.draw(2000, seed=5)[0] != codes.draw(2000, seed=6)[0]


@pytest.mark.parametrize("name", ["ean-13", "luhn", "isbn-10", "iban"])
def test_split_codes_are_the_same_codes(name: str) -> None:
    whole, _ = build_codes(name).draw(20, seed=1)
    split, _ = build_codes(name, {"split": "1"}).draw(20, seed=1)
    assert ["".join(row) for row in split] == [code for (code,) in whole]
    assert build_codes(name, {"split": "1"}).characters == build_codes(name).characters


def test_a_checksum_is_the_remainder_of_a_division_of_polynomials() -> None:
    """CRC-8 of the bytes 1 to 9 written as text is F4 for this polynomial, as catalogues of CRCs give it."""
    bits = np.array([[int(bit)] for letter in b"123456789" for bit in f"{letter:08b}"])
    assert "".join(map(str, checksum(bits, [8, 2, 1, 0])[:, 0])) == f"{0xF4:08b}"


def test_frames_obey_the_rules_of_their_polynomial() -> None:
    codes = crc(bits=20, polynomial="4+1+0")
    rows, _ = codes.draw(300, seed=0)
    values = np.array(rows).astype(np.int64)
    assert len(codes.rules) == 4 and values.shape == (300, 24)
    for rule in codes.rules:
        assert not (values[:, rule.places].sum(axis=1) % 2).any()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("luhn", {"digits": "2"}, "at least 3"),
        ("luhn", {"digits": "65"}, "at most 64 characters"),
        ("luhn", {"errors": "2"}, "from 0 to 1"),
        ("ean-13", {"split": "2"}, "one column of codes or 1"),
        ("iban", {"country": "D1"}, "two letters"),
        ("crc", {"polynomial": "8+2"}, "down to 0"),
        ("crc", {"polynomial": "x8"}, "whole numbers"),
        ("crc", {"bits": "5000"}, "at most 4096"),
        ("isbn10", {}, "did you mean 'isbn-10'"),
    ],
)
def test_parameters_that_make_no_code(name: str, parameters: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        build_codes(name, parameters)


def test_too_many_codes_are_refused() -> None:
    with pytest.raises(SettingsError, match="At most 1,000,000"):
        CODES["ean-13"].make(errors=Fraction(0)).draw(2_000_000, seed=0)
