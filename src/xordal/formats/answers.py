"""Answers of a network as JSON and in words: what ``xordal query`` prints."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import exp, isfinite, log

from xordal.errors import counted
from xordal.formats.bars import bar_lines, probability
from xordal.formats.json import Json
from xordal.formats.shown import padded, shown, width_of
from xordal.model.explain import AnswerStory
from xordal.model.network import DecomposableMarkovNetwork

_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a network: of some variables, of each where none is named, or for the best state."""

    asked: tuple[str, ...]
    given: Mapping[str, Hashable]
    likely: Mapping[str, Mapping[Hashable, float]]
    mpe: bool = False
    explain: bool = False
    intervals: bool = False

    @property
    def condition(self) -> str:
        """The evidence as it is printed."""
        hard = [f"{shown(name)}={shown(level)}" for name, level in self.given.items()]
        soft = [
            f"{shown(name)}~" + ",".join(f"{shown(level)}:{weight:g}" for level, weight in weights.items())
            for name, weights in self.likely.items()
        ]
        return ", ".join([*hard, *soft])


def plain(level: Hashable) -> object:
    """Return a level as JSON prints it: text, numbers, truth values and null as they are, the rest as text."""
    if isinstance(level, float) and not isfinite(level):
        return str(level)
    return level if level is None or isinstance(level, str | int | float) else str(level)


def finite(number: float) -> float | None:
    """Return a number JSON can hold: null for an infinite one."""
    return number if isfinite(number) else None


def answer_to_json(network: DecomposableMarkovNetwork, question: Question) -> Json:
    """Return the answer as plain lists, numbers and strings.

    ``answer`` is a list of objects with ``level`` (or ``levels``, of several columns) and ``probability``, and
    with ``interval`` where ranges are asked for.
    """
    evidence = network.log_probability(question.given, question.likely)
    told: Json = {"asked": list(question.asked), "given": {k: plain(v) for k, v in question.given.items()}}
    if question.likely:
        told["likely"] = {
            name: [{"level": plain(level), "weight": weight} for level, weight in weights.items()]
            for name, weights in question.likely.items()
        }
    told["log_evidence"] = finite(evidence)
    if question.mpe:
        best = network.most_probable(question.given, question.likely)
        told["most_probable"] = {name: plain(level) for name, level in best.items()}
        told["log_probability"] = network.log_probability(best)
        return told
    if not question.asked:
        margins = network.marginals(question.given, question.likely)
        told["marginals"] = {name: _levels(answer) for name, answer in margins.items()}
        return told
    if len(question.asked) == 1:
        answer = _levels(network.query(question.asked[0], question.given, question.likely))
    else:
        joint = network.query(list(question.asked), question.given, question.likely)
        answer = [
            {"levels": [plain(level) for level in cell], "probability": chance}
            for cell, chance in joint.items()
        ]
    if question.intervals:
        for one, interval in zip(answer, _intervals(network, question), strict=True):
            one["interval"] = list(interval)
    told["answer"] = answer
    if question.explain:
        told["explanation"] = story_to_json(
            network.why_answer(question.asked[0], question.given, question.likely)
        )
    return told


def _intervals(network: DecomposableMarkovNetwork, question: Question) -> list[tuple[float, float]]:
    asked = question.asked[0] if len(question.asked) == 1 else list(question.asked)
    return list(network.query_intervals(asked, question.given, question.likely).values())


def _interval_lines(
    network: DecomposableMarkovNetwork, question: Question, rows: list[tuple[Hashable, float]]
) -> list[str]:
    """Return the ranges of the probabilities in the order of the levels; of very many the most probable."""
    both = list(zip(rows, _intervals(network, question), strict=True))
    if len(both) > _MOST_ROWS:
        both = sorted(both, key=lambda one: -one[0][1])[:_MOST_ROWS]
    longest = max(width_of(shown(label)) for (label, _), _ in both)
    lines = ["", "Each is in its range with 95 %, the links taken as they are:"]
    for (label, _), (low, high) in both:
        lines.append(f"  {padded(shown(label), longest)}  {probability(low)} to {probability(high)}")
    return lines


def _levels(answer: Mapping[Hashable, float]) -> list[Json]:
    return [{"level": plain(level), "probability": chance} for level, chance in answer.items()]


