"""The process that reads and learns, so that the server only ever answers: ``python -m xordal.web.worker``.

It is told what to do by lines of JSON on its standard input, and tells how it goes by lines of JSON on its
standard output. Its argument is a folder for what it writes to get ready. The first line names the task, the
folder of the run and how many bytes its upload may unpack to; ``"stop"`` ends a search, which keeps what it has
learned; a second one ends what follows the search too.
When the input closes, whoever started the process is gone, and so is the process: the checkpoint has what it
learned.
"""

from __future__ import annotations

import _thread
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable
    from xordal.search.driver import Progress
    from xordal.types.learned import Learned
    from xordal.types.trace import TraceEntry
    from xordal.web.settings import RunSettings
    from xordal.web.store import RunFolder

Tell = Callable[[dict[str, Any]], None]

_BETWEEN = 0.2  # seconds between two words on progress
_FEW = 40  # variables whose map is laid out anew at every step, which takes some milliseconds
_LAYOUT_SHARE = 0.1  # of the time that may go into laying out larger maps while a search runs
_PATIENCE = 1.0  # seconds after which a search that is to end is interrupted
_WAIT_FOR_LOCK = 10.0  # seconds until a process that the last server left behind has noticed and ended
_MEMORY_SHARE = 0.75  # of the machine's memory that one run may take


class Stop:
    """Whether the search is to end.

    A search looks whether it is to end when it tells of its progress, which some of its parts seldom do:
    after a second it is interrupted. The second time one is told to stop, whatever runs is interrupted.
    """

    def __init__(self) -> None:
        self.is_told = self.is_final = False
        self.is_searching = self.may_interrupt = False

    def tell(self) -> None:
        """End the search, or what follows it."""
        if self.is_told:
            self.is_final = True
            if self.may_interrupt:
                _interrupt()
            return
        self.is_told = True
        threading.Timer(_PATIENCE, self._interrupt_search).start()

    def _interrupt_search(self) -> None:
        if self.is_searching:
            _interrupt()

    def check(self, progress: object = None) -> None:
        """Raise :class:`~xordal.search.limits.Stopped` where the search is to end."""
        from xordal.search.limits import Stopped

        if self.is_told:
            self.is_searching = False
            raise Stopped("interruption")


def _interrupt() -> None:
    """Raise KeyboardInterrupt in the main thread, also while that waits for another."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def main() -> None:
    """Carry out one task."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints must not end up between the lines
    lock = threading.Lock()

    def tell(event: dict[str, Any]) -> None:
        with lock:
            channel.write(json.dumps(event) + "\n")
            channel.flush()

    from xordal.errors import speaking_of_options

    _warm_up(Path(sys.argv[1]))
    first = sys.stdin.readline()
    if not first:
        return
    stop = Stop()
    threading.Thread(target=_listen, args=(stop,), daemon=True).start()
    _bound_memory()
    job = json.loads(first)
    if job["task"] == "learn":
        os.nice(5)  # the server, and those who wait for a first look, come first
    with speaking_of_options():  # as the words for a page expect, which leave options out
        _carried_out(job, tell, stop)
    channel.close()
    os._exit(0)  # threads of Arrow, taken down with the interpreter, were seen to abort a process


