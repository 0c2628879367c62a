"""Missing cells filled in: each row by its most probable completion, in the values of its own table.

A network knows levels; a table has values. Cells that are there stay as they are. A missing one gets the value
that its table has for the level in question: of a level that is a bin, the median of the numbers in the bin as
the table writes them, so that a column of numbers stays one, of any other level the commonest way to write it.

Where missing values were a level when the network was learned, a cell that is to be filled in is no evidence,
and that level is no answer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column
from xordal.data.discretise import is_binned, middle_of
from xordal.data.levels import as_numbers
from xordal.data.missing import MISSING_LEVEL
from xordal.data.table import CategoricalTable
from xordal.model.observed import Observed
from xordal.model.predict import check_rows, refuse_impossible
from xordal.model.query import best_states
from xordal.model.rows import MISSING, RowCodes, encoded
from xordal.types.choices import Absent, Unseen

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork


def impute(
    network: DecomposableMarkovNetwork, data: Any, *, unseen: Unseen, absent: Absent
) -> CategoricalTable:
    """Answer :meth:`DecomposableMarkovNetwork.impute`."""
    refuse_impossible(unseen)
    rows = to_fill(network, encoded(network, data, unseen=unseen, absent=absent, offered=["absent"]))
    return CategoricalTable.complete(filled(network, rows, completed(network, rows)), rows.weights)


def to_fill(network: DecomposableMarkovNetwork, rows: RowCodes) -> RowCodes:
    """Return rows whose missing cells are missing, also where the network has a level for them."""
    codes = rows.codes.copy()
    for v, code in _missing_levels(network).items():
        codes[v, codes[v] == code] = MISSING
    return RowCodes(codes, rows.weights, rows.where, rows.columns)


def completed(network: DecomposableMarkovNetwork, rows: RowCodes) -> NDArray[np.int64]:
    """Return the codes of rows with what is missing filled in: each row by its most probable completion."""
    codes = rows.codes.copy()
    partly = np.flatnonzero((codes < 0).any(axis=0))
    if len(partly) == 0:
        return codes
    no_answer = {
        v: np.where(np.arange(network.n_levels[v]) == code, -np.inf, 0.0)
        for v, code in _missing_levels(network).items()
    }
    evidence = Observed(codes[:, partly], no_answer)
    part = RowCodes(evidence.codes, None, lambda row, name: rows.where(int(partly[row]), name))
    check_rows(network, part, network.inference.joint(evidence, ()))
    codes[:, partly] = best_states(network, evidence)
    return codes


def filled(network: DecomposableMarkovNetwork, rows: RowCodes, codes: NDArray[np.int64]) -> list[Column]:
    """Return the network's columns as the rows have them, with values for what ``codes`` fills in."""
    own = {column.name: column for column in rows.columns}
    return [
        _filled(own[name], levels, rows.codes[v], codes[v])
        if name in own
        else Column(name, levels, codes[v].astype(np.int32)).compact()
        for v, (name, levels) in enumerate(zip(network.variables, network.levels, strict=True))
    ]


def _missing_levels(network: DecomposableMarkovNetwork) -> dict[int, int]:
    """Return which variables have a level of missing values, and its code; not where it is their only one."""
    return {
        v: levels.index(MISSING_LEVEL)
        for v, levels in enumerate(network.levels)
        if MISSING_LEVEL in levels and len(levels) > 1
    }


def _filled(
    column: Column, levels: tuple[Hashable, ...], before: NDArray[np.int64], after: NDArray[np.int64]
) -> Column:
    """Return one column of a table: ``before`` and ``after`` are its codes among the network's levels."""
    holes = before < 0
    if not holes.any():
        return column.compact()
    known = np.flatnonzero(~holes)
    level_of = np.full(len(column.levels), MISSING)
    level_of[column.codes[known]] = before[known]
    counts = np.bincount(column.codes[known], minlength=len(column.levels))
    values, codes = list(column.levels), column.codes.copy()
    for code in np.unique(after[holes]).tolist():
        value = _value(column, levels, code, np.where(level_of == code, counts, 0))
        if value not in values:
            values.append(value)
        codes[holes & (after == code)] = values.index(value)
    return Column(column.name, tuple(values), codes).compact()


def _value(column: Column, levels: tuple[Hashable, ...], code: int, counts: NDArray[np.int64]) -> Hashable:
    """Return what the column writes for one of the network's levels; ``counts`` are those of its values."""
    numbers = as_numbers(column.levels) if column.levels and is_binned(levels) else None
    if counts.any():
        if numbers is None:
            return column.levels[int(np.argmax(counts))]
        by_size = np.argsort(numbers, kind="stable")
        to_here = np.cumsum(counts[by_size])
        return column.levels[int(by_size[np.searchsorted(to_here, (to_here[-1] + 1) // 2)])]
    middle = middle_of(levels[code]) if is_binned(levels) else None
    if column.levels and all(isinstance(value, str) for value in column.levels):
        return str(levels[code]) if middle is None else f"{middle:g}"
    return levels[code] if middle is None else middle
