"""Solutions of most rows that can be rules: a quick look at many, before any is looked at closely.

Elimination meets many combinations that are zero in most rows for a dull reason, a level that most rows lack
for example. How often independent columns would give zero follows for all combinations at once from the
characteristic functions of their columns, P(sum = 0) = 1/p times the sum over k of E exp(-2 pi i k sum / p).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xordal.rules.coding import Coding
from xordal.rules.elimination import Solutions
from xordal.rules.evidence import SETTLED

_MOST = 150  # solutions that are looked at, those broken by fewest rows

_RANKING_ROWS = 400  # rows in which solutions are compared
_AT_ONCE = 256  # solutions whose sums are worked out together: they fit a processor's cache
_MOST_TURNS = 200  # modulus up to which chance is worked out here; later in any case


def promising(coding: Coding, vectors: Solutions, codes: NDArray[np.int32], p: int) -> Solutions:
    """Return the solutions modulo p that hold clearly more often than by chance, best first.

    Chance is what independent columns would give. ``codes`` are the rows to look at.
    """
    if not len(vectors):
        return vectors
    rows = np.arange(min(codes.shape[1], _RANKING_ROWS))
    holds = _held(vectors, coding.matrix(codes, rows, p), p)
    best = np.argsort(-holds, kind="stable")[:_MOST]
    best = best[holds[best] > SETTLED]  # chance only takes away from that
    vectors, holds = vectors[best], holds[best]
    by_chance = independent(coding, vectors, codes, p) if p <= _MOST_TURNS else np.zeros(len(vectors))
    settled = (holds - by_chance) / np.maximum(1 - by_chance, 1e-9)
    order = np.argsort(-settled, kind="stable")
    return np.asarray(vectors[order[settled[order] > SETTLED]])


def _held(vectors: Solutions, matrix: NDArray[np.float32], p: int) -> NDArray[np.float64]:
    """Return in which share of some rows each solution holds."""
    largest = (p - 1) ** 2 * vectors.shape[1]
    kind = np.float32 if largest < 1 << 22 else np.float64  # half a step more keeps division from rounding down
    held = np.empty(len(vectors))
    for start in range(0, len(vectors), _AT_ONCE):
        sums = vectors[start : start + _AT_ONCE].astype(kind) @ matrix.astype(kind)
        whole = np.floor((sums + kind(0.5)) * kind(1 / p)) * kind(p)
        held[start : start + _AT_ONCE] = (whole == sums).mean(axis=1)
    return held


def independent(coding: Coding, vectors: Solutions, codes: NDArray[np.int32], p: int) -> NDArray[np.float64]:
    """Return how often each solution would hold, were the columns independent."""
    turns = np.arange(p // 2 + 1)  # the others are conjugates of these
    circle = np.exp(-2j * np.pi * np.arange(p) / p)
    product = circle[np.outer(vectors[:, 0], turns) % p]
    at = 1
    for array, column in zip(coding.values, codes, strict=True):
        width = array.shape[1]
        if not width:
            continue
        own = vectors[:, at : at + width]
        at += width
        used = np.flatnonzero(own.any(axis=1))
        if not len(used):
            continue
        share = np.bincount(column, minlength=len(array)) / len(column)
        values, of = own[used] @ array.T % p, np.zeros((len(used), p))
        for level in np.flatnonzero(share):
            of[np.arange(len(used)), values[:, level]] += share[level]
        product[used] *= np.fft.rfft(of, axis=1)
    weights = np.full(len(turns), 2.0)
    weights[0] = 1.0
    if p == 2:
        weights[1] = 1.0
    return np.asarray((product.real @ weights) / p)
