"""The families by name, with their parameters as text: what ``xordal generate`` offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import getdoc, signature
from typing import Generic, TypeVar

from xordal.errors import SettingsError, nearest
from xordal.pi.zoo.codes import Codes, crc, ean_13, iban, isbn_10, luhn
from xordal.pi.zoo.model import Model
from xordal.pi.zoo.networks import embedded, ring
from xordal.pi.zoo.paper import music_box, table_1
from xordal.pi.zoo.sums import conditional_pi, epistasis, full_pi, modulus, parity, partial_pi

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """A function that builds models, or codes that obey rules, from keyword parameters."""

    make: Callable[..., T]

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (getdoc(self.make) or "").splitlines()[0]

    @property
    def defaults(self) -> dict[str, object]:
        """The parameters with their default values."""
        return {name: parameter.default for name, parameter in signature(self.make).parameters.items()}


FAMILIES: dict[str, Family[Model]] = {
    "table-1": Family(table_1),
    "music-box": Family(music_box),
    "parity": Family(parity),
    "modulus": Family(modulus),
    "full-pi": Family(full_pi),
    "partial-pi": Family(partial_pi),
    "conditional-pi": Family(conditional_pi),
    "epistasis": Family(epistasis),
    "embedded": Family(embedded),
    "ring": Family(ring),
}
CODES: dict[str, Family[Codes]] = {
    "ean-13": Family(ean_13),
    "luhn": Family(luhn),
    "isbn-10": Family(isbn_10),
    "iban": Family(iban),
    "crc": Family(crc),
}


def build(name: str, parameters: Mapping[str, str] | None = None) -> Model:
    """Build a model from the name of its family and parameters as text.

    Examples
    --------
    >>> build("parity", {"variables": "5", "noise": "0.1"}).joint.variables
    ('x1', 'x2', 'x3', 'x4', 'y')
    """
    return _built(FAMILIES, name, parameters)


def build_codes(name: str, parameters: Mapping[str, str] | None = None) -> Codes:
    """Build codes from the name of their family and parameters as text.

    Examples
    --------
    >>> build_codes("isbn-10", {"errors": "1/100"}).variables
    ('isbn',)
    """
    return _built(CODES, name, parameters)


def _built(families: Mapping[str, Family[T]], name: str, parameters: Mapping[str, str] | None) -> T:
    if name not in families:
        raise SettingsError(f"There is no model {name!r}; {nearest(name, [*FAMILIES, *CODES])}")
    family = families[name]
    values = {key: _parsed(name, family.defaults, key, text) for key, text in (parameters or {}).items()}
    return family.make(**values)


def _parsed(name: str, defaults: dict[str, object], key: str, text: str) -> object:
    if key not in defaults:
        known = nearest(key, defaults) if defaults else "it has none."
        raise SettingsError(f"{name} has no parameter {key!r}; {known}")
    kind = type(defaults[key])
    try:
        return Fraction(text) if kind is Fraction else kind(text)  # type: ignore[call-arg]
    except (ValueError, ZeroDivisionError):
        wanted = {int: "a whole number", float: "a number", Fraction: "a number or a fraction such as 1/20"}[
            kind
        ]
        raise SettingsError(f"{name}: {key} must be {wanted}, not {text!r}.") from None
