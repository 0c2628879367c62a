"""All that a report shows of a network, as plain values; :mod:`xordal.report.html` renders them."""

from __future__ import annotations

from dataclasses import dataclass

from xordal.errors import counted
from xordal.formats.additive import evidence_text, function_lines, rule_words
from xordal.formats.additive import told as told_rules
from xordal.formats.effects import smallest_text
from xordal.formats.shown import shown
from xordal.formats.stories import setting_text, told_settings
from xordal.formats.text import copies_lines, link_text, not_found, weakness
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.smoothing import smoothing_text
from xordal.report.cliques import EXPECTED_OF, CliqueSummary, clique_summaries, rows_in
from xordal.report.contrast import Contrast
from xordal.report.drawings import ExecutionDrawing, NetworkDrawing
from xordal.report.evidence import rule_table
from xordal.report.groups import GroupSummary, group_summaries
from xordal.report.links import LinkSummary, strongest_links
from xordal.report.map import MapDrawing, map_of
from xordal.report.overview import TableOverview
from xordal.report.replay import Step, executions, steps_of, stills
from xordal.types.learned import Learned
from xordal.types.trace import single_link_part
from xordal.types.varsets import LinkSet, members

_PROMISE = (
    "With probability about {sure:g} % no set of links was learned in which some column was not needed: no "
    "column that depends on nothing is linked. That does not say that each link belongs to the true network: "
    "two columns may be linked because both depend on a third."
)
_PROMISE_ON_AVERAGE = (
    "Of the sets of links that are learned, a share of about {share:g} % at most, on average, holds a column "
    "that was not needed. That does not say that the others hold links of the true network only: two columns "
    "may be linked because both depend on a third."
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A column: its levels with their counts, how many links it has and which hidden groups hold it."""

    name: str
    levels: tuple[tuple[str, int], ...]
    n_links: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SingleLink:
    """What a search that adds one link at a time returns, and what it misses."""

    links: LinkSet
    found: tuple[str, ...]
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleSummary:
    """An additive rule in words, how often it holds, its role in the network, and its functions of levels.

    ``variables`` are the numbers of its columns, ``table`` the rows that obey and break it. ``is_used`` says
    whether the network gives one of the columns by it.
    """

    words: str
    evidence: str
    role: str
    functions: tuple[str, ...]
    variables: tuple[int, ...]
    table: Contrast
    is_used: bool


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """A report before it is drawn; see docs/report.md for what its parts mean."""

    title: str
    n_rows: int
    n_links: int
    n_cliques: int
    variables: tuple[Variable, ...]
    groups: tuple[GroupSummary, ...] | None
    n_following: int
    n_unexamined: int
    groups_up_to: int | None
    map: MapDrawing
    steps: tuple[Step, ...]
    stills: tuple[NetworkDrawing, ...]
    executions: tuple[ExecutionDrawing, ...]
    single: SingleLink | None
    cliques: tuple[CliqueSummary, ...]
    settings: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    promise: str
    notes: tuple[str, ...]
    rules: tuple[RuleSummary, ...] = ()
    table: TableOverview | None = None
    is_complete: bool = True
    strongest_links: tuple[LinkSummary, ...] = ()

    @property
    def strongest(self) -> GroupSummary | None:
        """The group with the largest hidden part, if there is one."""
        return self.groups[0] if self.groups else None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns of the table that take no part in the network."""
        known = {variable.name for variable in self.variables}
        return () if self.table is None else tuple(name for name in self.table.missing if name not in known)

    @property
    def rows_word(self) -> str:
        """What numbers of rows are of: those counted, or those expected of a network that was given."""
        return "rows" if self.n_rows else f"expected of {EXPECTED_OF:,} rows"

    @property
    def lead(self) -> str:
        """What was found, in a sentence or two."""
        told = f"{counted(len(self.variables), 'column')}: "
        if self.n_rows:
            told = f"{counted(self.n_rows, 'row')} of {told}"
        rules = f"{counted(len(self.rules), 'rule')} that the rows obey" if self.rules else ""
        if not self.is_complete and not self.groups and not self.rules:
            # What was not looked for must not read as if it were not there.
            links = counted(self.n_links, "link") if self.n_links else "no links"
            return f"{told}the search was stopped before it was done, with {links} and no hidden groups so far."
        if not self.n_links:
            return f"{told}no links, and {rules}." if rules else f"{told}no links."
        told += f"{counted(self.n_links, 'link')} in {counted(self.n_cliques, 'clique')}"
        if self.groups is None:
            return f"{told}, and {rules}." if rules else f"{told}."
        groups = counted(len(self.groups), "hidden group") if self.groups else "no hidden groups"
        told += f", {groups} and {rules}." if rules else f", and {groups}."
        if self.single is not None and self.single.missed:
            told += (
                f" Learners that add one link at a time miss {len(self.single.missed)} of the "
                f"{counted(self.n_links, 'link')}."
            )
        return told


def summarise(
    network: DecomposableMarkovNetwork, title: str = "", table: TableOverview | None = None
) -> ReportSummary:
    """Return the summary of a network and of how it was learned, where that is known.

    ``table`` is what it was learned from, at a glance, where that is at hand.

    Examples
    --------
    >>> from xordal.data.table import CategoricalTable
    >>> from xordal.learning.fitting import fit_network
    >>> from xordal.learning.learn import learn
    >>> rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    >>> table = CategoricalTable.from_rows(["a", "b", "c"], rows)
    >>> summarise(fit_network(table, learn(table))).lead.split(". ")[0]
    '100 rows of 3 columns: 3 links in 1 clique, and 1 hidden group'
    """
    learned = network.learned
    drawn = map_of(network)
    groups = None if learned is None or learned.submodels is None else group_summaries(network, learned)
    return ReportSummary(
        title=title or "What xordal found",
        n_rows=network.n_rows,
        n_links=len(network.graph.links),
        n_cliques=sum(len(clique) > 1 for clique in network.cliques),
        variables=_variables(network, groups or ()),
        groups=groups,
        n_following=0 if learned is None else learned.n_following,
        n_unexamined=0 if learned is None else learned.n_unexamined,
        groups_up_to=None if learned is None else learned.submodels_up_to,
        map=drawn,
        steps=() if learned is None else steps_of(learned),
        stills=() if learned is None else stills(learned, drawn.places),
        executions=() if learned is None else executions(learned),
        single=None if learned is None else _single(learned),
        cliques=clique_summaries(network),
        settings=() if learned is None else _settings(learned),
        facts=_facts(network),
        promise="" if learned is None else _promise(learned),
        notes=() if learned is None else _notes(learned),
        rules=() if learned is None else _rules(network, learned),
        table=table,
        is_complete=learned is None or learned.run.is_complete,
        strongest_links=strongest_links(network, drawn, () if learned is None else learned.colored_links or ()),
    )


def _variables(network: DecomposableMarkovNetwork, groups: tuple[GroupSummary, ...]) -> tuple[Variable, ...]:
    counts: dict[int, dict[int, int]] = {}
    for table in network.clique_tables():
        for place, v in enumerate(members(table.variables)):
            if v not in counts:
                part = rows_in(table).over([place])
                counts[v] = dict(zip(part.cells[:, 0].tolist(), part.counts.tolist(), strict=True))
    return tuple(
        Variable(
            shown(name),
            tuple((shown(level), counts[v].get(code, 0)) for code, level in enumerate(network.levels[v])),
            network.graph.neighbours[v].bit_count(),
            tuple(place for place, group in enumerate(groups) if v in group.variables),
        )
        for v, name in enumerate(network.variables)
    )


def _rules(network: DecomposableMarkovNetwork, learned: Learned) -> tuple[RuleSummary, ...]:
    """Return the rules in words; one that is in no clique's table gives a column from the others."""
    last_of = {each.rule: shown(network.variables[each.last]) for each in network.rules}
    found = told_rules(learned)
    return tuple(
        RuleSummary(
            rule_words(found, rule),
            evidence_text(rule),
            f"gives {last_of[rule]} from the other columns"
            if rule in last_of
            else "told, not part of the network",
            tuple(function_lines(found, rule)),
            rule.variables,
            rule_table(rule),
            rule in last_of,
        )
        for rule in learned.rules
    )


def _single(learned: Learned) -> SingleLink:
    links = single_link_part(learned.trace)
    kept = [link for link in links if link in learned.links]
    missed = [link for link in learned.links if link not in links]
    return SingleLink(
        tuple(kept),
        tuple(link_text(learned.names(link)) for link in kept),
        tuple(link_text(learned.names(link)) for link in missed),
    )


def _settings(learned: Learned) -> tuple[tuple[str, str], ...]:
    return tuple((shown(name), setting_text(value)) for name, value in told_settings(learned))


def _facts(network: DecomposableMarkovNetwork) -> tuple[tuple[str, str], ...]:
    facts = [
        ("rows", f"{network.n_rows:,}" if network.is_counted else "none: the network was given, not learned"),
        ("variables", f"{len(network.variables):,}"),
        ("free parameters", f"{network.n_parameters:,}"),
        ("entropy of the network", f"{network.entropy():.4f} nats"),
    ]
    if network.is_counted:
        facts.append(
            ("smoothing", f"{smoothing_text(network.smoothing)} row{'' if network.smoothing == 1 else 's'}")
        )
    if (learned := network.learned) is not None:
        if (smallest := smallest_text(learned)) is not None:
            facts.append(("smallest effect that could be seen", smallest.rstrip(".")))
        facts += [
            ("graphs tested, as the paper counts them", f"{learned.run.graphs_tested:,}"),
            ("candidates scored", f"{learned.run.candidates_scored:,}"),
            ("seconds", f"{learned.seconds:.2f}"),
        ]
    return tuple(facts)


def _promise(learned: Learned) -> str:
    """Return what the criterion promises, and what it does not."""
    criterion = learned.settings["criterion"]
    alpha = criterion.get("alpha") if isinstance(criterion, dict) else None
    if not isinstance(alpha, int | float):
        return ""
    if isinstance(criterion, dict) and criterion.get("control") == "fdr":
        return _PROMISE_ON_AVERAGE.format(share=100 * alpha)
    return _PROMISE.format(sure=100 * (1 - alpha))


def _notes(learned: Learned) -> tuple[str, ...]:
    notes = [f"{line.strip()}." for line in copies_lines(learned)]
    if learned.run.stopped_by is not None:
        article = "an" if learned.run.stopped_by == "interruption" else "a"
        notes.append(
            f"The search was ended by {article} {learned.run.stopped_by}: this is what it had learned."
        )
    if learned.run.is_complete and not learned.links and not learned.rules:
        notes += not_found(learned)
    if (warning := weakness(learned)) is not None:
        notes.append(warning)
    return tuple(notes)
