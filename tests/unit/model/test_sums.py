"""Sums of additive rules, whatever type codes have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xordal.model.sums import UNKNOWN, sums_of
from xordal.types.rules import AdditiveRule


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int32, np.int64])
def test_codes_of_any_type_are_summed(kind: type[np.integer[Any]]) -> None:
    rule = AdditiveRule((0, 1), 5, ((0, 1, 2), (0, 3, None)), 4, 100, 0, 0.2, -9.0)
    codes = np.array([[0, 1, 2, 2], [0, 1, 1, 2]], dtype=kind)
    assert sums_of(rule, codes, [0, 1]).tolist() == [4, 3, 4, UNKNOWN]
