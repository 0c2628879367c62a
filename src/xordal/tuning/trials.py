"""What is tried, what a search on one split finds, and how good settings are by all splits together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.backoff import BackoffClique
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import Backoff, Smoothing, checked
from xordal.search.limits import Limits
from xordal.statistics.scores import BIC
from xordal.tuning.holding_out import Split, occurring
from xordal.types.varsets import members
from xordal.workers import check_whole_numbers, stop_if_told


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings that were tried, and how well held-out rows were predicted.

    Attributes
    ----------
    max_links, penalty, smoothing
        The settings.
    log_likelihood
        Mean log probability of a held-out row, in nats; -inf where one was impossible.
    standard_error
        Of that mean, over the rows; infinite where the mean is.
    n_links, n_parameters
        Size of the network; the mean over folds.
    """

    max_links: int
    penalty: float
    smoothing: Smoothing
    log_likelihood: float
    standard_error: float
    n_links: float
    n_parameters: float


@dataclass(frozen=True, slots=True)
class Grid:
    """What is tried: links in increasing order, penalties from the largest down, smoothings as given."""

    links: tuple[int, ...]
    penalties: tuple[float, ...]
    smoothings: tuple[Smoothing, ...]

    @classmethod
    def of(cls, links: Sequence[int], penalties: Sequence[float], smoothings: Sequence[Smoothing]) -> Grid:
        """Return a checked grid; what is there twice is tried once."""
        for name, given in (("links", links), ("penalties", penalties), ("smoothings", smoothings)):
            if isinstance(given, str | Real | Backoff) or not len(given):
                raise SettingsError(f"{name} must be a list of at least one value, not {given!r}.")
        check_whole_numbers(*(("Each of links", k, 1) for k in links))
        checked_penalties = {float(BIC(penalty).penalty) for penalty in penalties}
        return cls(
            tuple(sorted({int(k) for k in links})),
            tuple(sorted(checked_penalties, reverse=True)),
            tuple(dict.fromkeys(checked(smoothing) for smoothing in smoothings)),
        )


@dataclass(frozen=True, slots=True)
class SplitResult:
    """What one search on one split found.

    Attributes
    ----------
    n_links, n_parameters
        Size of its network.
    sums
        Number of held-out rows, and for each smoothing the sum of their log probabilities and of the squares.
    """

    n_links: int
    n_parameters: int
    n_rows: int
    sums: tuple[tuple[float, float], ...]


def search(
    split: Split,
    max_links: int,
    penalty: float,
    smoothings: tuple[Smoothing, ...],
    limits: Limits,
    settings: dict[str, Any],
) -> SplitResult | None:
    """Learn from one split and return what its held-out rows say; None where a limit ended the search."""
    learned = learn(
        occurring(split.training),
        max_links=max_links,
        criterion=BIC(penalty),
        limits=limits,
        find_groups=False,
        **{"on_progress": stop_if_told, **settings},
    )
    if not learned.run.is_complete:
        return None
    network = fit_network(split.training, learned)
    logs = log_probs(network, split.codes, smoothings)
    weighted = [(float(row @ split.weights), float(row**2 @ split.weights)) for row in logs]
    return SplitResult(len(learned.links), network.n_parameters, int(split.weights.sum()), tuple(weighted))


def log_probs(
    network: DecomposableMarkovNetwork, codes: NDArray[np.integer], smoothings: Sequence[Smoothing]
) -> NDArray[np.float64]:
    """Return the log probabilities of rows under several smoothings, shape (smoothings, rows).

    All back-offs look the counts up once.
    """
    logs = np.empty((len(smoothings), codes.shape[1]))
    borrowed = {place: how.rows for place, how in enumerate(smoothings) if isinstance(how, Backoff)}
    for place, smoothing in enumerate(smoothings):
        if place not in borrowed:
            logs[place] = network.smoothed(smoothing).log_prob(codes)
    if borrowed:
        logs[list(borrowed)] = 0.0
        backoff = network.smoothed(Backoff(max(borrowed.values())))
        for variables, conditional in zip(backoff.tree.cliques, backoff.conditionals, strict=True):
            clique = cast("BackoffClique", conditional)
            logs[list(borrowed)] += clique.log_probs_of(
                codes[list(members(variables))], list(borrowed.values())
            )
    return logs


def trials_of(
    max_links: int, penalty: float, smoothings: Sequence[Smoothing], found: Sequence[SplitResult]
) -> list[Trial]:
    """Return how good each smoothing is by all splits together."""
    n = sum(one.n_rows for one in found)
    n_links, n_parameters = (
        sum(size) / len(found) for size in zip(*((one.n_links, one.n_parameters) for one in found), strict=True)
    )
    trials = []
    for place, smoothing in enumerate(smoothings):
        mean = sum(one.sums[place][0] for one in found) / n
        error = inf
        if isfinite(mean):
            square = sum(one.sums[place][1] for one in found) / n
            error = sqrt(max(square - mean**2, 0.0) / n)
        trials.append(Trial(max_links, penalty, smoothing, mean, error, n_links, n_parameters))
    return trials


def best_of(trials: Sequence[Trial], smoothings: Sequence[Smoothing]) -> Trial:
    """Return the trial of the largest mean log-likelihood; of equals the one of the simplest network.

    That has fewer parameters, else fewer links to look ahead, a larger penalty or the earlier smoothing.
    """

    def preference(trial: Trial) -> tuple[float, float, int, float, int]:
        place = smoothings.index(trial.smoothing)
        return -trial.log_likelihood, trial.n_parameters, trial.max_links, -trial.penalty, place

    return min(trials, key=preference)
