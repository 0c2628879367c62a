"""Counts beside what independence would lead one to expect, from the tables of a network's cliques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import log, prod

from xordal.formats.shown import brief, shown
from xordal.model.estimation import CliqueCounts
from xordal.model.network import DecomposableMarkovNetwork
from xordal.statistics.chance import expected_gain
from xordal.types.varsets import VarSet, members

TELLING = 8
"""Cells shown of a table that is too large to be shown whole."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows counted in a cell, and those expected if the parts were independent."""

    count: int
    expected: float

    @property
    def tone(self) -> int:
        """How far the count is from what is expected: -3 (hardly any) to 3 (over three times), 0 about equal.

        A difference of up to three standard deviations is none; every larger one is marked, however many rows
        make it so.

        Examples
        --------
        >>> [Cell(count, 100.0).tone for count in (0, 40, 60, 104, 160, 250, 1000)]
        [-3, -2, -1, 0, 1, 2, 3]
        """
        if abs(self.count - self.expected) <= 3 * max(self.expected, 1.0) ** 0.5:
            return 0
        ratio = self.count / self.expected if self.expected else float("inf")
        if ratio > 1:
            return 1 + (ratio >= 1.8) + (ratio >= 3.0)
        return -1 - (ratio <= 0.55) - (ratio <= 0.1)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A table of counts beside expected counts.

    Attributes
    ----------
    caption
        What the table is of.
    row_names, row_labels
        The variables of the rows, and their levels in each row.
    column_name, column_labels
        The variable of the columns and its levels; both empty where a row has one count.
    cells
        One tuple of cells for each row.
    shared
        What the parts share beyond independence, in nats; None where the table is not of parts.
    by_chance
        What they would share on average in so many rows, were they independent; None where it is not known.
    note
        What is left out.
    """

    caption: str
    row_names: tuple[str, ...]
    row_labels: tuple[tuple[str, ...], ...]
    column_name: str
    column_labels: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    shared: float | None = None
    by_chance: float | None = None
    note: str = ""

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return sum(map(len, self.cells))

    @property
    def headings(self) -> frozenset[str]:
        """All names and levels in its headings."""
        return frozenset((*self.row_names, *chain(*self.row_labels), self.column_name, *self.column_labels))

    @property
    def largest(self) -> float:
        """The largest count or expected count, for the length of bars."""
        return max((max(cell.count, cell.expected) for row in self.cells for cell in row), default=1.0)


@dataclass(frozen=True, slots=True)
class Counting:
    """Counts of sets of variables inside the cliques of a network."""

    network: DecomposableMarkovNetwork
    counter: CliqueCounts

    @classmethod
    def of(cls, network: DecomposableMarkovNetwork) -> Counting:
        """Return the counts behind a network."""
        return cls(network, CliqueCounts({table.variables: table.counted for table in network.clique_tables()}))

    def n_cells(self, variables: int) -> int:
        """Return how many cells the table of some variables has, occupied or not."""
        return prod(len(self.network.levels[v]) for v in members(variables))

    def counts(self, variables: int) -> dict[tuple[int, ...], int]:
        """Return the rows in each occupied cell."""
        if not variables:
            return {(): self.network.n_rows}
        found = self.counter.counts([VarSet(variables)])[0]
        return dict(zip(map(tuple, found.cells.tolist()), found.counts.tolist(), strict=True))

    def shared(self, blocks: Sequence[int], context: int) -> float:
        """Return what blocks share given the context: the mean of log(count / expected), in nats."""
        expected = self._expectation(blocks, context)
        whole = self.counts(sum(blocks) | context)
        terms = (count * log(count / expected(cell)) for cell, count in whole.items())
        return max(sum(terms) / self.network.n_rows, 0.0)

    def _expectation(self, blocks: Sequence[int], context: int) -> _Expectation:
        inside = members(sum(blocks) | context)
        parts = []
        for block in blocks:
            places = [inside.index(v) for v in members(block | context)]
            parts.append((places, self.counts(block | context)))
        given = ([inside.index(v) for v in members(context)], self.counts(context))
        return _Expectation(parts, given)

    def table(self, blocks: Sequence[int], context: int, column: int, shared: float) -> Contrast:
        """Return the whole table of some blocks, one variable in the columns."""
        inside = members(sum(blocks) | context)
        rows = (*members(context), *(v for v in inside if v != column and not context >> v & 1))
        counts, expected = self.counts(sum(blocks) | context), self._expectation(blocks, context)
        cells, labels = [], []
        for codes in product(*(range(len(self.network.levels[v])) for v in rows)):
            at = dict(zip(rows, codes, strict=True))
            line = [tuple(at.get(v, code) for v in inside) for code in range(len(self.network.levels[column]))]
            cells.append(tuple(Cell(counts.get(cell, 0), expected(cell)) for cell in line))
            labels.append(tuple(self.label(v, code) for v, code in at.items()))
        names = tuple(shown(self.network.variables[v]) for v in rows)
        top = tuple(self.label(column, code) for code in range(len(self.network.levels[column])))
        heading = shown(self.network.variables[column])
        caption, chance = self._caption(inside, context), self._by_chance(blocks, context)
        return Contrast(caption, names, tuple(labels), heading, top, tuple(cells), shared, chance)

    def _by_chance(self, blocks: Sequence[int], context: int) -> float:
        """Return what the blocks would share on average, were they independent given the context."""
        whole = prod(self.n_cells(block) for block in blocks) - 1
        dof = (whole - sum(self.n_cells(block) - 1 for block in blocks)) * self.n_cells(context)
        return expected_gain(dof, self.network.n_rows)

    def telling(self, blocks: Sequence[int], context: int, shared: float) -> Contrast:
        """Return the cells of a large table that occur most above what is expected."""
        inside = members(sum(blocks) | context)
        expected = self._expectation(blocks, context)
        cells = {
            cell: Cell(count, expected(cell)) for cell, count in self.counts(sum(blocks) | context).items()
        }
        ranked = sorted(cells, key=lambda cell: (cells[cell].expected - cells[cell].count, cell))[:TELLING]
        labels = tuple(
            tuple(self.label(v, code) for v, code in zip(inside, cell, strict=True)) for cell in ranked
        )
        note = (
            f"The {len(ranked)} cells furthest above what is expected, of {len(cells):,} that occur and "
            f"{self.n_cells(sum(blocks) | context):,} that there could be."
        )
        caption, rows = self._caption(inside, context), tuple((cells[cell],) for cell in ranked)
        names = tuple(shown(self.network.variables[v]) for v in inside)
        return Contrast(caption, names, labels, "", (), rows, shared, note=note)

    def label(self, variable: int, code: int) -> str:
        """Return a level as it is printed."""
        return shown(self.network.levels[variable][code])

    def _caption(self, inside: Sequence[int], context: int) -> str:
        short = brief(shown(self.network.variables[v]) for v in inside)
        names = [short[shown(self.network.variables[v])] for v in inside if not context >> v & 1]
        given = [short[shown(self.network.variables[v])] for v in members(context)]
        told = f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{told}, given {', '.join(given)}" if given else told


@dataclass(frozen=True, slots=True)
class _Expectation:
    """The rows expected in a cell: the product of the parts' counts over the context's."""

    parts: Sequence[tuple[list[int], dict[tuple[int, ...], int]]]
    given: tuple[list[int], dict[tuple[int, ...], int]]

    def __call__(self, cell: tuple[int, ...]) -> float:
        places, counts = self.given
        total = counts.get(tuple(cell[place] for place in places), 0)
        if not total:
            return 0.0
        value = float(total)
        for inside, part in self.parts:
            value *= part.get(tuple(cell[place] for place in inside), 0) / total
        return value
