"""scan(data) -> Scanned: all sets of a few columns, ranked by what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf
from numbers import Integral, Real
from time import monotonic, perf_counter
from typing import Any, Literal, Unpack, get_args

from xordal.counting.select import Backend, as_read_by, oracle_for
from xordal.counting.threads import interruptible
from xordal.data.entering import table_from
from xordal.data.reading import ReadingOptions
from xordal.data.table import CategoricalTable
from xordal.data.to_frames import FrameLibrary, frame_of
from xordal.errors import DataError, SettingsError, counted, nearest
from xordal.scanning.ranking import RankedSet, Ranking, RankProgress
from xordal.types.choices import RankBy
from xordal.types.varsets import VarSet, members


@dataclass(frozen=True, slots=True, repr=False)
class Scanned:
    """The sets of columns that share most, and how many were looked at.

    Attributes
    ----------
    variables
        Column names.
    sets
        The best sets, the most significant first.
    order
        Size of the sets.
    n_sets
        How many sets there are; p-values are corrected for all of them.
    n_scanned
        How many were looked at: fewer when the scan was interrupted.
    n_rows
        Number of rows.
    target
        The column that every set holds, if one was named.
    by
        What the sets are ranked by.
    seconds
        How long the scan took.
    stopped_by
        What ended the scan before all sets were looked at, if anything did.
    """

    variables: tuple[str, ...]
    sets: tuple[RankedSet, ...]
    order: int
    n_sets: int
    n_scanned: int
    n_rows: int
    target: str | None
    by: RankBy
    seconds: float
    stopped_by: Literal["interruption", "time limit"] | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all sets were looked at."""
        return self.n_scanned == self.n_sets

    def names(self, variables: VarSet) -> tuple[str, ...]:
        """Return the column names of a set, the target last."""
        found = [self.variables[v] for v in members(variables)]
        return tuple(sorted(found, key=lambda name: name == self.target))

    def to_frame(self, library: FrameLibrary = "pandas") -> Any:
        """Return the sets as a frame of pandas, polars or pyarrow, one a row, their columns by name."""
        named = [self.names(found.variables) for found in self.sets]
        columns: dict[str, list[Any]] = {f"column {k + 1}": [n[k] for n in named] for k in range(self.order)}
        for name in ("total_correlation", "interaction", "dof", "p_value", "p_corrected"):
            columns[name] = [float(getattr(found, name)) for found in self.sets]
        return frame_of(columns, library)

    def to_pandas(self) -> Any:
        """Return the sets as a pandas frame."""
        return self.to_frame("pandas")

    def __repr__(self) -> str:
        sizes = f"{len(self.sets):,} best of {self.n_sets:,} sets of {self.order} columns"
        sets = [
            f"  {', '.join(self.names(found.variables))}: {found.interaction:.4f} nats beyond smaller sets, "
            f"p = {found.p_corrected:.2g}"
            for found in self.sets[:5]
        ]
        return "\n".join(
            [f"Scanned {counted(self.n_rows, 'row')}, {sizes}", *sets, *["  ..."] * (len(self.sets) > 5)]
        )


class ScanInterrupted(KeyboardInterrupt):
    """Ctrl-C during a scan; ``scanned`` holds the best sets found until then."""

    def __init__(self, scanned: Scanned) -> None:
        super().__init__("the scan was interrupted; .scanned holds the best sets found so far")
        self.scanned = scanned


def scan(  # noqa: PLR0913 - all but the first three are keyword-only, each with a default
    data: Any,
    order: int = 3,
    top: int = 20,
    *,
    target: str | None = None,
    by: RankBy = "interaction",
    threads: int | None = None,
    backend: str | Backend = "auto",
    time_limit: float | None = None,
    on_progress: Callable[[RankProgress], None] = lambda progress: None,
    notice: Callable[[str], None] = lambda line: None,
    **reading: Unpack[ReadingOptions],
) -> Scanned:
    """Look at all sets of ``order`` columns and return those that share most.

    Parameters
    ----------
    data
        A table, or anything :func:`xordal.read_table` takes: a data frame, an array, a file.
    order
        Size of the sets: 2 for pairs, 3 for triples.
    top
        How many sets to return.
    target
        A column that every set must hold, a phenotype for example.
    by
        ``"interaction"``: rank by what no smaller set of the columns shows; ``"total"``: by all they share.
    threads
        Number of threads to count with; all cores where None.
    backend
        Who counts: ``"auto"``, ``"numpy"``, ``"numba"``, ``"gpu"``, ``"blocks"`` or ``"dask"``, or a
        :class:`~xordal.counting.select.Backend` of your own. What is found does not depend on it.
    time_limit
        Seconds after which the best sets found until then are returned.
    on_progress
        Called with how far the scan is.
    notice
        Called with a line of text when something takes long before the scan can begin.
    reading
        How the data are read: ``missing``, ``bins``, ``weights`` and the other words of
        :func:`xordal.read_table`. What looks like an identifier is left out, unless ``columns`` or
        ``categorical`` names it.

    Raises
    ------
    SettingsError
        If a parameter is out of range or the target is no column.
    ScanInterrupted
        On Ctrl-C, with the best sets found so far.

    Examples
    --------
    >>> rows = [(a, b, a ^ b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 25
    >>> found = scan(CategoricalTable.from_rows(["a", "b", "a_xor_b", "noise"], rows), order=3, top=1)
    >>> found.names(found.sets[0].variables), round(found.sets[0].interaction, 4)
    (('a', 'b', 'a_xor_b'), 0.6931)
    """
    table = table_from(as_read_by(backend, data, reading), **reading).plain("A scan")
    place = _checked(table, order, top, target, by)
    if time_limit is not None and not (isinstance(time_limit, Real) and 0 < float(time_limit) < inf):
        raise SettingsError(f"time_limit must be a positive number of seconds, not {time_limit!r}.")
    deadline, started = monotonic() + (time_limit or inf), perf_counter()
    work = comb(table.n_variables, order)
    oracle = oracle_for(table, backend=backend, threads=threads, work=work, notice=notice)
    ranking = Ranking(oracle, table.n_levels, table.n_rows, int(order), top=int(top), target=place, by=by)

    def scanned(ended_by: Literal["interruption", "time limit"] = "time limit") -> Scanned:
        sets, is_complete = ranking.best(), ranking.n_scanned == ranking.n_sets
        seconds = perf_counter() - started
        counts = (ranking.n_sets, ranking.n_scanned, table.n_rows)
        stopped_by = None if is_complete else ended_by
        return Scanned(table.names, sets, int(order), *counts, target, by, seconds, stopped_by)

    try:
        with interruptible():
            ranking.run(on_progress, deadline)
    except KeyboardInterrupt:
        raise ScanInterrupted(scanned("interruption")) from None
    return scanned()


def _checked(table: CategoricalTable, order: int, top: int, target: str | None, by: RankBy) -> int | None:
    """Check the settings of a scan; return the place of the target."""
    for name, value, least in (("order", order, 2), ("top", top, 1)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    if by not in get_args(RankBy):
        raise SettingsError(f"Sets are ranked by interaction or by total, not by {by!r}.")
    if order > table.n_variables:
        raise DataError(
            f"There are no sets of {order} columns: the table has {table.n_variables}. Choose a smaller order."
        )
    if target is None:
        return None
    if target not in table.names:
        raise SettingsError(f"There is no column {target!r}; {nearest(target, table.names)}")
    return table.names.index(target)
