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

with several pieces nothing is to be divided by their number. Some sets are tested twice, by their parts and by
their odd cells (:mod:`xordal.statistics.oddness`): with a share s of the weight for the second test, the set is
accepted if p1 <= (1 - s) alpha w_h or p2 <= s alpha w_h. Both tests are of the same hypotheses, that some piece
gains nothing, and whether a set is tested twice depends on h alone. So the probability of that is at most
(1 - s) alpha w_h + s alpha w_h. By the union bound

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
2. The number of links i and of their endpoints m, the *kind*: plain, one of the kinds a search can meet, where
   m <= i + 1, i <= m(m-1)/2 and neither exceeds the search's bounds, with a probability proportional to its
   share (below); else m = 3, 4, ... with probability 2^(2-m), then i, one of m(m-1)/2, all alike. Two endpoints
   are always plain: a set with fill-in has at least two links, and no search has bounds below one link and two
   variables.
3. The endpoints W: one of the C(N, m) sets.
4. The links L: one of C(m(m-1)/2, i) sets of pairs in W. Plain, the other pairs of W are linked already; else
   a fair coin each says whether they are.
5. The number s of context variables, those of the separators outside W, from 0 to N - m, with a probability
   proportional to (m + 1)^-s; then the context: one of C(N - m, s) sets.
6. For each context variable, which variables of W it is linked with: one of the 2^m - m - 1 sets of at least
   two, since it lies in a separator, that is, among the common neighbours of two of them.

W, L, the links within W and those between W and the context determine every separator of the chain of additions
(:mod:`xordal.graph.chain`): the common neighbours, at its turn, of the two ends of a link. So they determine
the change, which proves that different hypotheses have different descriptions.

**What is shown passes its weight on.** Let C be a set of two columns or more, c the hypothesis that some piece
of it gains nothing when all its links come into a graph in which none of its columns has a link, and let c be
plain. Where the data reject it at its own level, alpha w_c, whoever joins C has more weight: the hypothesis j
that another column x gains nothing when all its links with C come in, C being linked already, has

    w_j + v_j,    v_j = w_c times the probability that a lottery of x, one of N - |C| columns, and of steps 5
                        and 6 for C and x draws x and the context of j.

The proof is that of a gatekeeper (Bretz et al. 2009). Say c is rejected at its level, accepted by the search or
not. If it is true, then a true hypothesis was rejected at its static level. If that happens to none, and j is
true and rejected, then c is false, or j was rejected at its static level too. So

    P(some true hypothesis is rejected) <= alpha (sum over true h of w_h + sum over false c of sum of v_j)
                                        <= alpha (sum over true h of w_h + sum over false c of w_c) <= alpha,

since the v_j of one c sum to at most w_c, and each j has one C. Whether c is rejected depends on the data alone
and not on the path. So an exclusive-or of three of twenty columns can have a larger share of the level than it
would if columns that join a linked pair had to live on theirs alone.

**Asking further costs at most a factor of two.** The share of m endpoints is 2^(1-m), so that single links have
1/2 of all there is, sets of three 1/4, and so on. Where m is more than two, sets without any link inside, i =
m(m-1)/2, have three quarters of it, since these are the sets that only a look at all of them together can
find, and who joins what is shown has besides what that passes on. The other numbers of links have the rest, all
alike. The weight of a kind is its share over the sum of the shares of all kinds that the search can meet.

*Proof.* Let S(k, m) be that sum. A search with larger bounds meets every kind that one with smaller bounds
meets, and gives it the same share. So the weight falls by the factor S(smaller) / S(larger). Every search meets
single links, hence S(smaller) >= 1/2, and all shares sum to at most 1/2 + 1/4 + ... = 1 >= S(larger). What
follows the number of links and endpoints, and sets with fill-in, do not depend on the bounds. Evenly shared,
the price of ``-m 5`` for a single link was a factor of 14.

What this was weighed against: rows for 90 % power, by the noncentral chi-squared law and relative to even
shares, are 0.92 for a weak link and 1.00 for an exclusive-or of three, both among 20 columns with k = 3; 1.07
for a column that joins a linked pair there, and 0.95 where the pair is shown by itself; 1.02 for parities of
four and of five among 12 columns with m = 4 and 5; 1.12 and 0.91 for a column that joins a linked triple
(``benchmarks/recovery/further.py``).

