"""Summaries to HTML: one self-contained file each, from templates that escape everything they are given."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from xordal import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

    from xordal.data.table import CategoricalTable
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.report.paper import Summary
    from xordal.report.summary import ReportSummary

STATIC = Path(__file__).parent / "static"
"""Scripts of the report; the live page and the widget use ``view.js`` too."""

_MOST_LEVELS = 12  # shown of a variable that is chosen in the map


def one_script(path: Path) -> str:
    """Return a module as part of a larger script: what it imports stands before it, and it exports nothing."""
    text = re.sub(r"(?m)^import .*$", "", path.read_text(encoding="utf-8"))
    return re.sub(r"(?m)^export (?=const|class)", "", text)


def page(template: str, **values: object) -> str:
    """Render a template; drawings become SVG through the filter ``svg``.

    Parameters
    ----------
    template
        A file of ``report/templates``; pages extend ``base.html``.
    values
        What the template names.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from xordal.formats.shown import brief
    from xordal.report.figures import draw

    environment = Environment(
        loader=PackageLoader("xordal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # The drawing functions escape every name themselves.
    environment.filters["brief"] = brief
    environment.filters["unbroken"] = _unbroken
    environment.filters["svg"] = lambda drawing: Markup(draw(drawing))
    return environment.get_template(template).render(version=__version__, **values)


def _unbroken(text: str) -> Markup:
    r"""Return text whose numbers lines do not break: not before a per cent sign, nor inside 9e-23267.

    Examples
    --------
    >>> _unbroken("a < b: 3 %, p = 9e-23267.")
    Markup('a &lt; b: 3\xa0%, p = <span class="whole">9e-23267</span>.')
    """
    from markupsafe import Markup, escape

    told = re.sub(r"(?<=\d) %", "\u00a0%", str(escape(text)))
    return Markup(re.sub(r"\b[\d.]+e-\d+", r'<span class="whole">\g<0></span>', told))


def paper_page(summary: Summary) -> str:
    """Return the page of the reproduced paper."""
    return page("paper.html", summary=summary)


def report_page(summary: ReportSummary) -> str:
    """Return the page of a network. Its policy lets one script run: ours, known by its hash."""
    from markupsafe import Markup

    from xordal.report.map import draw_map

    script = f"{one_script(STATIC / 'view.js')}\n{one_script(STATIC / 'report.js')}"
    return page(
        "report.html",
        summary=summary,
        svg_map=Markup(draw_map(summary.map)),
        data=_script_data(summary),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def write_report(
    path: str | Path,
    network: DecomposableMarkovNetwork,
    *,
    title: str = "",
    table: CategoricalTable | None = None,
) -> None:
    """Write the page of a network to a file, whole or not at all.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    from xordal.data.write import write_text
    from xordal.report.overview import overview_of
    from xordal.report.summary import summarise

    seen = None if table is None else overview_of(table.columns())
    write_text(path, report_page(summarise(network, title, seen)))


def _script_data(summary: ReportSummary) -> dict[str, object]:
    """Return what the script of the report needs to know, links by their place in the map."""
    drawn = summary.map.links
    place_of = {link.ends: place for place, link in enumerate(drawn)}
    single = () if summary.single is None else summary.single.links
    return {
        "places": [[round(x, 1), round(y, 1)] for x, y in summary.map.places],
        "links": [list(link.ends) for link in drawn],
        "final": [link.is_final for link in drawn],
        "strength": [round(link.strength, 6) for link in drawn],
        "single": [place_of[link] for link in single],
        "steps": [
            {"action": step.action, "links": [place_of[link] for link in step.links], "words": step.words}
            for step in summary.steps
        ],
        "groups": [list(group.variables) for group in summary.groups or ()],
        "variables": [
            {
                "name": variable.name,
                "levels": sorted(variable.levels, key=lambda level: -level[1])[:_MOST_LEVELS],
                "others": max(len(variable.levels) - _MOST_LEVELS, 0),
                "groups": variable.groups,
            }
            for variable in summary.variables
        ],
    }
