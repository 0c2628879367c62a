"""The trace on disk: a search that is killed goes on where it was.

A checkpoint is a text file of JSON lines. The first says of which data and settings it is; each of the others
is one trace entry, a whole sequence of a local search, or one finished range of a scan with the sets it found.
A line is on the disk before the search goes on. Resuming replays the entries through the schedule: a lookahead
that is not that of the next entry learned nothing then and need not run now. So the trace ends as it would have
without the interruption.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from xordal.counting.oracle import ScanBlock
from xordal.errors import DataError, SettingsError
from xordal.types.trace import TraceEntry
from xordal.types.varsets import LinkSet

_VERSION = 1  # of the file's form; others are refused
_BEGINNING = b'{"xordal": "checkpoint"'


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a search writes down its progress.

    Parameters
    ----------
    path
        The file; a new one unless ``resume`` is set.
    resume
        Go on from what the file holds; where there is none, begin.
    """

    path: str | Path
    resume: bool = False


class Journal:
    """An open checkpoint: what it held when it was opened, and where to write what comes.

    Parameters
    ----------
    checkpoint
        Which file, and whether to go on from it.
    identity
        What the run depends on, data and settings, as plain values by name. A file of another run is refused,
        and the first difference named.

    Raises
    ------
    SettingsError
        If the file exists and was not to be resumed, or belongs to another run.
    DataError
        If it is no checkpoint, or cannot be written.
    """

    def __init__(self, checkpoint: Checkpoint, identity: Mapping[str, object]) -> None:
        self.entries: list[TraceEntry] = []
        self.scans: dict[int, list[ScanBlock]] = {}
        self._path = Path(checkpoint.path)
        header = {"xordal": "checkpoint", "version": _VERSION, "run": _plain(identity)}
        if self._path.exists() and not checkpoint.resume:
            raise SettingsError(
                f"The checkpoint {self._path} exists. Go on from it with --resume (in Python resume=True), "
                "or name another."
            )
        try:
            end = self._read(header) if self._path.exists() and self._path.stat().st_size else 0
            self._file: BinaryIO = self._path.open("r+b" if self._path.exists() else "xb")
            self._lock()
            self._file.truncate(end)
            self._file.seek(end)
        except OSError as error:
            raise DataError(f"The checkpoint {self._path} cannot be used: {error.strerror}.") from None
        if end == 0:
            self._write(header)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def entry(self, *entries: TraceEntry) -> None:
        """Write down one change of the graph, or several that belong together: all of them or none."""
        told = [_entry_to_json(entry) for entry in entries]
        self._write({"entry": told[0]} if len(told) == 1 else {"sequence": told})

    def scanned(self, order: int, block: ScanBlock) -> None:
        """Write down one finished range of a scan."""
        self._write(
            {
                "scan": order,
                "firsts": list(block.firsts),
                "sets": block.sets.tolist(),
                "shared": block.shared.tolist(),
                "n_scanned": block.n_scanned,
            }
        )

    def _lock(self) -> None:
        """Keep a second run from writing into the same file; where nobody can lock, trust the user."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:
            return
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise SettingsError(f"Another run is writing to the checkpoint {self._path}.") from None

    def _write(self, line: Mapping[str, object]) -> None:
        try:
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise DataError(f"The checkpoint {self._path} cannot be written: {error.strerror}.") from None

    def _read(self, header: Mapping[str, Any]) -> int:
        """Take in the lines of the file; return where the last whole one ends."""
        end = 0
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                is_whole = line.endswith(b"\n")  # the last one may be torn where the run was killed
                if number == 1 and not is_whole and not line.startswith(_BEGINNING[: len(line)]):
                    raise self._not_ours()
                if is_whole:
                    self._take(self._parsed(line, number), number, header)
                    end += len(line)
        return end

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if number == 1 and (not isinstance(found, dict) or found.get("xordal") != "checkpoint"):
            raise self._not_ours()
        if not isinstance(found, dict):
            raise self._damaged(number)
        return found

    def _check(self, found: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        if found.get("version") != _VERSION:
            raise DataError(
                f"The checkpoint {self._path} is of version {found.get('version')!r}; "
                f"this xordal reads version {_VERSION}. Begin a new one."
            )
        then, now = found.get("run"), header["run"]
        if not isinstance(then, dict):
            raise self._damaged(1)
        for name in {**now, **then}:
            if then.get(name) != now.get(name):
                difference = _difference(name, then.get(name), now.get(name))
                raise SettingsError(
                    f"The checkpoint {self._path} is of another run: {difference}. "
                    "Resume with the same data and settings, or begin a new checkpoint."
                )

    def _take(self, found: Mapping[str, Any], number: int, header: Mapping[str, Any]) -> None:
        if number == 1:
            self._check(found, header)
            return
        try:
            if "entry" in found:
                self.entries.append(_entry_from_json(found["entry"]))
            elif "sequence" in found:
                self.entries.extend(_entry_from_json(entry) for entry in found["sequence"])
            else:
                self.scans.setdefault(int(found["scan"]), []).append(_block_from_json(found))
        except (KeyError, TypeError, ValueError):
            raise self._damaged(number) from None

    def _not_ours(self) -> DataError:
        return DataError(f"{self._path} is no checkpoint of xordal. Name another file.")

    def _damaged(self, number: int) -> DataError:
        return DataError(f"Line {number} of the checkpoint {self._path} is damaged. Begin a new checkpoint.")


def _entry_to_json(entry: TraceEntry) -> dict[str, object]:
    return {name: getattr(entry, name) for name in TraceEntry.__dataclass_fields__ if name != "rule"}


def _entry_from_json(found: Mapping[str, Any]) -> TraceEntry:
    entry = TraceEntry(
        found["action"],
        int(found["lookahead"]),
        _links(found["links"]),
        float(found["gain"]),
        int(found["dof"]),
        int(found["graphs_tested"]),
        _links(found["fill_in"]),
        None if found["log_p_value"] is None else float(found["log_p_value"]),
        int(found["sequence"]),
    )
    if entry.action not in ("add", "remove") or not isfinite(entry.gain) or entry.sequence < 0:
        raise ValueError(entry.action)
    return entry


def _links(found: object) -> LinkSet:
    if not isinstance(found, list):
        raise TypeError(found)
    links = tuple((int(u), int(v)) for u, v in found)
    if any(not 0 <= u < v for u, v in links):
        raise ValueError(links)
    return links


def _block_from_json(found: Mapping[str, Any]) -> ScanBlock:
    order = int(found["scan"])
    sets = np.array(found["sets"], dtype=np.int32).reshape(-1, order)
    shared = np.array(found["shared"], dtype=np.float64)
    if len(sets) != len(shared):
        raise ValueError("sets and what they share differ in number")
    return ScanBlock(tuple(int(first) for first in found["firsts"]), sets, shared, int(found["n_scanned"]))


def _plain(values: Mapping[str, object]) -> Any:
    """Return values as they come back from JSON, so that they compare."""
    return json.loads(json.dumps(values))


def _difference(name: str, then: object, now: object) -> str:
    """Say in which thing, and how, a run differs from the one before."""
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        place = next(place for place, (a, b) in enumerate(zip(then, now, strict=True)) if a != b)
        return f"{name} number {place + 1} was {then[place]!r} and is {now[place]!r}"
    if isinstance(then, list) and isinstance(now, list):
        return f"there were {len(then)} {name} and are {len(now)}"
    return f"{name} was {then!r} and is {now!r}"
