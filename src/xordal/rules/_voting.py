"""Compiled steps on solutions: the vote of rows (candidate.py) and echelon forms (sparse.py).

Answers equal those of the plain steps there to the last number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel, rounded_kernel


@kernel
def add_up(
    codes: Any, variables: Any, functions: Any, constant: int, p: int, unknown: int, total: Any, missing: Any
) -> None:
    """Write the sum of each row's known terms modulo p, and how many terms are not known."""
    total[:] = constant % p
    missing[:] = 0
    for k in range(len(variables)):
        column, own = codes[variables[k]], functions[k]
        for row in range(len(column)):
            value = own[column[row]]
            if value == unknown:
                missing[row] += 1
            else:
                sum_here = total[row] + value
                total[row] = sum_here - p if sum_here >= p else sum_here


@kernel
def is_zero(codes: Any, variables: Any, functions: Any, constant: int, p: int, unknown: int) -> Any:
    """Return in which rows a sum is zero modulo p, or at all where p is 0, all of its terms being known."""
    total = np.full(codes.shape[1], constant, np.int64)
    is_known = np.ones(codes.shape[1], np.bool_)
    for k in range(len(variables)):
        column, own = codes[variables[k]], functions[k]
        for row in range(len(column)):
            value = own[column[row]]
            is_known[row] &= value != unknown
            total[row] += value
    for row in range(len(total)):
        is_known[row] &= (total[row] % p if p else total[row]) == 0
    return is_known


@kernel
def take_winners(votes: Any, own: Any, only_unknown: bool, fewest: int, unknown: int) -> Any:
    """Give the levels of a column the values with most votes; return whether any has changed."""
    is_changed = False
    for level in range(len(own)):
        winner, cast = 0, 0
        for value in range(votes.shape[1]):
            cast += votes[level, value]
            if votes[level, value] > votes[level, winner]:
                winner = value
        most = votes[level, winner]
        if own[level] == unknown:
            is_better = most >= fewest and 2 * most > cast
        else:
            is_better = not only_unknown and most > votes[level, own[level]]
        if is_better:
            own[level] = winner
            is_changed = True
    return is_changed


@kernel
def vote(codes: Any, variables: Any, functions: Any, constant: int, p: int, rules: Any, unknown: int) -> None:
    """Give levels the values that most rows ask for, column by column, until nothing changes.

    ``functions`` has the values of each column's levels, shape (columns, levels), ``unknown`` for none and past
    a column's last level; they are changed in place. ``rules`` are whether known values stay, the levels that
    missing values are, the most sweeps, and the fewest votes.
    """
    only_unknown, blanks, most_sweeps, fewest = rules
    m, n_levels = functions.shape
    n_rows = codes.shape[1]
    total, missing = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    add_up(codes, variables, functions, constant, p, unknown, total, missing)
    if not total.any() and not missing.any():
        return  # no value can be better
    votes = np.empty((n_levels, p), np.int64)
    for _ in range(most_sweeps):
        is_changed = False
        for k in range(m):
            column, own = codes[variables[k]], functions[k]
            votes[:] = 0
            for row in range(n_rows):
                value = own[column[row]]
                if missing[row] > (value == unknown):
                    continue
                asked = -total[row] if value == unknown else value - total[row]
                votes[column[row], asked if asked >= 0 else asked + p] += 1
            if blanks[k] >= 0:
                votes[blanks[k]] = 0
            if take_winners(votes, own, only_unknown, fewest, unknown):
                is_changed = True
                add_up(codes, variables, functions, constant, p, unknown, total, missing)
        if not is_changed:
            return


