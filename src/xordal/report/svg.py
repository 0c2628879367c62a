"""SVG as strings: elements, text, boxes and arrows. Everything that comes from data is escaped.

Drawings take their colours from the page: ``currentColor`` and CSS variables with fallbacks, so that dark mode,
print and a drawing on its own all work. Nothing carries an id, so one page can hold many drawings.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import hypot
from unicodedata import east_asian_width

Point = tuple[float, float]

FONT_SIZE = 13
_CHARACTER = 7.6  # a generous mean width of a character at that size, so that boxes hold their text
BACKGROUND = "var(--page, Canvas)"
ACCENT = "var(--accent, #b0452a)"
FONT = "system-ui, sans-serif"


def element(tag: str, *children: str, **attributes: object) -> str:
    """Return an element; underscores in attribute names stand for dashes, a trailing one is dropped.

    Examples
    --------
    >>> element("line", x1=0, stroke_width=2.0, class_="a&b")
    '<line x1="0" stroke-width="2" class="a&amp;b"/>'
    """
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{told}>{''.join(children)}</{tag}>" if children else f"<{tag}{told}/>"


def _number(value: object) -> str:
    """Write floats with at most two digits: drawings are the same to the byte wherever they are made."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def document(title: str, size: Point, children: Iterable[str], kind: str) -> str:
    """Return a whole drawing with its title, of a natural size in pixels that a page may scale down."""
    width, height = size
    return element(
        "svg",
        element("title", escape(title)),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        class_=f"drawing {kind}",
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        font_family=FONT,
        font_size=FONT_SIZE,
    )


def text(content: str, at: Point, **attributes: object) -> str:
    """Return a line of text centred on a point."""
    x, y = at
    style = {"text_anchor": "middle", "fill": "currentColor", **attributes}
    return element("text", escape(content), x=x, y=y + FONT_SIZE * 0.35, **style)


def text_width(content: str) -> float:
    """Return the room to leave for a line of text; wide characters count twice.

    Examples
    --------
    >>> text_width("ab") < text_width("音楽")
    True
    """
    return _CHARACTER * sum(2 if east_asian_width(c) in "WF" else 1 for c in content)


def arrow(start: Point, end: Point, **attributes: object) -> str:
    """Return a line with an arrowhead at its end."""
    (x0, y0), (x1, y1) = start, end
    length = hypot(x1 - x0, y1 - y0) or 1.0
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    base = (x1 - 8 * ux, y1 - 8 * uy)
    corners = [(x1, y1), (base[0] - 3.5 * uy, base[1] + 3.5 * ux), (base[0] + 3.5 * uy, base[1] - 3.5 * ux)]
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
    line = element("line", x1=x0, y1=y0, x2=base[0], y2=base[1], stroke="currentColor", **attributes)
    return line + element("polygon", points=points, fill="currentColor")


def clipped(center: Point, toward: Point, half: Point) -> Point:
    """Return where the way from a box's centre toward a point leaves the box, given its half sizes.

    Examples
    --------
    >>> clipped((0.0, 0.0), (10.0, 5.0), (2.0, 2.0))
    (2.0, 1.0)
    """
    dx, dy = toward[0] - center[0], toward[1] - center[1]
    scale = min(half[0] / abs(dx) if dx else 1e9, half[1] / abs(dy) if dy else 1e9, 1.0)
    return (center[0] + scale * dx, center[1] + scale * dy)
