"""Any table in: a frame, an array, a file or standard input becomes a :class:`CategoricalTable`.

The order of things: columns are chosen, rows of weight zero go, then rows or values that are missing by policy;
what is left is binned, its rare levels merged, and looked at for columns that are probably no categories.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where, in_memory
from xordal.data.dialect import TextFormat
from xordal.data.discretise import Bins, binned, merged
from xordal.data.missing import as_level, check_policy, rows_kept
from xordal.data.select import check_names, named, select
from xordal.data.suspects import Suspect, suspect, suspects
from xordal.data.table import CategoricalTable
from xordal.data.weights import weights_array, weights_of
from xordal.errors import DataError, DataWarning, SettingsError, counted, nearest
from xordal.types.choices import Missing

Judge = Callable[[Sequence[Suspect]], Iterable[str]]
"""Looks at the suspect columns and returns the names of those to leave out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read; the parameters are those of :func:`read_table`."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    weights: Any = None
    missing: Missing = "error"
    bins: Bins | None = None
    merge_rare: int = 0
    categorical: Sequence[str] = ()
    text: TextFormat = field(default_factory=TextFormat)

    def __post_init__(self) -> None:
        check_policy(self.missing)
        if not isinstance(self.merge_rare, Integral) or self.merge_rare < 0:
            raise SettingsError(f"merge_rare must be a number of rows, not {self.merge_rare!r}.")
        if self.bins is not None and not isinstance(self.bins, Bins):
            raise SettingsError(f"bins must be a whole number or Bins(4, by='quantile'), not {self.bins!r}.")
        if not isinstance(self.text, TextFormat):
            raise SettingsError(f"text must be a TextFormat(...), not {self.text!r}.")


class ReadingOptions(TypedDict, total=False):
    """How a source is read, in the words of :func:`xordal.read_table`."""

    columns: Sequence[str] | None
    exclude: Sequence[str]
    weights: Any
    missing: Missing
    bins: Bins | int | None
    merge_rare: int
    categorical: Sequence[str]
    text: TextFormat | None


def reading_of(**how: Unpack[ReadingOptions]) -> Reading:
    """Return how to read a table, from the words of :func:`xordal.read_table`.

    Raises
    ------
    SettingsError
        If names are not in a list, or a value is out of range.
    TypeError
        If there is no such word.
    """
    for name in how:
        if name not in ReadingOptions.__annotations__:
            raise TypeError(f"There is no setting {name!r}; {nearest(name, ReadingOptions.__annotations__)}")
    if any(isinstance(how.get(name), str) for name in ("columns", "exclude", "categorical")):
        raise SettingsError("Give column names as a list, for example columns=['age', 'sex'].")
    bins, text = how.get("bins"), how.get("text")
    cut = Bins(int(bins)) if isinstance(bins, Integral | int) else bins
    return Reading(**{**how, "bins": cut, "text": text or TextFormat()})  # type: ignore[arg-type]


def read_table(  # noqa: PLR0913 - all but the source are keyword-only, each with a default
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weights: Any = None,
    missing: Missing = "error",
    bins: Bins | int | None = None,
    merge_rare: int = 0,
    categorical: Sequence[str] = (),
    text: TextFormat | None = None,
) -> CategoricalTable:
    """Read any table.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow frame; a NumPy array; a mapping of names to columns; rows; or the path of a
        CSV, TSV (both also ``.gz``) or Parquet file, ``"-"`` for standard input. Levels of a text file are
        strings; levels of anything else keep their type.
    columns, exclude
        The columns to take, and those to leave out; all of them by default.
    weights
        How often each row counts: the name of a column of counts, or one whole number per row.
    missing
        ``"error"`` refuses missing values, ``"drop"`` leaves their rows out, ``"level"`` makes them a level.
    bins
        Cuts columns that look continuous into that many levels; :class:`Bins` says how.
    merge_rare
        Levels of fewer rows than this become one level, ``"(other)"``.
    categorical
        Columns to take as they are, whatever they look like: neither binned nor warned about.
    text
        How a text file is written, where that is not to be detected.

    Raises
    ------
    DataError
        If the table cannot be used: with the file, the column, the row and what to do.

    Warns
    -----
    DataWarning
        If a column looks continuous, like an identifier, or has very many levels.

    Examples
    --------
    >>> table = read_table({"rain": ["yes", "no", None], "wet": [1, 0, 1]}, missing="drop")
    >>> table.levels, table.n_rows
    ((('no', 'yes'), (0, 1)), 2)
    """
    how = reading_of(
        columns=columns,
        exclude=exclude,
        weights=weights,
        missing=missing,
        bins=bins,
        merge_rare=merge_rare,
        categorical=categorical,
        text=text,
    )
    return read(source, how, _warn)


