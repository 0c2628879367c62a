"""Section 5: what a search may cost, what it did cost, and the shape of its execution (Table 2, Figures 3, 4).

The execution chain is the sequence of passes, each labelled by its number of lookahead links. In the execution
forest the parent of a pass is the first pass of the next higher label further down the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from xordal.types.trace import Pass


@dataclass(frozen=True, slots=True)
class Cost:
    """Measured and largest possible work of the passes of one lookahead (a row of Table 2).

    Attributes
    ----------
    lookahead
        The number of links i.
    passes, learning_passes
        How many passes there were, and how many of them learned a link set.
    steps
        Link sets tested in all of them.
    most_steps
        Largest number of steps in one pass: sets of i among all N(N-1)/2 pairs, O(N^(2i)).
    most_learning_passes
        Each learns i links, so there are at most N(N-1)/(2i), O(N^2 / i).
    """

    lookahead: int
    passes: int
    learning_passes: int
    steps: int
    most_steps: int
    most_learning_passes: int


def costs(passes: Sequence[Pass], n_variables: int) -> tuple[Cost, ...]:
    """Return the measured cost of each lookahead beside its bound, as in Table 2."""
    pairs = comb(n_variables, 2)
    rows = []
    for i in sorted({p.lookahead for p in passes}):
        mine = [p for p in passes if p.lookahead == i]
        learning = sum(p.learned is not None for p in mine)
        steps = sum(p.steps for p in mine)
        rows.append(Cost(i, len(mine), learning, steps, comb(pairs, i), pairs // i))
    return tuple(rows)


def bound_on_steps(n_variables: int, max_links: int) -> int:
    """Return N^(2(k+1)), the paper's bound on the steps of a k-link search, with its constant of one."""
    return int(n_variables ** (2 * (max_links + 1)))


def execution_chain(passes: Sequence[Pass]) -> tuple[int, ...]:
    """Return the label of each pass in order: the execution chain (Figure 3).

    Examples
    --------
    >>> execution_chain([Pass(1, 1, 3, ((0, 1),)), Pass(1, 1, 2, None), Pass(2, 2, 1, None)])
    (1, 1, 2)
    """
    return tuple(p.lookahead for p in passes)


def execution_forest(chain: Sequence[int]) -> tuple[int | None, ...]:
    """Return the parent of each pass of a chain, None at the top level (Figure 4).

    Passes of a run that never again look further ahead, after the last pass of the next higher label, have no
    parent: the paper's chains end at the top level, a real run may end below it.

    Examples
    --------
    >>> execution_forest((1, 1, 2, 1, 2, 3))
    (2, 2, 5, 4, 5, None)
    """
    parents: list[int | None] = []
    for place, label in enumerate(chain):
        later = (p for p in range(place + 1, len(chain)) if chain[p] == label + 1)
        parents.append(next(later, None))
    return tuple(parents)
