"""Names and levels as a format writes them, which must tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from xordal.errors import DataError
from xordal.model.directed import BayesianNetwork


@dataclass(frozen=True, slots=True)
class Written:
    """The names and levels of a network in the words of a format."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, network: BayesianNetwork, name: Callable[[str], str], level: Callable[[str], str]) -> Written:
        """Return names and levels, each written by a function."""
        texts = level_texts(network.variables, network.levels)
        return cls(tuple(map(name, network.variables)), tuple(tuple(map(level, one)) for one in texts))


def level_texts(
    variables: Iterable[str], levels: Iterable[tuple[Hashable, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Return all levels as text, for formats that know no other; DataError if two have the same text."""
    found = []
    for name, ones in zip(variables, levels, strict=True):
        texts = tuple(map(str, ones))
        if len(set(texts)) < len(texts):
            twice = next(text for text, n in Counter(texts).items() if n > 1)
            raise DataError(
                f"Two levels of column {name!r} are both written {twice!r}. Make them differ as text, or write "
                "a model file of xordal, which keeps types."
            )
        found.append(texts)
    return tuple(found)