def _warn(found: Sequence[Suspect]) -> Iterable[str]:
    for column in found:
        if column.kind != "constant":
            warnings.warn(column.message, DataWarning, stacklevel=4)
    return ()


def read(
    source: Any,
    how: Reading,
    judge: Judge,
    tell: Callable[[str], None] = lambda message: None,
    *,
    least_columns: int = 2,
) -> CategoricalTable:
    """Read any table; ``judge`` decides what becomes of columns that are probably no categories.

    ``tell`` is told what was left out at the user's own wish. A text file of fewer columns than
    ``least_columns`` is refused.
    """
    every, where = columns_from(source, how.text, least_columns=least_columns)
    check_names(every)
    if len(every[0].codes) == 0:
        raise DataError("The table has no rows.")
    weights = _weights(source, every, how.weights, where)
    by_name = [how.weights] if isinstance(how.weights, str) else []
    chosen = select(every, how.columns, [*how.exclude, *by_name])
    declared = {named(every, name).name for name in how.categorical}
    chosen, weights = _rows(chosen, weights, how.missing, where, tell)
    if how.bins is not None:
        chosen = [c if c.name in declared else _cut(c, how.bins, weights) for c in chosen]
    if how.merge_rare:
        chosen = [merged(column, how.merge_rare, weights) for column in chosen]
    judged = [column for column in chosen if column.name not in declared]
    left_out = set(judge(suspects(judged, weights)))
    chosen = select(chosen, exclude=left_out) if left_out else chosen
    return CategoricalTable.complete([as_level(column) for column in chosen], weights)


def columns_from(source: Any, text: TextFormat, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return the columns of any source, missing values still marked, and what tells where a row is.

    A text file of fewer columns than ``least_columns`` is refused.
    """
    if isinstance(source, str | Path | os.PathLike):
        from xordal.data.files import file_columns

        return file_columns(os.fspath(source), text, least_columns=least_columns)
    if isinstance(source, CategoricalTable):
        return source.columns(), in_memory
    from xordal.data.frames import columns_of

    return columns_of(source), in_memory


def _weights(source: Any, columns: list[Column], weights: Any, where: Where) -> NDArray[np.int64] | None:
    if isinstance(source, CategoricalTable) and source.weights is not None:
        if weights is not None:
            raise SettingsError("The table has row weights of its own; leave out the others.")
        return source.weights
    if weights is None:
        return None
    if isinstance(weights, str):
        return weights_of(named(columns, weights), where)
    return weights_array(weights, len(columns[0].codes))


def _rows(
    columns: list[Column],
    weights: NDArray[np.int64] | None,
    missing: Missing,
    where: Where,
    tell: Callable[[str], None],
) -> tuple[list[Column], NDArray[np.int64] | None]:
    """Leave out rows of weight zero, then what the policy for missing values leaves out."""
    place = np.arange(len(columns[0].codes))
    if weights is not None:
        used = weights > 0
        columns, weights, place = [column.only(used) for column in columns], weights[used], place[used]
    kept = rows_kept(columns, missing, lambda row, name: where(int(place[row]), name))
    if kept.all():
        return [column.compact() for column in columns], weights
    tell(f"Dropped {int((~kept).sum()):,} of {counted(len(kept), 'row')}, which had missing values.")
    return [column.only(kept) for column in columns], None if weights is None else weights[kept]


def _cut(column: Column, bins: Bins, weights: NDArray[np.int64] | None) -> Column:
    found = suspect(column, weights)
    return binned(column, bins, weights) if found is not None and found.kind == "continuous" else column
