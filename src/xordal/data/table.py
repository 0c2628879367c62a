"""The categorical table every search starts from: integer codes, levels, names and row weights."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.data.column import Column, from_values, in_memory
from xordal.data.design import Design
from xordal.data.large.store import Blocks
from xordal.data.levels import unused
from xordal.data.missing import rows_kept
from xordal.data.select import check_lengths, check_names
from xordal.data.to_frames import FrameLibrary, frame_of
from xordal.data.weights import weights_array
from xordal.errors import DataError, counted

_AT_ONCE = 1 << 20  # rows looked at together, where a table may be larger than memory


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoricalTable:
    """Rows of categorical variables.

    Attributes
    ----------
    names
        Column names, distinct and in order.
    levels
        The distinct values of each column, in their order; every one of them occurs.
    codes
        Shape (columns, rows): ``levels[v][codes[v, row]]`` is the value of column v.
    weights
        Shape (rows,): how often each row counts, all positive; None where each counts once. A table with
        weights is the same table as one with its rows repeated.
    blocks
        Where the rows lie on disk, for a table that is larger than memory (:mod:`xordal.data.large`): ``codes``
        is then a file mapped into memory, of a smaller type. None for a table in memory.
    design
        How the rows were drawn, where they are no plain sample: fractional weights, clusters.

    Examples
    --------
    >>> table = CategoricalTable.from_columns({"rain": ["yes", "no", "no"], "wet": [1, 0, 1]})
    >>> table.levels, table.n_rows
    ((('no', 'yes'), (0, 1)), 3)
    >>> CategoricalTable.from_columns({"rain": ["yes", "no"], "wet": [1, 0]}, weights=[3, 4]).n_rows
    7
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64] | None = None
    blocks: Blocks | None = None
    design: Design | None = None

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Hashable]], weights: Any = None, design: Design | None = None
    ) -> CategoricalTable:
        """Build a table from a mapping of names to equally long columns of hashable values."""
        check_lengths(columns)
        return cls.complete([from_values(name, column) for name, column in columns.items()], weights, design)

    @classmethod
    def from_rows(
        cls,
        names: Sequence[str],
        rows: Sequence[Sequence[Hashable]],
        weights: Any = None,
        design: Design | None = None,
    ) -> CategoricalTable:
        """Build a table from column names and rows of hashable values."""
        for number, row in enumerate(rows, start=1):
            if len(row) != len(names):
                raise DataError(
                    f"Row {number} has {counted(len(row), 'value')}; there are {counted(len(names), 'column')}."
                )
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return cls.complete([from_values(n, c) for n, c in zip(names, columns, strict=True)], weights, design)

    @classmethod
    def complete(
        cls, columns: Sequence[Column], weights: Any = None, design: Design | None = None
    ) -> CategoricalTable:
        """Build a table from columns in which nothing is missing; rows of weight zero are left out.

        Raises
        ------
        DataError
            If a value is missing, two columns have one name, there is no row, or a weight is no count.
        """
        check_names(columns)
        if len(columns[0].codes) == 0:
            raise DataError("The table has no rows.")
        if weights is not None:
            weights = weights_array(weights, len(columns[0].codes))
            used = weights > 0
            columns, weights = [column.only(used) for column in columns], weights[used]
            design = None if design is None else design.only(used)
        rows_kept(columns, "error", in_memory)
        return cls(
            tuple(column.name for column in columns),
            tuple(column.levels for column in columns),
            np.stack([column.codes for column in columns]),
            weights,
            design=design,
        )

    def to_count(self) -> CategoricalTable:
        """Return the table to count: fractional weights as whole numbers of small parts of a row."""
        parts = None if self.design is None else self.design.parts()
        return self if parts is None else CategoricalTable(self.names, self.levels, self.codes, parts)

    def in_whole_rows(self) -> CategoricalTable:
        """Return the table with fractional weights rounded to whole rows, for the tables of a network."""
        if self.design is None:
            return self
        counts = self.design.rounded(self.codes)
        weights = self.weights if counts is None else counts
        if weights is None:
            return CategoricalTable(self.names, self.levels, self.codes)
        used = weights > 0  # levels that only rows of small weight have stay levels, without rows
        return CategoricalTable(self.names, self.levels, self.codes[:, used], weights[used])

    def plain(self, what: str) -> CategoricalTable:
        """Return the table, or refuse it where weights are fractions or rows belong together."""
        if self.design is not None:
            raise DataError(
                f"{what} takes plain rows: no survey weights and no clusters. xordal learn takes them; here, "
                "leave them out: the answer is then about the rows and not about the population."
            )
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows, repeated ones included."""
        return int(self.codes.shape[1] if self.weights is None else self.weights.sum())

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(map(len, self.levels))

    def identity(self) -> dict[str, object]:
        """Return what tells this table from others: names, levels, rows and a fingerprint of all values."""
        digest = sha256(repr(self.levels).encode())
        for column in self.codes:
            for start in range(0, len(column), _AT_ONCE):
                digest.update(np.ascontiguousarray(column[start : start + _AT_ONCE], dtype="<i4").data)
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights, dtype="<i8").data)
        for of_rows in () if self.design is None else (self.design.weights, self.design.clusters):
            digest.update(b"" if of_rows is None else np.ascontiguousarray(of_rows).tobytes())
        return {
            "columns": list(self.names),
            "levels per column": list(self.n_levels),
            "number of rows": self.n_rows,
            "fingerprint of the values": digest.hexdigest(),
        }

    def distinct(self) -> CategoricalTable:
        """Return the same table with each distinct row once, in a fixed order, and its number as weight.

        Where rows repeat, everything that counts is faster by as much.

        Examples
        --------
        >>> table = CategoricalTable.from_columns({"rain": ["yes", "no", "yes"], "wet": [1, 0, 1]}).distinct()
        >>> table.codes.tolist(), table.weights.tolist(), table.n_rows
        ([[0, 1], [0, 1]], [1, 2], 3)
        """
        small = np.ascontiguousarray(self.codes.T, dtype=f"u{np.min_scalar_type(max(self.n_levels)).itemsize}")
        whole = small.view(np.dtype((np.void, small.dtype.itemsize * small.shape[1]))).reshape(-1)
        _, first, place = np.unique(whole, return_index=True, return_inverse=True)
        weights = np.bincount(place.reshape(-1), weights=self.weights).astype(np.int64)  # sums stay below 2^53
        return CategoricalTable(self.names, self.levels, np.ascontiguousarray(self.codes[:, first]), weights)

    def some(self, most: int) -> CategoricalTable:
        """Return at most so many rows, in memory; all levels are kept, also those that do not occur in them.

        Of more rows, one of each of so many equal stretches, drawn at random and always the same: columns that
        count up again and again would look constant in every second row.
        """
        n_rows = self.codes.shape[1]
        if n_rows <= most:
            return self
        places = (np.arange(most) + np.random.default_rng(0).random(most)) * (n_rows / most)
        rows = np.minimum(places.astype(np.int64), n_rows - 1)
        codes = np.stack([column[rows].astype(np.int32) for column in self.codes])
        weights = None if self.weights is None else self.weights[rows]
        return CategoricalTable(self.names, self.levels, codes, weights)

    def columns(self) -> list[Column]:
        """Return the columns, without the row weights."""
        codes = self.codes.astype(np.int32, copy=False)  # on disk they are of a smaller type, without a sign
        return [Column(*parts) for parts in zip(self.names, self.levels, codes, strict=True)]

    def rows(self) -> list[tuple[int, ...]]:
        """Return the rows as tuples of codes, each as often as it counts, for the reference engine."""
        repeated = self.codes if self.weights is None else np.repeat(self.codes, self.weights, axis=1)
        return [tuple(row) for row in repeated.T.tolist()]

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return the table as a frame of pandas, polars or pyarrow; row weights are a last column, ``weight``.

        Examples
        --------
        >>> table = CategoricalTable.from_columns({"rain": ["yes", "no", "no"], "wet": [1, 0, 1]})
        >>> table.to_frame().to_dict("list")
        {'rain': ['yes', 'no', 'no'], 'wet': [1, 0, 1]}
        """
        columns: dict[str, list[Any]] = {
            name: [levels[code] for code in codes]
            for name, levels, codes in zip(self.names, self.levels, self.codes.tolist(), strict=True)
        }
        if self.weights is not None:
            columns[str(unused("weight", self.names))] = self.weights.tolist()
        return frame_of(columns, library)

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        return self.to_frame("pandas")

    def __repr__(self) -> str:
        told = ", ".join(f"{name} ({n})" for name, n in list(zip(self.names, self.n_levels, strict=True))[:8])
        more = ", ..." if self.n_variables > 8 else ""
        rows, columns = counted(self.n_rows, "row"), counted(self.n_variables, "column")
        return f"CategoricalTable of {rows} and {columns}, with levels: {told}{more}"
