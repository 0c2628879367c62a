"""Of all solutions, some of few columns that make up the others.

Sums of rules are rules, so elimination returns some basis of them, usually not the one a person would choose.
Reduced to echelon form with the columns in a random order, a basis shows each rule that meets only one of the
leading columns; over many orders the rules of few columns appear. The smallest that are independent of smaller
ones are kept. Finding the very smallest is a hard problem in general (that of the minimum distance of a code);
the number of orders is bounded, so some rule may be told with more columns than it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from xordal.rules.elimination import Solutions
from xordal.rules.plain import inverses

_WORK = 6e6  # numbers written while orders are tried
_MOST_ORDERS = 200
_FEWEST_ORDERS = 6
_PATIENCE = 12  # orders without a smaller rule after which it ends


def echelon(vectors: Solutions, p: int, order: NDArray[np.int64] | None = None) -> Solutions:
    """Return a basis of what vectors span modulo p, reduced with the unknowns in an order.

    Examples
    --------
    >>> echelon(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), 2).tolist()
    [[1, 0, 1], [0, 1, 1]]
    """
    order = np.arange(vectors.shape[1]) if order is None else order
    basis, inverse = vectors % p, inverses(p)
    if "numba" in sys.modules:
        from xordal.rules import _voting

        basis = np.ascontiguousarray(basis)
        return np.asarray(basis[: _voting.echelon(basis, p, inverse, order)])
    if p == 2:
        return _echelon_of_bits(basis, order.tolist())
    n_leading = 0
    for unknown in order.tolist():
        hits = np.flatnonzero(basis[n_leading:, unknown])
        if not len(hits):
            continue
        basis[[n_leading, n_leading + hits[0]]] = basis[[n_leading + hits[0], n_leading]]
        basis[n_leading] = basis[n_leading] * inverse[basis[n_leading, unknown]] % p
        others = np.flatnonzero(basis[:, unknown])
        others = others[others != n_leading]
        basis[others] = (basis[others] - basis[others, unknown][:, None] * basis[n_leading]) % p
        n_leading += 1
        if n_leading == len(basis):
            break
    return np.asarray(basis[:n_leading])


def _echelon_of_bits(vectors: Solutions, order: Iterable[int]) -> Solutions:
    """Do the same modulo 2, each vector as one large number: ten times quicker for some tens of vectors."""
    left = [int.from_bytes(np.packbits(v, bitorder="little").tobytes(), "little") for v in vectors]
    done: list[int] = []
    for unknown in order:
        place = next((place for place, number in enumerate(left) if number >> unknown & 1), None)
        if place is None:
            continue
        leading = left.pop(place)
        left = [number ^ leading if number >> unknown & 1 else number for number in left]
        done = [number ^ leading if number >> unknown & 1 else number for number in done]
        done.append(leading)
        if not left:
            break
    n_bytes = -(-vectors.shape[1] // 8)
    octets = np.frombuffer(b"".join(number.to_bytes(n_bytes, "little") for number in done), dtype=np.uint8)
    bits = np.unpackbits(octets.reshape(len(done), n_bytes), axis=1, bitorder="little")
    return bits[:, : vectors.shape[1]].astype(np.int64)


class Basis:
    """Vectors modulo p, kept in reduced echelon form as they come."""

    def __init__(self, n_unknowns: int, p: int) -> None:
        self.vectors: Solutions = np.zeros((0, n_unknowns), dtype=np.int64)
        self._p = p
        self._leading = np.zeros(0, dtype=np.int64)

    def spans(self, vector: NDArray[np.int64]) -> bool:
        """Whether a vector is made up of those in the basis."""
        return not self._rest(vector).any()

    def add(self, vector: NDArray[np.int64]) -> None:
        """Add a vector, unless it is made up of the others."""
        rest = self._rest(vector)
        if rest.any():
            self.vectors = echelon(np.vstack([self.vectors, rest]), self._p)
            self._leading = np.argmax(self.vectors != 0, axis=1)

    def _rest(self, vector: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray((vector - vector[self._leading] @ self.vectors) % self._p)


def sparse_basis(
    vectors: Solutions, variable: NDArray[np.int64], p: int, generator: np.random.Generator
) -> Solutions:
    """Return vectors of few columns that span the same, those of fewest columns first.

    ``variable`` is the column of each unknown, -1 for the constant.
    """
    used = np.flatnonzero((vectors != 0).any(axis=0))
    small, of = vectors[:, used], variable[used]
    basis = echelon(small, p)
    if len(basis) > 1:
        basis = _smallest(basis, of, p, generator)
    found = np.zeros((len(basis), vectors.shape[1]), dtype=np.int64)
    found[:, used] = basis
    return found


def _smallest(
    basis: Solutions, variable: NDArray[np.int64], p: int, generator: np.random.Generator
) -> Solutions:
    columns = np.unique(variable[variable >= 0])
    is_of = (variable[:, None] == columns).astype(np.float32)
    n_orders = int(np.clip(_WORK / (basis.size * len(basis)), _FEWEST_ORDERS, _MOST_ORDERS))
    (best, weight), waited = _independent(basis, is_of, p), 0
    for _ in range(n_orders):
        place = np.empty(columns.max() + 2, dtype=np.int64)
        place[generator.permutation(columns)] = np.arange(len(columns))
        place[-1] = len(columns)  # the constant leads last
        order = np.argsort(place[variable], kind="stable")
        before = weight
        best, weight = _independent(np.concatenate([best, echelon(best, p, order)]), is_of, p)
        waited = waited + 1 if weight == before else 0
        if waited == _PATIENCE:
            break
    return best


def _independent(vectors: Solutions, is_of: NDArray[np.float32], p: int) -> tuple[Solutions, int]:
    """Return the vectors of fewest columns that are independent of those before them, and their columns in all.

    ``is_of`` says which unknowns are of which column.
    """
    weights = np.count_nonzero((vectors != 0).astype(np.float32) @ is_of, axis=1)
    order = np.argsort(weights, kind="stable")
    leading = echelon(vectors[order].T, p)  # its leading places are the vectors independent of earlier ones
    chosen = order[np.argmax(leading != 0, axis=1)]
    return np.asarray(vectors[chosen]), int(weights[chosen].sum())
