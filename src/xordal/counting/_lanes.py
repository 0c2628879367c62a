"""Sums of squares of eight sets at once, and which of them reach a limit: the inner loops of the screens.

Written as vectors of eight doubles, since loops in Python over several arrays with offsets are not turned into
vectors. All are called alike: six arrays, the array of marks, where what is read begins, and numbers that are
the same for all lanes. The last two *places* are the number of groups of eight lanes and the lanes that count
in the first of them, as bits. Bit b of ``hits[g]`` tells whether lane 8 g + b reaches the limit, the last of
the *terms*; returned is whether any does.

Each loop is a *plain* form in NumPy, used where the JIT is off, and a *body* that writes the same for one group
of eight lanes; ``_in_vectors`` makes of the two what kernels call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from xordal.counting._llvm import I8, I64, LANES, Loop, config, constant, eight, splat


class Group:
    """Eight lanes of a loop: loads and stores there, and arithmetic that may fuse products and sums."""

    def __init__(self, builder: Any, arrays: list[Any], group: Any) -> None:
        self._builder, self._arrays, self._group = builder, arrays, group

    def load(self, array: int, begin: Any, stride: int = LANES) -> Any:
        """Return eight numbers as doubles; stride is by how many numbers groups lie apart."""
        source = self._builder.gep(self._arrays[array], [begin])
        return eight(self._builder, source, self._builder.mul(self._group, constant(stride)))

    def store(self, array: int, vector: Any) -> None:
        offset = self._builder.mul(self._group, constant(LANES))
        target = self._builder.gep(self._arrays[array], [offset])
        self._builder.store(vector, self._builder.bitcast(target, vector.type.as_pointer()), align=8)

    def plus(self, a: Any, b: Any) -> Any:
        return self._builder.fadd(a, b, flags=("contract",))

    def minus(self, a: Any, b: Any) -> Any:
        return self._builder.fsub(a, b, flags=("contract",))

    def times(self, a: Any, *others: Any) -> Any:
        for b in others:
            a = self._builder.fmul(a, b, flags=("contract",))
        return a

    def skip(self, begin: Any, by: Any, times: int = 1) -> Any:
        """Return a place so many steps further on."""
        return self._builder.add(begin, self._builder.mul(by, constant(times)))


Body = Callable[[Group, list[Any], list[Any]], Any]
"""From a group, the places but the last two, and the terms but the limit, as vectors, to the lanes' values."""


def _in_vectors(plain: Any, body: Body) -> Any:
    """Return what kernels call: the plain form where the JIT is off, else a loop over groups of eight lanes."""
    if config.DISABLE_JIT:
        return plain

    def define(  # noqa: PLR0913, PLR0917 - as the plain form, and what Numba adds
        typing: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, hits: Any, places: Any, terms: Any
    ) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            *arrays, marks = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:7], args[:7], strict=True)
            )
            *begins, n_groups, first = (
                builder.extract_value(args[7], x) for x in range(len(signature.args[7].types))
            )
            *splats, limit = (
                splat(builder, builder.extract_value(args[8], x), LANES)
                for x in range(len(signature.args[8].types))
            )
            loop = Loop(builder, constant(0), n_groups, [constant(0, I8)])
            value = body(Group(builder, arrays, loop.t), begins, splats)
            reached = builder.bitcast(builder.fcmp_ordered(">=", value, limit), I8)
            is_first = builder.icmp_signed("==", loop.t, constant(0))
            counting = builder.select(is_first, builder.trunc(first, I8), constant(255, I8))
            reached = builder.and_(reached, counting)
            builder.store(reached, builder.gep(marks, [loop.t]))
            loop.close([builder.or_(loop.running[0], reached)])
            return builder.zext(loop.running[0], I64)

        return types.int64(a, b, c, d, e, f, hits, places, terms), build

    return intrinsic(define)


