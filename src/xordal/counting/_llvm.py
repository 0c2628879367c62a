"""How loops over vectors are written for LLVM: what the machine instructions beside this are made of.

Columns lie side by side in eight *lanes*, so a vector holds one number of each and no sum over lanes is needed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import config as numba_config

LANES = 8
"""How many columns lie side by side; also the height of a tile."""

config: Any = numba_config  # its names are made at run time
I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def constant(value: int, kind: Any = I64) -> Any:
    return ir.Constant(kind, value)


def splat(builder: Any, value: Any, lanes: int) -> Any:
    """Return a vector whose lanes all hold the value."""
    kind = ir.VectorType(value.type, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, constant(0, I32))
    return builder.shuffle_vector(
        one, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    )


def declared(builder: Any, kind: Any, name: str) -> Any:
    """Return an instruction of LLVM as a function."""
    return cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]


def eight(builder: Any, source: Any, offset: Any) -> Any:
    """Load eight numbers as doubles."""
    kind = ir.VectorType(source.type.pointee, LANES)
    value = builder.load(builder.bitcast(builder.gep(source, [offset]), kind.as_pointer()), align=4)
    if isinstance(kind.element, ir.IntType):
        return builder.sitofp(value, ir.VectorType(ir.DoubleType(), LANES))
    return value


class Loop:
    """A counted loop with running values: ``for t in range(start, stop)``."""

    def __init__(self, builder: Any, start: Any, stop: Any, running: list[Any]) -> None:
        self._builder, self._stop = builder, stop
        before = builder.block
        self._head, self._body = builder.append_basic_block("head"), builder.append_basic_block("body")
        self._after = builder.append_basic_block("after")
        builder.branch(self._head)
        builder.position_at_end(self._head)
        self.t = builder.phi(I64)
        self.t.add_incoming(start, before)
        self.running = [builder.phi(value.type) for value in running]
        for phi, value in zip(self.running, running, strict=True):
            phi.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", self.t, stop), self._body, self._after)
        builder.position_at_end(self._body)

    def close(self, following: list[Any]) -> None:
        """End the body; afterwards ``running`` holds the final values."""
        builder = self._builder
        self.t.add_incoming(builder.add(self.t, constant(1)), builder.block)
        for phi, value in zip(self.running, following, strict=True):
            phi.add_incoming(value, builder.block)
        builder.branch(self._head)
        builder.position_at_end(self._after)
