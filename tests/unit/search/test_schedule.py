"""The schedule against the paper's words."""

from __future__ import annotations

import pytest

from xordal import SettingsError
from xordal.search.schedule import Position, Schedule
from xordal.types.choices import ScheduleName


def lookaheads(name: ScheduleName, k: int, learned: list[bool]) -> list[int]:
    """Run a schedule; the n-th lookahead learns something when the n-th answer says so, else nothing."""
    schedule = Schedule(name, k)
    position: Position | None = schedule.start
    order = []
    answers = iter(learned)
    while position is not None:
        order.append(position.i)
        position = schedule.after(position, next(answers, False))
    return order


def test_without_discoveries_each_stage_is_one_lookahead() -> None:
    for name in ("printed", "as_run", "straightforward"):
        assert lookaheads(name, 4, []) == [1, 2, 3, 4]
    assert lookaheads("single", 4, []) == [1]


def test_the_printed_schedule_backtracks_to_single_links() -> None:
    # Stage 1 learns; stage 2 learns, backtracks, finds nothing; stage 3 learns and repeats the stages.
    assert lookaheads("printed", 3, [True, True, False, False, True]) == [1, 2, 1, 2, 3, 1, 2, 3]


def test_as_run_repeats_a_single_link_search_that_learned() -> None:
    assert lookaheads("as_run", 2, [True, False, True, True, False]) == [1, 1, 2, 1, 1, 2]


def test_straightforward_never_looks_back() -> None:
    assert lookaheads("straightforward", 3, [True, True, True]) == [1, 2, 3]


def test_wrong_settings_are_named() -> None:
    with pytest.raises(SettingsError, match="did you mean 'printed'"):
        Schedule("print", 3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="at least 1, not 0"):
        Schedule("printed", 0)
