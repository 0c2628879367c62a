"""A network in a notebook: its drawing and what it says, as a piece of HTML. Everything in it is escaped."""

from __future__ import annotations

from html import escape

from xordal.errors import counted
from xordal.formats.shown import shown
from xordal.formats.stories import structure_lines
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.drawings import NetworkDrawing
from xordal.report.figures import draw
from xordal.report.map import map_of

_MOST_DRAWN = 60
_UNIT = 84.0


def network_html(network: DecomposableMarkovNetwork) -> str:
    """Return a network as notebooks show it.

    Examples
    --------
    >>> from xordal.data.table import CategoricalTable
    >>> from xordal.learning.fitting import fit_network
    >>> from xordal.learning.learn import learn
    >>> table = CategoricalTable.from_rows(["<a>", "b"], [(0, 0), (1, 1)] * 20)
    >>> html = network_html(fit_network(table, learn(table)))
    >>> html.count("<svg"), "<a>" in html
    (1, False)
    """
    rows, variables = counted(network.n_rows, "row"), counted(len(network.variables), "variable")
    source = f"learned from {rows}" if network.is_counted else "given, not learned"
    lines = [f"{variables}, {source}", "", *structure_lines(network)]
    return f"<div>{drawing_html(network)}<pre>{escape(chr(10).join(lines))}</pre></div>"


def drawing_html(network: DecomposableMarkovNetwork) -> str:
    """Return the drawing of a network; nothing where there are too many variables for one."""
    if len(network.variables) > _MOST_DRAWN:
        return ""
    drawn = map_of(network)
    colored = () if network.learned is None else network.learned.colored_links or ()
    places = tuple((x / _UNIT, y / _UNIT) for x, y in drawn.places)
    names = tuple(map(shown, network.variables))
    return draw(
        NetworkDrawing.of(
            f"{drawn.title}; dotted links are hidden from pairs", names, network.graph.links, colored=colored,
            places=places,
        )
    )  # fmt: skip
