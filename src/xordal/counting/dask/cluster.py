"""Tasks sent to the workers of a client, and their answers, whatever happens to workers."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import finalize

from xordal.counting.dask.tasks import Flat, Place, add_up, sees
from xordal.data.large.cache import folder_aside
from xordal.data.large.pack import write_table
from xordal.data.large.store import Blocks, mark_of
from xordal.data.table import CategoricalTable
from xordal.errors import DataError

_TREE = 8  # counts that are added up by one task
_ATTEMPTS = 3  # at a task that Dask gives up after four deaths
_USUAL_MEMORY = 1 << 30  # of a worker that does not tell
_CARRIED = 1 << 28  # bytes of a table that is sent to workers which do not see its folder


class Cluster:
    """A client, and what its workers can see."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._written: Blocks | None = None

    def workers(self) -> list[str]:
        """Return the addresses of the workers, in order; wait for the first where there is none."""
        while not (found := sorted(self._known_workers())):  # those that were waited for may be gone again
            try:
                with _scheduler():
                    self._client.wait_for_workers(1, timeout=60)
            except TimeoutError:
                raise DataError("The Dask cluster has no workers, and none came in a minute.") from None
        return found

    def _known_workers(self) -> dict[str, dict[str, Any]]:
        """Return what the scheduler says of each worker.

        ``scheduler_info`` of the client returns what was heard last: every two seconds that is how many workers
        there are, without one of them.
        """
        with _scheduler():
            found = self._client.sync(self._client.scheduler.identity, n_workers=-1)
            return dict(found["workers"])

    def memory(self) -> int:
        """Return how much memory the smallest worker may use, in bytes."""
        limits = (int(one.get("memory_limit") or _USUAL_MEMORY) for one in self._known_workers().values())
        return min(limits, default=_USUAL_MEMORY)

    def share(self, table: CategoricalTable) -> Place:
        """Return where workers find a table: its own folder, one it is written to, or one it is sent to."""
        blocks = table.blocks
        if blocks is None or not sees(str(blocks.folder)) or mark_of(blocks.folder) != blocks.mark:
            blocks = _written(table)
            self._written = blocks  # the folder is there as long as this is
        place = Place.of(blocks)
        if not all(self.run(sees, place.folder).values()):
            self._send(place)
        return place

    def _send(self, place: Place) -> None:
        files = (
            {path.name: path.read_bytes() for path in Path(place.folder).iterdir()} if _is_small(place) else {}
        )
        if not files:
            raise DataError(
                f"The workers do not see the folder {place.folder!r} with the packed table. Let XORDAL_CACHE "
                "name a folder that this machine and all workers share."
            )
        self._client.register_plugin(_carrier(place.name, files))

    def answers(self, tasks: Iterable[tuple[Any, ...]], ahead: int | None = None) -> Iterator[Any]:
        """Yield the answers of tasks, each a function and its arguments, in order.

        No more than ``ahead`` tasks for each worker are under way, or wait with their answers to be taken; all
        of them where None. A task that Dask gives up because workers died is asked for anew.
        """
        workers = self.workers()
        left = iter(tasks)
        sent: deque[tuple[Any, tuple[Any, ...]]] = deque()

        def send(n: int | None) -> None:
            for at, task in enumerate(islice(left, n)):
                sent.append((self._submit(task, workers[at % len(workers)] if n != 1 else None), task))

        send(None if ahead is None else ahead * len(workers))
        try:
            while sent:
                yield self._answer(sent)
                send(1)
        finally:
            self._cancel([future for future, _ in sent])

    def run(self, ask: Callable[..., Any], *about: Any) -> dict[str, Any]:
        """Return the answer of each worker to a question, at once."""
        self.workers()
        with _scheduler():
            found: dict[str, Any] = self._client.run(ask, *about)
            return found

    def _cancel(self, futures: Sequence[Any]) -> None:
        """Take tasks back; a client that is closed by now (its loop is, too) has done so itself."""
        with suppress(RuntimeError, *_gone()):
            self._client.cancel(list(futures))

    def _submit(self, task: tuple[Any, ...], worker: str | None = None) -> Any:
        """Send a task, to a worker if it is free: it has probably mapped those files before."""
        near: dict[str, Any] = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with _scheduler():
            return self._client.submit(*task, pure=False, **near)

    def _answer(self, sent: deque[tuple[Any, tuple[Any, ...]]]) -> Any:
        """Return the answer of the first task that was sent, and take it from the others."""
        for _ in range(_ATTEMPTS):
            future, task = sent[0]
            with _deaths() as died:
                found = future.result()
                sent.popleft()
                return found
            if died:
                sent[0] = self._submit(task), task
        raise _too_many()

    def sum(self, tasks: Sequence[tuple[Any, ...]]) -> Flat:
        """Return the sum of the counts that tasks return, added up in a tree by the workers."""
        for _ in range(_ATTEMPTS):
            workers = self.workers()
            futures = [self._submit(task, workers[at % len(workers)]) for at, task in enumerate(tasks)]
            every = list(futures)
            try:
                with _deaths():
                    while len(futures) > 1:
                        groups = [futures[at : at + _TREE] for at in range(0, len(futures), _TREE)]
                        futures = [self._client.submit(add_up, group, pure=False) for group in groups]
                        every += futures
                    found: Flat = futures[0].result()
                    return found
            finally:
                self._cancel(every)
        raise _too_many()


