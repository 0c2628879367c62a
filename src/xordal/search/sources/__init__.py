"""Where candidates come from.

A source knows where to look for variable sets that may become candidates: in a scan of all sets of one size
(:mod:`~xordal.search.sources.scanned`), around the links of the graph (:mod:`~xordal.search.sources.around`),
or around links and in a scan (:mod:`~xordal.search.sources.extended`). It answers one question:

    source.fresh(change)  ->  the sets that the change may have brought up, each with the highest rank it can
    have

It may name sets that turn out not to be legal, sets it has named before and ranks that are too high. It must
not leave out a set that the change made a candidate, or to which it gave another gain. Legality, rules, scores
and verdicts are none of its business: :mod:`~xordal.search.completing` and the judge see to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from xordal.search.sources.bounded import BoundedSets
from xordal.search.state import Change


class Tell(Protocol):
    """Called now and then with the number of sets looked at since; it may end the search by raising."""

    def __call__(self, n_sets: int, scanned: int = 0, /) -> None:
        """Count sets; those of a scan of all sets of one size, ``scanned``, tell how much of it is left."""
        ...


class Source(Protocol):
    """Finds variable sets that may be candidates."""

    def fresh(self, change: Change) -> Iterable[BoundedSets]:
        """Yield the sets that a change may have made candidates, or given another gain."""
        ...