def _mark(values: Any, hits: Any, places: Any, terms: Any) -> int:
    """Mark what reaches the limit; a NaN does not."""
    n_groups, first, limit = places[-2], places[-1], terms[-1]
    hits[:n_groups] = np.packbits(values[: n_groups * LANES] >= limit, bitorder="little")
    hits[0] &= first
    return int(np.bitwise_or.reduce(hits[:n_groups]))


def _plain_reaching(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, jk: Any, share: Any, weight: Any, more: Any, chi_ik: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark, in groups of eight lanes k, the binary triples of one i and j whose chi reaches a limit.

    ``t`` counts the rows with i, j and k, and ``jk`` those with j and k. The next four arrays are, for each k,
    its share, one over its variance, by how many rows more than by chance it comes with i, and what that adds
    to chi. ``places`` are where the three kinds of array begin; ``terms`` what i and j contribute, and the
    limit less what the two add to chi themselves.
    """
    t_at, jk_at, at, n_groups, _ = places
    p_i, p_j, n_j, lean, j_unit, unit, _ = terms
    n = n_groups * LANES
    here = slice(at, at + n)
    more_jk = jk[jk_at : jk_at + n] - n_j * share[here]
    more_ijk = t[t_at : t_at + n] - p_i * more_jk - p_j * more[here] - share[here] * lean
    chi = chi_ik[here] + weight[here] * (more_jk * more_jk * j_unit + more_ijk * more_ijk * unit)
    return _mark(chi, hits, places, terms)


def _reaching(group: Group, places: list[Any], terms: list[Any]) -> Any:
    t_at, jk_at, at = places
    p_i, p_j, n_j, lean, j_unit, unit = terms
    plus, minus, times = group.plus, group.minus, group.times
    t, n_jk = group.load(0, t_at), group.load(1, jk_at)
    share, weight, more_ik, chi_ik = (group.load(array, at) for array in (2, 3, 4, 5))
    more_jk = minus(n_jk, times(n_j, share))
    more_ijk = minus(minus(minus(t, times(p_i, more_jk)), times(p_j, more_ik)), times(share, lean))
    squares = plus(times(more_jk, more_jk, j_unit), times(more_ijk, more_ijk, unit))
    return plus(chi_ik, times(weight, squares))


def _plain_squares(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, x: Any, w: Any, p: Any, own: Any, chi: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Let chi be ``start + own + u w (t - a x - b p)^2``, summed over two cells; mark what reaches a limit.

    ``places`` are where t begins for both cells, where x and w do, and where p and own do; ``terms`` are a, b
    and u of both cells, the start and the limit. ``own`` may be ``chi`` itself.
    """
    t1, t2, x1, x2, p_at, own_at, n_groups, _ = places
    a, b, u, a2, b2, u2, start, _ = terms
    n = n_groups * LANES
    share = p[p_at : p_at + n]
    first = t[t1 : t1 + n] - a * x[x1 : x1 + n] - b * share
    second = t[t2 : t2 + n] - a2 * x[x2 : x2 + n] - b2 * share
    both = u * w[x1 : x1 + n] * first * first + u2 * w[x2 : x2 + n] * second * second
    chi[:n] = start + own[own_at : own_at + n] + both
    return _mark(chi, hits, places, terms)


def _squares(group: Group, places: list[Any], terms: list[Any]) -> Any:
    p, own = group.load(3, places[4]), group.load(4, places[5])
    return _add_squares(group, places, terms, p, group.plus(terms[6], own))


def _squares_alone(group: Group, places: list[Any], terms: list[Any]) -> Any:
    """Do the same where b and own are zero: nothing is loaded for them."""
    return _add_squares(group, places, terms, None, terms[6])


def _add_squares(group: Group, places: list[Any], terms: list[Any], p: Any, chi: Any) -> Any:
    for cell in (0, 1):
        a, b, u = terms[3 * cell : 3 * cell + 3]
        t, x, w = group.load(0, places[cell]), group.load(1, places[2 + cell]), group.load(2, places[2 + cell])
        beyond = group.minus(t, group.times(a, x))
        if p is not None:
            beyond = group.minus(beyond, group.times(b, p))
        chi = group.plus(chi, group.times(group.times(u, w), group.times(beyond, beyond)))
    group.store(5, chi)
    return chi


def _plain_two_cells(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, jk: Any, rows: Any, weight: Any, e: Any, f: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark, in groups of eight lanes k, the binary triples of one i and j whose chi given i reaches a limit.

    ``t`` counts the rows with i, j and k, and ``jk`` those with j and k. ``rows`` and ``weight`` are of k in
    the rows with i, and a step further in the others. ``places`` are where t, jk and k begin, and the step;
    ``terms`` the share of j in both cells, and the factors of their squares. e and f are not read.
    """
    t_at, jk_at, at, step, n_groups, _ = places
    n, chi = n_groups * LANES, 0.0
    with_i, with_j = t[t_at : t_at + n], jk[jk_at : jk_at + n]
    for cell, count in enumerate((with_i, with_j - with_i)):
        here = slice(cell * step + at, cell * step + at + n)
        beyond = count - terms[cell] * rows[here]
        chi = chi + terms[2 + cell] * weight[here] * beyond * beyond
    return _mark(chi, hits, places, terms)


def _two_cells(group: Group, places: list[Any], terms: list[Any]) -> Any:
    t_at, jk_at, at, step = places
    with_i = group.load(0, t_at)
    chi = None
    for cell, count in enumerate((with_i, group.minus(group.load(1, jk_at), with_i))):
        here = group.skip(at, step, cell)
        beyond = group.minus(count, group.times(terms[cell], group.load(2, here)))
        factor = group.times(terms[2 + cell], group.load(3, here))
        square = group.times(factor, group.times(beyond, beyond))
        chi = square if chi is None else group.plus(chi, square)
    return chi


def _plain_three_levels(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, rows: Any, weight: Any, mix: Any, own: Any, chi: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Add to chi what a cell of the prefix adds for variables j and k of three levels, independent in it.

    Of each variable two levels have planes. With d the rows beyond chance of their four combinations, chi is a
    quadratic form in d. Its matrix is the product of one for j and one for k, and each of these is diagonal
    after the second level has been mixed into the first: so ``sum of weights w'[b] w[c] (d mixed)^2``.

    ``t`` counts the four combinations, a step apart; ``rows``, ``weight`` and ``mix`` are of the slots of k,
    two planes a block. ``places`` are where t begins and its step, where the slots do, and own; ``terms`` are
    the shares of both levels of j, its mix and its two weights, and the limit.
    """
    t_at, step, at, own_at, n_groups, _ = places
    p0, p1, mix_j, w0, w1, _ = terms
    n = n_groups * LANES

    def of(array: Any, level: int) -> Any:
        return array[at : at + 2 * n].reshape(-1, 2, LANES)[:, level].reshape(-1)

    total = own[own_at : own_at + n].copy()
    d = [[t[t_at + (2 * b + c) * step :][:n] - (p0, p1)[b] * of(rows, c) for c in (0, 1)] for b in (0, 1)]
    for row, w in (([d[0][c] + mix_j * d[1][c] for c in (0, 1)], w0), (d[1], w1)):
        mixed = row[0] + of(mix, 0) * row[1]
        total += w * (of(weight, 0) * mixed * mixed + of(weight, 1) * row[1] * row[1])
    chi[:n] = total
    return _mark(chi, hits, places, terms)


def _three_levels(group: Group, places: list[Any], terms: list[Any]) -> Any:
    t_at, step, at, own_at = places
    p0, p1, mix_j, w0, w1 = terms
    plus, minus, times = group.plus, group.minus, group.times
    (y0, y1), (v0, v1) = (
        [group.load(array, group.skip(at, constant(LANES), c), 2 * LANES) for c in (0, 1)] for array in (1, 2)
    )
    mix, chi = group.load(3, at, 2 * LANES), group.load(4, own_at)
    d00, d01, d10, d11 = (
        minus(group.load(0, group.skip(t_at, step, 2 * b + c)), times((p0, p1)[b], (y0, y1)[c]))
        for b in (0, 1)
        for c in (0, 1)
    )
    rows = ((plus(d00, times(mix_j, d10)), plus(d01, times(mix_j, d11)), w0), (d10, d11, w1))
    for first, second, w in rows:
        mixed = plus(first, times(mix, second))
        squares = plus(times(v0, times(mixed, mixed)), times(v1, times(second, second)))
        chi = plus(chi, times(w, squares))
    group.store(5, chi)
    return chi


def _plain_four_cells(  # noqa: PLR0913, PLR0917 - arrays in a tuple would be counted as held at each call
    t: Any, triples: Any, pairs: Any, rows: Any, weight: Any, own: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark, in groups of eight lanes k, the binary sets h, i, j, k whose chi given h and i reaches a limit.

    ``t`` counts the rows with all four, ``triples`` those with i, j, k and with h, j, k, ``pairs`` those with j
    and k; so the rows with j and k in each of the four cells of h and i follow. ``rows`` and ``weight`` are of
    k in each of these cells, ``own`` is what k adds. ``places`` are where t, both triples, pairs and k begin,
    and the step from cell to cell; ``terms`` are the share of j in each cell, and the factor of its squares.
    """
    t_at, ijk_at, hjk_at, jk_at, at, step, n_groups, _ = places
    n = n_groups * LANES
    hijk, ijk, hjk = t[t_at : t_at + n], triples[ijk_at : ijk_at + n], triples[hjk_at : hjk_at + n]
    counted = (hijk, hjk - hijk, ijk - hijk, pairs[jk_at : jk_at + n] - ijk - hjk + hijk)
    chi = own[at : at + n].copy()
    for cell, count in enumerate(counted):
        here = slice(cell * step + at, cell * step + at + n)
        beyond = count - terms[cell] * rows[here]
        chi += terms[4 + cell] * weight[here] * beyond * beyond
    return _mark(chi, hits, places, terms)


def _four_cells(group: Group, places: list[Any], terms: list[Any]) -> Any:
    t_at, ijk_at, hjk_at, jk_at, at, step = places
    minus, times = group.minus, group.times
    hijk, jk, chi = group.load(0, t_at), group.load(2, jk_at), group.load(5, at)
    ijk, hjk = group.load(1, ijk_at), group.load(1, hjk_at)
    only_h = minus(hjk, hijk)
    counted = (hijk, only_h, minus(ijk, hijk), minus(minus(jk, ijk), only_h))
    for cell, count in enumerate(counted):
        here = group.skip(at, step, cell)
        beyond = minus(count, times(terms[cell], group.load(3, here)))
        square = times(times(terms[4 + cell], group.load(4, here)), times(beyond, beyond))
        chi = group.plus(chi, square)
    return chi


def _plain_marks(  # noqa: PLR0913, PLR0917 - as the others
    values: Any, b: Any, c: Any, d: Any, e: Any, f: Any, hits: Any, places: Any, terms: Any
) -> int:
    """Mark the values that reach a limit; only the first array is read."""
    return _mark(values, hits, places, terms)


reaching = _in_vectors(_plain_reaching, _reaching)
squares = _in_vectors(_plain_squares, _squares)
squares_alone = _in_vectors(_plain_squares, _squares_alone)
two_cells = _in_vectors(_plain_two_cells, _two_cells)
three_levels = _in_vectors(_plain_three_levels, _three_levels)
four_cells = _in_vectors(_plain_four_cells, _four_cells)
marks = _in_vectors(_plain_marks, lambda group, places, terms: group.load(0, constant(0)))
