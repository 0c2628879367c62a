"""Options of commands that may take long: who counts, when to stop, and how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.counting.select import BACKENDS, Backend, backend_of

if TYPE_CHECKING:
    from xordal.search.checkpoint import Checkpoint
    from xordal.search.limits import Limits
    from xordal.types.choices import StoppedBy

began: ContextVar[float | None] = ContextVar("began", default=None)
"""When the command was called, where it has a process of its own; what is loaded first counts as time too."""


@dataclass(frozen=True, slots=True)
class CountingOptions:
    """Who counts, and on how many cores."""

    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads to count with.", show_default="all cores")
    ] = None
    backend: Annotated[
        str,
        typer.Option(
            metavar=f"<{'|'.join(BACKENDS)}>",
            help="What counts the rows; the result is the same. auto: NumPy for small problems, else compiled "
            "kernels, or an NVIDIA GPU where there is one and it pays, or blocks of rows on disk where a "
            "table is larger than memory; dask: a cluster, whose workers also read the files.",
        ),
    ] = "auto"
    dask_scheduler: Annotated[
        str | None,
        typer.Option(
            help="With --backend dask: the address of a running cluster, such as tcp://host:8786.",
            metavar="URL",
        ),
    ] = None
    dask_workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --backend dask: start this many processes on this machine.",
            show_default="one a core",
            metavar="N",
        ),
    ] = None

    def check(self) -> None:
        """Refuse a backend that there is not, before anything is read."""
        backend_of(self.backend)
        asked = [name for name in ("dask_scheduler", "dask_workers") if getattr(self, name) is not None]
        if asked and self.backend != "dask":
            raise typer.BadParameter(f"--{asked[0].replace('_', '-')} needs --backend dask.")
        if len(asked) == 2:
            raise typer.BadParameter("give --dask-scheduler or --dask-workers, not both.")

    @contextmanager
    def counting(self) -> Iterator[str | Backend]:
        """Yield who counts; processes of a cluster that are started for it end with the block."""
        if self.backend != "dask":
            yield self.backend
            return
        from xordal.counting.dask.backend import connected

        with connected(self.dask_scheduler, self.dask_workers) as backend:
            yield backend


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """When to stop though there is more to find."""

    time_limit: Annotated[
        str | None,
        typer.Option(help="Stop after this time and keep what was learned: 90, 90s, 5m or 1h.", metavar="TIME"),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            help="Stop when the process takes more memory than this and keep what was learned: 500M or 8G.",
            metavar="SIZE",
        ),
    ] = None
    counting: CountingOptions = CountingOptions()

    def limits(self) -> Limits:
        """Return the limits, checked."""
        from xordal.search.limits import Limits

        self.counting.check()
        return Limits(
            time_limit=seconds_in(self.time_limit),
            memory_limit=bytes_in(self.memory_limit),
            threads=self.counting.threads,
            since=began.get() or monotonic(),  # before anything is read
        )

    def of(self, by: StoppedBy | None) -> str | None:
        """Return the limit that was reached, as it was written."""
        return {"time limit": self.time_limit, "memory limit": self.memory_limit}.get(by or "")


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """How a run that is killed can go on."""

    file: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Write each step down in this file as it is learned, so that a run that is killed can go on.",
            metavar="FILE",
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint; where there is none yet, begin.")
    ] = False

    def checkpoint(self) -> Checkpoint | None:
        """Return the checkpoint; refuse to go on from nothing."""
        from xordal.search.checkpoint import Checkpoint

        if self.resume and self.file is None:
            raise typer.BadParameter("--resume needs --checkpoint FILE: what to go on from.")
        return None if self.file is None else Checkpoint(self.file, self.resume)


def seconds_in(text: str | None) -> float | None:
    """Return a time such as 90, 90s, 5m or 1h in seconds.

    Examples
    --------
    >>> seconds_in("90"), seconds_in("1.5m"), seconds_in(None)
    (90.0, 90.0, None)
    """
    return _number(text, {"s": 1, "m": 60, "h": 3600}, "--time-limit", "no time: write 90, 90s, 5m or 1h.")


def bytes_in(text: str | None, option: str = "--memory-limit") -> float | None:
    """Return a size such as 500M or 8G in bytes.

    Examples
    --------
    >>> bytes_in("2G"), bytes_in("64k")
    (2147483648.0, 65536.0)
    """
    units = {"k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
    return _number(text, units, option, "no size: write 500M or 8G.")


def _number(text: str | None, units: dict[str, int], option: str, complaint: str) -> float | None:
    if text is None:
        return None
    unit = units.get(text[-1:])
    try:
        return float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        raise typer.BadParameter(f"{option} {text!r} is {complaint}") from None


@contextmanager
def terminable() -> Iterator[list[int]]:
    """Let SIGTERM end what runs as Ctrl-C does; the list that is yielded holds the signals that came."""
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_of(signals: list[int]) -> typer.Exit:
    """Return how an interrupted command ends: with the code of its signal, of Ctrl-C where none came."""
    return typer.Exit(128 + (signals[0] if signals else signal.SIGINT))


def why_stopped(
    by: StoppedBy | None, limit: str | None, checkpoint: Path | None, *, is_interrupted: bool
) -> str:
    """Say what ended a search, or what followed it, and how to go on."""
    from xordal.formats.text import shown

    if by is None:
        told = "Interrupted" if is_interrupted else "The limit was reached"
        return f"{told} while looking for hidden groups: the network is complete, they are not."
    told = "Interrupted" if by == "interruption" else f"The {by} of {limit} was reached"
    if checkpoint is None:
        go_on = "With --checkpoint FILE a run can be continued later."
    else:
        go_on = f"To go on, run the same command with --checkpoint {shown(str(checkpoint))} --resume."
    return f"{told}: this is the network learned so far. {go_on}"
