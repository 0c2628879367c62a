"""Compiled screening: solutions of most rows as functions of levels, voted on and looked at in turn.

It is what seeking.py does by the steps of candidate.py and sparse.py, for hundreds of solutions in the time of
a few; answers equal those to the last number. Of a solution, ``functions`` has the values of the columns that
need one, shape (columns, levels), ``unknown`` for none and past a column's last level.

``layout`` holds the levels of all columns, one after the other (coding.py): where each column begins, its first
level that has a value, which levels have one, of each number in the equations its level, its unknown and the
number itself, the level of each column that others are compared with, and the levels that missing values are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import kernel
from xordal.rules._voting import add_up, settles, vote


@kernel
def screen(
    vectors: Any, codes: Any, layout: Any, p: int, inverse: Any, rules: Any, out: Any, n_broken: Any
) -> int:
    """Write the solutions that settle enough of what is left open, and how many rows break each.

    What is made up of those before it is passed over. ``rules`` are whether known values stay, whether
    solutions stay as they are, the most sweeps and fewest votes (_voting.py), the share to settle, after how
    many failures in a row no more are looked at, and the value of levels that have none. Return how many were
    written.
    """
    only_unknown, by_numbers, most_sweeps, fewest, share, patience, unknown = rules
    blanks = layout[7]
    basis = np.empty((len(vectors), vectors.shape[1]), np.int64)
    leading = np.empty(len(vectors), np.int64)
    rank = n_found = n_failed = 0
    for solution in vectors:
        if left_over(solution, basis, leading, rank, p)[1] < 0:
            continue
        variables, functions, constant = functions_of(solution, layout, p, unknown)
        if len(variables) > 1:
            voting = only_unknown, blanks[variables], most_sweeps, fewest
            vote(codes, variables, functions, constant, p, voting, unknown)
            variables, functions, constant = needed(variables, functions, constant, p, unknown)
        of_columns = variables, blanks[variables], functions
        if len(variables) > 1 and settles(codes, of_columns, constant, p, unknown, share):
            out[n_found] = solution
            if not by_numbers:
                as_solution(variables, functions, constant, layout, p, unknown, out[n_found])
            rank += add_to(basis, leading, rank, out[n_found], p, inverse)
            n_broken[n_found] = broken(codes, of_columns, constant, p, unknown)
            n_found += 1
            n_failed = 0
        else:
            n_failed += 1
            if n_failed == patience:
                break
    return n_found


@kernel
def functions_of(solution: Any, layout: Any, p: int, unknown: int) -> Any:
    """Return the columns that a solution needs, their values with the first known level at 0, the constant."""
    start, first, is_known, place, of_unknown, factor = layout[:6]
    n_columns = len(first)
    every = np.zeros(len(is_known), np.int64)
    for k in range(len(place)):
        every[place[k]] += factor[k] * solution[of_unknown[k]]
    constant = solution[0]
    is_needed, n_needed, most = np.zeros(n_columns, np.bool_), 0, 0
    for v in range(n_columns):
        zero = every[first[v]]
        constant += zero
        for level in range(start[v], start[v + 1]):
            every[level] = (every[level] - zero) % p if is_known[level] else unknown
            is_needed[v] |= every[level] > 0  # unknown is negative
        if is_needed[v]:
            n_needed += 1
            most = max(most, start[v + 1] - start[v])
    functions = np.full((n_needed, most), unknown, np.int64)
    variables = np.flatnonzero(is_needed)
    for k in range(n_needed):
        own = every[start[variables[k]] : start[variables[k] + 1]]
        functions[k, : len(own)] = own
    return variables, functions, constant % p


@kernel
def needed(variables: Any, functions: Any, constant: int, p: int, unknown: int) -> Any:
    """Return the same without columns whose values have become the same, each first known level at 0."""
    n_kept = 0
    for k in range(len(variables)):
        own, zero, is_needed = functions[k], unknown, False
        for level in range(len(own)):
            if own[level] == unknown:
                continue
            if zero == unknown:
                zero = own[level]
                constant += zero
            own[level] = (own[level] - zero) % p
            is_needed |= own[level] > 0
        if is_needed:
            functions[n_kept] = own
            variables[n_kept] = variables[k]
            n_kept += 1
    return variables[:n_kept], functions[:n_kept], constant % p


@kernel
def as_solution(
    variables: Any, functions: Any, constant: int, layout: Any, p: int, unknown: int, out: Any
) -> None:
    """Write functions of levels as a solution again; levels without a value count as 0."""
    start, place, of_unknown, reference = layout[0], layout[3], layout[4], layout[6]
    out[:] = 0
    values = np.zeros(start[-1], np.int64)
    for k in range(len(variables)):
        v = variables[k]
        compared = max(functions[k, reference[v] - start[v]], 0)
        constant += compared
        for level in range(start[v], start[v + 1]):
            values[level] = (max(functions[k, level - start[v]], 0) - compared) % p
    for k in range(len(place)):
        out[of_unknown[k]] = values[place[k]]
    out[0] = constant % p


@kernel
def broken(codes: Any, of_columns: Any, constant: int, p: int, unknown: int) -> int:
    """Return how many rows break a sum; one that misses a value in its columns does not."""
    variables, blanks, functions = of_columns
    n_rows = codes.shape[1]
    total, missing = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    add_up(codes, variables, functions, constant, p, unknown, total, missing)
    is_broken = (total != 0) | (missing != 0)
    for k in range(len(variables)):
        is_broken &= codes[variables[k]] != blanks[k]
    return int(is_broken.sum())


@kernel
def left_over(vector: Any, basis: Any, leading: Any, rank: int, p: int) -> Any:
    """Return what is left of a vector without its part in a basis, and its first place that is not 0, or -1."""
    rest = vector.copy()
    for k in range(rank):
        factor = vector[leading[k]]
        if factor:
            for t in range(len(rest)):
                rest[t] = (rest[t] + (p - factor) * basis[k, t]) % p
    for t in range(len(rest)):
        if rest[t]:
            return rest, t
    return rest, -1


@kernel
def add_to(basis: Any, leading: Any, rank: int, vector: Any, p: int, inverse: Any) -> int:
    """Add a vector to a basis in reduced echelon form; return 0 where it is made up of the others, else 1."""
    rest, lead = left_over(vector, basis, leading, rank, p)
    if lead < 0:
        return 0
    factor = inverse[rest[lead]]
    for t in range(len(rest)):
        rest[t] = rest[t] * factor % p
    for k in range(rank):
        factor = basis[k, lead]
        if factor:
            for t in range(len(rest)):
                basis[k, t] = (basis[k, t] + (p - factor) * rest[t]) % p
    basis[rank], leading[rank] = rest, lead
    return 1
