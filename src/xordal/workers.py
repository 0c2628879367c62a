"""Processes to learn in: fresh ones that leave Ctrl-C to the one that started them, or this one alone."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from numbers import Integral
from typing import Any

from xordal.errors import SettingsError

_stop: Event | None = None  # in a worker: set when nobody waits for it any more


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Yield what runs tasks: this process for one worker, else as many fresh processes.

    When the block is left early, by Ctrl-C for example, tasks that wait are dropped and those that run and call
    :func:`stop_if_told` end soon.
    """
    if workers == 1:
        yield _Here()
        return
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(stop,))
    try:
        yield pool
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def stop_if_told(progress: object = None) -> None:
    """Raise KeyboardInterrupt in a worker that nobody waits for; as ``on_progress`` of a search it ends it."""
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt


def check_whole_numbers(*given: tuple[str, Any, int]) -> None:
    """Refuse parameters, given as name, value and least value, that are no whole numbers or too small."""
    for name, value, least in given:
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}.")


class _Here(Executor):
    """Runs each task at once, in this process; what it raises goes to the caller, Ctrl-C too."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        return map(fn, *iterables)


def _start(stop: Event) -> None:
    global _stop  # noqa: PLW0603 - the one thing a worker knows beside its tasks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop = stop
