"""Passes, execution chain and forest of real runs and of the paper's example."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import tables
from xordal import CategoricalTable, EntropyDecrement, learn
from xordal.pi.complexity import bound_on_steps, costs, execution_chain, execution_forest
from xordal.pi.zoo import music_box
from xordal.search.passes import passes
from xordal.search.schedule import Schedule
from xordal.types.choices import ScheduleName


@given(
    tables(max_variables=5),
    st.integers(1, 4),
    st.sampled_from(["printed", "as_run", "straightforward", "single"]),
)
def test_passes_account_for_every_graph_tested(table: CategoricalTable, k: int, name: ScheduleName) -> None:
    learned = learn(table, max_links=k, schedule=name)
    replayed = passes(learned.trace, Schedule(name, k), table.n_variables)
    assert sum(p.steps for p in replayed) == learned.run.graphs_tested
    assert [p.learned for p in replayed if p.learned] == [entry.links for entry in learned.trace]
    running = 0
    counts = []
    for p in replayed:
        running += p.steps
        if p.learned:
            counts.append(running)
    assert counts == [entry.graphs_tested for entry in learned.trace]
    for cost in costs(replayed, table.n_variables):
        assert cost.learning_passes <= cost.most_learning_passes
        assert cost.steps <= cost.passes * cost.most_steps


def test_the_music_box_stays_far_below_the_bound() -> None:
    learned = learn(music_box().joint, criterion=EntropyDecrement(0.004), schedule="as_run")
    replayed = passes(learned.trace, Schedule("as_run", 3), 8)
    assert [(cost.lookahead, cost.learning_passes) for cost in costs(replayed, 8)] == [(1, 3), (2, 3), (3, 1)]
    assert sum(p.steps for p in replayed) == 3583 < bound_on_steps(8, 3) == 8**8
    assert execution_chain(replayed)[:4] == (1, 1, 1, 1)


def test_the_paper_example_of_a_forest() -> None:
    """Section 5: the first 2 is the parent of the first four 1s, the first 3 that of the first three 2s."""
    chain = (1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 3)
    parents = execution_forest(chain)
    assert parents[:4] == (4, 4, 4, 4)
    assert parents[4:7] == (11, 11, 11)
    assert parents[7:10] == (10, 10, 10)
    assert parents[10:] == (11, None)


@given(st.lists(st.integers(1, 4), max_size=30))
def test_parents_come_later_and_one_level_up(chain: list[int]) -> None:
    for place, parent in enumerate(execution_forest(chain)):
        higher = [p for p in range(place + 1, len(chain)) if chain[p] == chain[place] + 1]
        assert parent == (higher[0] if higher else None)
