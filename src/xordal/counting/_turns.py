"""Threads that share work out between them: each takes the next turn, and none is taken twice.

An atomic addition costs nanoseconds, so even small pieces of work can be taken one at a time. Where the JIT is
off (``NUMBA_DISABLE_JIT=1``) a lock does the same.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from xordal.counting._llvm import config

_TAKING = Lock()


def first_turn() -> NDArray[np.int64]:
    """Return what threads share who take turns."""
    return np.zeros(1, dtype=np.int64)


def _plain_next_turn(turn: Any) -> int:
    """Return ``turn[0]`` and add one to it, as one step that no other thread can come between."""
    with _TAKING:
        mine = int(turn[0])
        turn[0] = mine + 1
    return mine


if config.DISABLE_JIT:
    next_turn = _plain_next_turn
else:

    @intrinsic
    def next_turn(typing: Any, turn: Any) -> Any:
        """Return ``turn[0]`` and add one to it; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at = context.make_array(signature.args[0])(context, builder, args[0]).data
            return builder.atomic_rmw("add", at, ir.Constant(ir.IntType(64), 1), "monotonic")

        return types.int64(turn), build
