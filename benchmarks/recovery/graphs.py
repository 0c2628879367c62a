"""Exact graphs: how often the default settings, only k or m set, learn the very graph of a model.

A run counts when the learned links are those of the model and no others; columns of noise beside a model have
as many levels as it has, all equally likely. *Before* is commit 39b992e, in the same samples (`--before` names
the folder src/ of a version): it tested sets as a whole, and used less of the level.

Table 1 is learned column by column. That looking for larger sets costs little takes level from columns that
join linked ones (docs/statistics.md, "Asking further"); that a link which is shown by itself passes its level
on to them gives it back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.recovery.study import markdown, parser_of, publish, share_text, table_of
from benchmarks.recovery.versions import Version, links_of, with_before
from xordal import CategoricalTable
from xordal.pi.zoo import build, music_box, table_1
from xordal.pi.zoo.model import Model
from xordal.types.varsets import LinkSet


@dataclass(frozen=True)
class Task:
    """A model, the noise columns beside it, and how far the search looks."""

    name: str
    model: Callable[[], Model]
    n_noise: int = 0
    max_links: int | None = None
    max_variables: int | None = None

    @property
    def settings(self) -> dict[str, int | None]:
        """What learning is told."""
        return {"max_links": self.max_links, "max_variables": self.max_variables}

    def sample(self, n_rows: int, seed: int) -> CategoricalTable:
        """Draw one random sample, noise columns included."""
        sample = self.model().joint.sample_table(n_rows, seed=seed)
        generator = np.random.default_rng([seed, 97])
        noise = generator.integers(max(sample.n_levels), size=(self.n_noise, n_rows))
        return table_of([*sample.codes, *noise])

    def learned(self, n_rows: int, seed: int) -> LinkSet:
        """Learn from one random sample and return the links."""
        return links_of(self.sample(n_rows, seed), self.settings)

    def is_exact(self, n_rows: int, seed: int) -> bool:
        """Whether one run learns the model's graph and nothing else."""
        return self.learned(n_rows, seed) == self.model().graph.links


def zoo(name: str, **parameters: int | str) -> Callable[[], Model]:
    """Return a maker of a model of the zoo."""
    return partial(build, name, {key: str(value) for key, value in parameters.items()})


TASKS = [
    Task("music box, k=3", music_box, max_links=3),
    Task("XOR of 3 among 20, k=3", zoo("parity", variables=3, noise=0), 17, max_links=3),
    Task("parity of 4, 5 % noise, among 12, m=4", zoo("parity", variables=4), 8, max_variables=4),
    Task("z = (x + y) mod 3 among 6, k=3", zoo("modulus"), 3, max_links=3),
    Task("Table 1, k=3", table_1, max_links=3),
    Task("embedded, 10 variables, 5 % noise, k=3", zoo("embedded"), max_links=3),
]
ROWS = (500, 2000)


def study(runs: int, only: str = "", before: Version | None = None) -> str:
    """Return the table of all tasks."""
    heading = ["model", "runs", *(f"exact graph, n={n} (95 % interval)" for n in ROWS)]
    heading += [] if before is None else [f"before, n={n}" for n in ROWS]
    searches = [links_of, *([] if before is None else [before.links_of])]
    rows = []
    for task in TASKS:
        if only in task.name:
            true = task.model().graph.links
            samples = [[task.sample(n, seed) for seed in range(runs)] for n in ROWS]
            found = [
                [sum(search(table, task.settings) == true for table in some) for some in samples]
                for search in searches
            ]
            others = [f"{100 * exact / runs:.0f} %" for some in found[1:] for exact in some]
            rows.append([task.name, str(runs), *(share_text(exact, runs) for exact in found[0]), *others])
            print(*rows[-1], flush=True)
    return markdown(heading, rows)


def main() -> None:
    """Measure, and write the page."""
    parser = parser_of("How often the exact graph is learned", runs=100)
    chosen = with_before(parser).parse_args()
    with ExitStack() as stack:
        before = None if chosen.before is None else stack.enter_context(Version(chosen.before))
        publish(__doc__, study(chosen.runs, chosen.only, before), chosen.output)


if __name__ == "__main__":
    main()
