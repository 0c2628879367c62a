"""What a search will cost, before it begins: how many sets its scans look at, and about how long that takes."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, inf
from time import perf_counter

from xordal.counting.oracle import Scanner

_LONG = 2_000_000  # sets from which a word on the time is worth having
_TRIED = 200_000  # sets looked at to measure how long one takes
_ALONE = "for that alone"
_MOST_SECONDS = 1.0  # of measuring, after which no further size is measured


def sets_to_scan(n_variables: int, max_links: int, max_variables: int | None) -> dict[int, int]:
    """Return how many sets of each size a search scans.

    Examples
    --------
    >>> sets_to_scan(1000, max_links=3, max_variables=None)
    {2: 499500, 3: 166167000}
    """
    largest = n_variables if max_variables is None else min(max_variables, n_variables)
    return {m: comb(n_variables, m) for m in range(2, largest + 1) if comb(m, 2) <= max_links}


def is_long(sets: Mapping[int, int]) -> bool:
    """Whether scans take long enough to say so beforehand."""
    return sum(sets.values()) > _LONG


def seconds_of(scanner: Scanner, n_variables: int, sets: Mapping[int, int]) -> dict[int, float]:
    """Return about how long the scan of each size will take, measured on some of its sets.

    Measuring itself takes a second or two at most: larger sets are then taken to be as quick as smaller ones.
    """
    began, seconds, each = perf_counter(), {}, 0.0
    for m, n_sets in sets.items():
        if perf_counter() - began < _MOST_SECONDS:
            each = max(each, _seconds_per_set(scanner, n_variables, m))
        seconds[m] = n_sets * each
    return seconds


def _seconds_per_set(scanner: Scanner, n_variables: int, order: int) -> float:
    """Measure how long a set takes: some, after as many that load what is needed; more if these are quick."""
    _measured(scanner, n_variables, order, _TRIED // 100)
    each = _measured(scanner, n_variables, order, _TRIED // 100)
    return _measured(scanner, n_variables, order, _TRIED) if each * _TRIED < _MOST_SECONDS / 2 else each


def _measured(scanner: Scanner, n_variables: int, order: int, n_sets: int) -> float:
    """Return the seconds for one of the last sets: those that begin with the highest variables."""
    first = n_variables - order
    while first > 0 and comb(n_variables - first, order) < n_sets:
        first -= 1
    began = perf_counter()
    scanned = scanner.scan(order, lambda levels: inf, done=range(max(first, 0)))
    n_scanned = sum(block.n_scanned for block in scanned)
    return (perf_counter() - began) / max(n_scanned, 1)


def cost_text(sets: Mapping[int, int], seconds: float) -> str:
    """Say what a search will cost.

    Examples
    --------
    >>> cost_text({2: 499500, 3: 166167000}, 6.2)
    '499,500 sets of 2 columns and 166,167,000 of 3 to look at: about 6 s for that alone'
    """
    (first, n_first), *others = sets.items()
    numbers = [f"{n_first:,} sets of {first} columns", *(f"{n_sets:,} of {m}" for m, n_sets in others)]
    return f"{' and '.join(numbers)} to look at: about {time_text(seconds)} {_ALONE}"


def is_cost(line: str) -> bool:
    """Whether a note is what :func:`cost_text` says: whoever shows the time left need not show it."""
    return line.endswith(_ALONE)


def time_text(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> time_text(6.2), time_text(200), time_text(20000), time_text(1e6)
    ('6 s', '3 min', '6 h', '12 days')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"
