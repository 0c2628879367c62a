"""A ranked set says which columns it is of, however wide the table."""

from __future__ import annotations

from xordal.scanning.ranking import RankedSet
from xordal.types.varsets import varset


def test_a_set_of_a_wide_table_can_be_printed() -> None:
    ranked = RankedSet(varset([3, 11, 20_000]), 0.25, 0.125, 1.0, -3.0, -2.0)
    assert (
        repr(ranked) == "RankedSet((3, 11, 20000), interaction=0.125, total_correlation=0.25, p_value=0.0498)"
    )