@rounded_kernel
def settles(codes: Any, of_columns: Any, constant: int, p: int, unknown: int, share: float) -> Any:
    """Whether a sum is zero clearly more often than if any of its columns were independent of the others.

    ``of_columns`` are their numbers, the levels that missing values are, and functions as above.
    """
    variables, blanks, functions = of_columns
    m, n_rows = functions.shape[0], codes.shape[1]
    total, missing = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    add_up(codes, variables, functions, constant, p, unknown, total, missing)
    is_blank = np.zeros(n_rows, np.bool_)
    for k in range(m):
        is_blank |= codes[variables[k]] == blanks[k]
    n = n_rows - is_blank.sum()
    n_held = 0
    for row in range(n_rows):
        n_held += not is_blank[row] and missing[row] == 0 and total[row] == 0
    counts, asked = np.zeros(p, np.int64), np.zeros(p, np.int64)
    for k in range(m):
        counts[:] = 0
        asked[:] = 0
        for row in range(n_rows):
            if not is_blank[row]:
                value = max(functions[k, codes[variables[k], row]], 0)  # unknown is negative
                counts[value] += 1
                asked[value - total[row] if value >= total[row] else value - total[row] + p] += 1
        by_chance = (counts * asked).sum() / max(n * n, 1)
        if n_held / max(n, 1) - by_chance <= share * (1 - by_chance):
            return False
    return n > 0


@kernel
def agreeing(terms: Any, off: Any, columns: Any, n_levels: int, weights: Any, p: int) -> Any:
    """Return how many pairs of rows agree, of which one tells a term and one what the others ask it to be.

    For each term, within the levels of each other column: shape (terms, columns, levels). ``off`` is what the
    sum is modulo p in each row. Whole numbers of rows, so that the order of addition does not matter.
    """
    m, n_rows = terms.shape
    found = np.zeros((m, m, n_levels), np.float64)
    told, asked = np.empty(n_levels * p, np.float64), np.empty(n_levels * p, np.float64)
    for one in range(m):
        for other in range(m):
            if one == other:
                continue
            told[:] = 0
            asked[:] = 0
            for row in range(n_rows):
                start, value = columns[other, row] * p, terms[one, row]
                told[start + value] += weights[row]
                value -= off[row]
                asked[start + (value if value >= 0 else value + p)] += weights[row]
            for place in range(n_levels * p):
                found[one, other, place // p] += told[place] * asked[place]
    return found


@kernel
def echelon(basis: Any, p: int, inverse: Any, order: Any) -> Any:
    """Bring vectors modulo p into reduced echelon form, unknowns being taken in an order; return the rank."""
    n, width = basis.shape
    rank = 0
    for unknown in order:
        if rank == n:
            break
        hit = rank
        while hit < n and basis[hit, unknown] == 0:
            hit += 1
        if hit == n:
            continue
        factor = inverse[basis[hit, unknown]]
        for t in range(width):
            value = basis[hit, t]
            basis[hit, t] = basis[rank, t]
            basis[rank, t] = value * factor % p
        for k in range(n):
            factor = basis[k, unknown]
            if k == rank or factor == 0:
                continue
            for t in range(width):
                if basis[rank, t] != 0:
                    basis[k, t] = (basis[k, t] + (p - factor) * basis[rank, t]) % p
        rank += 1
    return rank


@kernel
def distinct(vectors: Any, p: int, inverse: Any) -> Any:
    """Return vectors modulo p, each once, multiplied so that its last number other than 0 is 1.

    Those that were seen are kept in a table whose places follow from their numbers.
    """
    n, width = vectors.shape
    size = 1
    while size < 2 * n:
        size *= 2
    table, found, n_found = np.full(size, -1, np.int64), np.empty((n, width), np.int64), 0
    for k in range(n):
        mine, last = found[n_found], width - 1
        while last > 0 and vectors[k, last] == 0:
            last -= 1
        factor = inverse[int(vectors[k, last])]
        key = 0
        for t in range(width):
            value = int(vectors[k, t])
            mine[t] = value
            if value:  # most are not: a combination is of few columns
                mine[t] = value * factor % p
                key = (key * 1_000_003 + mine[t] + p * t) % 2_147_483_647  # below 2^52 all along
        at = key & (size - 1)
        while table[at] >= 0:
            other, t = found[table[at]], 0
            while t < width and other[t] == mine[t]:
                t += 1
            if t == width:
                break
            at = (at + 1) & (size - 1)
        if table[at] < 0:
            table[at] = n_found
            n_found += 1
    return found[:n_found].copy()
