"""Kernels of :mod:`xordal.statistics.moments`: the same sums in the same order, so the same to the bit.

A block of steps is given by two sides, the ends of each link. A side is three flat arrays: counts, the number
of the stratum of each within its step, and how many counts each step has. Cells of small fitted counts are
kept, with their margins, where the hash of these points to, and so are whole strata of few levels: sparse
tables hold the same ones again and again.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from xordal.counting._jit import rounded_kernel
from xordal.statistics.sparse_cells import DEGREE, DENSE, LOGS, NEW

N_KEPT = 1 << 15
"""Cells that are kept: two megabytes."""

N_STRATA = 1 << 15
"""Strata that are kept: four megabytes."""

_LISTED = 32  # counts up to which they are sorted by insertion
_IN_KEY = 14  # counts of a stratum that is kept, at most


def no_cells() -> tuple[Any, Any, Any, Any]:
    """Return room for cells and for strata, each with what is kept of it: none has margins of zero."""
    cells = np.zeros((N_KEPT, 3), np.int64), np.zeros((N_KEPT, DEGREE + 2))
    return *cells, np.zeros((N_STRATA, 1 + _IN_KEY), np.int64), np.empty((N_STRATA, 2))


@rounded_kernel
def sparse_cell(a: int, b: int, n: int, mu: float, work: Any, found: Any) -> None:
    """Fill in the coefficients of degree 0 to 4 and the rest of the variance; ``a <= b``."""
    least, far = max(0, a + b - n), int(np.ceil(mu + 8 * sqrt(mu) + 11))
    size = min(a, far) - least + 1
    law, term, previous, current = work[0], work[1], work[2], work[3]
    total, probability, log_mu = 0.0, 1.0, log(mu)
    for j in range(size):
        k = float(least + j)
        law[j] = probability
        total += probability
        probability *= (a - k) * (b - k) / ((k + 1) * ((n - a - b) + k + 1))
        term[j] = 2 * (k * (LOGS[least + j] - log_mu) - k + mu)
    mean, square = 0.0, 0.0
    for j in range(size):
        law[j] /= total
        mean += law[j] * term[j]
        square += law[j] * (term[j] * term[j])
        previous[j], current[j] = 0.0, 1.0
    found[:] = 0.0
    found[0] = mean
    norm = 0.0
    for degree in range(1, DEGREE + 1):
        centre = 0.0
        for j in range(size):
            centre += law[j] * float(least + j) * (current[j] * current[j])
        squared = 0.0
        for j in range(size):
            following = (float(least + j) - centre) * current[j] - norm * previous[j]
            previous[j], current[j] = current[j], following
            squared += law[j] * (following * following)
        norm = sqrt(squared)
        if not norm > NEW * (1 + mu):
            break
        shared = 0.0
        for j in range(size):
            current[j] /= norm
            shared += law[j] * term[j] * current[j]
        found[degree] = shared
    square -= found[0] * found[0]
    rest = ((found[1] * found[1] + found[2] * found[2]) + found[3] * found[3]) + found[4] * found[4]
    found[DEGREE + 1] = max(square - rest, 0.0)


@rounded_kernel
def dense_cell(low: float, high: float, n: float, mu: float, found: Any) -> None:
    """Fill in the coefficients of a large fitted count, or of a margin that is a whole stratum."""
    q, p = low / n, high / n
    second = mu * (1 - q) * (1 - p) * n / max(n - 1, 1.0)
    third = second * (1 - 2 * q) * (1 - 2 * p)
    square, squared = mu * mu, second * second
    found[:] = 0.0
    found[0] = second / mu - third / (3 * square) + squared / (2 * (square * mu))
    found[1] = (third / mu - squared / square) / sqrt(max(second, 1e-300))
    found[2] = sqrt(2.0) * second / mu * (1 + 1 / (6 * mu))


@rounded_kernel
def powers(counts: Any, n: int, found: Any) -> None:
    """Fill in (q / (1 - q))^(d/2) of the share q of each count, for the degrees d from 1 to 4."""
    for i in range(len(counts)):
        q = min(counts[i] / n, 1 - 1e-12)
        odds = q / (1 - q)
        root = sqrt(odds)
        found[0, i], found[1, i], found[2, i], found[3, i] = root, odds, odds * root, odds * odds


@rounded_kernel
def slot_of(a: int, b: int, n: int) -> int:
    """Return where a cell is kept."""
    mixed = (a & 0xFFFFFFF) * 0x9E3779B1 + (b & 0xFFFFFFF) * 0x85EBCA6B + (n & 0xFFFFFFF) * 0xC2B2AE35
    return (mixed ^ (mixed >> 17) ^ (mixed >> 33)) & (N_KEPT - 1)


@rounded_kernel
def stratum_sums(rows: Any, columns: Any, kept: Any, work: Any, v: Any, w: Any, alpha: Any, sums: Any) -> Any:
    """Return mean and variance of what one stratum adds to G2; both lists increase, rows are the lower one."""
    keys, terms = kept[0], kept[1]
    n = 0
    for count in rows:
        n += count
    n_rows, n_columns = len(rows), len(columns)
    powers(rows, n, v)
    powers(columns, n, w)
    mean, rest, n_degrees = 0.0, 0.0, 2
    for i in range(n_rows):
        for j in range(n_columns):
            a, b = min(rows[i], columns[j]), max(rows[i], columns[j])
            mu = float(a) * float(b) / float(n)
            cell = alpha[i * n_columns + j]
            if mu >= DENSE or b >= n:
                dense_cell(float(a), float(b), float(n), mu, cell)
                mean += cell[0]
                continue
            n_degrees = DEGREE
            place = slot_of(a, b, n)
            if keys[place, 0] != a or keys[place, 1] != b or keys[place, 2] != n:
                sparse_cell(a, b, n, mu, work, terms[place])
                keys[place, 0], keys[place, 1], keys[place, 2] = a, b, n
            for degree in range(DEGREE + 2):
                cell[degree] = terms[place, degree]
            mean += cell[0]
            rest += cell[DEGREE + 1]
    variance = rest
    for degree in range(1, n_degrees + 1):
        sign = -1.0 if degree % 2 else 1.0
        of_row, of_column = v[degree - 1], w[degree - 1]
        own, whole, by_row, by_column = 0.0, 0.0, 0.0, 0.0
        sums[:n_columns] = 0.0
        for i in range(n_rows):
            of_i, in_row = of_row[i], 0.0
            diagonal = 1 - sign * (of_i * of_i)
            for j in range(n_columns):
                one, of_j = alpha[i * n_columns + j, degree], of_column[j]
                own += diagonal * (1 - sign * (of_j * of_j)) * (one * one)
                in_row += of_j * one
                sums[j] += of_i * one
                whole += of_i * of_j * one
            by_row += in_row * in_row * diagonal
        for j in range(n_columns):
            by_column += sums[j] * sums[j] * (1 - sign * (of_column[j] * of_column[j]))
        variance += own + sign * (by_row + by_column) + whole * whole
    return mean, variance


@rounded_kernel
def place_of(rows: Any, columns: Any, strata: Any) -> int:
    """Return where a stratum of few counts is kept, or may be put."""
    mixed = len(rows)
    for count in rows:
        mixed = ((mixed ^ (mixed >> 29) ^ count) & 0x7FFFFFFF) * 0x9E3779B1
    for count in columns:
        mixed = ((mixed ^ (mixed >> 29) ^ count) & 0x7FFFFFFF) * 0x85EBCA6B
    return (mixed ^ (mixed >> 17) ^ (mixed >> 33)) & (len(strata) - 1)


@rounded_kernel
def is_kept(rows: Any, columns: Any, key: Any) -> bool:
    """Whether it is these margins that a key has; zeros follow the last count."""
    n_rows, n_columns = len(rows), len(columns)
    is_same = key[0] == n_rows and (n_rows + n_columns == _IN_KEY or key[n_rows + n_columns + 1] == 0)
    for i in range(n_rows):
        is_same = is_same and key[1 + i] == rows[i]
    for j in range(n_columns):
        is_same = is_same and key[1 + n_rows + j] == columns[j]
    return is_same


@rounded_kernel
def put_key(rows: Any, columns: Any, key: Any) -> None:
    """Write the margins of a stratum down."""
    key[:] = 0
    key[0] = len(rows)
    for i in range(len(rows)):
        key[1 + i] = rows[i]
    for j in range(len(columns)):
        key[1 + len(rows) + j] = columns[j]


@rounded_kernel
def sort_lists(counts: Any, ends: Any) -> None:
    """Sort each list."""
    begin = 0
    for end in ends:
        if end - begin > _LISTED:
            counts[begin:end].sort()
        else:
            for i in range(begin + 1, end):
                count, place = counts[i], i
                while place > begin and counts[place - 1] > count:
                    counts[place] = counts[place - 1]
                    place -= 1
                counts[place] = count
        begin = end


@rounded_kernel
def lists_of(counts: Any, strata: Any, n_strata: int) -> Any:
    """Return the counts of a side stratum by stratum, increasing in each, and where those of each end."""
    ends = np.zeros(n_strata, np.int64)
    for stratum in strata:
        ends[stratum] += 1
    for stratum in range(1, n_strata):
        ends[stratum] += ends[stratum - 1]
    found, place = np.empty(len(counts), np.int64), ends.copy()
    for i in range(len(counts)):
        place[strata[i]] -= 1
        found[place[strata[i]]] = counts[i]
    sort_lists(found, ends)
    return found, ends


@rounded_kernel
def is_lower(one: Any, other: Any) -> bool:
    """Whether a list is the shorter one, or, of equal lengths, has the first lower count."""
    if len(one) != len(other):
        return len(one) < len(other)
    for i in range(len(one)):
        if one[i] != other[i]:
            return bool(one[i] < other[i])
    return False


@rounded_kernel
def step_sums(of_x: Any, of_y: Any, n_strata: Any, kept: Any, means: Any, variances: Any) -> None:
    """Fill in mean and variance of each step's G2, its link absent."""
    work, longest, strata, sums_of = np.empty((4, len(LOGS))), 1, kept[2], kept[3]
    v, w = np.empty((DEGREE, longest)), np.empty((DEGREE, longest))
    sums, alpha = np.empty(longest), np.empty((longest, DEGREE + 2))
    x_begin, y_begin = 0, 0
    for step in range(len(n_strata)):
        x_end, y_end = x_begin + of_x[2][step], y_begin + of_y[2][step]
        xs, x_ends = lists_of(of_x[0][x_begin:x_end], of_x[1][x_begin:x_end], n_strata[step])
        ys, y_ends = lists_of(of_y[0][y_begin:y_end], of_y[1][y_begin:y_end], n_strata[step])
        x_begin, y_begin = x_end, y_end
        found, n_found, first_x, first_y = np.empty((2, n_strata[step])), 0, 0, 0
        for stratum in range(n_strata[step]):
            rows, columns = xs[first_x : x_ends[stratum]], ys[first_y : y_ends[stratum]]
            first_x, first_y = x_ends[stratum], y_ends[stratum]
            if len(rows) <= 1 or len(columns) <= 1:  # nothing can vary, or nothing is there
                continue
            if not is_lower(rows, columns):
                rows, columns = columns, rows
            may_keep, place = len(rows) + len(columns) <= _IN_KEY, 0
            if may_keep:
                place = place_of(rows, columns, strata)
                if is_kept(rows, columns, strata[place]):
                    found[0, n_found], found[1, n_found] = sums_of[place, 0], sums_of[place, 1]
                    n_found += 1
                    continue
            if len(columns) > longest:
                longest = 2 * len(columns)
                v, w, sums = np.empty((DEGREE, longest)), np.empty((DEGREE, longest)), np.empty(longest)
            if len(rows) * len(columns) > len(alpha):
                alpha = np.empty((2 * len(rows) * len(columns), DEGREE + 2))
            mean, variance = stratum_sums(rows, columns, kept, work, v, w, alpha, sums)
            if may_keep:
                put_key(rows, columns, strata[place])
                sums_of[place, 0], sums_of[place, 1] = mean, variance
            found[0, n_found], found[1, n_found] = mean, variance
            n_found += 1
        total = 0.0
        for mean in np.sort(found[0, :n_found]):
            total += mean
        means[step] = total
        total = 0.0
        for variance in np.sort(found[1, :n_found]):
            total += variance
        variances[step] = max(total, 0.0)
