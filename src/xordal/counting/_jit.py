"""How kernels are compiled: the one home of Numba's options.

Kernels release the interpreter's lock and are run by ordinary threads, so none is compiled for Numba's own.

To see whether what it kept on disk is up to date, Numba looks at the file of the kernel that Python calls, and
not at the files of those that this one calls: whoever changes a kernel removes ``__pycache__`` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function at its first call; keep the result on disk where some folder can be written."""
    return _compiled(function, {})


def rounded_kernel(function: F) -> F:
    """Compile a function so that each operation is rounded by itself, as Python and NumPy do it.

    For sums that are reported: a product and a sum in one instruction would change their last bits.
    """
    return _compiled(function, {"fastmath": False})


def inner(function: F) -> F:
    """Compile a function that only kernels call and that makes no arrays, so that it need not hold any.

    Numba counts each array as held once more, atomically, when a function is given a tuple with it and when it
    is taken out of the tuple. That took a third of the time of a scan with a target.
    """
    return _compiled(function, {"_nrt": False, "no_cpython_wrapper": True})


def _compiled(function: F, more: dict[str, Any]) -> F:
    options: dict[str, Any] = {
        "nogil": True, "error_model": "numpy", "boundscheck": False, "fastmath": {"contract"}, **more,
    }  # fmt: skip
    try:
        compiled = numba.njit(function, cache=True, **options)
    except RuntimeError:  # no folder for the cache: compiled anew in each process
        compiled = numba.njit(function, **options)
    return cast(F, compiled)


def is_compiled(function: Any) -> bool:
    """Whether a kernel is ready, in this process or on disk; True where nothing is compiled at all."""
    if not hasattr(function, "signatures") or function.signatures:
        return True
    try:
        return bool(function._cache._cache_file._load_index())
    except (AttributeError, OSError):  # no cache on disk
        return False
