"""The collector of garbage runs less often while a network is learned, and as before afterwards."""

import gc

import pytest

from xordal.search.collector import rarely_collected


@pytest.mark.parametrize("threshold", [700, 0, 10**6])
def test_the_threshold_is_what_it_was(threshold: int) -> None:
    default = gc.get_threshold()
    try:
        gc.set_threshold(threshold, 11, 12)
        with pytest.raises(KeyError), rarely_collected():
            assert gc.get_threshold() == (100_000 if threshold == 700 else threshold, 11, 12)
            raise KeyError
        assert gc.get_threshold() == (threshold, 11, 12)
    finally:
        gc.set_threshold(*default)
