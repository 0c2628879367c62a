"""Definition 4: the colored I-map of a joint and a graph.

"The" minimal I-map is not unique for deterministic joints, so a colored I-map is of a joint *and a graph*: the
graph is checked to be a minimal I-map, and the submodels that count are those inside one of its cliques.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, fsum

from xordal.counting.oracle import EntropyOracle
from xordal.errors import DataError
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import maximal_cliques
from xordal.graph.signed_sets import signed_sets
from xordal.pi.definitions import conditional_pi_submodels, pi_submodels
from xordal.pi.independence import Independence
from xordal.types import Link, LinkSet, Submodel, VarSet

MOST_SETS = 2000
"""Sets to look at in one clique: all of a clique of ten, the smaller ones of a larger clique."""


@dataclass(frozen=True, slots=True)
class ColoredIMap:
    """A graph with the PI submodels inside its cliques and the links they colour; the others are black."""

    graph: ChordalGraph
    submodels: tuple[Submodel, ...]
    colored_links: LinkSet

    @property
    def black_links(self) -> LinkSet:
        """The links no submodel colours."""
        return tuple(link for link in self.graph.links if link not in self.colored_links)


def colored_imap(oracle: EntropyOracle, graph: ChordalGraph, tolerance: float = 1e-12) -> ColoredIMap:
    """Return the colored I-map of an exact joint and one of its minimal I-maps.

    Raises
    ------
    DataError
        If the graph is no I-map of the joint, or a link can go with the graph staying a chordal I-map.
    """
    judge = Independence(oracle, tolerance)
    excess = excess_entropy(oracle, graph)
    if excess > 1e-9:
        raise DataError(f"The graph is no I-map of this joint: it loses {excess:.3g} nats of dependence.")
    spare = removable_link(judge, graph)
    if spare is not None:
        raise DataError(f"The graph is no minimal I-map: the link between {spare[0]} and {spare[1]} can go.")
    return color(judge, graph)


def color(judge: Independence, graph: ChordalGraph) -> ColoredIMap:
    """Find the PI submodels inside the cliques of a graph and colour the links between their blocks."""
    domain = VarSet((1 << graph.n_vertices) - 1)
    submodels: dict[tuple[VarSet, VarSet], Submodel] = {}
    for clique in maximal_cliques(graph):
        size = clique.bit_count()
        marginal = pi_submodels(judge, domain, clique, largest_size(size, MOST_SETS))
        # every set is asked with every context: a tenth of the sets takes about as long
        conditional = conditional_pi_submodels(judge, clique, largest_size(size, MOST_SETS // 10))
        for submodel in (*marginal, *conditional):
            submodels.setdefault((submodel.variables, submodel.context), submodel)
    coloring = [submodel for submodel in submodels.values() if submodel.kind != "conditional"]
    colored = sorted({link for submodel in coloring for link in submodel.colored_links()})
    ordered = sorted(submodels.values(), key=lambda s: (s.variables.bit_count(), s.kind, s.variables))
    return ColoredIMap(graph, tuple(ordered), tuple(colored))


def largest_size(n_variables: int, most_sets: int) -> int:
    """Return up to which size all subsets of some variables can be looked at, three at the least.

    Examples
    --------
    >>> largest_size(10, MOST_SETS), largest_size(16, MOST_SETS)
    (10, 3)
    """
    size, n_sets = 3, comb(n_variables, 3)
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


def removable_link(judge: Independence, graph: ChordalGraph) -> Link | None:
    """Return a link that can go with the graph staying chordal and an I-map, if there is one.

    A link can go alone exactly when one maximal clique holds it, and loses nothing when its ends are
    independent given the rest of that clique.
    """
    cliques = maximal_cliques(graph)
    for x, y in graph.links:
        ends = 1 << x | 1 << y
        holding = [clique for clique in cliques if clique & ends == ends]
        if len(holding) == 1 and judge.is_independent(1 << x, 1 << y, holding[0] & ~ends):
            return (x, y)
    return None
