"""All items in the order of the paper."""

from __future__ import annotations

from xordal.report.paper.checks import Summary
from xordal.report.paper.executions import figure_3, figure_4, table_2
from xordal.report.paper.models import figure_1, figure_6, table_1
from xordal.report.paper.processes import figure_2, figure_7
from xordal.report.paper.runs import Studies
from xordal.report.paper.specification import figure_5
from xordal.report.paper.statements import section_4, section_5, section_6, sections_2_and_3
from xordal.report.paper.tables import algorithm_ml, table_3, table_4

ITEMS = (
    table_1,
    figure_1,
    sections_2_and_3,
    algorithm_ml,
    figure_2,
    section_4,
    table_2,
    figure_3,
    figure_4,
    section_5,
    table_3,
    figure_5,
    figure_6,
    figure_7,
    table_4,
    section_6,
)


def reproduce() -> Summary:
    """Compute every table and figure of the paper, and its statements, beside ours.

    Everything is exact or seeded, so two calls give equal summaries. Takes about three seconds, most of it for
    the random samples behind "equal up to sampling".

    References
    ----------
    J. Hu, Y. Xiang: Learning Belief Networks in Domains with Recursively Embedded Pseudo Independent
    Submodels. UAI 1997.
    """
    studies = Studies.of_the_paper()
    return Summary(tuple(item(studies) for item in ITEMS))
