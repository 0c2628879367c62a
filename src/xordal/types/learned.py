"""What learning returns: a network over named variables, and how stable it is in resamples.

:class:`Learned` is a value like the others here. Its methods are doors: each calls, by a late import, the part
of the library that answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xordal.errors import SettingsError
from xordal.types.groups import NamedSubmodel, Submodel, named_submodel
from xordal.types.rules import AdditiveRule
from xordal.types.trace import SearchRun, Trace
from xordal.types.varsets import Link, LinkSet, VarSet, members

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork, Given, Likely
    from xordal.model.smoothing import Smoothing


_OF_NETWORKS = (
    "sample",
    "predict",
    "predict_proba",
    "impute",
    "score_rows",
    "save",
    "export",
    "marginals",
    "probability",
    "most_probable",
)
"""What a network does that needs the probabilities, which are counted only when they are asked for."""


@dataclass(frozen=True, slots=True, repr=False)
class Learned:
    """A learned network over named variables, how it was found and what it took.

    ``links``, ``cliques`` and ``submodels`` hold variable numbers; :meth:`names` turns them into column names.
    ``colored_links`` are those between variables of a PI submodel that look independent as a pair. Both are
    None where an interruption or a limit ended the look for them. ``submodels_up_to`` is set where cliques were
    too large to look at all their subsets: then only those of up to this many variables, and whole cliques,
    were. ``n_following`` counts the sets with a hidden part that are parts of the submodels listed or follow
    from them, from links or from rules; ``n_unexamined`` those that were left when many were listed. ``n_rows``
    is None where an exact joint was learned; ``seconds`` is the time of all of it, ``run.phases`` of each part.
    ``copies`` are pairs of a column and one that says the same in every row, maybe in other words; by
    significance the second is linked with the first at most, which stands for both. ``levels`` are those of
    each variable, where they are known: the functions of rules are in their order. ``table`` is what was
    learned from, from which :meth:`network` and all that follows are made; None for an exact joint, and in what
    is read from a file. ``gain_ranges`` are the 95 % ranges of what the steps of the trace gain, None for links
    taken out and rules; empty for an exact joint and under survey weights.

    Examples
    --------
    >>> from xordal import learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> learned = learn({name: list(column) for name, column in zip("abc", zip(*rows))})
    >>> learned.groups[0].variables, learned.named_links
    (('a', 'b', 'c'), (('a', 'b'), ('a', 'c'), ('b', 'c')))
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
    n_unexamined: int = 0
    gain_ranges: tuple[tuple[float, float] | None, ...] = field(default=(), compare=False)
    table: Any = field(default=None, compare=False)

    @property
    def groups(self) -> tuple[NamedSubmodel, ...]:
        """The hidden groups in column names, the largest hidden part first."""
        ranked = sorted(self.submodels or (), key=lambda group: -round(group.size, 4))
        return tuple(named_submodel(group, self.variables) for group in ranked)

    @property
    def named_links(self) -> tuple[tuple[str, str], ...]:
        """The links in column names."""
        return tuple((self.variables[u], self.variables[v]) for u, v in self.links)

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

    def network(self, *, smoothing: Smoothing = 1.0) -> DecomposableMarkovNetwork:
        """Return the network with its probabilities, counted from the table that was learned from.

        ``smoothing`` is a number of rows spread evenly over each table (0: as counted), or a
        :class:`~xordal.Backoff`. For many questions, keep the network.
        """
        from xordal.learning.fitting import fit_network

        if self.table is None:
            raise SettingsError(
                "There are no rows to count probabilities from: this was learned from an exact joint, or "
                "belongs to a network that has them (its query(), report() and so on)."
            )
        return fit_network(self.table, self, smoothing=smoothing)

    def query(
        self, asked: str | Sequence[str], given: Given | None = None, likely: Likely | None = None
    ) -> dict[Any, float]:
        """Return the distribution of one or more variables, given evidence."""
        return self.network().query(asked, given, likely)

    def report(self, path: str | Path, *, title: str = "") -> None:
        """Write what was learned as one page of HTML that needs nothing else."""
        from xordal.report.html import write_report

        write_report(path, self.network(), title=title, table=self.table)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the network with matplotlib, which comes with the extra ``plot``; return its axes."""
        from xordal.report.notebook import plot_network

        return plot_network(self, ax=ax)

    if not TYPE_CHECKING:  # type checkers know that these are not there

        def __getattr__(self, name: str) -> Any:
            """Say where to find what networks do and this does not."""
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _OF_NETWORKS:
                told += f". A network with its probabilities does that: learned.network().{name}(...)"
            if name == "check":
                told += ". Call xordal.check(learned, new_rows)"
            raise AttributeError(told, name=name, obj=self)

    def __repr__(self) -> str:
        from xordal.formats.overview import overview

        return overview(self)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the drawing, and the network in words."""
        from html import escape

        from xordal.report.fragment import network_html

        return f"<pre>{escape(repr(self))}</pre>" if self.table is None else network_html(self.network())


@dataclass(frozen=True, slots=True, repr=False)
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
    variables
        Column names.
    """

    n_samples: int
    seed: int
    links: dict[Link, float]
    submodels: dict[VarSet, float]
    variables: tuple[str, ...] = ()

    @property
    def named_links(self) -> dict[tuple[str, ...], float]:
        """The shares of the links, by column names."""
        return {self._names(link): share for link, share in self.links.items()}

    @property
    def named_groups(self) -> dict[tuple[str, ...], float]:
        """The shares of the hidden groups, by column names."""
        return {self._names(members(group)): share for group, share in self.submodels.items()}

    def _names(self, variables: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in variables)

    def __repr__(self) -> str:
        told = f"links={self.named_links}, groups={self.named_groups}"
        return f"Stability(n_samples={self.n_samples}, seed={self.seed}, {told})"
