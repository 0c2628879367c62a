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
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

LANES = 8
"""How many columns lie side by side; also the height of a tile."""

config: Any = numba_config  # its names are made at run time
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
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


def _plain_reaching(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, jk: Any, share: Any, weight: Any, more: Any, chi_ik: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark, in groups of eight lanes k, the binary triples of one i and j whose chi reaches a limit.

    ``t`` counts the rows with i, j and k, and ``jk`` those with j and k. The next four arrays are, for each k,
    its share, one over its variance, by how many rows more than by chance it comes with i, and what that adds
    to chi. ``places`` are where the three kinds of array begin, the number of groups, and the lanes that count
    in the first of them; ``terms`` what i and j contribute, and the limit less what the two add to chi
    themselves. Return whether any reaches the limit.
    """
    t_at, jk_at, at, n_groups, first = places
    p_i, p_j, n_j, lean, j_unit, unit, limit = terms
    n = n_groups * LANES
    here = slice(at, at + n)
    more_jk = jk[jk_at : jk_at + n] - n_j * share[here]
    more_ijk = t[t_at : t_at + n] - p_i * more_jk - p_j * more[here] - share[here] * lean
    chi = chi_ik[here] + weight[here] * (more_jk * more_jk * j_unit + more_ijk * more_ijk * unit)
    hits[:n_groups] = np.packbits(chi >= limit, bitorder="little")
    hits[0] &= first
    return int(np.bitwise_or.reduce(hits[:n_groups]))


def _plain_squares(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, x: Any, w: Any, p: Any, own: Any, chi: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Let chi be ``start + own + u w (t - a x - b p)^2``, summed over two cells; mark what reaches a limit.

    ``places`` are where t begins for both cells, where x and w do, where p and own do, and the number of groups
    of eight lanes; ``terms`` are a, b and u of both cells, the start and the limit. Marks are bits, as those of
    ``marks``; ``own`` may be ``chi`` itself. Return whether any reaches the limit.
    """
    t1, t2, x1, x2, p_at, own_at, n_groups = places
    a, b, u, a2, b2, u2, start, limit = terms
    n = n_groups * LANES
    share = p[p_at : p_at + n]
    first = t[t1 : t1 + n] - a * x[x1 : x1 + n] - b * share
    second = t[t2 : t2 + n] - a2 * x[x2 : x2 + n] - b2 * share
    both = u * w[x1 : x1 + n] * first * first + u2 * w[x2 : x2 + n] * second * second
    chi[:n] = start + own[own_at : own_at + n] + both
    return _plain_marks(chi, n_groups, limit, hits)


def _plain_marks(values: Any, n_groups: int, limit: float, hits: Any) -> int:
    """Mark, in groups of eight, the values that reach a limit: bit b of ``hits[g]`` is value 8 g + b.

    Return whether any does. A NaN does not.
    """
    hits[:n_groups] = np.packbits(values[: n_groups * LANES] >= limit, bitorder="little")
    return int(np.bitwise_or.reduce(hits[:n_groups]))


if config.DISABLE_JIT:
    popcount, extract, product, reaching = _plain_popcount, _plain_extract, _plain_product, _plain_reaching
    squares, plain_squares, marks = _plain_squares, _plain_squares, _plain_marks
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
            name, kind = "llvm.x86.bmi.pext.64", ir.FunctionType(_I64, [_I64, _I64])
            return builder.call(_declared(builder, kind, name), args)

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

    @intrinsic
    def reaching(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any,
        t: Any,
        jk: Any,
        share: Any,
        weight: Any,
        more: Any,
        chi_ik: Any,
        hits: Any,
        places: Any,
        terms: Any,
    ) -> Any:
        """Mark the binary triples whose chi reaches a limit; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def item(place: int, x: int) -> Any:
                return builder.extract_value(args[place], x)

            *arrays, marks = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:7], args[:7], strict=True)
            )
            begins = [item(7, 0), item(7, 1), *[item(7, 2)] * 4]
            sources = [builder.gep(array, [at]) for array, at in zip(arrays, begins, strict=True)]
            terms = [_splat(builder, item(8, x), LANES) for x in range(len(signature.args[8].types))]
            return _reaching(builder, sources, terms, (item(7, 3), item(7, 4)), marks)

        return types.int64(t, jk, share, weight, more, chi_ik, hits, places, terms), build

    @intrinsic
    def squares(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any, t: Any, x: Any, w: Any, p: Any, own: Any, chi: Any, hits: Any, places: Any, terms: Any
    ) -> Any:
        """Sum squares over two cells and mark what reaches a limit; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def item(place: int, number: int) -> Any:
                return builder.extract_value(args[place], number)

            t, x, w, p, own, chi, marked = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:7], args[:7], strict=True)
            )
            t1, t2, x1, x2, p_at, own_at, n_groups = (item(7, number) for number in range(7))
            sources = [(t, t1), (t, t2), (x, x1), (x, x2), (w, x1), (w, x2), (p, p_at), (own, own_at)]
            at = [builder.gep(array, [begin]) for array, begin in sources]
            terms = [_splat(builder, item(8, number), LANES) for number in range(8)]
            return _squares(builder, at, terms, n_groups, (chi, marked))

        return types.int64(t, x, w, p, own, chi, hits, places, terms), build

    @intrinsic
    def plain_squares(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any, t: Any, x: Any, w: Any, p: Any, own: Any, chi: Any, hits: Any, places: Any, terms: Any
    ) -> Any:
        """Do the same where b and own are zero: nothing is loaded for them."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def item(place: int, number: int) -> Any:
                return builder.extract_value(args[place], number)

            t, x, w, _, _, chi, marked = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:7], args[:7], strict=True)
            )
            t1, t2, x1, x2, _, _, n_groups = (item(7, number) for number in range(7))
            at = [
                builder.gep(array, [begin])
                for array, begin in [(t, t1), (t, t2), (x, x1), (x, x2), (w, x1), (w, x2)]
            ]
            terms = [_splat(builder, item(8, number), LANES) for number in range(8)]
            return _squares(builder, [*at, None, None], terms, n_groups, (chi, marked))

        return types.int64(t, x, w, p, own, chi, hits, places, terms), build

    @intrinsic
    def marks(typing: Any, values: Any, n_groups: Any, limit: Any, hits: Any) -> Any:
        """Mark the values that reach a limit; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source, target = (
                context.make_array(signature.args[x])(context, builder, args[x]).data for x in (0, 3)
            )
            least = _splat(builder, args[2], LANES)
            loop = _Loop(builder, _constant(0), args[1], [_constant(0, _I8)])
            offset = builder.mul(loop.t, _constant(LANES))
            kind = ir.VectorType(ir.DoubleType(), LANES)
            at = builder.bitcast(builder.gep(source, [offset]), kind.as_pointer())
            reached = builder.bitcast(builder.fcmp_ordered(">=", builder.load(at, align=8), least), _I8)
            builder.store(reached, builder.gep(target, [loop.t]))
            loop.close([builder.or_(loop.running[0], reached)])
            return builder.zext(loop.running[0], _I64)

        return types.int64(values, types.int64, types.float64, hits), build


