"""Networks of noisy XOR gates: random ones with recursively embedded PI submodels, and rings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from math import prod
from operator import xor

import numpy as np

from xordal.errors import SettingsError
from xordal.pi.joint import Joint
from xordal.pi.zoo.model import Model, check_size

Gates = dict[str, list[str]]
"""Output of each gate -> its inputs; every name that is no output is a source."""


def embedded(*, variables: int = 10, depth: int = 3, noise: Fraction = Fraction(1, 20), seed: int = 0) -> Model:
    """Random tree of noisy XOR gates, each feeding the next: recursively embedded PI submodels.

    Every gate has two or three inputs. Sources are 1 with chances between 20 and 80 %, but one source of each
    gate at the bottom is fair and hides the others, as the third ball of the music box does; so some pairs
    of a gate show a dependence of their own and submodels are nested inside gates of three inputs.
    """
    if variables < 3:
        raise SettingsError(f"variables must be at least 3, not {variables}.")
    if not 0 <= noise < Fraction(1, 2):
        raise SettingsError(f"noise must be at least 0 and below 1/2, not {noise}.")
    check_size(2**variables)
    generator = np.random.default_rng(seed)
    gates = _random_tree(variables, depth, generator)
    sources = [name for name in _names(gates) if name not in gates]
    chances = {name: Fraction(int(generator.integers(2, 9)), 10) for name in sources}
    for inputs in gates.values():
        if not any(name in gates for name in inputs):
            chances[inputs[0]] = Fraction(1, 2)
    return _model(gates, chances, noise)


def ring(*, gates: int = 4, noise: Fraction = Fraction(1, 20)) -> Model:
    """Noisy XOR gates in a ring, each sharing a fair input with the next: PI submodels in a cycle.

    The chordal I-map needs links between inputs that no gate shares; a fan from the first input is taken.
    """
    if gates < 3:
        raise SettingsError(f"gates must be at least 3, not {gates}.")
    check_size(4**gates)
    inputs = [f"s{place}" for place in range(1, gates + 1)]
    wiring = {f"e{place + 1}": [inputs[place], inputs[(place + 1) % gates]] for place in range(gates)}
    fan = [(inputs[0], inputs[place], inputs[place + 1]) for place in range(1, gates - 1)]
    return _model(wiring, dict.fromkeys(inputs, Fraction(1, 2)), noise, extra_cliques=fan)


def _random_tree(variables: int, depth: int, generator: np.random.Generator) -> Gates:
    """Grow a tree of gates to exactly the wanted number of variables."""
    level = {"v1": 0}
    gates: Gates = {}
    while len(level) < variables:
        room = variables - len(level)
        open_leaves = [name for name in level if name not in gates and level[name] < depth]
        fitting = [size for size in (2, 3) if size <= room and room - size != 1]
        if not open_leaves or not fitting:
            raise SettingsError(f"{variables} variables do not fit into {depth} levels of gates: raise depth.")
        output = open_leaves[int(generator.integers(len(open_leaves)))]
        size = fitting[int(generator.integers(len(fitting)))]
        gates[output] = [f"v{len(level) + place + 1}" for place in range(size)]
        level.update(dict.fromkeys(gates[output], level[output] + 1))
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
    states: dict[tuple[str, ...], Fraction] = {}
    for values in product((0, 1), repeat=len(names)):
        value = dict(zip(names, values, strict=True))
        factors = [chances[name] if value[name] else 1 - chances[name] for name in chances]
        for output, inputs in gates.items():
            is_flipped = value[output] != reduce(xor, (value[name] for name in inputs))
            factors.append(noise if is_flipped else 1 - noise)
        states[tuple(map(str, values))] = prod(factors, start=Fraction(1))
    cliques = [*([*inputs, output] for output, inputs in gates.items()), *extra_cliques]
    return Model.of_cliques(Joint.from_states(names, states), cliques)
