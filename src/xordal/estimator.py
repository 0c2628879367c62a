"""MultiLinkSearch: the search as a scikit-learn density estimator.

Store parameters, validate in ``fit``, call :func:`xordal.learn`, expose what was found; nothing is decided
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from xordal.counting.select import Backend
from xordal.data.column import Column, in_memory, refuse_nested
from xordal.data.entering import table_from
from xordal.data.frames import is_plain_pandas
from xordal.data.missing import rows_kept
from xordal.data.reading import AnyBins
from xordal.data.table import CategoricalTable
from xordal.errors import DataError, counted
from xordal.formats.networkx import to_networkx
from xordal.formats.text import network_lines, weakness
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.predict import log_probabilities
from xordal.model.rows import RowCodes
from xordal.model.smoothing import Smoothing
from xordal.search.constraints import Constraints
from xordal.search.driver import Progress
from xordal.search.limits import Limits
from xordal.statistics.criterion import Criterion
from xordal.statistics.significance import Significance
from xordal.types.choices import Missing
from xordal.types.groups import NamedSubmodel, named_submodel
from xordal.types.learned import Learned
from xordal.types.trace import Trace

if TYPE_CHECKING:
    import networkx as nx


class MultiLinkSearch(DensityMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Learn a decomposable Markov network by multi-link lookahead search.

    Parameters
    ----------
    max_links
        Largest number of links to look ahead, the paper's k; 3 unless ``max_variables`` is given.
    max_variables
        Largest group of variables to complete at once, instead of ``max_links``.
    criterion
        Ranks and accepts link sets; ``Significance(0.05)`` by default.
    fill_in
        Whether link sets that break chordality are candidates together with fill-in links that keep it.
    prune
        Whether to take out links that later ones have made idle.
    local_search
        Whether to improve a score by sequences of links that come and go. These three are on where neither the
        paper's criterion is given nor, for the last, one that is no score.
    find_rules
        Whether to look for additive rules too, which become part of the network; by default where the paper's
        criterion is not given.
    constraints
        Links that are required or forbidden, as pairs of column names (x0, x1, ... where there are none).
        Required links that are not chordal are completed.
    limits
        Largest clique and longest time.
    backend
        Who counts: ``"auto"``, ``"numpy"``, ``"numba"``, ``"gpu"``, ``"blocks"`` or ``"dask"``, or a
        :class:`~xordal.counting.select.Backend` of your own. What is learned does not depend on it.
    missing
        Missing values: ``"error"`` refuses them, ``"drop"`` leaves their rows out of ``fit``, ``"level"`` makes
        them a level. Rows to be scored may miss values under any of these.
    bins
        Cuts columns that look continuous into that many levels, ``"auto"`` into four; :class:`~xordal.Bins`
        says how, None leaves them. Numbers to be scored go into the bins of ``fit``.
    smoothing
        Of the clique tables behind ``score``: a number of rows spread evenly over the cells of each table, 0
        for maximum likelihood; or :class:`~xordal.Backoff`, which shrinks them towards smaller margins.
    callback
        Called with a :class:`~xordal.search.driver.Progress` every few thousand variable sets.
    random_state
        Seed of what is random: the default criterion judges the largest sparse tables by shuffling rows. None
        is seed 0, so that a fit can be repeated. A ``criterion`` that is given has a seed of its own.

    Attributes
    ----------
    graph_
        The network's graph, a ``networkx.Graph`` whose nodes are column names.
    trace_
        The learned link sets in order, with gain, degrees of freedom and graphs tested.
    submodels_
        The hidden groups (PI submodels) in column names, with partition, kind and total correlation.
    colored_links_
        The links between variables of a hidden group that look independent as a pair.
    network_
        The :class:`~xordal.model.network.DecomposableMarkovNetwork`: graph and clique tables.
    learned_
        All of the result: links, cliques, trace, settings, work and time.
    categories_
        The levels of each column, one array a column.
    n_features_in_, feature_names_in_
        Number of columns, and their names where all are strings.

    Examples
    --------
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> search = MultiLinkSearch().fit(rows)
    >>> list(search.graph_.edges)
    [('x0', 'x1'), ('x0', 'x2'), ('x1', 'x2')]
    >>> search.submodels_[0].partition
    (('x0',), ('x1',), ('x2',))
    >>> bool(search.score(rows) > search.score([(0, 0, 1)]))
    True
    """

    def __init__(  # noqa: PLR0913 - all but the first are keyword-only, each with a default
        self,
        max_links: int | None = None,
        *,
        max_variables: int | None = None,
        criterion: Criterion | None = None,
        fill_in: bool | None = None,
        prune: bool | None = None,
        local_search: bool | None = None,
        find_rules: bool | None = None,
        constraints: Constraints | None = None,
        limits: Limits | None = None,
        backend: str | Backend = "auto",
        missing: Missing = "error",
        bins: AnyBins = "auto",
        smoothing: Smoothing = 1.0,
        callback: Callable[[Progress], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_links = max_links
        self.max_variables = max_variables
        self.criterion = criterion
        self.fill_in = fill_in
        self.prune = prune
        self.local_search = local_search
        self.find_rules = find_rules
        self.constraints = constraints
        self.limits = limits
        self.backend = backend
        self.missing = missing
        self.bins = bins
        self.smoothing = smoothing
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the network of a table.

        Parameters
        ----------
        X
            Any table :func:`xordal.read_table` takes from memory, or one it has read: a pandas, polars or
            pyarrow frame, an array, rows. What looks like an identifier takes no part, as in
            :func:`xordal.learn`.
        y
            Ignored.
        sample_weight
            How often each row counts: one number a row, or the name of a column of ``X`` that holds them.
            Numbers with fractions are survey weights.
        """
        table = self._read(X, sample_weight)
        learned = learn(
            table,
            max_links=self.max_links,
            max_variables=self.max_variables,
            criterion=self._criterion(),
            fill_in=self.fill_in,
            prune=self.prune,
            local_search=self.local_search,
            find_rules=self.find_rules,
            constraints=self.constraints,
            limits=self.limits,
            backend=self.backend,
            on_progress=self.callback,
        )
        self.network_: DecomposableMarkovNetwork = fit_network(table, learned, smoothing=self.smoothing)
        self.learned_: Learned = replace(learned, table=None)  # an estimator does not hold on to the rows
        self.graph_: nx.Graph = to_networkx(self.learned_)
        self.trace_: Trace = self.learned_.trace
        self.submodels_: tuple[NamedSubmodel, ...] | None = None
        self.colored_links_: list[tuple[str, ...]] | None = None
        if self.learned_.submodels is not None:
            self.submodels_ = tuple(named_submodel(found, table.names) for found in self.learned_.submodels)
            self.colored_links_ = [self.learned_.names(link) for link in self.learned_.colored_links or ()]
        self.categories_ = [_array(levels) for levels in table.levels]
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of each row, in nats.

        A level that did not occur in ``fit`` is impossible to the network: its row has -inf.
        """
        check_is_fitted(self)
        columns = _columns(X)
        self._check_header(X, [column.name for column in columns], reset=False)
        taken = [columns[place] for place in self._places]
        if self.missing == "error":
            rows_kept(taken, "error", in_memory)
        return log_probabilities(self.network_, RowCodes(self.network_.encode(taken), None, in_memory))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log probability of the rows, in nats: the mean log-likelihood.

        Rows count as often as ``sample_weight`` says, or as the weights of a table that has them.
        """
        samples = self.score_samples(X)
        if sample_weight is None and isinstance(X, CategoricalTable):
            sample_weight = X.weights
        weights = np.ones(len(samples)) if sample_weight is None else _shares(sample_weight, len(samples))
        counts = weights > 0  # a row that does not count may well be impossible
        return float(np.average(samples[counts], weights=weights[counts]))

    def summary(self) -> None:
        """Print what was learned, and what a single-link search would have missed."""
        check_is_fitted(self)
        print("\n".join(_summary(self.learned_, self.network_)))

    def report(self, path: str | Path, *, title: str = "") -> None:
        """Write what was learned as one page that needs nothing else (docs/report.md).

        Raises
        ------
        DataError
            If the file cannot be written.
        """
        check_is_fitted(self)
        from xordal.report.html import write_report

        write_report(path, self.network_, title=title)

    def _html_repr(self) -> str:
        """Return the estimator as notebooks show it: what was learned, above scikit-learn's own box."""
        box = str(super()._html_repr())
        if not hasattr(self, "learned_"):
            return box
        from xordal.report.fragment import drawing_html

        told = escape("\n".join(_summary(self.learned_, self.network_)))
        return f"<pre>{told}</pre>{drawing_html(self.network_)}{box}"

    def _criterion(self) -> Criterion | None:
        """Return the criterion that was given; or the default one, where it is to have a seed."""
        if self.criterion is not None or self.random_state is None:
            return self.criterion
        if isinstance(self.random_state, Integral):
            return Significance(seed=int(self.random_state))
        return Significance(seed=int(check_random_state(self.random_state).randint(2**31 - 1)))

    def _read(self, X: Any, sample_weight: Any) -> CategoricalTable:
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 0:
            raise DataError(
                f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        if isinstance(X, str | Path):
            raise DataError(f"A table is wanted here, not a file: read it with xordal.read_table({str(X)!r}).")
        table = self._table_of(X, sample_weight)
        names = list(X.columns) if is_plain_pandas(X) else [column.name for column in _columns(X)]
        self._check_header(X, [str(name) for name in names], reset=True)
        place_of = {str(name): place for place, name in enumerate(names)}
        self._places = [place_of[name] for name in table.names]
        return table

    def _table_of(self, X: Any, sample_weight: Any) -> CategoricalTable:
        if isinstance(X, CategoricalTable) and sample_weight is None:
            return X  # read by the user, with policies of their own
        return table_from(X, weights=sample_weight, missing=self.missing, bins=self.bins)

    def _check_header(self, X: Any, names: list[str], *, reset: bool) -> None:
        """Have scikit-learn check names and number of columns; its check of values takes seconds on text."""
        if reset and is_plain_pandas(X) and all(type(name) is str for name in X.columns):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)  # as validate_data does, much sooner
            self.n_features_in_ = len(self.feature_names_in_)
            return
        if _is_known(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.feature_names_in_ = np.asarray(names, dtype=object)
            self.n_features_in_ = len(names)
        else:
            _check_names(names, getattr(self, "feature_names_in_", None), self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _shares(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return weights to average with, one for each row."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise DataError(f"There are {counted(n_rows, 'row')}, but sample_weight has the shape {weights.shape}.")
    if not np.all(weights >= 0) or not np.all(np.isfinite(weights)) or not weights.any():
        raise DataError("sample_weight must be zero or positive numbers, and not all zero.")
    return weights


def _is_known(X: Any) -> bool:
    """Whether scikit-learn can read names and number of columns from the input itself."""
    is_known = hasattr(X, "iloc") or not hasattr(X, "__arrow_c_stream__")
    return is_known and not isinstance(X, Mapping | CategoricalTable) and not hasattr(X, "collect")


def _check_names(names: list[str], fitted: Any, n_fitted: int) -> None:
    """Refuse other columns than those of the fit, in scikit-learn's words."""
    if len(names) != n_fitted:
        raise DataError(f"X has {len(names)} features, but {n_fitted} were passed during fit.")
    if fitted is not None and list(fitted) != names:
        raise DataError("The feature names should match those that were passed during fit, in their order.")


def _columns(X: Any) -> list[Column]:
    from xordal.data.frames import columns_of

    if isinstance(X, CategoricalTable):
        return X.columns()
    refuse_nested(columns := columns_of(X))
    return columns


def _array(levels: tuple[Any, ...]) -> NDArray[Any]:
    """Return levels as an array of their own type; of objects where that would change them."""
    array = np.array(levels)
    if array.ndim != 1 or array.tolist() != list(levels):
        array = np.empty(len(levels), dtype=object)
        array[:] = levels
    return array


def _summary(learned: Learned, network: DecomposableMarkovNetwork) -> list[str]:
    variables = counted(len(learned.variables), "variable")
    rows, parameters = counted(learned.n_rows or 0, "row"), counted(network.n_parameters, "parameter")
    lines = [f"{variables}, learned from {rows}; {parameters}", "", *network_lines(learned)]
    if not learned.run.is_complete:
        lines += ["", "The search ran out of time; this is what it had learned."]
    warning = weakness(learned)
    return lines if warning is None else [*lines, "", f"Warning: {warning}"]
