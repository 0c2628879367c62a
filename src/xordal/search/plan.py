"""What a search is asked to do: its settings, checked against each other and with their defaults filled in.

The defaults follow what is named: the paper's criterion, schedules and engine learn as the paper does, all else
goes beyond it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb
from numbers import Integral
from typing import get_args

from xordal.errors import SettingsError, nearest
from xordal.search.constraints import Constraints
from xordal.search.limits import Limits
from xordal.search.schedule import Schedule
from xordal.statistics.criterion import Criterion, EntropyDecrement
from xordal.statistics.significance import Significance
from xordal.types.choices import EngineName, ScheduleName


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked settings of one run."""

    schedule: Schedule
    max_variables: int | None
    criterion: Criterion
    fill_in: bool
    prune: bool
    local_search: bool
    engine: EngineName
    constraints: Constraints
    limits: Limits

    @classmethod
    def of(  # noqa: PLR0913 - those of learn(), by name
        cls,
        *,
        max_links: int | None,
        max_variables: int | None,
        criterion: Criterion | None,
        schedule: ScheduleName | None,
        fill_in: bool | None,
        prune: bool | None,
        local_search: bool | None,
        engine: EngineName,
        constraints: Constraints | None,
        limits: Limits | None,
    ) -> Plan:
        """Check settings and return them; :func:`xordal.learn` says what they are."""
        for name, value in (("max_links", max_links), ("max_variables", max_variables)):
            if value is not None and (not isinstance(value, Integral) or isinstance(value, bool)):
                raise SettingsError(f"{name} must be a whole number, not {value!r}.")
        max_links, max_variables = (
            value if value is None else int(value) for value in (max_links, max_variables)
        )
        needed = ("on", "to_json", "is_score")
        if criterion is not None and (
            isinstance(criterion, type) or not all(hasattr(criterion, name) for name in needed)
        ):
            raise SettingsError(
                f"criterion must be one such as Significance(0.01), not {criterion!r}. "
                f"One of your own has {', '.join(needed)}."
            )
        for name, given, wanted in (("constraints", constraints, Constraints), ("limits", limits, Limits)):
            if given is not None and not isinstance(given, wanted):
                raise SettingsError(f"{name} must be xordal.{wanted.__name__}(...), not {given!r}.")
        if max_links is not None and max_variables is not None:
            raise SettingsError("Give max_links (k) or max_variables (m), not both.")
        if max_variables is not None and max_variables < 2:
            raise SettingsError(f"max_variables must be at least 2, not {max_variables}.")
        if engine not in get_args(EngineName):
            raise SettingsError(f"Unknown engine {engine!r}; {nearest(engine, get_args(EngineName))}")
        if max_links is None:
            max_links = 3 if max_variables is None else comb(max_variables, 2)
        is_paper = schedule is not None or isinstance(criterion, EntropyDecrement) or engine == "reference"
        return cls(
            Schedule(schedule or "printed", max_links),
            max_variables,
            criterion or (EntropyDecrement() if engine == "reference" else Significance()),
            *_beyond_the_paper(fill_in, prune, local_search, criterion, engine, is_paper),
            engine,
            constraints or Constraints(),
            limits or Limits(),
        )

    @property
    def is_paper(self) -> bool:
        """Whether the paper's criterion or engine decides: nothing goes beyond it then, unless it is named."""
        return isinstance(self.criterion, EntropyDecrement) or self.engine == "reference"

    @property
    def alpha(self) -> float:
        """The level of what is tested beside the criterion: its own where it has one, else the usual one."""
        return self.criterion.alpha if isinstance(self.criterion, Significance) else Significance().alpha

    def to_json(self) -> dict[str, object]:
        """Return the settings as they are reported."""
        bound = {} if self.max_variables is None else {"max_variables": self.max_variables}
        return {
            "criterion": self.criterion.to_json(),
            "max_links": self.schedule.max_links,
            **bound,
            "schedule": self.schedule.name,
            "fill_in": self.fill_in,
            "prune": self.prune,
            "local_search": self.local_search,
            "engine": self.engine,
            **{name: value for name, value in asdict(self.constraints).items() if value},
            **{
                name: value
                for name, value in asdict(self.limits).items()
                if value is not None and name != "since"
            },
        }


def _beyond_the_paper(
    fill_in: bool | None,
    prune: bool | None,
    local_search: bool | None,
    criterion: Criterion | None,
    engine: EngineName,
    is_paper: bool,
) -> tuple[bool, bool, bool]:
    """Return whether to fill in, whether to take idle links out, and whether to search locally."""
    for name, chosen in (("fill_in", fill_in), ("prune", prune), ("local_search", local_search)):
        if chosen is not None and not isinstance(chosen, bool):
            raise SettingsError(f"{name} must be True, False or None, not {chosen!r}.")
    is_score = criterion is not None and criterion.is_score
    if local_search and not is_score:
        raise SettingsError("A local search needs a score to improve, such as BIC, EBIC or BDeu.")
    if engine == "reference" and (fill_in or prune or local_search):
        raise SettingsError(
            "The reference engine only adds chordal link sets: it knows no fill-in, pruning or local search."
        )
    by_default = is_score and not is_paper and prune is not False
    return (
        not is_paper if fill_in is None else fill_in,
        not is_paper if prune is None else prune,
        by_default if local_search is None else local_search,
    )
