"""Paths of penalties, one for each number of links, tried on all splits in as many processes as wanted.

A path goes from the largest penalty down, and ends when two in a row that learn other networks have not raised
its best mean log-likelihood: networks then grow for nothing, and cost the most. What a path tries depends on
nothing but itself, so any number of workers finds the same.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import Any

from xordal.search.limits import Limits
from xordal.tuning.holding_out import Split
from xordal.tuning.trials import Grid, SplitResult, Trial, best_of, search, trials_of
from xordal.workers import processes

PATIENCE = 2
"""Penalties in a row that may fail to improve before a path ends."""

_LAST_SHARE = 1 / 3  # of a time limit: kept for the search with the chosen settings


@dataclass(frozen=True, slots=True)
class TuningProgress:
    """How far a tuning is: searches done, the most there will be, and the best settings so far."""

    n_done: int
    n_most: int
    best: Trial | None


class Clock:
    """Shares a time limit between the searches, and the cores between the workers."""

    def __init__(self, limits: Limits, workers: int) -> None:
        self._limits = limits
        self._end = inf if limits.time_limit is None else monotonic() + limits.time_limit
        self._kept = _LAST_SHARE * (limits.time_limit or 0.0)
        self._workers = workers

    @property
    def has_time(self) -> bool:
        """Whether another setting can be tried."""
        return monotonic() < self._end - self._kept

    @property
    def may_run_out(self) -> bool:
        """Whether there is a limit at all."""
        return self._end < inf

    def for_a_trial(self) -> Limits:
        """Return the limits of one search of many."""
        threads = self._limits.threads
        if threads is None and self._workers > 1:
            threads = max(1, (os.cpu_count() or 1) // self._workers)
        return replace(self._limits, time_limit=self._left(self._kept), threads=threads)

    def for_the_last(self) -> Limits:
        """Return the limits of the search with the chosen settings."""
        return replace(self._limits, time_limit=self._left(0.0))

    def _left(self, kept: float) -> float | None:
        return None if self._end == inf else max(self._end - kept - monotonic(), 1e-3)


@dataclass(slots=True)
class Path:
    """One number of links: the penalties tried so far, and those still to come."""

    max_links: int
    left: list[float]
    trials: list[Trial] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, trials: list[Trial]) -> None:
        """Take in what one penalty gave; end the path when it no longer improves.

        What gives the same as the penalty before, mostly the same networks, says nothing either way.
        """
        before = max((trial.log_likelihood for trial in self.trials), default=-inf)
        found = [trial.log_likelihood for trial in trials]
        if max(found) > before:
            self.failures = 0
        elif found != self.last:
            self.failures += 1
        self.last = found
        self.trials += trials
        if self.failures == PATIENCE:
            self.left.clear()


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One search to be made: a path, its penalty, and the number of the split."""

    path: Path
    penalty: float
    split: int


class Tuning:
    """All paths, the searches that wait and those under way."""

    def __init__(
        self,
        splits: list[Split],
        grid: Grid,
        clock: Clock,
        settings: dict[str, Any],
        on_progress: Callable[[TuningProgress], None],
    ) -> None:
        self._splits, self._grid, self._clock, self._settings = splits, grid, clock, settings
        self._on_progress = on_progress
        self._paths = [Path(k, list(grid.penalties)) for k in grid.links]
        self._waiting: deque[Task] = deque()
        self._running: dict[Future[SplitResult | None], Task] = {}
        self._found: dict[tuple[int, float], dict[int, SplitResult]] = {}
        self._n_done = 0
        self.is_cut = False

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What was tried so far, by links."""
        return tuple(trial for path in self._paths for trial in path.trials)

    @property
    def best(self) -> Trial | None:
        """The best settings so far."""
        return best_of(self.trials, self._grid.smoothings) if self.trials else None

    def run(self, workers: int) -> None:
        """Try all settings, or as many as there is time for."""
        # The longest first, so that none is waited for at the end; the shortest where time may run out.
        for path in self._paths if self._clock.may_run_out else reversed(self._paths):
            self._prepare(path)
        with processes(workers) as pool:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < workers:
                    self._start(pool, self._waiting.popleft())
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(self._running.pop(future), future.result())

    def _prepare(self, path: Path) -> None:
        """Let the searches of a path's next penalty wait for a worker."""
        if path.left:
            penalty = path.left.pop(0)
            self._waiting.extend(Task(path, penalty, number) for number in range(len(self._splits)))

    def _start(self, pool: Executor, task: Task) -> None:
        if not self._clock.has_time:
            self._cut(task.path)
            return
        split, smoothings, limits = self._splits[task.split], self._grid.smoothings, self._clock.for_a_trial()
        future = pool.submit(
            search, split, task.path.max_links, task.penalty, smoothings, limits, self._settings
        )
        self._running[future] = task

    def _take(self, task: Task, found: SplitResult | None) -> None:
        path = task.path
        self._n_done += 1
        if found is None:
            self._cut(path)
        else:
            together = self._found.setdefault((path.max_links, task.penalty), {})
            together[task.split] = found
            if len(together) == len(self._splits):
                in_order = [together[number] for number in range(len(self._splits))]
                path.add(trials_of(path.max_links, task.penalty, self._grid.smoothings, in_order))
                self._prepare(path)
        left = sum(len(path.left) for path in self._paths) * len(self._splits)
        n_most = self._n_done + len(self._waiting) + len(self._running) + left
        self._on_progress(TuningProgress(self._n_done, n_most, self.best))

    def _cut(self, path: Path) -> None:
        """End a path that a limit has reached."""
        self.is_cut = True
        path.left.clear()
