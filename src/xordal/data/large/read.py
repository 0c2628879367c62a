"""A source of many rows in, a table on disk out: from the cache, or packed now."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xordal.data.column import Column
from xordal.data.large import cache
from xordal.data.large.batches import Batch, Files, LazyPolars, Source
from xordal.data.large.files import DataFile, told
from xordal.data.large.gather import Gathered, RowsRead, Survey, gather
from xordal.data.large.pack import Kept, Plan, Prepare, dropped_text, plan, weights_by_number, write_columns
from xordal.data.large.store import Blocks, DamagedStore, check_files, read_description, write_description
from xordal.data.select import check_names, named, select
from xordal.data.table import CategoricalTable
from xordal.errors import DataError

if TYPE_CHECKING:
    from xordal.data.read import Reading

_LEVELS = "levels.arrow"
_SMALL = 1 << 24  # cells of a table that is not worth a place in the cache: it is packed in a second


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What the reader of a table wants of a stream: how, prepared by whom, and whom to tell."""

    how: Reading
    prepare: Prepare
    tell: Callable[[str], None]
    on_rows: Callable[[RowsRead], None]


def lazy_source(source: Any) -> Source | None:
    """Return a polars LazyFrame as a source; None for anything else."""
    import sys

    polars = sys.modules.get("polars")
    return LazyPolars(source) if polars is not None and isinstance(source, polars.LazyFrame) else None


def read_files(files: list[DataFile], wanted: Wanted) -> CategoricalTable:
    """Return the table of some files: from the cache where it is there and fresh, else packed."""
    how = wanted.how
    source = Files(files, how.text, told(files))
    if how.cache == "off":
        return read_stream(source, wanted)
    stamp = cache.stamp_of(files, how.cache)
    asked = [getattr(how, name.name) for name in fields(how) if name.name not in ("cache", "sql")]
    which = stamp if how.cache == "content" else [str(file.path.absolute()) for file in files]
    entry = cache.cache_folder() / cache.key_of(which, asked, [file.partition for file in files])
    found = _from_cache(entry, stamp, wanted)
    return found if found is not None else _packed(source, wanted, (entry, files, stamp))


def read_stream(source: Source, wanted: Wanted) -> CategoricalTable:
    """Return the table of a source that is packed each time, in a folder nobody else sees."""
    return _packed(source, wanted, None)


def _from_cache(entry: Path, stamp: list[Any], wanted: Wanted) -> CategoricalTable | None:
    """Return a table from the cache; None where there is none, or one of other data, or a damaged one."""
    if not entry.is_dir():
        return None
    try:
        about = read_description(entry)
        if about.get("stamp") != stamp:
            return None
        check_files(entry, about)
        surveys = _read_surveys(entry / _LEVELS)
        messages: list[str] = list(about["messages"])
        made = plan(surveys, wanted.how.missing, wanted.prepare)
        if [column.name for column in made.columns] != about["names"]:
            return None  # another judge: columns that one leaves out stay with the other
        for message in messages:
            wanted.tell(message)
        return _opened(entry, made, int(about["n_rows"]))
    except (DamagedStore, pa.ArrowException, OSError, KeyError, TypeError, IndexError, AttributeError) as error:
        wanted.tell(f"The cached table in {str(entry)!r} is damaged ({error}); it is made anew.")
        cache.remove(entry)
        return None


def _packed(
    source: Source, wanted: Wanted, keep: tuple[Path, list[DataFile], list[Any]] | None
) -> CategoricalTable:
    """Read and pack a source; the folder is kept in the cache where that is asked for and it is large."""
    messages: list[str] = []
    parent = cache.cache_folder() if keep is not None else Path(tempfile.gettempdir()) / "xordal"
    with cache.written_aside(parent) as aside:
        numbers = aside / "numbers"
        numbers.mkdir()
        gathered, kept, left = _gathered(source, wanted, numbers)
        surveys, n_rows = kept.surveys()
        if n_rows == 0:
            raise DataError(
                "Every row has a missing value, so no row is left. Leave out the columns that are mostly "
                "missing (--exclude), or use --missing level."
            )
        if kept.drop and n_rows < left:
            messages.append(dropped_text(n_rows, left))
        chosen = [survey for survey in surveys if survey.name != wanted.how.weights]
        made = plan(chosen, wanted.how.missing, wanted.prepare)
        whole = Plan(made.columns, [_place(surveys, column.name) for column in made.columns], made.lookups)
        write_columns(gathered, kept, whole, n_rows, aside)
        _write_surveys(aside / _LEVELS, chosen)
        shutil.rmtree(numbers)
        for message in messages:
            wanted.tell(message)
        if keep is None or n_rows * len(made.columns) < _SMALL:
            return _opened(aside, made, n_rows)  # mapped files live on when their names are gone
        entry, files, stamp = keep
        if cache.stamp_of(files, wanted.how.cache) != stamp:
            raise DataError(f"{source.label}: the data changed while they were read. Try again when they rest.")
        about = {"label": source.label, "names": [c.name for c in made.columns], "n_rows": n_rows}
        write_description(aside, {**about, "messages": messages, "stamp": stamp})
        cache.publish(aside, entry)
        return _opened(entry, made, n_rows)


