"""Machine instructions that Numba does not offer: counts and extraction of bits, products of bit columns.

Each has a plain form of the same name and arguments, used where the JIT is off (``NUMBA_DISABLE_JIT=1``). The
product is written in vectors that LLVM lowers for any processor: eight columns by eight columns, one row of
64 cases at a time. Bits of eight columns lie interleaved, ``words[t, lane]``, so that a vector holds one word
of each and no sum over lanes is ever needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from xordal.counting._llvm import I8, I32, I64, LANES, Loop, config, constant, declared, splat

_FULL_BYTES = 31  # words whose byte counts, at most 8 each, add up to less than 256


def _features() -> set[str]:
    """Return the names of what the processor that Numba compiles for can do."""
    if config.CPU_FEATURES is not None:
        return {name[1:] for name in config.CPU_FEATURES.split(",") if name.startswith("+")}
    return {name for name, there in binding.get_host_cpu_features().items() if there}


_CAN = set() if config.DISABLE_JIT else _features()
HAS_EXTRACT = "bmi2" in _CAN
"""Whether bits can be extracted by a mask in one instruction."""
_COUNTS_WORDS = "avx512vpopcntdq" in _CAN


def _plain_popcount(x: Any) -> Any:
    return np.uint64(int(x).bit_count())


def _plain_extract(x: Any, mask: Any) -> Any:
    """Return the bits of x where the mask has ones, pushed together at the low end."""
    x, mask, found, place = int(x), int(mask), 0, 0
    while mask:
        lowest = mask & -mask
        found |= int(bool(x & lowest)) << place
        place, mask = place + 1, mask ^ lowest
    return np.uint64(found)


def _plain_product(a: Any, ja: int, b: Any, kb: int, n_words: int, out: Any, at: int, stride: int) -> None:
    """Count the common bits of eight columns with eight columns.

    ``a[ja + 8 t + j]`` is word t of column j, ``b[kb + 8 t + k]`` of column k; the count of the pair goes to
    ``out[at + j stride + k]``.
    """
    left = a[ja : ja + LANES * n_words].reshape(n_words, LANES)
    right = b[kb : kb + LANES * n_words].reshape(n_words, LANES)
    for j in range(LANES):
        common = np.unpackbits((left[:, j : j + 1] & right).T.copy().view(np.uint8), axis=1)
        out[at + j * stride : at + j * stride + LANES] = common.sum(axis=1)


if config.DISABLE_JIT:
    popcount, extract, product = _plain_popcount, _plain_extract, _plain_product
else:

    @intrinsic
    def popcount(typing: Any, x: Any) -> Any:
        """Return the number of ones in a word."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), build

    @intrinsic
    def extract(typing: Any, x: Any, mask: Any) -> Any:
        """Return the bits of x where the mask has ones, pushed together at the low end."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if not HAS_EXTRACT:  # never run: callers mask instead, but both branches are compiled
                return args[0]
            name, kind = "llvm.x86.bmi.pext.64", ir.FunctionType(I64, [I64, I64])
            return builder.call(declared(builder, kind, name), args)

        return types.uint64(types.uint64, types.uint64), build

    @intrinsic
    def product(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any, a: Any, ja: Any, b: Any, kb: Any, n_words: Any, out: Any, at: Any, stride: Any
    ) -> Any:
        """Count the common bits of eight columns with eight columns; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            left, right, counts = (
                context.make_array(kinds[p])(context, builder, args[p]).data for p in (0, 2, 5)
            )
            left, right = builder.gep(left, [args[1]]), builder.gep(right, [args[3]])
            write = _by_words if _COUNTS_WORDS else _by_bytes
            write(builder, left, right, args[4], (builder.gep(counts, [args[6]]), args[7]))
            return context.get_dummy_value()

        word = types.int64
        return types.void(a, word, b, word, word, out, word, word), build


