"""Two tests of one set: how its level is shared between them, and how cells of few rows weigh.

A set of three or more columns of two levels is tested by its pieces and by its odd cells
(docs/statistics.md). The first table tells how many rows the two together need to find such a set, named
beforehand, in 90 % of samples, at the level that a search has for it; for shares of 1/2 to 9/10 for the odd
cells, relative to 4/5, which is used. A larger one gains next to nothing where odd cells find the set, and
costs rows where the pieces do (*and*, *majority*). There a search has most links one by one, so that the share
matters less than it does here. Pieces are judged by the nominal chi-squared law. *20 %* is the share of rows in
which the last column is wrong; *.35* how often the others are at their second level, where that is not a half;
*leaky*, two fair bits agree in 60 % of rows.

The second table is of the number of rows from which on a cell's weight falls with them: 8 is used. Larger ones
find skewed parities with fewer rows. But a chain, each column depending on the one before it and on no other,
is better learned link by link: its odd cells should say little, and the share of samples in which they do, with
a p-value of at most 0.001, grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import log, log1p
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.calibration import Odd
from benchmarks.recovery.power import ALPHA, Curve
from benchmarks.recovery.study import arguments, markdown, publish
from xordal.pi.zoo import table_1
from xordal.statistics import oddness
from xordal.statistics.chi_squared import log_tail
from xordal.statistics.weights import Weights

Floats = NDArray[np.float64]
SHARES = (1 / 2, 2 / 3, 4 / 5, 9 / 10)
STEADY = (4.0, 8.0, 16.0, 32.0)
_STEP = 1.06  # from one number of rows to the next


@dataclass(frozen=True)
class Planted:
    """A set of columns of two levels, the number of columns it stands among, and the bounds of the search."""

    name: str
    law: Floats
    n_columns: int
    bounds: tuple[int, int]  # links, variables
    fewest: int = 16  # rows to begin with

    @property
    def log_level(self) -> float:
        """The log of the level that a search has for the set."""
        m = self.law.ndim
        return log(ALPHA) + Weights(self.n_columns, *self.bounds).log_weight(m, m * (m - 1) // 2, 0)

    def draw(self, n_rows: int, runs: int) -> Floats:
        """Draw tables of counts, shape (runs, 2, 2, ...)."""
        generator = np.random.default_rng([n_rows, self.law.ndim])
        drawn = generator.multinomial(n_rows, self.law.reshape(-1), size=runs)
        return drawn.reshape(runs, *self.law.shape).astype(np.float64)

    def rows_needed(self, share: float, runs: int) -> float:
        """Return how many rows find the set in 90 % of runs."""
        n, n_rows, found = self.fewest, list[int](), list[float]()
        while len(found) < 2 or min(found[-2:]) < 0.93:
            n_rows.append(n)
            found.append(float(np.mean(self._is_found(self.draw(n, runs), share))))
            n = max(round(n * _STEP), n + 1)
        return Curve(tuple(n_rows), tuple(found)).reaches()

    def _is_found(self, tables: Floats, share: float) -> NDArray[np.bool_]:
        pieces = [[v] for v in range(self.law.ndim)]
        by_odd_cells = oddness.log_p_values(tables, pieces) <= self.log_level + log(share)
        return np.asarray(by_odd_cells | (by_pieces(tables) <= self.log_level + log1p(-share)))


def by_pieces(tables: Floats) -> Floats:
    """Return the log p-value of each table's piece that is needed least, by the nominal law.

    >>> xor = np.array([[[[10.0, 0], [0, 10]], [[0, 10], [10, 0]]]])  # 2 n log 2 = 55.45 for each piece
    >>> bool(np.isclose(by_pieces(xor)[0], log_tail(np.array([80 * log(2)]), 3)[0]))
    True
    """
    m = tables.ndim - 1
    n_rows = tables.reshape(len(tables), -1).sum(axis=1)
    found = []
    for v in range(m):
        others = tuple(1 + u for u in range(m) if u != v)
        parts = _sum(tables.sum(axis=1 + v)) + _sum(tables.sum(axis=others))
        gains = _sum(tables) - parts + n_rows * np.log(n_rows)
        found.append(log_tail(np.maximum(2 * gains, 0.0), 2 ** (m - 1) - 1))
    return np.asarray(np.max(found, axis=0))


def _sum(counts: Floats) -> Floats:
    """Return the sum of c log c over the cells of each table."""
    return np.asarray((counts * np.log(np.maximum(counts, 1.0))).reshape(len(counts), -1).sum(axis=1))


def planted(
    chance: Callable[..., float], n_inputs: int, wrong: float = 0.0, share: float = 0.5, agree: float = 0.5
) -> Floats:
    """Return the joint of input columns and one whose second level has a chance that they determine."""
    law = np.zeros((2,) * (n_inputs + 1))
    for bits in product((0, 1), repeat=n_inputs):
        drawn = np.prod([share if bit else 1 - share for bit in bits])
        drawn *= 2 * (agree if bits[0] == bits[1] else 1 - agree)
        high = chance(*bits) * (1 - wrong) + (1 - chance(*bits)) * wrong
        law[bits] = drawn * np.array([1 - high, high])
    return np.asarray(law / law.sum())


def parity(*bits: int) -> float:
    """Return whether an odd number of bits is at the second level."""
    return float(sum(bits) % 2)


_THREE, _FOUR, _FIVE = (20, (3, 4)), (12, (6, 4)), (12, (10, 5))
SETS = [
    Planted("XOR, 20 %, among 20", planted(parity, 2, 0.2), *_THREE),
    Planted("XOR, 30 %, among 20", planted(parity, 2, 0.3), *_THREE),
    Planted("XOR of .35, 20 %, among 20", planted(parity, 2, 0.2, 0.35), *_THREE),
    Planted("XOR of .2, 10 %, among 20", planted(parity, 2, 0.1, 0.2), *_THREE),
    Planted("leaky XOR, 20 %, among 20", planted(parity, 2, 0.2, agree=0.6), *_THREE),
    Planted("and, 20 %, among 20", planted(lambda a, b: float(a and b), 2, 0.2), *_THREE),
    Planted("parity of 4, 5 %, among 12", planted(parity, 3, 0.05), *_FOUR),
    Planted("parity of 4, 20 %, among 12", planted(parity, 3, 0.2), *_FOUR),
    Planted("parity of 4 of .35, 20 %, among 12", planted(parity, 3, 0.2, 0.35), *_FOUR),
    Planted("majority of three, 10 %, among 12", planted(lambda *b: float(sum(b) > 1), 3, 0.1), *_FOUR),
    Planted("parity of 5, 5 %, among 12", planted(parity, 4, 0.05), *_FIVE),
    Planted("parity of 5 of .35, 20 %, among 12", planted(parity, 4, 0.2, 0.35), *_FIVE),
    Planted("d, a and c of the paper's Table 1", table_1().joint.probabilities.sum(axis=2), 4, (3, 4), 200),
]
CHAINS = [
    Odd("chain of three, n=300", ((0, 1, 2),), 300),
    Odd("chain of four of .3, n=100", ((0, 1, 2, 3),), 100, share=0.3),
    Odd("chain of four, n=100", ((0, 1, 2, 3),), 100),
]


@contextmanager
def steady(rows: float) -> Iterator[None]:
    """Let the weight of cells fall from another number of rows on."""
    with patch.object(oddness, "_STEADY", rows):
        yield


def _relative(name: str, needed: Sequence[float], used: int) -> list[str]:
    cells = [name, f"{needed[used]:.0f}", *(f"{rows / needed[used]:.2f}" for rows in needed)]
    print(*cells, flush=True)
    return cells


def of_shares(runs: int, only: str = "") -> str:
    """Return the table of shares."""
    chosen = [one for one in SETS if only in one.name]
    rows = [
        _relative(one.name, [one.rows_needed(share, runs) for share in SHARES], SHARES.index(oddness.SHARE))
        for one in chosen
    ]
    return markdown(("set", "rows, 4/5", "1/2", "2/3", "4/5", "9/10"), rows)


def of_weights(runs: int, only: str = "") -> str:
    """Return the table of weights."""
    rows = []
    for one in SETS:
        if only in one.name:
            needed = []
            for fewest in STEADY:
                with steady(fewest):
                    needed.append(one.rows_needed(oddness.SHARE, runs))
            rows.append(_relative(one.name, needed, STEADY.index(8.0)))
    for chain in CHAINS:
        if only in chain.name:
            shares = []
            for fewest in STEADY:
                with steady(fewest):
                    shares.append(float(np.mean(chain.log_p_values(20 * runs, None)[0] <= log(0.001))))
            rows.append([chain.name, "", *(f"{100 * share:.2f} %" for share in shares)])
            print(*rows[-1], flush=True)
    return markdown(("set", "rows, 8", *(f"{fewest:.0f}" for fewest in STEADY)), rows)


if __name__ == "__main__":
    settings = arguments("How a level is shared between two tests of a set", runs=300)
    tables = of_shares(settings.runs, settings.only), of_weights(settings.runs, settings.only)
    publish(__doc__, "\n".join(tables), settings.output, "seeds are the numbers of rows")
