"""Any table in: a frame, an array, a file or standard input becomes a :class:`CategoricalTable`.

The order of things: dates become their parts, columns are chosen, empty ones go, rows of weight zero go, then
identifiers and dates that lack values, then rows or values that are missing by policy; what is left is binned,
its rare levels merged, and looked at for columns that are probably no categories.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, Where, from_values, in_memory
from xordal.data.design import Design
from xordal.data.dialect import MISSING_TOKENS, TextFormat
from xordal.data.large.batches import files_of
from xordal.data.large.files import is_folder_or_pattern, many_files
from xordal.data.large.gather import RowsRead
from xordal.data.large.read import lazy_source, read_files, read_stream
from xordal.data.missing import Gaps, as_level, rows_kept, settled, without_words
from xordal.data.reading import AnyBins, Reading, reading_of
from xordal.data.select import check_names, named
from xordal.data.steps import Judge, Steps
from xordal.data.suspects import Suspect
from xordal.data.table import CategoricalTable
from xordal.data.weights import RowWeights, any_weights, doubtful_counts, weights_array, weights_of
from xordal.errors import DataError, SettingsError, counted, warn
from xordal.types.choices import CacheBy, Missing


def read_table(  # noqa: PLR0913 - all but the source are keyword-only, each with a default
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weights: Any = None,
    survey_weights: Any = None,
    cluster: Any = None,
    missing: Missing = "error",
    bins: AnyBins = None,
    merge_rare: int = 0,
    categorical: Sequence[str] = (),
    dates: Sequence[str] | Mapping[str, Sequence[str]] = (),
    text: TextFormat | None = None,
    sql: str | None = None,
    cache: CacheBy = "time",
) -> CategoricalTable:
    """Read any table.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow frame; a NumPy array; a mapping of names to columns; rows; or the path of a
        file, ``"-"`` for standard input: CSV, TSV and other text, JSON Lines, Excel, OpenDocument, Parquet,
        Feather, also compressed. Levels of a text file or a sheet are strings; levels of anything else keep
        their type. Many files (a pattern, a folder, a list of paths), a Parquet or text file of more than
        128 MB and a polars LazyFrame are packed on disk and need not fit into memory. A DuckDB or SQLite file,
        a ``postgresql://`` address or a DB-API connection is asked with ``sql``.
    columns, exclude
        The columns to take, and those to leave out; all of them by default.
    weights
        The name of a column, or one number per row. Whole numbers say how often each row counts. Fractions
        are survey weights: what a row stands for; p-values are corrected for them.
    survey_weights
        In place of ``weights``: survey weights, also where they are whole numbers, such as how many people of
        the population a row stands for.
    cluster
        The name of a column that says which rows belong together (one person, machine or school), or one value
        per row; p-values are corrected for what such rows have in common.
    missing
        ``"error"`` refuses missing values, ``"drop"`` leaves their rows out, ``"level"`` makes them a level;
        ``"auto"`` drops where at most one row in twenty has one, and makes a level elsewhere. Columns without
        a single value are left out, whatever the policy.
    bins
        Cuts columns that look continuous into that many levels; :class:`Bins` says how. A mapping of names
        says it for each column, and leaves the others; ``"auto"`` is 4.
    merge_rare
        Levels of fewer rows than this become one level, ``"(other)"``.
    categorical
        Columns to take as they are, whatever they look like: neither binned nor warned about.
    dates
        Parts to take in the place of dates: ``["month", "weekday"]`` for every column of dates, or by the name
        of the column; year, quarter, month, weekday, day and hour are known.
    text
        How a text file or a sheet is written, where that is not to be detected.
    sql
        The query whose rows are the table; of files, with ``data`` for the name of all of them together.
    cache
        How a table packed earlier is known to be that of the same files: by their sizes and ``"time"``, or by
        their ``"content"``, which reads all of it; ``"off"`` packs it anew and keeps nothing.

    Raises
    ------
    DataError
        If the table cannot be used: with the file, the column, the row and what to do.

    Warns
    -----
    DataWarning
        If a column looks continuous, like an identifier, or has very many levels; of a file, what was left
        out or guessed.

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
        survey_weights=survey_weights,
        cluster=cluster,
        missing=missing,
        bins=bins,
        merge_rare=merge_rare,
        categorical=categorical,
        dates=dates,
        text=text,
        sql=sql,
        cache=cache,
    )
    return read(source, how, _warn, warn=warn)


def _warn(found: Sequence[Suspect]) -> Iterable[str]:
    for column in found:
        if column.kind != "constant":
            warn(column.message)
    return ()


