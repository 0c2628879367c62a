"""Rows of a file that hold no value: lines that part a table, or rows whose values all happen to be missing.

The first are no rows and are left out. Leaving out the second makes gaps depend on each other: where 60 % of
the values of five columns are missing, whatever their columns, one row in thirteen holds nothing. Without these
rows a gap in one column makes gaps in the others rarer, and a search rightly finds links between the gaps. So
they stay where gaps that have nothing to do with each other bring about half of them or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xordal.errors import counted, warn

_ROUNDS = 1000  # each comes nearer to the answer; what is not reached by then is off by less than one row


def are_kept(n_blank: int, n_filled: int, n_missing: Sequence[int], label: str) -> bool:
    """Whether rows without any value stay, and say what becomes of them.

    ``n_missing`` has how many values of each column are missing in the ``n_filled`` other rows.
    """
    if not n_blank:
        return False
    if 2 * by_chance(n_filled, n_missing, n_blank) < n_blank:
        warn(f"{label}: {_hold(n_blank)} no value; left out.")
        return False
    chance = "about as many as come about by chance where so much is missing"
    warn(f"{label}: {_hold(n_blank)} no value, {chance}; kept.")
    return True


def by_chance(n_filled: float, n_missing: Sequence[float], most: float) -> float:
    """Return how many rows without any value independent gaps bring; what is above ``most`` may be more.

    Only the other rows are counted: the number is the one that, added to them, makes gaps of all columns go
    together as independent ones do. Of 1,000 rows that miss 60 % of the values of two columns, 360 hold
    nothing, and of the 640 others 240 miss one column and 240 the other:

    Examples
    --------
    >>> round(by_chance(640, [240, 240], 1000))
    360
    >>> by_chance(640, [0, 10], 1000)
    0.0
    """
    expected = 0.0
    for _ in range(_ROUNDS):
        n_rows = n_filled + expected
        more = n_rows * prod((each + expected) / n_rows for each in n_missing)
        if more > most or more - expected < 1e-6:
            return more
        expected = more
    return expected


def _hold(number: int) -> str:
    return f"{counted(number, 'row')} {'hold' if number > 1 else 'holds'}"
