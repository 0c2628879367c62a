"""What a set of variables shares that no smaller set of them shows.

Among all distributions that agree with the data on every proper subset of the variables, the one of largest
entropy holds what the subsets explain. The rest, the divergence of the data from it, is the *interaction* of
the set (the connected information of Schneidman et al. 2003): zero when smaller sets explain everything, all
of the total correlation when every proper subset is independent, as in a full PI model. Of a pair it is the
mutual information. 2 n times the interaction is the likelihood-ratio statistic for the highest-order term of
the log-linear model, with the product of (levels - 1) degrees of freedom.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.statistics.fitting import FEW_PARAMETERS, all_but_one, fit_margins, model_parameters


def interactions(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the interaction, in nats, of each table of a batch.

    Parameters
    ----------
    tables
        Shape (tables, levels of the first variable, levels of the second, ...): counts.

    Examples
    --------
    >>> xor = np.array([[[[25.0, 0], [0, 25]], [[0, 25], [25, 0]]]])
    >>> interactions(xor).round(6)
    array([0.693147])
    >>> copies = np.array([[[[50.0, 0], [0, 0]], [[0, 0], [0, 50]]]])
    >>> abs(interactions(copies).round(6))
    array([0.])
    """
    return divergences(tables, fit_margins(tables))


def divergences(tables: NDArray[np.float64], fitted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each table of a batch is from its fitted one, in nats: the mean of log(cell / fitted)."""
    n_rows = tables.reshape(len(tables), -1).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(tables > 0, tables * np.log(tables / fitted), 0.0)
    return np.asarray(np.maximum(terms.reshape(len(tables), -1).sum(axis=1) / n_rows, 0.0))


def interaction_dof(levels: tuple[int, ...]) -> int:
    """Return the degrees of freedom of an interaction: the product of levels less one.

    Examples
    --------
    >>> interaction_dof((2, 3, 4))
    6
    """
    return prod(r - 1 for r in levels)


def moments_of_interaction(table: NDArray[np.float64], n_draws: int) -> tuple[float, float]:
    """Return mean and variance of 2 n times the interaction of independent variables with these margins.

    For sparse tables, on which the nominal degrees of freedom mean little. Tables of as many rows are drawn,
    and fitted as the data are, large ones by a few rounds only: what is then missing to the fit makes the
    interactions of draws, and so p-values, a little too large. Drawing from what was fitted to the data instead
    would take the fit's own chance for structure, and p-values come out too small.
    """
    draws = _independent(table, n_draws)
    is_small = model_parameters(table.shape, all_but_one(table.ndim)) <= FEW_PARAMETERS
    return _moments(2 * table.sum() * divergences(draws, fit_margins(draws, is_exact=is_small)))


def moments_of_sharing(table: NDArray[np.float64], n_draws: int) -> tuple[float, float]:
    """Return mean and variance of 2 n times the total correlation of independent variables."""
    draws = _independent(table, n_draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(draws > 0, draws * np.log(draws / product_of_margins(draws)), 0.0)
    return _moments(2 * terms.reshape(n_draws, -1).sum(axis=1))


def product_of_margins(tables: NDArray[np.float64], n_context: int = 0) -> NDArray[np.float64]:
    """Return, for each table of a batch, the one of largest entropy with the same single margins.

    Nothing has to be fitted. Where the last axes are a context, each margin holds it, and the columns are
    independent given it.

    Examples
    --------
    >>> product_of_margins(np.array([[[50.0, 0], [0, 50]]]))
    array([[[25., 25.],
            [25., 25.]]])
    """
    own = range(1, tables.ndim - n_context)
    product = tables.sum(axis=tuple(own), keepdims=True)
    given = np.where(product > 0, product, 1.0)  # where nothing is given, all margins are zero
    for axis in own:
        margin = tables.sum(axis=tuple([other for other in own if other != axis]), keepdims=True)
        product = product * (margin / given)
    return np.asarray(product)


def _independent(table: NDArray[np.float64], n_draws: int) -> NDArray[np.float64]:
    """Return tables of independent variables with exactly the same margins: each column shuffled by itself.

    Columns and levels come in the order of their counts, and the seed follows from these: tables that are the
    same but for the names and the order of columns and levels have the same draws, and so the same p-value.
    """
    axes = range(table.ndim)
    summed = [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    margins = sorted((np.sort(np.rint(margin).astype(np.int64)) for margin in summed), key=_in_order)
    shape = tuple(map(len, margins))
    generator = np.random.default_rng([*shape, *(count for margin in margins for count in margin.tolist())])
    columns = [np.repeat(np.arange(len(margin)), margin) for margin in margins]
    draws = np.empty((n_draws, table.size))
    for draw in draws:
        shuffled = (columns[0], *(generator.permutation(column) for column in columns[1:]))
        draw[:] = np.bincount(np.ravel_multi_index(shuffled, shape), minlength=table.size)
    return draws.reshape(n_draws, *shape)


def _in_order(margin: NDArray[np.int64]) -> tuple[int, list[int]]:
    return len(margin), margin.tolist()


def _moments(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.mean()), float(values.var(ddof=1))
