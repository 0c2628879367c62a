"""Hidden groups, once the graph is learned: looked for inside its cliques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

from xordal.graph.chordal import ChordalGraph
from xordal.learning.known import Known
from xordal.pi.by_size import discover_by_size
from xordal.pi.colored import color, largest_size
from xordal.pi.discover import Data, discover
from xordal.pi.independence import Independence
from xordal.pi.joint import Joint
from xordal.pi.measuring import measured_exactly
from xordal.search.plan import Plan
from xordal.statistics.criterion import Judge
from xordal.statistics.significance import Significance
from xordal.types.choices import HiddenBy
from xordal.types.learned import Learned

# Sets looked at for submodels: in one clique at most (all of nine variables, the small of more) and at least
# (all of six), and in all cliques together, about.
_MOST_SETS, _LEAST_SETS, _SETS_IN_ALL = 1000, 100, 5000
_MANY_SETS = 1000  # from which the look for hidden groups takes seconds and is announced


def announcement(cliques: Sequence[tuple[int, ...]]) -> str | None:
    """Return a line on what the look for hidden groups will go through; None where that takes no time."""
    n_sets = n_group_candidates(cliques)
    if n_sets < _MANY_SETS:
        return None
    where = f"{len(cliques):,} cliques" if len(cliques) > 1 else "one clique"
    return f"Looking for hidden groups among up to {n_sets:,} sets of columns inside {where}."


def with_groups(
    known: Known,
    graph: ChordalGraph,
    learned: Learned,
    plan: Plan,
    judge: Judge,
    hidden_by: HiddenBy,
) -> Learned:
    """Add the PI submodels in the cliques. Pairs are judged from the source, also those no clique holds."""
    judge = _of_groups(known, plan, judge)
    most_sets = _most_sets(learned.cliques)
    if isinstance(known.source, Joint):
        colored = color(Independence(known.oracle), graph, most_sets=most_sets)
        exact = tuple(measured_exactly(known.source, submodel) for submodel in colored.submodels)
        colored = replace(colored, submodels=exact)
    else:
        data = Data(known.oracle, judge, known.sample(plan), known.levels, plan.alpha, known.watch.check)
        look = discover_by_size if hidden_by == "size" else discover
        colored = look(data, graph, most_sets)
    by_letter = {"hidden_by": "letter"} if hidden_by == "letter" else {}
    return replace(
        learned,
        settings={**learned.settings, **by_letter},
        submodels=colored.submodels,
        colored_links=colored.colored_links,
        submodels_up_to=colored.sought_up_to,
        n_following=colored.n_following,
        n_unexamined=colored.n_unexamined,
    )


def n_group_candidates(cliques: Sequence[tuple[int, ...]]) -> int:
    """Return how many sets are looked at for hidden groups, at most.

    Examples
    --------
    >>> n_group_candidates([(0, 1, 2, 3), (3, 4)])
    5
    """
    found = 0
    for size in map(len, cliques):
        bound = min(size, largest_size(size, _most_sets(cliques))) if size >= 3 else 2
        found += sum(comb(size, m) for m in range(3, bound + 1)) + (bound < size and size >= 3)
    return found


def _most_sets(cliques: Sequence[tuple[int, ...]]) -> int:
    return max(_LEAST_SETS, min(_MOST_SETS, _SETS_IN_ALL // len(cliques)))


def _of_groups(known: Known, plan: Plan, judge: Judge) -> Judge:
    """Return the judge of what looks independent: a score takes what helps to predict for a dependence."""
    return Significance().on(known.sample(plan)) if plan.criterion.is_score else judge
