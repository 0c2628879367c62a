"""Figure 5: the music box as a Bayesian network, its probabilities checked against the paper's story.

Figure 5 is a picture; the story gives the urns and the three rules, not the chances of the two lights. Those
follow from Table 4. With P(light2 on) = p and h the binary entropy, L3 gains h(p), since light1 and dog
together determine light2; and L1 and L3 together gain the entropy of dog.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import log

from xordal.pi.joint import Joint
from xordal.report.drawings import DirectedDrawing, DirectedNode
from xordal.report.paper import printed
from xordal.report.paper.checks import Check, Grid, Item, compare, holds
from xordal.report.paper.runs import Studies

_ON = {
    **dict.fromkeys(("ball1", "ball2", "ball3"), "white"),
    **dict.fromkeys(("light1", "light2"), "on"),
    "music_box": "plays",
    "dog": "barks",
    "John": "complains",
}
"""The level each variable's probability is quoted for."""

_BALLS, _LIGHTS = ("ball1", "ball2", "ball3"), ("light1", "light2")
_PARENTS = {"music_box": _BALLS, "dog": _LIGHTS, "John": ("music_box", "dog")}

# The story of section 6, word by word; each rule takes whether its parents are white, on, playing or barking.
_RULES: dict[str, tuple[str, Callable[..., bool]]] = {
    "music_box": ("all three balls are white or exactly one is", lambda *white: sum(white) in (1, 3)),
    "dog": ("the lights are both on or both off", lambda first, second: first == second),
    "John": ("neither the box plays nor the dog barks, or both", lambda plays, barks: plays == barks),
}


def figure_5(studies: Studies) -> Item:
    """Figure 5: probabilities and rules of the music box."""
    joint = studies.music_box.model.joint
    urns = {ball: f"{100 * chance(joint, ball):.0f}" for ball in _BALLS}
    rules = tuple(
        holds(f"{name} {_ON[name]} if {text}", _follows(joint, name), "true of every state that occurs")
        for name, (text, _) in _RULES.items()
    )
    show = lambda percent: ", ".join(f"{ball} {p} %" for ball, p in percent.items())  # noqa: E731
    return Item(
        "figure-5",
        "Figure 5",
        "The specification of the music-box model",
        (compare("White balls in the urns", printed.URNS, urns, show=show), *rules, _lights(joint)),
        text=(
            "Figure 5 is a picture and the story does not tell the chances of the lights; they follow from "
            "Table 4. Given light1, dog determines light2, so L3 gains h(P(light2 on)), h being the binary "
            "entropy; L1 and L3 together gain the entropy of dog. Tried in tens of per cent, as the urns are. "
            "A chance of 30 % and one of 70 % give the same decrements; 30 % is taken.",
        ),
        grids=tuple(_conditional(joint, child) for child in _PARENTS),
        drawings=(_drawing(joint),),
    )


def chance(joint: Joint, name: str) -> float:
    """Return the probability that a ball is white, a light is on, the box plays and so on."""
    alone = joint.marginal(name)
    return float(dict(zip(alone.levels[0], alone.probabilities, strict=True)).get(_ON[name], 0.0))


def _follows(joint: Joint, child: str) -> bool:
    """Whether a variable follows its rule in every state that occurs."""
    rule = _RULES[child][1]
    parents = _PARENTS[child]
    family = joint.marginal([*parents, child])
    for state, p in zip(product(*family.levels), family.probabilities.reshape(-1).tolist(), strict=True):
        *causes, effect = (level == _ON[name] for level, name in zip(state, family.variables, strict=True))
        if p > 0 and rule(*causes) != effect:
            return False
    return True


def _lights(joint: Joint) -> Check:
    """Derive the lights' chances, in tens of per cent as the urns are, from L1 and L3 in Table 4."""
    first, _, third, *_ = (float(step.decrement) for step in printed.TABLE_4)
    tens = [tenths / 10 for tenths in range(1, 10)]
    light2 = min(tens, key=lambda p: abs(_h(p) - third))
    light1 = min(tens, key=lambda p: abs(_h(p * light2 + (1 - p) * (1 - light2)) - first - third))
    derived = (light1, light2)
    ours = (chance(joint, "light1"), chance(joint, "light2"))
    is_same = all(abs(a - b) < 1e-9 for a, b in zip(derived, ours, strict=True))
    return Check(
        "Chances of the lights, derived from the sampled decrements of Table 4",
        f"L3 = {third} nats, L1 + L3 = {first + third:.4f}: {_percents(derived)}",
        f"{_percents(ours)}: h = {_h(ours[1]):.4f}, dog {_h(chance(joint, 'dog')):.4f}",
        "equal up to sampling" if is_same else "different",
        "" if is_same else "The derived chances are not those of the model used here.",
    )


def _h(p: float) -> float:
    return -p * log(p) - (1 - p) * log(1 - p)


def _percents(chances: tuple[float, float]) -> str:
    return f"light1 {100 * chances[0]:.0f} %, light2 {100 * chances[1]:.0f} %"


def _conditional(joint: Joint, child: str) -> Grid:
    """Return the conditional probabilities of a variable given its parents."""
    parents = _PARENTS[child]
    rows = []
    for levels in product(*(joint.marginal([name]).levels[0] for name in parents)):
        given = joint.marginal([*parents, child]).conditional(dict(zip(parents, levels, strict=True)))
        rows.append((*levels, f"{chance(given, child):g}"))
    return Grid.of(f"P({child} {_ON[child]} | {', '.join(parents)})", "|".join(parents) + "|probability#", rows)


def _drawing(joint: Joint) -> DirectedDrawing:
    across = {"ball1": 0.0, "ball2": 1.0, "ball3": 2.0, "light1": 3.15, "light2": 4.15}
    roots = [
        DirectedNode(name, f"{100 * chance(joint, name):.0f} % {_ON[name]}", (x, 0.0))
        for name, x in across.items()
    ]
    effects = [
        DirectedNode("music_box", "plays if 1 or 3 are white", (1.0, 1.25)),
        DirectedNode("dog", "barks if lights agree", (3.65, 1.25)),
        DirectedNode("John", "complains if box and dog agree", (2.3, 2.5)),
    ]
    arrows = tuple((parent, child) for child, parents in _PARENTS.items() for parent in parents)
    return DirectedDrawing("The music box as a Bayesian network", (*roots, *effects), arrows)
