"""Ranked sets of columns, as lines of text and as JSON."""

from __future__ import annotations

from math import log

from xordal.errors import counted
from xordal.formats.text import p_value_text, shown
from xordal.scanning import Scanned

_SIGNIFICANT = 0.05


def scanned_to_json(scanned: Scanned) -> dict[str, object]:
    """Return a scan as plain lists, numbers and strings: what ``xordal scan --json`` prints."""
    return {
        "order": scanned.order,
        "by": scanned.by,
        **({} if scanned.target is None else {"target": scanned.target}),
        "sets": [
            {
                "variables": list(scanned.names(found.variables)),
                "total_correlation": found.total_correlation,
                "interaction": found.interaction,
                "dof": found.dof,
                "log_p_value": found.log_p_value,
                "p_value": found.p_value,
                "p_corrected": found.p_corrected,
            }
            for found in scanned.sets
        ],
        "n_sets": scanned.n_sets,
        "n_scanned": scanned.n_scanned,
        **({} if scanned.stopped_by is None else {"stopped_by": scanned.stopped_by}),
        "n_rows": scanned.n_rows,
        "seconds": scanned.seconds,
    }


def ranked_lines(scanned: Scanned) -> list[str]:
    """Return the table of a scan and a sentence on what it means."""
    lines = [f"{'interaction':>11} {'in all':>8} {'p-value':>9}  columns (p corrected for all sets)"]
    for found in scanned.sets:
        names = " | ".join(shown(name) for name in scanned.names(found.variables))
        p = p_value_text(found.log_p_corrected)
        lines.append(f"{found.interaction:>11.6f} {found.total_correlation:>8.6f} {p:>9}  {names}")
    return [*lines, "", _meaning(scanned), "", _work(scanned)]


def _meaning(scanned: Scanned) -> str:
    n_found = sum(found.log_p_corrected <= log(_SIGNIFICANT) for found in scanned.sets)
    what = "share more than chance" if scanned.by == "total" else "share what no smaller set of them shows"
    if n_found == 0:
        return f"No set here is significant: none of them is shown to {what}."
    at_least = "at least " if n_found == len(scanned.sets) < scanned.n_sets else ""
    them = "set is" if n_found == 1 else "sets are"
    return f"{at_least}{n_found:,} {them} significant at 5 %: their columns {what}.".capitalize()


def _work(scanned: Scanned) -> str:
    return f"{counted(scanned.n_scanned, 'set')} of {scanned.order} columns looked at, {scanned.seconds:.2f} s"