def _reaching(builder: Any, sources: Any, terms: Any, bounds: Any, hits: Any) -> Any:
    """Write the loop over groups of eight lanes: one vector of doubles each."""
    p_i, p_j, n_j, lean, j_unit, unit, limit = terms
    n_groups, first = bounds

    def times(a: Any, b: Any) -> Any:
        return builder.fmul(a, b, flags=("contract",))

    def plus(a: Any, b: Any) -> Any:
        return builder.fadd(a, b, flags=("contract",))

    def minus(a: Any, b: Any) -> Any:
        return builder.fsub(a, b, flags=("contract",))

    loop = _Loop(builder, _constant(0), n_groups, [_constant(0, _I8)])
    offset = builder.mul(loop.t, _constant(LANES))
    t, n_jk, share, weight, more_ik, chi_ik = (_eight(builder, source, offset) for source in sources)
    more_jk = minus(n_jk, times(n_j, share))
    more_ijk = minus(minus(minus(t, times(p_i, more_jk)), times(p_j, more_ik)), times(share, lean))
    squares = plus(times(times(more_jk, more_jk), j_unit), times(times(more_ijk, more_ijk), unit))
    chi = plus(chi_ik, times(weight, squares))
    reached = builder.bitcast(builder.fcmp_ordered(">=", chi, limit), _I8)
    is_first = builder.icmp_signed("==", loop.t, _constant(0))
    reached = builder.and_(reached, builder.select(is_first, builder.trunc(first, _I8), _constant(255, _I8)))
    builder.store(reached, builder.gep(hits, [loop.t]))
    loop.close([builder.or_(loop.running[0], reached)])
    return builder.zext(loop.running[0], _I64)


