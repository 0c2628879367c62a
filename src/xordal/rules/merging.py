"""Rules modulo different primes that are one rule modulo their product.

By the Chinese remainder theorem a rule modulo 2 and one modulo 5 are together one rule modulo 10. They are told
as one where they are of the same columns, or where both are weights of numbers and the columns of one are among
those of the other or mostly so: a weight of 2 or 5 vanishes modulo one of the primes. The rows that break them
must be the same ones for the most part.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from xordal.rules.candidate import UNKNOWN, Candidate, Values, weight_of
from xordal.rules.coding import blanks_of, is_blank, numbers_of

_MORE_BROKEN = 3  # times as many rows may break both together as break one: half of all typing errors are even
_SOME, _SHARE = 3, 0.005  # and so many rows, or this share of them
_LARGEST = 1021  # modulus that is told


def merged(
    one: Candidate, other: Candidate, codes: NDArray[np.int32], levels: Sequence[Sequence[Hashable]]
) -> Candidate | None:
    """Return two rules of different primes as one, or None where they are two."""
    if not one.modulus or not other.modulus or gcd(one.modulus, other.modulus) > 1:
        return None
    if one.modulus * other.modulus > _LARGEST or not _fit(one, other, levels):
        return None
    combined = combine(scaled(one, levels), scaled(other, levels))
    if (blank := is_blank(blanks_of(levels), combined.variables, codes)) is not None:
        codes = codes[:, ~blank]
    broken = [int((~rule.is_obeyed(codes)).sum()) for rule in (one, other, combined)]
    few = max(_SOME, _SHARE * codes.shape[1])
    return combined if broken[2] <= _MORE_BROKEN * min(broken[:2]) + few else None


def _fit(one: Candidate, other: Candidate, levels: Sequence[Sequence[Hashable]]) -> bool:
    if one.variables == other.variables:
        return True
    if {one.modulus, other.modulus} != {2, 5}:
        return False
    both = set(one.variables) & set(other.variables)
    fewer = min(len(one.variables), len(other.variables))
    return len(both) >= 2 and 2 * len(both) >= fewer and _is_linear(one, levels) and _is_linear(other, levels)


def _is_linear(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> bool:
    return all(
        weight_of(levels[v], f, candidate.modulus) is not None
        for v, f in zip(candidate.variables, candidate.functions, strict=True)
    )


def combine(one: Candidate, other: Candidate) -> Candidate:
    """Return two rules of coprime moduli as one modulo the product."""
    p, q = one.modulus, other.modulus
    for_one, for_other = q * pow(q, -1, p), p * pow(p, -1, q)
    functions: dict[int, Values] = {}
    for rule, factor in ((one, for_one), (other, for_other)):
        for variable, values in zip(rule.variables, rule.functions, strict=True):
            before = functions.get(variable, np.zeros(len(values), dtype=np.int64))
            unknown = (values == UNKNOWN) | (before == UNKNOWN)
            functions[variable] = np.where(unknown, UNKNOWN, (before + factor * values) % (p * q))
    variables = tuple(sorted(functions))
    constant = (for_one * one.constant + for_other * other.constant) % (p * q)
    return Candidate(p * q, variables, tuple(functions[v] for v in variables), constant)


def scaled(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> Candidate:
    """Return the same rule, multiplied so that its last column of numbers has weight 1.

    Columns of numbers then have the value 0 at the number 0, and the constant takes what that shifts.
    """
    p = candidate.modulus
    if not p:
        known = candidate.functions[0][candidate.functions[0] != UNKNOWN]
        sign = -1 if known[-1] < known[0] else 1
        functions = tuple(np.where(f == UNKNOWN, f, sign * f) for f in candidate.functions)
        return _from_zero(replace(candidate, functions=functions, constant=sign * candidate.constant), levels)
    factor = 1
    for variable, values in reversed(list(zip(candidate.variables, candidate.functions, strict=True))):
        weight = weight_of(levels[variable], values, p)
        if weight and gcd(weight, p) == 1:
            factor = pow(weight, -1, p)
            break
    else:
        first = next((int(v) for v in candidate.functions[-1] if v != UNKNOWN and gcd(int(v), p) == 1), 1)
        factor = pow(first, -1, p)
    functions = tuple(np.where(f == UNKNOWN, f, f * factor % p) for f in candidate.functions)
    return _from_zero(replace(candidate, functions=functions, constant=candidate.constant * factor % p), levels)


def _from_zero(candidate: Candidate, levels: Sequence[Sequence[Hashable]]) -> Candidate:
    """Return the rule with weights applied to the numbers themselves."""
    functions, constant = [], candidate.constant
    for variable, values in zip(candidate.variables, candidate.functions, strict=True):
        p = candidate.modulus
        weight = weight_of(levels[variable], values, p)
        numbers = numbers_of(levels[variable])
        places = [k for k, number in enumerate(numbers) if number is not None and values[k] != UNKNOWN]
        at_zero = 0
        if weight is not None:
            at_zero = int(values[places[0]]) - weight * int(numbers[places[0]] or 0)
        elif (values != UNKNOWN).any():
            at_zero = int(values[np.argmax(values != UNKNOWN)])
        shifted = values - at_zero
        functions.append(np.where(values == UNKNOWN, UNKNOWN, shifted % p if p else shifted))
        constant += at_zero
    constant = constant % candidate.modulus if candidate.modulus else constant
    return replace(candidate, functions=tuple(functions), constant=constant)