def story_to_json(story: AnswerStory) -> Json:
    """Return which evidence moved an answer; distributions are in the order of ``levels``."""
    return {
        "levels": [plain(level) for level in story.levels],
        "before": list(story.before),
        "after": list(story.after),
        "evidence": [
            {
                "column": effect.name,
                "level": plain(effect.level),
                "alone": list(effect.alone),
                "without": list(effect.without),
                "share": None if effect.share is None else list(effect.share),
            }
            for effect in story.effects
        ],
    }


def answer_lines(
    network: DecomposableMarkovNetwork, question: Question, *, width: int, blocks: bool
) -> list[str]:
    """Return the answer in words and bars."""
    if question.mpe:
        return _best_lines(network, question)
    if not question.asked:
        margins = network.marginals(question.given, question.likely)
        shown_ones = [name for name in margins if name not in question.given]
        lines = [f"Each column{_given(question)}:"]
        for name in shown_ones:
            lines += ["", shown(name), *_bars(list(margins[name].items()), width, blocks)]
        return [*lines, *_evidence_line(network, question)]
    if len(question.asked) == 1:
        rows = list(network.query(question.asked[0], question.given, question.likely).items())
    else:
        joint = network.query(list(question.asked), question.given, question.likely)
        rows = [(", ".join(map(str, cell)), chance) for cell, chance in joint.items()]
    head = ", ".join(map(shown, question.asked))
    lines = [f"{head}{_given(question)}:", *_bars(rows, width, blocks)]
    if question.intervals:
        lines += _interval_lines(network, question, rows)
    lines += _evidence_line(network, question)
    if question.explain:
        lines += ["", *story_lines(network.why_answer(question.asked[0], question.given, question.likely))]
    return lines


def _given(question: Question) -> str:
    return f", given {question.condition}" if question.condition else ""


def _evidence_line(network: DecomposableMarkovNetwork, question: Question) -> list[str]:
    if not question.given or question.likely:
        return []
    return [
        "",
        f"In the network the evidence has probability {_of_log(network.log_probability(question.given))}.",
    ]


def _of_log(log_probability: float) -> str:
    """Return a probability; one too small for a number as a power of ten, as on a row of very many columns."""
    chance = exp(log_probability)
    return f"{chance:.4g}" if chance > 0 else f"1e{log_probability / log(10):.0f}"


def _bars(rows: list[tuple[Hashable, float]], width: int, blocks: bool) -> list[str]:
    """Return bars in the order of the levels; of very many the largest, largest first."""
    left = len(rows) - _MOST_ROWS
    if left > 0:
        rows = sorted(rows, key=lambda row: -row[1])[:_MOST_ROWS]
    lines = bar_lines([(str(label), chance) for label, chance in rows], width, blocks=blocks)
    return [*lines, f"  and {left:,} less probable; --json lists them all"] if left > 0 else lines


def _best_lines(network: DecomposableMarkovNetwork, question: Question) -> list[str]:
    best = network.most_probable(question.given, question.likely)
    longest = max(width_of(shown(name)) for name in best)
    lines = [f"The most probable state{_given(question)}:"]
    for name, level in best.items():
        mark = "  (given)" if name in question.given else ""
        lines.append(f"  {padded(shown(name), longest)}  {shown(level)}{mark}")
    if not question.likely:
        share = _of_log(network.log_probability(best) - network.log_probability(question.given))
        lines += ["", f"Its probability is {share}{' given the evidence' if question.given else ''}."]
    return lines


def story_lines(story: AnswerStory) -> list[str]:
    """Return which evidence moved the level that moved most."""
    changes = [abs(after - before) for before, after in zip(story.before, story.after, strict=True)]
    place = changes.index(max(changes))
    level = f"{shown(story.asked)}={shown(story.levels[place])}"
    items = [
        f"{shown(e.name)}={shown(e.level)}" if e.level is not None else f"{shown(e.name)} (in doubt)"
        for e in story.effects
    ]
    longest = max(len("evidence"), *map(width_of, items))
    lines = [
        f"What moved {level} from {probability(story.before[place])} to {probability(story.after[place])}:",
        f"  {'evidence'.ljust(longest)}   alone  left out    share",
    ]
    for item, effect in zip(items, story.effects, strict=True):
        share = "       -" if effect.share is None else f"{effect.share[place]:+8.4f}"
        alone, without = probability(effect.alone[place]), probability(effect.without[place])
        lines.append(f"  {padded(item, longest)}  {alone}    {without} {share}")
    lines.append("alone: from this evidence only; left out: from all but this; share: its part of the change")
    if any(effect.share is None for effect in story.effects):
        lines.append(f"({counted(len(items), 'item')} of evidence are too many to share the change among them)")
    return lines
