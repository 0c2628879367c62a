"""HiddenGroupFeatures: groups of columns that tell of a target together, as features for any predictor.

Trees, boosting and explainable boosting machines look at one column at a time, or at a pair. Of a parity of
five columns they see nothing: no column alone tells anything of the target, nor does any part of the group. The
transformer looks at all groups of a size, with the target, and adds a column for each that it finds: the
probability of the target in each combination of the group's levels.

That column is made of the target, so it could give the answer away. In ``fit_transform`` the rows of each fold
get the probabilities that the other folds have, and in a pipeline under cross-validation everything, the choice
of groups too, is made from the training rows alone.

So the rows of one combination get five probabilities in ``fit_transform``, one a fold, and they are the lower
the more often the fold itself has the class: what a fold has, the others lack. Trees learn that, fold by fold,
and it is wrong of all rows to come. Therefore probabilities are rounded to steps of one standard error of a
combination of average size. Finer differences are chance; the five become one number, or two (measured in
benchmarks/recovery/predictors.py).
"""

from __future__ import annotations

import warnings
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from xordal.errors import DataWarning, SettingsError, counted
from xordal.predictors.columns import (
    Target,
    coded_columns,
    codes_of,
    column_names,
    table_with_target,
    validated,
)
from xordal.scanning import scan
from xordal.types.varsets import members

_FOLDS = 5


class HiddenGroupFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Find groups of columns that tell of a target together, and add them as features.

    Parameters
    ----------
    max_variables
        Largest group, the target counted: 4 finds three columns that tell of the target together.
    alpha
        The probability, about, of finding any group where there is none.
    max_groups
        How many groups to keep, the most significant first.
    n_bins
        Into how many bins of about equally many rows columns of numbers with many values are cut to look for
        groups: floats with more than 10 values, whole numbers with more than 60 (or more than 10, with fewer
        than 10 rows each).
    passthrough
        Whether the columns themselves stay, before the new ones. If not, and no group is found, the share of
        each class is passed on instead, the same in all rows, with a warning: a predictor needs some column.
    random_state
        Of the folds in ``fit_transform``.

    Attributes
    ----------
    groups_
        The columns of each group, by name (or number, where there are no names), without the target.
    n_features_in_, feature_names_in_
        Number of columns, and their names where all are strings.

    Examples
    --------
    >>> rows = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 30)
    >>> features = HiddenGroupFeatures(max_variables=3).fit(rows, rows[:, 0] ^ rows[:, 2])
    >>> features.groups_
    [(0, 2)]
    >>> features.transform(rows[:2]).shape
    (2, 4)
    >>> features.to_ebm_interactions(), features.to_xgboost_constraints()
    ([(0, 2)], '[[0, 2], [1]]')
    """

    def __init__(
        self,
        *,
        max_variables: int = 4,
        alpha: float = 0.05,
        max_groups: int = 10,
        n_bins: int = 4,
        passthrough: bool = True,
        random_state: Any = None,
    ) -> None:
        self.max_variables = max_variables
        self.alpha = alpha
        self.max_groups = max_groups
        self.n_bins = n_bins
        self.passthrough = passthrough
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the groups, and the probabilities of the target in them."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> NDArray[Any]:
        """Find the groups and return the rows with their features, each row's made from other rows."""
        values, encoded = self._fit(X, y)
        return self._with(values, encoded)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return rows with the features of the groups."""
        check_is_fitted(self)
        values = validated(self, X, reset=False)
        cells = self._cells(values)
        if not self._groups:
            return self._with(values, self._without_groups(cells))
        return self._with(values, self._rounded(self._encoder.transform(cells)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of what ``transform`` returns."""
        own = OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # names that are checked
        added = []
        for group in self._groups:
            told = ", ".join(own[v] for v in group)
            added += [f"P({one} | {told})" for one in self._told_classes]
        if not self._groups and not self.passthrough:
            added = [f"P({one})" for one in self._told_classes]
        return np.array([*(own if self.passthrough else []), *added], dtype=object)

    def to_ebm_interactions(self) -> list[tuple[Any, ...]]:
        """Return the groups as ``interactions`` of an explainable boosting machine (interpret) takes them."""
        check_is_fitted(self)
        return list(self.groups_)

    def to_xgboost_constraints(self) -> list[list[str]] | str:
        """Return the groups as ``interaction_constraints`` of XGBoost: columns in no group are alone.

        Names in lists, or, for columns without names, numbers in a text: XGBoost takes them no other way.
        """
        check_is_fitted(self)
        inside = {v for group in self._groups for v in group}
        alone = [[self._called(v)] for v in range(self.n_features_in_) if v not in inside]
        constraints = [*map(list, self.groups_), *alone]
        return constraints if hasattr(self, "feature_names_in_") else str(constraints)

    def _fit(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        self._check_settings()
        values, checked = validated(self, X, y)
        check_classification_targets(checked)
        target = Target.of(y, checked)
        self.classes_, y = target.classes, checked
        self._names = column_names(self)
        self._columns = coded_columns(self._names, values, self.n_bins)
        self._groups = self._found(codes_of(self._columns, values), target)
        self.groups_ = [tuple(self._called(v) for v in group) for group in self._groups]
        cells = self._cells(values)
        if not self._groups:
            self._shares = np.bincount(target.codes)[-len(self._told_classes) :] / len(target.codes)
            self._warn_of_no_groups()
            return values, self._without_groups(cells)
        self._encoder = self._encoder_of(cells, y)
        self._shares, self._steps = self._shares_and_steps(cells, target.codes)
        return values, self._rounded(self._from_other_rows(cells, y))

    @property
    def _told_classes(self) -> NDArray[Any]:
        """The classes whose probabilities are told: of two, that of the second says all."""
        return self.classes_[1:] if len(self.classes_) == 2 else self.classes_

    def _without_groups(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return what rows get where there is no group: nothing beside their columns, or the same shares."""
        return cells if self.passthrough else np.tile(self._shares, (len(cells), 1))

    def _warn_of_no_groups(self) -> None:
        if not self.passthrough:
            size = counted(min(self.max_variables - 1, self.n_features_in_), "column")
            warnings.warn(
                f"No group of up to {size} tells of the target what no part of it shows. The share of each "
                "class is passed on, the same in all rows; passthrough=True passes on the columns themselves.",
                DataWarning,
                stacklevel=4,
            )

    def _shares_and_steps(
        self, cells: NDArray[Any], codes: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of a class for each new column, and its standard error in an average combination."""
        n_told = len(self._told_classes)
        share = np.bincount(codes, minlength=len(self.classes_))[-n_told:] / len(codes)
        n_cells = np.array([len(np.unique(column)) for column in cells.T])
        error = np.sqrt(np.outer(n_cells, share * (1 - share)) / len(codes))
        return np.tile(share, len(n_cells)), error.ravel()

    def _rounded(self, encoded: NDArray[Any]) -> NDArray[Any]:
        """Return probabilities in whole steps from the share of the class."""
        return np.clip(self._shares + self._steps * np.rint((encoded - self._shares) / self._steps), 0.0, 1.0)

    def _encoder_of(self, cells: NDArray[Any], y: NDArray[Any]) -> TargetEncoder:
        return TargetEncoder(target_type="binary" if len(self.classes_) == 2 else "multiclass").fit(cells, y)

    def _from_other_rows(self, cells: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """Return what an encoder of all other folds says of the rows of each fold.

        An encoder must know every class, so the only row of a class is among the others of all folds; it alone
        is encoded by an encoder that knows it.
        """
        encoded = self._encoder.transform(cells)
        classes, n_rows = np.unique(y, return_counts=True)
        is_only = np.isin(y, classes[n_rows == 1])
        only, rest = np.flatnonzero(is_only), np.flatnonzero(~is_only)
        if len(rest):
            n_folds = min(_FOLDS, int(n_rows[n_rows > 1].min()))
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
            for others, own in folds.split(cells[rest], y[rest]):
                known = np.concatenate([rest[others], only])
                encoded[rest[own]] = self._encoder_of(cells[known], y[known]).transform(cells[rest[own]])
        return np.asarray(encoded)

    def _found(self, codes: NDArray[np.int64], target: Target) -> list[tuple[int, ...]]:
        """Return the groups that tell of the target beyond their parts, the most significant first."""
        table = table_with_target([f"x{v}" for v in range(len(codes))], self._columns, codes, target)
        if len(self.classes_) < 2:
            return []
        orders = range(3, min(self.max_variables, len(codes) + 1) + 1)
        place, found = len(codes), []
        for order in orders:
            for ranked in scan(table, order, self.max_groups, target=table.names[place]).sets:
                if ranked.log_p_corrected <= log(self.alpha / len(orders)):
                    group = tuple(v for v in members(ranked.variables) if v != place)
                    found.append((ranked.log_p_corrected, group))
        return [group for _, group in sorted(found)[: self.max_groups]]

    def _cells(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the combination of levels of each group in each row, numbered; shape (rows, groups)."""
        codes = codes_of(self._columns, values)
        cells = np.zeros((values.shape[0], len(self._groups)), dtype=np.int64)
        for place, group in enumerate(self._groups):
            for v in group:
                cells[:, place] = cells[:, place] * (self._columns[v].n_levels + 1) + codes[v] + 1
        return cells

    def _with(self, values: NDArray[Any], encoded: NDArray[Any]) -> NDArray[Any]:
        if not self.passthrough:
            return encoded
        # Beside an array of text, NumPy would make text of the probabilities too.
        kept = values.astype(object) if values.dtype.kind == "U" else values
        return np.column_stack([kept, encoded])

    def _called(self, v: int) -> Any:
        return self._names[v] if hasattr(self, "feature_names_in_") else v

    def _check_settings(self) -> None:
        for name, value, least in (
            ("max_variables", self.max_variables, 3),
            ("max_groups", self.max_groups, 1),
        ):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}.")
        if not isinstance(self.alpha, float | int | np.number) or not 0 < self.alpha < 1:
            raise SettingsError(f"alpha must be between 0 and 1, not {self.alpha!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
