"""Drawings: well-formed, escaped, the same every time, and no box over another."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xordal.report.drawings import (
    DirectedDrawing,
    DirectedNode,
    Drawing,
    DrawnLink,
    ExecutionDrawing,
    NetworkDrawing,
)
from xordal.report.figures import draw
from xordal.report.layout import spread, stress_layout

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<b>&"x'

DRAWINGS: list[Drawing] = [
    NetworkDrawing.of(NASTY, [NASTY, "b", "c"], [(0, 1), (1, 2)], colored=[(0, 1)], new=[(1, 2)]),
    DirectedDrawing(
        NASTY, (DirectedNode(NASTY, "note", (0, 0)), DirectedNode("b", NASTY, (0, 1))), ((NASTY, "b"),)
    ),
    ExecutionDrawing(NASTY, (1, 2, 1, 3), (NASTY, "", "L2", ""), None),
    ExecutionDrawing(NASTY, (1, 2, 3), (NASTY, "", ""), (1, 2, None)),
]


def parsed(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(draw(drawing))


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.kind)
def test_every_drawing_is_an_escaped_image_with_a_title(drawing: Drawing) -> None:
    root = parsed(drawing)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == NASTY
    assert NASTY in [text.text for text in root.iter(f"{SVG}text")]
    assert draw(drawing) == draw(drawing)


def test_coloured_links_are_dotted_and_new_ones_heavy() -> None:
    links = {line.get("class"): line for line in parsed(DRAWINGS[0]).iter(f"{SVG}line")}
    assert set(links) == {"link colored", "link black new"}
    assert links["link colored"].get("stroke-dasharray")
    assert links["link black new"].get("stroke-dasharray") is None
    heavy, light = (float(links[kind].attrib["stroke-width"]) for kind in ("link black new", "link colored"))
    assert heavy > light


def test_a_chain_has_arrows_and_a_forest_lines_to_parents() -> None:
    assert len(list(parsed(DRAWINGS[2]).iter(f"{SVG}polygon"))) == 3
    assert len(list(parsed(DRAWINGS[3]).iter(f"{SVG}polygon"))) == 0
    assert len(list(parsed(DRAWINGS[3]).iter(f"{SVG}line"))) == 2


def test_passes_lie_at_the_level_of_their_lookahead() -> None:
    heights = [float(circle.attrib["cy"]) for circle in parsed(DRAWINGS[2]).iter(f"{SVG}circle")]
    one, two, again, three = heights
    assert one == again > two > three


def test_nothing_to_draw_is_a_drawing_too() -> None:
    assert list(parsed(NetworkDrawing("nothing", (), ())).iter(f"{SVG}rect")) == []
    assert list(parsed(ExecutionDrawing("nothing", (), ())).iter(f"{SVG}circle")) == []


@st.composite
def networks(draw_from: st.DrawFn) -> NetworkDrawing:
    names = draw_from(st.lists(st.text("abW_音", min_size=1, max_size=20), min_size=1, max_size=9, unique=True))
    pairs = list(combinations(range(len(names)), 2))
    links = draw_from(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return NetworkDrawing.of("any network", names, links)


@given(networks())
def test_no_box_lies_over_another_or_outside(drawing: NetworkDrawing) -> None:
    root = parsed(drawing)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    boxes = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + w <= width
        assert y + h <= height
        boxes.append((x, y, x + w, y + h))
    for (l0, t0, r0, b0), (l1, t1, r1, b1) in combinations(boxes, 2):
        assert r0 <= l1 or r1 <= l0 or b0 <= t1 or b1 <= t0


def test_linked_nodes_are_nearer_than_distant_ones() -> None:
    path = stress_layout(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    gaps = [abs(complex(*path[0]) - complex(*place)) for place in path[1:]]
    assert gaps == sorted(gaps)
    assert gaps[0] == pytest.approx(1, abs=0.2)
    assert stress_layout(1, []) == ((0.0, 0.0),)
    assert stress_layout(0, []) == ()


def test_a_unit_is_kept_where_boxes_need_less() -> None:
    assert spread([(0, 0), (1, 0)], [(1, 1), (1, 1)], gap=1, unit=50) == ((0, 0), (50, 0))


def test_links_are_named() -> None:
    drawing = NetworkDrawing.of("n", ["x", "y"], [(0, 1)], new=[(0, 1)])
    assert drawing.links == (DrawnLink(("x", "y"), is_colored=False, is_new=True),)
