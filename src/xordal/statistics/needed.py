"""Every piece of a set is needed: the p-value of a candidate is that of its least needed piece.

A set of links may be accepted because of one strong dependence among its variables, and bring columns along
that have nothing to do with it. So each piece of the set (:mod:`xordal.graph.pieces`) is tested by itself: what
do its links gain when they come in last? The p-value of the set is the *largest* of these.

That needs no correction for the number of pieces. If one piece gains nothing in the population, its own p-value
is below a level q with a probability of at most q, and the largest is not below it. To reject only when all
tests reject is an intersection-union test (Berger 1982).

It also gains power. The part of z in {a, b, z} has I(z; a b) to show, and for an exclusive-or that is all that
the three share; but it has (r_z - 1)(r_a r_b - 1) degrees of freedom, which is less than the whole set has.

For bars that need no counts: no part gains more than the whole, so no p-value of a set is lower than the tail
of the whole gain at the degrees of freedom of its largest part (:meth:`NeededParts.largest_dof`).

References
----------
Berger (1982), Multiparameter hypothesis testing and acceptance sampling. Technometrics 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import prod

from xordal.graph.chordal import ChordalGraph
from xordal.graph.pieces import Chain, has_parts, parts
from xordal.graph.remembered import MOST
from xordal.graph.signed_sets import change, free_parameters
from xordal.statistics.criterion import Evidence
from xordal.statistics.null_law import NullLaw
from xordal.types.varsets import LinkSet, SignedSets, VarSet, members, varset

_Part = tuple[LinkSet, SignedSets, int]  # links, change and degrees of freedom


class NeededParts:
    """The parts of candidates in one sample, each as evidence of its own.

    Parameters
    ----------
    law
        Knows what changes gain in the sample.
    n_levels
        Number of levels of each variable.
    """

    def __init__(self, law: NullLaw, n_levels: tuple[int, ...]) -> None:
        self._law = law
        self._n_levels = n_levels

    def of(self, batch: Sequence[Evidence]) -> list[list[Evidence]]:
        """Return the parts of each candidate, all of which must be needed; itself where it is the only one."""
        structures = [self._structure(found) for found in batch]
        # Of a set that is completed with fill-in the search has named the parts, each with its chain.
        named = [[(chain, change(chain)) for chain in found.parts] for found in batch]
        asked = [
            [terms for _, terms, _ in some] if some else [terms for _, terms in last]
            for some, last in zip(structures, named, strict=True)
        ]
        gains = iter(self._law.gains([terms for some in asked for terms in some]))
        return [
            [
                found._replace(links=links, change=terms, gain=next(gains), dof=dof, chain=())
                for links, terms, dof in some
            ]
            if some
            else [found, *(self._last(found, *one, next(gains)) for one in last)]
            for found, some, last in zip(batch, structures, named, strict=True)
        ]

    def _structure(self, found: Evidence) -> list[_Part]:
        """Return the parts of a candidate without their gains; none where only the whole is to be tested."""
        if found.is_fixed or not has_parts(found.variables, found.links):
            return []
        return [(links, terms, free_parameters(terms, self._n_levels)) for links, terms in _parts_of(found)]

    def _last(self, found: Evidence, chain: Chain, terms: SignedSets, gain: float) -> Evidence:
        """Return the part of a set that a chain adds."""
        dof = free_parameters(terms, self._n_levels)
        return found._replace(links=links_of(chain), change=terms, gain=gain, dof=dof, chain=chain)


def links_of(chain: Chain) -> LinkSet:
    """Return the links of a chain in increasing order."""
    return tuple(sorted([(step.x, step.y) for step in chain]))


def _parts_of(found: Evidence) -> list[tuple[LinkSet, SignedSets]]:
    """Return links and change of each part of a candidate.

    They are worked out where its links lie: there all else is linked. Most candidates of a search lie
    in the graph as others do, so the parts are remembered by place.
    """
    inside = members(_union(found.change))
    place = {v: number for number, v in enumerate(inside)}
    missing = tuple([(place[u], place[v]) for u, v in found.links])
    linked = {(place[u], place[v]) for s in found.change for u, v in combinations(members(s), 2)} - set(missing)
    own = varset([place[v] for v in members(found.variables)])
    moved: dict[VarSet, VarSet] = {}

    def there(s: VarSet) -> VarSet:
        if s not in moved:
            moved[s] = varset([inside[v] for v in members(s)])
        return moved[s]

    return [
        (tuple([(inside[u], inside[v]) for u, v in links]), {there(s): sign for s, sign in terms.items()})
        for links, terms in _parts_here(len(inside), tuple(sorted(linked)), own, missing)
    ]


@lru_cache(maxsize=MOST)
def _parts_here(
    n_vertices: int, linked: LinkSet, variables: VarSet, links: LinkSet
) -> list[tuple[LinkSet, SignedSets]]:
    """Return links and change of each part of a set, in a graph with some links; nobody may change them."""
    graph = ChordalGraph.empty(n_vertices).extended(linked)
    return [(links_of(chain), change(chain)) for chain in parts(graph, variables, links)]


def largest_part(variables: VarSet, links: LinkSet, n_levels: tuple[int, ...]) -> int | None:
    """Return the degrees of freedom of the largest part of a set without context; None where that is the whole.

    Examples
    --------
    >>> largest_part(VarSet(0b111), ((0, 1), (0, 2), (1, 2)), n_levels=(2, 2, 3))  # I(2; 0 1)
    6
    """
    if not has_parts(variables, links):
        return None
    inside = members(variables)
    levels = tuple([n_levels[v] for v in inside])
    if 2 * len(links) == len(inside) * (len(inside) - 1):
        return largest_part_of_free(levels)
    place = {v: number for number, v in enumerate(inside)}
    missing = tuple([(place[u], place[v]) for u, v in links])
    linked = tuple(pair for pair in combinations(range(len(inside)), 2) if pair not in missing)
    graph = ChordalGraph.empty(len(inside)).extended(linked)
    every = parts(graph, VarSet((1 << len(inside)) - 1), missing)
    return max([free_parameters(change(chain), levels) for chain in every])


def largest_part_of_free(levels: tuple[int, ...]) -> int:
    """Return the degrees of freedom of the largest part of a set without links and context.

    The part of a variable v gains I(v; all others).
    """
    cells = prod(levels)
    return max([(r - 1) * (cells // r - 1) for r in levels])


def _union(terms: SignedSets) -> VarSet:
    variables = 0
    for s in terms:
        variables |= s
    return VarSet(variables)
