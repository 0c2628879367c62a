"""tune(table) -> Tuned: the settings that predict held-out rows best, and the network they learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any

from xordal.data.entering import separated, table_from
from xordal.errors import SettingsError, counted
from xordal.learning.fitting import fit_network
from xordal.learning.learn import Interrupted, learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import Backoff, Smoothing
from xordal.search.limits import Limits
from xordal.statistics.scores import BIC
from xordal.tuning.holding_out import folds_of, occurring, split_with
from xordal.tuning.paths import Clock, Tuning, TuningProgress
from xordal.tuning.record import record
from xordal.tuning.trials import Grid, Trial
from xordal.types.learned import Learned
from xordal.workers import check_whole_numbers

LINKS = (1, 2, 3)
"""Links to look ahead that are tried."""

PENALTIES = (2.0, 1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
"""Penalties of BIC that are tried."""

SMOOTHINGS: tuple[Smoothing, ...] = (
    0.1, 1.0, 10.0, 100.0, Backoff(1), Backoff(3), Backoff(10), Backoff(30), Backoff(100), Backoff(300),
)  # fmt: skip
"""Smoothings that are tried."""

_OWN = ("criterion", "max_links", "max_variables", "checkpoint", "find_groups")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuned:
    """All settings tried, those chosen, and the network learned with them from all training rows.

    Attributes
    ----------
    trials
        By links, then by penalty and smoothing in the order tried.
    best
        The settings of the largest mean log-likelihood; of equals those of the simplest network.
    learned, network
        What they learn from the training table. Rows of a validation table choose, and are not counted.
    n_held_out
        Number of held-out rows behind each trial.
    n_folds, seed
        Of the cross-validation; None with a validation table.
    is_complete
        Whether all was tried that was meant to be: neither a limit nor Ctrl-C came before.
    seconds
        Of all of it.
    """

    trials: tuple[Trial, ...]
    best: Trial
    learned: Learned
    network: DecomposableMarkovNetwork
    n_held_out: int
    n_folds: int | None
    seed: int | None
    is_complete: bool
    seconds: float

    def __repr__(self) -> str:
        best, tried = self.best, counted(len(self.trials), "setting")
        chosen = f"max_links={best.max_links}, penalty={best.penalty:g}, smoothing={best.smoothing}"
        rows = counted(self.n_held_out, "held-out row")
        return f"Tuned to {chosen}, the best of {tried} on {rows}\n{self.learned!r}"


class TuningInterrupted(KeyboardInterrupt):
    """Ctrl-C while settings were tried; ``tuned`` is the best so far, None before anything was tried."""

    def __init__(self, tuned: Tuned | None) -> None:
        super().__init__("the tuning was interrupted; .tuned holds the best so far")
        self.tuned = tuned


def tune(  # noqa: PLR0913 - all but the data are keyword-only, each with a default
    data: Any,
    *,
    valid: Any = None,
    folds: int = 5,
    links: Sequence[int] = LINKS,
    penalties: Sequence[float] = PENALTIES,
    smoothings: Sequence[Smoothing] = SMOOTHINGS,
    seed: int = 0,
    workers: int = 1,
    limits: Limits | None = None,
    on_progress: Callable[[TuningProgress], None] = lambda progress: None,
    **settings: Any,
) -> Tuned:
    """Choose the settings that predict held-out rows best, and learn with them.

    Parameters
    ----------
    data
        The rows to learn from: a table, or anything :func:`xordal.read_table` takes.
    valid
        Rows to judge by, anything :func:`xordal.read_table` takes; without them the table is cross-validated.
        They are never counted: the network is of ``data`` alone.
    folds
        Parts of the cross-validation.
    links, penalties, smoothings
        What is tried: values of ``max_links``, of the penalty of :class:`~xordal.BIC`, and of ``smoothing``.
    seed
        Of the random numbers that make the folds.
    workers
        Processes to learn in; the result does not depend on it. With more than one, a script needs the usual
        ``if __name__ == "__main__":`` around what it does.
    limits
        As in :func:`xordal.learn`, for all of it together: a third of the time is kept for the last search,
        with the best settings of those tried until then.
    on_progress
        Called with a :class:`~xordal.tuning.paths.TuningProgress` after each search.
    settings
        Those of :func:`xordal.learn`: ``constraints``, ``backend`` and the like, and how the data are read.
        ``local_search`` is off unless it is asked for here: it takes several times as long and hardly changes
        what is predicted.

    Raises
    ------
    SettingsError
        If a parameter is out of range, or a limit too small for even one setting.
    DataError
        If the validation table lacks a column or a value.
    TuningInterrupted
        On Ctrl-C, with the best so far.

    Examples
    --------
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 50
    >>> table = dict(zip(["a", "b", "a_xor_b"], zip(*rows)))
    >>> tuned = tune(table, links=(1, 3), penalties=(1, 0.5))
    >>> tuned.best.max_links, tuned.best.penalty, len(tuned.trials)
    (3, 1.0, 40)
    >>> round(tuned.best.log_likelihood, 2), len(tuned.network.graph.links)
    (-1.41, 3)
    """
    started = perf_counter()
    check_whole_numbers(("folds", folds, 2), ("seed", seed, 0), ("workers", workers, 1))
    grid = Grid.of(links, penalties, smoothings)
    how, settings = separated(settings)
    table = table_from(data, **how).plain("Tuning")
    _check(settings)
    settings["local_search"] = bool(settings.get("local_search"))
    splits = folds_of(table, folds, seed) if valid is None else [split_with(table, valid)]
    whole = table.distinct() if valid is None else splits[0].training
    clock = Clock(limits or Limits(), workers)
    tuning = Tuning(splits, grid, clock, settings, on_progress)
    is_interrupted = False
    try:
        tuning.run(workers)
    except KeyboardInterrupt:
        is_interrupted = True
    if (best := tuning.best) is None:
        if is_interrupted:
            raise TuningInterrupted(None)
        raise SettingsError("A limit ended the tuning before one setting was tried: give more time or memory.")
    if best.log_likelihood == -inf:
        raise SettingsError(
            "No setting that was tried gives every held-out row a chance: some hold what was never learned. "
            "Take a smoothing above 0."
        )
    settings |= {"max_links": best.max_links, "criterion": BIC(best.penalty), "limits": clock.for_the_last()}
    try:
        learned = learn(occurring(whole), **settings)
    except Interrupted as stop:
        learned, is_interrupted = stop.learned, True
    held_out = {"rows": int(sum(split.weights.sum() for split in splits))}
    if valid is None:
        held_out |= {"folds": int(folds), "seed": int(seed)}
    learned = replace(learned, settings={**learned.settings, "tuned": record(tuning.trials, best, held_out)})
    tuned = Tuned(
        tuning.trials,
        best,
        learned,
        fit_network(whole, learned, smoothing=best.smoothing),
        held_out["rows"],
        held_out.get("folds"),
        held_out.get("seed"),
        not is_interrupted and not tuning.is_cut,
        perf_counter() - started,
    )
    if is_interrupted:
        raise TuningInterrupted(tuned)
    return tuned


def _check(settings: dict[str, Any]) -> None:
    for name in _OWN:
        if name in settings:
            raise SettingsError(
                f"tune() chooses by BIC what {name} would say; leave it out (see links, penalties)."
            )
