"""Tables out: as comma-separated or tab-separated text, or as Parquet, by the ending of the file's name.

An ending that means another format is refused, so that no file holds what its name denies; one that means none
is written as comma-separated text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from xordal.data.arrow_extra import need_arrow
from xordal.data.write import csv_pieces, is_standard_output, write_pieces
from xordal.errors import DataError, SettingsError

TableFormat = Literal["csv", "tsv", "parquet"]

_ENDINGS: dict[str, TableFormat] = {".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_OTHERS = frozenset(
    {
        ".gz", ".bz2", ".xz", ".zst", ".zip", ".xlsx", ".xls", ".ods", ".feather", ".arrow", ".ipc", ".orc",
        ".avro", ".json", ".jsonl", ".ndjson", ".pkl", ".npy", ".npz", ".h5", ".sqlite", ".db", ".duckdb",
        ".sav", ".dta", ".rds", ".html", ".xml", ".bif", ".xmlbif", ".uai", ".net", ".dot", ".graphml", ".hif",
        ".png", ".svg", ".pdf",
    }
)  # fmt: skip

KNOWN_ENDINGS = frozenset({".csv", *_ENDINGS, *_OTHERS})
"""Endings that mean a format, of a table or of something else: no file should hold what its name denies."""


def table_format(path: str | Path) -> TableFormat:
    """Return the format of a table that the ending of a file's name means.

    Raises
    ------
    SettingsError
        If it means a format that is not written.

    Examples
    --------
    >>> table_format("rows.csv"), table_format("rows.PARQUET"), table_format("rows.tsv"), table_format("-")
    ('csv', 'parquet', 'tsv', 'csv')
    """
    ending = Path(path).suffix.lower()
    if ending in _OTHERS:
        raise SettingsError(
            f"No table is written as {ending}. Let the name {Path(path).name!r} end in .csv, .tsv or .parquet."
        )
    return _ENDINGS.get(ending, "csv")


def write_table(path: str | Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table to a file, whole or not at all, in the format that the ending of its name means.

    Raises
    ------
    SettingsError
        If the ending means a format that is not written.
    DataError
        If the file cannot be written.
    """
    chosen = table_format(path)
    if chosen == "parquet" and not is_standard_output(path):
        write_pieces(path, [_parquet(names, rows)])
    else:
        write_pieces(path, csv_pieces(names, rows, delimiter="\t" if chosen == "tsv" else ","))


def _parquet(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    need_arrow("To write Parquet", "Or let the name end in .csv.")
    import pyarrow as pa
    from pyarrow import parquet

    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    if len(set(names)) < len(names):
        raise DataError("Two columns have the same name, which a Parquet file cannot hold.")
    file = pa.BufferOutputStream()
    parquet.write_table(pa.table(dict(zip(names, map(_arrow, columns), strict=True))), file)
    return bytes(file.getvalue())


def _arrow(values: Sequence[Any]) -> Any:
    """Return a column for Arrow, which holds one type: several become text. Empty texts are missing."""
    import pyarrow as pa

    present = [None if value == "" else value for value in values]
    try:
        return pa.array(present)
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in present])
