"""Peers: the same samples learned by other libraries, each with the search it recommends for discrete data.

xordal, pyAgrum (greedy hill climbing and MIIC), pgmpy (hill climbing, and exhaustive search where there are at
most five columns) and causal-learn (PC with the G2 test). Directed graphs are compared by their moral graphs,
in which a child that depends on two parents together is a triangle, as it is here. Precision is over the runs
that learn anything. KL is what the structure cannot express of the true joint, in nats, at its best parameters:
zero for any structure that holds all dependences. Needs the extra "peers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from statistics import mean

import numpy as np
import pandas as pd

from benchmarks.peer import pyagrum_learner
from benchmarks.recovery.graphs import TASKS, Task
from benchmarks.recovery.study import arguments, markdown, publish, share_text, table_of
from xordal import CategoricalTable, learn
from xordal.graph.chordal import ChordalGraph
from xordal.pi.colored import excess_entropy
from xordal.types.varsets import Link, VarSet, varset

N_ROWS = 1000
_MOST_EXHAUSTIVE = 5


@dataclass(frozen=True)
class Structure:
    """Links of the moral graph, and the parents of each column where the structure is directed."""

    links: frozenset[Link]
    parents: dict[int, tuple[int, ...]] | None = None


def of_arcs(arcs: Iterable[tuple[int, int]], n_columns: int) -> Structure:
    """Return the structure of a directed graph."""
    parents: dict[int, list[int]] = {v: [] for v in range(n_columns)}
    for tail, head in arcs:
        parents[head].append(tail)
    links = {(min(arc), max(arc)) for v, ps in parents.items() for arc in ((p, v) for p in ps)}
    links |= {(min(pair), max(pair)) for ps in parents.values() for pair in combinations(ps, 2)}
    return Structure(frozenset(links), {v: tuple(ps) for v, ps in parents.items()})


def by_xordal(table: CategoricalTable, task: Task) -> Structure:
    """Learn at default settings."""
    return Structure(frozenset(learn(table, max_links=task.max_links, max_variables=task.max_variables).links))


def by_pyagrum(table: CategoricalTable, task: Task) -> Structure:
    """Learn by greedy hill climbing with pyAgrum's default score."""
    return _pyagrum(table, "useGreedyHillClimbing")


def by_pyagrum_miic(table: CategoricalTable, task: Task) -> Structure:
    """Learn by MIIC, pyAgrum's default."""
    return _pyagrum(table, "useMIIC")


def _pyagrum(table: CategoricalTable, search: str) -> Structure:

    learner = pyagrum_learner(_frame(table))
    getattr(learner, search)()
    network = learner.learnBN()
    place = {name: v for v, name in enumerate(table.names)}
    names = {node: place[network.variable(node).name()] for node in network.nodes()}
    return of_arcs([(names[a], names[b]) for a, b in network.arcs()], table.n_variables)


def by_pgmpy(table: CategoricalTable, task: Task) -> Structure:
    """Learn by hill climbing with BIC."""
    from pgmpy.estimators import HillClimbSearch

    found = HillClimbSearch(_frame(table)).estimate(scoring_method="bic-d", show_progress=False)
    return _named(found.edges(), table)


def by_exhaustion(table: CategoricalTable, task: Task) -> Structure | None:
    """Score every directed graph by BIC, where there are few columns."""
    if table.n_variables > _MOST_EXHAUSTIVE:
        return None
    from pgmpy.estimators import BIC, ExhaustiveSearch

    frame = _frame(table)
    return _named(ExhaustiveSearch(frame, scoring_method=BIC(frame)).estimate().edges(), table)


def by_causal_learn(table: CategoricalTable, task: Task) -> Structure:
    """Learn by PC with the G2 test at 0.05; common children are linked."""
    from causallearn.search.ConstraintBased.PC import pc

    marks = pc(table.codes.T.astype(int), 0.05, "gsq", show_progress=False).G.graph
    n = table.n_variables
    links = {(u, v) for u, v in combinations(range(n), 2) if marks[u, v] or marks[v, u]}
    into = {v: [u for u in range(n) if marks[v, u] == 1 and marks[u, v] == -1] for v in range(n)}
    links |= {(min(pair), max(pair)) for parents in into.values() for pair in combinations(parents, 2)}
    return Structure(frozenset(links))


