"""The network around one column: what it is linked with, and the hidden groups that hold it.

In a network the columns linked with a column are its Markov blanket: given their values, no other column says
anything more about it. So they are the columns to look at, and to measure, for whoever wants to know that one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xordal.errors import DataError, counted, nearest
from xordal.formats.shown import shown
from xordal.formats.text import hidden_groups_lines, links_text
from xordal.types.learned import Learned
from xordal.types.varsets import LinkSet


@dataclass(frozen=True, slots=True)
class Around:
    """A column, those linked with it, and the links among all of these."""

    target: int
    linked: tuple[int, ...]
    links: LinkSet
    learned: Learned

    @classmethod
    def of(cls, learned: Learned, name: str) -> Around:
        """Return the network around a column.

        Raises
        ------
        DataError
            If there is no such column.
        """
        check_target(name, learned.variables)
        target = learned.variables.index(name)
        linked = tuple(sorted({v for link in learned.links if target in link for v in link} - {target}))
        inside = {target, *linked}
        links = tuple(link for link in learned.links if set(link) <= inside)
        groups = tuple(g for g in learned.submodels or () if (g.variables | g.context) >> target & 1)
        return cls(target, linked, links, replace(learned, submodels=groups, n_following=0))

    @property
    def own(self) -> LinkSet:
        """The links of the column itself."""
        return tuple(link for link in self.links if self.target in link)

    def lines(self) -> list[str]:
        """Return the network around the column in words."""
        names = self.learned.variables
        name, n_others = shown(names[self.target]), len(names) - 1 - len(self.linked)
        if not self.linked:
            return [f"Around {name}: no column is linked with it."]
        told = ", ".join(shown(names[v]) for v in self.linked)
        among = tuple(link for link in self.links if self.target not in link)
        rest = f"the other {counted(n_others, 'column')} say" if n_others > 1 else "the other column says"
        return [
            f"Around {name}: linked with {told}",
            *([f"  among these: {links_text(names, among)}"] if among else []),
            *([f"  Given these, {rest} nothing more about {name}."] if n_others else []),
            *hidden_groups_lines(self.learned),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the column, those linked with it, and the links, by name."""
        names = self.learned.variables
        return {
            "column": names[self.target],
            "linked": [names[v] for v in self.linked],
            "links": [[names[u], names[v]] for u, v in self.links],
        }


def check_target(name: str, variables: tuple[str, ...]) -> None:
    """Refuse the name of a column that is not there."""
    if name not in variables:
        raise DataError(f"There is no column {name!r} to look around; {nearest(name, variables)}")
