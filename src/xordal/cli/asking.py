"""The network and the evidence on the command line: options, and text into names and levels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.model.directed import BayesianNetwork
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.model.smoothing import Smoothing as ChosenSmoothing

PANEL = "Evidence"
_MOST_ROWS = 1e9  # of a smoothing

Net = Annotated[
    str,
    typer.Argument(
        help="Model file, as xordal learn -o writes it, or a BIF, XMLBIF, UAI or Hugin NET file; - for "
        "standard input.",
        metavar="NET",
        show_default=False,
    ),
]
GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given", metavar="COL=LEVEL", help="An observed value; may be repeated.", rich_help_panel=PANEL
    ),
]
LikelyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--likely",
        metavar="COL=LEVEL:WEIGHT,...",
        help="An observation in doubt: how likely it is under each level; *:W is for all levels not named.",
        rich_help_panel=PANEL,
    ),
]
Smoothing = Annotated[
    str | None,
    typer.Option(
        metavar="ROWS",
        help="Smoothing of the tables instead of the file's: rows spread evenly, 0 for tables as counted, or "
        "backoff:ROWS borrowed from smaller margins.",
    ),
]


def network_of(file: str, smoothing: str | None = None) -> DecomposableMarkovNetwork:
    """Load a network, with another smoothing if one is asked for."""
    return read(file, smoothing)[0]


def read(file: str, smoothing: str | None = None) -> tuple[DecomposableMarkovNetwork, BayesianNetwork | None]:
    """Load a network, and beside it the directed one that the file holds, if it does."""
    from xordal.formats.network_files import read_network
    from xordal.model.directed import BayesianNetwork

    chosen = None if smoothing is None else smoothing_of(smoothing)
    found = read_network(file)
    directed = found if isinstance(found, BayesianNetwork) else None
    network = found.to_markov() if isinstance(found, BayesianNetwork) else found
    return network if chosen is None else network.smoothed(chosen), directed


def smoothing_of(text: str) -> ChosenSmoothing:
    """Return the smoothing that --smoothing means; refuse what is none or out of all proportion."""
    from xordal.errors import SettingsError
    from xordal.model.smoothing import Backoff, smoothing_from_text

    chosen = smoothing_from_text(text)
    if (chosen.rows if isinstance(chosen, Backoff) else chosen) > _MOST_ROWS:
        raise SettingsError(f"--smoothing {text}: beside more than {_MOST_ROWS:,.0f} rows no data would count.")
    return chosen


def check_sources(net: str, other: str) -> None:
    """Refuse two files that are both to be read from standard input."""
    if net == other == "-":
        raise typer.BadParameter("standard input holds one file; name the other.")


def given_in(network: DecomposableMarkovNetwork, texts: Sequence[str] | None) -> dict[str, Hashable]:
    """Return evidence from texts such as dog=barks; a level is found by its text, its number or its bin."""
    from xordal.model.evidence import level_from_text

    given: dict[str, Hashable] = {}
    for text in texts or ():
        name, value = _named(network, text, "--given", "dog=barks")
        if name in given:
            raise typer.BadParameter(f"--given names {name!r} more than once.")
        given[name] = level_from_text(network, name, value)
    return given


def likely_in(
    network: DecomposableMarkovNetwork, texts: Sequence[str] | None
) -> dict[str, dict[Hashable, float]]:
    """Return soft evidence from texts such as dog=barks:3,quiet:1 or dog=barks:3,*:1."""
    from xordal.model.evidence import level_from_text

    likely: dict[str, dict[Hashable, float]] = {}
    for text in texts or ():
        name, value = _named(network, text, "--likely", "dog=barks:3,quiet:1")
        if name in likely:
            raise typer.BadParameter(f"--likely names {name!r} more than once.")
        weights: dict[Hashable, float] = {}
        rest = None
        for level, weight in _weights(text, value):
            if level == "*":
                rest = weight
            else:
                weights[level_from_text(network, name, level)] = weight
        if rest is not None:
            weights |= {level: rest for level in network.levels_of(name) if level not in weights}
        likely[name] = weights
    return likely


def _named(network: DecomposableMarkovNetwork, text: str, option: str, example: str) -> tuple[str, str]:
    """Split NAME=VALUE; a name may hold an equals sign itself, so the longest known one is taken."""
    splits = [(text[:place], text[place + 1 :]) for place, sign in enumerate(text) if sign == "="]
    if not splits:
        raise typer.BadParameter(f"{option} wants {example}, not {text!r}.")
    known = [split for split in splits if split[0] in network.variables]
    return known[-1] if known else (splits[0][0].strip(), splits[0][1])


def _weights(text: str, value: str) -> list[tuple[str, float]]:
    import csv

    parts = next(csv.reader([value], skipinitialspace=True), [])
    found = []
    for part in parts:
        level, colon, weight = part.rpartition(":")
        try:
            found.append((level.strip(), float(weight)))
        except ValueError:
            colon = ""
        if not colon:
            raise typer.BadParameter(f"--likely wants dog=barks:3,quiet:1, not {text!r}.")
    return found
