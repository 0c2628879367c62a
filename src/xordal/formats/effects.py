"""The smallest effect that a search could have shown, for each number of columns."""

from __future__ import annotations

from math import log

from xordal.errors import counted
from xordal.types.learned import Learned

_MOST_SIZES = 6


def smallest_effects(learned: Learned) -> dict[int, float]:
    """Return how many nats columns of two levels must share to be linked at once, by how many they are.

    Empty without rows, and for criteria that know no chance. By the nominal law, at the gain where chances are
    about even.
    """
    from xordal.statistics.discoveries import beta
    from xordal.statistics.significance import smallest_gain

    criterion, k = learned.settings["criterion"], learned.settings["max_links"]
    alpha = criterion.get("alpha") if isinstance(criterion, dict) else None
    m, n_variables = learned.settings.get("max_variables"), len(learned.variables)
    if (
        learned.n_rows is None
        or not isinstance(alpha, int | float)
        or not isinstance(k, int)
        or n_variables < 2
    ):
        return {}
    if isinstance(criterion, dict) and criterion.get("control") == "fdr":
        alpha *= beta(1, n_variables)
    largest = m if isinstance(m, int) else k + 1
    sizes = [
        size for size in range(2, min(largest, n_variables, _MOST_SIZES) + 1) if size * (size - 1) // 2 <= k
    ]
    bounds = (k, largest)
    return {size: smallest_gain(size, n_variables, learned.n_rows, bounds, alpha) for size in sizes}


def smallest_text(learned: Learned) -> str | None:
    """Return the same in words; None where nothing is known of it."""
    found = smallest_effects(learned)
    if not found or learned.n_rows is None:
        return None
    rows, columns = counted(learned.n_rows, "row"), counted(len(learned.variables), "column")
    if found[2] > log(2):
        return f"In {rows} not even two columns that say the same could be seen."
    others = [
        f"{_WORDS[size]} at least {nats:.2g}" for size, nats in found.items() if size > 2 and nats <= log(2)
    ]
    more = f", {', '.join(others)}" if others else ""
    return f"In {rows} of {columns}, two of two levels must share at least {found[2]:.2g} nats{more}"


_WORDS = {3: "three", 4: "four", 5: "five", 6: "six"}