def read(
    source: Any,
    how: Reading,
    judge: Judge,
    tell: Callable[[str], None] = lambda message: None,
    *,
    warn: Callable[[str], None] = lambda message: None,
    least_columns: int = 2,
    on_rows: Callable[[RowsRead], None] = lambda at: None,
    on_kept: Callable[[NDArray[np.bool_]], None] = lambda kept: None,
) -> CategoricalTable:
    """Read any table; ``judge`` decides what becomes of columns that are probably no categories.

    ``tell`` is told what was left out at the user's own wish, ``warn`` what was left out or changed without it.
    A text file of fewer columns than ``least_columns`` is refused. ``on_rows`` is told how far a table that is
    packed on disk is; ``on_kept`` which rows of any other source are the table's.
    """
    steps = Steps(how, judge, tell, warn)
    if (packed := _packed(source, steps, on_rows)) is not None:
        return packed
    return _read_whole(source, steps, least_columns, on_kept)


def read_upload(path: Path, how: Reading, tell: Callable[[str], None]) -> CategoricalTable:
    """Read a file that somebody else made: whole, as text, workbook, Parquet or Arrow, never as a database."""
    return _whole(
        path, upload_columns(path, how.text), Steps(how, lambda found: (), tell, tell), lambda kept: None
    )


def upload_columns(path: Path, text: TextFormat) -> tuple[list[Column], Where]:
    """Return the columns of a file that somebody else made.

    Words that somebody added to those for missing values hold for numbers and words of Parquet, Arrow and JSON
    Lines too, which say by themselves what the usual words say in text.
    """
    columns, where = columns_from(path, text)
    words = set(text.missing) - set(MISSING_TOKENS)
    return [without_words(column, words) for column in columns], where


def _read_whole(
    source: Any, steps: Steps, least_columns: int, on_kept: Callable[[NDArray[np.bool_]], None]
) -> CategoricalTable:
    """Read a source that fits in memory."""
    columns = columns_from(source, steps.how.text, least_columns=least_columns)
    return _whole(source, columns, steps, on_kept)


def _whole(
    source: Any,
    columns: tuple[list[Column], Where],
    steps: Steps,
    on_kept: Callable[[NDArray[np.bool_]], None],
) -> CategoricalTable:
    """Make a table of all columns of a source."""
    how = steps.how
    every, where = columns
    check_names(every)
    drawn = _Drawn(_weights(source, every, how, where), _clusters(source, every, how, where))
    by_name = how.weights if isinstance(how.weights, str) and drawn.clusters is None else None
    if by_name is not None and drawn.counts is not None:
        for line in doubtful_counts(every, named(every, by_name), drawn.counts):
            steps.warn(line)
    return _in_memory(every, drawn, steps, where, on_kept=on_kept)


def _in_memory(
    every: list[Column],
    drawn: _Drawn,
    steps: Steps,
    where: Where,
    *,
    is_part: bool = False,
    on_kept: Callable[[NDArray[np.bool_]], None] = lambda kept: None,
) -> CategoricalTable:
    """Return the table of columns that are in memory."""
    how = steps.how
    if len(every[0].codes) == 0:
        raise DataError("The table has no rows.")
    counts = drawn.counts
    n_rows = len(every[0].codes) if counts is None else int(counts.sum())
    chosen, declared, _ = steps.chosen(every, n_rows, is_part=is_part)
    used = drawn.used(len(every[0].codes))
    inside = chosen if used.all() else [column.only(used) for column in chosen]
    inside_counts = None if counts is None else counts[used]
    judged = steps.judged(inside, [inside_counts] * len(inside), declared)
    chosen, inside = judged.without(chosen), judged.without(inside)
    policy = settled(how.missing, Gaps.of(inside, inside_counts), steps.warn)
    told = steps.warn if how.missing == "auto" else steps.tell
    chosen, stays = _rows(chosen, used, policy, where)
    if (n_dropped := _times(used & ~stays, counts)) > 0:
        told(f"Dropped {n_dropped:,} of {counted(_times(used, counts), 'row')}, which had missing values.")
    on_kept(stays)
    drawn = drawn.only(stays)
    chosen = steps.prepared(chosen, [drawn.counts] * len(chosen), declared, judged)
    return CategoricalTable.complete([as_level(column) for column in chosen], drawn.counts, drawn.design)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """How rows count and belong together, on the way into a table."""

    weights: RowWeights | None
    clusters: NDArray[np.int32] | None

    def used(self, n_rows: int) -> NDArray[np.bool_]:
        """Return which rows have a weight above zero."""
        return np.ones(n_rows, dtype=np.bool_) if self.weights is None else np.asarray(self.weights > 0)

    def only(self, rows: NDArray[np.bool_]) -> _Drawn:
        """Return the same of some rows."""
        return _Drawn(
            None if self.weights is None else self.weights[rows],
            None if self.clusters is None else self.clusters[rows],
        )

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """The weights where they are counts of rows."""
        is_count = self.weights is not None and self.weights.dtype.kind == "i"
        return cast("NDArray[np.int64]", self.weights) if is_count else None

    @property
    def design(self) -> Design | None:
        """The weights where they are fractions, and the clusters."""
        fractions = None if self.counts is not None else cast("NDArray[np.float64] | None", self.weights)
        if fractions is None and self.clusters is None:
            return None
        return Design(fractions, self.clusters)


