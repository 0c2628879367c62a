"""What is drawn, as plain values: networks, directed networks, and the execution of a search.

A summary holds these; :mod:`xordal.report.figures` turns them into SVG and ``--json`` prints them as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from xordal.types.varsets import Link

Place = tuple[float, float]
"""A position in abstract units: x to the right, y downwards."""


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A link between two named nodes; coloured links are drawn dotted (Definition 4), new ones highlighted."""

    ends: tuple[str, str]
    is_colored: bool
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class NetworkDrawing:
    """An undirected network. Without ``places`` the layout is computed."""

    title: str
    nodes: tuple[str, ...]
    links: tuple[DrawnLink, ...]
    places: tuple[Place, ...] | None = None
    kind: Literal["network"] = "network"

    @classmethod
    def of(
        cls,
        title: str,
        names: Sequence[str],
        links: Sequence[Link],
        *,
        colored: Collection[Link] = (),
        new: Collection[Link] = (),
        places: tuple[Place, ...] | None = None,
    ) -> NetworkDrawing:
        """Draw numbered links between named variables.

        Examples
        --------
        >>> NetworkDrawing.of("one link", ["a", "b"], [(0, 1)], colored=[(0, 1)]).links
        (DrawnLink(ends=('a', 'b'), is_colored=True, is_new=False),)
        """
        drawn = tuple(
            DrawnLink((names[link[0]], names[link[1]]), link in colored, link in new) for link in links
        )
        return cls(title, tuple(names), drawn, places)


@dataclass(frozen=True, slots=True)
class DirectedNode:
    """A node of a Bayesian network with a note below its name, such as its probability."""

    name: str
    note: str
    place: Place


@dataclass(frozen=True, slots=True)
class DirectedDrawing:
    """A Bayesian network; arrows run from parent to child, by name."""

    title: str
    nodes: tuple[DirectedNode, ...]
    arrows: tuple[tuple[str, str], ...]
    kind: Literal["directed"] = "directed"


@dataclass(frozen=True, slots=True)
class ExecutionDrawing:
    """The passes of a search in order: a chain of arrows, or the forest of their parents.

    Attributes
    ----------
    title
        What the drawing shows.
    labels
        The lookahead of each pass.
    learned
        The name of what each pass learned, empty where it learned nothing.
    parents
        The parent of each pass in the execution forest; None draws the chain.
    """

    title: str
    labels: tuple[int, ...]
    learned: tuple[str, ...]
    parents: tuple[int | None, ...] | None = None
    kind: Literal["execution"] = "execution"


Drawing = NetworkDrawing | DirectedDrawing | ExecutionDrawing
