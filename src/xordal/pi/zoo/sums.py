"""Single PI sets: parity and modulus sums, any margins, blocks, contexts, epistasis.

All but the sums are built the same way: a joint without the interaction, plus an array whose sum along every
axis is zero. It changes no margin of fewer variables, so everything but the whole set stays as it was.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.pi.joint import Joint, State
from xordal.pi.zoo.model import Model, check_size


def parity(*, variables: int = 4, noise: Fraction = Fraction(1, 20)) -> Model:
    """Fair bits and their parity y, flipped with the chance of the noise: a full PI model."""
    return modulus(variables=variables, levels=2, noise=noise)


def modulus(*, variables: int = 3, levels: int = 3, noise: Fraction = Fraction(0)) -> Model:
    """Uniform values and their sum y modulo the levels, wrong with the chance of the noise: a full PI model."""
    _at_least("variables", variables, 3)
    _at_least("levels", levels, 2)
    largest = Fraction(levels - 1, levels)  # at which the sum says nothing of its terms
    if not 0 <= noise < largest:
        raise SettingsError(f"noise must be at least 0 and below {largest}, not {noise}.")
    check_size(levels**variables)
    names = [*(f"x{place}" for place in range(1, variables)), "y"]
    states = {}
    for values in product(range(levels), repeat=variables):
        *terms, y = values
        chance = 1 - noise if y == sum(terms) % levels else noise / (levels - 1)
        states[tuple(map(str, values))] = chance / levels ** (variables - 1)
    return Model.of_cliques(Joint.from_states(names, states), [names])


def full_pi(*, variables: int = 3, levels: int = 2, strength: float = 0.5, seed: int = 0) -> Model:
    """Random margins and a random interaction of all variables: a full PI model.

    An interaction has (levels - 1)^variables free parameters; ``strength`` is its size as a share of the
    largest that keeps all probabilities non-negative.
    """
    return partial_pi(blocks="+".join(["1"] * variables), levels=levels, strength=strength, seed=seed)


def partial_pi(*, blocks: str = "2+1", levels: int = 2, strength: float = 0.5, seed: int = 0) -> Model:
    """Random dependent blocks, independent of each other pair by pair, and a random interaction of all."""
    sizes = _sizes(blocks)
    _at_least("levels", levels, 2)
    _check_strength(strength)
    check_size(levels ** sum(sizes))
    generator = np.random.default_rng(seed)
    joint: NDArray[np.float64] = np.ones(())
    for size in sizes:
        block = generator.dirichlet(np.full(levels**size, 5.0)).reshape((levels,) * size)
        joint = np.multiply.outer(joint, block)
    names = [
        f"{'abcdefghijklmnopqrstuvwxyz'[block]}{place + 1 if size > 1 else ''}"
        for block, size in enumerate(sizes)
        for place in range(size)
    ]
    mixed = np.maximum(joint + strength * _interaction(joint, generator), 0.0)  # rounding at full strength
    return Model.of_cliques(Joint.from_array(names, mixed), [names])


def conditional_pi(*, strength: float = 0.5) -> Model:
    """Three bits x, y, z that depend on c; given c they are pairwise independent and depend together.

    No subset is a PI submodel: the smallest case on which Theorem 5 is silent because its submodels have no
    context.
    """
    _check_strength(strength)
    chances = {0: (0.3, 0.4, 0.35), 1: (0.7, 0.6, 0.75)}
    sign = np.fromfunction(lambda x, y, z: (-1.0) ** (x + y + z), (2, 2, 2))
    given = []
    for c in (0, 1):
        independent = np.ones(())
        for p in chances[c]:
            independent = np.multiply.outer(independent, np.array([1 - p, p]))
        given.append(independent + strength * (-1.0) ** c * sign * independent.min())
    joint = Joint.from_array("cxyz", np.stack(given) / 2)
    return Model.of_cliques(joint, ["cxyz"])


def epistasis(*, minor: Fraction = Fraction(2, 5), strength: Fraction = Fraction(4, 5)) -> Model:
    """Two genotypes that shift the risk of a disease together, neither of them alone (pure epistasis).

    Genotypes are in Hardy-Weinberg proportions with the given frequency of the minor allele. The risk is 1/2
    plus strength/2 times u(first) u(second), where u has mean zero over the genotypes.
    """
    if not 0 < minor <= Fraction(1, 2):
        raise SettingsError(f"minor must be above 0 and at most 1/2, not {minor}.")
    _check_strength(strength)
    share = [(1 - minor) ** 2, 2 * minor * (1 - minor), minor**2]
    u = [share[1], -(share[0] + share[2]), share[1]]  # mean zero: heterozygotes against both homozygotes
    largest = max(abs(value) for value in u) ** 2
    states: dict[State, Fraction] = {}
    for first, second in product(range(3), repeat=2):
        risk = Fraction(1, 2) + strength / 2 * u[first] * u[second] / largest
        for disease, chance in (("no", 1 - risk), ("yes", risk)):
            states[str(first), str(second), disease] = share[first] * share[second] * chance
    names = ("snp1", "snp2", "disease")
    return Model.of_cliques(Joint.from_states(names, states), [names])


def _interaction(joint: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return a random array with zero sums along every axis, the largest that keeps the joint non-negative."""
    change = generator.normal(size=joint.shape)
    for axis in range(joint.ndim):
        change -= change.mean(axis=axis, keepdims=True)
    falling = change < 0
    return np.asarray(change * np.min(joint[falling] / -change[falling]))


def _sizes(blocks: str) -> list[int]:
    try:
        sizes = [int(size) for size in blocks.split("+")]
    except ValueError:
        raise SettingsError(f"blocks must be sizes such as 2+1, not {blocks!r}.") from None
    if len(sizes) < 2 or min(sizes) < 1 or sum(sizes) < 3:
        raise SettingsError(
            f"blocks must be two or more sizes of three or more variables in all, not {blocks!r}."
        )
    return sizes


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise SettingsError(f"{name} must be at least {least}, not {value}.")


def _check_strength(strength: float | Fraction) -> None:
    if not 0 < strength <= 1:
        raise SettingsError(f"strength must be above 0 and at most 1, not {strength}.")
