"""Scores: criteria for prediction and for comparison with the literature, not for control of false sets.

Each ranks a candidate by what it adds to a score of the whole network and accepts what adds anything. On 20
independent columns plain BIC learns a false link in most samples; its extended form charges for the number of
candidates and seldom does (docs/statistics.md). An exact joint has no rows, and is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, isfinite, lgamma, log, prod
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from xordal.counting.oracle import ROUNDING, CellCounter
from xordal.errors import SettingsError
from xordal.statistics.criterion import Evidence, Judge, Sample, Shape, Verdict, lowest_accepted
from xordal.types.varsets import VarSet, members

_SPARE = 1e-12  # of a bar: far more than its rounding


@dataclass(frozen=True, slots=True)
class BIC:
    """Bayesian information criterion: log-likelihood minus penalty * log(n) / 2 per free parameter.

    Parameters
    ----------
    penalty
        1 for the criterion itself; more for smaller networks.

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> table = CategoricalTable.from_rows("ab", [(0, 0), (1, 1)] * 20)
    >>> learn(table, criterion=BIC()).links
    ((0, 1),)
    """

    penalty: float = 1.0
    is_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_positive("penalty", self.penalty)

    def on(self, sample: Sample) -> Judge:
        """Return the judge of candidates in this sample."""
        n_rows = _rows(sample, "BIC")
        return _PenaltyJudge(n_rows, float(self.penalty) * log(n_rows) / 2, 0.0)

    def to_json(self) -> dict[str, object]:
        """Return the name and the penalty."""
        return {"name": "BIC", "penalty": self.penalty}


@dataclass(frozen=True, slots=True)
class EBIC:
    """Extended BIC: beside BIC's penalty, 2 * gamma * log(number of columns) per link.

    Parameters
    ----------
    gamma
        0 is BIC; 0.5 is usual; 1 charges each link with the number of pairs it was chosen from.

    References
    ----------
    Foygel & Drton (2010), Extended Bayesian information criteria for Gaussian graphical models: 4 gamma log N
    per link on the scale of twice the log-likelihood.
    """

    gamma: float = 0.5
    is_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_positive("gamma", self.gamma, or_zero=True)

    def on(self, sample: Sample) -> Judge:
        """Return the judge of candidates in this sample."""
        n_rows = _rows(sample, "EBIC")
        return _PenaltyJudge(n_rows, log(n_rows) / 2, 2 * float(self.gamma) * log(max(len(sample.n_levels), 1)))

    def to_json(self) -> dict[str, object]:
        """Return the name and gamma."""
        return {"name": "EBIC", "gamma": self.gamma}


@dataclass(frozen=True, slots=True)
class BDeu:
    """The Bayesian score with uniform hyper-Dirichlet priors: that of any perfect directed graph of it.

    The marginal likelihood of a chordal graph is a signed sum over its cliques and separators, of
    log Gamma(a) - log Gamma(a + n) + sum over cells of log Gamma(a_c + n_c) - log Gamma(a_c), with a_c the
    equivalent sample size over the number of cells.

    Parameters
    ----------
    ess
        Equivalent sample size: rows that the prior counts for.

    References
    ----------
    Dawid & Lauritzen (1993), Hyper Markov laws. Heckerman, Geiger & Chickering (1995), Learning Bayesian
    networks.
    """

    ess: float = 1.0
    is_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_positive("ess", self.ess)

    def on(self, sample: Sample) -> Judge:
        """Return the judge of candidates in this sample."""
        n_rows = _rows(sample, "BDeu")
        if sample.design is not None:
            raise SettingsError(
                "BDeu counts plain rows; for fractional weights or clusters choose BIC (--bic)."
            )
        assert sample.counter is not None
        return _BDeuJudge(sample.counter, sample.n_levels, n_rows, float(self.ess))

    def to_json(self) -> dict[str, object]:
        """Return the name and the equivalent sample size."""
        return {"name": "BDeu", "ess": self.ess}


class ScoreJudge(ABC):
    """A judge of any score: more is better, anything above zero is accepted.

    A score of your own says what a candidate adds to it and how much it can add at most. Its criterion has
    ``is_score`` true and returns such a judge; xordal's own scores below are made the same way.
    """

    @abstractmethod
    def score(self, batch: Sequence[Evidence]) -> list[float]:
        """Return what each candidate adds to the score of the network."""

    @abstractmethod
    def highest_score(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the most that candidates of a shape can add at each gain; it never falls with the gain."""

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the scores themselves, where they are accepted."""
        return [score if score > ROUNDING else -inf for score in self.score(batch)]

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the most that can be added, where it is anything at all."""
        scores = self.highest_score(shape, gains)
        return np.where(scores > ROUNDING, scores, -inf)

    def least_gain(self, shape: Shape) -> float:
        """Return the gain up to which nothing can be added."""
        return lowest_accepted(self.ceiling, shape)

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        """Rank by what is added to the score; accept what adds anything."""
        return [Verdict(score, score > ROUNDING) for score in self.score(batch)]

    def log_p_values(self, batch: Sequence[Evidence]) -> None:
        """Return None: a score has no p-values."""
        return  # a rule for all scores, not one to be filled in

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        """Return whether each would be accepted."""
        return [verdict.is_accepted for verdict in self.judge(batch)]

    def tolerance(self, best: float) -> float:
        """Return 1e-9 of the best score."""
        return 1e-9 * max(1.0, abs(best))


