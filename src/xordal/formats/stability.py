"""How often links and hidden groups come back in resamples, in words and as JSON."""

from __future__ import annotations

from xordal.errors import counted
from xordal.formats.shown import shown
from xordal.types.learned import Learned, Stability
from xordal.types.varsets import Link, VarSet, members

Json = dict[str, object]

_WORTH_TELLING = 0.05  # a link that is not in the network is told when this share of resamples has it
_MOST_LINES = 30


def stability_lines(stability: Stability, learned: Learned) -> list[str]:
    """Return how often each link and each hidden group came back, the least stable first."""
    links = sorted(learned.links, key=lambda link: (stability.links.get(link, 0.0), link))
    groups = sorted(_groups(learned), key=lambda group: (stability.submodels.get(group, 0.0), group))
    lines = [f"In {counted(stability.n_samples, 'resample')} of the rows these came back:"]
    lines += [_line(stability.links.get(link, 0.0), " - ".join(_names(learned, link))) for link in links]
    lines += [
        _line(
            stability.submodels.get(group, 0.0), " ".join(_names(learned, members(group))) + " (hidden group)"
        )
        for group in groups
    ]
    if len(lines) > _MOST_LINES:
        left = len(lines) - _MOST_LINES
        lines = [
            *lines[:_MOST_LINES],
            f"  and {counted(left, 'more')} at least as often; --json lists them all",
        ]
    return [*lines, *_others(stability, learned)]


def stability_to_json(stability: Stability, learned: Learned) -> Json:
    """Return the shares of all links that any resample had, and of the hidden groups of the network."""
    names = learned.variables
    return {
        "samples": stability.n_samples,
        "seed": stability.seed,
        "links": [
            {"link": [names[u], names[v]], "confidence": stability.links.get((u, v), 0.0)}
            for u, v in sorted({*learned.links, *stability.links})
        ],
        "submodels": [
            {
                "variables": list(learned.names(group)),
                "confidence": stability.submodels.get(group, 0.0),
            }
            for group in _groups(learned)
        ],
    }


def _groups(learned: Learned) -> list[VarSet]:
    return sorted({VarSet(group.variables | group.context) for group in learned.submodels or ()})


def _others(stability: Stability, learned: Learned) -> list[str]:
    others = {
        link: share
        for link, share in stability.links.items()
        if link not in learned.links and share >= _WORTH_TELLING
    }
    if not others:
        return []
    often = max(others, key=lambda link: others[link])
    told = " - ".join(_names(learned, often))
    links = counted(len(others), "link")
    return [f"{links} not in the network came up in 5 % or more, {told} most often ({others[often]:.0%})."]


def _line(share: float, what: str) -> str:
    return f"  {share:4.0%}  {what}"


def _names(learned: Learned, variables: Link | tuple[int, ...]) -> list[str]:
    return [shown(name) for name in learned.names(variables)]