def _warm_up(place: Path) -> None:
    """Go once through everything with a table of a few rows, so that it is loaded before there is a task.

    Who started the process removes the place where it was killed meanwhile.
    """
    from xordal.web.store import Store

    folder = Store(place).new("warm-up")
    folder.upload.write_text("a,b,c\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 10)
    _look(folder, "warm-up", lambda event: None)
    folder.write("settings", {})
    _learn(folder, "warm-up", lambda event: None, Stop())
    shutil.rmtree(place, ignore_errors=True)


def _listen(stop: Stop) -> None:
    for line in sys.stdin:
        if line.strip() == '"stop"':
            stop.tell()
    os._exit(1)  # the server is gone


def _bound_memory() -> None:
    """Let a table that needs more memory than the machine has end in an error, and not the machine."""
    try:
        import resource

        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(resource.RLIMIT_DATA, (int(whole * _MEMORY_SHARE), resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return


def _carried_out(job: dict[str, Any], tell: Tell, stop: Stop) -> None:
    from xordal.data.unpacking import unpack_file
    from xordal.errors import XordalError
    from xordal.web.store import RunFolder
    from xordal.web.words import FULL, cannot_be_kept, is_full

    folder = RunFolder(Path(job["folder"]))
    label = str(folder.read("about").get("label", "table"))
    try:
        if job["task"] == "learn":
            _learn(folder, label, tell, stop)
        else:
            unpack_file(folder.upload, label, job["most_unpacked"])
            _look(folder, label, tell)
        return
    except XordalError as error:
        message = FULL if is_full(error) else _worded(str(error), folder, label)
    except MemoryError:
        message = "The table needs more memory than there is. Leave out columns or rows."
    except OSError as error:
        message = cannot_be_kept(error)
    except Exception as error:
        message = f"xordal made a mistake ({type(error).__name__}: {error}). Nothing of yours is lost."
    with suppress(OSError):  # on a full disk it is told all the same
        folder.write("failed", {"message": message})
    tell({"event": "failed", "message": message})


def _look(folder: RunFolder, label: str, tell: Tell) -> None:
    """Look at an upload: a network is made ready to be asked, of a table the columns are told.

    A table may begin like a network; a broken network, read as a table, has at best one row of nonsense. So
    where a file that begins like a network gives no table either, what is wrong with the network is told.
    """
    from xordal.errors import DataError, ModelFileError
    from xordal.formats.network_files import is_network_file

    broken = None
    if is_network_file(folder.upload):
        try:
            _take_network(folder, label)
            tell({"event": "done"})
            return
        except ModelFileError as error:
            broken = error
    try:
        overview = _overview(folder, label)
    except DataError:
        if broken is None:
            raise
        raise broken from None
    if broken is not None and overview["n_rows"] < 2:
        raise broken
    folder.write("overview", overview)
    tell({"event": "looked"})


def _overview(folder: RunFolder, label: str) -> dict[str, Any]:
    """Return what the columns of a table look like, and what was guessed when it was read."""
    import warnings

    from xordal.data.excel import SheetChosen, sheet_names
    from xordal.data.read import upload_columns
    from xordal.data.select import check_names
    from xordal.errors import DataWarning
    from xordal.web.form import Form
    from xordal.web.overview import overview

    form = Form.from_json(folder.read("form"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        columns, _ = upload_columns(folder.upload, form.text())
    check_names(columns)
    guessed = [one.message for one in said if isinstance(one.message, DataWarning)]
    chosen = next((one.chosen for one in guessed if isinstance(one, SheetChosen)), form.sheet)
    sheets = [] if chosen is None else sheet_names(folder.upload.read_bytes())
    notes = [_worded(str(one), folder, label) for one in guessed if not isinstance(one, SheetChosen)]
    return {**overview(columns), "notes": notes, "sheets": sheets, "sheet": chosen}


def _worded(message: str, folder: RunFolder, label: str) -> str:
    """Return what the library says as the page says it: the file by its name, and no options."""
    from xordal.web.words import for_page

    return for_page(message.replace(str(folder.upload), label))


def _take_network(folder: RunFolder, label: str) -> None:
    """Make an upload that is a network ready to be asked."""
    from xordal.formats.network_files import load, read_network, write_network
    from xordal.web.results import result_of, single_link_network

    write_network(read_network(folder.upload), folder.network, "json")
    asked = load(folder.network)
    if (single := single_link_network(asked)) is not None:
        single.save(folder.single)
    folder.write("about", {**folder.read("about"), "kind": "network"})
    folder.write("result", result_of(asked, Path(label).stem))


def _learn(folder: RunFolder, label: str, tell: Tell, stop: Stop) -> None:
    """Learn from the table; what is told on the way is a picture that grows."""
    from xordal.data.read import read_upload
    from xordal.errors import DataError
    from xordal.learning.fitting import fit_network
    from xordal.web.form import Form
    from xordal.web.settings import RunSettings

    settings, form = RunSettings.from_json(folder.read("settings")), Form.from_json(folder.read("form"))
    notes: list[dict[str, Any]] = []  # such as how many rows were left out: it holds for what comes out, too

    def say(line: str) -> None:
        notes.append(_note(line))
        tell(notes[-1])

    table = read_upload(folder.upload, settings.reading(form.text()), say)
    if table.n_variables < 2 or table.n_rows < 2:
        raise DataError("A network needs at least two columns and two rows.")
    learned = _searched(folder, table, settings, tell, stop)
    tell({"event": "progress", "words": "putting the results together", "share": None, "left": None})
    network = fit_network(table, learned)
    _single(table, learned).save(folder.single)
    network.save(folder.network)
    from xordal.web.results import result_of

    result = result_of(network, Path(label).stem)
    folder.write("result", {**result, "notes": [*(note["words"] for note in notes), *result["notes"]]})
    folder.checkpoint.unlink(missing_ok=True)
    tell({"event": "done"})


def _searched(
    folder: RunFolder, table: CategoricalTable, settings: RunSettings, tell: Tell, stop: Stop
) -> Learned:
    from xordal.learning.learn import Interrupted, learn
    from xordal.scanning.cost import is_cost
    from xordal.search.checkpoint import Checkpoint

    _wait_for(folder.checkpoint)
    picture = _Picture(table, settings, tell, stop)
    search = {**settings.search(), "checkpoint": Checkpoint(folder.checkpoint, resume=True)}
    stop.is_searching = stop.may_interrupt = True
    try:
        return learn(
            table,
            **search,
            on_entry=picture.entry,
            on_progress=picture.progress,
            # What scans will cost is measured before they begin; the picture tells the time left as they go.
            notice=lambda line: None if is_cost(line) else tell(_note(line, is_passing=_is_passing(line))),
        )
    except Interrupted as interrupted:
        stop.is_searching = False
        if stop.is_final or not stop.is_told or interrupted.learned.run.is_complete:
            return interrupted.learned
        # In the middle of a search: the checkpoint has its steps, and hidden groups are looked for in those.
        return _stopped(table, search, stop)
    finally:
        stop.is_searching = stop.may_interrupt = False


def _stopped(table: CategoricalTable, search: dict[str, Any], stop: Stop) -> Learned:
    """Return what a search that was told to stop has learned, with the hidden groups in it."""
    from xordal.learning.learn import Interrupted, learn

    try:
        return learn(table, **search, on_progress=stop.check)
    except Interrupted as interrupted:
        return interrupted.learned


def _single(table: CategoricalTable, learned: Learned) -> Any:
    """Return the network that a search by single links would have learned from the table."""
    from dataclasses import replace

    from xordal.learning.fitting import fit_network
    from xordal.types.trace import SearchRun, single_link_part

    nothing = SearchRun((), 0, 0, 0)
    alone = replace(learned, links=single_link_part(learned.trace), run=nothing, submodels=None)
    return replace(fit_network(table, alone), learned=None)


def _wait_for(checkpoint: Path) -> None:
    """Wait until a process that the last server left behind has let go of the checkpoint."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return
    until = time.monotonic() + _WAIT_FOR_LOCK
    while checkpoint.exists() and time.monotonic() < until:
        try:
            with checkpoint.open("rb") as file:
                flock(file, LOCK_EX | LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.1)


def _is_passing(line: str) -> bool:
    """Whether a note tells what is being done at the moment."""
    return "compil" in line or "seconds have passed" in line


def _note(line: str, *, is_passing: bool = False) -> dict[str, Any]:
    """Return a word on how it goes; one that passes holds until there is other news."""
    from xordal.web.words import for_page

    words = for_page(line)
    return {"event": "passing" if is_passing else "note", "words": words[:1].upper() + words[1:]}


class _Picture:
    """The network as it grows: steps, where its variables go, and how far the search is."""

    def __init__(self, table: CategoricalTable, settings: RunSettings, tell: Tell, stop: Stop) -> None:
        from xordal.formats.shown import shown
        from xordal.scanning.cost import sets_to_scan

        self._tell, self._stop = tell, stop
        self._variables = table.names
        self._names = [shown(name) for name in table.names]
        plan = settings.plan()
        sets = sets_to_scan(table.n_variables, plan.schedule.max_links, plan.max_variables)
        self._n_sets = max(sum(sets.values()), 1)
        self._links: set[tuple[int, int]] = set()
        self._told = time.monotonic()
        self._laid_out, self._layout_took = 0.0, 0.0
        tell({"event": "begin", "names": self._names, "n_rows": table.n_rows})
        self._lay_out()

    def entry(self, entry: TraceEntry) -> None:
        """Tell of a step."""
        from xordal.formats.text import p_text, step_text

        if entry.action == "remove":
            self._links.difference_update(entry.links)
        else:
            self._links.update(entry.links)
        step = {
            "event": "step",
            "action": entry.action,
            "links": [list(link) for link in entry.links],
            "words": step_text(self._variables, entry),
            "at_once": len(entry.links),
            "p": None if entry.log_p_value is None else p_text(entry.log_p_value),
        }
        if len(self._names) <= _FEW:
            self._tell({**step, **self._layout()})
            return
        self._tell(step)
        if time.monotonic() - self._laid_out > self._layout_took / _LAYOUT_SHARE:
            self._lay_out()

    def _lay_out(self) -> None:
        began = time.monotonic()
        layout = self._layout()
        self._laid_out = time.monotonic()
        self._layout_took = self._laid_out - began
        self._tell({"event": "places", **layout})

    def _layout(self) -> dict[str, Any]:
        from xordal.report.map import placed

        places, size = placed(self._names, sorted(self._links))
        return {
            "places": [[round(x, 1), round(y, 1)] for x, y in places],
            "size": [round(side) for side in size],
        }

    def progress(self, at: Progress) -> None:
        """Tell how far the search is, a few times a second, and end it where it is to end."""
        self._stop.check()
        now = time.monotonic()
        if now - self._told < _BETWEEN:
            return
        self._told = now
        share = at.sets_scanned / self._n_sets if at.sets_scanned < self._n_sets else None
        ahead = "pairs" if at.lookahead == 1 else f"{at.lookahead} links at a time"
        seen = f"; {at.sets_scanned:,} sets of columns looked at" if at.sets_scanned else ""
        words = f"trying {ahead}{seen}"
        self._tell(
            {"event": "progress", "words": words, "share": share, "left": at.seconds_left, "is_searching": True}
        )


if __name__ == "__main__":
    main()
