"""Options of a search that ``learn`` and ``tune`` share; each command says what its defaults are."""

from __future__ import annotations

from typing import Any

import typer


def fill_in(default: str) -> Any:
    """Return the option for sets of links that would break chordality."""
    return typer.Option(
        "--fill-in/--no-fill-in",
        help="Try sets whose links would break chordality too, with fill-in links that keep the graph chordal.",
        show_default=default,
    )


def prune(default: str) -> Any:
    """Return the option for links that are taken out again."""
    return typer.Option(
        "--prune/--no-prune",
        help="Take out links that would not be learned again once the others are there.",
        show_default=default,
    )


def local_search(default: str) -> Any:
    """Return the option for the search that follows, by a score."""
    return typer.Option(
        "--local-search/--no-local-search",
        help="For a score: go on with sequences of links that come and go, until none improves it.",
        show_default=default,
    )


def smoothing(default: str) -> Any:
    """Return the option for the smoothing of the tables of the network that is learned."""
    return typer.Option(
        metavar="ROWS",
        show_default=default,
        help="Smoothing of the model's tables: rows spread evenly, 0 for tables as counted, or "
        "backoff:ROWS borrowed from smaller margins.",
    )
