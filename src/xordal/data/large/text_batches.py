"""Text files batch by batch.

A file of moderate size is read as any other (text.py), as one batch. A larger one goes through Arrow, which
reads it in pieces; what its first lines say of delimiter, header and encoding holds for all of it. Arrow takes
a quotation that never ends for a very long value. So where a file has an odd number of quotes, Python's own
reader, which defines what a file means, goes through it once more and says where it is wrong.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from xordal.data.arrow_extra import need_arrow
from xordal.data.column import Column, refuse_nested
from xordal.data.dialect import TextFormat, encoding_of, undecodable
from xordal.data.files import file_columns
from xordal.data.large.batches import Piece, kind_of
from xordal.data.large.files import is_text
from xordal.data.text import Text, split_text, without_tokens
from xordal.errors import DataError

MODERATE = 1 << 24
"""Bytes up to which a text file is read as a whole."""
_HEAD = 1 << 20  # bytes looked at to learn how a file is written
_BLOCK = 1 << 23  # bytes Arrow parses at a time: a record must fit


class TextReader:
    """Reads text files, also those compressed with gzip."""

    def __init__(self, form: TextFormat) -> None:
        self._form = form
        self._heads: dict[Path, tuple[Text, str]] = {}
        self._last: tuple[Path, list[Column]] | None = None

    def names(self, path: Path) -> list[str]:
        """Return the names of the columns."""
        if self._is_moderate(path):
            return [column.name for column in self._whole(path)]
        return self._head(path)[0].names

    def batches(
        self, path: Path, only: Sequence[str], groups: tuple[int, int] | None = None
    ) -> Iterator[Piece]:
        """Yield the rows of some columns; all values of text are text, and text has no row groups."""
        if self._is_moderate(path):
            by_name = {column.name: column for column in self._whole(path)}
            columns = [by_name[name] for name in only]
            refuse_nested(columns)
            yield columns, {column.name: kind_of(column) for column in columns}, frozenset(), 1.0
            return
        head, encoding = self._head(path)
        kinds = dict.fromkeys(only, "text")
        with _Stream(path, encoding, len(head.text[: head.body_start].encode())) as stream:
            for columns, share in self._by_arrow(path, head, stream, only):
                yield columns, kinds, frozenset(), share
        if stream.n_quotes % 2:
            _check_quotes(path, encoding, head.delimiter)

    def _is_moderate(self, path: Path) -> bool:
        with _told(path):
            most = MODERATE // 8 if _is_gzip(path) else MODERATE
            return path.stat().st_size <= most or not is_text(path)

    def _whole(self, path: Path) -> list[Column]:
        """Return the columns of a file of moderate size; those of the last one are kept."""
        if self._last is None or self._last[0] != path:
            self._last = path, file_columns(path, self._form, least_columns=1)[0]
        return self._last[1]

    def _head(self, path: Path) -> tuple[Text, str]:
        """Return the first lines of a file, split into header and rest, and the encoding."""
        if path not in self._heads:
            with _told(path), _opened(path) as file:
                start = file.read(_HEAD)
                is_all = not file.read(1)
            encoding = encoding_of(start, self._form.encoding) or "utf-8"
            try:
                text = codecs.getincrementaldecoder(encoding)().decode(start, final=is_all)
            except UnicodeError as error:
                raise undecodable(str(path), encoding, error) from None
            whole = text if is_all or "\n" not in text else text[: text.rindex("\n") + 1]
            self._heads[path] = split_text(whole, self._form, str(path), 1), encoding
        return self._heads[path]

    def _by_arrow(
        self, path: Path, head: Text, stream: _Stream, only: Sequence[str]
    ) -> Iterator[tuple[list[Column], float]]:
        need_arrow(f"{path} has {path.stat().st_size >> 20} MB", "Or split it into files of 10 MB.")
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        from xordal.data.arrow import column_of

        places = {name: str(v) for v, name in enumerate(head.names)}
        n_rows = 0
        try:
            reader = arrow_csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=arrow_csv.ReadOptions(
                    column_names=list(places.values()), block_size=_BLOCK, use_threads=False
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=head.delimiter, newlines_in_values=True, ignore_empty_lines=True
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(places.values(), pa.string()),
                    include_columns=[places[name] for name in only],
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
            for batch in reader:
                arrays = zip(only, batch.columns, strict=True)
                columns = [without_tokens(column_of(name, array), self._form.missing) for name, array in arrays]
                yield columns, stream.share
                n_rows += batch.num_rows
        except pa.ArrowInvalid as error:
            said = str(error).strip().splitlines()[0]
            raise DataError(
                f"{path}, after row {n_rows:,}: not valid CSV ({said}). Mend the line, or quote values that "
                f"contain the delimiter {head.delimiter!r}."
            ) from None


class _Stream(io.RawIOBase):
    """The rows of a text file as UTF-8, its header skipped, its quotes counted, NUL bytes refused."""

    def __init__(self, path: Path, encoding: str, header: int) -> None:
        self._path, self._encoding = path, encoding
        self._raw = path.open("rb")
        self._file = gzip.GzipFile(fileobj=self._raw) if _is_gzip(path) else self._raw
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._size, self._skip, self._n_read = max(path.stat().st_size, 1), header, 0
        self._left = b""
        self.n_quotes = 0

    @property
    def share(self) -> float:
        """Which share of the file has been read."""
        return min(self._raw.tell() / self._size, 1.0)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes: as many as asked for, fewer at the end."""
        while len(self._left) < size or size < 0:
            data = self._next()
            if data is None:
                break
            self._left += data
        found, self._left = (self._left[:size], self._left[size:]) if size >= 0 else (self._left, b"")
        return found

    def _next(self) -> bytes | None:
        """Return some more of the text, None at the end."""
        with _told(self._path):
            raw = self._file.read(_HEAD)
        try:
            data = self._decoder.decode(raw, final=not raw).encode()
        except UnicodeError as error:
            raise undecodable(str(self._path), self._encoding, error, self._n_read) from None
        self._n_read += len(raw)
        if not raw and not data:
            return None
        if b"\0" in data:
            raise DataError(
                f"{self._path}: there is a NUL byte, so this is no text file in the encoding used. Save it as "
                "CSV in UTF-8, or give its encoding, for example --encoding utf-16."
            )
        skipped, self._skip = data[self._skip :], max(self._skip - len(data), 0)
        self.n_quotes += skipped.count(b'"')
        return skipped

    def close(self) -> None:
        """Close the file."""
        self._raw.close()
        super().close()


def _check_quotes(path: Path, encoding: str, delimiter: str) -> None:
    """Refuse a file with a quotation that never ends, by Python's own reader."""
    usual = csv.field_size_limit(sys.maxsize)
    with _told(path), _opened(path) as file:
        reader = csv.reader(io.TextIOWrapper(file, encoding, newline=""), delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error as error:
            raise DataError(
                f"{path}, after line {reader.line_num:,}: not valid CSV ({error}). Mend the quotes."
            ) from None
        finally:
            csv.field_size_limit(usual)


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb") if _is_gzip(path) else path.open("rb"))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: the gzip data are damaged or cut short ({error}). Compress it anew."
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
