"""Ordinary threads for kernels that release the interpreter's lock; results come in the order of the tasks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from xordal.errors import SettingsError

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt within the call of a kernel, too: Numba makes a SystemError of it."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def n_threads(asked: int | None) -> int:
    """Return how many threads to use: as asked, or all cores this process may use."""
    if asked is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not on Linux
            return os.cpu_count() or 1
    if asked < 1:
        raise SettingsError(f"The number of threads must be at least 1, not {asked}.")
    return asked


def in_threads(
    threads: int,
    run: Callable[[Task], Answer],
    tasks: Iterable[Task],
    give_up: Callable[[], None] = lambda: None,
) -> Iterator[Answer]:
    """Yield the answers in order; at most two tasks per thread are under way, so waiting answers stay few.

    ``give_up`` is called when no more answers are wanted, before tasks under way are waited for: it may tell
    them to end early.
    """
    waiting = iter(tasks)
    first = list(islice(waiting, 2))
    if threads == 1 or len(first) < 2:
        for task in first:
            yield run(task)
        for task in waiting:
            yield run(task)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        under_way: deque[Future[Answer]] = deque(pool.submit(run, task) for task in first)
        under_way.extend(pool.submit(run, task) for task in islice(waiting, 2 * threads - 2))
        while under_way:
            yield under_way.popleft().result()
            under_way.extend(pool.submit(run, task) for task in islice(waiting, 1))
    finally:
        give_up()
        pool.shutdown(cancel_futures=True)
