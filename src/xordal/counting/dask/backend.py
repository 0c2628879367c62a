"""The backend that users name: a client of theirs, an address, or processes of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from xordal.counting.dask.cluster import Cluster
from xordal.counting.dask.oracles import RowsOnDask, SetsOnDask
from xordal.counting.dask.reading import files_on
from xordal.counting.oracle import CellCounter
from xordal.counting.select import Backend, CountingJob, backend_of, oracle_for
from xordal.counting.threads import n_threads
from xordal.data.dialect import TextFormat
from xordal.data.large.batches import FileSource
from xordal.data.table import CategoricalTable
from xordal.errors import SettingsError

Split = Literal["auto", "rows", "sets"]
"""What is shared out: ranges of rows, or sets of variables; ``"auto"`` sets, where the table fits a worker."""
_MISSING = "Dask is not installed. Install it: pip install 'xordal[dask]'"
_SHARE_OF_MEMORY = 4  # a table that takes more than this part of a worker's memory is not held whole


class DaskBackend:
    """A backend that counts on the workers of a Dask client, which also list and read many files.

    Parameters
    ----------
    client
        A ``dask.distributed.Client``, connected to whatever cluster it is: local processes, SLURM, Kubernetes.
    split
        What is shared out: ``"rows"``, ``"sets"`` of variables, or ``"auto"``.
    inner
        Who counts on the workers: ``"blocks"`` or any other backend.

    Examples
    --------
    >>> from dask.distributed import Client, LocalCluster  # doctest: +SKIP
    >>> with Client(LocalCluster(n_workers=2, threads_per_worker=1)) as client:  # doctest: +SKIP
    ...     learned = learn("data/*.parquet", backend=DaskBackend(client))
    """

    def __init__(self, client: Any, *, split: Split = "auto", inner: str | Backend = "blocks") -> None:
        if not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
            raise SettingsError(f"DaskBackend needs a dask.distributed.Client, not {client!r}.")
        if split not in ("auto", "rows", "sets"):
            raise SettingsError(f"split must be 'auto', 'rows' or 'sets', not {split!r}.")
        backend_of(inner)
        self._client, self._split, self._inner = client, split, inner

    def __call__(self, table: CategoricalTable, job: CountingJob) -> CellCounter:
        """Return what counts a table on the workers."""
        cluster = Cluster(self._client)
        place = cluster.share(table)
        split = self._split
        if split == "auto":
            needed = 4 * table.codes.size + 2 * sum(table.n_levels) * table.n_rows // 8
            split = "sets" if _SHARE_OF_MEMORY * needed <= cluster.memory() else "rows"
        if split == "rows":
            return RowsOnDask(cluster, place, self._inner)
        return SetsOnDask(cluster, place, oracle_for(table, threads=job.threads, notice=job.notice))

    def list_files(self, source: Any, text: TextFormat | None) -> FileSource | None:
        """Return the files that a source names, to be read by the workers; None where it is read as a whole."""
        return files_on(Cluster(self._client), source, text)


@contextmanager
def connected(scheduler: str | None = None, workers: int | None = None) -> Iterator[DaskBackend]:
    """Yield a backend on the cluster at an address, or on as many processes of this machine as asked for.

    The processes listen on the loopback address only and end with the block. What Dask would log, tracebacks of
    its own after Ctrl-C among it, is not for who types a command: errors are told in other words.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise SettingsError(_MISSING) from None
    if scheduler is not None:
        with _silence():
            try:
                client = Client(scheduler, timeout="20s", set_as_default=False)
            except (OSError, ValueError, TimeoutError) as error:
                said = (str(error).splitlines() or [type(error).__name__])[0]
                raise SettingsError(
                    f"There is no Dask scheduler at {scheduler!r} ({said}). Check the address."
                ) from None
            with client:
                yield DaskBackend(client)
        return
    with (
        _silence(),
        LocalCluster(
            n_workers=n_threads(workers),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield DaskBackend(client)


@contextmanager
def _silence() -> Iterator[None]:
    """Log nothing but what ends a process."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado.application")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def present() -> DaskBackend:
    """Return the backend on the client that this process has made last, as Dask's own functions use it."""
    try:
        from distributed import default_client
    except ImportError:
        raise SettingsError(_MISSING) from None
    try:
        return DaskBackend(default_client())
    except ValueError:
        raise SettingsError(
            "There is no Dask client in this process. Make one, as in Client(LocalCluster()), or pass "
            "backend=DaskBackend(client)."
        ) from None
