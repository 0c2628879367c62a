"""Sets that links hold together, listed by kernels as in plain Python."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from tests.oracle.test_local import grown_graph, random_problem
from xordal.search.constraints import ALL_ALLOWED, Allowed
from xordal.search.sources.around import BY_COMPONENT, HeldSets
from xordal.search.state import GraphState
from xordal.types.varsets import VarSet, members


@pytest.mark.parametrize(("n", "is_ruled"), [(5, False), (17, True), (70, False)])
@pytest.mark.slow
def test_kernels_list_the_same_sets(n: int, is_ruled: bool) -> None:
    """In the same order, as often told of; the value of each says its chain."""
    generator = np.random.default_rng(n)
    graph = grown_graph(n, generator)
    allowed = (
        Allowed(forbidden=(VarSet(0b10), VarSet(0b01), *[VarSet(0)] * (n - 2))) if is_ruled else ALL_ALLOWED
    )
    problem = random_problem(4, 0, 1.0, allowed)
    around = VarSet(sum(1 << v for v in generator.permutation(n)[: min(n // 2, 12)].tolist()))
    n_legal = 0
    for size in range(2, 5):
        for n_missing in range(comb(size, 2) + 1):
            told: list[int] = []
            held = HeldSets(problem, GraphState(graph), told.append, BY_COMPONENT, (size, n_missing))
            plain, n_plain = list(held._plainly(around)), sum(told)
            compiled = list(held._by_kernels(around))
            assert [s for s, _ in compiled] == [s for s, _ in plain]
            assert sum(told) == 2 * n_plain
            for (_, chain), (_, completed) in zip(compiled, plain, strict=True):
                assert chain == steps_of(graph.n_vertices, completed)
            n_legal += len(plain)
    assert n_legal > 3


def steps_of(n: int, found: object) -> bytes:
    n_bytes = 8 * -(-n // 64)
    steps = [
        (step.x << 32 | step.y).to_bytes(8, "little") + int(step.separator).to_bytes(n_bytes, "little")
        for step in found.chain  # type: ignore[attr-defined]
    ]
    return b"".join(steps)


def test_room_for_the_sets_of_one_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = grown_graph(40, np.random.default_rng(1))
    held = HeldSets(random_problem(4, 0, 1.0), GraphState(graph), lambda n: None, BY_COMPONENT, (3, 1))
    around = VarSet((1 << 40) - 1)
    expected = list(held._by_kernels(around))
    monkeypatch.setattr("xordal.search.sources.around._BLOCK", 1)
    assert list(held._by_kernels(around)) == expected
    assert all(len(members(s)) == 3 for s, _ in expected)
