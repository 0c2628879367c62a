"""Stability: how often links and hidden groups come back when some of the rows are left out.

Each resample keeps each row with the probability that a draw with replacement would have it at least once,
about 63 %, and is learned from with the same settings. Rows are not drawn twice: repeated rows look like
dependence, most of all in large tables, and noise would come back too. Resample number r always has the same
rows, whoever learns from it: its random numbers are named by the seed and r, so any number of workers gives
the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from math import exp
from typing import Any

import numpy as np

from xordal.data.entering import separated, table_from
from xordal.data.table import CategoricalTable
from xordal.learning.learn import learn
from xordal.types.learned import Stability
from xordal.types.varsets import Link, LinkSet, VarSet
from xordal.workers import check_whole_numbers, processes, stop_if_told

_KEPT = 1 - exp(-1)

Found = tuple[LinkSet, tuple[VarSet, ...]]


def bootstrap(
    data: Any,
    n_samples: int = 100,
    *,
    seed: int = 0,
    workers: int = 1,
    on_sample: Callable[[int], None] = lambda n_done: None,
    **settings: Any,
) -> Stability:
    """Learn from resamples of a table and count what comes back.

    Parameters
    ----------
    data
        A table, or anything :func:`xordal.read_table` takes: a data frame, an array, a file.
    n_samples
        Number of resamples.
    seed
        Of the random numbers.
    workers
        Processes to learn in; the result does not depend on it. With more than one, a script needs the usual
        ``if __name__ == "__main__":`` around what it does.
    on_sample
        Called with the number of resamples that are done.
    settings
        Those of :func:`xordal.learn`, with how the data are read among them.

    Examples
    --------
    >>> rows = [(a, b, a ^ b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 25
    >>> stability = bootstrap(CategoricalTable.from_rows("abcd", rows), 10)
    >>> stability.named_links["a", "b"], stability.named_groups["a", "b", "c"]
    (1.0, 1.0)
    """
    check_whole_numbers(("n_samples", n_samples, 1), ("seed", seed, 0), ("workers", workers, 1))
    how, settings = separated(settings)
    table = table_from(data, **how)
    links: Counter[Link] = Counter()
    submodels: Counter[VarSet] = Counter()
    run = partial(_found, table, seed, settings)
    with processes(workers) as pool:
        for n_done, (its_links, its_submodels) in enumerate(pool.map(run, range(n_samples)), start=1):
            links.update(its_links)
            submodels.update(its_submodels)
            on_sample(n_done)
    shares = _shares(links, n_samples), _shares(submodels, n_samples)
    return Stability(int(n_samples), int(seed), *shares, table.names)


def resample(table: CategoricalTable, generator: np.random.Generator) -> CategoricalTable:
    """Return some 63 % of the rows, at random; levels that no row has any more are left out.

    Rows that belong together stay or go together.
    """
    if table.design is not None:
        clusters = table.design.clusters
        place = np.arange(table.codes.shape[1]) if clusters is None else clusters
        stays = (generator.random(int(place.max()) + 1) < _KEPT)[place]
        stays = stays if stays.any() else np.ones(len(stays), dtype=np.bool_)
        weights = None if table.weights is None else table.weights[stays]
        columns = [column.only(stays) for column in table.columns()]
        return CategoricalTable.complete(columns, weights, table.design.only(stays))
    weights = np.ones(table.codes.shape[1], dtype=np.int64) if table.weights is None else table.weights
    kept = generator.binomial(weights, _KEPT)
    return CategoricalTable.complete(table.columns(), kept if kept.any() else weights)


def _found(table: CategoricalTable, seed: int, settings: dict[str, Any], number: int) -> Found:
    """Return what is learned from one resample."""
    rows = resample(table, np.random.default_rng([seed, number]))
    learned = learn(rows, **{"on_progress": stop_if_told, "find_rules": False, **settings})
    groups = {VarSet(group.variables | group.context) for group in learned.submodels or ()}
    return learned.links, tuple(groups)


def _shares(counts: Counter[Any], n_samples: int) -> dict[Any, float]:
    return {found: counts[found] / n_samples for found in sorted(counts)}
