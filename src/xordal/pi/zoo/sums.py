"""Single PI sets: parity and modulus sums, any margins, blocks, contexts, epistasis.

All but the sums are built the same way: a joint without the interaction, plus an array whose sum along every
axis is zero. It changes no margin of fewer variables, so everything but the whole set stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import prod
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.pi.joint import Joint
from xordal.pi.zoo.model import Model, joint_of, number_kind
from xordal.pi.zoo.parameters import (
    alike,
    check_at_least,
    check_interaction,
    check_noise,
    check_size,
    check_strength,
    fraction_in,
    levels_in,
    margins_in,
    seeded,
    sizes_in,
)

RANDOM = "random"


def parity(*, variables: int = 4, noise: Fraction = Fraction(1, 20)) -> Model:
    """Fair bits and their parity y, flipped with the chance of the noise: a full PI model."""
    return modulus(variables=variables, levels=2, noise=noise)


def modulus(*, variables: int = 3, levels: int = 3, noise: Fraction = Fraction(0)) -> Model:
    """Uniform values and their sum y modulo the levels, wrong with the chance of the noise: a full PI model."""
    check_at_least("variables", variables, 3)
    check_at_least("levels", levels, 2)
    check_size(alike(variables, levels))
    check_noise(noise, levels)
    names = [*(f"x{place}" for place in range(1, variables)), "y"]
    *terms, y = np.indices((levels,) * variables, sparse=True)
    is_wrong = np.asarray((sum(terms) - y) % levels != 0)
    number = number_kind(levels**variables)
    each = levels ** (variables - 1)  # values of the terms, equally likely
    right_or_wrong = np.array([number((1 - noise) / each), number(noise / (levels - 1) / each)])
    return Model.of_cliques(joint_of(names, right_or_wrong[is_wrong.astype(np.int64)]), [names])


def full_pi(
    *,
    variables: int = 3,
    levels: int | str = "2",
    margins: str = RANDOM,
    interaction: str | float | Fraction = RANDOM,
    strength: float = 0.5,
    seed: int = 0,
) -> Model:
    """Any margins, random or given, and an interaction of all variables: a full PI model.

    Parameters
    ----------
    variables
        How many there are.
    levels
        Their number of levels, one for all or one for each such as ``2+3+3``. An interaction of variables with
        r1, r2, ... levels has (r1 - 1)(r2 - 1)... free parameters.
    margins
        The chances of level 1 of each variable, such as ``0.3+1/2+0.2``; of more than two levels those of 1, 2,
        ... with a comma between, such as ``0.3+0.2,0.5+1/2``.
    interaction
        Of binary variables the number e in P(x) = P(x1) P(x2) ... + e (-1)^(x1 + x2 + ...). Otherwise it is
        random, and ``strength`` its size as a share of the largest that keeps all probabilities non-negative.
    strength, seed
        Of what is random.
    """
    check_at_least("variables", variables, 3)
    check_size(alike(variables, 2))
    n_levels = levels_in(levels, variables)
    check_strength(strength)
    generator = seeded(seed)
    if margins == RANDOM:
        chances = [generator.dirichlet(np.full(size, 5.0)) for size in n_levels]
    else:
        number = number_kind(prod(n_levels))
        chances = [np.array([number(p) for p in known]) for known in margins_in(margins, n_levels)]
    joint = reduce(np.multiply.outer, chances)
    names = list(ascii_lowercase[:variables])
    if interaction == RANDOM:
        joint = joint.astype(np.float64)
        return _interacting(names, joint, strength * _interaction(joint, generator))
    return _interacting(names, joint, _signed(joint, fraction_in("interaction", interaction)))


def partial_pi(*, blocks: str = "2+1", levels: int | str = "2", strength: float = 0.5, seed: int = 0) -> Model:
    """Random dependent blocks, independent of each other pair by pair, and a random interaction of all.

    ``levels`` is one number of levels for all variables or one for each, such as ``2+3+3``.
    """
    sizes = sizes_in("blocks", blocks, "2+1")
    if len(sizes) < 2 or min(sizes) < 1 or sum(sizes) < 3:
        raise SettingsError(
            f"blocks must be two or more sizes of three or more variables in all, not {blocks!r}."
        )
    check_size(alike(sum(sizes), 2))
    left = levels_in(levels, sum(sizes))
    check_strength(strength)
    generator = seeded(seed)
    joint: NDArray[np.float64] = np.ones(())
    for size in sizes:
        shape, left = left[:size], left[size:]
        block = generator.dirichlet(np.full(prod(shape), 5.0)).reshape(shape)
        joint = np.multiply.outer(joint, block)
    names = [
        f"{ascii_lowercase[block]}{place + 1 if size > 1 else ''}"
        for block, size in enumerate(sizes)
        for place in range(size)
    ]
    return _interacting(names, joint, strength * _interaction(joint, generator))


def conditional_pi(*, strength: float = 0.5) -> Model:
    """Three bits x, y, z that depend on c; given c they are pairwise independent and depend together.

    No subset is a PI submodel: the smallest case on which Theorem 5 is silent because its submodels have no
    context.
    """
    check_strength(strength)
    chances = {0: (0.3, 0.4, 0.35), 1: (0.7, 0.6, 0.75)}
    sign = np.fromfunction(lambda x, y, z: (-1.0) ** (x + y + z), (2, 2, 2))
    without, given = [], []
    for c in (0, 1):
        independent = reduce(np.multiply.outer, [np.array([1 - p, p]) for p in chances[c]])
        without.append(independent / 2)
        given.append((independent + strength * (-1.0) ** c * sign * independent.min()) / 2)
    check_interaction(np.stack(given), np.stack(without), "raise strength")
    return Model.of_cliques(Joint.from_array("cxyz", np.stack(given)), ["cxyz"])


def epistasis(*, loci: int = 2, minor: Fraction = Fraction(2, 5), strength: Fraction = Fraction(4, 5)) -> Model:
    """Genotypes that shift the risk of a disease all together, no fewer of them at all (pure epistasis).

    Genotypes are in Hardy-Weinberg proportions with the given frequency of the minor allele. The risk is 1/2
    plus strength/2 times u(first) u(second) ..., where u has mean zero over the genotypes.
    """
    check_at_least("loci", loci, 2)
    if not 0 < minor <= Fraction(1, 2):
        raise SettingsError(f"minor must be above 0 and at most 1/2, not {minor}.")
    check_strength(strength)
    check_size([2, *alike(loci, 3)])
    share = [(1 - minor) ** 2, 2 * minor * (1 - minor), minor**2]
    u = [share[1], -(share[0] + share[2]), share[1]]  # mean zero: heterozygotes against both homozygotes
    largest = max(abs(value) for value in u)
    number = number_kind(2 * 3**loci)
    genotypes = reduce(np.multiply.outer, [np.array([number(p) for p in share])] * loci)
    effect = reduce(np.multiply.outer, [np.array([number(value / largest) for value in u])] * loci)
    shift = genotypes * effect * number(strength / 2)
    half = genotypes * number(Fraction(1, 2))
    joint = np.stack([half - shift, half + shift], axis=-1)
    check_interaction(joint, np.stack([half, half], axis=-1), "raise strength or minor")
    names = [*(f"snp{place}" for place in range(1, loci + 1)), "disease"]
    levels = [*["012"] * loci, ("no", "yes")]
    return Model.of_cliques(joint_of(names, joint, levels), [names])


def _interacting(names: Sequence[str], joint: Any, change: Any) -> Model:
    """Return the model of a joint and an interaction of all its variables."""
    mixed = joint + change
    if mixed.dtype != object:
        mixed = np.maximum(mixed, 0.0)  # rounding at full strength
    check_interaction(mixed, joint, "make the interaction stronger, or use fewer variables")
    return Model.of_cliques(joint_of(names, mixed), [names])


def _signed(joint: Any, e: Fraction) -> Any:
    """Return e with the sign of each cell's parity, if it keeps all probabilities non-negative."""
    if set(joint.shape) != {2}:
        raise SettingsError(
            "interaction can be given for two levels only; with more, choose strength and seed."
        )
    parity_of: NDArray[np.int64] = np.asarray(sum(np.indices(joint.shape, sparse=True)) % 2)
    is_odd = parity_of == 1
    lowest, highest = -joint[~is_odd].min(), joint[is_odd].min()
    if not lowest <= e <= highest:
        bounds = " to ".join(str(b) if isinstance(b, Fraction) else f"{b:.6g}" for b in (lowest, highest))
        raise SettingsError(f"interaction must be from {bounds} with these margins, not {e}.")
    size = e if joint.dtype == object else float(e)
    return np.array([size, -size])[parity_of]


def _interaction(joint: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return a random array with zero sums along every axis, the largest that keeps the joint non-negative."""
    change = generator.normal(size=joint.shape)
    for axis in range(joint.ndim):
        change -= change.mean(axis=axis, keepdims=True)
    falling = change < 0
    return np.asarray(change * np.min(joint[falling] / -change[falling]))
