"""The paper, line by line: Algorithm ML and lookahead(i) of Hu & Xiang (UAI 1997).

This is the executable specification that every other engine is tested against. It uses the standard library
and nothing of the rest of xordal but its types; it may be slow, it may not be clever. Numbers in the margin
are the paper's line numbers. Glossary, as in the paper:

    D   the data, a sequence of rows           N   the variables, numbered 0 .. N-1
    G   the learned graph (N, E)               E   its links, pairs (u, v) with u < v
    L   a set of i links not in E              G*  (N, E + L)
    dh  entropy decrement in nats              k   maximum number of lookahead links

Three things differ from the printed text, each marked below and explained in docs/paper-notes.md:
the guard of ML line 6 is part of the schedule; ties are resolved by rule; a gain of rounding size is no gain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from math import log, prod

from xordal.types.choices import ScheduleName
from xordal.types.trace import SearchRun, TraceEntry
from xordal.types.varsets import Link

Row = Sequence[Hashable]
TIE = 1e-12  # gains this close are equal: XOR is symmetric, exact ties are the rule
ZERO = 1e-12  # a gain above the threshold by less than this is rounding

# Differs: line 6 prints the guard (i > 1), the paper's tables come from a run without it ("as_run").
# "straightforward" [8] never backtracks; "single" is lookahead(1) alone, what common learners do.
BACKTRACKS: dict[ScheduleName, Callable[[int], bool]] = {
    "printed": lambda i: i > 1,
    "as_run": lambda i: True,
    "straightforward": lambda i: False,
    "single": lambda i: False,
}


def multi_link_search(
    D: Sequence[Row],
    k: int,
    delta_h: float,
    schedule: ScheduleName = "printed",
    report: Callable[[TraceEntry], None] = lambda entry: None,
) -> SearchRun:
    """Learn a decomposable Markov network from the rows of D: Algorithm ML (section 3).

    Parameters
    ----------
    D
        Rows of equal length; a variable's levels are the distinct values in its column.
    k
        Maximum number of lookahead links.
    delta_h
        Threshold on the entropy decrement, in nats.
    schedule
        ``"printed"``, ``"as_run"``, ``"straightforward"`` or ``"single"``.
    report
        Called with each entry as it is learned.

    Examples
    --------
    Three variables, pairwise independent, the third the exclusive or of the others:

    >>> D = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)]
    >>> multi_link_search(D, k=2, delta_h=0.004).trace
    ()
    >>> [entry.links for entry in multi_link_search(D, k=3, delta_h=0.004).trace]
    [((0, 1), (0, 2), (1, 2))]

    References
    ----------
    J. Hu, Y. Xiang: Learning Belief Networks in Domains with Recursively Embedded Pseudo Independent
    Submodels. UAI 1997. Algorithm ML: section 3; lookahead(i): section 6.
    """
    if schedule not in BACKTRACKS:
        raise ValueError(f"unknown schedule {schedule!r}; the reference engine knows {', '.join(BACKTRACKS)}")
    N = range(len(D[0]))
    E: frozenset[Link] = frozenset()  # ML line 1
    trace: list[TraceEntry] = []
    tested = legal = 0

    def lookahead(i: int) -> bool:
        nonlocal E, tested, legal
        modified = False  # 1
        while True:  # 2
            h = entropy(D, N, E)  # 3
            decrements: list[tuple[float, tuple[Link, ...]]] = []
            for L in combinations(sorted(set(combinations(N, 2)) - E), i):  # 4
                tested += 1
                G_star = E | set(L)
                if is_implied_by_clique(L, G_star) and is_chordal(N, G_star):  # 5
                    legal += 1
                    dh = h - entropy(D, N, G_star)  # 6
                    if dh > delta_h + ZERO:  # 8; differs: ZERO
                        decrements.append((dh, L))
            if not decrements:
                return modified  # 10-12
            # Differs: line 7 keeps the first maximum it meets; rounding must not decide between equals.
            best = max(dh for dh, _ in decrements)  # 7
            dh, L = next(pair for pair in decrements if pair[0] >= best - TIE)
            dof = free_parameters(D, N, E | set(L)) - free_parameters(D, N, E)
            E, modified = E | set(L), True  # 8-9
            trace.append(TraceEntry("add", i, L, dh, dof, graphs_tested=tested))
            report(trace[-1])

    for j in range(1, (1 if schedule == "single" else k) + 1):  # ML line 2
        i = j  # ML line 3
        while i <= j:  # ML line 4
            modified = lookahead(i)  # ML line 5
            if BACKTRACKS[schedule](i) and modified:  # ML line 6
                i = 1  # ML line 7
            else:
                i = i + 1  # ML line 8
    return SearchRun(tuple(trace), tested, legal, sets_scanned=tested)  # ML line 9


def is_implied_by_clique(L: Iterable[Link], E: frozenset[Link]) -> bool:
    """All links of L lie in one clique: their endpoints are pairwise linked."""
    return set(combinations(sorted({v for link in L for v in link}), 2)) <= E


def is_chordal(N: Iterable[int], E: frozenset[Link]) -> bool:
    """Whether some vertex with completely linked neighbours can be taken away until none is left."""
    return elimination(N, E) is not None


def elimination(N: Iterable[int], E: frozenset[Link]) -> list[tuple[set[int], set[int]]] | None:
    """Take simplicial vertices away one at a time: ({v} + neighbours, neighbours) each, None if stuck."""
    steps = []
    left = {v: {u for link in E if v in link for u in link if u != v} for v in N}
    while left:
        v = next((v for v, near in left.items() if set(combinations(sorted(near), 2)) <= E), None)
        if v is None:
            return None
        near = left.pop(v)
        steps.append((near | {v}, near))
        for u in near:
            left[u] = left[u] - {v}
    return steps


def entropy(D: Sequence[Row], N: Iterable[int], E: frozenset[Link]) -> float:
    """Entropy in nats of the network with graph (N, E) and the data's own clique tables."""
    return sum(entropy_of(D, both) - entropy_of(D, near) for both, near in elimination(N, E) or [])


def entropy_of(D: Sequence[Row], variables: Iterable[int]) -> float:
    """Entropy in nats of some columns of the data."""
    chosen = sorted(variables)
    cells = Counter(tuple(row[v] for v in chosen) for row in D)
    return -sum(c / len(D) * log(c / len(D)) for c in cells.values())


def free_parameters(D: Sequence[Row], N: Iterable[int], E: frozenset[Link]) -> int:
    """Free parameters of the network with graph (N, E)."""
    levels = [len(set(column)) for column in zip(*D, strict=True)]
    return sum(prod(levels[v] for v in both) - prod(levels[v] for v in near)
               for both, near in elimination(N, E) or [])  # fmt: skip
