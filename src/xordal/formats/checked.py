"""JSON read with suspicion: every value is checked, and an error names its place in the file.

A :class:`Node` is a value and the path to it, such as ``tables[3].counts[0]``. Nothing is executed or built
from names in the file; a value is what it must be, or one clear error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from xordal.errors import ModelFileError

MOST_BRACKETS = 5_000_000
"""Lists and objects in a file: empty ones take 25 times their length in memory, so that 240 MB took 6 GB."""

_SHOWN = 40  # characters of a wrong value in a message


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON file and where it is."""

    value: Any
    path: str
    file: str

    def wrong(self, why: str) -> NoReturn:
        """Raise an error about this value."""
        place = f" at {self.path}" if self.path else ""
        raise ModelFileError(
            f"{self.file}: this network contradicts itself:{place} {why}. Write it anew with xordal learn -o."
        )

    def __getitem__(self, key: str) -> Node:
        """Return a value of an object, which must be there."""
        found = self.get(key)
        if found is None:
            self.wrong(f"there must be {key!r}")
        return found

    def get(self, key: str) -> Node | None:
        """Return a value of an object, or None where it is not there."""
        whole = self.object()
        if key not in whole:
            return None
        return Node(whole[key], f"{self.path}.{key}" if self.path else key, self.file)

    def object(self) -> dict[str, Any]:
        """Return the value, which must be an object."""
        if not isinstance(self.value, dict):
            self.wrong(f"there must be an object, not {_short(self.value)}")
        return self.value

    def items(self) -> list[Node]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            self.wrong(f"there must be a list, not {_short(self.value)}")
        return [Node(item, f"{self.path}[{place}]", self.file) for place, item in enumerate(self.value)]

    def text(self) -> str:
        """Return the value, which must be a text with something in it."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.wrong(f"there must be a text, not {_short(self.value)}")
        return self.value

    def name(self) -> str:
        """Return the value, which must be a text, if only of blanks: names may be anything."""
        if not isinstance(self.value, str):
            self.wrong(f"there must be a text, not {_short(self.value)}")
        return self.value

    def integer(self, low: int | None = None, high: int | None = None) -> int:
        """Return the value, which must be a whole number in a range."""
        value = self.value
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or (low is not None and value < low) or (high is not None and value > high):
            bound = ("" if low is None else f" from {low} on") if high is None else f" between {low} and {high}"
            self.wrong(f"there must be a whole number{bound}, not {_short(value)}")
        return int(value)

    def number(self, low: float | None = None) -> float:
        """Return the value, which must be a finite number, not below a bound."""
        value = self.value
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e308
        if not is_number or not isfinite(value) or (low is not None and value < low):
            bound = "" if low is None else f" of at least {low:g}"
            self.wrong(f"there must be a finite number{bound}, not {_short(value)}")
        return float(value)

    def share(self) -> float:
        """Return the value, which must be a number between 0 and 1."""
        found = self.number(0)
        if found > 1:
            self.wrong(f"there must be a share between 0 and 1, not {_short(self.value)}")
        return found

    def log_share(self) -> float:
        """Return the value, which must be the logarithm of a probability."""
        found = self.number()
        if found > 0:
            self.wrong("the logarithm of a probability is not above 0")
        return found

    def simple(self, depth: int = 3) -> Any:
        """Return the value, which may be anything of finite numbers and a few levels deep."""
        if isinstance(self.value, dict | list):
            if depth == 0:
                self.wrong("this is nested too deeply")
            inner = [self[key] for key in self.value] if isinstance(self.value, dict) else self.items()
            for item in inner:
                item.simple(depth - 1)
        elif isinstance(self.value, float):
            self.number()
        return self.value

    def one_of(self, *choices: str) -> str:
        """Return the value, which must be one of some texts."""
        if self.value not in choices or not isinstance(self.value, str):
            self.wrong(f"there must be one of {', '.join(choices)}, not {_short(self.value)}")
        return self.value

    def texts(self) -> Iterator[tuple[Node, str]]:
        """Yield the items of a list of names, which must all differ."""
        seen = set()
        for item in self.items():
            text = item.name()
            if text in seen:
                item.wrong(f"{_short(text)} is there a second time")
            seen.add(text)
            yield item, text


def parse(text: str, file: str) -> Node:
    """Return the JSON value of a text.

    Raises
    ------
    ModelFileError
        If it is no JSON, ends in the middle, has a key twice, numbers that are none, or is nested too deeply.
    """
    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise ModelFileError(f"{file} has more than {MOST_BRACKETS:,} lists and objects; no network has.")
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ModelFileError(_not_json(text, file, error)) from None
    except (_Refused, RecursionError, ValueError) as error:
        why = str(error) if isinstance(error, _Refused) else "it has a number too long or is nested too deeply"
        raise ModelFileError(
            f"{file}: this network contradicts itself: {why}. Write the file anew with xordal learn -o."
        ) from None
    return Node(value, "", file)


class _Refused(Exception):
    """Something JSON allows, or Python lets through, and a model file must not have."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused(f"the key {_short(key)} is there twice")
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise _Refused(f"{name} is no number")


def _not_json(text: str, file: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return f"{file} is empty. xordal learn DATA -o FILE writes a network."
    if not text.lstrip().startswith("{"):
        return f"{file} is no model file: it is not JSON. Name the file that xordal learn wrote with -o."
    if error.pos >= len(text.rstrip()) - 1 or "Unterminated string" in error.msg:
        where = f"it ends in the middle, on line {error.lineno}"
        return f"{file} is cut short: {where}. Copy it again, or write it anew with xordal learn -o."
    where = f"{file}, line {error.lineno}, column {error.colno}"
    return f"{where}: not valid JSON ({error.msg}). Write the file anew with xordal learn -o."


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
