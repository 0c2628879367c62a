"""The passes behind a trace, the ones that learned nothing included: replaying the schedule.

A trace holds only what was learned. Which lookaheads ran in vain follows from the schedule: an entry of i links
belongs to the running ``lookahead(i)``, since the same lookahead cannot learn later what it could not learn now
unless something else came first, and that would be the next entry. Moves of a local search belong to no pass.
Of a search that goes on at a higher level, runs of the schedule that learned nothing are not told apart.
"""

from __future__ import annotations

from math import comb

from xordal.search.schedule import Position, Schedule
from xordal.types.trace import Pass, Trace, TraceEntry


def passes(trace: Trace, schedule: Schedule, n_variables: int) -> tuple[Pass, ...]:
    """Return every pass of a completed search, in order.

    Examples
    --------
    >>> from xordal.types.trace import TraceEntry
    >>> trace = (TraceEntry("add", 1, ((0, 1),), gain=0.1, dof=1, graphs_tested=3),)
    >>> [(p.lookahead, p.steps, p.learned) for p in passes(trace, Schedule("printed", 2), n_variables=3)]
    [(1, 3, ((0, 1),)), (1, 2, None), (2, 1, None)]
    """
    trace = tuple(entry for entry in trace if entry.action != "rule")  # no pass finds those
    required = [entry for entry in trace if entry.lookahead == 0]  # there before the first pass
    missing = comb(n_variables, 2) - sum(len(entry.links) for entry in required)
    waiting = list(trace)[len(required) :]
    done: list[Pass] = []
    missing = _forward(waiting, schedule, missing, done)
    n_left = len(waiting) + 1
    while 0 < len(waiting) < n_left:  # idle links went, moves were made, or the level rose
        n_left = len(waiting)
        while waiting and _is_between(waiting[0]):  # then the schedule starts again
            entry = waiting.pop(0)
            missing += len(entry.links) if entry.action == "remove" else -len(entry.links)
        missing = _forward(waiting, schedule, missing, done)
    return tuple(done)


def _is_between(entry: TraceEntry) -> bool:
    """Whether an entry comes from between two runs of the schedule."""
    return entry.action == "remove" or entry.sequence > 0


def _forward(waiting: list[TraceEntry], schedule: Schedule, missing: int, done: list[Pass]) -> int:
    """Take the entries of one run of the schedule; return how many links are missing after it."""
    position: Position | None = schedule.start
    while position is not None:
        modified = False
        while waiting and not _is_between(waiting[0]) and waiting[0].lookahead == position.i:
            entry = waiting.pop(0)
            done.append(Pass(position.j, position.i, comb(missing, position.i), entry.links))
            missing -= len(entry.links)
            modified = True
        done.append(Pass(position.j, position.i, comb(missing, position.i), None))
        position = schedule.after(position, modified)
    return missing
