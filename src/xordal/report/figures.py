"""Drawings to SVG: pure functions from plain values to strings (Figures 1 to 7 of the paper).

Coloured links are dotted and black links solid, as the paper draws them; links a step has just learned are
heavy and in the accent colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xordal.report.drawings import DirectedDrawing, Drawing, DrawnLink, ExecutionDrawing, NetworkDrawing, Place
from xordal.report.layout import spread, stress_layout
from xordal.report.svg import ACCENT, BACKGROUND, Point, arrow, clipped, document, element, text, text_width

_MARGIN = 8.0
_NODE_HEIGHT = 26.0
_GAP = 26.0
_UNIT = 72.0
_RADIUS = 12.0
_STEP, _LEVEL = 36.0, 72.0


def draw(drawing: Drawing) -> str:
    """Return any drawing as SVG.

    Examples
    --------
    >>> svg = draw(NetworkDrawing.of("one link", ["a", "b"], [(0, 1)], colored=[(0, 1)]))
    >>> svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"'), svg.count("<text")
    (True, 2)
    """
    match drawing:
        case NetworkDrawing():
            return network(drawing)
        case DirectedDrawing():
            return directed(drawing)
        case ExecutionDrawing():
            return execution(drawing)


def network(drawing: NetworkDrawing) -> str:
    """Return an undirected network: named boxes and the links between them."""
    number = {name: v for v, name in enumerate(drawing.nodes)}
    links = [(number[link.ends[0]], number[link.ends[1]]) for link in drawing.links]
    places = drawing.places or stress_layout(len(drawing.nodes), links)
    halves = [(text_width(name) / 2 + 9, _NODE_HEIGHT / 2) for name in drawing.nodes]
    points, size = _framed(spread(places, halves, _GAP, _UNIT), halves)
    lines = [
        _link(link, points[u], points[v])
        for link, (u, v) in sorted(zip(drawing.links, links, strict=True), key=_new)
    ]
    boxes = [
        _box(point, half) + text(name, point)
        for name, point, half in zip(drawing.nodes, points, halves, strict=True)
    ]
    return document(drawing.title, size, [*lines, *boxes], "network")


def directed(drawing: DirectedDrawing) -> str:
    """Return a Bayesian network: boxes with a name and a note, arrows from parents to children."""
    halves = [(max(text_width(node.name), text_width(node.note) * 0.9) / 2 + 9, 21.0) for node in drawing.nodes]
    spaced = spread([node.place for node in drawing.nodes], halves, 16.0)
    points, size = _framed(spaced, halves)
    at = {node.name: place for place, node in enumerate(drawing.nodes)}
    arrows = []
    for parent, child in drawing.arrows:
        start, end = points[at[parent]], points[at[child]]
        arrows.append(arrow(start, clipped(end, start, halves[at[child]]), stroke_width=1.3))
    boxes = [
        _box((x, y), half)
        + text(node.name, (x, y - 8), font_weight=600)
        + text(node.note, (x, y + 9), font_size=11.5, class_="note")
        for node, (x, y), half in zip(drawing.nodes, points, halves, strict=True)
    ]
    return document(drawing.title, size, [*arrows, *boxes], "directed")


def execution(drawing: ExecutionDrawing) -> str:
    """Return the passes of a search at the level of their lookahead: a chain of arrows, or a forest."""
    top = max(drawing.labels, default=1)
    points = [(96 + _STEP * place, 34 + _LEVEL * (top - label)) for place, label in enumerate(drawing.labels)]
    if drawing.parents is None:
        joints = [arrow(_round(a, b), _round(b, a), stroke_width=1.3) for a, b in pairwise(points)]
    else:
        joints = [
            _line(point, points[parent])
            for point, parent in zip(points, drawing.parents, strict=True)
            if parent is not None
        ]
    # The name of what was learned stands above its pass, unless an arrow comes down or lines rise there.
    lowest = min(drawing.labels, default=1)
    before = (0, *drawing.labels)  # one longer: the last pass comes before nothing
    passes = [
        _pass(point, label, learned, above > label if drawing.parents is None else label == lowest)
        for point, label, learned, above in zip(points, drawing.labels, drawing.learned, before, strict=False)
    ]
    levels = [
        text(
            f"{i} link{'' if i == 1 else 's'}", (8, 34 + _LEVEL * (top - i)), text_anchor="start", class_="note"
        )
        for i in range(1, top + 1)
    ]
    size = (96 + _STEP * max(len(points) - 1, 0) + 24, 34 + _LEVEL * (top - 1) + 30)
    return document(drawing.title, size, [*levels, *joints, *passes], "execution")


def _new(pair: tuple[DrawnLink, object]) -> bool:
    """Sort links so that new ones are drawn over the others."""
    return pair[0].is_new


def _framed(points: Sequence[Place], halves: Sequence[Place]) -> tuple[list[Point], Point]:
    """Move boxes into the positive quadrant; return their centres and the size of the drawing."""
    if not points:
        return [], (2 * _MARGIN, 2 * _MARGIN)
    left = min(x - w for (x, _), (w, _) in zip(points, halves, strict=True)) - _MARGIN
    top = min(y - h for (_, y), (_, h) in zip(points, halves, strict=True)) - _MARGIN
    right = max(x + w for (x, _), (w, _) in zip(points, halves, strict=True)) + _MARGIN
    bottom = max(y + h for (_, y), (_, h) in zip(points, halves, strict=True)) + _MARGIN
    return [(x - left, y - top) for x, y in points], (right - left, bottom - top)


def _box(center: Point, half: Place) -> str:
    (x, y), (w, h) = center, half
    return element(
        "rect", x=x - w, y=y - h, width=2 * w, height=2 * h, rx=8, fill=BACKGROUND, stroke="currentColor",
        class_="node",
    )  # fmt: skip


def _line(start: Point, end: Point, **attributes: object) -> str:
    (x1, y1), (x2, y2) = start, end
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": "currentColor", **attributes})


def _link(link: DrawnLink, start: Point, end: Point) -> str:
    width = 3.0 if link.is_new else 1.5
    # Round dots: dashes of no length with round caps.
    dotted = (
        {"stroke_dasharray": f"0 {2 * width + 2:.1f}", "stroke_linecap": "round"} if link.is_colored else {}
    )
    kind = f"link {'colored' if link.is_colored else 'black'}{' new' if link.is_new else ''}"
    stroke = ACCENT if link.is_new else "currentColor"
    return _line(
        start, end, stroke=stroke, stroke_width=width + (0.6 if link.is_colored else 0), class_=kind, **dotted
    )


def _round(center: Point, toward: Point) -> Point:
    """Return the point of a pass's circle that faces another pass."""
    dx, dy = toward[0] - center[0], toward[1] - center[1]
    length = (dx**2 + dy**2) ** 0.5
    return (center[0] + _RADIUS * dx / length, center[1] + _RADIUS * dy / length)


def _pass(center: Point, label: int, learned: str, name_below: bool) -> str:
    x, y = center
    fill = ACCENT if learned else BACKGROUND
    ink = BACKGROUND if learned else "currentColor"
    circle = element("circle", cx=x, cy=y, r=_RADIUS, fill=fill, stroke="currentColor", class_="pass")
    place = (x, y + _RADIUS + 9) if name_below else (x, y - _RADIUS - 7)
    name = text(learned, place, font_size=11, stroke=BACKGROUND, stroke_width=4, paint_order="stroke")
    return circle + text(str(label), center, fill=ink) + (name if learned else "")
