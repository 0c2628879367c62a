"""Where a query is asked: a DuckDB or SQLite file, files that DuckDB reads, PostgreSQL, or a user's connection.

Passwords stay out of every message: an address is told without user and password, and what a driver says is
searched for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from xordal.data.dialect import TextFormat
from xordal.data.files import is_duckdb
from xordal.data.large.batches import same_names
from xordal.data.large.files import DataFile, many_files
from xordal.errors import DataError

_INSTALL = "Install it: pip install 'xordal[{extra}]'"


def told_of(address: str) -> str:
    """Return an address without user, password and parameters.

    Examples
    --------
    >>> told_of("postgresql://ann:secret@db.example.org:5432/shop?sslmode=require")
    'postgresql://db.example.org:5432/shop'
    """
    try:
        parts = urlsplit(address)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return f"{address.partition('://')[0]}://..."


def without_secrets(said: object, address: str) -> str:
    """Return what a driver says, down to the first empty line, any password in it hidden.

    Below that line DuckDB quotes the query, with what was put around it.
    """
    text = " ".join(str(said).strip().partition("\n\n")[0].split()) or type(said).__name__
    for secret in _secrets(address):
        text = text.replace(secret, "***")
    return text.replace(address, told_of(address)) if "://" in address else text


def _secrets(address: str) -> list[str]:
    try:
        password = urlsplit(address).password if "://" in address else None
    except ValueError:
        return []
    given = [password, unquote(password)] if password else []
    return [secret for secret in (*given, os.environ.get("PGPASSWORD")) if secret]


@contextmanager
def duckdb_at(source: str, text: TextFormat | None = None) -> Iterator[Any]:
    """Yield a DuckDB connection: to a database file, opened for reading only, or to files called ``data``."""
    try:
        import duckdb
    except ImportError:
        raise DataError(f"DuckDB is not installed. {_INSTALL.format(extra='duckdb')}") from None
    with ExitStack() as opened:
        try:
            is_database = kind_of_file(source) == "duckdb"
            database = duckdb.connect(source, read_only=True) if is_database else duckdb.connect()
            opened.enter_context(closing(database))
            if not is_database:
                _make_view(database, source, text or TextFormat())
        except duckdb.Error as error:
            raise DataError(f"{source}: the database says: {without_secrets(error, '')}") from None
        yield database


def _make_view(database: Any, source: str, text: TextFormat) -> None:
    """Let DuckDB call files ``data``; those whose columns differ are refused, as where they are read."""
    files = many_files(source) or many_files([source]) or []
    options = {"hive_partitioning": "true", **({} if files[0].is_parquet else _csv_options(text))}
    function = "read_parquet" if files[0].is_parquet else "read_csv"
    more = "".join(f", {name} = {value}" for name, value in options.items())

    def columns(some: Sequence[DataFile], by_name: str = "false") -> set[str]:
        paths = ", ".join(_literal(str(file.path)) for file in some)
        rows = f"SELECT * FROM {function}([{paths}]{more}, union_by_name = {by_name})"
        database.execute(f"CREATE OR REPLACE VIEW data AS {rows}")
        return {str(name) for name, *_ in database.execute("DESCRIBE data").fetchall()}

    if len(files) > 1 and (every := columns(files, "true")) != (first := columns(files[:1])):
        for file in files:
            same_names(file, first, columns([file]))
        raise DataError(f"{source}: the columns {sorted(every - first)} are not in the first file.")
    columns(files)


def _csv_options(text: TextFormat) -> dict[str, str]:
    """Return how DuckDB is to read text: as it would be read without a query; what was not given it detects."""
    missing = ", ".join(_literal(token) for token in ("", *text.missing))
    options = {"hive_types_autocast": "false", "all_varchar": "true", "nullstr": f"[{missing}]"}
    if text.delimiter is not None:
        options["delim"] = _literal(text.delimiter)
    if text.has_header is not None:
        options["header"] = str(text.has_header).lower()
    if text.encoding is not None:
        options["encoding"] = _literal(text.encoding)
    if text.skip is not None:
        options["skip"] = str(text.skip)
    return options


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def kind_of_file(source: str) -> str | None:
    """Return ``"duckdb"`` or ``"sqlite"`` for such a file, by its first bytes; None for any other."""
    try:
        with Path(source).open("rb") as file:
            start = file.read(20)
    except (OSError, ValueError):
        return None
    if is_duckdb(start):
        return "duckdb"
    return "sqlite" if start.startswith(b"SQLite format 3") else None


@contextmanager
def sqlite_at(source: str) -> Iterator[Any]:
    """Yield a connection to an SQLite file, opened for reading only."""
    import sqlite3

    with closing(sqlite3.connect(f"{Path(source).absolute().as_uri()}?mode=ro", uri=True)) as database:
        yield database


@contextmanager
def postgresql_at(address: str) -> Iterator[Any]:
    """Yield a connection to PostgreSQL in a transaction that only reads."""
    try:
        import psycopg
    except ImportError:
        raise DataError(f"The driver psycopg is not installed. {_INSTALL.format(extra='postgresql')}") from None
    try:
        database = psycopg.connect(address, connect_timeout=20)
    except (psycopg.Error, ValueError) as error:
        said = without_secrets(error, address)
        raise DataError(
            f"{told_of(address)}: no connection ({said}). Check host, database and user; a password may be "
            "given by PGPASSWORD or ~/.pgpass."
        ) from None
    with closing(database):
        database.read_only = True
        yield database