def _place(surveys: Sequence[Survey], name: str) -> int:
    return next(place for place, survey in enumerate(surveys) if survey.name == name)


def _gathered(source: Source, wanted: Wanted, folder: Path) -> tuple[Gathered, Kept, int]:
    """Read all rows; return them, which of them stay, and how many there are to choose from."""
    how = wanted.how
    every = [Column(name, (), np.empty(0, np.int32)) for name in source.names()]
    check_names(every)
    if how.weights is not None and not isinstance(how.weights, str):
        raise DataError("Row weights of a table on disk are a column of it: give the name of that column.")
    by_name = [] if how.weights is None else [named(every, how.weights).name]
    for name in how.categorical:
        named(every, name)
    only = [column.name for column in select(every, how.columns, [*how.exclude, *by_name])]
    at_once = how.missing == "error" and how.weights is None
    gathered = gather(
        source, [*only, *by_name], folder, _refuse_missing if at_once else lambda batch: None, wanted.on_rows
    )
    weights = None
    if by_name:
        weights = (len(only), weights_by_number(gathered.columns[-1], source.label))
    incomplete = [v for v in range(len(only)) if gathered.columns[v].counts[0]]
    kept = Kept(gathered, incomplete if how.missing == "drop" else (), weights)
    if how.missing == "error" and weights is not None and incomplete:
        _refuse_missing_in(kept, only, incomplete, source.label)
    left = gathered.n_rows
    if weights is not None:
        left = int(gathered.columns[-1].counts[weights[1] > 0].sum())
    return gathered, kept, left


def _refuse_missing(batch: Batch) -> None:
    label, before = batch.label
    lacking = [column for column in batch.columns if column.has_missing]
    if lacking:
        row, column = min((int(np.argmax(column.is_missing)), place) for place, column in enumerate(lacking))
        raise _missing(f"{label}, row {before + row + 1:,}, column {lacking[column].name!r}")


def _refuse_missing_in(kept: Kept, only: Sequence[str], incomplete: Sequence[int], label: str) -> None:
    """Refuse missing values in rows that count."""
    for rows, stay, _ in kept.blocks():
        for v in incomplete:
            numbers = kept.gathered.numbers(v, rows.start, rows.stop)
            lacks = (numbers == 0) & (True if stay is None else stay)
            if lacks.any():
                raise _missing(f"{label}, row {rows.start + int(np.argmax(lacks)) + 1:,}, column {only[v]!r}")


def _missing(where: str) -> DataError:
    from xordal.data.missing import missing_text

    return DataError(missing_text(where))


def _opened(folder: Path, made: Plan, n_rows: int) -> CategoricalTable:
    blocks = Blocks.open(folder, made.n_levels, n_rows)
    names = tuple(column.name for column in made.columns)
    levels = tuple(column.levels for column in made.columns)
    return CategoricalTable(names, levels, blocks.codes, blocks.weights, blocks)


def _write_surveys(path: Path, surveys: Sequence[Survey]) -> None:
    """Write the values of each column, of whatever type, and their counts: a row of lists for each column."""
    with pa.OSFile(str(path), "wb") as file:
        for survey in surveys:
            values = _as_arrow(survey.values)
            counts = pa.array(survey.counts[1:].tolist(), pa.int64())
            about = {
                "name": survey.name,
                "declared": str(int(survey.is_declared)),
                "missing": str(survey.counts[0]),
            }
            schema = pa.schema([("value", values.type), ("count", pa.int64())], metadata=about)
            with pa.ipc.new_stream(file, schema) as out:
                out.write_batch(pa.record_batch([values, counts], schema=schema))


def _as_arrow(values: Sequence[Any]) -> pa.Array:
    return pa.array(values) if values else pa.array([], pa.string())


def _read_surveys(path: Path) -> list[Survey]:
    found = []
    with pa.OSFile(str(path), "rb") as file:
        while file.tell() < file.size():
            with contextlib.closing(pa.ipc.open_stream(file)) as stream:
                about = {key.decode(): value.decode() for key, value in stream.schema.metadata.items()}
                table = stream.read_all()
            counts = np.array([int(about["missing"]), *table["count"].to_pylist()], dtype=np.int64)
            is_declared = about["declared"] == "1"
            found.append(Survey(about["name"], table["value"].to_pylist(), is_declared, counts))
    return found
