"""MultiLinkClassifier: one column predicted from the others by the network that is learned of them all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.observed import Observed
from xordal.model.smoothing import Smoothing
from xordal.predictors.columns import (
    Target,
    coded_columns,
    codes_of,
    column_names,
    table_with_target,
    validated,
)
from xordal.statistics.criterion import Criterion


class MultiLinkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Predict a class from the decomposable Markov network of the columns and the class.

    The network is learned by multi-link lookahead search, so that classes which follow from several columns
    only together, as an exclusive-or does, are learned too. A value that was not there in ``fit`` is taken as
    not observed.

    Parameters
    ----------
    max_links
        Largest number of links to look ahead; 3 unless ``max_variables`` is given.
    max_variables
        Largest group of variables to complete at once, the class counted, instead of ``max_links``.
    criterion
        Ranks and accepts link sets; ``Significance(0.05)`` by default.
    smoothing
        Rows spread evenly over each table, or :class:`~xordal.Backoff`.
    n_bins
        Into how many bins of about equally many rows columns of numbers with many values are cut: floats with
        more than 10 values, whole numbers with more than 60 (or more than 10, with fewer than 10 rows each).

    Attributes
    ----------
    classes_
        The classes.
    network_
        The :class:`~xordal.DecomposableMarkovNetwork`. Its variables are the columns and, last, the target: by
        the name of ``y`` if it has one, else ``target``. Levels are the values, or the bounds of bins.
    n_features_in_, feature_names_in_
        Number of columns, and their names where all are strings.

    Examples
    --------
    >>> rows = np.array([(a, b) for a in (0, 1) for b in (0, 1)] * 30)
    >>> model = MultiLinkClassifier().fit(rows, np.where(rows[:, 0] ^ rows[:, 1], "on", "off"))
    >>> model.predict([(0, 1), (1, 1)]).tolist()
    ['on', 'off']
    >>> model.network_.query("target", given={"x0": 0, "x1": 1})["on"] > 0.99
    True
    """

    def __init__(
        self,
        max_links: int | None = None,
        *,
        max_variables: int | None = None,
        criterion: Criterion | None = None,
        smoothing: Smoothing = 1.0,
        n_bins: int = 4,
    ) -> None:
        self.max_links = max_links
        self.max_variables = max_variables
        self.criterion = criterion
        self.smoothing = smoothing
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the network of the columns and the class."""
        values, checked = validated(self, X, y)
        check_classification_targets(checked)
        target = Target.of(y, checked)
        self.classes_ = target.classes
        names = column_names(self)
        self._columns = coded_columns(names, values, self.n_bins)
        table = table_with_target(names, self._columns, codes_of(self._columns, values), target)
        learned = learn(
            table,
            max_links=self.max_links,
            max_variables=self.max_variables,
            criterion=self.criterion,
            find_groups=False,
        )
        self.network_: DecomposableMarkovNetwork = fit_network(table, learned, smoothing=self.smoothing)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, shape (rows, classes), in the order of ``classes_``."""
        check_is_fitted(self)
        values = validated(self, X, reset=False)
        codes = codes_of(self._columns, values)
        unknown = np.full((1, codes.shape[1]), -1, dtype=np.int64)
        target = len(codes)
        total, found = self.network_.inference.posteriors(Observed(np.vstack([codes, unknown])), [target])
        # Without smoothing a row may be impossible; then nothing is known of it but how common the classes are.
        _, usual = self.network_.inference.posteriors(Observed(np.full((target + 1, 1), -1)), [target])
        chances = np.exp(np.where(np.isfinite(total)[:, None], found[target], usual[target]))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(chances, axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
