"""Which backend counts: NumPy where a problem is small, compiled kernels where they pay for being loaded.

Loading the kernels costs about half a second, compiling them the first time some ten to twenty; NumPy counts
one set in some tens of microseconds per ten thousand rows. ``benchmarks/crossover.py`` measures where the two
meet. Once a process has loaded the kernels they are used for much less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, get_args

from xordal.counting.oracle import TableOracle
from xordal.counting.plain import CountingOracle
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError, nearest

BackendName = Literal["auto", "numpy", "numba"]

_PER_SET = 10e-6  # seconds NumPy takes for any set
_PER_ROW = 3.5e-9  # seconds it takes per row of a set of three variables
_WORTH = 0.5  # seconds of NumPy from which the kernels are loaded
_WORTH_LOADED = 0.03  # from which they are used once they are


def oracle_for(
    table: CategoricalTable,
    *,
    backend: BackendName = "auto",
    threads: int | None = None,
    work: float | None = None,
    notice: Callable[[str], None] = lambda line: None,
) -> TableOracle:
    """Return what counts, scans and answers for a table.

    Parameters
    ----------
    table
        The data.
    backend
        ``"numpy"``, ``"numba"``, or ``"auto"`` for the one that is done first.
    threads
        How many threads the kernels use; all cores this process may use where None.
    work
        How many variable sets will be counted, about; all pairs and triples where None.
    notice
        Called with one line when kernels are to be compiled first.

    Raises
    ------
    SettingsError
        If the name of the backend is unknown.

    Examples
    --------
    >>> table = CategoricalTable.from_rows("ab", [(0, 0), (1, 1)])
    >>> type(oracle_for(table)).__name__
    'CountingOracle'
    """
    if backend not in get_args(BackendName):
        raise SettingsError(f"Unknown backend {backend!r}; {nearest(backend, get_args(BackendName))}")
    worth = _WORTH_LOADED if "xordal.counting.cpu_numba" in sys.modules else _WORTH
    if backend == "numba" or (backend == "auto" and seconds_of_numpy(table, work) > worth):
        from xordal.counting.cpu_numba import NumbaOracle

        return NumbaOracle(table, threads=threads, notice=notice)
    from xordal.counting.cpu_numpy import NumpyCounter

    return CountingOracle(NumpyCounter(table), table.n_levels)


def seconds_of_numpy(table: CategoricalTable, work: float | None = None) -> float:
    """Return about how long NumPy takes to count so many variable sets."""
    n = table.n_variables
    sets = n * (n - 1) / 2 + n * (n - 1) * (n - 2) / 6 if work is None else work
    return float(sets * (_PER_SET + table.codes.shape[1] * _PER_ROW))
