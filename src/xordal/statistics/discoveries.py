r"""The false discovery rate: of the sets that are accepted, how large a share may be false on average.

``Significance(alpha)`` promises that about 1 - alpha of all searches accept nothing false. Who screens many
columns and will look at each finding again may prefer that about 1 - alpha *of what is accepted* is true, and
find more for it: ``Significance(alpha, control="fdr")``. A set is false where it holds a piece that gains
nothing, as in :mod:`xordal.statistics.weights`, whose weights w are used here too.

**The rule.** Let A be the different sets that a search accepts. Every one of them must have a p-value of at
most

    alpha w beta(|A|),    beta(r) = sum over j <= r of j nu(j),    nu >= 0, sum of nu at most 1.

A search that accepts such sets only is *self-consistent* (Blanchard & Roquain 2008). One that goes on with a
higher level once it has accepted more is: beta does not fall, so what was accepted at the level of r sets
stays below that of more. Hence the search starts with beta(1), carries its schedule out, and starts again on
the network that it has, at the level of as many sets as it has accepted, while that is a higher one.

**Proof.** Let p be a p-value, P(p <= t) <= t, and V >= 1 a whole number that may depend on it in any way.
Since 1 / V is the sum of 1 / (j (j + 1)) over j >= V,

    E[ 1{p <= c beta(V)} / V ]  =  sum over j of P(p <= c beta(V), V <= j) / (j (j + 1))
                                <= sum over j of P(p <= c beta(j)) / (j (j + 1))
                                <= c sum over j of beta(j) / (j (j + 1))
                                =  c sum over k of k nu(k) sum over j >= k of 1 / (j (j + 1))
                                =  c sum over k of nu(k)  <=  c.

The share of false sets among those accepted is the sum over false hypotheses h of 1{h in A} / |A|, and h in A
implies p_h <= alpha w_h beta(|A|). So its expectation is at most the sum of alpha w_h, which is at most alpha:
whatever the order of the search, and however p-values depend on each other.

**The choice of nu.** A quarter of it is at 1. The rest is shared evenly among 2, 4, 8, ... up to the number of
pairs of columns; no search needs more sets. So the level rises whenever the number of sets has doubled: among
20 columns it is 0.9 alpha w with four sets, 3.5 with 16 and 13.8 with 64. That p-values may depend on each
other in any way has its price: with few sets the level is below that of ``control="fwer"``.

References
----------
Blanchard & Roquain (2008), Two simple sufficient conditions for FDR control. Electronic J. of Statistics 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

from xordal.types.trace import TraceEntry

_AT_ONE = 0.25  # of nu


def n_accepted(trace: Iterable[TraceEntry]) -> int:
    """Return how many different sets a search has accepted, by their links; none of these is required."""
    return len({entry.links for entry in trace if entry.action == "add" and entry.lookahead > 0})


def beta(n_sets: int, n_variables: int) -> float:
    """Return by how much the level of each hypothesis rises when so many sets are accepted.

    Examples
    --------
    >>> [round(beta(n, n_variables=20), 3) for n in (0, 1, 4, 16, 64)]
    [0.25, 0.25, 0.893, 3.464, 13.75]
    """
    most = comb(n_variables, 2)
    powers = [1 << power for power in range(1, most.bit_length())]
    return _AT_ONE + sum([(1 - _AT_ONE) * j / len(powers) for j in powers if j <= n_sets])
