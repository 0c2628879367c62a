"""The library engine beside the reference, in one run: the same trace, and the ratio of their times.

``make bench`` prints both engines of a task together; the reference is the slower one's measure.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from xordal import CategoricalTable, EntropyDecrement, Learned, learn
from xordal.pi.zoo import music_box, table_1
from xordal.types.choices import EngineName

Task = Callable[[EngineName], Learned]


def task(table: CategoricalTable, k: int, delta_h: float) -> Task:
    def run(engine: EngineName) -> Learned:
        return learn(table, max_links=k, criterion=EntropyDecrement(delta_h), schedule="as_run", engine=engine)

    return run


TASKS: dict[str, Task] = {
    "Table 1, 100 rows, k=2": task(table_1().joint.exact_table(), 2, 0.001),
    "music box, 1000 rows, k=3": task(music_box().joint.exact_table(), 3, 0.004),
    "music box, 2000 random rows, k=3": task(music_box().joint.sample_table(2000, seed=0), 3, 0.004),
}
ENGINES: list[EngineName] = ["fast", "reference"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", TASKS)
def test_engine(benchmark: BenchmarkFixture, task: str, engine: EngineName) -> None:
    learned: Learned = benchmark.pedantic(  # type: ignore[no-untyped-call]
        TASKS[task], args=(engine,), rounds=3, iterations=1, warmup_rounds=1
    )
    steps = [(entry.lookahead, entry.links, entry.graphs_tested) for entry in learned.trace]
    assert steps == [(entry.lookahead, entry.links, entry.graphs_tested) for entry in TASKS[task]("fast").trace]
    benchmark.extra_info["graphs_tested"] = learned.run.graphs_tested
