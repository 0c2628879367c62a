"""Options for what is known beforehand: links that must or must not be there, and how large cliques may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xordal.search.constraints import Constraints

PANEL = "What is known beforehand"


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """Links that must or must not be learned, and the size of the largest clique."""

    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Links to begin with, whatever the data say.", metavar="A-B,C-D", rich_help_panel=PANEL
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(help="Links that are never learned.", metavar="A-B,C-D", rich_help_panel=PANEL),
    ] = None
    max_clique: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Most columns that may be linked all with each other.",
            metavar="N",
            rich_help_panel=PANEL,
        ),
    ] = None

    def constraints(self, names: Sequence[str]) -> Constraints | None:
        """Return the links by the names of their columns; None where there are none."""
        from xordal.search.constraints import Constraints

        if not self.require and not self.forbid:
            return None
        required, forbidden = (links_in(texts, names, option) for texts, option in self._both())
        return Constraints(required, forbidden)

    def _both(self) -> list[tuple[list[str] | None, str]]:
        return [(self.require, "--require"), (self.forbid, "--forbid")]


def links_in(texts: list[str] | None, names: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return links written as ``A-B``, several with commas between; names may hold hyphens themselves.

    Examples
    --------
    >>> links_in(["age-sex,x-ray-age"], ["age", "sex", "x-ray"], "--require")
    [('age', 'sex'), ('x-ray', 'age')]
    """
    from xordal.cli.reading import names_in

    return [_link(text, names, option) for text in names_in(texts) or []]


def _link(text: str, names: Sequence[str], option: str) -> tuple[str, str]:
    from xordal.errors import nearest

    places = [place for place, letter in enumerate(text) if letter == "-"]
    ends = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    known = [(one, other) for one, other in ends if one in names and other in names]
    if len(known) == 1:
        return known[0]
    if not ends:
        raise typer.BadParameter(f"{option}: a link is two columns with a hyphen between, A-B, not {text!r}.")
    if known:
        raise typer.BadParameter(f"{option}: {text!r} can be read as more than one link. Rename a column.")
    wrong = next(name for name in ends[0] if name not in names)
    raise typer.BadParameter(f"{option}: there is no column {wrong!r}; {nearest(wrong, names)}")
