"""Definition 4: the colored I-map of a joint and a graph.

"The" minimal I-map is not unique for deterministic joints, so a colored I-map is of a joint *and a graph*: the
graph is checked to be a minimal I-map, and the submodels that count are those inside one of its cliques.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum
from typing import Any

from xordal.counting.oracle import EntropyOracle
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.signed_sets import signed_sets
from xordal.pi.definitions import apart, conditional_pi_submodels, submodels_among
from xordal.pi.independence import EXACT, Independence
from xordal.types.groups import Submodel
from xordal.types.varsets import Link, LinkSet, VarSet, members


@dataclass(frozen=True, slots=True)
class ColoredIMap:
    """A graph with the PI submodels inside its cliques and the links they colour; the others are black.

    ``sought_up_to`` is None when all subsets of all cliques were looked at; otherwise only those of up to that
    many variables, and the cliques themselves. ``n_following`` counts the sets with a hidden part that are not
    listed since they follow from the submodels that are, ``n_unexamined`` those that were not put to that test.
    """

    graph: ChordalGraph
    submodels: tuple[Submodel, ...]
    colored_links: LinkSet
    sought_up_to: int | None = None
    n_following: int = 0
    n_unexamined: int = 0

    @property
    def black_links(self) -> LinkSet:
        """The links no submodel colours."""
        return tuple(link for link in self.graph.links if link not in self.colored_links)


def colored_imap(
    oracle: EntropyOracle,
    graph: ChordalGraph,
    tolerance: float = EXACT,
    names: Sequence[str] | None = None,
) -> ColoredIMap:
    """Return the colored I-map of an exact joint and one of its minimal I-maps.

    Errors call the variables by their names, where these are given.

    Raises
    ------
    DataError
        If the graph is no I-map of the joint, or a link can go with the graph staying a chordal I-map.
    """
    judge = Independence(oracle, tolerance)
    excess = excess_entropy(oracle, graph)
    if excess > tolerance * max(1, graph.n_vertices):  # the rounding of as many terms
        raise DataError(f"The graph is no I-map of this joint: it loses {excess:.3g} nats of dependence.")
    spare = next(removable_links(judge, graph), None)
    if spare is not None:
        x, y = spare if names is None else (names[v] for v in spare)
        raise DataError(f"The graph is no minimal I-map: the link between {x} and {y} can go.")
    return color(judge, graph)


def color(
    judge: Independence, graph: ChordalGraph, most_sets: int | None = None, *, asks_s5: bool = True
) -> ColoredIMap:
    """Find the PI submodels inside the cliques of a graph and colour the links between their blocks.

    ``most_sets`` bounds the subsets looked at in one clique; of a larger one only the small subsets and the
    whole are. Without ``asks_s5`` a set counts that is PI by itself (Definition 2), embedded or not.
    """
    cliques = [clique for clique in maximal_cliques(graph) if clique.bit_count() >= 3]
    everything = (1 << graph.n_vertices) - 1
    judge.decide_pairs({pair for clique in cliques for pair in combinations(members(clique), 2)})
    domain = judge.components(everything) if cliques and asks_s5 else ()
    bounds = [
        (n, n if most_sets is None else min(n, largest_size(n, most_sets))) for n in map(int.bit_count, cliques)
    ]
    sets = [
        list(apart(judge, clique, domain, [*range(3, bound + 1), *([n] if bound < n else [])]))
        for clique, (n, bound) in zip(cliques, bounds, strict=True)
    ]
    judge.decide_collectively([part for of_clique in sets for part, _ in of_clique])
    submodels: dict[tuple[VarSet, VarSet], Submodel] = {}
    for clique, of_clique, (_, bound) in zip(cliques, sets, bounds, strict=True):
        marginal = submodels_among(judge, of_clique)
        for submodel in (*marginal, *conditional_pi_submodels(judge, clique, range(4, bound + 1))):
            submodels.setdefault((submodel.variables, submodel.context), submodel)
    ordered = sorted(submodels.values(), key=lambda s: (s.variables.bit_count(), s.kind, s.variables))
    sought_up_to = min((bound for n, bound in bounds if bound < n), default=None)
    return ColoredIMap(graph, tuple(ordered), links_colored(ordered), sought_up_to)


def links_colored(submodels: Iterable[Submodel]) -> LinkSet:
    """Return the links between blocks of full and partial submodels; the others colour none.

    By size, a pair may be hidden in one group and visible in another that shares less. It is then black.
    """
    coloring = [submodel for submodel in submodels if submodel.kind in ("full", "partial")]
    hidden = {link for submodel in coloring for link in submodel.colored_links()}
    inside = (block for submodel in coloring for block in submodel.partition)
    visible = {pair for block in inside for pair in combinations(members(block), 2)}
    return tuple(sorted(hidden - visible))


def largest_size(n_variables: int, most_sets: int) -> int:
    """Return up to which size all subsets of some variables can be looked at, four at the least.

    Examples
    --------
    >>> largest_size(9, 500), largest_size(12, 500), largest_size(30, 500)
    (9, 4, 4)
    """
    size, n_sets = 4, comb(n_variables, 3) + comb(n_variables, 4)
    while size < n_variables and n_sets + comb(n_variables, size + 1) <= most_sets:
        size += 1
        n_sets += comb(n_variables, size)
    return size


def excess_entropy(oracle: EntropyOracle, graph: ChordalGraph) -> float:
    """Return by how many nats the network's entropy exceeds the joint's; zero exactly for an I-map."""
    terms = signed_sets(graph)
    whole = VarSet((1 << graph.n_vertices) - 1)
    *parts, joint = oracle.entropies([*terms, whole]).tolist()
    return fsum([*(sign * h for sign, h in zip(terms.values(), parts, strict=True)), -joint])


def minimal_imap(
    judge: Independence, n_variables: int, order: Callable[[Link], Any] = lambda link: link
) -> ChordalGraph:
    """Return a minimal chordal I-map: links are taken from the complete graph while one can go.

    Of the links that can go, the first in the given order goes. A strictly positive joint whose pairwise Markov
    graph is chordal has that graph as its only result; a deterministic joint has several, of different sizes.
    """
    graph = ChordalGraph.empty(n_variables).add(combinations(range(n_variables), 2))
    while (spare := min(removable_links(judge, graph), key=order, default=None)) is not None:
        kept = [link for link in graph.links if link != spare]
        graph = ChordalGraph.empty(n_variables).add(kept)
    return graph


def removable_links(judge: Independence, graph: ChordalGraph) -> Iterator[Link]:
    """Yield the links that can go, each alone, with the graph staying chordal and an I-map.

    A link can go alone exactly when one maximal clique holds it, and loses nothing when its ends are
    independent given the rest of that clique.
    """
    cliques = maximal_cliques(graph)
    for x, y in graph.links:
        ends = 1 << x | 1 << y
        holding = [clique for clique in cliques if clique & ends == ends]
        if len(holding) == 1 and judge.is_independent(1 << x, 1 << y, holding[0] & ~ends):
            yield (x, y)
