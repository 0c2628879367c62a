"""Criteria: which candidate is best, and whether it is good enough.

A criterion is what a user chooses. Put to a :class:`Sample` it becomes a :class:`Judge`, which sees the
:class:`Evidence` for a batch of candidates and nothing of the graph or the engine. The search keeps the
candidates it accepts, finds the highest rank among them and takes, of those within the judge's tolerance of it,
the first link set in lexicographic order: ties are normal (XOR is symmetric), rounding must not decide them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf, isfinite
from numbers import Real
from operator import or_
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from xordal.counting.compiled import Kernels
from xordal.counting.oracle import ROUNDING, CellCounter
from xordal.errors import SettingsError
from xordal.graph.chain import Addition
from xordal.types.varsets import LinkSet, SignedSets, VarSet

if TYPE_CHECKING:
    from xordal.statistics.design import SampleDesign


class Evidence(NamedTuple):
    """What the data say about one candidate change of the graph.

    Attributes
    ----------
    variables
        The variable set W that the change completes.
    links
        The links it adds.
    change
        Signed sets it adds to the graph's; the context of W is what else they hold.
    gain
        Entropy decrement in nats.
    dof
        Nominal degrees of freedom: free parameters of ``change``.
    n_rows
        Number of rows behind the gain; None for an exact joint.
    fill_in
        Those of the links that only keep the graph chordal.
    chain
        The links one at a time, each with its separator; empty where only the change is known.
    is_fixed
        Whether the links can only come in the order of the chain, since some are filled in between.
    also
        Further tests that the candidate has to pass: with fill-in, that of its own links where they come in.
        It is accepted when each test accepts it, and ranks by the weakest.
    parts
        Of links that come in together with a fill-in: the chains by which each piece of the set can come last
        (:func:`xordal.graph.pieces.last_to_come`). Of other sets they follow from the change.
    """

    variables: VarSet
    links: LinkSet
    change: SignedSets
    gain: float
    dof: int
    n_rows: int | None
    fill_in: LinkSet = ()
    chain: tuple[Addition, ...] = ()
    is_fixed: bool = False
    also: tuple[Evidence, ...] = ()
    parts: tuple[tuple[Addition, ...], ...] = ()

    @property
    def shape(self) -> Shape:
        """What is known of the candidate without its counts."""
        everything = reduce(or_, self.change, 0)
        n_context = (everything & ~self.variables).bit_count()
        return Shape(self.variables.bit_count(), len(self.links), n_context, self.dof)


class Verdict(NamedTuple):
    """What a criterion says of a candidate: its rank, whether it may enter, its log p-value if it has one.

    ``is_joint`` tells of an accepted one that what only all its variables show is enough.
    """

    rank: float
    is_accepted: bool
    log_p_value: float | None = None
    is_joint: bool = False


class Shape(NamedTuple):
    """What is known of a candidate before anything is counted.

    Attributes
    ----------
    n_variables
        Size of the variable set W that it completes.
    n_links
        Links that it adds.
    n_context
        Other variables that its change holds: what its links are conditioned on.
    dof
        Nominal degrees of freedom.
    part_dof
        Those of the largest part that must be needed (:mod:`xordal.statistics.needed`), or fewer; None where
        only the whole is tested.
    is_odd
        Whether odd cells are tested beside the parts (:mod:`xordal.statistics.oddness`): columns of two levels,
        and no context.
    """

    n_variables: int
    n_links: int
    n_context: int
    dof: int
    part_dof: int | None = None
    is_odd: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """What a criterion may know of the data and of how far the search will look.

    Attributes
    ----------
    n_levels
        Number of levels of each variable.
    n_rows
        Number of rows; None for an exact joint.
    counter
        Counts the cells of variable sets; None for an exact joint.
    max_links
        Largest number of links a candidate may add, the paper's k.
    max_variables
        Largest variable set a candidate may complete.
    design
        What survey weights and clusters do to p-values; None for plain rows.
    check
        To be called several times a second by a judge that works long; it may end that by raising.
    kernels
        Whether a judge may use compiled kernels, where they pay.
    """

    n_levels: tuple[int, ...]
    n_rows: int | None
    counter: CellCounter | None
    max_links: int
    max_variables: int
    design: SampleDesign | None = None
    check: Callable[[], None] = lambda: None
    kernels: Kernels = field(default_factory=Kernels)


class Judge(Protocol):
    """A criterion put to a sample: ranks and accepts candidates."""

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        """Return a verdict for each candidate; a higher rank is better."""
        ...

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the highest rank that each candidate can have, -inf where it cannot be accepted.

        The search asks this of many candidates and :meth:`judge` of the few that may be the best; a judge whose
        verdicts cost little returns their ranks.
        """
        ...

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the highest rank that a candidate of this shape can have at each gain.

        It never falls with the gain, and is -inf where no such candidate is accepted. Scans discard by it, so
        it may be too high, never too low.
        """
        ...

    def least_gain(self, shape: Shape) -> float:
        """Return the gain, in nats, up to which no candidate of a shape is accepted; infinity if none ever is.

        It is where the ceiling leaves -inf, or less; :func:`lowest_accepted` finds it for any ceiling.
        """
        ...

    def tolerance(self, best: float) -> float:
        """Return how far below the best rank a candidate still ties with it."""
        ...

    def log_p_values(self, batch: Sequence[Evidence]) -> list[float] | None:
        """Return the log p-value of each, accepted or not; None for a criterion without p-values."""
        ...

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        """Return whether the data show each of these dependences; where not, it counts as independence.

        The evidence is of single conditional informations. It is one of all that a search may look at, or,
        where ``n_tests`` is given, one of so many within a set that is known to be dependent.
        """
        ...


@runtime_checkable
class BoundsByCounts(Protocol):
    """A judge that can bound ranks better than by gains alone, for less work than judging takes."""

    def nearer(self, batch: Sequence[Evidence]) -> list[float | None]:
        """Return the highest rank that each candidate can have, by its margins; None where gains say all."""
        ...


def lowest_accepted(
    ceiling: Callable[[Shape, NDArray[np.float64]], NDArray[np.float64]], shape: Shape
) -> float:
    """Return the gain up to which a ceiling is -inf for a shape; infinity if it always is.

    Examples
    --------
    >>> round(lowest_accepted(EntropyDecrement(0.25).ceiling, Shape(2, 1, 0, 1)), 9)
    0.25
    """
    low, high = 0.0, 1.0
    while ceiling(shape, np.array([high]))[0] == -inf:
        low, high = high, 2 * high
        if high > 1e6:
            return inf
    if ceiling(shape, np.array([low]))[0] > -inf:
        return low
    while (middle := (low + high) / 2) not in (low, high):
        if ceiling(shape, np.array([middle]))[0] > -inf:
            high = middle
        else:
            low = middle
    return low


class Criterion(Protocol):
    """What a user chooses: a rule that any sample can be put to.

    Attributes
    ----------
    is_score
        Whether ranks add up: what a change of the network is worth does not depend on how it is divided into
        steps. Then there is a best network, and a local search looks for it. What helps a score is not yet a
        dependence, so hidden groups are judged by significance.
    """

    @property
    def is_score(self) -> bool:
        """Whether ranks add up."""
        ...

    def on(self, sample: Sample) -> Judge:
        """Return the judge of candidates in this sample."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the name and the parameters."""
        ...


