"""How names, links and numbers are written in every comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import floor

from xordal.report.paper.printed import NamedLinks


class Namer:
    """Writes sets of variables and links in the order of the variables of one model.

    Examples
    --------
    >>> from xordal.report.paper.printed import links
    >>> Namer("dabc").links(links("a-c d-a"))
    '{(d,a), (a,c)}'
    """

    def __init__(self, variables: Sequence[str]) -> None:
        self._order = {name: place for place, name in enumerate(variables)}

    def variables(self, names: Iterable[str]) -> str:
        """Write a set of variables."""
        return "{" + ", ".join(sorted(names, key=self._order.__getitem__)) + "}"

    def links(self, links: NamedLinks) -> str:
        """Write a link set."""
        ordered = sorted(sorted(map(self._order.__getitem__, link)) for link in links)
        names = list(self._order)
        return "{" + ", ".join(f"({names[u]},{names[v]})" for u, v in ordered) + "}"

    def link_sets(self, link_sets: Iterable[NamedLinks]) -> str:
        """Write several link sets in their order."""
        return ", ".join(self.links(links) for links in link_sets)

    def blocks(self, blocks: Iterable[Collection[str]]) -> str:
        """Write a partition, its blocks parted by bars, in the order of their first variables."""
        numbered = sorted(sorted(self._order[name] for name in block) for block in blocks)
        names = list(self._order)
        return " | ".join(" ".join(names[v] for v in block) for block in numbered)


def numbers(values: Iterable[int]) -> str:
    """Write whole numbers in a row.

    Examples
    --------
    >>> numbers([6, 1149])
    '6, 1,149'
    """
    return ", ".join(f"{value:,}" for value in values)


def both(paper: str, ours: str) -> str:
    """Write what the paper and we have in one cell: once where it is the same.

    Examples
    --------
    >>> both("2", "2"), both("2", "3")
    ('2', 'paper 2, ours 3')
    """
    return ours if paper == ours else f"paper {paper}, ours {ours}"


def cut(value: float, digits: int = 4) -> str:
    """Write a number cut, not rounded, after some digits.

    Examples
    --------
    >>> cut(0.03897774), f"{0.03897774:.4f}"
    ('0.0389', '0.0390')
    """
    return f"{floor(value * 10**digits) / 10**digits:.{digits}f}"
