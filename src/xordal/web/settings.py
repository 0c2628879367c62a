"""What a person chose in the page, checked: how to read the table and how to learn from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from xordal.data.dialect import TextFormat
from xordal.data.discretise import Binning, Bins
from xordal.data.reading import Reading
from xordal.errors import SettingsError, nearest
from xordal.search.constraints import Constraints
from xordal.search.limits import Limits
from xordal.search.plan import Plan
from xordal.statistics.criterion import Criterion, EntropyDecrement
from xordal.statistics.scores import BIC, EBIC, BDeu
from xordal.statistics.significance import Significance

_CRITERIA: dict[str, Callable[[float | None], Criterion]] = {
    "significance": lambda value: Significance(0.05 if value is None else value),
    "entropy": lambda value: EntropyDecrement(0.004 if value is None else value),
    "bic": lambda value: BIC(),
    "ebic": lambda value: EBIC(),
    "bdeu": lambda value: BDeu(),
}
MOST_LINKS, MOST_VARIABLES = 10, 6
"""How far the page lets a search look; the command line goes further."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a table is read and learned from; the page sends these fields as one JSON object."""

    columns: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    weights: str | None = None
    missing: str = "error"
    bins: int | None = None
    bin_by: str = "quantile"
    merge_rare: int = 0
    max_links: int | None = None
    max_variables: int | None = None
    criterion: str = "significance"
    value: float | None = None
    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    time_limit: float | None = None

    @classmethod
    def from_json(cls, given: object) -> RunSettings:
        """Return the settings in a JSON object, all of them checked.

        Raises
        ------
        SettingsError
            If one is unknown, of another type, or out of range.

        Examples
        --------
        >>> RunSettings.from_json({"max_variables": 4}).max_variables
        4
        """
        if not isinstance(given, Mapping):
            raise SettingsError("Settings are one JSON object.")
        known = {field.name for field in fields(cls)}
        for name in given:
            if name not in known:
                raise SettingsError(f"There is no setting {str(name)!r}; {nearest(name, known)}")
        settings = cls(**{name: _value(name, value) for name, value in given.items()})
        settings.reading()
        settings.plan()
        return settings

    def reading(self, text: TextFormat = TextFormat()) -> Reading:  # noqa: B008  # frozen
        """Return how to read the table, a file that is written so."""
        bins: Any = None if self.bins is None else Bins(self.bins, self.bin_by)  # type: ignore[arg-type]
        return Reading(
            columns=None if self.columns is None else list(self.columns),
            weights=self.weights,
            missing=self.missing,  # type: ignore[arg-type]  # Reading checks it
            bins=Binning.of(bins),
            merge_rare=self.merge_rare,
            unmerged=self.categorical,
            categorical=self.categorical,
            text=text,
            cache="off",  # nothing of an upload is kept anywhere but in its run
        )

    def search(self) -> dict[str, Any]:
        """Return the parameters of :func:`xordal.learn`."""
        if self.criterion not in _CRITERIA:
            raise SettingsError(
                f"There is no criterion {self.criterion!r}; {nearest(self.criterion, _CRITERIA)}"
            )
        for name, most in (("max_links", MOST_LINKS), ("max_variables", MOST_VARIABLES)):
            if (getattr(self, name) or 0) > most:
                raise SettingsError(
                    f"{name} is at most {most} in the page; xordal learn in a terminal goes further."
                )
        return {
            "max_links": self.max_links,
            "max_variables": self.max_variables,
            "criterion": _CRITERIA[self.criterion](self.value),
            "constraints": Constraints(self.required, self.forbidden),
            "limits": Limits(time_limit=self.time_limit),
        }

    def plan(self) -> Plan:
        """Return the plan of the search."""
        return Plan.of(
            **self.search(), schedule=None, fill_in=None, prune=None, local_search=None, engine="fast"
        )


def _value(name: str, value: object) -> Any:
    """Return a JSON value as the setting takes it."""
    if name in ("required", "forbidden"):
        if not isinstance(value, list) or not all(_is_names(pair) and len(pair) == 2 for pair in value):
            raise SettingsError(f"{name} is a list of pairs of column names.")
        return tuple(tuple(pair) for pair in value)
    if name in ("columns", "categorical"):
        if value is None and name == "columns":
            return None
        if not _is_names(value):
            raise SettingsError(f"{name} is a list of column names.")
        return tuple(value)  # type: ignore[arg-type]  # a list, by now
    types: dict[str, tuple[type, ...]] = {
        "weights": (str,), "missing": (str,), "bin_by": (str,), "criterion": (str,), "bins": (int,),
        "merge_rare": (int,), "max_links": (int,), "max_variables": (int,), "value": (int, float),
        "time_limit": (int, float),
    }  # fmt: skip
    may_be_none = name not in ("missing", "bin_by", "criterion", "merge_rare")
    if (value is None and may_be_none) or (isinstance(value, types[name]) and not isinstance(value, bool)):
        return value
    raise SettingsError(f"{name} cannot be {value!r}.")


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
