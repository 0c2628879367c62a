"""No false sets: how often anything is learned from columns that have nothing to do with each other.

The promise is a share of at most alpha = 5 % of runs. Some settings have a true network beside noise columns;
there a run counts when a link to one of these is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text, table_of
from xordal import CategoricalTable, Learned, learn
from xordal.pi.zoo import music_box

Draw = Callable[[np.random.Generator], CategoricalTable]


def coins(n_columns: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Fair coins."""
    return table_of(list(generator.integers(2, size=(n_columns, n_rows))))


def skewed(n_columns: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Two levels; the rarer has a share from 50 % down to 1 %."""
    shares = np.geomspace(0.01, 0.5, n_columns)
    return table_of([generator.random(n_rows) < share for share in shares])


def rare(n_columns: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Two levels, the rarer with a share of 1 % in every column."""
    return table_of([generator.random(n_rows) < 0.01 for _ in range(n_columns)])


def mixed(n_columns: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Two to five levels, of shares drawn at random."""
    columns = []
    for place in range(n_columns):
        shares = generator.dirichlet(np.full(2 + place % 4, 3.0))
        columns.append(generator.choice(len(shares), size=n_rows, p=shares))
    return table_of(columns)


def many_levels(n_columns: int, n_levels: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Equally likely levels."""
    return table_of(list(generator.integers(n_levels, size=(n_columns, n_rows))))


def with_identifier(n_columns: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Draw an identifier, another that each two rows share, and coins."""
    number = np.arange(n_rows)
    return table_of([number, number // 2, *generator.integers(2, size=(n_columns - 2, n_rows))])


def box_and_noise(n_noise: int, n_rows: int, generator: np.random.Generator) -> CategoricalTable:
    """Draw the music box and fair coins."""
    box = music_box().joint.sample_table(n_rows, seed=int(generator.integers(2**31)))
    return table_of([*box.codes, *generator.integers(2, size=(n_noise, n_rows))])


@dataclass(frozen=True)
class Setting:
    """What is drawn, how far the search looks, and how many of the first columns may be linked."""

    name: str
    draw: Draw
    max_links: int | None = None
    max_variables: int | None = None
    n_true: int = 0

    def is_false(self, seed: int) -> bool:
        """Whether one run learns a link that it should not."""
        table = self.draw(np.random.default_rng([seed, 1997]))
        return any(v >= self.n_true for _, v in self.learned(table).links)

    def learned(self, table: CategoricalTable) -> Learned:
        """Learn at default settings."""
        return learn(table, max_links=self.max_links, max_variables=self.max_variables)


def _twenty_columns() -> list[Setting]:
    found = []
    for draw in (coins, skewed, rare, mixed):
        for n_rows in (500, 5000):
            for k, m in ((3, None), (None, 4)):
                name = f"N=20, n={n_rows}, {draw.__name__}, {f'k={k}' if k else f'm={m}'}"
                found.append(Setting(name, partial(draw, 20, n_rows), k, m))
    return found


SETTINGS = [
    *_twenty_columns(),
    Setting("pairs of 20 levels, N=10, n=1000", partial(many_levels, 10, 20, 1000), 1),
    Setting("pairs of 50 levels, N=10, n=3000", partial(many_levels, 10, 50, 3000), 1),
    Setting("triples of 15 levels, N=6, n=5000", partial(many_levels, 6, 15, 5000), 3),
    Setting("quadruples of 5 levels, N=8, n=1000", partial(many_levels, 8, 5, 1000), None, 4),
    Setting("identifiers and coins, N=10, n=1000", partial(with_identifier, 10, 1000), 3),
    Setting("music box and 12 coins, n=500", partial(box_and_noise, 12, 500), 3, None, 8),
    Setting("music box and 12 coins, n=2000", partial(box_and_noise, 12, 2000), 3, None, 8),
    Setting("N=100, n=500, coins, k=3", partial(coins, 100, 500), 3),
]


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all settings."""
    rows = []
    for setting in SETTINGS:
        if only in setting.name:
            false = sum(repeat(setting.is_false, range(runs), workers))
            rows.append((setting.name, runs, false, share_text(false, runs)))
            print(*rows[-1], flush=True)
    return markdown(("columns without links", "runs", "with a false link", "share (95 % interval)"), rows)


if __name__ == "__main__":
    chosen = arguments("How often anything is learned where there is nothing", runs=200)
    publish(__doc__, study(chosen.runs, chosen.workers, chosen.only), chosen.output)
