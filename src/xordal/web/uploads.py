"""Uploads: streamed to disk as they come, and refused as soon as they are too large."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from starlette.requests import ClientDisconnect

from xordal.errors import DataError

MOST_BYTES = 100 * 2**20
"""Size of the largest upload, unless another is named."""

UNPACKED = 10
"""Times the largest upload that a compressed one may unpack to; text packs to a tenth, seldom to less."""

_DISCARDED = 4  # times the largest upload, of one that is refused


class TooLarge(DataError):
    """An upload that is larger than the server takes."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The file is larger than {most / 2**20:,.0f} MB, the most that is taken here. Leave out "
            "columns or rows, save it as Parquet, or start with a larger bound: xordal serve --max-upload 1G."
        )


def check_announced(length: str | None, most: int) -> None:
    """Refuse an upload that says itself that it is too large, before a byte of it is read."""
    if length is not None and length.isdecimal() and int(length) > most:
        raise TooLarge(most)


async def discard(pieces: AsyncIterator[bytes], most: int) -> None:
    """Read on past what is refused, within reason: a browser hears an answer only when it has sent all."""
    size = 0
    try:
        async for piece in pieces:
            size += len(piece)
            if size > _DISCARDED * most:
                return
    except ClientDisconnect:
        return


async def receive(pieces: AsyncIterator[bytes], to: Path, most: int) -> int:
    """Write an upload to a file, piece by piece; return its size. The file is there once it is whole.

    Raises
    ------
    TooLarge
        If more comes than is taken; what was written is removed.
    DataError
        If it is empty, or ends before it is whole.
    """
    size, part = 0, to.with_name(f"{to.name}.part")
    try:
        with part.open("xb") as file:
            part.chmod(0o600)
            async for piece in pieces:
                size += len(piece)
                if size > most:
                    raise TooLarge(most)
                file.write(piece)  # 64 kB at a time, to the system's cache: a thread for it takes longer
        if size == 0:
            raise DataError("The file is empty.")
        part.replace(to)
    except ClientDisconnect:
        raise DataError("The upload broke off.") from None
    finally:
        part.unlink(missing_ok=True)
    return size
