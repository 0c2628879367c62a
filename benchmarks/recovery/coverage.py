"""Coverage: how often 95 % ranges hold what they should.

In each run rows are drawn from a random network of five columns, of which it is known what each answer, gain
and hidden part is. Ranges of gains and of hidden parts are of a set named before the rows were drawn;
those of answers are of a network with the true links, over all levels of a column asked for at random, given
another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text, table_of
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.graph.chordal import ChordalGraph
from xordal.graph.signed_sets import free_parameters
from xordal.model.estimation import estimate
from xordal.statistics.gain_range import gain_range
from xordal.statistics.hidden import Sharing, unexplained
from xordal.types.varsets import SignedSets, VarSet

ROWS = (200, 1000, 10000)
GRAPH = ChordalGraph.empty(5).add([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)])
Joint = NDArray[np.float64]


def random_joint(n_levels: tuple[int, ...], generator: np.random.Generator) -> Joint:
    """Draw a network whose tables are drawn evenly: a triangle 0, 1, 2 and the chain 2 - 3 - 4."""
    a, b, c, d, e = n_levels
    triangle = generator.dirichlet(np.full(a * b * c, 1.0)).reshape(a, b, c, 1, 1)
    after = generator.dirichlet(np.ones(d), size=c).reshape(1, 1, c, d, 1)
    last = generator.dirichlet(np.ones(e), size=d).reshape(1, 1, 1, d, e)
    return np.asarray(triangle * after * last)


def drawn(joint: Joint, n_rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw the codes of rows, shape (columns, rows)."""
    cells = generator.choice(joint.size, size=n_rows, p=joint.reshape(-1))
    return np.array(np.unravel_index(cells, joint.shape))


def of_answer(n_levels: tuple[int, ...], n_rows: int, seed: int) -> tuple[int, int]:
    """Return how many ranges hold the true answer, and how many there are."""
    generator = np.random.default_rng([seed, 1])
    joint = random_joint(n_levels, generator)
    codes = drawn(joint, n_rows, generator)
    table = table_of(list(codes))
    if table.n_levels != n_levels:
        return 0, 0  # a level that did not occur
    names = table.names
    network = estimate(GRAPH, NumpyCounter(table), names, table.levels)
    asked, known = generator.permutation(5)[:2].tolist()
    level = int(generator.choice(n_levels[known], p=_margin(joint, (known,))))
    both = _margin(joint, (asked, known))
    true = (both if asked < known else both.T)[:, level]
    ranges = network.query_intervals(names[asked], {names[known]: level}).values()
    held = [low <= q <= high for (low, high), q in zip(ranges, true / true.sum(), strict=True)]
    return (held[0], 1) if len(held) == 2 else (sum(held), len(held))  # of two levels both say the same


def of_gain(n_levels: tuple[int, ...], n_rows: int, seed: int) -> tuple[int, int]:
    """Return whether the range holds I(0; 1 | 2), the gain of a link behind a column."""
    generator = np.random.default_rng([seed, 2])
    joint = random_joint(n_levels, generator).sum(axis=(3, 4))
    change: SignedSets = {VarSet(7): 1, VarSet(5): -1, VarSet(6): -1, VarSet(4): 1}
    table = table_of(list(drawn(joint, n_rows, generator)))
    if table.n_levels != n_levels[:3]:
        return 0, 0
    (counted,) = NumpyCounter(table).counts([VarSet(7)])
    low, high = gain_range(change, counted, VarSet(7), free_parameters(change, table.n_levels))
    true = _h(joint, (0, 2)) + _h(joint, (1, 2)) - _h(joint, (0, 1, 2)) - _h(joint, (2,))
    return int(low <= true <= high), 1


def of_hidden(n_levels: tuple[int, ...], n_rows: int, seed: int) -> tuple[int, int]:
    """Return whether the range holds what no pair of three columns shows."""
    generator = np.random.default_rng([seed, 3])
    joint = random_joint(n_levels, generator).sum(axis=(3, 4))
    counts = generator.multinomial(n_rows, joint.reshape(-1)).reshape(joint.shape).astype(float)
    true = unexplained(joint, [(0, 1), (0, 2), (1, 2)]).nats
    low, high = Sharing(counts, n_rows).range()
    return int(low <= true <= high), 1


def _margin(joint: Joint, kept: tuple[int, ...]) -> Joint:
    return np.asarray(joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in kept)))


def _h(joint: Joint, kept: tuple[int, ...]) -> float:
    cells = _margin(joint, kept).reshape(-1)
    return -float((cells * np.log(np.maximum(cells, 1e-300))).sum())


@dataclass(frozen=True)
class Setting:
    """What is asked for, and of how many levels the columns are."""

    name: str
    run: Callable[[tuple[int, ...], int, int], tuple[int, int]]
    n_levels: tuple[int, ...]


SETTINGS = [
    Setting("answers, two levels", of_answer, (2, 2, 2, 2, 2)),
    Setting("answers, two to four levels", of_answer, (2, 3, 2, 4, 3)),
    Setting("gain of a link behind a column, two levels", of_gain, (2, 2, 2, 2, 2)),
    Setting("gain of a link behind a column, three levels", of_gain, (3, 3, 3, 2, 2)),
    Setting("hidden part of three columns, two levels", of_hidden, (2, 2, 2, 2, 2)),
    Setting("hidden part of three columns, three levels", of_hidden, (3, 3, 3, 2, 2)),
]


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all settings."""
    rows = []
    for setting in SETTINGS:
        if only in setting.name:
            line = [setting.name]
            for n_rows in ROWS:
                run = partial(setting.run, setting.n_levels, n_rows)
                held, all_of = np.array(repeat(run, range(runs), workers)).sum(axis=0).tolist()
                line.append(share_text(held, all_of))
            rows.append((line[0], runs, *line[1:]))
            print(*rows[-1], flush=True)
    return markdown(("ranges of", "samples", *(f"n={n} (95 % interval)" for n in ROWS)), rows)


if __name__ == "__main__":
    chosen = arguments("How often 95 % ranges hold what they should", runs=1000)
    publish(__doc__, study(chosen.runs, chosen.workers, chosen.only), chosen.output)
