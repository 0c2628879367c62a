"""Sums of squares of eight sets at once, and which of them reach a limit: the inner loops of the screens.

Written as vectors of eight doubles, since loops in Python over several arrays with offsets are not turned into
vectors. Each has a plain form of the same name and arguments, used where the JIT is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from xordal.counting._llvm import I8, I64, LANES, Loop, config, constant, eight, splat


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


def _plain_four_cells(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, triples: Any, pairs: Any, rows: Any, weight: Any, own: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark, in groups of eight lanes k, the binary sets h, i, j, k whose chi given h and i reaches a limit.

    ``t`` counts the rows with all four, ``triples`` those with i, j, k and with h, j, k, ``pairs`` those with j
    and k; so the rows with j and k in each of the four cells of h and i follow. ``rows`` and ``weight`` are of
    k in each of these cells, ``own`` is what k adds. ``places`` are where t, both triples, pairs and k begin,
    the step from cell to cell, the number of groups, and the lanes that count in the first of them; ``terms``
    are the share of j in each cell, the factor of its squares, and the limit. Return whether any reaches it.
    """
    t_at, ijk_at, hjk_at, jk_at, at, step, n_groups, first = places
    n = n_groups * LANES
    hijk, ijk, hjk = t[t_at : t_at + n], triples[ijk_at : ijk_at + n], triples[hjk_at : hjk_at + n]
    counted = (hijk, hjk - hijk, ijk - hijk, pairs[jk_at : jk_at + n] - ijk - hjk + hijk)
    chi = own[at : at + n].copy()
    for cell, count in enumerate(counted):
        here = slice(cell * step + at, cell * step + at + n)
        beyond = count - terms[cell] * rows[here]
        chi += terms[4 + cell] * weight[here] * beyond * beyond
    hits[:n_groups] = np.packbits(chi >= terms[8], bitorder="little")
    hits[0] &= first
    return int(np.bitwise_or.reduce(hits[:n_groups]))


if config.DISABLE_JIT:
    reaching, squares, plain_squares, marks = _plain_reaching, _plain_squares, _plain_squares, _plain_marks
    four_cells = _plain_four_cells
else:

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
            terms = [splat(builder, item(8, x), LANES) for x in range(len(signature.args[8].types))]
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
            terms = [splat(builder, item(8, number), LANES) for number in range(8)]
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
            terms = [splat(builder, item(8, number), LANES) for number in range(8)]
            return _squares(builder, [*at, None, None], terms, n_groups, (chi, marked))

        return types.int64(t, x, w, p, own, chi, hits, places, terms), build

    @intrinsic
    def marks(typing: Any, values: Any, n_groups: Any, limit: Any, hits: Any) -> Any:
        """Mark the values that reach a limit; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source, target = (
                context.make_array(signature.args[x])(context, builder, args[x]).data for x in (0, 3)
            )
            least = splat(builder, args[2], LANES)
            loop = Loop(builder, constant(0), args[1], [constant(0, I8)])
            offset = builder.mul(loop.t, constant(LANES))
            kind = ir.VectorType(ir.DoubleType(), LANES)
            at = builder.bitcast(builder.gep(source, [offset]), kind.as_pointer())
            reached = builder.bitcast(builder.fcmp_ordered(">=", builder.load(at, align=8), least), I8)
            builder.store(reached, builder.gep(target, [loop.t]))
            loop.close([builder.or_(loop.running[0], reached)])
            return builder.zext(loop.running[0], I64)

        return types.int64(values, types.int64, types.float64, hits), build

    @intrinsic
    def four_cells(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any,
        t: Any,
        triples: Any,
        pairs: Any,
        rows: Any,
        weight: Any,
        own: Any,
        hits: Any,
        places: Any,
        terms: Any,
    ) -> Any:
        """Mark the binary sets of four whose chi reaches a limit; see the plain form."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def item(place: int, number: int) -> Any:
                return builder.extract_value(args[place], number)

            t, triples, pairs, rows, weight, own, marked = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:7], args[:7], strict=True)
            )
            t_at, ijk_at, hjk_at, jk_at, at, step, n_groups, first = (item(7, x) for x in range(8))
            cells = [builder.add(at, builder.mul(step, constant(cell))) for cell in range(4)]
            starts = [(t, t_at), (triples, ijk_at), (triples, hjk_at), (pairs, jk_at), (own, at)]
            starts += [(rows, cell) for cell in cells] + [(weight, cell) for cell in cells]
            sources = [builder.gep(array, [begin]) for array, begin in starts]
            splats = [splat(builder, item(8, x), LANES) for x in range(9)]
            return _four_cells(builder, sources, splats, (n_groups, first), marked)

        return types.int64(t, triples, pairs, rows, weight, own, hits, places, terms), build


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

    loop = Loop(builder, constant(0), n_groups, [constant(0, I8)])
    offset = builder.mul(loop.t, constant(LANES))
    t, n_jk, share, weight, more_ik, chi_ik = (eight(builder, source, offset) for source in sources)
    more_jk = minus(n_jk, times(n_j, share))
    more_ijk = minus(minus(minus(t, times(p_i, more_jk)), times(p_j, more_ik)), times(share, lean))
    squares = plus(times(times(more_jk, more_jk), j_unit), times(times(more_ijk, more_ijk), unit))
    chi = plus(chi_ik, times(weight, squares))
    reached = builder.bitcast(builder.fcmp_ordered(">=", chi, limit), I8)
    is_first = builder.icmp_signed("==", loop.t, constant(0))
    reached = builder.and_(reached, builder.select(is_first, builder.trunc(first, I8), constant(255, I8)))
    builder.store(reached, builder.gep(hits, [loop.t]))
    loop.close([builder.or_(loop.running[0], reached)])
    return builder.zext(loop.running[0], I64)


