"""Hidden groups by size: listed at every number of rows, and not where there are none.

**Planted.** Two fair bits, one of which leaks a little about the other, and their exclusive-or, wrong in a
tenth of the rows, beside three columns of noise. The pair of bits holds 0.1, 1 and 2.5 % of what the three
share. A run counts when exactly this group is listed; the kinds of all runs stand beside it.

**Additive.** A yes or no that depends on two or three columns through a logistic model without interaction; the
columns depend on each other. Every pair shows what there is, so no group should be listed.

**Coverage.** In how many of 1,000 samples the 95 % interval of the hidden share holds the true one; the groups
were named before these samples were drawn.

**Shuffled.** One column of a planted group is shuffled 1,000 times: the p-value of its hidden part must be
uniform. Told are the shares of p-values below 0.01, 0.05 and 0.5, and the p-value of a Kolmogorov-Smirnov test.

**Sparse.** Columns that each depend on the one before and on nothing else, so that pairs explain all there is,
with few rows a cell. The p-value of the hidden part must not be small too often; too large it may be.
The first share is that of the chi-squared law alone, which is not trusted there.

**Few rows.** The hidden share itself where cells hold few rows: such a chain once more, in which rows with an
even sum of all levels are exp(2 t) times as likely as the others, so that the true share is known. Told are the
mean of the shares, and in how many of 300 samples the 95 % interval holds the true one or lies above it. Only
samples with five rows for each occupied cell count: of the others nothing is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import kstest

from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text
from xordal import CategoricalTable, Learned, learn
from xordal.statistics.chi_squared import log_tail
from xordal.statistics.hidden import Sharing, has_rows_enough

Floats = NDArray[np.float64]

NOISE = 3
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def leaky_xor(leak: float, wrong: float = 0.1) -> Floats:
    """Return the joint of two bits that agree with probability 1/2 + leak and of their noisy exclusive-or."""
    joint = np.zeros((2, 2, 2))
    for a, b, c in product((0, 1), repeat=3):
        joint[a, b, c] = 0.5 * (0.5 + (leak if a == b else -leak)) * (1 - wrong if c == a ^ b else wrong)
    return joint


def planted(share: float) -> Floats:
    """Return the joint in which the two bits hold a share of what all three have in common."""

    def off(leak: float) -> float:
        found = Sharing(leaky_xor(leak), None)
        return found.part((0, 1)).nats / found.total.nats - share

    return leaky_xor(brentq(off, 0.0, 0.4))


def additive(effects: tuple[float, ...], levels: tuple[int, ...]) -> Floats:
    """Return the joint of columns that depend on each other and of a yes or no that adds up their effects."""
    joint = np.zeros((*levels, 2))
    for codes in np.ndindex(*levels):
        together = 1.0 + 0.5 * sum(codes[k] == codes[k + 1] for k in range(len(codes) - 1))
        middle = [effect * (code - (n - 1) / 2) for effect, code, n in zip(effects, codes, levels, strict=True)]
        yes = 1 / (1 + np.exp(-sum(middle)))
        joint[codes] = together * np.array([1 - yes, yes])
    return np.asarray(joint / joint.sum())


ADDITIVE = {
    "two of 2 levels, strong": additive((2.0, 2.0), (2, 2)),
    "two of 3 levels": additive((1.0, 0.7), (3, 3)),
    "three of 2 levels": additive((1.5, 1.0, 0.7), (2, 2, 2)),
    "three of 2, 3 and 4 levels": additive((1.0, 0.5, 0.5), (2, 3, 4)),
}
COVERED = {
    "pair holds 1 %": planted(0.01),
    "leak 0.1, wrong 0.2": leaky_xor(0.1, 0.2),
    "leak 0.2, wrong 0.1": leaky_xor(0.2),
    "leak 0.3, wrong 0.1": leaky_xor(0.3),
    "leak 0.1, never wrong": leaky_xor(0.1, 0.0),
}


def drawn(joint: Floats, n_rows: int, seed: int) -> CategoricalTable:
    """Return rows of a joint beside columns of fair bits, each distinct row once with its number."""
    generator = np.random.default_rng([seed, n_rows])
    whole = np.multiply.outer(joint, np.full((2,) * NOISE, 0.5**NOISE))
    counts = generator.multinomial(n_rows, whole.reshape(-1) / whole.sum())
    codes = np.indices(whole.shape).reshape(whole.ndim, -1)[:, counts > 0]
    names = [f"x{v}" for v in range(joint.ndim)] + [f"noise{v}" for v in range(NOISE)]
    columns = {name: column.tolist() for name, column in zip(names, codes, strict=True)}
    return CategoricalTable.from_columns(columns, weights=counts[counts > 0])


def run(joint: Floats, n_rows: int, seed: int) -> Learned:
    """Learn from a sample at default settings."""
    return learn(drawn(joint, n_rows, seed))


def planted_rows(runs: int, workers: int) -> list[tuple[object, ...]]:
    """Return how often the planted group, and no other, is listed."""
    rows: list[tuple[object, ...]] = []
    for share in (0.001, 0.01, 0.025):
        for n_rows in SIZES:
            found = repeat(partial(run, planted(share), n_rows), range(runs), workers)
            right = sum([g.variables for g in one.submodels or ()] == [0b111] for one in found)
            kinds = Counter(g.kind for one in found for g in one.submodels or ())
            told = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
            rows.append((f"{100 * share:g} %", f"{n_rows:,}", share_text(right, runs), told))
            print(*rows[-1], flush=True)
    return rows


def additive_rows(runs: int, workers: int) -> list[tuple[object, ...]]:
    """Return how often any group is listed where there is none."""
    rows: list[tuple[object, ...]] = []
    for name, joint in ADDITIVE.items():
        for n_rows in SIZES:
            found = repeat(partial(run, joint, n_rows), range(runs), workers)
            rows.append((name, f"{n_rows:,}", share_text(sum(bool(one.submodels) for one in found), runs)))
            print(*rows[-1], flush=True)
    return rows


def coverage_rows(samples: int) -> list[tuple[object, ...]]:
    """Return how often the interval of the share holds the truth."""
    rows: list[tuple[object, ...]] = []
    for name, joint in COVERED.items():
        truth = Sharing(joint, None).share().estimate
        for n_rows in (1_000, 10_000):
            generator = np.random.default_rng(n_rows)
            draws = generator.multinomial(n_rows, joint.reshape(-1), size=samples).astype(np.float64)
            shares = [Sharing(draw.reshape(joint.shape), n_rows).share() for draw in draws]
            held = sum(share.low <= truth <= share.high for share in shares)
            rows.append((name, f"{truth:.4f}", f"{n_rows:,}", share_text(held, samples)))
            print(*rows[-1], flush=True)
    return rows


def shuffled_rows(samples: int) -> list[tuple[object, ...]]:
    """Return how the p-value of the hidden part is spread when one column is shuffled."""
    rows: list[tuple[object, ...]] = []
    for name, joint in COVERED.items():
        p_values = shuffled_p_values(joint, 2_000, samples)
        below = [f"{np.mean(p_values <= bar):.3f}" for bar in (0.01, 0.05, 0.5)]
        rows.append((name, *below, f"{kstest(p_values, 'uniform').pvalue:.2f}"))
        print(*rows[-1], flush=True)
    return rows


def shuffled_p_values(joint: Floats, n_rows: int, samples: int, seed: int = 0) -> Floats:
    """Return the p-values of the hidden part of one sample whose last column is shuffled again and again."""
    generator = np.random.default_rng(seed)
    cells = generator.choice(joint.size, size=n_rows, p=joint.reshape(-1) / joint.sum())
    *others, last = np.unravel_index(cells, joint.shape)
    found = []
    for _ in range(samples):
        number = np.ravel_multi_index((*others, generator.permutation(last)), joint.shape)
        table = np.bincount(number, minlength=joint.size).reshape(joint.shape).astype(np.float64)
        sharing = Sharing(table, n_rows)
        found.append(np.exp(sharing.log_p(sharing.hidden, sharing.margins(2))))
    return np.array(found)


def chained(
    levels: Sequence[int], stay: float, skew: float, generator: np.random.Generator, n_rows: int
) -> Floats:
    """Return the table of columns that each take the level of the one before in a share of the rows.

    Otherwise a level is drawn, each ``skew`` times as likely as the one before it.
    """
    columns: list[NDArray[np.int64]] = []
    for n_levels in levels:
        chances = skew ** np.arange(n_levels)
        drawn = generator.choice(n_levels, size=n_rows, p=chances / chances.sum())
        if columns:
            drawn = np.where(generator.random(n_rows) < stay, columns[-1] % n_levels, drawn)
        columns.append(drawn)
    size = int(np.prod(levels))
    counts = np.bincount(np.ravel_multi_index(tuple(columns), tuple(levels)), minlength=size)
    return counts.reshape(levels).astype(np.float64)


SPARSE: dict[str, tuple[tuple[int, ...], float, float, int]] = {
    "4, 4, 4, 4, 3 levels, independent, 3,188 rows": ((4, 4, 4, 4, 3), 0.0, 1.0, 3_188),
    "4, 4, 4, 4, 3 levels, 3,188 rows": ((4, 4, 4, 4, 3), 0.3, 1.0, 3_188),
    "four of 4 levels, 3,000 rows": ((4,) * 4, 0.3, 1.0, 3_000),
    "four of 4 levels, skewed, 2,000 rows": ((4,) * 4, 0.4, 0.5, 2_000),
    "four of 5 levels, 1,000 rows": ((5,) * 4, 0.5, 1.0, 1_000),
    "three of 3 levels, 150 rows": ((3,) * 3, 0.5, 1.0, 150),
    "three of 3 levels, 300 rows": ((3,) * 3, 0.5, 1.0, 300),
    "three of 3 levels, strong, 600 rows": ((3,) * 3, 0.7, 1.0, 600),
    "4, 4 and 2 levels, skewed, 500 rows": ((4, 4, 2), 0.6, 0.5, 500),
    "three of 10 levels, 1,000 rows": ((10,) * 3, 0.4, 1.0, 1_000),
    "three of 6 levels, skewed, 500 rows": ((6,) * 3, 0.5, 0.5, 500),
    "eight of 2 levels, 1,000 rows": ((2,) * 8, 0.5, 0.5, 1_000),
}


def sparse_rows(samples: int) -> list[tuple[object, ...]]:
    """Return how often p-values are small where pairs depend on each other and explain everything."""
    rows: list[tuple[object, ...]] = []
    for name, (levels, stay, skew, n_rows) in SPARSE.items():
        generator = np.random.default_rng([n_rows, len(levels)])
        nominal, ours = [], []
        for _ in range(samples):
            found = Sharing(chained(levels, stay, skew, generator, n_rows), n_rows)
            nominal.append(float(log_tail(2 * n_rows * found.hidden.nats, max(found.hidden.dof, 1))))
            ours.append(found.log_p(found.hidden, found.margins(2)))
        below = [int(np.sum(np.exp(ours) <= bar)) for bar in (0.01, 0.05)]
        chi_squared = f"{100 * np.mean(np.exp(nominal) <= 0.05):.1f} %"
        rows.append((name, chi_squared, *(share_text(number, samples) for number in below)))
        print(*rows[-1], flush=True)
    return rows


FEW_ROWS: dict[str, tuple[tuple[int, ...], float, float, float, int]] = {
    "5, 5, 5, 5, 3 levels, one of each 5 rare, 3,188 rows": ((5, 5, 5, 5, 3), 0.4, 0.7, 0.01, 3_188),
    "5, 5, 5, 5, 3 levels, skewed, 3,188 rows": ((5, 5, 5, 5, 3), 0.5, 0.35, 1.0, 3_188),
    "four of 4 levels, skewed, 2,000 rows": ((4,) * 4, 0.4, 0.5, 1.0, 2_000),
    "three of 8 levels, skewed, 1,500 rows": ((8,) * 3, 0.4, 0.5, 1.0, 1_500),
    "seven of 2 levels, 650 rows": ((2,) * 7, 0.4, 1.0, 1.0, 650),
    "4, 3, 3, 2 levels, 400 rows": ((4, 3, 3, 2), 0.5, 0.7, 1.0, 400),
    "three of 3 levels, 150 rows": ((3,) * 3, 0.5, 1.0, 1.0, 150),
}
TILTS = (0.0, 0.4, 1.0)


def tilted(levels: Sequence[int], stay: float, skew: float, rare: float, tilt: float) -> Floats:
    """Return the joint of a chain as in :func:`chained`, in which even sums of all levels are likelier.

    The last of five levels is drawn ``rare`` times as often.
    """
    joint = np.ones(())
    for v, n_levels in enumerate(levels):
        chances = skew ** np.arange(n_levels) * np.where(np.arange(n_levels) == 4, rare, 1.0)
        chances = chances / chances.sum()
        if v == 0:
            joint = chances
            continue
        before = np.arange(levels[v - 1])
        steps = np.tile((1 - stay) * chances, (len(before), 1))
        steps[before, before % n_levels] += stay
        joint = joint[..., None] * steps
    is_even = np.indices(joint.shape).sum(axis=0) % 2 == 0
    joint = joint * np.exp(np.where(is_even, tilt, -tilt))
    return np.asarray(joint / joint.sum())


def few_rows_rows(samples: int) -> list[tuple[object, ...]]:
    """Return how near the told share comes to the true one on sparse tables."""
    rows: list[tuple[object, ...]] = []
    for name, (levels, stay, skew, rare, n_rows) in FEW_ROWS.items():
        for tilt in TILTS:
            joint = tilted(levels, stay, skew, rare, tilt)
            truth = Sharing(joint, None).share().estimate
            generator = np.random.default_rng([n_rows, round(10 * tilt), 15])
            draws = generator.multinomial(n_rows, joint.reshape(-1), size=samples).astype(np.float64)
            tables = [table for table in draws.reshape(-1, *joint.shape) if has_rows_enough(table)]
            shares = [Sharing(table, n_rows).share() for table in tables]
            told = f"{np.mean([share.estimate for share in shares]):.3f}"
            held = sum(share.low <= truth + 1e-9 and truth <= share.high for share in shares)
            above = sum(share.low > truth + 1e-9 for share in shares)
            counted = len(shares), share_text(held, len(shares)), share_text(above, len(shares))
            rows.append((name, f"{truth:.3f}", told, *counted))
            print(*rows[-1], flush=True)
    return rows


def study(runs: int, workers: int, only: str, samples: int) -> str:
    """Return all tables."""
    found: list[tuple[str, Sequence[str], list[tuple[object, ...]]]] = []
    heading: Sequence[str]
    if only in "Planted":
        heading = ("held by the pair", "rows", "listed, and no other", "kinds")
        found.append(("Planted", heading, planted_rows(runs, workers)))
    if only in "Additive":
        found.append(("Additive", ("model", "rows", "runs with a group"), additive_rows(runs, workers)))
    if only in "Coverage":
        heading = ("group", "true share", "rows", "held by the interval")
        found.append(("Coverage", heading, coverage_rows(samples)))
    if only in "Shuffled":
        heading = ("group", "p <= 0.01", "p <= 0.05", "p <= 0.5", "KS")
        found.append(("Shuffled", heading, shuffled_rows(samples)))
    if only in "Sparse":
        heading = ("columns", "chi-squared: p <= 0.05", "p <= 0.01", "p <= 0.05")
        found.append(("Sparse", heading, sparse_rows(samples)))
    if only in "Few rows":
        heading = (
            "columns",
            "true share",
            "told on average",
            "samples",
            "held by the interval",
            "interval above it",
        )
        found.append(("Few rows", heading, few_rows_rows(300)))
    return "\n".join(f"## {name}\n\n{markdown(heading, rows)}" for name, heading, rows in found)


if __name__ == "__main__":
    chosen = arguments("Hidden groups by size", runs=100)
    publish(__doc__, study(chosen.runs, chosen.workers, chosen.only, samples=1000), chosen.output)
