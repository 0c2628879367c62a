"""What chance gives an interaction depends on counts, and not on names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from xordal.statistics.interaction import moments_of_interaction, moments_of_sharing


@pytest.mark.parametrize("moments", [moments_of_interaction, moments_of_sharing])
def test_names_and_order_of_columns_and_levels_do_not_matter_to_chance(
    moments: Callable[[NDArray[np.float64], int], tuple[float, float]],
) -> None:
    table = np.random.default_rng(0).integers(0, 4, (2, 3, 2)).astype(np.float64)
    assert moments(table[:, ::-1].transpose(1, 2, 0), 50) == moments(table, 50)
