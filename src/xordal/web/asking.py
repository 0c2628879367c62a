"""Questions from the page: evidence by number in, distributions of every variable out.

Variables and levels go by their numbers, so that a name or value never has to be found again by its text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite
from threading import Lock
from typing import Any

from xordal.errors import ImpossibleEvidence, SettingsError
from xordal.formats.network_files import load
from xordal.formats.shown import shown
from xordal.model.network import DecomposableMarkovNetwork
from xordal.web.store import RunFolder
from xordal.web.words import shown_value

_MOST_HELD = 8  # networks kept in memory


@dataclass(frozen=True, slots=True)
class Asked:
    """A network, and beside it the one of single links, where that is known."""

    network: DecomposableMarkovNetwork
    single: DecomposableMarkovNetwork | None = None

    def answer(self, question: object) -> dict[str, Any]:
        """Answer a question: ``given`` pairs of variable and level; ``want`` marginals, best or why.

        Raises
        ------
        SettingsError
            If the question names no variable or level that there is.
        """
        if not isinstance(question, Mapping):
            raise SettingsError("A question is one JSON object.")
        given = self._given(question.get("given", []))
        want = question.get("want", "marginals")
        try:
            if want == "best":
                return self._best(given)
            if want == "why":
                return self._why(question.get("of"), given)
            return self._marginals(given)
        except ImpossibleEvidence as error:
            return {"impossible": str(error)}

    def _given(self, pairs: object) -> dict[str, Hashable]:
        if not isinstance(pairs, list):
            raise SettingsError("Evidence is a list of pairs: a variable and a level.")
        given: dict[str, Hashable] = {}
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise SettingsError("Evidence is a list of pairs: a variable and a level.")
            v, code = self._number(pair[0], len(self.network.variables)), pair[1]
            levels = self.network.levels[v]
            given[self.network.variables[v]] = levels[self._number(code, len(levels))]
        return given

    def _number(self, value: object, most: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < most:
            raise SettingsError(f"There is no variable or level of number {value!r}.")
        return value

    def _marginals(self, given: Mapping[str, Hashable]) -> dict[str, Any]:
        log_chance = self.network.log_probability(given) if given else 0.0
        return {
            "marginals": _rows(self.network, given),
            "single": None if self.single is None else _possible_rows(self.single, given),
            "log_probability": log_chance if isfinite(log_chance) else None,
        }

    def _best(self, given: Mapping[str, Hashable]) -> dict[str, Any]:
        best = self.network.most_probable(given)
        codes = [
            levels.index(best[name])
            for name, levels in zip(self.network.variables, self.network.levels, strict=True)
        ]
        log_share = self.network.log_probability(best) - (self.network.log_probability(given) if given else 0.0)
        return {"best": codes, "log_probability": log_share}

    def _why(self, of: object, given: Mapping[str, Hashable]) -> dict[str, Any]:
        v = self._number(of, len(self.network.variables))
        story = self.network.why_answer(self.network.variables[v], given)
        return {
            "levels": [shown_value(level) for level in story.levels],
            "before": list(story.before),
            "after": list(story.after),
            "effects": [
                {
                    "name": shown(effect.name),
                    "level": shown_value(effect.level),
                    "alone": list(effect.alone),
                    "without": list(effect.without),
                    "share": None if effect.share is None else list(effect.share),
                }
                for effect in story.effects
            ],
        }


def _rows(network: DecomposableMarkovNetwork, given: Mapping[str, Hashable]) -> list[list[float]]:
    return [list(chances.values()) for chances in network.marginals(given).values()]


def _possible_rows(
    network: DecomposableMarkovNetwork, given: Mapping[str, Hashable]
) -> list[list[float]] | None:
    try:
        return _rows(network, given)
    except ImpossibleEvidence:
        return None


class Networks:
    """The networks that were asked last, loaded once."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Asked] = OrderedDict()
        self._lock = Lock()

    def of(self, folder: RunFolder) -> Asked:
        """Return the network of a run, ready to be asked."""
        with self._lock:
            if folder.id not in self._held:
                single = load(folder.single) if folder.single.is_file() else None
                self._held[folder.id] = Asked(load(folder.network), single)
            self._held.move_to_end(folder.id)
            while len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)
            return self._held[folder.id]

    def forget(self, run: str) -> None:
        """Let go of the network of a run."""
        with self._lock:
            self._held.pop(run, None)
