"""How strong each link is: what its two variables tell of each other, given the others of their clique.

A link of a hidden group shows nothing of its pair alone; given the rest of the clique it shows all. What chance
gives on average, free parameters / (2 rows), is taken off, so that the large tables of large cliques do not
look strong. Of several cliques that hold a link, the one that says most counts, as in ``xordal inspect``.
"""

from __future__ import annotations

from functools import cache
from math import prod

from xordal.counting.finalize import entropy
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.cliques import rows_in
from xordal.statistics.chance import expected_gain
from xordal.types.varsets import Link, VarSet, members


def link_strengths(network: DecomposableMarkovNetwork) -> dict[Link, float]:
    """Return the strength of each link in nats, 0 where chance alone would give as much.

    Examples
    --------
    >>> from xordal.learning.learn import learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> strengths = link_strengths(learn(dict(zip("abc", zip(*rows)))).network())
    >>> {link: round(strength, 2) for link, strength in strengths.items()}
    {(0, 1): 0.68, (0, 2): 0.68, (1, 2): 0.68}
    """
    found: dict[Link, float] = dict.fromkeys(network.graph.links, 0.0)
    for table in network.clique_tables():
        inside, counts = members(table.variables), rows_in(table)

        @cache
        def of(part: int, inside: tuple[int, ...] = inside, counts: object = counts) -> float:
            places = [inside.index(v) for v in members(part)]
            return entropy(counts.over(places).counts) if places else 0.0  # type: ignore[attr-defined]

        for u, v in ((u, v) for u in inside for v in inside if u < v):
            rest = table.variables & ~(1 << u | 1 << v)
            shared = of(rest | 1 << u) + of(rest | 1 << v) - of(table.variables) - of(rest)
            dof = (network.n_levels[u] - 1) * (network.n_levels[v] - 1)
            dof *= prod(network.n_levels[w] for w in members(VarSet(rest)))
            chance = expected_gain(dof, network.n_rows) if network.n_rows else 0.0
            found[u, v] = max(found[u, v], shared - chance)
    return found
