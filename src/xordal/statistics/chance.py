"""What chance alone gains: the yardstick beside every gain until p-values take its place.

When nothing is there, G2 = 2 n gain is about chi-squared with the nominal degrees of freedom, so a gain is
dof / (2 n) on average. On sparse tables that is a rough guide.
"""

from __future__ import annotations

from collections.abc import Iterable

from xordal.types.trace import TraceEntry

WEAK = 3.0
"""A gain below this many times its expectation by chance is called weak."""


def expected_gain(dof: int, n_rows: int) -> float:
    """Return what a link set gains by chance on average, in nats.

    Examples
    --------
    >>> expected_gain(dof=4, n_rows=1000)
    0.002
    """
    return dof / (2 * n_rows)


def weak_entries(trace: Iterable[TraceEntry], n_rows: int) -> list[TraceEntry]:
    """Return the entries whose gain chance may well explain."""
    return [entry for entry in trace if entry.gain < WEAK * expected_gain(entry.dof, n_rows)]
