"""Who counts: the backends by name, the choice between them, and backends of a user's own.

A backend is called with a table and a :class:`CountingJob` and returns what counts the table. ``BACKENDS`` is
the one list of those that have a name; a new one is a module of ``counting/`` and a line there. A user's own
backend is passed as it is, in place of a name.

``"auto"`` takes NumPy where a problem is small and compiled kernels where they pay for being loaded: loading
them costs about half a second, compiling them the first time some ten to twenty; NumPy counts one set in some
tens of microseconds per ten thousand rows. ``benchmarks/crossover.py`` measures where the two meet. Once a
process has loaded the kernels they are used for much less. A GPU that is there is taken where the processor
would take some seconds or more: loading its kernels costs one, and compiling them the first time three.

Nothing heavy is imported before a backend is called, so that the command line can list the names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

from xordal.errors import SettingsError

if TYPE_CHECKING:
    from xordal.counting.oracle import CellCounter, TableOracle
    from xordal.data.reading import Reading, ReadingOptions
    from xordal.data.table import CategoricalTable

_PER_SET = 10e-6  # seconds NumPy takes for any set
_PER_ROW = 3.5e-9  # seconds it takes per row of a set of three variables
_WORTH = 0.5  # seconds of NumPy from which the kernels are loaded
_WORTH_LOADED = 0.03  # from which they are used once they are
_COMPILING = 60.0  # seconds that must be left for kernels to be compiled
_LARGE = 1 << 28  # values of a table on disk that are not brought into memory: a gigabyte as codes
_WORTH_GPU = 5e12  # sets times rows, which two cores look at in some five seconds


@dataclass(frozen=True, slots=True)
class CountingJob:
    """What a backend may want to know of the counting that is to come.

    Attributes
    ----------
    threads
        Number of threads to use; all cores this process may use where None.
    n_sets
        How many variable sets will be counted, about; all pairs and triples where None.
    notice
        To be called with one line of text before anything that takes long, such as compiling.
    check
        May be called at any time, and should be several times a second: it ends the work by raising, where a
        limit is reached.
    seconds_left
        Until a time limit is reached; infinite where there is none.
    """

    threads: int | None = None
    n_sets: float | None = None
    notice: Callable[[str], None] = lambda line: None
    check: Callable[[], None] = lambda: None
    seconds_left: float = inf


class Backend(Protocol):
    """Makes what counts a table: a function, or a class whose objects can be called."""

    def __call__(self, table: CategoricalTable, job: CountingJob, /) -> CellCounter:
        """Return what counts the table.

        It may be a :class:`~xordal.counting.oracle.CellCounter`, which only counts; entropies and scans are
        then made of its counts. Or it is a :class:`~xordal.counting.oracle.TableOracle`, which does all of it.
        """
        ...


def _numpy(table: CategoricalTable, job: CountingJob) -> CellCounter:
    from xordal.counting.cpu_numpy import NumpyCounter

    return NumpyCounter(table, job.check)


def _numba(table: CategoricalTable, job: CountingJob) -> TableOracle:
    from xordal.counting.cpu_numba import NumbaOracle

    return NumbaOracle(table, threads=job.threads, notice=job.notice, check=job.check)


def _blocks(table: CategoricalTable, job: CountingJob) -> CellCounter:
    from xordal.counting.blocks import BlockCounter, on_disk

    return BlockCounter(on_disk(table), threads=job.threads, notice=job.notice, check=job.check)


def _gpu(table: CategoricalTable, job: CountingJob) -> CellCounter:
    from xordal.counting.gpu.cupy_engine import CupyEngine
    from xordal.counting.gpu.oracle import GpuOracle

    does_the_rest = partial(_numba, job=job)
    return GpuOracle(table, CupyEngine(job.notice), does_the_rest, notice=job.notice)


def _auto(table: CategoricalTable, job: CountingJob) -> CellCounter:
    if table.blocks is not None and table.codes.size > _LARGE:
        return _blocks(table, job)
    if _n_sets(table, job.n_sets) * table.n_rows >= _WORTH_GPU and _has_gpu():
        return _gpu(table, job)
    worth = _WORTH_LOADED if "xordal.counting.cpu_numba" in sys.modules else _WORTH
    pays = seconds_of_numpy(table, job.n_sets) > worth
    return (_numba if pays and _is_ready(job.seconds_left) else _numpy)(table, job)


def _is_ready(seconds_left: float) -> bool:
    """Whether the kernels are compiled, or there is time to: nothing can end that halfway."""
    if seconds_left > _COMPILING:
        return True
    from xordal.counting._jit import is_compiled
    from xordal.counting._scan import scan_sets

    return is_compiled(scan_sets)


def _has_gpu() -> bool:
    """Whether there is a GPU to use; where CuPy is not installed, nothing is imported to see that."""
    if find_spec("cupy") is None:
        return False
    from xordal.counting.gpu.cupy_engine import why_not

    return why_not() is None


def _dask(table: CategoricalTable, job: CountingJob) -> CellCounter:
    from xordal.counting.dask.backend import present

    return present()(table, job)


BACKENDS: dict[str, Backend] = {
    "auto": _auto, "numpy": _numpy, "numba": _numba, "gpu": _gpu, "blocks": _blocks, "dask": _dask,
}  # fmt: skip
"""The backends that have a name."""


def oracle_for(
    table: CategoricalTable,
    *,
    backend: str | Backend = "auto",
    threads: int | None = None,
    work: float | None = None,
    notice: Callable[[str], None] = lambda line: None,
    check: Callable[[], None] = lambda: None,
    seconds_left: float = inf,
) -> TableOracle:
    """Return what counts, scans and answers for a table.

    Parameters
    ----------
    table
        The data.
    backend
        A name of ``BACKENDS``: ``"numpy"``, ``"numba"``, ``"gpu"``, ``"blocks"`` (for tables larger than
        memory), ``"dask"`` (on the present Dask client), or ``"auto"`` for the one that is done first. Or a
        :class:`Backend` of one's own.
    threads
        How many threads the kernels use; all cores this process may use where None.
    work
        How many variable sets will be counted, about; all pairs and triples where None.
    notice
        Called with one line when kernels are to be compiled first.
    check
        Called several times a second while something is counted; it may end that by raising.
    seconds_left
        Until a time limit: with less than a minute, ``"auto"`` compiles nothing.

    Raises
    ------
    SettingsError
        If the backend is no name of one and cannot be called, or what it returns cannot count.

    Examples
    --------
    >>> from xordal.data.table import CategoricalTable
    >>> table = CategoricalTable.from_rows("ab", [(0, 0), (1, 1)])
    >>> type(oracle_for(table)).__name__
    'CountingOracle'
    """
    from xordal.counting.oracle import CellCounter, TableOracle
    from xordal.counting.plain import CountingOracle

    found = backend_of(backend)(table, CountingJob(threads, work, notice, check, seconds_left))
    if isinstance(found, TableOracle):
        return found
    if not isinstance(found, CellCounter):
        raise SettingsError(
            "A backend must return an object that counts, one with a method counts(sets); "
            f"{backend!r} returned a {type(found).__name__}."
        )
    return CountingOracle(found, table.n_levels)


def backend_of(backend: str | Backend) -> Backend:
    """Return the backend of a name; one that is none itself is refused."""
    if isinstance(backend, str):
        if backend not in BACKENDS:
            raise SettingsError(f"Unknown backend {backend!r}; the backends are {', '.join(BACKENDS)}.")
        return BACKENDS[backend]
    if not callable(backend):
        raise SettingsError(
            f"backend must be one of {', '.join(BACKENDS)}, or something to be called with a table that "
            f"returns what counts it; not {backend!r}."
        )
    return backend


def as_read_by(backend: str | Backend, source: Any, how: ReadingOptions | Reading) -> Any:
    """Return a source as it is to be read: a cluster's own workers list and read the files that it names."""
    text, sql = (how.get("text"), how.get("sql")) if isinstance(how, dict) else (how.text, how.sql)
    if backend == "dask":
        from xordal.counting.dask.backend import present

        backend = present()
    files = getattr(backend, "list_files", None)
    found = None if files is None or sql is not None else files(source, text)
    return source if found is None else found


def seconds_of_numpy(table: CategoricalTable, work: float | None = None) -> float:
    """Return about how long NumPy takes to count so many variable sets."""
    return float(_n_sets(table, work) * (_PER_SET + table.codes.shape[1] * _PER_ROW))


def _n_sets(table: CategoricalTable, work: float | None) -> float:
    """Return how many sets will be counted, about."""
    n = table.n_variables
    return n * (n - 1) / 2 + n * (n - 1) * (n - 2) / 6 if work is None else work
