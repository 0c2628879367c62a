"""Bayesian networks for tests: random ones, one with every odd name, and how two are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.model.directed import BayesianNetwork, Family

ODD_NAMES = (
    "two words", "quo\"te's", "a,b;c|d", "</script>", "été 東京", "variable", "net", "x" * 10_000, "1st",
    "a\\b", "tab\tline\n", "_x0041_", "&amp;", " ends ", "%", "𝛼", "_x_",
    "", "  ",
)  # fmt: skip
ODD_LEVELS = (
    ("<5", "5-12"), ("a b", "c,d"), ("yes", "no"), ("1.5", "-1"), ("été", ""), ("table", "default"),
    ("(1, 2]", "[2; 3)"), ("0", "1"), ("true", "false"), ('"', "'"), ("\\", "/"), ("{", "}"), ("<b>", "&"),
    (" ", "  "), ("y" * 10_000, "z"), ("\x00", "\ud800"), ("_x0020_", "_x_"),
    ("a", ""), ("1", "1 "),
)  # fmt: skip


def random_network(
    n_levels: Sequence[int], seed: int, *, n_parents: int = 2, names: Sequence[str] | None = None
) -> BayesianNetwork:
    """Each variable has up to so many of those before it as parents; some cells are impossible."""
    generator = np.random.default_rng(seed)
    families = []
    for v, n in enumerate(n_levels):
        size = int(generator.integers(0, min(v, n_parents) + 1))
        parents = tuple(generator.permutation(v)[:size].tolist())
        families.append(Family(v, parents, random_rows(generator, [*(n_levels[p] for p in parents), n])))
    levels = tuple(tuple(f"l{code}" for code in range(n)) for n in n_levels)
    return BayesianNetwork(tuple(names or (f"v{v}" for v in range(len(n_levels)))), levels, tuple(families))


def random_rows(generator: np.random.Generator, shape: Sequence[int]) -> NDArray[np.float64]:
    chances = generator.random(shape) ** 3 + 1e-9
    chances = np.where(generator.random(shape) < 0.1, 0.0, chances)
    chances[..., 0] += 1e-3
    return np.asarray(chances / chances.sum(axis=-1, keepdims=True))


def odd_network(seed: int = 0) -> BayesianNetwork:
    """Names and levels that no format likes."""
    plain = random_network([2] * len(ODD_NAMES), seed)
    return BayesianNetwork(ODD_NAMES, ODD_LEVELS, plain.families)


def difference(ours: BayesianNetwork, theirs: BayesianNetwork) -> float:
    """The largest difference between conditional tables; names and levels must be the same."""
    place = {other: v for v, other in enumerate(theirs.variables)}
    assert set(place) == set(ours.variables)
    largest = 0.0
    for v, own in enumerate(ours.variables):
        other = theirs.families[place[own]]
        assert list(map(str, theirs.levels[place[own]])) == list(map(str, ours.levels[v]))
        parents = [theirs.variables[p] for p in other.parents]
        mine = [ours.variables[p] for p in ours.families[v].parents]
        assert sorted(parents) == sorted(mine)
        axes = [*(parents.index(p) for p in mine), len(mine)]
        gap = np.abs(np.transpose(other.chances, axes) - ours.families[v].chances)
        largest = max(largest, float(gap.max()))
    return largest


def joint_of(network: BayesianNetwork) -> NDArray[np.float64]:
    """The joint by brute force, one axis for each variable."""
    cells = np.indices(network.n_levels).reshape(len(network.variables), -1)
    return np.exp(network.log_prob(cells)).reshape(network.n_levels)