@dataclass(frozen=True, slots=True)
class EntropyDecrement:
    """The paper's criterion: rank by entropy decrement, accept above a fixed threshold.

    Parameters
    ----------
    delta_h
        Threshold in nats. The paper uses 0.001 for Table 1 and 0.004 for the music box.

    References
    ----------
    Hu & Xiang (1997), section 6, function lookahead, lines 6-8.
    """

    delta_h: float = 0.004
    is_score: ClassVar[bool] = False

    def __post_init__(self) -> None:
        is_number = isinstance(self.delta_h, Real) and not isinstance(self.delta_h, bool)
        if not is_number or not isfinite(self.delta_h) or self.delta_h < 0:
            raise SettingsError(f"delta_h must be zero or a positive number of nats, not {self.delta_h!r}.")

    def on(self, sample: Sample) -> EntropyDecrement:
        """Return itself: nothing depends on the sample."""
        return self

    def judge(self, batch: Sequence[Evidence]) -> list[Verdict]:
        """Rank by gain; accept what is above the threshold by more than rounding."""
        return [Verdict(found.gain, found.gain > self.delta_h + ROUNDING) for found in batch]

    def highest(self, batch: Sequence[Evidence]) -> list[float]:
        """Return the gain where it is above the threshold."""
        return [found.gain if found.gain > self.delta_h + ROUNDING else -inf for found in batch]

    def ceiling(self, shape: Shape, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gain where it is above the threshold."""
        return np.where(gains > self.delta_h + ROUNDING, gains, -inf)

    def least_gain(self, shape: Shape) -> float:
        """Return the threshold."""
        return self.delta_h

    def tolerance(self, best: float) -> float:
        """Return 1e-12 nats, whatever the best gain."""
        return ROUNDING

    def log_p_values(self, batch: Sequence[Evidence]) -> None:
        """Return None: a threshold knows no chance."""

    def depends(self, batch: Sequence[Evidence], n_tests: int | None = None) -> list[bool]:
        """Return whether each is above the threshold: it counts when a link could be learned from it."""
        return [found.gain > self.delta_h + ROUNDING for found in batch]

    def to_json(self) -> dict[str, object]:
        """Return the name and the threshold."""
        return {"name": "EntropyDecrement", "delta_h": self.delta_h}