def _squares(builder: Any, sources: Any, terms: Any, n_groups: Any, targets: Any) -> Any:
    """Write the loop over groups of eight lanes: one vector of doubles each."""
    a, b, u, a2, b2, u2, start, limit = terms

    def beyond(t: Any, x: Any, p: Any, of_x: Any, of_p: Any) -> Any:
        less = builder.fsub(t, builder.fmul(of_x, x, flags=("contract",)), flags=("contract",))
        if p is None:
            return less
        return builder.fsub(less, builder.fmul(of_p, p, flags=("contract",)), flags=("contract",))

    loop = _Loop(builder, _constant(0), n_groups, [_constant(0, _I8)])
    offset = builder.mul(loop.t, _constant(LANES))
    t, t2, x, x2, w, w2, p, own = (source and _eight(builder, source, offset) for source in sources)
    first, second = beyond(t, x, p, a, b), beyond(t2, x2, p, a2, b2)
    chi = start if own is None else builder.fadd(start, own)
    for unit, weight, rows in ((u, w, first), (u2, w2, second)):
        square = builder.fmul(builder.fmul(unit, weight), builder.fmul(rows, rows), flags=("contract",))
        chi = builder.fadd(chi, square, flags=("contract",))
    values, hits = targets
    at = builder.bitcast(builder.gep(values, [offset]), chi.type.as_pointer())
    builder.store(chi, at, align=8)
    reached = builder.bitcast(builder.fcmp_ordered(">=", chi, limit), _I8)
    builder.store(reached, builder.gep(hits, [loop.t]))
    loop.close([builder.or_(loop.running[0], reached)])
    return builder.zext(loop.running[0], _I64)


def _eight(builder: Any, source: Any, offset: Any) -> Any:
    """Load eight numbers as doubles."""
    kind = ir.VectorType(source.type.pointee, LANES)
    value = builder.load(builder.bitcast(builder.gep(source, [offset]), kind.as_pointer()), align=4)
    if isinstance(kind.element, ir.IntType):
        return builder.sitofp(value, ir.VectorType(ir.DoubleType(), LANES))
    return value


def _constant(value: int, kind: Any = _I64) -> Any:
    return ir.Constant(kind, value)


def _splat(builder: Any, value: Any, lanes: int) -> Any:
    """Return a vector whose lanes all hold the value."""
    kind = ir.VectorType(value.type, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _constant(0, _I32))
    return builder.shuffle_vector(
        one, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    )


def _declared(builder: Any, kind: Any, name: str) -> Any:
    """Return an instruction of LLVM as a function."""
    return cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]


def _count(builder: Any, vector: Any) -> Any:
    """Return the number of ones in each lane."""
    name = f"llvm.ctpop.v{vector.type.count}i{vector.type.element.width}"
    kind = ir.FunctionType(vector.type, [vector.type])
    return builder.call(_declared(builder, kind, name), [vector])


def _load(builder: Any, pointer: Any, offset: Any, lanes: int) -> Any:
    at = builder.bitcast(builder.gep(pointer, [offset]), ir.VectorType(_I64, lanes).as_pointer())
    return builder.load(at, align=8)