def _squares(builder: Any, sources: Any, terms: Any, n_groups: Any, targets: Any) -> Any:
    """Write the loop over groups of eight lanes: one vector of doubles each."""
    a, b, u, a2, b2, u2, start, limit = terms

    def beyond(t: Any, x: Any, p: Any, of_x: Any, of_p: Any) -> Any:
        less = builder.fsub(t, builder.fmul(of_x, x, flags=("contract",)), flags=("contract",))
        if p is None:
            return less
        return builder.fsub(less, builder.fmul(of_p, p, flags=("contract",)), flags=("contract",))

    loop = Loop(builder, constant(0), n_groups, [constant(0, I8)])
    offset = builder.mul(loop.t, constant(LANES))
    t, t2, x, x2, w, w2, p, own = (source and eight(builder, source, offset) for source in sources)
    first, second = beyond(t, x, p, a, b), beyond(t2, x2, p, a2, b2)
    chi = start if own is None else builder.fadd(start, own)
    for unit, weight, rows in ((u, w, first), (u2, w2, second)):
        square = builder.fmul(builder.fmul(unit, weight), builder.fmul(rows, rows), flags=("contract",))
        chi = builder.fadd(chi, square, flags=("contract",))
    values, hits = targets
    at = builder.bitcast(builder.gep(values, [offset]), chi.type.as_pointer())
    builder.store(chi, at, align=8)
    reached = builder.bitcast(builder.fcmp_ordered(">=", chi, limit), I8)
    builder.store(reached, builder.gep(hits, [loop.t]))
    loop.close([builder.or_(loop.running[0], reached)])
    return builder.zext(loop.running[0], I64)


def _four_cells(builder: Any, sources: Any, terms: Any, bounds: Any, hits: Any) -> Any:
    """Write the loop over groups of eight lanes: one vector of doubles each."""
    n_groups, first = bounds
    loop = Loop(builder, constant(0), n_groups, [constant(0, I8)])
    offset = builder.mul(loop.t, constant(LANES))
    hijk, ijk, hjk, jk, chi, *of_k = (eight(builder, source, offset) for source in sources)
    only_i, only_h = builder.fsub(ijk, hijk), builder.fsub(hjk, hijk)
    counted = (hijk, only_h, only_i, builder.fsub(builder.fsub(jk, ijk), only_h))
    for cell, count in enumerate(counted):
        expected = builder.fmul(terms[cell], of_k[cell], flags=("contract",))
        beyond = builder.fsub(count, expected, flags=("contract",))
        square = builder.fmul(
            builder.fmul(terms[4 + cell], of_k[4 + cell]), builder.fmul(beyond, beyond), flags=("contract",)
        )
        chi = builder.fadd(chi, square, flags=("contract",))
    reached = builder.bitcast(builder.fcmp_ordered(">=", chi, terms[8]), I8)
    is_first = builder.icmp_signed("==", loop.t, constant(0))
    reached = builder.and_(reached, builder.select(is_first, builder.trunc(first, I8), constant(255, I8)))
    builder.store(reached, builder.gep(hits, [loop.t]))
    loop.close([builder.or_(loop.running[0], reached)])
    return builder.zext(loop.running[0], I64)
