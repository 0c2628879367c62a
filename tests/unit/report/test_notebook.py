"""Plots and what notebooks show."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import matplotlib
import pytest

from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError, XordalError
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.zoo import music_box
from xordal.report import notebook


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def box() -> DecomposableMarkovNetwork:
    table = music_box().joint.exact_table()
    return fit_network(table, learn(table))


def test_the_network_draws_hidden_links_dotted(box: DecomposableMarkovNetwork) -> None:
    ax = notebook.plot_network(box)
    assert sorted(text.get_text() for text in ax.texts) == sorted(box.variables)
    styles = [line.get_linestyle() for line in ax.lines]
    assert len(styles) == 12
    assert styles.count("-") == 2


def test_the_trace_has_a_bar_a_step(box: DecomposableMarkovNetwork) -> None:
    assert box.learned is not None
    ax = notebook.plot_trace(box)
    heights = [patch.get_height() for patch in ax.patches]  # type: ignore[attr-defined]
    assert heights == [entry.gain for entry in box.learned.trace]
    assert ax.texts[2].get_text() == "2 ahead\np = 2e-264"


def test_the_group_is_flat_in_pairs_and_not_as_a_whole(box: DecomposableMarkovNetwork) -> None:
    *pairs, whole = notebook.plot_submodel(box).axes
    assert [len(ax.patches) for ax in pairs] == [4, 4, 4]
    assert {patch.get_width() for ax in pairs for patch in ax.patches} == {250}  # type: ignore[attr-defined]
    assert sorted(patch.get_width() for patch in whole.patches) == [0] * 4 + [250] * 4  # type: ignore[attr-defined]


def test_plots_go_where_they_are_told(box: DecomposableMarkovNetwork) -> None:
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2)
    assert notebook.plot_network(box, ax=left) is left
    assert notebook.plot_trace(box, ax=right) is right


def test_names_with_dollars_are_no_mathematics() -> None:
    names = ["$x^2", "a$ \\frac{$", "<b>$"]
    rows = [(f"${a}$", f"${b}", a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    table = CategoricalTable.from_rows(names, rows)
    network = fit_network(table, learn(table))
    for axes in (notebook.plot_network(network), notebook.plot_trace(network)):
        axes.figure.canvas.draw()
    notebook.plot_submodel(network).canvas.draw()
    html = network._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;$" in html


def test_what_cannot_be_drawn_is_said(box: DecomposableMarkovNetwork) -> None:
    with pytest.raises(SettingsError, match="wanted here, not a list"):
        notebook.plot_network([1])
    with pytest.raises(SettingsError, match="no hidden group 5: 3 groups"):
        notebook.plot_submodel(box, 5)
    table = CategoricalTable.from_rows("ab", [(a, b) for a in (0, 1) for b in (0, 1)] * 9)
    with pytest.raises(SettingsError, match="no steps"):
        notebook.plot_trace(fit_network(table, learn(table)))


def test_without_matplotlib_one_error_tells_what_to_install(
    box: DecomposableMarkovNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(XordalError, match=r"pip install 'xordal\[plot\]'"):
        notebook.plot_network(box)


def test_matplotlib_is_imported_when_a_plot_is_made_only() -> None:
    program = "import sys, xordal; xordal.plot_network; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_network_shows_itself(box: DecomposableMarkovNetwork) -> None:
    html = box._repr_html_()
    assert html.count("<svg") == 1
    assert "Hidden groups" in html
    assert repr(box) == "<DecomposableMarkovNetwork: 8 variables, 12 links, 1,000 rows>"