@contextmanager
def _deaths() -> Iterator[list[bool]]:
    """Let pass that Dask gave a task up because workers died; yield a list that tells whether it did."""
    from distributed import KilledWorker

    died: list[bool] = []
    try:
        with _scheduler():
            yield died
    except KilledWorker:
        died.append(True)
    except OSError as error:
        raise DataError(f"A worker cannot read what it is to count ({error}).") from None


@contextmanager
def _scheduler() -> Iterator[None]:
    """Say that the scheduler has gone where it has: its tasks are cancelled, and nobody answers."""
    try:
        yield
    except _gone() as error:
        raise DataError(
            f"The Dask scheduler has gone, or has lost this client ({type(error).__name__}). See whether the "
            "cluster still runs, and start again."
        ) from None


def _gone() -> tuple[type[BaseException], ...]:
    """Return what is raised where a scheduler no longer answers."""
    from asyncio import CancelledError
    from concurrent.futures import CancelledError as FutureCancelled

    from distributed import client
    from distributed.comm import CommClosedError
    from distributed.core import RPCClosed

    closed = getattr(client, "ClosedClientError", CommClosedError)  # not in every version
    return CancelledError, FutureCancelled, CommClosedError, RPCClosed, closed


def _too_many() -> DataError:
    return DataError(
        "Workers of the Dask cluster died again and again on the same task. Give them more memory, or look "
        "into their logs for what ends them."
    )


def _written(table: CategoricalTable) -> Blocks:
    """Write a table into a folder of the cache that is removed when nobody counts it any more."""
    with folder_aside() as folder:
        blocks = write_table(table, folder)
    finalize(blocks.planes if blocks.planes.size else blocks.codes, shutil.rmtree, folder, ignore_errors=True)
    return blocks


def _is_small(place: Place) -> bool:
    return sum(path.stat().st_size for path in Path(place.folder).iterdir()) <= _CARRIED


def _carrier(name: str, files: dict[str, bytes]) -> Any:
    """Return what writes a table into a folder of each worker, when it starts and when it starts again."""
    from distributed import WorkerPlugin

    class Carrier(WorkerPlugin):  # type: ignore[misc]
        """Carries a table to workers."""

        def __init__(self) -> None:
            self.name = name

        def setup(self, worker: Any) -> None:
            folder = Path(worker.local_directory) / name
            folder.mkdir(exist_ok=True)
            for file, data in files.items():
                (folder / file).write_bytes(data)

    return Carrier()
