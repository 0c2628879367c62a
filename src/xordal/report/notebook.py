"""Plots for notebooks with matplotlib: the network, the trace of a search, the evidence for a hidden group.

matplotlib is imported when a plot is made; it comes with the extra ``plot``. Names are data: a dollar sign in
one is a dollar sign, not mathematics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xordal.errors import SettingsError, XordalError, counted
from xordal.formats.shown import shown
from xordal.formats.text import p_text
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.contrast import Contrast
from xordal.report.groups import GroupSummary, group_summaries
from xordal.report.map import LinkKind, map_of, short
from xordal.types.learned import Learned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HIDDEN, _INK, _GREY, _BAR = "#6d28a8", "#22252a", "#8b8f97", "#c9652f"
_STYLES: dict[LinkKind, dict[str, Any]] = {
    "black": {"color": _INK, "linewidth": 1.4},
    "colored": {"color": _HIDDEN, "linewidth": 2.2, "linestyle": (0, (0.1, 2.0)), "dash_capstyle": "round"},
    "fill-in": {"color": _GREY, "linewidth": 0.7},
}
_MOST_NAMED = 20  # steps whose links are written below their bars


def plot_network(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a network: dotted links are hidden from pairs, solid ones are not, thin ones keep the graph chordal.

    Parameters
    ----------
    found
        What :func:`xordal.learn` returns, a fitted :class:`~xordal.MultiLinkSearch`, or a network.
    ax
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from xordal.estimator import MultiLinkSearch
    >>> ax = plot_network(MultiLinkSearch().fit([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25))
    >>> [text.get_text() for text in ax.texts], len(ax.lines)
    (['x0', 'x1', 'x2'], 3)
    """
    drawing = map_of(_network(found))
    width, height = drawing.size
    ax = ax or _figure(min(max(width / 90, 4), 16), min(max(height / 90, 3), 12)).add_subplot()
    for link in drawing.links:
        if link.is_final:
            (x1, y1), (x2, y2) = (drawing.places[v] for v in link.ends)
            ax.plot([x1, x2], [y1, y2], zorder=1, **_STYLES[link.kind])
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": _GREY}
    for name, (x, y) in zip(drawing.names, drawing.places, strict=True):
        ax.text(x, y, short(name), ha="center", va="center", fontsize=9, bbox=box, zorder=2, parse_math=False)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_axis_off()
    return ax


def plot_trace(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what each step of the search gained, how many links it looked ahead and its p-value.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from xordal.estimator import MultiLinkSearch
    >>> ax = plot_trace(MultiLinkSearch().fit([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25))
    >>> len(ax.patches), ax.get_ylabel()
    (1, 'gain (nats)')
    """
    learned = _learned(_network(found))
    trace = tuple(entry for entry in learned.trace if entry.action != "rule")
    ax = ax or _figure(min(max(0.9 * len(trace), 4), 14), 4).add_subplot()
    bars = ax.bar(range(1, len(trace) + 1), [entry.gain for entry in trace], color=_BAR)
    if len(trace) <= _MOST_NAMED:
        for bar, entry in zip(bars, trace, strict=True):
            p_value = "" if entry.log_p_value is None else f"\n{p_text(entry.log_p_value)}"
            at = (bar.get_x() + bar.get_width() / 2, bar.get_height())
            ax.annotate(f"{entry.lookahead} ahead{p_value}", at, ha="center", va="bottom", fontsize=8)
        ax.set_xticks(range(1, len(trace) + 1))
        told = ["\n".join("–".join(map(shown, learned.names(link))) for link in entry.links) for entry in trace]
        for label in ax.set_xticklabels(told, fontsize=7):
            label.set_parse_math(False)
    ax.margins(y=0.2)
    ax.set_ylabel("gain (nats)")
    ax.set_xlabel("links learned by each step")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def plot_submodel(found: Any, group: int = 0) -> Figure:
    """Draw the evidence for a hidden group: its pairs, which are flat, and the whole, which is not.

    Parameters
    ----------
    found
        What :func:`xordal.learn` returns, a fitted :class:`~xordal.MultiLinkSearch`, or a network.
    group
        Which group, the strongest first, from 0.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from xordal.estimator import MultiLinkSearch
    >>> figure = plot_submodel(MultiLinkSearch().fit([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25))
    >>> [ax.get_title() for ax in figure.axes]
    ['x0 and x1', 'x0 and x2', 'x1 and x2', 'x0, x1 and x2']
    """
    told = _group(_network(found), group)
    assert told.evidence is not None
    tables = [*told.evidence.pairs[:3], told.evidence.joint]
    figure = _figure(3.1 * len(tables), max(3.4, 0.15 * max(table.n_cells for table in tables)))
    for axes, table in zip(figure.subplots(1, len(tables), squeeze=False)[0], tables, strict=True):
        _plot_table(axes, table)
    figure.suptitle(f"{told.heading}: counted (bars), and expected if independent (ticks)", parse_math=False)
    return figure


def _plot_table(ax: Axes, table: Contrast) -> None:
    """Draw a table as bars, one a cell, with a tick where independence would have it."""
    labels, counts, expected = [], [], []
    for row, cells in zip(table.row_labels, table.cells, strict=True):
        for place, cell in enumerate(cells):
            column = table.column_labels[place : place + 1]
            labels.append(" ".join((*row, *column)))
            counts.append(cell.count)
            expected.append(cell.expected)
    places = range(len(labels))
    ax.barh(places, counts, color=_BAR, alpha=0.75)
    ax.vlines(expected, [p - 0.42 for p in places], [p + 0.42 for p in places], color=_INK, linewidth=1.6)
    ax.set_yticks(list(places))
    for label in ax.set_yticklabels(labels, fontsize=7):
        label.set_parse_math(False)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.08 * table.largest)
    ax.set_title(table.caption, fontsize=9, parse_math=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise XordalError("Plots need matplotlib. Install it with: pip install 'xordal[plot]'") from None
    return pyplot.figure(figsize=(width, height), layout="constrained")


def _network(found: Any) -> DecomposableMarkovNetwork:
    if isinstance(found, Learned):
        return found.network()
    network = getattr(found, "network_", found)
    if not isinstance(network, DecomposableMarkovNetwork):
        raise SettingsError(
            f"What learn() returns, a fitted MultiLinkSearch or a network is wanted here, not a "
            f"{type(found).__name__}."
        )
    return network


def _learned(network: DecomposableMarkovNetwork) -> Learned:
    if network.learned is None or not network.learned.trace:
        raise SettingsError("There are no steps to draw: the network was not learned, or has no links.")
    return network.learned


def _group(network: DecomposableMarkovNetwork, number: int) -> GroupSummary:
    groups = () if network.learned is None else group_summaries(network, network.learned)
    drawn = [group for group in groups if group.evidence is not None]
    if not 0 <= number < len(drawn):
        raise SettingsError(f"There is no hidden group {number}: {counted(len(drawn), 'group')} can be drawn.")
    return drawn[number]
