"""The rows of a query as a table: distinct rows with their number where those are few, else row by row.

First the database is asked how many rows the query has and how many different values each column. If all
combinations of those are few, so are the distinct rows, and ``GROUP BY`` in the database sends each of them
once, with the number of times it occurs: the table that is learned from has these as row weights. Otherwise the
rows are read batch by batch and packed on disk like those of any large file. DuckDB hands over whole columns,
as Arrow arrays; other drivers give Python values, one a cell, which takes several times as long.

The few lines of SQL are plain ones that every database knows; only quoting of names is asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from math import isinf, prod
from pathlib import Path
from typing import Any

from xordal.data.arrow_extra import has_arrow
from xordal.data.column import Column, from_values
from xordal.data.dialect import TextFormat
from xordal.data.large.batches import ROWS, Batch, values_batch
from xordal.data.sql.places import (
    duckdb_at,
    kind_of_file,
    postgresql_at,
    sqlite_at,
    told_of,
    without_secrets,
)
from xordal.errors import DataError, SettingsError

MOST_GROUPS = 1 << 22
"""Combinations of values up to which the database counts: so many rows are read in some seconds."""
_COUNT = "xordal_n"
_FIRST_WORDS = (
    "select",
    "with",
    "values",
    "from",
    "table",
    "pivot",
    "unpivot",
    "describe",
    "show",
    "summarize",
)
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_SAME_IN_ARROW = frozenset(
    (
        "BOOLEAN",
        "FLOAT",
        "DOUBLE",
        "DECIMAL",
        "VARCHAR",
        "ENUM",
        "DATE",
        *_WHOLE,
        *(f"U{kind}" for kind in _WHOLE),
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Distinct rows of a query, and how often each occurs."""

    columns: list[Column]
    weights: list[int]


