"""New rows for a network: any table becomes codes of the levels it was learned with.

A missing cell is no evidence and is summed out, unless missing was a level when the network was learned. A
level the network never saw is an error with its place, or what the caller chose instead. Numbers go into the
bins their column was learned with, and unknown levels into ``"(other)"`` where rare ones were merged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where, refuse_nested
from xordal.data.dates import parts_named
from xordal.data.dialect import TextFormat
from xordal.data.discretise import OTHER_LEVEL, bin_of, is_binned
from xordal.data.levels import as_number, as_numbers
from xordal.data.missing import MISSING_LEVEL
from xordal.data.read import columns_from
from xordal.data.select import check_names
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError, either, nearest
from xordal.model.evidence import text_matcher
from xordal.model.observed import Observed
from xordal.types.choices import Absent, Unseen

MISSING, UNSEEN = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class RowCodes:
    """Rows as codes of a network's levels.

    Attributes
    ----------
    codes
        Shape (variables, rows); -1 is a missing value, -2 a level never seen.
    weights
        How often each row counts, where the table says so.
    where
        Tells where a value is.
    columns
        The columns of the source, those the network does not know included.
    """

    codes: NDArray[np.int64]
    weights: NDArray[np.int64] | None
    where: Where
    columns: list[Column] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows, each taken once."""
        return int(self.codes.shape[1])

    def evidence(self, rows: NDArray[np.int64] | slice = slice(None)) -> Observed:
        """Return what is observed in some of the rows."""
        return Observed(self.codes[:, rows])

    def total(self, logs: NDArray[np.float64]) -> float:
        """Return the sum of one number per row, each row taken as often as it counts."""
        return float(logs.sum() if self.weights is None else (logs * self.weights).sum())


class Known(Protocol):
    """Variables and their levels: those of a network, or of a table (:class:`Schema`)."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Names, in their order."""
        ...

    @property
    def levels(self) -> tuple[tuple[Hashable, ...], ...]:
        """The levels of each variable."""
        ...


@dataclass(frozen=True, slots=True)
class Schema:
    """Variables and their levels, where there is no network yet."""

    variables: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]


def encoded(
    network: Known,
    source: Any,
    *,
    unseen: Unseen = "error",
    absent: Absent = "error",
    ignore: Collection[str] = (),
    by_text: bool = False,
    text: TextFormat | None = None,
    offered: Collection[str] = ("absent", "impossible"),
) -> RowCodes:
    """Return any table as codes.

    Parameters
    ----------
    network, source
        The network, and anything :func:`xordal.read_table` takes.
    unseen, absent
        What to do about levels never seen and columns that are not there.
    ignore
        Variables to be taken as missing whatever the table says.
    by_text
        Whether levels of other types are matched by their text; those of files always are.
    text
        How a text file is read.
    offered
        Which choices the caller offers beside ``unseen="missing"``, for the advice in an error.

    Raises
    ------
    DataError
        If a column is absent or a level was never seen, and that is an error.
    """
    _check(unseen, Unseen, "unseen")
    _check(absent, Absent, "absent")
    by_text = by_text or isinstance(source, str | PathLike)
    columns, where = columns_from(source, text or TextFormat(), least_columns=1)
    check_names(columns)
    by_name = {column.name: column for column in columns}
    by_name |= parts_named(by_name, network.variables)
    n_rows = len(columns[0].codes)
    if n_rows == 0:
        raise DataError("The table has no rows.")
    codes = np.full((len(network.variables), n_rows), MISSING, dtype=np.int64)
    for v, name in enumerate(network.variables):
        if name in ignore:
            continue
        if name in by_name:
            refuse_nested([by_name[name]])
            codes[v] = codes_of(by_name[name], network.levels[v], by_text=by_text)
        elif absent == "error":
            missing = either("--absent missing", "absent='missing'")
            other = f", or have absent columns taken as missing ({missing})" if "absent" in offered else ""
            raise DataError(
                f"The table has no column {name!r}, which the network has; {_hint(name, by_name)} "
                f"Rename it{other}."
            )
    _judge_unseen(network, codes, by_name, where, unseen, can_be_impossible="impossible" in offered)
    weights = source.weights if isinstance(source, CategoricalTable) else None
    return RowCodes(codes, weights, where, columns)


def codes_of(column: Column, levels: tuple[Hashable, ...], *, by_text: bool = False) -> NDArray[np.int64]:
    """Return a column as codes of a variable's levels; -1 for a missing value, -2 for a level never seen."""
    code_of = {level: code for code, level in enumerate(levels)}
    other = code_of.get(OTHER_LEVEL, UNSEEN)
    match = text_matcher(levels) if by_text else None
    # Money and decimal commas are read by all levels together, as they were when the bins were cut.
    written = as_numbers(column.levels) if column.levels and is_binned(levels) else None
    numbers: Sequence[float | None] = written or [as_number(level) for level in column.levels]
    both = zip(column.levels, numbers, strict=True)
    found = [_code(level, number, levels, code_of, match, other) for level, number in both]
    if not by_text and all(code < 0 for code in found):
        _check_types(column, levels)
    codes = column.regrouped(found, levels).codes.astype(np.int64)
    return np.where(column.is_missing, code_of.get(MISSING_LEVEL, MISSING), codes)


def _code(
    level: Hashable,
    number: float | None,
    levels: tuple[Hashable, ...],
    code_of: dict[Hashable, int],
    match: Callable[[str], int | None] | None,
    other: int,
) -> int:
    if level in code_of:
        return code_of[level]
    found = match(str(level)) if match is not None else None
    if found is None and number is not None:
        found = bin_of(levels, number)
    return other if found is None else found


def _judge_unseen(
    network: Known,
    codes: NDArray[np.int64],
    by_name: dict[str, Column],
    where: Where,
    unseen: Unseen,
    *,
    can_be_impossible: bool,
) -> None:
    places = np.argwhere((codes == UNSEEN).T)
    if len(places) == 0 or unseen == "impossible":
        return
    if unseen == "missing":
        codes[codes == UNSEEN] = MISSING
        return
    row, v = places[0].tolist()
    column = by_name[network.variables[v]]
    value = column.levels[column.codes[row]]
    others = f" {len(places) - 1:,} other cells hold such levels too." if len(places) > 1 else ""
    missing, impossible = (
        either(f"--unseen {choice}", f"unseen={choice!r}") for choice in ("missing", "impossible")
    )
    zero = f", {impossible} gives its row probability zero" if can_be_impossible else ""
    raise DataError(
        f"{where(row, column.name)}: the network never saw the level {str(value)!r}; "
        f"{_hint(value, map(str, network.levels[v]))}{others} Mend it, or say what to do: {missing} "
        f"ignores such a cell{zero}."
    )


def _hint(word: Hashable, known: Iterable[str]) -> str:
    told = nearest(word, known)
    return told if told.endswith("?") else f"{told}."


def _check(value: str, choices: Any, name: str) -> None:
    if value not in get_args(choices):
        raise SettingsError(f"{name} must be one of {', '.join(get_args(choices))}, not {value!r}.")


def _check_types(column: Column, levels: tuple[Hashable, ...]) -> None:
    """Refuse text where numbers were learned from, and numbers where text was: no level could be found."""
    if (
        column.levels
        and levels
        and all(isinstance(level, str) for level in levels)
        != any(isinstance(level, str) for level in column.levels)
    ):
        raise DataError(
            f"Column {column.name!r} holds values such as {column.levels[0]!r}; the network knows levels such "
            f"as {levels[0]!r}. Levels of a text file are strings: convert the column to the type learned from."
        )
