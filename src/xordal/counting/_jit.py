"""How kernels are compiled: the one home of Numba's options.

Kernels release the interpreter's lock and are run by ordinary threads, so none is compiled for Numba's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function at its first call; keep the result on disk where some folder can be written."""
    options: dict[str, Any] = {
        "nogil": True, "error_model": "numpy", "boundscheck": False, "fastmath": {"contract"},
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