class _PenaltyJudge(ScoreJudge):
    def __init__(self, n_rows: int, per_parameter: float, per_link: float) -> None:
        self._n_rows = n_rows
        self._per_parameter = per_parameter
        self._per_link = per_link

    def score(self, batch: Sequence[Evidence]) -> list[float]:
        return [self._n_rows * e.gain - self._penalty(e.dof, len(e.links)) for e in batch]

    def highest_score(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score itself."""
        return self._n_rows * gains - self._penalty(shape.dof, shape.n_links)

    def least_gain(self, shape: Shape) -> float:
        """Return the gain at which the penalty is paid, or a little less."""
        return (1 - _SPARE) * max(self._penalty(shape.dof, shape.n_links), 0.0) / self._n_rows

    def _penalty(self, dof: int, n_links: int) -> float:
        return self._per_parameter * dof + self._per_link * n_links


class _BDeuJudge(ScoreJudge):
    def __init__(self, counter: CellCounter, n_levels: tuple[int, ...], n_rows: int, ess: float) -> None:
        self._counter = counter
        self._n_levels = n_levels
        self._n_rows = n_rows
        self._ess = ess
        self._known: dict[VarSet, float] = {}

    def score(self, batch: Sequence[Evidence]) -> list[float]:
        needed = dict.fromkeys(s for found in batch for s in found.change)
        new = [s for s in needed if s not in self._known]
        for s, table in zip(new, self._counter.counts(new), strict=True):
            self._known[s] = self._set_score(s, table.counts)
        return [fsum(sign * self._known[s] for s, sign in found.change.items()) for found in batch]

    def highest_score(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a bound that holds for any counts, whatever the gain: scans can discard nothing.

        A set's score is a log probability, at most 0; and at least n log(a_c / (ess + n)), since no row has a
        smaller probability given those before it. A chain of i links takes at most 2 i sets away.
        """
        log_cells = (shape.n_variables + shape.n_context) * log(max(self._n_levels))
        lowest = self._n_rows * (log_cells + log((self._ess + self._n_rows) / self._ess))
        return np.full(np.shape(gains), 2 * shape.n_links * lowest)

    def _set_score(self, variables: VarSet, counts: NDArray[np.int64]) -> float:
        """Return the log marginal likelihood of one set: empty cells add nothing."""
        from scipy.special import gammaln

        cell = self._ess / prod(self._n_levels[v] for v in members(variables))
        own = np.sort(gammaln(counts + cell)) - lgamma(cell)
        return fsum([lgamma(self._ess), -lgamma(self._ess + self._n_rows), *own.tolist()])


def _rows(sample: Sample, name: str) -> int:
    if sample.n_rows is None:
        raise SettingsError(
            f"{name} needs rows: learn from a table, or choose EntropyDecrement for an exact joint."
        )
    # Rows that weigh unequally or are alike say less: a score counts as many as would say as much.
    return sample.n_rows if sample.design is None else max(2, int(sample.design.effective_rows))


def _check_positive(name: str, value: float, *, or_zero: bool = False) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or value < 0 or (value == 0 and not or_zero):
        raise SettingsError(f"{name} must be a positive number, not {value!r}.")
