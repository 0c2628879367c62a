"""The network as a map: one drawing that a page can move, zoom, search and replay.

Coloured links are dotted, black links solid and links that only fill in thin and grey; classes and numbers on
the elements let the page's script find them. Names are escaped like everything in :mod:`xordal.report.svg`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from xordal.formats.shown import shown
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.drawings import Place
from xordal.report.places import map_places
from xordal.report.strength import link_strengths
from xordal.report.svg import FONT, FONT_SIZE, element, text, text_width
from xordal.types.learned import Learned
from xordal.types.varsets import Link

_LONGEST = 22  # characters of a name that are drawn; the whole name is its title
_MARGIN = 14.0
_HALF_HEIGHT = 13.0

LinkKind = Literal["black", "colored", "fill-in"]


@dataclass(frozen=True, slots=True)
class MapLink:
    """A link of the map, its strength in nats; one that a later step removed is not final."""

    ends: Link
    kind: LinkKind
    is_final: bool
    strength: float = 0.0


@dataclass(frozen=True, slots=True)
class MapDrawing:
    """Named variables at their places, in pixels, and all links there ever were."""

    title: str
    names: tuple[str, ...]
    places: tuple[Place, ...]
    links: tuple[MapLink, ...]
    size: Place


def map_of(network: DecomposableMarkovNetwork) -> MapDrawing:
    """Lay out a network and say how each of its links is drawn."""
    names, final = tuple(map(shown, network.variables)), network.graph.links
    places, size = placed(names, final)
    title = f"Network of {len(names)} variables and {len(final)} links"
    links = tuple(_links(network.learned, final, link_strengths(network)))
    return MapDrawing(title, names, places, links, size)


def placed(names: Sequence[str], links: Sequence[Link]) -> tuple[tuple[Place, ...], Place]:
    """Return where the boxes of named variables go, in pixels, and the size of the whole.

    Examples
    --------
    >>> places, (width, height) = placed(["a", "b", "c"], [(0, 1)])
    >>> len(places), all(0 < x < width and 0 < y < height for x, y in places)
    (3, True)
    """
    halves = [(text_width(short(name)) / 2 + 9, _HALF_HEIGHT) for name in names]
    places = map_places(links, halves)
    left = min(x - w for (x, _), (w, _) in zip(places, halves, strict=True)) - _MARGIN
    top = min(y for _, y in places) - _HALF_HEIGHT - _MARGIN
    right = max(x + w for (x, _), (w, _) in zip(places, halves, strict=True)) + _MARGIN
    bottom = max(y for _, y in places) + _HALF_HEIGHT + _MARGIN
    return tuple((x - left, y - top) for x, y in places), (right - left, bottom - top)


def _links(learned: Learned | None, final: tuple[Link, ...], strengths: dict[Link, float]) -> Iterator[MapLink]:
    seen = set(final) if learned is None else {link for entry in learned.trace for link in entry.links}
    colored = set() if learned is None else set(learned.colored_links or ())
    filled = set() if learned is None else set(learned.filled_links)
    for link in sorted(seen | set(final)):
        kind: LinkKind = "colored" if link in colored else "fill-in" if link in filled else "black"
        yield MapLink(link, kind, link in final, strengths.get(link, 0.0))


def draw_map(drawing: MapDrawing) -> str:
    """Return a map as SVG.

    Examples
    --------
    >>> link = MapLink((0, 1), "black", True)
    >>> svg = draw_map(MapDrawing("two", ("a", "<b>"), ((20.0, 20.0), (90.0, 20.0)), (link,), (110.0, 40.0)))
    >>> svg.count('class="node"'), "<b>" in svg
    (2, False)
    """
    most = max((link.strength for link in drawing.links), default=0.0)
    lines = [_line(link, drawing.places, link.strength / most if most > 0 else 0.0) for link in drawing.links]
    nodes = [_node(v, name, drawing.places[v]) for v, name in enumerate(drawing.names)]
    width, height = drawing.size
    world = element("g", *lines, *nodes, class_="world") if drawing.names else element("g", class_="world")
    return element(
        "svg",
        element("title", escape(drawing.title)),
        world,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        id="map",
        class_="map",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        font_family=FONT,
        font_size=FONT_SIZE,
    )


def _line(link: MapLink, places: tuple[Place, ...], share: float) -> str:
    """Draw a link, the wider the stronger: by the root, so that weak links can still be told apart."""
    (x1, y1), (x2, y2) = places[link.ends[0]], places[link.ends[1]]
    kind = f"link {link.kind}{'' if link.is_final else ' off'}"
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, style=f"--w:{1 + 3 * share**0.5:.2f}")


def _node(number: int, name: str, at: Place) -> str:
    half = text_width(short(name)) / 2 + 9
    box = element("rect", x=-half, y=-_HALF_HEIGHT, width=2 * half, height=2 * _HALF_HEIGHT, rx=8)
    return element(
        "g",
        element("title", escape(name)),
        box,
        text(short(name), (0.0, 0.0)),
        class_="node",
        data_v=number,
        transform=f"translate({at[0]:.1f} {at[1]:.1f})",
    )


def short(name: str) -> str:
    """Return a name as it is drawn: the beginning of a long one."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
