"""What learning returns: a network over named variables, and how stable it is in resamples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from xordal.types.groups import Submodel
from xordal.types.rules import AdditiveRule
from xordal.types.trace import SearchRun, Trace
from xordal.types.varsets import Link, LinkSet, VarSet, members


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned network over named variables, how it was found and what it took.

    ``links``, ``cliques`` and ``submodels`` hold variable numbers; :meth:`names` turns them into column names.
    ``colored_links`` are those between variables of a PI submodel that look independent as a pair. Both are
    None where an interruption or a limit ended the look for them. ``submodels_up_to`` is set where cliques were
    too large to look at all their subsets: then only those of up to this many variables, and whole cliques,
    were. ``n_following`` counts the sets with a hidden part that follows from the submodels listed. ``n_rows``
    is None where an exact joint was learned; ``seconds`` is the time of the search. ``copies`` are pairs of a
    column and one that says the same in every row, maybe in other words; by significance the second is linked
    with the first at most, which stands for both. ``levels`` are those of each variable, where they are known:
    the functions of rules are in their order.
    """

    variables: tuple[str, ...]
    links: LinkSet
    cliques: tuple[tuple[int, ...], ...]
    run: SearchRun
    settings: Mapping[str, object]
    n_rows: int | None
    seconds: float = field(compare=False)
    submodels: tuple[Submodel, ...] | None = None
    colored_links: LinkSet | None = None
    submodels_up_to: int | None = None
    copies: LinkSet = ()
    levels: tuple[tuple[Hashable, ...], ...] | None = field(default=None, compare=False, repr=False)
    n_following: int = 0

    @property
    def trace(self) -> Trace:
        """The learned link sets in order."""
        return self.run.trace

    @property
    def rules(self) -> tuple[AdditiveRule, ...]:
        """The additive rules, in the order of the trace."""
        return tuple(entry.rule for entry in self.trace if entry.rule is not None)

    @property
    def filled_links(self) -> LinkSet:
        """Those of the links that came in to keep the graph chordal."""
        filled: dict[Link, bool] = {}
        for entry in self.trace:
            filled.update((link, entry.action == "add" and link in entry.fill_in) for link in entry.links)
        return tuple(sorted(link for link, is_filled in filled.items() if is_filled))

    def names(self, variables: Iterable[int] | VarSet) -> tuple[str, ...]:
        """Return the column names of some variables, given by their numbers or as a set."""
        numbers = members(variables) if isinstance(variables, int) else variables
        return tuple(self.variables[v] for v in numbers)


@dataclass(frozen=True, slots=True)
class Stability:
    """In which share of resamples links and hidden groups were learned.

    Attributes
    ----------
    n_samples
        Number of resamples.
    seed
        Of their random numbers.
    links
        Share of the resamples whose network has the link; links that none has are left out.
    submodels
        Share of the resamples in which these variables, with their context, are a hidden group.
    """

    n_samples: int
    seed: int
    links: dict[Link, float]
    submodels: dict[VarSet, float]
