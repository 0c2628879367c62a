"""What a user knows beforehand: links that must or must not be there, cliques that must not grow too large.

Constraints name columns; :func:`allowed_by` turns them into the numbers the search speaks in. The search begins
with the required links, completed where they are not chordal, and then passes over every candidate that would
add a forbidden link or build a clique larger than allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from xordal.errors import SettingsError, nearest
from xordal.graph.chordal import ChordalGraph, linked
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.min_fill import min_fill
from xordal.search.limits import Limits
from xordal.types.varsets import Link, LinkSet, SignedSets, VarSet, members

NamedLink = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Links that must or must not be in the network, as pairs of column names.

    Required links that do not form a chordal graph are completed as a whole
    (:mod:`xordal.graph.min_fill`); where that would need a forbidden link they are refused.

    Examples
    --------
    >>> Constraints(required=[("age", "sex")]).required
    (('age', 'sex'),)
    """

    required: Sequence[NamedLink] = ()
    forbidden: Sequence[NamedLink] = ()

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            links = getattr(self, name)
            if not isinstance(links, Iterable) or isinstance(links, str):
                raise SettingsError(f"{name} must be a list of pairs of column names, not {links!r}.")
            object.__setattr__(self, name, tuple(_pair(link, name) for link in links))


@dataclass(frozen=True, slots=True)
class Allowed:
    """Constraints and limits in variable numbers: where the search starts and what it may add.

    Attributes
    ----------
    required
        The links to start from; with ``fill_in`` they form a chordal graph.
    fill_in
        The links that complete them.
    forbidden
        Masks: bit u of ``forbidden[v]`` says that u and v must not be linked.
    max_clique
        Largest clique to build.
    """

    required: LinkSet = ()
    fill_in: LinkSet = ()
    forbidden: tuple[VarSet, ...] = ()
    max_clique: float = inf
    _ends: VarSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ends", _an_end_of_each(self.forbidden))

    def may_complete(self, variables: VarSet) -> bool:
        """Whether a variable set holds no forbidden pair."""
        ends = variables & self._ends
        return not ends or not any(variables & self.forbidden[v] for v in members(VarSet(ends)))

    def may_add(self, links: LinkSet) -> bool:
        """Whether no link is forbidden."""
        return not self.forbidden or not any(self.forbidden[u] >> v & 1 for u, v in links)

    def may_change(self, change: SignedSets) -> bool:
        """Whether a change builds no clique that is too large."""
        return self.max_clique == inf or all(
            s.bit_count() <= self.max_clique for s, sign in change.items() if sign > 0
        )

    def with_copies(self, n_variables: int, copies: LinkSet) -> Allowed:
        """Return what is allowed where a column that copies another is linked with that one at most.

        ``copies`` are pairs of a column and one that copies it. A copy of which a link is required is no worse
        than the column itself, and stays as free.

        Examples
        --------
        >>> allowed = Allowed().with_copies(3, copies=((0, 2),))
        >>> allowed.may_complete(VarSet(0b101)), allowed.may_complete(VarSet(0b110))
        (True, False)
        """
        wanted = {v for link in self.required for v in link}
        apart = [
            (v, copy)
            for first, copy in copies
            if copy not in wanted
            for v in range(n_variables)
            if v not in (first, copy)
        ]
        if not apart:
            return self
        return replace(self, forbidden=tuple(map(VarSet, linked(self.forbidden or [0] * n_variables, apart))))


def _an_end_of_each(forbidden: Sequence[int]) -> VarSet:
    """Return some variables among which each forbidden pair has an end.

    A column that copies another must be linked with no other column. So most forbidden pairs have an end among
    a few columns, and most sets hold none of these.

    Examples
    --------
    >>> members(_an_end_of_each([0b0100, 0b0100, 0b1011, 0b0100]))
    (2,)
    """
    left, found = list(forbidden), 0
    while any(left):
        v = max(range(len(left)), key=lambda u: left[u].bit_count())
        found |= 1 << v
        left = [0 if u == v else mask & ~(1 << v) for u, mask in enumerate(left)]
    return VarSet(found)


ALL_ALLOWED = Allowed()
"""No constraints and no limits."""


def allowed_by(names: Sequence[str], constraints: Constraints, limits: Limits) -> Allowed:
    """Return constraints and limits in the numbers of the columns.

    Raises
    ------
    SettingsError
        If a column does not exist, or the constraints contradict each other or the limits.
    """
    required, forbidden = (_numbered(names, links) for links in (constraints.required, constraints.forbidden))
    masks = linked([0] * len(names), required)
    filled = min_fill(masks) if required else ()
    for link in sorted({*required, *filled} & set(forbidden)):
        why = (
            "both required and forbidden" if link in required else "forbidden, but completes the required links"
        )
        raise SettingsError(f"The link {names[link[0]]} - {names[link[1]]} is {why}. Change one of them.")
    largest = inf if limits.max_clique is None else limits.max_clique
    graph = ChordalGraph.empty(len(names)).add([*required, *filled])
    for clique in maximal_cliques(graph):
        if clique.bit_count() > largest:
            told = ", ".join(names[v] for v in members(clique))
            raise SettingsError(f"The required links make a clique of {told}, larger than max_clique allows.")
    return Allowed(
        required,
        filled,
        tuple(map(VarSet, linked([0] * len(names), forbidden))) if forbidden else (),
        largest,
    )


def _pair(link: Iterable[str], name: str) -> NamedLink:
    ends = () if isinstance(link, str) else tuple(link)
    if len(ends) != 2 or ends[0] == ends[1]:
        raise SettingsError(f"Each {name} link is a pair of two column names, not {link!r}.")
    return ends[0], ends[1]


def _numbered(names: Sequence[str], links: Iterable[NamedLink]) -> LinkSet:
    found: set[Link] = set()
    for ends in links:
        for name in ends:
            if name not in names:
                raise SettingsError(f"There is no column {name!r} to link; {nearest(name, names)}")
        u, v = sorted(names.index(name) for name in ends)
        found.add((u, v))
    return tuple(sorted(found))
