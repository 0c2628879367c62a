"""Write the tables of the tutorials anew: ``python docs/tables/make.py``. A seed gives the same file."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def parts(n_rows: int = 2000, seed: int = 7) -> list[list[str]]:
    """Return inspected parts: the glue of one supplier fails on one line, and that of the other on the other.

    Neither line nor supplier shows it alone. The rest is as tables are: an identifier, dates, numbers with a
    comma for thousands, and 8 % of the cells of four columns missing.
    """
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(1, n_rows + 1):
        line, supplier = draw.choice(["L1", "L2"]), draw.choice(["Acme", "Borg"])
        is_bad = draw.random() < (0.31 if (line == "L1") == (supplier == "Acme") else 0.05)
        made = date(2026, 1, 5) + timedelta(days=int(draw.integers(0, 90)))
        cells = [
            f"P-{number:05}",
            made.isoformat(),
            str(line),
            str(supplier),
            str(draw.choice(["early", "late", "night"])),
            f"{draw.normal(181, 2.5):.1f}",
            f"{draw.normal(1250, 60):,.0f}",
            "yes" if is_bad else "no",
        ]
        missing = draw.random(len(cells)) < 0.08
        rows.append(["" if missing[k] and k in (2, 4, 5, 6) else cell for k, cell in enumerate(cells)])
    return rows


def main() -> None:
    """Write the tables beside this file."""
    with (HERE / "parts.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["part", "made", "line", "supplier", "shift", "oven_temp", "pressure", "defect"])
        out.writerows(parts())


if __name__ == "__main__":
    main()
