"""Significance: the default criterion, right without tuning.

The promise: with probability about 1 - alpha no accepted set held a piece whose links gained nothing in the
population when they were accepted. So no column that depends on nothing is linked. It does not say that every
link belongs to the true network: with x - y - z true and an empty graph, x and z do depend on each other.

The p-value of a set is that of its least needed piece (:mod:`xordal.statistics.needed`), or that of its odd
cells (:mod:`xordal.statistics.oddness`), a second test of the same hypotheses that needs fewer rows where all
columns have two levels and only all of them together show anything. The weight is shared between both: of p1
and p2 the set has the smaller of p1 / (1 - s) and p2 / s, which is valid if both are. The p-value of a piece is
the larger of two. One is of the law that its G2 has when nothing is there, given the margins
(:mod:`xordal.statistics.null_law`); it is right on sparse tables. The other is that of the nominal chi-squared
for a set without context, and of one degree of freedom for a set with one. It costs little power and makes
:meth:`SignificanceJudge.ceiling` a bound that needs no counts. The level alpha is shared out among all
hypotheses by static weights, and what is shown passes its share on (:mod:`xordal.statistics.weights`,
:mod:`xordal.statistics.levels`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations, compress
from math import inf, log
from numbers import Integral, Real
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.graph.pieces import pieces
from xordal.graph.signed_sets import free_parameters
from xordal.statistics.chi_squared import FEW, log_tail, log_tails, quantile_of
from xordal.statistics.criterion import EntropyDecrement, Evidence, Judge, Sample, Shape, Verdict
from xordal.statistics.discoveries import beta, n_accepted
from xordal.statistics.levels import Levels, joined
from xordal.statistics.needed import NeededParts, largest_part, largest_part_of_free
from xordal.statistics.null_law import NullLaw, is_beyond_doubt, log_p_value, lowest_by_mean
from xordal.statistics.oddness import SHARE, is_tested, of_sets
from xordal.statistics.weights import Weights
from xordal.types.choices import Control
from xordal.types.trace import TraceEntry
from xordal.types.varsets import SignedSets, VarSet, members

_LARGE = 64  # degrees of freedom from which on a bound on the mean is much quicker than exact moments
_SPARE = 1e-9  # of a bar: far more than its rounding
_OF_PARTS, _OF_ODD = log(1 - SHARE), log(SHARE)  # of the weight of a set that has both tests


@dataclass(frozen=True, slots=True)
class Significance:
    """Rank by p-value, accept at a level that holds for all that is looked at together.

    An exact joint has no chance in it: there every gain above rounding counts, ranked by its size.

    Parameters
    ----------
    alpha
        Probability, about, of accepting any set of links with a piece that gains nothing in the population.
    seed
        Of the shuffles by which the largest sparse tables are judged.
    control
        ``"fwer"``: alpha is the probability that any accepted set is false. ``"fdr"``: it is the share of false
        sets among those accepted, on average, which finds more where there is much to find
        (:mod:`xordal.statistics.discoveries`).

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> learn(CategoricalTable.from_rows("abc", rows), criterion=Significance(0.01)).links
    ((0, 1), (0, 2), (1, 2))
    """

    alpha: float = 0.05
    seed: int = 0
    control: Control = "fwer"
    is_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.control not in get_args(Control):
            raise SettingsError(f"control must be 'fwer' or 'fdr', not {self.control!r}.")
        is_number = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not is_number or not 0 < self.alpha < 1:
            raise SettingsError(f"alpha must be a probability between 0 and 1, not {self.alpha!r}.")
        if not isinstance(self.seed, Integral) or isinstance(self.seed, bool) or self.seed < 0:
            raise SettingsError(f"seed must be zero or a positive whole number, not {self.seed!r}.")

    def on(self, sample: Sample) -> Judge:
        """Return the judge of candidates in this sample."""
        if sample.n_rows is None or sample.counter is None:
            return EntropyDecrement(0.0)
        judge = SignificanceJudge(self.alpha, sample, int(self.seed), self.control)
        return judge if self.control == "fwer" else judge.raised(beta(1, len(sample.n_levels)))

    def next_judge(self, judge: Judge, trace: Sequence[TraceEntry], n_variables: int) -> Judge | None:
        """Return a judge of a higher level, if what was accepted allows for one; ``judge`` is that of now."""
        if self.control == "fwer" or not isinstance(judge, SignificanceJudge):
            return None
        factor = beta(n_accepted(trace), n_variables)
        return judge.raised(factor) if factor > judge.factor else None

    def to_json(self) -> dict[str, object]:
        """Return the name, the level and the seed: all that what it accepts depends on."""
        control = {} if self.control == "fwer" else {"control": self.control}
        return {"name": "Significance", "alpha": self.alpha, "seed": int(self.seed), **control}


class SignificanceJudge:
    """Significance put to a sample."""

    def __init__(self, alpha: float, sample: Sample, seed: int, control: Control) -> None:
        assert sample.n_rows is not None and sample.counter is not None
        self._alpha, self.factor = alpha, 1.0
        self._n_rows, self._n_levels = sample.n_rows, sample.n_levels
        weights = Weights(len(sample.n_levels), sample.max_links, sample.max_variables)
        self._levels = Levels(log(alpha), weights, passes_on=control == "fwer")
        self._shown: dict[VarSet, bool] = {}
        self._is_plain = sample.design is None
        self._law = NullLaw(sample.counter, sample.n_levels, seed, sample.design, sample.check, sample.kernels)
        self._needed = NeededParts(self._law, sample.n_levels)

    def raised(self, factor: float) -> SignificanceJudge:
        """Return the judge of the same sample at so many times the level; what was counted is shared."""
        found = copy(self)
        found.factor, found._levels = factor, self._levels.at(log(self._alpha) + log(factor))
        found._shown = {}
        return found

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        """Rank by -log p of the least needed piece.

        One that cannot be accepted has no p-value, since not all was counted for it.
        """
        shapes = self._shapes(batch)
        bars, lowest = self._bars(batch, shapes), self._lowest(batch, shapes)
        able = [place for place, bar in enumerate(bars) if lowest[place] <= bar]
        parts = self._needed.of([batch[place] for place in able])
        is_odd = [shapes[place].is_odd for place in able]
        own_bars = [bars[place] + is_two * _OF_PARTS for place, is_two in zip(able, is_odd, strict=True)]
        of_parts = self._largest(parts, own_bars)
        of_odd = iter(self._odd([batch[place] for place in able if shapes[place].is_odd]))
        found = [Verdict(-low, False) for low in lowest]
        for place, is_two, needed in zip(able, is_odd, of_parts, strict=True):
            odd = next(of_odd) - _OF_ODD if is_two else inf
            if is_two:
                log_p = min(odd, 0.0 if needed is None else needed - _OF_PARTS, 0.0)
            elif needed is not None:
                log_p = needed
            else:
                continue
            level = self._level(batch[place], shapes[place], log_p)
            found[place] = Verdict(-log_p, log_p <= level, log_p, odd <= level)
        return found

    def _level(self, found: Evidence, shape: Shape, log_p: float) -> float:
        """Return the level of a candidate, which the columns that it joins may raise."""
        own, highest = self._levels.own(shape, bool(found.fill_in)), self._levels.highest(found, shape)
        return highest if own < log_p <= highest and self._is_shown(joined(found)) else own

    def _is_shown(self, variables: VarSet) -> bool:
        """Whether some columns would be accepted as a set of their own, in a graph without links."""
        if variables not in self._shown:
            inside = members(variables)
            terms: SignedSets = {variables: 1, **{VarSet(1 << v): -1 for v in inside}}
            (gain,) = self._law.gains([terms])
            dof = free_parameters(terms, self._n_levels)
            one = Evidence(variables, tuple(combinations(inside, 2)), terms, gain, dof, self._n_rows)
            self._shown[variables] = self.judge([one])[0].is_accepted
        return self._shown[variables]

    def _odd(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the log p-values of odd cells, none below a bound that needs no counts."""
        return list(map(max, of_sets(batch, self._law), self._tails(batch, [1] * len(batch))))

    def _shapes(self, batch: Sequence[Evidence]) -> list[Shape]:
        shapes = [found.shape for found in batch]
        return [
            shape._replace(is_odd=True) if self._is_odd(found, shape) else shape
            for found, shape in zip(batch, shapes, strict=True)
        ]

    def _is_odd(self, found: Evidence, shape: Shape) -> bool:
        """Whether odd cells are tested."""
        return (
            self._is_plain
            and not found.is_fixed
            and not shape.n_context
            and is_tested([self._n_levels[v] for v in members(found.variables)])
            and len(pieces(found.variables, found.links)) > 1
        )

    def _largest(self, sets: Sequence[Sequence[Evidence]], bars: Sequence[float]) -> list[float | None]:
        """Return the largest log p-value of each set's parts; None where one of them cannot reach the bar."""
        nominal = _of_parts(self._nominal, dict(enumerate(sets)))
        able = {place: sets[place] for place, log_p in nominal.items() if log_p <= bars[place]}
        # Of the parts of a set that shows nothing one is enough to tell, and moments of large ones are dear.
        by_mean = _of_parts(self._by_mean, {place: parts[:1] for place, parts in able.items()})
        able = {place: parts for place, parts in able.items() if by_mean[place] <= bars[place]}
        n_first = {place: 1 if parts[0].dof >= _LARGE else len(parts) for place, parts in able.items()}
        log_ps = _of_parts(self.log_p_values, {place: parts[: n_first[place]] for place, parts in able.items()})
        rest = {place: able[place][n_first[place] :] for place, log_p in log_ps.items() if log_p <= bars[place]}
        for place, log_p in _of_parts(self.log_p_values, rest).items():
            log_ps[place] = max(log_p, log_ps[place])
        return [log_ps.get(place) for place in range(len(sets))]

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        """Return -log p of the nominal test, where that can be accepted."""
        shapes = self._shapes(batch)
        both = zip(self._lowest(batch, shapes), self._bars(batch, shapes), strict=True)
        return [-log_p if log_p <= bar else -inf for log_p, bar in both]

    def nearer(self, batch: Sequence[Evidence]) -> list[float | None]:
        """Return -log p by bounds on means, where tables are large and that can be accepted."""
        shapes = self._shapes(batch)
        both = zip(batch, shapes, self._bars(batch, shapes), strict=True)
        able = [
            (found, bar) if shape.n_context and self._has_dear_moments(found) else None
            for found, shape, bar in both
        ]
        log_ps = iter(self._by_mean([one[0] for one in able if one is not None]))
        ranks = [None if one is None else (next(log_ps), one[1]) for one in able]
        return [None if one is None else -one[0] if one[0] <= one[1] else -inf for one in ranks]

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        """Return whether each p-value is below alpha times its weight, or alpha / n_tests.

        The evidence is of whole sets here, whatever their pieces.
        """
        bars = [self._levels.log_alpha - log(n_tests or 1)] * len(batch)
        if n_tests is None:
            bars = [self._levels.own(found.shape, bool(found.fill_in)) for found in batch]
        is_sure = [self._is_beyond_doubt(found, bar) for found, bar in zip(batch, bars, strict=True)]
        rest = [[found] for found, is_known in zip(batch, is_sure, strict=True) if not is_known]
        left = [bar for bar, is_known in zip(bars, is_sure, strict=True) if not is_known]
        shown = (
            log_p is not None and log_p <= bar
            for log_p, bar in zip(self._largest(rest, left), left, strict=True)
        )
        return [is_known or next(shown) for is_known in is_sure]

    def _is_beyond_doubt(self, found: Evidence, bar: float) -> bool:
        """Whether no exact p-value is needed; the bound holds for the nominal one too, of lower moments."""
        return (
            self._is_plain
            and len(found.links) == 1
            and is_beyond_doubt(2 * self._n_rows * found.gain, found.dof, bar)
        )

    def log_p_values(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the log p-value of each as a whole, accepted or not."""
        return [
            max(log_p_value(2 * self._n_rows * found.gain, law), lowest)
            for found, law, lowest in zip(batch, self._law.moments(batch), self._nominal(batch), strict=True)
        ]

    def _has_dear_moments(self, found: Evidence) -> bool:
        """Whether a bound on the mean is much quicker than exact moments."""
        return found.dof >= _LARGE and not self._law.is_quick(found)

    def _by_mean(self, batch: Sequence[Evidence]) -> list[float]:
        """Return log p-values that need only bounds below the means of large sets; no set's own is lower."""
        is_large = list(map(self._has_dear_moments, batch))
        means = iter(self._law.mean_bounds(list(compress(batch, is_large))))
        return [
            lowest_by_mean(2 * self._n_rows * found.gain, next(means)) if large else -inf
            for found, large in zip(batch, is_large, strict=True)
        ]

    def _nominal(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the log p-values of whole sets that need no counts; no set's own is lower."""
        return self._tails(batch, [_nominal_dof(found.shape) for found in batch])

    def _lowest(self, batch: Sequence[Evidence], shapes: Sequence[Shape]) -> list[float]:
        """Return the log p-values that need no counts; that of no set's least needed piece is lower."""
        of_parts = self._tails(batch, [self._largest_dof(*pair) for pair in zip(batch, shapes, strict=True)])
        are_odd = [found for found, shape in zip(batch, shapes, strict=True) if shape.is_odd]
        of_odd = iter(self._tails(are_odd, [1] * len(are_odd)))
        return [
            min(parts - _OF_PARTS, next(of_odd) - _OF_ODD, 0.0) if shape.is_odd else parts
            for shape, parts in zip(shapes, of_parts, strict=True)
        ]

    def _largest_dof(self, found: Evidence, shape: Shape) -> int:
        """Return the nominal degrees of freedom of the largest part of a candidate."""
        part_dof = None
        if shape.n_context == 0 and not found.is_fixed:
            part_dof = largest_part(found.variables, found.links, self._n_levels)
        return _nominal_dof(shape) if part_dof is None else max(part_dof, 1)

    def _tails(self, batch: Sequence[Evidence], dofs: Sequence[int]) -> list[float]:
        return log_tails([2 * self._n_rows * found.gain for found in batch], [float(dof) for dof in dofs])

    def _bars(self, batch: Sequence[Evidence], shapes: Sequence[Shape]) -> list[float]:
        return [self._levels.highest(*both) for both in zip(batch, shapes, strict=True)]

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return -log p of the nominal test, where that can be accepted."""
        log_ps = self._nominal_tails(gains, _nominal_dof(shape))
        if self._has_odd(shape):
            both = log_ps - _OF_PARTS, self._nominal_tails(gains, 1) - _OF_ODD
            log_ps = np.minimum(np.minimum(*both), 0.0)
        return np.where(log_ps <= self._levels.highest_of(shape), -log_ps, -inf)

    def _nominal_tails(self, gains: NDArray[np.float64], dof: int) -> NDArray[np.float64]:
        g2 = 2 * self._n_rows * gains
        return np.array(log_tails(g2.tolist(), [dof] * len(g2))) if len(g2) <= FEW else log_tail(g2, dof)

    def least_gain(self, shape: Shape) -> float:
        """Return the gain up to which the nominal test accepts no candidate of a shape, or a little less."""
        bar = self._levels.highest_of(shape)
        if bar == -inf:
            return inf
        return (1 - _SPARE) * _quantile(bar, _nominal_dof(shape), self._has_odd(shape)) / (2 * self._n_rows)

    def _has_odd(self, shape: Shape) -> bool:
        return self._is_plain and shape.is_odd

    def tolerance(self, best: float) -> float:
        """Return 1e-9 of the best rank."""
        return 1e-9 * max(1.0, abs(best))


def _of_parts(
    log_ps_of: Callable[[Sequence[Evidence]], list[float]], sets: Mapping[int, Sequence[Evidence]]
) -> dict[int, float]:
    """Return the largest of the log p-values of each set's parts, by the set's number."""
    log_ps = iter(log_ps_of([part for parts in sets.values() for part in parts]))
    return {place: max([next(log_ps) for _ in parts]) for place, parts in sets.items() if parts}


def smallest_gain(size: int, n_variables: int, n_rows: int, bounds: tuple[int, int], alpha: float) -> float:
    """Return from which gain on an unlinked set of columns with two levels each is accepted, in nats.

    ``bounds`` are the largest number of links and of variables that the search completes at once.

    Examples
    --------
    >>> round(smallest_gain(2, n_variables=20, n_rows=500, bounds=(3, 4), alpha=0.05), 4)
    0.0151
    """
    log_weight = Weights(n_variables, *bounds).log_weight(size, size * (size - 1) // 2, 0)
    dof = largest_part_of_free((2,) * size)
    return _quantile(log(alpha) + log_weight, dof, is_tested((2,) * size)) / (2 * n_rows)


def _quantile(bar: float, dof: int, is_odd: bool) -> float:
    """Return the G2 from which on the nominal test, or that of odd cells, reaches a log p-value."""
    if not is_odd:
        return quantile_of(bar, dof)
    return min(quantile_of(bar + _OF_PARTS, dof), quantile_of(bar + _OF_ODD, 1))


def _nominal_dof(shape: Shape) -> int:
    if shape.n_context:
        return 1
    return max(shape.dof if shape.part_dof is None else shape.part_dof, 1)
