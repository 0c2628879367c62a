"""A zoo of models with pseudo-independent submodels, each with its truth attached.

:data:`FAMILIES` lists them under the names of the command line. A family is a function of keyword parameters
that returns a :class:`~xordal.pi.zoo.model.Model`: the exact joint and a minimal I-map of it, from which the
submodels and colours follow by the definitions. Numbers with check digits have too many states for a joint;
they are :class:`~xordal.pi.zoo.codes.Codes`, listed in :data:`CODES` and drawn row by row.
"""

from __future__ import annotations

from xordal.pi.zoo.codes import Codes, crc, ean_13, iban, isbn_10, luhn
from xordal.pi.zoo.model import Model
from xordal.pi.zoo.networks import embedded, ring
from xordal.pi.zoo.paper import music_box, table_1
from xordal.pi.zoo.registry import CODES, FAMILIES, Family, build, build_codes
from xordal.pi.zoo.sums import conditional_pi, epistasis, full_pi, modulus, parity, partial_pi

__all__ = [
    "CODES",
    "FAMILIES",
    "Codes",
    "Family",
    "Model",
    "build",
    "build_codes",
    "conditional_pi",
    "crc",
    "ean_13",
    "embedded",
    "epistasis",
    "full_pi",
    "iban",
    "isbn_10",
    "luhn",
    "modulus",
    "music_box",
    "parity",
    "partial_pi",
    "ring",
    "table_1",
]
