"""A network on tables: predict a column, and say which rows are odd and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xordal.errors import SettingsError
from xordal.model.evidence import number_of
from xordal.model.observed import Observed
from xordal.model.parameters import Table
from xordal.model.query import check_possible, normalised
from xordal.model.rows import UNSEEN, RowCodes, encoded
from xordal.model.rule import NetworkRule
from xordal.model.ruled import RuledInference
from xordal.types.choices import Absent, Unseen
from xordal.types.rules import AdditiveRule
from xordal.types.varsets import VarSet, members, varset

if TYPE_CHECKING:
    from xordal.model.network import DecomposableMarkovNetwork


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """How odd each row is.

    Attributes
    ----------
    log_prob
        Log probability of each row in nats, missing cells summed out; -inf for impossible rows.
    surprise
        By how much each row is less probable than the network's rows are on average: minus ``log_prob`` minus
        the entropy of what is observed of it, as far as single cliques tell.
    blamed
        The clique that is to blame, as a place in ``cliques``: the one with the largest surprise of its own.
        Each is charged for its own variables given those it shares with the clique before it, so the surprises
        of the cliques add up to that of a complete row.
    blame
        The surprise of that clique, in nats.
    cliques
        The cliques by name; after them the columns of each rule of the network, which can be to blame too.
    rules
        The rules of the network.
    breaks
        Which rows break which rule, shape (rules, rows); a row in which a column of the rule is missing does
        not.
    n_told
        How many rows can obey or break each rule: those with a value that counts in all its columns.
    """

    log_prob: NDArray[np.float64]
    surprise: NDArray[np.float64]
    blamed: NDArray[np.int64]
    blame: NDArray[np.float64]
    cliques: tuple[tuple[str, ...], ...]
    rules: tuple[AdditiveRule, ...]
    breaks: NDArray[np.bool_]
    n_told: tuple[int, ...]


def log_probabilities(network: DecomposableMarkovNetwork, rows: RowCodes) -> NDArray[np.float64]:
    """Return the log probability of each row in nats; missing cells are summed out."""
    logs = np.empty(rows.n_rows)
    is_complete = (rows.codes >= 0).all(axis=0)
    logs[is_complete] = network.log_prob(rows.codes[:, is_complete])
    partly = np.flatnonzero(~is_complete)
    if len(partly):
        logs[partly] = network.inference.joint(rows.evidence(partly), ())
    logs[(rows.codes == UNSEEN).any(axis=0)] = -np.inf
    return logs


def score_rows(network: DecomposableMarkovNetwork, rows: RowCodes) -> RowScores:
    """Answer :meth:`DecomposableMarkovNetwork.score_rows`."""
    blamed, blame = np.zeros(rows.n_rows, dtype=np.int64), np.full(rows.n_rows, -np.inf)
    expected = np.zeros(rows.n_rows)
    for place, (table, separator) in enumerate(network.tree_tables):
        own, usual = _surprise(table, separator, rows.codes, network.n_levels)
        worse = own > blame
        blamed[worse], blame[worse] = place, own[worse]
        expected += usual
    breaks = np.zeros((len(network.rules), rows.n_rows), dtype=np.bool_)
    n_told = []
    for place, rule in enumerate(network.rules):
        own, usual = _surprise_of_rule(network, rule, rows.codes)
        breaks[place], tells = rule.breaks_and_tells(rows.codes)
        n_told.append(int(tells.sum()))
        worse = own > blame
        blamed[worse], blame[worse] = len(network.tree_tables) + place, own[worse]
        expected += usual
    logs = log_probabilities(network, rows)
    of_rules = tuple(network.names(varset(rule.rule.variables)) for rule in network.rules)
    cliques = (*(network.names(clique) for clique in network.tree.cliques), *of_rules)
    rules = tuple(rule.rule for rule in network.rules)
    return RowScores(logs, -logs - expected, blamed, blame, cliques, rules, breaks, tuple(n_told))


def _surprise_of_rule(
    network: DecomposableMarkovNetwork, rule: NetworkRule, codes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each row, the surprise above its mean that a rule adds, and the mean.

    A rule makes rows that obey it more probable by its weight, so that its mean surprise is below zero. It says
    nothing of rows in which one of the columns that it speaks of is missing.
    """
    needed = list(members(VarSet(rule.scope | varset(rule.rule.variables))))
    complete = (codes[needed] >= 0).all(axis=0)
    surprise, usual = np.full(codes.shape[1], -np.inf), np.zeros(codes.shape[1])
    assert isinstance(network.inference, RuledInference), "a network with rules"
    mean = -network.inference.mean_log_weight(network.rules.index(rule))
    logs = network.log_weight(rule, codes[:, complete])
    surprise[complete], usual[complete] = -logs - mean, mean
    return surprise, usual


