"""The search step by step: what each step changed, its pictures, and the shape of the execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from xordal.errors import counted
from xordal.formats.additive import rule_words
from xordal.formats.additive import told as told_rules
from xordal.formats.shown import shown
from xordal.formats.text import links_text, p_value_text
from xordal.pi.complexity import execution_chain, execution_forest
from xordal.report.drawings import ExecutionDrawing, NetworkDrawing, Place
from xordal.search.passes import passes
from xordal.search.schedule import Schedule
from xordal.types.choices import ScheduleName
from xordal.types.learned import Learned
from xordal.types.trace import Pass, TraceEntry
from xordal.types.varsets import LinkSet

_MOST_STILLS = 12
_MOST_DRAWN = 16  # variables up to which every step is drawn as a picture of its own
_MOST_PASSES = 400
_UNIT = 84.0  # pixels of the map that are one unit of a drawing


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the search, in numbers and in words."""

    number: int
    action: str
    lookahead: int
    links: LinkSet
    told: str
    gain: float
    p_value: str
    graphs_tested: int
    sequence: int = 0

    @property
    def words(self) -> str:
        """What the step did, as a sentence."""
        ahead = "required" if self.lookahead == 0 else f"looking {counted(self.lookahead, 'link')} ahead"
        if self.sequence:
            ahead = f"one of {counted(self.sequence, 'move')} together" if self.sequence > 1 else "local search"
        if self.action == "rule":
            return f"rule: {self.told}"
        verb = "learned" if self.action == "add" else "removed"
        p_value = f", p = {self.p_value}".replace("= <", "< ") if self.p_value else ""
        return f"{ahead}, {verb} {self.told}; gain {self.gain:.4f} nats{p_value}"


def steps_of(learned: Learned) -> tuple[Step, ...]:
    """Return the steps of a search."""
    return tuple(_step(learned, number, entry) for number, entry in enumerate(learned.trace, 1))


def _step(learned: Learned, number: int, entry: TraceEntry) -> Step:
    told = links_text(learned.variables, tuple(link for link in entry.links if link not in entry.fill_in))
    if entry.fill_in:
        filled = f"to keep the graph chordal {links_text(learned.variables, entry.fill_in)}"
        told = f"{told}, and {filled}" if told else filled
    if entry.rule is not None:
        told = rule_words(told_rules(learned), entry.rule)
    p_value = "" if entry.log_p_value is None else p_value_text(entry.log_p_value)
    return Step(
        number,
        entry.action,
        entry.lookahead,
        entry.links,
        told,
        entry.gain,
        p_value,
        entry.graphs_tested,
        entry.sequence,
    )


def stills(learned: Learned, places: tuple[Place, ...]) -> tuple[NetworkDrawing, ...]:
    """Return the network after each step (Figures 2 and 7); nothing where that would be too many pictures.

    ``places`` are those of the map, in pixels.
    """
    if len(learned.trace) > _MOST_STILLS or len(learned.variables) > _MOST_DRAWN:
        return ()
    units = tuple((x / _UNIT, y / _UNIT) for x, y in places)
    names = [shown(name) for name in learned.variables]
    links: set[tuple[int, int]] = set()
    drawings = []
    for number, entry in enumerate(learned.trace, 1):
        if entry.action == "rule":
            continue  # it changes no link
        links ^= set(entry.links)
        title = f"Step {number}: {entry.lookahead} ahead, gain {entry.gain:.4f}"
        drawings.append(
            NetworkDrawing.of(
                title,
                names,
                sorted(links),
                colored=learned.colored_links or (),
                new=entry.links if entry.action == "add" else (),
                places=units,
            )
        )
    return tuple(drawings)


def executions(learned: Learned) -> tuple[ExecutionDrawing, ...]:
    """Return the execution chain and forest (Figures 3 and 4) of a search that came to its own end."""
    every = _passes(learned)
    if not every or len(every) > _MOST_PASSES:
        return ()
    chain = execution_chain(every)
    named, found = [], 0
    for one in every:
        found += one.learned is not None
        named.append(f"L{found}" if one.learned is not None else "")
    chains = ExecutionDrawing("Execution chain", chain, tuple(named))
    forest = ExecutionDrawing("Execution forest", chain, tuple(named), execution_forest(chain))
    return chains, forest


def _passes(learned: Learned) -> tuple[Pass, ...]:
    """Return the passes of a search; none where they cannot be told from its trace."""
    schedule, most = learned.settings["schedule"], learned.settings["max_links"]
    if not learned.run.is_complete or len(learned.variables) < 2 or schedule not in get_args(ScheduleName):
        return ()
    removed = any(entry.action == "remove" for entry in learned.trace)
    if removed or not isinstance(most, int) or most > _MOST_PASSES:
        return ()
    every = passes(learned.trace, Schedule(cast("ScheduleName", schedule), most), len(learned.variables))
    told = tuple(one.learned for one in every if one.learned is not None)
    return every if told == tuple(entry.links for entry in learned.trace if entry.lookahead) else ()
