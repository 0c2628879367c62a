"""Evidence that convinces: tables of a hidden group's pairs, which show little, and of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.contrast import Cell, Contrast, Counting
from xordal.types.groups import Submodel
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import members, varset

MOST_CELLS = 64
"""Cells up to which a table is shown whole."""

_MOST_PAIRS = 6


@dataclass(frozen=True, slots=True)
class GroupTables:
    """What convinces of a hidden group.

    Attributes
    ----------
    pairs
        Tables of two variables of different parts, those that share most first.
    n_pairs
        How many such pairs there are; some may be too many or too large to show.
    most_shared
        The most that any of these pairs shares in the data, in nats.
    joint
        The table of the whole group, or of its most telling cells.
    is_whole
        Whether ``joint`` has all cells.
    rule
        How often each outcome of the group's rule occurs, where it follows a sum or a parity.
    """

    pairs: tuple[Contrast, ...]
    n_pairs: int
    most_shared: float
    joint: Contrast
    is_whole: bool
    rule: Contrast | None

    @property
    def n_cells(self) -> int:
        """Number of cells in all its tables."""
        return sum(table.n_cells for table in (*self.pairs, self.joint, *filter(None, [self.rule])))


def evidence_of(network: DecomposableMarkovNetwork, group: Submodel) -> GroupTables:
    """Return the evidence for a hidden group, counted.

    Examples
    --------
    >>> from xordal.data.table import CategoricalTable
    >>> from xordal.learning.fitting import fit_network
    >>> from xordal.learning.learn import learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> table = CategoricalTable.from_rows(["a", "b", "c"], rows)
    >>> network = fit_network(table, learn(table))
    >>> found = evidence_of(network, network.learned.submodels[0])
    >>> [[(cell.count, cell.expected) for cell in row] for row in found.pairs[0].cells]
    [[(25, 25.0), (25, 25.0)], [(25, 25.0), (25, 25.0)]]
    >>> [[(cell.count, cell.expected) for cell in row] for row in found.joint.cells][0]
    [(25, 12.5), (0, 12.5)]
    """
    counting = Counting.of(network)
    # The pairs of an interaction are all visible; they are shown beside the whole all the same.
    single = tuple(varset([v]) for v in members(group.variables))
    blocks = group.partition if len(group.partition) > 1 else single
    crossing = [
        (u, v) for one, other in combinations(blocks, 2) for u, v in product(members(one), members(other))
    ]
    shared = {pair: counting.shared([varset([v]) for v in pair], group.context) for pair in crossing}
    ranked = sorted(crossing, key=lambda pair: (-round(shared[pair], 9), pair))
    small = [pair for pair in ranked if counting.n_cells(varset(pair) | group.context) <= MOST_CELLS]
    pairs = tuple(
        counting.table([varset([v]) for v in sorted(pair)], group.context, max(pair), shared[pair])
        for pair in small[:_MOST_PAIRS]
    )
    whole = counting.n_cells(group.variables | group.context) <= MOST_CELLS
    column = group.rule.target if group.rule and group.rule.target is not None else members(group.variables)[-1]
    total = counting.shared(blocks, group.context)
    joint = (
        counting.table(blocks, group.context, column, total)
        if whole
        else counting.telling(blocks, group.context, total)
    )
    return GroupTables(
        pairs,
        len(crossing),
        max(shared.values()),
        joint,
        whole,
        _rule_table(counting, group),
    )


def rule_table(rule: AdditiveRule) -> Contrast:
    """Return the rows that obey and break a rule beside those that would by chance.

    Rows with a missing value in one of its columns do neither, and are left out.

    Examples
    --------
    >>> table = rule_table(AdditiveRule((0, 1, 2), 2, ((0, 1),) * 3, 0, 1000, 10, 0.5, -500.0))
    >>> [[(cell.count, cell.expected) for cell in row] for row in table.cells]
    [[(990, 500.0)], [(10, 500.0)]]
    """
    n_rows = rule.n_rows - rule.n_blank
    cells = (
        (Cell(n_rows - rule.n_broken, rule.by_chance * n_rows),),
        (Cell(rule.n_broken, (1 - rule.by_chance) * n_rows),),
    )
    return Contrast("The rule, counted", ("the row",), (("obeys it",), ("breaks it",)), "", (), cells)


def _rule_table(counting: Counting, group: Submodel) -> Contrast | None:
    """Return how often each outcome of a sum or parity occurs, and would if the variables were independent."""
    rule = None if group.rule is None else group.rule.additive
    if rule is None or group.context or rule.modulus > MOST_CELLS:
        return None
    n_rows, modulus = counting.network.n_rows, rule.modulus
    observed = [0] * modulus
    for cell, count in counting.counts(group.variables).items():
        observed[((rule.sum_of(cell) or 0) + rule.remainder) % modulus] += count
    chance = np.zeros(modulus)
    chance[0] = 1.0
    for v, factor in zip(members(group.variables), rule.factors, strict=True):
        chance = _added(chance, counting.counts(varset([v])), factor, n_rows)
    order = [(rule.remainder + ahead) % modulus for ahead in range(modulus)]
    labels = tuple((_outcome(rule, value),) for value in order)
    cells = tuple((Cell(observed[value], float(chance[value]) * n_rows),) for value in order)
    return Contrast("The rule, counted", ("outcome",), labels, "", (), cells)


def _added(
    chance: NDArray[np.float64], counts: dict[tuple[int, ...], int], factor: int, n_rows: int
) -> NDArray[np.float64]:
    """Return the distribution of a sum after one more independent variable."""
    total = np.zeros_like(chance)
    for (code,), count in counts.items():
        total += np.roll(chance, factor * code % len(chance)) * (count / n_rows)
    return total


def _outcome(rule: AdditiveRule, value: int) -> str:
    told = ("even", "odd")[value] if rule.modulus == 2 else str(value)
    return f"{told} (the rule)" if value == rule.remainder else told