@dataclass(slots=True)
class Query:
    """A query to a database: a source of batches, which can also be asked to count."""

    sql: str
    label: str
    connect: Callable[[], AbstractContextManager[Any]]
    address: str = ""
    is_duckdb: bool = False
    of_files: bool = False

    @property
    def _rows(self) -> str:
        """The query as a table; a comment at its end must not comment out what follows."""
        return f"({self.sql}\n) AS t"

    def names(self) -> list[str]:
        """Return the names of the columns."""
        with self._told(), self.connect() as database:
            return self._names(database)

    def _names(self, database: Any) -> list[str]:
        with closing(database.cursor()) as cursor:
            cursor.execute(f"SELECT * FROM {self._rows} WHERE 1 = 0")
            return [str(column[0]) for column in cursor.description]

    def counted(self, only: Sequence[str]) -> Counted | None:
        """Return the distinct rows of some columns with their number; None where they may be many."""
        with self._told(), self.connect() as database, closing(database.cursor()) as cursor:
            each = ", ".join(f"COUNT(DISTINCT {quoted(name)}), COUNT({quoted(name)})" for name in only)
            cursor.execute(f"SELECT COUNT(*), {each} FROM {self._rows}")
            n_rows, *numbers = (int(number) for number in cursor.fetchone())
            if n_rows == 0:
                raise DataError(f"{self.label}: the query returns no rows.")
            n_values = [n + (has < n_rows) for n, has in zip(numbers[::2], numbers[1::2], strict=True)]
            if prod(n_values) > min(MOST_GROUPS, n_rows):
                return None
            groups = "ALL" if self.is_duckdb else ", ".join(quoted(name) for name in only)
            chosen = ", ".join(quoted(name) for name in only)
            cursor.execute(f"SELECT {chosen}, COUNT(*) AS {_COUNT} FROM {self._rows} GROUP BY {groups}")
            # Distinct rows come in whatever order: sorted, they make the same table each time.
            rows = sorted(cursor.fetchall(), key=lambda row: tuple(map(repr, row)))
        *values, weights = zip(*rows, strict=True) if rows else ([] for _ in range(len(only) + 1))
        columns = [from_values(name, list(own)) for name, own in zip(only, values, strict=True)]
        self._refuse_infinity(columns)
        return Counted(columns, [int(weight) for weight in weights])

    def batches(self, only: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of the query."""
        for batch in self._batches(only):
            self._refuse_infinity(batch.columns)
            yield batch

    def _batches(self, only: Sequence[str]) -> Iterator[Batch]:
        rows_of = f"SELECT {', '.join(quoted(name) for name in only)} FROM {self._rows}"
        at = 0
        with self._told(), self.connect() as database, closing(_streaming(database)) as cursor:
            if self.is_duckdb and has_arrow() and _is_same_in_arrow(cursor, rows_of):
                from xordal.data.sql.arrow_rows import arrow_batches

                yield from arrow_batches(cursor, rows_of, only, self.label)
                return
            cursor.execute(rows_of)
            while rows := cursor.fetchmany(ROWS):
                yield values_batch(only, rows, (self.label, at), None)
                at += len(rows)

    def _refuse_infinity(self, columns: Sequence[Column]) -> None:
        """Refuse a number that no bin can hold, as it is refused in files and frames."""
        for column in columns:
            if any(isinstance(level, float) and isinf(level) for level in column.levels):
                told = f"{self.label}: column {column.name!r} has an infinite value."
                raise DataError(f"{told} Replace it in the query, or make it NULL.")

    def where(self, row: int, name: str) -> str:
        """Return where a value is: rows of a database have no numbers."""
        return f"{self.label}, column {name!r}"

    def said(self, error: BaseException) -> str:
        """Return what the database says, and what to look at."""
        said = without_secrets(error, self.address)
        first = re.match(r"\w*", self.sql)
        if first and first[0].lower() not in _FIRST_WORDS and self.sql[0] not in "(-/":
            look = "A query that returns rows begins with SELECT or WITH."
        elif self.of_files:
            look = "In the query the files are called data."
        else:
            look = "Check the query and the connection."
        return f"the database says: {said}{'' if said.endswith(tuple('.!?')) else '.'} {look}"

    def _told(self) -> _Told:
        return _Told(self)


def _is_same_in_arrow(cursor: Any, rows_of: str) -> bool:
    """Whether DuckDB's Arrow arrays of a query hold the very values that its rows have.

    Of other types they do not: a HUGEINT is a whole number in a row and a decimal one in Arrow, a UUID is text.
    """
    cursor.execute(f"{rows_of} LIMIT 0")
    kinds = [str(column[1]).partition("(")[0] for column in cursor.description]
    return all(kind in _SAME_IN_ARROW for kind in kinds)


def _streaming(database: Any) -> Any:
    """Return a cursor that leaves rows at the server until they are fetched, where the driver knows such."""
    if type(database).__module__.partition(".")[0] == "psycopg":
        return database.cursor(name="xordal")
    return database.cursor()


class _Told:
    """Makes an error of a database, of whatever driver, one message of ours."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, DataError) or not _is_of_database(error):
            return
        raise DataError(f"{self._query.label}: {self._query.said(error)}") from None


def _is_of_database(error: BaseException) -> bool:
    """Whether an exception is the ``Error`` that DB-API asks every driver to derive its own from."""
    return any(base.__name__ in ("Error", "InterfaceError") for base in type(error).__mro__) or isinstance(
        error, OSError
    )


def quoted(name: str) -> str:
    """Return a column name as SQL takes it.

    Examples
    --------
    >>> quoted('size "m" x')
    '"size ""m"" x"'
    """
    return '"' + name.replace('"', '""') + '"'


def query_of(source: Any, sql: str | None, text: TextFormat) -> Query | None:
    """Return the query that is asked of a source; None where none is asked and the source is no database.

    ``text`` is how text files are written of which it is asked.
    """
    is_path = isinstance(source, str) or hasattr(source, "__fspath__")
    place = str(source) if is_path else ""
    kind = kind_of_file(place) if is_path else None
    if is_path and place.startswith(("postgresql://", "postgres://")):
        if sql is None:
            raise SettingsError("Say which rows to take, for example --sql 'SELECT * FROM people'.")
        return Query(_one(sql), told_of(place), lambda: postgresql_at(place), place)
    if is_path and (scheme := re.match(r"[A-Za-z][\w+.-]+(?=://)", place)) and not Path(place).exists():
        raise DataError(
            f"{told_of(place)}: addresses of {scheme[0]} are not read, only those of PostgreSQL "
            "(postgresql://...). Save the table as a file; of a database with a DB-API driver, in Python: "
            "read_table(connection, sql='SELECT ...')."
        )
    if sql is None and kind is None:
        return None
    if not is_path:
        if not hasattr(source, "cursor"):
            raise SettingsError("sql needs a database: a path, an address or a DB-API connection.")
        is_duckdb = type(source).__name__ == "DuckDBPyConnection"
        return Query(_one(str(sql)), "the database", lambda: nullcontext(source), is_duckdb=is_duckdb)
    asked = _one(sql) if sql is not None else f"SELECT * FROM {quoted(_only_table(place, str(kind)))}"
    if kind == "sqlite":
        return Query(asked, place, lambda: sqlite_at(place), place)
    of_files = kind is None
    return Query(asked, place, lambda: duckdb_at(place, text), place, is_duckdb=True, of_files=of_files)


def _one(sql: str) -> str:
    """Return a query without the semicolon at its end; it must not be empty."""
    asked = sql.strip().rstrip(";").rstrip()
    if not asked:
        raise SettingsError("The query is empty; write for example --sql 'SELECT * FROM people'.")
    return asked


def _only_table(place: str, kind: str) -> str:
    """Return the one table of a database file; where there are several, refuse and name them."""
    listed = (
        "SELECT table_name FROM information_schema.tables"
        if kind == "duckdb"
        else "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
    )
    query = Query(listed, place, lambda: (duckdb_at if kind == "duckdb" else sqlite_at)(place), place)
    with query._told(), query.connect() as database:
        names = sorted(str(row[0]) for row in database.cursor().execute(listed).fetchall())
    if len(names) != 1:
        told = f"It has {', '.join(map(repr, names[:12]))}." if names else "It has none."
        raise DataError(f"{place}: say which table to take, for example --sql 'SELECT * FROM people'. {told}")
    return names[0]
