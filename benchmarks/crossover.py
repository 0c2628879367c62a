"""Where compiled kernels begin to pay: NumPy's cost per set beside what a new process pays to load them.

``python -m benchmarks.crossover`` prints the costs, and from how many sets of three variables on the kernels
are faster; the constants of :mod:`xordal.counting.select` come from here.
"""

from __future__ import annotations

import tempfile
from itertools import combinations, islice

from benchmarks.scan import N_COLUMNS, seconds, started_anew, table_of
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.counting.select import seconds_of_numpy
from xordal.types.varsets import varset


def main() -> None:
    """Print the costs."""
    with tempfile.TemporaryDirectory() as cache:
        started_anew(cache)
        loading = min(started_anew(cache) for _ in range(3))
    print(f"a new process loads the kernels in {loading:.2f} s")
    sets = [varset(chosen) for chosen in islice(combinations(range(N_COLUMNS), 3), 200)]
    print("    rows   NumPy, us/set   as estimated   kernels pay from")
    for n_rows in (100, 1_000, 10_000, 100_000, 1_000_000):
        table = table_of(n_rows, 2)
        counter = NumpyCounter(table)
        some = sets[: max(10, min(200, 10**7 // n_rows))]
        cost = min(seconds(lambda c=counter, s=some: c.entropies(s)) for _ in range(3)) / len(some)  # type: ignore[misc]
        estimate = seconds_of_numpy(table, 1)
        print(f"{n_rows:>8,} {cost * 1e6:>15.0f} {estimate * 1e6:>14.0f} {loading / cost:>13,.0f} sets")


if __name__ == "__main__":
    main()
