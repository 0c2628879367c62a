"""Standard output whose reader may go away, as that of ``xordal learn table.csv | head`` does.

That is no error. A command that prints and nothing else ends there, quietly. One that has promised a file goes
on without a listener until the file is written: hours of work are not lost for a pipe.
"""

from __future__ import annotations

import errno
import io
import sys

_GONE = {errno.EPIPE, errno.EINVAL}  # the latter on Windows


class Listened(io.FileIO):
    """A file descriptor to write to, until nobody reads it any more."""

    promised = False

    def write(self, data: object) -> int:
        """Write bytes; where nobody reads them, drop them if a file was promised, and else end the process."""
        try:
            return super().write(data)  # type: ignore[arg-type]  # any buffer, as the base class has it
        except OSError as error:
            if error.errno not in _GONE:
                raise
            if not self.promised:
                raise SystemExit(0) from None
            return memoryview(data).nbytes  # type: ignore[arg-type]


def listen() -> None:
    """Have standard output be one whose reader may go away, unless it is a terminal."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return
    raw = Listened(stream.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, errors="backslashreplace")


def promise() -> None:
    """Note that a file is to be written, whoever listens."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, Listened):
        raw.promised = True
