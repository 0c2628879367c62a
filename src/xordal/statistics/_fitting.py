"""The kernel of :mod:`xordal.statistics.fitting`: rounds of proportional fitting, the same to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from xordal.counting._jit import rounded_kernel


@rounded_kernel
def fit_in_rounds(
    wanted: Any,
    of_cells: Any,
    n_cells: Any,
    n_rounds: int,
    asked_every: int,
    bars: Any,
    fitted: Any,
    is_left: Any,
) -> None:
    """Fit each table to its margins, and say which ones are not done.

    Row by row ``of_cells`` has the cells of one margin that those of the table lie in, of which there are
    ``n_cells``. A cell is put right by one margin and added to the next in one go.
    """
    n_views, size = of_cells.shape
    goals, now = np.zeros((n_views, n_cells.max())), np.zeros(n_cells.max())
    ratios = np.zeros(n_cells.max())
    for t in range(len(wanted)):
        goals[:] = 0.0
        for view in range(n_views):
            for cell in range(size):
                goals[view, of_cells[view, cell]] += wanted[t, cell]
        fitted[t] = 1.0
        now[: n_cells[0]] = 0.0
        for cell in range(size):
            now[of_cells[0, cell]] += fitted[t, cell]
        is_left[t] = True
        for number in range(n_rounds):
            off = 0.0
            for view in range(n_views):
                for place in range(n_cells[view]):
                    off = max(off, abs(now[place] - goals[view, place]))
                    ratios[place] = goals[view, place] / now[place] if now[place] > 0 else 0.0
                following = (view + 1) % n_views
                now[: n_cells[following]] = 0.0
                for cell in range(size):
                    fitted[t, cell] *= ratios[of_cells[view, cell]]
                    now[of_cells[following, cell]] += fitted[t, cell]
            if number % asked_every == asked_every - 1 and off <= bars[t]:
                is_left[t] = False
                break
