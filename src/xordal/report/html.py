"""Summaries to HTML: one self-contained file each, from templates that escape everything they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xordal import __version__

if TYPE_CHECKING:
    from xordal.report.paper import Summary


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
    environment.filters["svg"] = lambda drawing: Markup(draw(drawing))
    return environment.get_template(template).render(version=__version__, **values)


def paper_page(summary: Summary) -> str:
    """Return the page of the reproduced paper."""
    return page("paper.html", summary=summary)
