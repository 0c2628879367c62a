"""xordal finds the dependencies that every pairwise view misses.

It learns decomposable Markov networks from categorical data by multi-link lookahead search. Public names are
resolved on first use, so importing xordal costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from xordal.data.read import read_csv
    from xordal.data.table import CategoricalTable
    from xordal.errors import DataError, SettingsError, XordalError
    from xordal.formats.networkx import to_networkx
    from xordal.learning import Interrupted, learn
    from xordal.statistics.criterion import EntropyDecrement
    from xordal.types import Learned, TraceEntry

_HOME = {
    "CategoricalTable": "xordal.data.table",
    "DataError": "xordal.errors",
    "EntropyDecrement": "xordal.statistics.criterion",
    "Interrupted": "xordal.learning",
    "Learned": "xordal.types",
    "SettingsError": "xordal.errors",
    "TraceEntry": "xordal.types",
    "XordalError": "xordal.errors",
    "learn": "xordal.learning",
    "read_csv": "xordal.data.read",
    "to_networkx": "xordal.formats.networkx",
}

__all__ = [
    "CategoricalTable",
    "DataError",
    "EntropyDecrement",
    "Interrupted",
    "Learned",
    "SettingsError",
    "TraceEntry",
    "XordalError",
    "learn",
    "read_csv",
    "to_networkx",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'xordal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
