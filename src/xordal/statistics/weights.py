r"""Static weights: how the chance of any false acceptance is shared out among all hypotheses.

A hypothesis is a change of the graph: "in this set of links, behind these separators, some piece gains nothing
in the population". :class:`Weights` gives each a weight, and the weights of all hypotheses that a search could
ever meet sum to at most 1. A candidate is accepted when p <= alpha * weight.

**What is promised.** *With probability about 1 - alpha no accepted set held a piece whose links gained nothing
in the population when they were accepted.* A column that depends on nothing is a piece of any set that would
link it, and its links gain nothing; so no such column is linked. It is "about" since p-values are those of a
gamma law with the right mean and variance, not exact ones.

*Proof.* Let h be true: the part of some piece (:mod:`xordal.graph.pieces`) gains nothing, that is, each step of
its chain adds two variables that are independent given their separator. Then the p-value q of this part is
below a level with a probability of at most the level. The p-value of the set is the largest of its parts, p_h
>= q, so

    P(p_h <= alpha w_h) <= P(q <= alpha w_h) <= alpha w_h:

with several pieces nothing is to be divided by their number. By the union bound

    P(some true h is rejected) <= sum over true h of P(p_h <= alpha w_h) <= alpha * sum of w_h <= alpha,

whatever path the search takes, whatever it ranks by, with or without restarts. The graph at hand is random; the
universe is not, and so nothing else has to be paid for looking. A set with fill-in must pass the test of its
own links, each piece needed, and besides one of all its links.

**Rules.** Sums that the rows obey (:mod:`xordal.rules.evidence`) are looked for beside the links. Their
hypotheses are of another kind: "this sum holds no more often than if some part of its columns were independent
of the rest". All of them together have the weight :data:`RULES`, a twentieth: they are tested at ``alpha *
RULES`` by a union bound of their own. So the union bound over links and rules is ``alpha`` in all, whether
rules are sought or not.

**What is not promised.** That every link belongs to the true network: with x - y - z true, x and z depend on
each other, and may be linked before y is. Nor that every link of a piece is needed, where others of the piece
are; idle links are what :mod:`xordal.search.refine.prune` takes out.

The weight is the probability that the following lottery draws a description of the hypothesis. Every
hypothesis has a description, and different ones have different descriptions, so the weights sum to at most 1.

1. Plain, 0.9; a set with fill-in, or beyond the bounds of the search, 0.05; a rule, 0.05.
2. The number of links i and of their endpoints m: plain, one of the pairs a search can meet, all alike, where
   m <= i + 1, i <= m(m-1)/2 and neither exceeds the search's bounds; else m = 3, 4, ... with
   probability 2^(2-m), then i, one of m(m-1)/2, all alike. Two endpoints are always plain: a set with fill-in
   has at least two links, and no search has bounds below one link and two variables.
3. The endpoints W: one of the C(N, m) sets.
4. The links L: one of C(m(m-1)/2, i) sets of pairs in W. Plain, the other pairs of W are linked already; else
   a fair coin each says whether they are.
5. The number s of context variables, those of the separators outside W, from 0 to N - m, with a probability
   proportional to 3^-s; then the context: one of C(N - m, s) sets.
6. For each context variable, which variables of W it is linked with: one of the 2^m - m - 1 sets of at least
   two, since it lies in a separator, that is, among the common neighbours of two of them.

W, L, the links within W and those between W and the context determine every separator of the chain of additions
(:mod:`xordal.graph.chain`): the common neighbours, at its turn, of the two ends of a link. So they determine
the change, which proves that different hypotheses have different descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, inf, lgamma, log, log1p

_PLAIN, _ELSE = 0.9, 0.05
RULES = 0.05
"""Weight of all additive rules together; with those of links it makes one."""


@dataclass(frozen=True)
class Weights:
    """The weights of all hypotheses of one search.

    Parameters
    ----------
    n_variables
        Number N of columns.
    max_links
        Largest number of links a plain candidate may add.
    max_variables
        Largest variable set a plain candidate may complete.

    Examples
    --------
    >>> from math import exp
    >>> weights = Weights(n_variables=20, max_links=3, max_variables=4)
    >>> round(1 / exp(weights.log_weight(n_variables=3, n_links=3, n_context=0)))
    7600
    """

    n_variables: int
    max_links: int
    max_variables: int

    @cached_property
    def n_kinds(self) -> int:
        """Pairs (number of links, number of endpoints) that a plain candidate can have."""
        return sum(
            max(0, min(self.max_links, comb(m, 2)) - (m - 1) + 1)
            for m in range(2, min(self.max_variables, self.n_variables) + 1)
        )

    def log_weight(self, n_variables: int, n_links: int, n_context: int, *, is_filled: bool = False) -> float:
        """Return the log weight of a hypothesis: endpoints, links, context variables, with fill-in or not."""
        m, i, s = n_variables, n_links, n_context
        if m + s > self.n_variables:
            return -inf  # there is no such hypothesis
        is_plain = m - 1 <= i <= min(comb(m, 2), self.max_links) and m <= self.max_variables
        if is_plain and not is_filled:
            kind = log(_PLAIN) - log(self.n_kinds)
        elif m == 2:
            return -inf  # it would be plain
        else:
            kind = log(_ELSE) + (2 - m) * log(2) - log(comb(m, 2)) - (comb(m, 2) - i) * log(2)
        places = _log_comb(self.n_variables, m) + _log_comb(comb(m, 2), i)
        context = _log_comb(self.n_variables - m, s) + s * log(2**m - m - 1)
        return kind - places - context + _log_size_weight(s, self.n_variables - m)


def _log_size_weight(s: int, most: int) -> float:
    """Return the log of 3^-s over the sum of 3^-t for t from 0 to the most."""
    return log(2 / 3) - s * log(3) - log1p(-(3.0 ** -(most + 1)))


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
