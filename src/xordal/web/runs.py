"""Runs that are under way: a process each, what it told so far, and who wants to hear of it.

The server keeps no data in memory but this. A run that was under way when the server ended is found by its
files, and goes on from its checkpoint.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from operator import itemgetter
from typing import Any, Literal

from xordal.errors import SettingsError
from xordal.web.form import Form
from xordal.web.settings import RunSettings
from xordal.web.store import RunFolder, Store

Status = Literal["looking", "looked", "waiting", "learning", "done", "failed"]

MOST_AT_ONCE = 5
"""Searches that run at the same time; more of them wait their turn."""

MOST_RUNS = 100
"""Runs that are kept; then one has to be closed before another begins."""

_LONGEST_LINE = 2**24  # of what a process tells
_PING = 15.0  # seconds after which a silent stream says that it is there


class Run:
    """One run: its folder, what is known of it, and its process where it has one."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.about = folder.read("about")
        self.status: Status = _status_of(folder)
        self.failure: str | None = folder.read("failed").get("message")
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.progress: tuple[int, dict[str, Any]] | None = None
        self.process: Process | None = None
        self.task: asyncio.Task[None] | None = None
        self.is_closed = self.is_removed = False
        self.is_stopped = False
        self._life = secrets.token_hex(4)  # events are numbered anew when the server starts again
        self._n_told = 0
        self._changed = asyncio.Event()

    def to_json(self) -> dict[str, Any]:
        """Return what a list of runs shows."""
        return {
            "id": self.folder.id,
            "label": self.about.get("label", "table"),
            "kind": self.about.get("kind", "table"),
            "created": self.about.get("created", 0.0),
            "status": self.status,
            "has_upload": self.folder.upload.is_file(),
        }

    def set_status(self, status: Status) -> None:
        """Change the status, and tell."""
        self.status = status
        self.tell({"event": "status", "status": status})

    def tell(self, event: dict[str, Any]) -> None:
        """Keep an event and wake up everybody who waits for one.

        Of progress and of places only the latest are kept; a beginning makes what came before it void.
        """
        self._n_told += 1
        kind = event["event"]
        void = {
            "begin": {"step", "note", "passing", "stopping", "places", "failed"},
            "passing": {"passing"},
            "places": {"places"},
            "status": {"status"},
        }
        if kind == "progress":
            self.progress = (self._n_told, event)
        else:
            kept = [one for one in self.events if one[1]["event"] not in void.get(kind, ())]
            self.events = [*kept, (self._n_told, event)]
        self.wake()

    def wake(self) -> None:
        """Wake up everybody who waits for something new."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def listen(
        self, last: str = "", *, now: bool = False
    ) -> AsyncIterator[tuple[str, dict[str, Any]] | None]:
        """Yield all events after the last that still matter, then each as it comes, with its identifier.

        None comes every few seconds of silence. ``now`` ends with the events that there are.
        """
        life, _, number = last.partition("-")
        n_heard = int(number) if life == self._life and number.isdecimal() else 0
        if not self.events:
            yield f"{self._life}-{n_heard}", {"event": "status", "status": self.status}
        while not self.is_closed:
            changed = self._changed
            told = self.events if self.progress is None else [*self.events, self.progress]
            for place, event in sorted(told, key=itemgetter(0)):
                if place > n_heard:
                    n_heard = place
                    yield f"{self._life}-{n_heard}", event
            if now:
                return
            try:
                await asyncio.wait_for(changed.wait(), _PING)
            except TimeoutError:
                yield None
        if self.is_removed:  # a server that ends says nothing: whoever watches asks again until it is back
            yield f"{self._life}-{n_heard}", {"event": "closed"}

    def end(self, *, is_removed: bool) -> None:
        """Let everybody who listens go."""
        self.is_closed, self.is_removed = True, is_removed
        self.wake()


class Runs:
    """All runs of a server.

    Parameters
    ----------
    store
        Where they lie.
    most_unpacked
        Bytes that an upload may unpack to.
    """

    def __init__(self, store: Store, most_unpacked: int) -> None:
        self._store, self._most_unpacked = store, most_unpacked
        self.all: dict[str, Run] = {}
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._looks = asyncio.Semaphore(MOST_AT_ONCE)
        self._spare: Process | None = None
        self._warm_ups: dict[Process, str] = {}
        self._ends: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Find the runs on disk; those that were under way go on."""
        self._store.remove_old(time.time())
        for folder in self._store:
            run = self.all[folder.id] = Run(folder)
            if run.status == "waiting":
                self._begin(run, "learn")
            elif run.status == "looking" and folder.upload.is_file():
                self._begin(run, "look")
            elif run.status == "looking":
                self._fail(run, "The upload broke off when the server ended. Drop the file once more.")
        await self._keep_spare()

    async def shut(self) -> None:
        """End all processes; what they learned is in their checkpoints."""
        waiting = [run.task for run in self.all.values() if run.task is not None]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        if self._spare is not None:
            self._end(self._spare)
        await asyncio.gather(*self._ends)
        for run in self.all.values():
            run.end(is_removed=False)

    def remove_old(self) -> None:
        """Remove what is older than a day."""
        for gone in self._store.remove_old(time.time()):
            run = self.all.pop(gone, None)
            if run is not None:
                run.end(is_removed=True)

    def new(self, label: str, story: str = "") -> RunFolder:
        """Make a folder for a new run; :meth:`look` takes it in once its upload is there."""
        if len(self.all) >= MOST_RUNS:
            raise SettingsError(f"There are {MOST_RUNS} runs. Remove one that is no longer needed.")
        return self._store.new(label, story)

    def look(self, folder: RunFolder) -> Run:
        """Take in a run whose upload is there, and look at it."""
        run = self.all[folder.id] = Run(folder)
        self._begin(run, "look")
        return run

    def look_again(self, run: Run, form: Form) -> None:
        """Read the table of a run once more, in another way; nothing is learned from it yet."""
        if run.status not in ("looked", "failed") or not run.folder.upload.is_file():
            raise SettingsError("This run has begun already; begin a new one from the same table.")
        for name in ("overview", "failed", "settings", "former"):  # columns may be others now
            (run.folder.path / f"{name}.json").unlink(missing_ok=True)
        run.folder.write("form", form.to_json())
        run.events, run.progress, run.failure = [], None, None
        self._begin(run, "look")

    def learn(self, run: Run, settings: dict[str, Any]) -> None:
        """Begin to learn with these settings."""
        if run.status not in ("looked", "failed") or not run.folder.has("overview"):
            raise SettingsError("This run has begun already; begin a new one from the same table.")
        RunSettings.from_json(settings)
        run.failure = None
        (run.folder.path / "failed.json").unlink(missing_ok=True)
        run.folder.checkpoint.unlink(missing_ok=True)
        run.folder.write("settings", settings)
        run.events, run.progress, run.is_stopped = [], None, False
        self._begin(run, "learn")

    def again(self, run: Run) -> Run:
        """Return a new run of the same table, with nothing learned yet."""
        if not run.folder.upload.is_file() or not run.folder.has("overview"):
            raise SettingsError("The table is no longer here; drop it again.")
        folder = self.new(str(run.about.get("label", "table")), str(run.about.get("story", "")))
        with folder.removed_on_error():
            folder.upload.hardlink_to(run.folder.upload)
            folder.write("overview", run.folder.read("overview"))
            folder.write("form", run.folder.read("form"))
            folder.write("former", run.folder.read("settings"))
        copy = self.all[folder.id] = Run(folder)
        return copy

    async def stop(self, run: Run) -> None:
        """End a search; it keeps what it has learned. What waits its turn goes back to its settings."""
        run.is_stopped = True
        if run.process is not None and run.process.stdin is not None and run.status == "learning":
            with suppress(ConnectionError):  # it may have ended by itself just now
                run.process.stdin.write(b'"stop"\n')
                await run.process.stdin.drain()
            run.tell({"event": "stopping"})
        elif run.status == "waiting" and run.task is not None:
            run.task.cancel()
            (run.folder.path / "settings.json").replace(run.folder.path / "former.json")
            run.set_status("looked")

    async def close(self, run: Run) -> None:
        """End a run and remove all that belongs to it."""
        self.all.pop(run.folder.id, None)
        run.end(is_removed=True)
        if run.task is not None:
            run.task.cancel()
            await asyncio.gather(run.task, return_exceptions=True)
        run.folder.remove()

    def _begin(self, run: Run, task: Literal["look", "learn"]) -> None:
        run.set_status("waiting" if task == "learn" else "looking")
        run.task = asyncio.create_task(self._carry_out(run, task))

    async def _carry_out(self, run: Run, task: Literal["look", "learn"]) -> None:
        async with self._turns if task == "learn" else self._looks:
            process = None
            try:
                process = run.process = await self._process()
                if task == "learn":
                    run.set_status("learning")
                job = {"task": task, "folder": str(run.folder.path), "most_unpacked": self._most_unpacked}
                await _order(process, job)
                await self._keep_spare()
                await self._follow(run, process)
            except (
                Exception
            ) as error:  # a line that is too long, no memory for a process: the run must not hang
                self._fail(run, f"xordal made a mistake ({type(error).__name__}: {error}). Try again.")
            finally:
                run.process = None
                if process is not None:
                    await asyncio.shield(self._end(process))

    def _fail(self, run: Run, message: str) -> None:
        """Write down and tell what went wrong, and that the run is over."""
        run.failure = message
        with suppress(OSError):  # on a full disk the run is over all the same
            run.folder.write("failed", {"message": message})
        run.tell({"event": "failed", "message": message})
        run.set_status("failed")

    async def _follow(self, run: Run, process: Process) -> None:
        """Pass on what a process tells, to its end."""
        assert process.stdout is not None
        ended = False
        async for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "failed":
                self._fail(run, event["message"])
                return
            if event["event"] in ("done", "looked"):
                ended = True
            else:
                run.tell(event)
        await process.wait()
        if not ended:
            self._fail(
                run,
                f"The process that worked on this table ended (code {process.returncode}), maybe because there "
                "was not enough memory. Leave out columns or rows, and try again.",
            )
            return
        run.about = run.folder.read("about")
        run.set_status(_status_of(run.folder))

    def _end(self, process: Process) -> asyncio.Task[None]:
        """End a process; who is cancelled while waiting for it leaves that to :meth:`shut`."""

        async def without_trace() -> None:
            await _ended(process)
            shutil.rmtree(self._warm_ups.pop(process), ignore_errors=True)

        end = asyncio.create_task(without_trace())
        self._ends.add(end)
        end.add_done_callback(self._ends.discard)
        return end

    async def _process(self) -> Process:
        spare, self._spare = self._spare, None
        if spare is not None and spare.returncode is None:
            return spare
        if spare is not None:
            self._end(spare)
        return await self._started()

    async def _keep_spare(self) -> None:
        """Have a process ready that has imported everything, so that the next one need not wait."""
        if self._spare is None:
            made = await self._started()
            if self._spare is None:
                self._spare = made
            else:  # another run made one meanwhile
                self._end(made)

    async def _started(self) -> Process:
        """Start a process; what it writes to get ready goes with it, for it may be killed while it does."""
        folder = tempfile.mkdtemp(prefix="xordal-")
        # A session of its own: Ctrl-C in the terminal is for the server alone, which ends its workers with
        # their checkpoints in place. A worker that was interrupted would take what it has for the result.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "xordal.web.worker",
            folder,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=_LONGEST_LINE,
            start_new_session=True,
        )
        self._warm_ups[process] = folder
        return process


def _status_of(folder: RunFolder) -> Status:
    """Return how far a run is, by its files."""
    if folder.has("result"):
        return "done"
    if folder.has("failed"):
        return "failed"
    if folder.has("settings"):
        return "waiting"
    return "looked" if folder.has("overview") else "looking"


async def _order(process: Process, job: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(job).encode() + b"\n")
    await process.stdin.drain()


async def _ended(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    assert process.stdout is not None
    # asyncio waits for the pipe too, which closes once read to its end; what the process started may hold it.
    with suppress(TimeoutError):
        await asyncio.wait_for(process.stdout.read(), 1)
        await asyncio.wait_for(process.wait(), 1)
