"""What a search will cost, before it begins: how many sets its scans look at, and about how long that takes."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt
from time import perf_counter

from xordal.counting.oracle import Bar, Scanner

_LONG = 2_000_000  # sets from which a word on the time is worth having
_FEWEST_TRIED = (
    2_000  # sets that are looked at first to measure how long one takes; beginning costs as much as they
)
_MORE_TRIED = 4  # times as many sets that are tried next, until they take long enough
_ENOUGH = 0.15  # seconds in which so many sets were looked at that beginning no longer counts
_MOST_SHARE = 0.02  # of a scan that is done twice for measuring
_MOST_GAINED = 10.0  # times as quick as measured that sets of the whole table are taken to be, at most
_MOST_SECONDS = 1.0  # of measuring, after which no further size is measured
_ALONE = "for that alone"


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


def seconds_of(scanner: Scanner, n_variables: int, sets: Mapping[int, int], bar: Bar) -> dict[int, float]:
    """Return about how long the scan of each size will take, measured on some of its sets with its own bar.

    With the bar that the search has: one that no set reaches lets a scanner leave most sets early, and sets of
    five columns then seem four to ten times as quick as they are. The largest sets are measured first, as
    most of the time goes into those. After a second the smaller ones are taken to be as slow.
    """
    began, seconds, each = perf_counter(), {}, 0.0
    for m in sorted(sets, reverse=True):
        if perf_counter() - began < _MOST_SECONDS:
            each = _seconds_per_set(scanner, n_variables, m, sets[m], bar)
        seconds[m] = sets[m] * each
    return {m: seconds[m] for m in sets}


def _seconds_per_set(scanner: Scanner, n_variables: int, order: int, n_sets: int, bar: Bar) -> float:
    """Measure how long a set takes, by more and more of them: the first few load what is needed.

    Each time only what is new counts, so that beginning does not. Sets are looked at in runs that differ in
    their last variable, and a run has its own cost; in a whole table runs are longer than in its last columns.
    Were the time of a set ``a + b / columns``, it would follow from the last two measurements. It lies between
    that and the last of them, and their geometric mean is told. In eight tables of 40 to 400 columns, on a
    machine that was busy with other things too, it was 0.6 to 3.5 times what the scans took.
    """
    n_tried, seen = _FEWEST_TRIED, [_measured(scanner, n_variables, order, 1, bar)]
    each: list[tuple[int, float]] = []
    while True:
        seen.append(_measured(scanner, n_variables, order, n_tried, bar))
        (_, n_before, before), (n_columns, n_scanned, took) = seen[-2:]
        if len(seen) > 2 and n_scanned > n_before:  # the first of all may have compiled something
            each.append((n_columns, max(took - before, 0.0) / (n_scanned - n_before)))
        if took >= _ENOUGH or n_scanned >= _MOST_SHARE * n_sets:
            break
        n_tried *= _MORE_TRIED
    if len(each) < 2:
        return each[-1][1] if each else took / max(n_scanned, 1)
    (fewer, slow), (more, quick) = each[-2:]
    beside = (slow - quick) / (1 / fewer - 1 / more)
    whole = max(quick - beside * (1 / more - 1 / n_variables), quick / _MOST_GAINED)
    return sqrt(quick * whole)


def _measured(scanner: Scanner, n_variables: int, order: int, n_sets: int, bar: Bar) -> tuple[int, int, float]:
    """Look at the sets of the last columns, so many or more; return how many columns and sets, and the time."""
    first = n_variables - order
    while first > 0 and comb(n_variables - first, order) < n_sets:
        first -= 1
    began = perf_counter()
    n_scanned = sum(block.n_scanned for block in scanner.scan(order, bar, done=range(max(first, 0))))
    return n_variables - max(first, 0), n_scanned, perf_counter() - began


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
