"""What we computed: the paper's two models and all runs of the search on their exact joints, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from xordal.graph.chordal import ChordalGraph
from xordal.learning.learn import learn
from xordal.pi.colored import ColoredIMap, excess_entropy
from xordal.pi.zoo import Model, music_box, table_1
from xordal.report.drawings import Place
from xordal.report.paper.printed import TABLE_3, TABLE_4, NamedLinks, PrintedStep
from xordal.search.passes import passes
from xordal.search.schedule import Schedule
from xordal.statistics.criterion import EntropyDecrement
from xordal.types.choices import ScheduleName
from xordal.types.learned import Learned
from xordal.types.trace import Pass
from xordal.types.varsets import Link

SCHEDULES: tuple[ScheduleName, ...] = ("as_run", "printed", "straightforward", "single")
# No two links cross in the music box; in the complete graph of Table 1 two diagonals do.
_TABLE_1_PLACES = {"d": (0.0, 0.0), "c": (1.6, 0.0), "a": (0.0, 1.6), "b": (1.6, 1.6)}
_MUSIC_PLACES = {
    "ball1": (0.0, 0.0),
    "ball2": (2.4, 0.0),
    "ball3": (1.2, 0.75),
    "music_box": (1.2, 1.9),
    "John": (2.4, 2.5),
    "dog": (1.2, 3.1),
    "light1": (0.0, 4.1),
    "light2": (2.4, 4.1),
}
IS_I_MAP = 1e-9
"""Nats of dependence a graph may lose by rounding and still be an I-map."""


@dataclass(frozen=True, slots=True)
class Run:
    """A search on an exact joint with all its passes."""

    learned: Learned
    passes: tuple[Pass, ...]
    lost: float
    """Nats of dependence the learned graph does not represent; zero for an I-map."""

    @property
    def is_i_map(self) -> bool:
        """Whether the learned graph represents every dependence of the joint."""
        return self.lost < IS_I_MAP

    @property
    def link_sets(self) -> tuple[NamedLinks, ...]:
        """The learned link sets by name, in order."""
        return tuple(self.named(entry.links) for entry in self.learned.trace)

    @property
    def graphs_tested(self) -> tuple[int, ...]:
        """Graphs tested up to each learned link set."""
        return tuple(entry.graphs_tested for entry in self.learned.trace)

    def named(self, links: Iterable[Link]) -> NamedLinks:
        """Return links by the names of their ends."""
        return frozenset(frozenset(self.learned.names(link)) for link in links)

    def searches(self) -> tuple[tuple[Pass, ...], ...]:
        """Return the passes of each i-link-only search: every one ends with a pass that learned nothing."""
        ended = 0
        keyed = []
        for one in self.passes:
            keyed.append((ended, one))
            ended += one.learned is None
        return tuple(tuple(one for _, one in group) for _, group in groupby(keyed, key=lambda pair: pair[0]))


@dataclass(frozen=True, slots=True)
class Study:
    """A model of the paper with its settings, its colored I-map and its runs by schedule.

    ``places`` puts the variables about where the paper's figures have room for them.
    """

    name: str
    model: Model
    max_links: int
    delta_h: float
    steps: tuple[PrintedStep, ...]
    truth: ColoredIMap
    runs: Mapping[ScheduleName, Run]
    places: tuple[Place, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.model.joint.variables

    @property
    def as_run(self) -> Run:
        """The run in the schedule behind the paper's tables."""
        return self.runs["as_run"]


def run(model: Model, max_links: int, delta_h: float, schedule: ScheduleName) -> Run:
    """Learn from the exact joint of a model and list the passes."""
    joint = model.joint
    learned = learn(joint, max_links=max_links, criterion=EntropyDecrement(delta_h), schedule=schedule)
    every = passes(learned.trace, Schedule(schedule, max_links), len(joint.variables))
    graph = ChordalGraph.empty(len(joint.variables)).add(learned.links)
    return Run(learned, every, lost=excess_entropy(joint.oracle(), graph))


def _study(
    name: str,
    model: Model,
    settings: tuple[int, float],
    steps: tuple[PrintedStep, ...],
    places: Mapping[str, Place],
) -> Study:
    runs = {schedule: run(model, *settings, schedule) for schedule in SCHEDULES}
    placed = tuple(places[name] for name in model.joint.variables)
    return Study(name, model, *settings, steps, model.truth(), runs, placed)


@dataclass(frozen=True, slots=True)
class Studies:
    """Both models of the paper."""

    table_1: Study
    music_box: Study

    @classmethod
    def of_the_paper(cls) -> Studies:
        """Run every schedule on both models, with the paper's k and threshold (section 6)."""
        return cls(
            _study("Table 1", table_1(), (2, 0.001), TABLE_3, _TABLE_1_PLACES),
            _study("music box", music_box(), (3, 0.004), TABLE_4, _MUSIC_PLACES),
        )

    def both(self) -> tuple[Study, Study]:
        """Return the two studies."""
        return (self.table_1, self.music_box)