def _packed(source: Any, steps: Steps, on_rows: Callable[[RowsRead], None]) -> CategoricalTable | None:
    """Return the table of a source that is asked in SQL or read batch by batch; None for all others."""
    from xordal.data.sql.query import query_of

    if (query := query_of(source, steps.how.sql, steps.how.text)) is not None:
        _refuse_design(steps.how)
        names = query.names()
        check_names([Column(name, (), np.empty(0, np.int32)) for name in names])
        if steps.how.weights is None and (counted_rows := query.counted(steps.needed(names))) is not None:
            weights = weights_array(counted_rows.weights, len(counted_rows.weights))
            return _in_memory(counted_rows.columns, _Drawn(weights, None), steps, query.where, is_part=True)
        return read_stream(query, steps, on_rows)
    if (files := files_of(source, steps.how.text)) is not None:
        _refuse_design(steps.how)
        return read_files(files, steps, on_rows)
    lazy = lazy_source(source)
    if lazy is not None:
        _refuse_design(steps.how)
    return None if lazy is None else read_stream(lazy, steps, on_rows)


def _refuse_design(how: Reading) -> None:
    if how.cluster is not None:
        raise DataError("Clusters are taken of tables in memory: one file, or a frame. Leave --cluster out.")
    if how.survey_weights is not None:
        raise DataError("Survey weights are taken of tables in memory: one file, or a frame.")


def columns_from(source: Any, text: TextFormat, *, least_columns: int = 2) -> tuple[list[Column], Where]:
    """Return the columns of any source, missing values still marked, and what tells where a row is.

    A text file of fewer columns than ``least_columns`` is refused.
    """
    if isinstance(source, str | Path | os.PathLike):
        from xordal.data.files import file_columns

        if is_folder_or_pattern(os.fspath(source)) and (files := many_files(source)) is not None:
            from xordal.data.large.whole import whole_columns

            return whole_columns(files, text)
        return file_columns(os.fspath(source), text, least_columns=least_columns)
    if isinstance(source, CategoricalTable):
        return source.columns(), in_memory
    from xordal.data.frames import columns_of

    return columns_of(source), in_memory


def _weights(source: Any, columns: list[Column], how: Reading, where: Where) -> RowWeights | None:
    if isinstance(source, CategoricalTable) and (source.weights is not None or source.design is not None):
        if how.weights is not None or how.survey_weights is not None:
            raise SettingsError("The table has row weights of its own; leave out the others.")
        fractions = None if source.design is None else source.design.weights
        return source.weights if fractions is None else fractions
    is_survey = how.survey_weights is not None
    asked = how.survey_weights if is_survey else how.weights
    if asked is None:
        return None
    if not isinstance(asked, str):
        return any_weights(asked, len(columns[0].codes), is_survey=is_survey)
    drops = how.missing in ("drop", "auto")
    return weights_of(named(columns, asked), where, drops_missing=drops, is_survey=is_survey)


def _clusters(source: Any, columns: list[Column], how: Reading, where: Where) -> NDArray[np.int32] | None:
    """Return the number of the cluster of each row."""
    if isinstance(source, CategoricalTable) and source.design is not None and how.cluster is None:
        return source.design.clusters
    if how.cluster is None:
        return None
    by_name = isinstance(how.cluster, str)
    column = named(columns, how.cluster) if by_name else from_values("cluster", list(how.cluster))
    if len(column.codes) != len(columns[0].codes):
        raise DataError(
            f"There are {len(column.codes)} clusters for {len(columns[0].codes)} rows. Give one per row."
        )
    if column.has_missing:
        row = int(np.argmax(column.is_missing))
        raise DataError(
            f"{where(row, column.name)}: the row belongs to no cluster. Fill it in, or leave the row out."
        )
    return column.codes


def _times(rows: NDArray[np.bool_], counts: NDArray[np.int64] | None) -> int:
    """Return how many rows some rows stand for."""
    return int(rows.sum() if counts is None else counts[rows].sum())


def _rows(
    columns: list[Column],
    used: NDArray[np.bool_],
    policy: Missing,
    where: Where,
) -> tuple[list[Column], NDArray[np.bool_]]:
    """Leave out rows that are not used, then those that the policy for missing values drops."""
    place = np.flatnonzero(used)
    columns = columns if used.all() else [column.only(used) for column in columns]
    kept = rows_kept(columns, policy, lambda row, name: where(int(place[row]), name))
    if kept.all():
        return [column.compact() for column in columns], used
    stays = used.copy()
    stays[place] = kept
    return [column.only(kept) for column in columns], stays
