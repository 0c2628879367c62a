"""Ordinary threads for kernels that release the interpreter's lock; results come in the order of the tasks.

Threads are started once and kept: starting them takes as long as a small scan.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import TypeVar

from xordal.errors import SettingsError

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_PATIENCE = 0.1  # seconds of waiting between two looks at the clock


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt within the call of a kernel, too: Numba makes a SystemError of it.

    While kernels are loaded from disk it does so several times over, each the cause of the next.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
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


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads of this process; tasks never wait for other tasks, so that all callers can share them."""
    return ThreadPoolExecutor(threads, thread_name_prefix="xordal")


if hasattr(os, "register_at_fork"):  # threads do not come along
    os.register_at_fork(after_in_child=_pool.cache_clear)


def in_threads(
    threads: int,
    run: Callable[[Task], Answer],
    tasks: Iterable[Task],
    give_up: Callable[[], None] = lambda: None,
    *,
    helps: bool = False,
    check: Callable[[], None] | None = None,
) -> Generator[Answer, None, None]:
    """Yield the answers in order; at most two tasks per thread are under way, so waiting answers stay few.

    ``give_up`` is called when no more answers are wanted, before tasks under way are waited for: it may tell
    them to end early. Where the caller ``helps``, it is one of the threads: rather than wait for an answer it
    works on a task that nobody has begun. That is for short tasks, since an answer may then wait for a task.
    ``check`` is called between answers and several times a second while one is waited for, in the thread of the
    caller, and may end it all by raising: there, tasks may be long.
    """
    waiting = iter(tasks)
    first = list(islice(waiting, 2))
    is_waiting = check is not None and not helps  # with one thread, too: the caller has the clock to look at
    if len(first) < 2 or (threads == 1 and not is_waiting):
        for task in chain(first, waiting):
            if check is not None:
                check()
            yield run(task)
        return
    pool = _pool(threads - helps)
    under_way: deque[tuple[Future[Answer], Task]] = deque()

    def take(more: Iterable[Task]) -> None:
        under_way.extend((pool.submit(run, task), task) for task in more)

    try:
        take(first)
        take(islice(waiting, 2 * threads - 2))
        while under_way:
            if helps:
                _help(under_way, run)
            if check is not None:
                _wait_for(under_way[0][0], check)
            yield under_way[0][0].result()
            under_way.popleft()
            take(islice(waiting, 1))
    finally:
        give_up()
        wait([answer for answer, _ in under_way if not answer.cancel()])


def _wait_for(answer: Future[Answer], check: Callable[[], None]) -> None:
    """Look at the clock until an answer is there."""
    check()
    while not wait([answer], timeout=_PATIENCE).done:
        check()


def _help(under_way: deque[tuple[Future[Answer], Task]], run: Callable[[Task], Answer]) -> None:
    """Work on tasks that nobody has begun until the first answer is there."""
    for place, (answer, task) in enumerate(under_way):
        if under_way[0][0].done():
            return
        if answer.cancel():
            own: Future[Answer] = Future()
            under_way[place] = own, task
            try:
                with interruptible():  # Ctrl-C goes to the caller at once
                    own.set_result(run(task))
            except Exception as error:
                own.set_exception(error)
