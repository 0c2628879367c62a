"""Networks of noisy XOR gates: random ones with recursively embedded PI submodels, and rings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.pi.zoo.model import Model, joint_of, number_kind
from xordal.pi.zoo.parameters import alike, check_at_least, check_noise, check_size, seeded, sizes_in

Gates = dict[str, list[str]]
"""Output of each gate -> its inputs; every name that is no output is a source."""

_MOST_INPUTS = 9  # a gate and its inputs are one clique, and all subsets of ten variables can be looked at


def embedded(
    *,
    variables: int = 10,
    depth: int = 3,
    inputs: str = "2+3",
    noise: Fraction = Fraction(1, 20),
    seed: int = 0,
) -> Model:
    """Random tree of noisy XOR gates, each feeding the next: recursively embedded PI submodels.

    ``depth`` is the number of gates on the longest way from a source to the last output, ``inputs`` the numbers
    of inputs a gate may have. Sources are 1 with chances between 20 and 80 %, but one source of each gate at
    the bottom is fair and hides the others, as the third ball of the music box does; so some pairs of a gate
    show a dependence of their own and submodels are nested inside gates of three or more inputs.
    """
    check_at_least("variables", variables, 3)
    check_at_least("depth", depth, 1)
    check_noise(noise)
    check_size(alike(variables, 2))
    sizes = sorted(set(sizes_in("inputs", inputs, "2+3")))
    if sizes[0] < 2 or sizes[-1] > _MOST_INPUTS:
        raise SettingsError(f"inputs must be numbers from 2 to {_MOST_INPUTS} such as 2+3, not {inputs!r}.")
    generator = seeded(seed)
    gates = _random_tree(variables, depth, sizes, generator)
    sources = [name for name in _names(gates) if name not in gates]
    chances = {name: Fraction(int(generator.integers(2, 9)), 10) for name in sources}
    for names in gates.values():
        if not any(name in gates for name in names):
            chances[names[0]] = Fraction(1, 2)
    return _model(gates, chances, noise)


def ring(*, gates: int = 4, noise: Fraction = Fraction(1, 20)) -> Model:
    """Noisy XOR gates in a ring, each sharing a fair input with the next: PI submodels in a cycle.

    The chordal I-map needs links between inputs that no gate shares; a fan from the first input is taken.
    """
    check_at_least("gates", gates, 3)
    check_noise(noise)
    check_size(alike(gates, 4))
    inputs = [f"s{place}" for place in range(1, gates + 1)]
    wiring = {f"e{place + 1}": [inputs[place], inputs[(place + 1) % gates]] for place in range(gates)}
    fan = [(inputs[0], inputs[place], inputs[place + 1]) for place in range(1, gates - 1)]
    return _model(wiring, dict.fromkeys(inputs, Fraction(1, 2)), noise, extra_cliques=fan)


@dataclass(frozen=True, slots=True)
class _Trees:
    """Which numbers of variables can stand below a node, by the depth of the tree from it.

    ``of_depth[d]`` are the numbers of trees of exactly that depth, ``up_to[d]`` those of it or less.
    """

    sizes: Sequence[int]
    most: int
    of_depth: list[set[int]]
    up_to: list[set[int]]

    @classmethod
    def growing(cls, sizes: Sequence[int], most: int) -> _Trees:
        trees = cls(sizes, most, [{0}], [{0}])
        for depth in range(1, most + 1):
            fitting = {n for n in range(most + 1) if trees.sizes_for(n, depth, reaches=True)}
            trees.of_depth.append(fitting)
            trees.up_to.append(trees.up_to[-1] | fitting)
        return trees

    def below(self, size: int, depth: int, reaches: bool) -> list[set[int]]:
        """Return what may stand below each input; where the depth must be reached, the first reaches it."""
        free = [self.up_to[depth - 1]] * size
        return [self.of_depth[depth - 1], *free[1:]] if reaches else free

    def sizes_for(self, n: int, depth: int, reaches: bool) -> list[int]:
        """Return the numbers of inputs a gate can have that shall have n variables below it."""
        return [size for size in self.sizes if n - size in self.sums(self.below(size, depth, reaches))]

    def sums(self, numbers: Iterable[Collection[int]]) -> set[int]:
        """Return the sums of one number from each."""
        found = {0}
        for some in numbers:
            found = {a + b for a in found for b in some if a + b <= self.most}
        return found


def _random_tree(variables: int, depth: int, sizes: Sequence[int], generator: np.random.Generator) -> Gates:
    """Grow a tree of gates of exactly the wanted depth and number of variables.

    Each choice is among those that can still be completed.
    """
    trees = _Trees.growing(sizes, variables - 1)
    depths = [d for d, fitting in enumerate(trees.of_depth) if variables - 1 in fitting]
    if depth not in depths:
        kind = f"A tree of {variables} variables with gates of {' or '.join(map(str, sizes))} inputs"
        can = f"it can have depth {', '.join(map(str, depths))}" if depths else "nor any other"
        raise SettingsError(f"{kind} cannot have depth {depth}; {can}.")
    gates: Gates = {}
    n_named = 1

    def choice(among: Collection[int]) -> int:
        return sorted(among)[int(generator.integers(len(among)))]

    def grow(output: str, n_below: int, depth: int, reaches: bool) -> None:
        nonlocal n_named
        size = choice(trees.sizes_for(n_below, depth, reaches))
        gates[output] = [f"v{n_named + place + 1}" for place in range(size)]
        n_named += size
        below, left = trees.below(size, depth, reaches), n_below - size
        for turn, place in enumerate(generator.permutation(size).tolist()):
            rest = trees.sums(below[turn + 1 :])
            n = choice([n for n in below[turn] if left - n in rest])
            left -= n
            if n:
                grow(gates[output][place], n, depth - 1, reaches and turn == 0)

    grow("v1", variables - 1, depth, True)
    return gates


def _names(gates: Gates) -> list[str]:
    """Return all variables, sources before the outputs that need them."""
    named: list[str] = []

    def visit(name: str) -> None:
        if name not in named:
            for needed in gates.get(name, []):
                visit(needed)
            named.append(name)

    for output in gates:
        visit(output)
    return named


def _model(
    gates: Gates,
    chances: dict[str, Fraction],
    noise: Fraction,
    extra_cliques: Sequence[Sequence[str]] = (),
) -> Model:
    """Return the model of a network: the joint by multiplying out, the graph by completing each gate."""
    names = _names(gates)
    number = number_kind(2 ** len(names))
    axis = dict(zip(names, np.indices((2,) * len(names), sparse=True), strict=True))
    joint: NDArray[np.object_] = np.array(number(Fraction(1)))
    for name, p in chances.items():
        joint = joint * np.array([number(1 - p), number(p)])[axis[name]]
    right_or_wrong = np.array([number(1 - noise), number(noise)])
    for output, inputs in gates.items():
        joint = joint * right_or_wrong[sum(axis[name] for name in [*inputs, output]) % 2]
    cliques = [*([*inputs, output] for output, inputs in gates.items()), *extra_cliques]
    return Model.of_cliques(joint_of(names, joint), cliques)
