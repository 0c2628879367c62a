"""Limits: what ends a search early, that every part of the work asks the clock, what is told of the time."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from xordal import BIC, CategoricalTable, Limits, learn
from xordal.counting.compiled import Kernels, Worth
from xordal.counting.threads import in_threads
from xordal.formats.json import to_json
from xordal.search import limits
from xordal.search.limits import Stopped, Watch
from xordal.search.time_left import TimeLeft
from xordal.types.choices import Phase

SEARCH: tuple[Phase, ...] = ("scanning", "scoring", "p-values", "fill-in", "pruning")
AFTER: tuple[Phase, ...] = ("hidden groups", "rules")


@pytest.fixture(scope="module")
def table() -> CategoricalTable:
    """Chains with noise, a cycle that needs fill-in, an exclusive-or and columns of their own, 600 rows."""
    generator = np.random.default_rng(8)
    a, b, noise = generator.integers(0, 2, (3, 600))
    columns = [a, b, a ^ b, noise]
    for _ in range(8):
        columns.append(np.where(generator.random(600) < 0.2, 1 - columns[-1], columns[-1]))
    columns.append(np.where(generator.random(600) < 0.3, columns[3], columns[-1]))
    return CategoricalTable.from_rows([f"v{i}" for i in range(len(columns))], np.array(columns).T.tolist())


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(limits, "monotonic", lambda: self.now)


def test_time_counts_from_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    watch, early = Watch(Limits(time_limit=10)), Watch(Limits(time_limit=10, since=95.0))
    clock.now = 106.0
    watch.check()
    assert (watch.seconds, watch.seconds_left, early.seconds) == (6.0, 4.0, 11.0)
    with pytest.raises(Stopped, match="time limit"):
        early.check()
    assert Watch(Limits()).seconds_left == float("inf")


def test_what_follows_a_search_has_less_than_the_limit_may_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds, at_most in ((5.0, 1.0), (100.0, 10.0)):
        clock = Clock(monkeypatch)
        watch = Watch(Limits(time_limit=seconds))
        clock.now += seconds + 0.001
        watch.allow_what_follows()
        watch.check()
        clock.now += at_most - 0.01
        with pytest.raises(Stopped):
            watch.check()


def test_after_five_seconds_it_is_told_once_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = Clock(monkeypatch), list[tuple[Phase, float, float | None]]()
    watch = Watch(Limits(), lambda phase, seconds, to_scan: told.append((phase, round(seconds, 6), to_scan)))
    watch.to_scan = lambda: 40.0
    for seconds in (4.9, 0.2, 0.2):
        clock.now += seconds
        with watch.phases.of("fill-in"):
            watch.check()
    assert told == [("fill-in", 5.1, 40.0)]


def test_the_note_reaches_whoever_learns(table: CategoricalTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LONG", -1.0)
    told: list[str] = []
    learn(table, notice=told.append)
    assert sum("seconds have passed" in line for line in told) == 1


def test_the_note_tells_how_long_scans_still_take(
    table: CategoricalTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TimeLeft, "seconds", 200.0)
    clock, check = Clock(monkeypatch), Watch.check

    def later(watch: Watch) -> None:
        clock.now += 10 * (watch.phases.now == "scanning")
        check(watch)

    monkeypatch.setattr(Watch, "check", later)
    told: list[str] = []
    learn(table, notice=told.append)
    assert any("Scans take about 3 min more, by their pace;" in line for line in told)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_every_part_of_the_work_asks_the_clock(
    table: CategoricalTable, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[Phase] = set()
    monkeypatch.setattr(Watch, "check", lambda watch: asked.add(watch.phases.now))
    learn(table, backend=backend)
    assert asked >= {*SEARCH, *AFTER}
    learn(table, backend=backend, criterion=BIC())
    assert "local search" in asked


@pytest.mark.parametrize("phase", [*SEARCH, *AFTER, "local search"])
def test_a_limit_in_any_part_leaves_a_network(
    table: CategoricalTable, phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(watch: Watch) -> None:
        if watch.phases.now == phase:
            raise Stopped("time limit")

    criterion = BIC() if phase == "local search" else None
    whole = learn(table, criterion=criterion)
    monkeypatch.setattr(Watch, "check", check)
    told: list[str] = []
    learned = learn(table, criterion=criterion, notice=told.append)
    n = len(learned.run.trace)
    assert learned.trace == whole.trace[:n]
    assert learned.run.stopped_by == (None if phase in AFTER else "time limit")
    assert (learned.submodels is None) == (phase == "hidden groups")
    assert any("while looking for rules" in line for line in told) == (phase == "rules")


def test_the_clock_is_asked_while_threads_are_waited_for() -> None:
    """The task ends only when it is given up, which is when the clock has been asked for the third time."""
    is_over, asked = Event(), list[None]()

    def check() -> None:
        asked.append(None)
        if len(asked) == 3:
            raise Stopped("time limit")

    for threads in (1, 2):
        is_over.clear()
        asked.clear()
        with pytest.raises(Stopped):
            list(in_threads(threads, lambda task: is_over.wait(60), range(9), is_over.set, check=check))
        assert is_over.is_set() and len(asked) == 3


def test_kernels_are_not_compiled_when_little_time_is_left() -> None:
    class NotCompiled:
        signatures = ()

    worth, told = Worth(loading=0, compiling=10), list[str]()
    assert not Kernels(lambda: 59.0, told.append).pay(worth, 10, "moves", NotCompiled)
    assert not Kernels(lambda: 61.0, told.append).pay(worth, 9, "moves", NotCompiled)
    assert told == []
    assert Kernels(lambda: 61.0, told.append).pay(worth, 10, "moves", NotCompiled)
    assert told == ["compiling the kernels of moves (once; up to 20 seconds)"]


def test_the_seconds_of_all_parts_add_up(table: CategoricalTable) -> None:
    learned = learn(table, limits=Limits(time_limit=3600))
    phases = learned.run.phases
    assert next(iter(phases)) == "reading" and {*SEARCH, *AFTER} <= set(phases)
    assert all(seconds >= 0 for seconds in phases.values())
    assert sum(phases.values()) == pytest.approx(learned.seconds, rel=0.01, abs=1e-3)
    assert to_json(learned)["phases"] == dict(phases)
    assert "since" not in learned.settings


def test_inner_parts_stop_the_clock_of_outer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from xordal.search import phases

    ticks = iter((0.0, 1.0, 3.0, 6.0, 10.0, 15.0))
    monkeypatch.setattr(phases, "perf_counter", lambda: next(ticks))
    kept = phases.Phases("scoring")
    with kept.of("fill-in"), kept.of("p-values"):
        pass
    assert kept.seconds() == {"scoring": 6.0, "fill-in": 6.0, "p-values": 3.0}