def _surprise(
    table: Table,
    separator: Table | None,
    codes: NDArray[np.int64],
    n_levels: tuple[int, ...],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each row, the surprise above its mean of what is observed of one clique, and the mean."""
    inside = members(table.variables)
    seen = codes[list(inside)] != -1
    if seen.all():
        kinds, kind = np.ones((1, len(inside)), dtype=np.bool_), np.zeros(codes.shape[1], dtype=np.int64)
    else:
        kinds, kind = np.unique(seen.T, axis=0, return_inverse=True)
    surprise, usual = np.empty(codes.shape[1]), np.empty(codes.shape[1])
    for number, pattern in enumerate(kinds):
        rows = np.flatnonzero(kind.reshape(-1) == number)
        observed = varset(v for v, is_seen in zip(inside, pattern, strict=True) if is_seen)
        shared = VarSet(observed & (separator.variables if separator is not None else 0))
        logs, entropy = _part(table, observed, codes[:, rows], n_levels)
        below, inner = _part(table, shared, codes[:, rows], n_levels)
        usual[rows] = entropy - inner
        with np.errstate(invalid="ignore"):
            surprise[rows] = np.where(np.isfinite(logs), below - logs, np.inf) - usual[rows]
    return surprise, usual


def _part(
    table: Table, observed: VarSet, codes: NDArray[np.int64], n_levels: tuple[int, ...]
) -> tuple[NDArray[np.float64], float]:
    """Return log probabilities and entropy of some of a table's variables."""
    if not observed:
        return np.zeros(codes.shape[1]), 0.0
    part = table if observed == table.variables else table.over(observed, n_levels)
    return part.log_prob(codes), part.entropy()


def predict_proba(
    network: DecomposableMarkovNetwork, data: Any, target: str, *, unseen: Unseen, absent: Absent
) -> NDArray[np.float64]:
    """Answer :meth:`DecomposableMarkovNetwork.predict_proba`."""
    number_of(network, target)
    refuse_impossible(unseen)
    rows = encoded(network, data, unseen=unseen, absent=absent, ignore=[target], offered=["absent"])
    return chances_of(network, rows, target)


def chances_of(network: DecomposableMarkovNetwork, rows: RowCodes, target: str) -> NDArray[np.float64]:
    """Return the distribution of a variable for each row, given what is observed of the others."""
    v = number_of(network, target)
    codes = rows.codes.copy()
    codes[v] = -1
    logs = network.inference.joint(Observed(codes), [v])
    check_rows(network, RowCodes(codes, None, rows.where), logs.max(axis=1))
    return normalised(logs)


def check_rows(network: DecomposableMarkovNetwork, rows: RowCodes, logs: NDArray[np.float64]) -> None:
    """Refuse the first row whose evidence is impossible."""
    wrong = np.flatnonzero(logs == -np.inf)
    if len(wrong) == 0:
        return
    row = int(wrong[0])
    others = f" (the first of {len(wrong):,} such rows)" if len(wrong) > 1 else ""
    name = network.variables[int(np.argmax(rows.codes[:, row] >= 0))]
    told = rows.where(row, name)  # of one value: what is said of its column is left out
    in_file = told.rpartition(f", column {name!r}")[0]
    where = in_file or told.removeprefix(f"Column {name!r}, ").capitalize()
    evidence = Observed(rows.codes[:, [row]])
    check_possible(network, evidence, -np.inf, f"{where}{others}: ")


def refuse_impossible(unseen: Unseen) -> None:
    """Refuse to predict from levels that are to be impossible."""
    if unseen == "impossible":
        raise SettingsError(
            "Nothing can be predicted from a level that was never seen: unseen must be 'error' or 'missing'."
        )