class _Loop:
    """A counted loop with running values: ``for t in range(start, stop)``."""

    def __init__(self, builder: Any, start: Any, stop: Any, running: list[Any]) -> None:
        self._builder, self._stop = builder, stop
        before = builder.block
        self._head, self._body = builder.append_basic_block("head"), builder.append_basic_block("body")
        self._after = builder.append_basic_block("after")
        builder.branch(self._head)
        builder.position_at_end(self._head)
        self.t = builder.phi(_I64)
        self.t.add_incoming(start, before)
        self.running = [builder.phi(value.type) for value in running]
        for phi, value in zip(self.running, running, strict=True):
            phi.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", self.t, stop), self._body, self._after)
        builder.position_at_end(self._body)

    def close(self, following: list[Any]) -> None:
        """End the body; afterwards ``running`` holds the final values."""
        builder = self._builder
        self.t.add_incoming(builder.add(self.t, _constant(1)), builder.block)
        for phi, value in zip(self.running, following, strict=True):
            phi.add_incoming(value, builder.block)
        builder.branch(self._head)
        builder.position_at_end(self._after)


def _by_words(builder: Any, left: Any, right: Any, n_words: Any, out: Any) -> None:
    """One count per 64-bit lane: for processors that count the bits of whole vectors of words."""
    zero = ir.Constant(ir.VectorType(_I64, LANES), None)
    loop = _Loop(builder, _constant(0), n_words, [zero] * LANES)
    base = builder.mul(loop.t, _constant(LANES))
    ks = _load(builder, right, base, LANES)
    sums = []
    for j, total in enumerate(loop.running):
        word = builder.load(builder.gep(left, [builder.add(base, _constant(j))]))
        sums.append(builder.add(total, _count(builder, builder.and_(_splat(builder, word, LANES), ks))))
    loop.close(sums)
    for j, total in enumerate(loop.running):
        _store(builder, total, out, (j, 0))


def _by_bytes(builder: Any, left: Any, right: Any, n_words: Any, out: Any) -> None:
    """One count per byte, added up before bytes overflow: a table look-up each, or one instruction on ARM."""
    half = LANES // 2
    words, octets = ir.VectorType(_I64, half), ir.VectorType(_I8, 8 * half)
    n_rounds = builder.sdiv(builder.add(n_words, _constant(_FULL_BYTES - 1)), _constant(_FULL_BYTES))
    for side in (0, half):
        outer = _Loop(builder, _constant(0), n_rounds, [ir.Constant(words, None)] * LANES)
        start = builder.mul(outer.t, _constant(_FULL_BYTES))
        stop = builder.add(start, _constant(_FULL_BYTES))
        stop = builder.select(builder.icmp_signed("<", stop, n_words), stop, n_words)
        inner = _Loop(builder, start, stop, [ir.Constant(octets, None)] * LANES)
        base = builder.mul(inner.t, _constant(LANES))
        ks = _load(builder, right, builder.add(base, _constant(side)), half)
        sums = []
        for j, total in enumerate(inner.running):
            word = builder.load(builder.gep(left, [builder.add(base, _constant(j))]))
            common = builder.and_(_splat(builder, word, half), ks)
            sums.append(builder.add(total, _count(builder, builder.bitcast(common, octets))))
        inner.close(sums)
        folded = [_sum_of_bytes(builder, builder.bitcast(total, words)) for total in inner.running]
        outer.close([builder.add(*pair) for pair in zip(outer.running, folded, strict=True)])
        for j, total in enumerate(outer.running):
            _store(builder, total, out, (j, side))


def _sum_of_bytes(builder: Any, x: Any) -> Any:
    """Return the sum of the eight bytes of each word."""

    def all_lanes(value: int) -> Any:
        return ir.Constant(x.type, [_constant(value)] * x.type.count)

    mask = all_lanes(0x00FF00FF00FF00FF)
    x = builder.add(builder.and_(x, mask), builder.and_(builder.lshr(x, all_lanes(8)), mask))
    x = builder.add(x, builder.lshr(x, all_lanes(16)))
    x = builder.add(x, builder.lshr(x, all_lanes(32)))
    return builder.and_(x, all_lanes(0xFFFF))


def _store(builder: Any, total: Any, out: tuple[Any, Any], place: tuple[int, int]) -> None:
    """Write one row of a tile, or half of it, as 32-bit counts."""
    counts, stride = out
    row, lane = place
    narrow = builder.trunc(total, ir.VectorType(_I32, total.type.count))
    offset = builder.add(builder.mul(stride, _constant(row)), _constant(lane))
    at = builder.bitcast(builder.gep(counts, [offset]), narrow.type.as_pointer())
    builder.store(narrow, at, align=4)
