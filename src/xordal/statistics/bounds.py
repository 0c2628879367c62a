"""How much dependence an accepted independence may hide."""

from __future__ import annotations

CONFIDENCE = 0.95
"""Of bounds on what may be hidden, as of all ranges that are told."""


def information_bound(information: float, dof: int, n_rows: int, confidence: float = CONFIDENCE) -> float:
    """Return an upper confidence bound on an information that was estimated from rows, in nats.

    G2 = 2 n times the estimate is about noncentral chi-squared with noncentrality 2 n times the truth. The
    bound is the truth under which a G2 this small would have the probability 1 - confidence. A G2 below its
    mean under independence is taken as that mean: luck cannot make the bound better than the rows allow.

    Examples
    --------
    >>> round(information_bound(0.0, dof=1, n_rows=500), 5)
    0.00699
    """
    from scipy.special import chndtrinc

    g2 = max(2 * n_rows * information, float(dof), 1e-9)
    return float(max(chndtrinc(g2, max(dof, 1), 1 - confidence), 0.0)) / (2 * n_rows)