**Contexts.** A set of many endpoints can lie beside a context variable in many ways (step 6), so its weight
is spread thin there. That its number of context variables falls like (m + 1)^-s leaves more of the weight where
few ways share it. For single links it is 3^-s.

References
----------
Bretz, Maurer, Brannath & Posch (2009), A graphical approach to sequentially rejective multiple test procedures.
Statistics in Medicine 28.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, fsum, inf, lgamma, log, log1p

_PLAIN, _ELSE = (
    0.9,
    0.05,
)  # of link sets a lookahead completes as they are, and of all others; rules have the rest
_UNLINKED = 3 / 4  # of the share of m > 2 endpoints: of sets without a link inside
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
    6849
    """

    n_variables: int
    max_links: int
    max_variables: int

    @cached_property
    def _shares(self) -> float:
        """The sum of the shares of all kinds that a plain candidate can have."""
        most = min(self.max_variables, self.n_variables)
        return fsum(
            _share(m, i) for m in range(2, most + 1) for i in range(m - 1, min(self.max_links, comb(m, 2)) + 1)
        )

    def share(self, n_variables: int, n_links: int) -> float:
        """Return the part of all plain candidates' weight that one kind has, of so many endpoints and links."""
        return _share(n_variables, n_links) / self._shares

    def log_weight(self, n_variables: int, n_links: int, n_context: int, *, is_filled: bool = False) -> float:
        """Return the log weight of a hypothesis: endpoints, links, context variables, with fill-in or not."""
        m, i, s = n_variables, n_links, n_context
        if m + s > self.n_variables:
            return -inf  # there is no such hypothesis
        is_plain = m - 1 <= i <= min(comb(m, 2), self.max_links) and m <= self.max_variables
        if is_plain and not is_filled:
            kind = log(_PLAIN) + log(self.share(m, i))
        elif m == 2:
            return -inf  # it would be plain
        else:
            kind = log(_ELSE) + (2 - m) * log(2) - log(comb(m, 2)) - (comb(m, 2) - i) * log(2)
        places = _log_comb(self.n_variables, m) + _log_comb(comb(m, 2), i)
        return kind - places + self._log_context(m, s)

    def log_passed_on(self, n_variables: int, n_context: int) -> float:
        """Return the log of what is passed on to a column that joins others: of the weight of these, if shown.

        Examples
        --------
        >>> from math import exp
        >>> weights = Weights(n_variables=20, max_links=3, max_variables=4)
        >>> round(1 / exp(weights.log_passed_on(3, 0))), round(1 / exp(weights.log_weight(3, 2, 0)))
        (11558, 61644)
        """
        m = n_variables - 1  # that were linked before
        n_links = comb(m, 2)
        if n_variables + n_context > self.n_variables or n_links > self.max_links or m > self.max_variables:
            return -inf
        x = log(self.n_variables - m)
        return self.log_weight(m, n_links, 0) - x + self._log_context(n_variables, n_context)

    def _log_context(self, m: int, s: int) -> float:
        """Return the log of the probability that steps 5 and 6 draw one context of s variables."""
        ways = _log_comb(self.n_variables - m, s) + s * log(2**m - m - 1)
        return _log_size_weight(m + 1, s, self.n_variables - m) - ways


def _share(m: int, i: int) -> float:
    """Return the share of a kind, of so many endpoints and links; those of all kinds sum to 1."""
    if m == 2:
        return 0.5
    n_others = comb(m, 2) - (m - 1)  # kinds of sets with a link inside
    return 2.0 ** (1 - m) * (_UNLINKED if i == comb(m, 2) else (1 - _UNLINKED) / n_others)


def _log_size_weight(base: int, s: int, most: int) -> float:
    """Return the log of base^-s over the sum of base^-t for t from 0 to the most."""
    return log((base - 1) / base) - s * log(base) - log1p(-(float(base) ** -(most + 1)))


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
