"""The zoo: what its parameters choose, that they can be had, and the truth of each model."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from xordal import DataError
from xordal.formats.json import truth_to_json
from xordal.graph.junction_tree import maximal_cliques
from xordal.pi.independence import Independence
from xordal.pi.zoo import build, conditional_pi, embedded, epistasis, full_pi, parity, partial_pi
from xordal.pi.zoo.networks import Gates, _random_tree
from xordal.types.varsets import members


def depth_of(gates: Gates, name: str = "v1") -> int:
    return 1 + max(depth_of(gates, below) for below in gates[name]) if name in gates else 0


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    ("variables", "depth", "inputs"),
    [(12, 2, [2, 3]), (13, 2, [2, 3]), (10, 2, [2, 3]), (10, 3, [2, 3]), (10, 4, [2, 3]), (20, 3, [2, 3]),
     (9, 2, [2, 4]), (17, 4, [2]), (10, 3, [3]), (12, 2, [2, 9])],
)  # fmt: skip
def test_trees_have_the_depth_and_sizes_asked_for(
    variables: int, depth: int, inputs: list[int], seed: int
) -> None:
    gates = _random_tree(variables, depth, inputs, np.random.default_rng(seed))
    names = {"v1"}.union(*gates.values())
    assert names == {f"v{place}" for place in range(1, variables + 1)}
    assert sum(map(len, gates.values())) == variables - 1
    assert depth_of(gates) == depth
    assert {len(below) for below in gates.values()} <= set(inputs)


def test_every_tree_that_exists_can_be_had_and_no_other() -> None:
    def totals(depth: int) -> set[int]:
        """Numbers of variables of trees of at most this depth, by building them all up."""
        if depth == 0:
            return {1}
        below = totals(depth - 1)
        return {1} | {1 + sum(some) for size in (2, 3) for some in product(below, repeat=size)}

    for depth in (1, 2):
        for variables in range(3, 14):
            possible = variables in totals(depth) and (depth == 1 or variables >= 5)
            try:
                gates = _random_tree(variables, depth, [2, 3], np.random.default_rng(0))
                assert possible and depth_of(gates) == depth
            except ValueError:
                assert not possible


def test_trees_vary_with_the_seed_and_only_with_it() -> None:
    trees = [_random_tree(12, 3, [2, 3], np.random.default_rng(seed)) for seed in range(20)]
    assert trees[3] == _random_tree(12, 3, [2, 3], np.random.default_rng(3))
    assert len({str(tree) for tree in trees}) > 10
    assert {len(below) for tree in trees for below in tree.values()} == {2, 3}


@pytest.mark.parametrize("inputs", ["2", "3", "4", "2+5"])
@pytest.mark.parametrize("seed", range(3))
def test_gates_of_any_size_hold_submodels(inputs: str, seed: int) -> None:
    variables = {"2": 7, "3": 7, "4": 9, "2+5": 8}[inputs]
    model = embedded(variables=variables, depth=2 if inputs != "2" else 3, inputs=inputs, seed=seed)
    truth = model.truth()
    for clique in maximal_cliques(model.graph):
        assert clique in {submodel.variables for submodel in truth.submodels}


@pytest.mark.parametrize("e", ["1/50", "-1/50", "3/100", "-3/100"])
def test_margins_and_interaction_as_given(e: str) -> None:
    model = full_pi(margins="0.3+1/2+0.2", interaction=e)
    chances = [Fraction(3, 10), Fraction(1, 2), Fraction(1, 5)]
    assert model.joint.fractions is not None
    for a, b, c in product((0, 1), repeat=3):
        p = [q if x else 1 - q for x, q in zip((a, b, c), chances, strict=True)]
        expected = p[0] * p[1] * p[2] + Fraction(e) * (-1) ** (a + b + c)
        assert model.joint.fractions.get((str(a), str(b), str(c)), 0) == expected
    (submodel,) = model.truth().submodels
    assert submodel.kind == "full"


def test_margins_of_more_levels_as_given() -> None:
    model = full_pi(levels="2+3+2", margins="0.3+0.2,0.5+0.5", strength=0.9, seed=2)
    margins = [model.joint.marginal(name).probabilities for name in "abc"]
    assert margins[0] == pytest.approx([0.7, 0.3])
    assert margins[1] == pytest.approx([0.3, 0.2, 0.5])
    assert [s.kind for s in model.truth().submodels] == ["full"]


@pytest.mark.parametrize("seed", range(5))
def test_levels_of_their_own(seed: int) -> None:
    full = full_pi(levels="2+3+4", seed=seed)
    assert full.joint.n_levels == (2, 3, 4)
    assert [s.kind for s in full.truth().submodels] == ["full"]
    partial = partial_pi(blocks="2+1", levels="3+2+3", seed=seed)
    assert partial.joint.n_levels == (3, 2, 3)
    assert [len(s.partition) for s in partial.truth().submodels] == [2]
    assert full_pi(levels=3, seed=seed).joint.n_levels == (3, 3, 3)


def test_the_interaction_has_as_many_free_parameters_as_it_says() -> None:
    changes = []
    for seed in range(20):
        joint = full_pi(levels="2+3+4", seed=seed, margins="1/2+1/3,1/3+1/4,1/4,1/4").joint
        changes.append((joint.probabilities - 1 / 24).ravel())
    assert np.linalg.matrix_rank(np.array(changes), tol=1e-9) == 1 * 2 * 3


@pytest.mark.parametrize("loci", [2, 3, 4])
def test_epistasis_is_pure(loci: int) -> None:
    model = epistasis(loci=loci)
    joint, judge = model.joint, Independence(model.joint.oracle())
    snps = [f"snp{place}" for place in range(1, loci + 1)]
    assert joint.variables == (*snps, "disease")
    for size in range(1, loci):
        for some in combinations(snps, size):
            assert judge.is_independent(joint.varset(some), joint.varset("disease"))
    assert judge.information(joint.varset(snps), joint.varset("disease")) > 0.01
    assert [s.kind for s in model.truth().submodels] == ["full"]
    assert joint.fractions is not None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("embedded", {"variables": "20"}),
        ("embedded", {"variables": "12"}),
        ("ring", {"gates": "10"}),
        ("parity", {"variables": "20"}),
        ("modulus", {"variables": "12", "levels": "3"}),
        ("epistasis", {"loci": "11"}),
        ("partial-pi", {"blocks": "10+10"}),
    ],
)
def test_the_largest_models_can_be_sampled(name: str, parameters: dict[str, str]) -> None:
    joint = build(name, parameters).joint
    assert len(list(joint.sample_rows(2, seed=0))) == 2


def test_small_models_are_exact_and_large_ones_say_why_not() -> None:
    assert parity(variables=12).joint.fractions is not None
    with pytest.raises(DataError, match="8,192 states; exact proportions are computed for up to 4,096"):
        list(parity(variables=13).joint.exact_rows())
    small, large = parity(variables=12).joint, parity(variables=13).joint
    assert small.marginal("y").probabilities == pytest.approx(large.marginal("y").probabilities)


def test_what_large_models_hold_is_what_their_parts_say() -> None:
    """Floats, above 4,096 states, and fractions, below, describe the same gates."""
    model = embedded(variables=14, seed=1)
    assert model.joint.fractions is None
    kinds = {s.kind for s in model.truth().submodels}
    assert kinds <= {"full", "partial"}
    for submodel in model.truth().submodels:
        part = model.joint.marginal([model.joint.variables[v] for v in members(submodel.variables)])
        assert Independence(part.oracle()).total_correlation(part.varset()) == pytest.approx(
            submodel.total_correlation
        )


@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-3, 1e-4])
def test_what_is_not_refused_has_its_truth(strength: float) -> None:
    for model in (conditional_pi(strength=strength), full_pi(strength=strength, variables=4)):
        assert model.truth().submodels
    assert epistasis(strength=Fraction(strength), minor=Fraction(1, 5)).truth().submodels


def test_a_truth_that_cannot_be_checked_is_not_told() -> None:
    assert [s.kind for s in parity(variables=10).truth().submodels] == ["full"]
    with pytest.raises(DataError, match="The truth about 13 variables"):
        parity(variables=13).truth()


def test_the_truth_by_name() -> None:
    told = truth_to_json(conditional_pi())
    assert told["variables"] == ["c", "x", "y", "z"]
    assert told["colored_links"] == []
    assert isinstance(told["submodels"], list)
    (submodel,) = told["submodels"]
    assert submodel["total_correlation"] > 0
    assert submodel["hidden"] == pytest.approx(submodel["total_correlation"], abs=1e-9)
    assert submodel["share"]["estimate"] == pytest.approx(1)
    numbers = {"total_correlation", "hidden", "share"}
    assert {key: value for key, value in submodel.items() if key not in numbers} == {
        "variables": ["x", "y", "z"],
        "partition": [["x"], ["y"], ["z"]],
        "kind": "conditional",
        "context": ["c"],
    }