LEARNERS: dict[str, Callable[[CategoricalTable, Task], Structure | None]] = {
    "xordal": by_xordal,
    "pyAgrum, hill climbing": by_pyagrum,
    "pyAgrum, MIIC": by_pyagrum_miic,
    "pgmpy, hill climbing": by_pgmpy,
    "pgmpy, exhaustive": by_exhaustion,
    "causal-learn, PC": by_causal_learn,
}


def _frame(table: CategoricalTable) -> pd.DataFrame:
    return pd.DataFrame({name: codes.astype(str) for name, codes in zip(table.names, table.codes, strict=True)})


def _named(edges: Iterable[tuple[str, str]], table: CategoricalTable) -> Structure:
    place = {name: v for v, name in enumerate(table.names)}
    return of_arcs([(place[a], place[b]) for a, b in edges], table.n_variables)


def divergence(structure: Structure, task: Task) -> float | None:
    """Return what a structure cannot express of the true joint, in nats; None where it has no directions."""
    joint = task.model().joint
    oracle, n = joint.oracle(), len(joint.variables)
    own = [link for link in structure.links if max(link) < n]
    if structure.parents is None:
        try:
            return excess_entropy(oracle, ChordalGraph.empty(n).add(sorted(own)))
        except (AssertionError, ValueError):
            return None
    families = {v: varset(p for p in parents if p < n) for v, parents in structure.parents.items() if v < n}
    sets = [VarSet(s) for v, parents in families.items() for s in (parents | 1 << v, parents)]
    terms = oracle.entropies([*sets, varset(range(n))]).tolist()
    signed = [h if place % 2 == 0 else -h for place, h in enumerate(terms[:-1])]
    return fsum([*signed, -terms[-1]])


def compare(task: Task, runs: int) -> list[tuple[str, ...]]:
    """Return one row for each learner that can learn this task."""
    truth, n = frozenset(task.model().graph.links), len(task.model().joint.variables)
    rows: list[tuple[str, ...]] = []
    for name, learner in LEARNERS.items():
        found = [learner(_sample(task, seed), task) for seed in range(runs)]
        structures = [structure for structure in found if structure is not None]
        if not structures:
            continue
        hits = [len(s.links & truth) for s in structures]
        recall = mean(hit / len(truth) for hit in hits)
        precise = [hit / len(s.links) for hit, s in zip(hits, structures, strict=True) if s.links]
        false = sum(any(max(link) >= n for link in s.links) for s in structures)
        lost = [kl for s in structures if (kl := divergence(s, task)) is not None]
        exact = share_text(sum(s.links == truth for s in structures), len(structures))
        shares = (f"{recall:.2f}", f"{mean(precise):.2f}" if precise else "")
        noise = share_text(false, len(structures)) if task.n_noise else ""
        rows.append((task.name, name, exact, *shares, noise, f"{max(mean(lost), 0):.3f}" if lost else ""))
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def _sample(task: Task, seed: int) -> CategoricalTable:
    sample = task.model().joint.sample_table(N_ROWS, seed=seed)
    noise = np.random.default_rng([seed, 97]).integers(max(sample.n_levels), size=(task.n_noise, N_ROWS))
    return table_of([*sample.codes, *noise])


def study(runs: int, only: str = "") -> str:
    """Return the table of all tasks and learners."""
    rows = [row for task in TASKS if only in task.name for row in compare(task, runs)]
    heading = ("model, n=1000", "learner", "exact graph", "recall", "precision", "links to noise", "KL")
    return markdown(heading, rows)


if __name__ == "__main__":
    chosen = arguments("The same samples learned by other libraries", runs=20)
    publish(__doc__, study(chosen.runs, chosen.only), chosen.output)
