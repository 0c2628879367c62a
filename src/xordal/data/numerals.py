"""Numbers as people write them: money, percent, units, thousands, decimal commas, negative numbers in brackets.

One column is written in one way, so all its levels are looked at together. ``1,234.50`` can only have a decimal
point and ``1.234,50`` only a decimal comma; a level alone such as ``1,500`` could have either, and another
level of its column decides: beside ``2,5`` it is one and a half. Where none decides, a comma before three
digits separates thousands and a point is a decimal point. A unit such as kg may stand behind the numbers where
all of them have the same, for a column of both g and kg is none of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONEY = (
    r"[$€£¥₹₽₩₺₪₫₴฿]|US\$|R\$|A\$|C\$|kr\.?|zł|Fr\.?|Rs\.?"
    r"|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|RUB)"
)
_NUMERAL = re.compile(
    rf"(?P<open>\()?\s*[~\u2248]?\s*(?P<sign>[+\-\u2212])?\s*(?P<before>{_MONEY})?\s*(?P<inner>[+\-\u2212])?"
    rf"(?P<digits>[0-9.,'\u2019 \u00a0\u202f\u2009]*[0-9][0-9.,]*)(?P<power>[eE][+-]?[0-9]+)?"
    rf"\s*(?P<after>{_MONEY}|%)?(?P<behind>-)?\s*(?P<close>\))?"
)
_LETTER = r"[^\W\d_]"
_LONG_UNITS = (
    r"(?:second|minute|hour|night|week|month|year|metre|meter|litre|liter|gram|pound|ounce|point|degree|"
    r"percent|Jahr|Monat|Woche|Stunde|Minute|Sekunde|Punkt)"
)
_WITH_UNIT = re.compile(
    r"(?P<number>[~\u2248]?\s*[+\-\u2212]?[0-9.,]*[0-9])(?![eE][0-9])\s?"
    rf"(?P<unit>{_LETTER}{{1,4}}[23\u00b2\u00b3]?(?:/{_LETTER}{{1,4}}[23\u00b2\u00b3]?)?|\u00b0\s?[CFK]?|\u2030"
    rf"|{_LONG_UNITS}(?:e|en|n|s)?)"
)
"""Any short word may be a unit, where a column has only that one; a longer one is known."""
_GAPS = re.compile("['\u2019 \u00a0\u202f\u2009]")
_GAPPED = re.compile(rf"[0-9]{{1,3}}(?:{_GAPS.pattern}[0-9]{{3}})+(?:[.,][0-9]*)?")
_THOUSANDS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"  # or 12,34,567, as in India
_POINT = re.compile(rf"(?:[0-9]+|{_THOUSANDS})(?:\.[0-9]*)?|\.[0-9]+")
_COMMA = re.compile(r"(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,[0-9]*)?|,[0-9]+")


def written_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return all texts as numbers, or None if they are not numbers written in one way.

    Examples
    --------
    >>> written_numbers(["1.585,22", "12,5"]), written_numbers(["$1,234.50", "($7.00)", "$ 0"])
    ([1585.22, 12.5], [1234.5, -7.0, 0.0])
    >>> written_numbers(["44.9%", "7 %"]), written_numbers(["1 234", "12"]), written_numbers(["1,500", "2,000"])
    ([44.9, 7.0], [1234.0, 12.0], [1500.0, 2000.0])
    >>> written_numbers(["1,500", "2,5"]), written_numbers(["$5", "5%"]), written_numbers(["1.2.3"])
    ([1.5, 2.5], None, None)
    >>> written_numbers(["12.5 kg", "7 kg"]), written_numbers(["12 kg", "12 g"]), written_numbers(["1,23,456"])
    ([12.5, 7.0], None, [123456.0])
    >>> written_numbers(["1 year", "20 years"]), written_numbers(["5 apples"])
    ([1.0, 20.0], None)
    """
    texts = _without_unit(texts) or texts
    parts = [_NUMERAL.fullmatch(text.strip()) for text in texts]
    found = [part for part in parts if part is not None and _is_closed(part)]
    if not texts or len(found) < len(texts) or not _is_one_unit(found):
        return None
    digits = [_without_gaps(part["digits"].strip()) for part in found]
    for pattern, decimal, thousands in ((_POINT, ".", ","), (_COMMA, ",", ".")):
        if all(each is not None and pattern.fullmatch(each) for each in digits):
            plain = [str(each).replace(thousands, "").replace(decimal, ".") for each in digits]
            numbers = [float(each + (part["power"] or "")) for each, part in zip(plain, found, strict=True)]
            if max(map(abs, numbers)) == float("inf"):
                return None
            return [-n if _is_negative(part) else n for n, part in zip(numbers, found, strict=True)]
    return None


def _without_unit(texts: Sequence[str]) -> list[str] | None:
    """Return texts without the unit that stands behind each number, or None where not all have the same."""
    plain: list[str] = []
    first = ""
    for text in texts:
        found = _WITH_UNIT.fullmatch(text.strip())
        if found is None:
            return None
        first = first or found["unit"]
        if found["unit"].rstrip("ens") != first.rstrip("ens"):  # one year, two years
            return None
        plain.append(found["number"])
    return plain


def has_unit(text: str) -> bool:
    """Whether a text is a number with a unit: above a column it is a name such as ``5 min``.

    Examples
    --------
    >>> has_unit("5 min"), has_unit("5"), has_unit("1e5")
    (True, False, False)
    """
    return _WITH_UNIT.fullmatch(text.strip()) is not None


def is_numeral(text: str) -> bool:
    """Whether a text by itself reads as a number in some way of writing."""
    return written_numbers([text]) is not None


def _without_gaps(digits: str) -> str | None:
    """Return digits without spaces or apostrophes between thousands; None where these stand elsewhere."""
    if not _GAPS.search(digits):
        return digits
    return _GAPS.sub("", digits) if _GAPPED.fullmatch(digits) else None


def _is_closed(part: re.Match[str]) -> bool:
    """Whether brackets come in pairs, and at most one sign."""
    signs = [part[name] for name in ("sign", "inner", "behind", "open") if part[name]]
    return bool(part["open"]) == bool(part["close"]) and len(signs) <= 1


def _is_one_unit(parts: Sequence[re.Match[str]]) -> bool:
    """Whether all numbers have one currency or are percent; some may go without."""
    units = {unit for part in parts for unit in (part["before"], part["after"]) if unit}
    return len(units) <= 1


def _is_negative(part: re.Match[str]) -> bool:
    return part["open"] is not None or any(
        part[name] not in (None, "+") for name in ("sign", "inner", "behind")
    )
