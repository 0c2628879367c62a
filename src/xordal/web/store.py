"""Runs on disk: a folder each, under one folder that only its owner may read.

What a run is shows in which files it has. ``upload`` is the table or network as it came; ``about.json`` what it
is called; ``form.json`` how it is written, where a person said so; ``overview.json`` what its columns look
like; ``settings.json`` how it is learned, once that began;
``checkpoint`` how far it is; ``net.json``, ``single.json`` and ``result.json`` what came out; ``failed.json``
what went wrong. So everything but the present progress survives the server.

Names that a browser sends never become paths: a folder is named by a random number.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xordal.data.write import write_text
from xordal.errors import DataError, SettingsError

A_DAY = 86_400.0
"""Seconds after which an upload is removed."""

_ID = re.compile(r"[0-9a-f]{16}")
_LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def id(self) -> str:
        """The number of the run."""
        return self.path.name

    @property
    def upload(self) -> Path:
        """The file as it came."""
        return self.path / "upload"

    @property
    def checkpoint(self) -> Path:
        """How far the search is."""
        return self.path / "checkpoint"

    @property
    def network(self) -> Path:
        """The network that was learned or given."""
        return self.path / "net.json"

    @property
    def single(self) -> Path:
        """The network that a search by single links learns."""
        return self.path / "single.json"

    def has(self, name: str) -> bool:
        """Whether ``name.json`` is there."""
        return (self.path / f"{name}.json").is_file()

    def read(self, name: str) -> dict[str, Any]:
        """Return what ``name.json`` holds; nothing where it is not there."""
        try:
            found = json.loads((self.path / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, values: dict[str, Any]) -> None:
        """Write ``name.json``, whole or not at all; what the system refuses is an OSError."""
        try:
            write_text(self.path / f"{name}.json", json.dumps(values))
        except DataError as error:  # it names the path, which is nobody's business
            raise error.__context__ or error from None

    def remove(self) -> None:
        """Remove the run with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def removed_on_error(self) -> Iterator[None]:
        """Leave nothing of the run behind where it cannot be begun, as on a full disk."""
        try:
            yield
        except BaseException:
            self.remove()
            raise


class Store:
    """All runs.

    Parameters
    ----------
    folder
        Where they lie; made if it is not there, and closed to others.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        except OSError as error:
            raise SettingsError(
                f"Runs cannot be kept in {folder}: {error.strerror}. Name another folder with --folder."
            ) from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other servers out of the folder: two of them would both carry on with the same searches.

        The system lets go of the folder when the process ends, however it ends.

        Raises
        ------
        SettingsError
            If another server works in the folder.
        """
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:  # Windows
            yield
            return
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            flock(folder, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(folder)
            raise SettingsError(
                f"Another xordal serve works in {self._folder}. Open that one, or name another folder with "
                "--folder."
            ) from None
        try:
            yield
        finally:
            os.close(folder)

    def new(self, label: str, story: str = "") -> RunFolder:
        """Make the folder of a new run; ``label`` is what people call it, ``story`` what it is about."""
        folder = RunFolder(self._folder / secrets.token_hex(8))
        folder.path.mkdir(mode=0o700)
        with folder.removed_on_error():
            about = {"label": clean_label(label), "kind": "table", "created": time.time(), "story": story}
            folder.write("about", about)
        return folder

    def __iter__(self) -> Iterator[RunFolder]:
        """Yield the runs, oldest first; what is no run of ours is left alone."""
        found = [RunFolder(path) for path in self._folder.iterdir() if _ID.fullmatch(path.name)]
        yield from sorted(found, key=lambda run: float(run.read("about").get("created", 0.0)))

    def remove_old(self, now: float) -> list[str]:
        """Remove uploads of a day ago, and the runs that never got beyond theirs; return the latter."""
        gone = []
        for run in self:
            if now - float(run.read("about").get("created", 0.0)) < A_DAY:
                continue
            if run.has("result"):
                run.upload.unlink(missing_ok=True)
            elif run.has("failed") or not run.has("settings"):
                run.remove()
                gone.append(run.id)
        return gone


def clean_label(name: str) -> str:
    r"""Return what a file is called, without folders and control characters.

    Examples
    --------
    >>> clean_label("../../etc/passwd"), clean_label("C:\\data\\box.csv"), clean_label("\x1b[31m")
    ('passwd', 'box.csv', '[31m')
    """
    last = re.split(r"[/\\]", name)[-1]
    return "".join(c for c in last if c.isprintable()).strip()[:_LONGEST_LABEL] or "table"


def default_folder() -> Path:
    """Return where runs lie unless another folder is named: the user's own place for the state of programs."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "xordal" / "runs"