def _count(builder: Any, vector: Any) -> Any:
    """Return the number of ones in each lane."""
    name = f"llvm.ctpop.v{vector.type.count}i{vector.type.element.width}"
    kind = ir.FunctionType(vector.type, [vector.type])
    return builder.call(declared(builder, kind, name), [vector])


def _load(builder: Any, pointer: Any, offset: Any, lanes: int) -> Any:
    at = builder.bitcast(builder.gep(pointer, [offset]), ir.VectorType(I64, lanes).as_pointer())
    return builder.load(at, align=8)


def _by_words(builder: Any, left: Any, right: Any, n_words: Any, out: Any) -> None:
    """One count per 64-bit lane: for processors that count the bits of whole vectors of words."""
    zero = ir.Constant(ir.VectorType(I64, LANES), None)
    loop = Loop(builder, constant(0), n_words, [zero] * LANES)
    base = builder.mul(loop.t, constant(LANES))
    ks = _load(builder, right, base, LANES)
    sums = []
    for j, total in enumerate(loop.running):
        word = builder.load(builder.gep(left, [builder.add(base, constant(j))]))
        sums.append(builder.add(total, _count(builder, builder.and_(splat(builder, word, LANES), ks))))
    loop.close(sums)
    for j, total in enumerate(loop.running):
        _store(builder, total, out, (j, 0))


def _by_bytes(builder: Any, left: Any, right: Any, n_words: Any, out: Any) -> None:
    """One count per byte, added up before bytes overflow: a table look-up each, or one instruction on ARM."""
    half = LANES // 2
    words, octets = ir.VectorType(I64, half), ir.VectorType(I8, 8 * half)
    n_rounds = builder.sdiv(builder.add(n_words, constant(_FULL_BYTES - 1)), constant(_FULL_BYTES))
    for side in (0, half):
        outer = Loop(builder, constant(0), n_rounds, [ir.Constant(words, None)] * LANES)
        start = builder.mul(outer.t, constant(_FULL_BYTES))
        stop = builder.add(start, constant(_FULL_BYTES))
        stop = builder.select(builder.icmp_signed("<", stop, n_words), stop, n_words)
        inner = Loop(builder, start, stop, [ir.Constant(octets, None)] * LANES)
        base = builder.mul(inner.t, constant(LANES))
        ks = _load(builder, right, builder.add(base, constant(side)), half)
        sums = []
        for j, total in enumerate(inner.running):
            word = builder.load(builder.gep(left, [builder.add(base, constant(j))]))
            common = builder.and_(splat(builder, word, half), ks)
            sums.append(builder.add(total, _count(builder, builder.bitcast(common, octets))))
        inner.close(sums)
        folded = [_sum_of_bytes(builder, builder.bitcast(total, words)) for total in inner.running]
        outer.close([builder.add(*pair) for pair in zip(outer.running, folded, strict=True)])
        for j, total in enumerate(outer.running):
            _store(builder, total, out, (j, side))


def _sum_of_bytes(builder: Any, x: Any) -> Any:
    """Return the sum of the eight bytes of each word."""

    def all_lanes(value: int) -> Any:
        return ir.Constant(x.type, [constant(value)] * x.type.count)

    mask = all_lanes(0x00FF00FF00FF00FF)
    x = builder.add(builder.and_(x, mask), builder.and_(builder.lshr(x, all_lanes(8)), mask))
    x = builder.add(x, builder.lshr(x, all_lanes(16)))
    x = builder.add(x, builder.lshr(x, all_lanes(32)))
    return builder.and_(x, all_lanes(0xFFFF))


def _store(builder: Any, total: Any, out: tuple[Any, Any], place: tuple[int, int]) -> None:
    """Write one row of a tile, or half of it, as 32-bit counts."""
    counts, stride = out
    row, lane = place
    narrow = builder.trunc(total, ir.VectorType(I32, total.type.count))
    offset = builder.add(builder.mul(stride, constant(row)), constant(lane))
    at = builder.bitcast(builder.gep(counts, [offset]), narrow.type.as_pointer())
    builder.store(narrow, at, align=4)
