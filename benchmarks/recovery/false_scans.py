"""False findings of scans: how often the best set of columns without any dependence is called significant.

The promise is a share of about 5 % of tables whose best set has a corrected p-value below 5 %. Tables of few
rows per cell are where the nominal law fails; below twenty rows per cell p-values are simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.recovery.false_sets import many_levels
from benchmarks.recovery.study import arguments, markdown, publish, repeat, share_text
from xordal import scan


@dataclass(frozen=True)
class Setting:
    """Columns of equally likely levels, and the size of the sets."""

    n_columns: int
    n_levels: int
    n_rows: int
    order: int

    @property
    def name(self) -> str:
        """What is scanned."""
        return f"{self.n_columns} columns of {self.n_levels} levels, n={self.n_rows}, sets of {self.order}"

    def is_false(self, seed: int) -> bool:
        """Whether the best set of one table is called significant."""
        table = many_levels(
            self.n_columns, self.n_levels, self.n_rows, np.random.default_rng([seed, 1997, self.n_rows])
        )
        return scan(table, order=self.order, top=1).sets[0].p_corrected < 0.05


SETTINGS = [
    Setting(10, 6, 200, 2),
    Setting(20, 2, 100, 3),
    Setting(6, 3, 150, 3),
    Setting(6, 3, 200, 3),
    Setting(6, 3, 400, 3),
    Setting(6, 3, 1000, 3),
    Setting(12, 3, 200, 3),
    Setting(6, 4, 500, 3),
    Setting(8, 2, 60, 4),
    Setting(8, 2, 200, 4),
]


def study(runs: int, workers: int, only: str = "") -> str:
    """Return the table of all settings."""
    rows = []
    for setting in SETTINGS:
        if only in setting.name:
            false = sum(repeat(setting.is_false, range(runs), workers))
            per_cell = f"{setting.n_rows / setting.n_levels**setting.order:.1f}"
            rows.append((setting.name, per_cell, runs, false, share_text(false, runs)))
            print(*rows[-1], flush=True)
    heading = ("columns without dependences", "rows per cell", "runs", "false", "share (95 % interval)")
    return markdown(heading, rows)


if __name__ == "__main__":
    chosen = arguments("How often a scan calls something significant where there is nothing", runs=400)
    publish(__doc__, study(chosen.runs, chosen.workers, chosen.only), chosen.output)
