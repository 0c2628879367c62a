"""A source of many rows in, a table on disk out: from the cache, or packed now."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xordal.data.arrow_extra import has_arrow
from xordal.data.column import Column
from xordal.data.large import cache
from xordal.data.large.batches import FileSource, LazyPolars, Source
from xordal.data.large.gather import Gathered, RowsRead, Survey, gather
from xordal.data.large.pack import Chosen, Kept, Plan, plan, surrogate, weights_by_number, write_columns
from xordal.data.large.store import (
    Blocks,
    DamagedStore,
    check_files,
    check_sizes,
    read_description,
    write_description,
)
from xordal.data.missing import refusal, settled
from xordal.data.select import check_names, named
from xordal.data.steps import Judged, Steps
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted

_LEVELS = "levels.arrow"
_SMALL = 1 << 24  # cells of a table that is not worth a place in the cache: it is packed in a second


def lazy_source(source: Any) -> Source | None:
    """Return a polars LazyFrame as a source; None for anything else."""
    import sys

    polars = sys.modules.get("polars")
    return LazyPolars(source) if polars is not None and isinstance(source, polars.LazyFrame) else None


def read_files(source: FileSource, steps: Steps, on_rows: Callable[[RowsRead], None]) -> CategoricalTable:
    """Return the table of some files: from the cache where it is there and fresh, else packed."""
    how, files = steps.how, source.files
    if how.cache == "off" or not has_arrow():  # levels are kept as Arrow
        return read_stream(source, steps, on_rows)
    stamp = source.stamp(how.cache)
    asked = [getattr(how, name.name) for name in fields(how) if name.name not in ("cache", "sql")]
    which = stamp if how.cache == "content" else [str(file.path.absolute()) for file in files]
    entry = cache.cache_folder() / cache.key_of(which, asked, [file.partition for file in files])
    found = _from_cache(entry, stamp, steps)
    return found if found is not None else _packed(source, steps, on_rows, _Keep(entry, source, stamp))


def read_stream(source: Source, steps: Steps, on_rows: Callable[[RowsRead], None]) -> CategoricalTable:
    """Return the table of a source that is packed each time, in a folder nobody else sees."""
    return _packed(source, steps, on_rows, None)


def _from_cache(entry: Path, stamp: list[Any], steps: Steps) -> CategoricalTable | None:
    """Return a table from the cache; None where there is none, or one of other data, or a damaged one."""
    if not entry.is_dir():
        return None
    try:
        found = _entry(entry, stamp)
        if found is None:
            return None
        surveys, about = found
        silent = replace(steps, warn=_nothing, tell=_nothing)
        made = _made(surveys, [survey.counts for survey in surveys], silent, about.n_read, Judged())
        if made.mark != about.mark:
            return None  # another judge, who leaves out other columns, or a version that cuts bins otherwise
        check_sizes(entry, made.n_levels, about.n_rows)
        table = _opened_as(entry, made, about.n_rows, stamp)
        if table is None:
            return None
    except DamagedStore as error:
        steps.tell(
            f"The cached table in {str(entry)!r} is damaged, or of another version ({error}); it is made anew."
        )
        cache.remove(entry)
        return None
    for is_warning, line in about.messages:
        (steps.warn if is_warning else steps.tell)(line)
    return table


class _Keep(NamedTuple):
    """Where a packed table is to stay, the files it is of, and the stamp they had when they were listed."""

    entry: Path
    files: FileSource
    stamp: list[Any]


class _About(NamedTuple):
    """What the description of an entry says."""

    mark: str
    n_rows: int
    n_read: int
    messages: list[tuple[bool, str]]


def _entry(entry: Path, stamp: list[Any]) -> tuple[list[Survey], _About] | None:
    """Return what an entry says of its table; None where it is of other data.

    Raises
    ------
    DamagedStore
        If it is not what was written.
    """
    said = read_description(entry)
    if said.get("stamp") != stamp:
        return None
    check_files(entry, said)
    try:
        messages = [(bool(is_warning), str(line)) for is_warning, line in said["messages"]]
        about = _About(str(said["mark"]), int(said["n_rows"]), int(said["n_read"]), messages)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedStore(f"its description cannot be understood: {error}") from None
    from xordal.data.large.surveys import read_surveys

    return read_surveys(entry / _LEVELS), about


def _nothing(line: str) -> None:
    """Say nothing."""


def _made(surveys: Sequence[Survey], counts: list[Any], steps: Steps, n_read: int, judged: Judged) -> Plan:
    """Return what becomes of columns, from the counts of the rows that stay."""
    chosen, declared = _chosen(surveys, steps, n_read)
    stay = [one for one in chosen if one.column.name not in judged.left_out]
    return plan(stay, counts, lambda columns, weights: steps.prepared(columns, weights, declared, judged))


def _chosen(surveys: Sequence[Survey], steps: Steps, n_read: int) -> tuple[list[Chosen], set[str]]:
    found, declared, origin = steps.chosen([surrogate(survey) for survey in surveys], n_read)
    place = {survey.name: place for place, survey in enumerate(surveys)}
    return [Chosen(column, place[origin.get(column.name, column.name)]) for column in found], declared


def _packed(
    source: Source,
    steps: Steps,
    on_rows: Callable[[RowsRead], None],
    keep: _Keep | None,
) -> CategoricalTable:
    """Read and pack a source; the folder is kept in the cache where that is asked for and it is large."""
    messages: list[tuple[bool, str]] = []
    noted = replace(
        steps, warn=lambda line: messages.append((True, line)), tell=lambda line: messages.append((False, line))
    )
    with cache.written_aside() if keep is not None else cache.written_aside(tempfile.gettempdir()) as aside:
        numbers = aside / "numbers"
        numbers.mkdir()
        gathered, weights = _gathered(source, steps, numbers, on_rows)
        kept, n_read, judged = _kept(gathered, weights, noted)
        counts, n_rows = kept.counts()
        silent = replace(steps, warn=_nothing, tell=noted.tell)
        made = _made(gathered.columns, counts, silent, n_read, judged)
        write_columns(gathered, kept, made, n_rows, aside)
        shutil.rmtree(numbers)
        for is_warning, line in messages:
            (steps.warn if is_warning else steps.tell)(line)
        if keep is None or n_rows * len(made.columns) < _SMALL:
            return _opened(aside, made, n_rows)  # mapped files live on when their names are gone
        entry, files, stamp = keep
        changed = DataError(f"{source.label}: the data changed while they were read. Try again when they rest.")
        if files.stamp(steps.how.cache) != stamp:
            raise changed
        from xordal.data.large.surveys import write_surveys

        write_surveys(aside / _LEVELS, gathered.columns, counts)
        names = [column.name for column in made.columns]
        about = {"label": source.label, "names": names, "mark": made.mark, "n_rows": n_rows, "n_read": n_read}
        write_description(aside, {**about, "messages": messages, "stamp": stamp})
        cache.publish(aside, entry)
        opened = _opened_as(entry, made, n_rows, stamp)
        if opened is None:  # another run has read newer data meanwhile
            raise changed
        return opened


def _gathered(
    source: Source, steps: Steps, folder: Path, on_rows: Callable[[RowsRead], None]
) -> tuple[Gathered, tuple[int, NDArray[np.int64]] | None]:
    """Read all rows of the columns that are needed; return them, and the weights by their numbers."""
    how, names = steps.how, source.names()
    every = [Column(name, (), np.empty(0, np.int32)) for name in names]
    check_names(every)
    if how.weights is not None and not isinstance(how.weights, str):
        raise DataError("Row weights of a table on disk are a column of it: give the name of that column.")
    only = steps.needed(names)
    if how.weights is not None and named(every, how.weights).name not in only:
        only = [*only, how.weights]
    gathered = gather(source, only, folder, on_rows)
    if how.weights is None:
        return gathered, None
    place = only.index(how.weights)
    return gathered, (place, weights_by_number(gathered.columns[place], source.label))


def _kept(
    gathered: Gathered, weights: tuple[int, NDArray[np.int64]] | None, steps: Steps
) -> tuple[Kept, int, Judged]:
    """Return which rows stay by the policy for missing values, how many were read, and which columns go first.

    Weights are counted.
    """
    n_read = gathered.n_rows
    if weights is not None:
        n_read = int(weights[1] @ gathered.columns[weights[0]].counts)
    chosen, declared = _chosen(gathered.columns, steps, n_read)
    counts, _ = Kept(gathered, (), weights).counts()
    used = [np.flatnonzero(counts[one.place]) for one in chosen]
    found = [one.with_values(numbers) for one, numbers in zip(chosen, used, strict=True)]
    often = [counts[one.place][numbers] for one, numbers in zip(chosen, used, strict=True)]
    judged = steps.judged(found, often, declared)
    chosen = [one for one in chosen if one.column.name not in judged.left_out]
    lacking = [one for one in chosen if gathered.columns[one.place].counts[one.level_of < 0].any()]
    all_rows = Kept(gathered, [(one.place, one.level_of < 0) for one in lacking], weights)
    names = [one.column.name for one in lacking]
    gaps = all_rows.gaps(names)
    policy = settled(steps.how.missing, gaps, steps.warn)
    if policy == "error" and gaps.n_cells:
        row, column = all_rows.first_incomplete()
        raise DataError(f"{gathered.where(row, names[column])}: {refusal(gaps)}")
    if policy != "drop" or not gaps.n_incomplete:
        return Kept(gathered, (), weights), n_read, judged
    if gaps.n_incomplete == gaps.n_rows:
        raise DataError(
            "Every row has a missing value, so no row is left. Leave out the columns that are mostly missing "
            "(--exclude), or use --missing level."
        )
    told_of_drop = steps.warn if steps.how.missing == "auto" else steps.tell
    told_of_drop(f"Dropped {gaps.n_incomplete:,} of {counted(gaps.n_rows, 'row')}, which had missing values.")
    return all_rows, n_read, judged


def _opened_as(entry: Path, made: Plan, n_rows: int, stamp: list[Any]) -> CategoricalTable | None:
    """Return the table of an entry; None where another run has put another table in its place meanwhile."""
    try:
        table = _opened(entry, made, n_rows)
        said = read_description(entry)
    except (OSError, ValueError):  # its files are gone, or of another size
        return None
    return table if (said.get("stamp"), said.get("mark")) == (stamp, made.mark) else None


def _opened(folder: Path, made: Plan, n_rows: int) -> CategoricalTable:
    blocks = Blocks.open(folder, made.n_levels, n_rows)
    names = tuple(column.name for column in made.columns)
    levels = tuple(column.levels for column in made.columns)
    return CategoricalTable(names, levels, blocks.codes, blocks.weights, blocks)
