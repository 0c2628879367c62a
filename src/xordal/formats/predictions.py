"""Predictions, imputed tables and scores of rows as CSV rows, JSON and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from xordal.data.select import named
from xordal.errors import counted
from xordal.formats.additive import rule_words
from xordal.formats.answers import finite, plain
from xordal.formats.json import Json
from xordal.formats.text import shown
from xordal.model.imputing import filled
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.predict import RowScores
from xordal.model.rows import MISSING, RowCodes, codes_of
from xordal.rules.finding import FoundRules

Row = Sequence[object]


def prediction_rows(
    network: DecomposableMarkovNetwork,
    rows: RowCodes,
    target: str,
    chances: NDArray[np.float64],
    proba: bool,
    keep: Sequence[str],
    ranges: NDArray[np.float64] | None = None,
) -> tuple[list[str], Iterator[Row]]:
    """Return names and rows of a table of predictions: the level and its probability, or all probabilities.

    ``ranges``, shape (rows, levels, 2), come behind each probability.
    """
    levels = [str(level) for level in network.levels_of(target)]
    kept = [named(rows.columns, name) for name in keep]
    copies = [[*(str(level) for level in column.levels), ""] for column in kept]
    columns = [column.codes.tolist() for column in kept]
    best = np.argmax(chances, axis=1).tolist()
    names = [f"{target}={level}" for level in levels] if proba else ["probability"]
    if ranges is not None:
        chances = np.concatenate([chances[:, :, None], ranges], axis=2)
        names = [f"{name}{end}" for name in names for end in ("", " from", " to")]
    if not proba:
        names = [target, *names]

    def row(number: int) -> Row:
        of_best = np.atleast_1d(chances[number, best[number]]).tolist()
        told: Row = chances[number].reshape(-1).tolist() if proba else (levels[best[number]], *of_best)
        return [*(texts[codes[number]] for texts, codes in zip(copies, columns, strict=True)), *told]

    return [*keep, *names], (row(number) for number in range(rows.n_rows))


def imputed_rows(
    network: DecomposableMarkovNetwork, rows: RowCodes, codes: NDArray[np.int64]
) -> tuple[list[str], Iterator[Row]]:
    """Return names and rows of the whole table with missing cells filled in.

    Cells that were there stay as they were written; columns the network does not know are copied, those the
    table lacks come last.
    """
    made = {column.name: column for column in filled(network, rows, codes)}
    columns = [made.pop(column.name, column) for column in rows.columns] + list(made.values())
    lists = []
    for column in columns:
        values = [*column.levels, ""]
        lists.append([values[code] for code in np.maximum(column.codes, -1).tolist()])
    return [column.name for column in columns], zip(*lists, strict=True)


def predictions_to_json(
    network: DecomposableMarkovNetwork,
    rows: RowCodes,
    target: str,
    chances: NDArray[np.float64],
    ranges: NDArray[np.float64] | None = None,
) -> Json:
    """Return predictions as JSON; probabilities, and ranges if given, are in the order of ``levels``."""
    levels = [plain(level) for level in network.levels_of(target)]
    told: Json = {"target": target, "levels": levels}
    truth, best = _known_target(network, rows, target, chances)
    if len(truth):
        told["accuracy"] = float((truth == best).mean())
    found: list[Json] = [
        {"level": levels[code], "probabilities": row}
        for code, row in zip(np.argmax(chances, axis=1).tolist(), chances.tolist(), strict=True)
    ]
    if ranges is not None:
        for one, intervals in zip(found, ranges.tolist(), strict=True):
            one["intervals"] = intervals
    told["predictions"] = found
    return told


def _known_target(
    network: DecomposableMarkovNetwork, rows: RowCodes, target: str, chances: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what the target is and what was predicted, in the rows that know it; maybe none does."""
    found = [column for column in rows.columns if column.name == target]
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    truth = codes_of(found[0], network.levels_of(target), by_text=True)
    known = truth != MISSING
    return truth[known], np.argmax(chances, axis=1)[known]


def accuracy_text(
    network: DecomposableMarkovNetwork, rows: RowCodes, target: str, chances: NDArray[np.float64]
) -> str | None:
    """Return how many predictions were right, where the table knows, beside the commonest level's share."""
    truth, best = _known_target(network, rows, target, chances)
    if len(truth) == 0:
        return None
    right = truth == best
    usual = np.bincount(truth[truth >= 0], minlength=1).max() / len(truth)
    known = counted(len(truth), "row")
    return (
        f"{int(right.sum()):,} of {known} with a known {shown(target)} are predicted right "
        f"({100 * right.mean():.1f} %); its commonest level has {100 * usual:.1f} %."
    )


def score_rows(scores: RowScores) -> tuple[list[str], Iterator[Row]]:
    """Return names and rows of a table of scores."""
    cliques = [" ".join(clique) for clique in scores.cliques]
    parts = zip(
        scores.log_prob.tolist(),
        scores.surprise.tolist(),
        scores.blamed.tolist(),
        scores.blame.tolist(),
        strict=True,
    )
    told = ((n, log, odd, cliques[at], blame) for n, (log, odd, at, blame) in enumerate(parts, start=1))
    names = ["row", "log_likelihood", "surprise", "clique", "clique_surprise"]
    if not scores.rules:
        return names, told
    broken = (" ".join(map(str, _broken(scores, row))) for row in range(len(scores.log_prob)))
    return [*names, "breaks"], ((*row, numbers) for row, numbers in zip(told, broken, strict=True))


def scores_to_json(network: DecomposableMarkovNetwork, rows: RowCodes, scores: RowScores, top: int) -> Json:
    """Return the scores of all rows; null stands for an infinite number, that of an impossible row."""
    logs = scores.log_prob
    return {
        "n_rows": rows.n_rows,
        "log_likelihood": finite(float(logs.sum())),
        "mean_log_likelihood": finite(float(logs.mean())),
        "expected": -network.entropy(),
        "impossible_rows": int((logs == -np.inf).sum()),
        "rows": [finite(log) for log in logs.tolist()],
        "most_surprising": [
            {
                "row": row + 1,
                "log_likelihood": finite(float(logs[row])),
                "surprise": finite(float(scores.surprise[row])),
                "clique": list(scores.cliques[scores.blamed[row]]),
                "clique_surprise": finite(float(scores.blame[row])),
                **({"breaks": _broken(scores, row)} if scores.rules else {}),
                "values": dict(_values(network, rows, scores, row)),
            }
            for row in worst(scores, top)
        ],
    }


def worst(scores: RowScores, top: int) -> list[int]:
    """Return the most surprising rows, most surprising first; of equals the first."""
    order: list[int] = np.argsort(-scores.surprise, kind="stable")[:top].tolist()
    return order


def score_lines(network: DecomposableMarkovNetwork, rows: RowCodes, scores: RowScores, top: int) -> list[str]:
    """Return the scores in words: the mean, and the most surprising rows with the clique to blame."""
    logs = scores.log_prob
    impossible = int((logs == -np.inf).sum())
    possible = logs[logs > -np.inf]
    lines = []
    if len(possible):
        lines.append(
            f"{counted(len(possible), 'row')}: mean log-likelihood {possible.mean():.4f} nats, in all "
            f"{possible.sum():.4f}; rows of the network itself have {-network.entropy():.4f} on average."
        )
    if impossible:
        lines.append(
            f"{counted(impossible, 'row')} {'is' if impossible == 1 else 'are'} impossible in this network."
        )
    shown_rows = worst(scores, top)
    if not shown_rows:
        return lines
    blamed = "clique or rule" if scores.rules else "clique"
    lines += ["", f"Most surprising rows, and the {blamed} that is to blame (surprise: nats above the mean):"]
    lines.append("     row  surprise  of it  clique")
    for row in shown_rows:
        values = ", ".join(
            f"{shown(k)}={'(missing)' if v is None else shown(v)}"
            for k, v in _values(network, rows, scores, row)
        )
        broken = _broken(scores, row)
        breaks = f"; breaks rule {', '.join(map(str, broken))}" if broken else ""
        lines.append(f"{row + 1:8,}  {scores.surprise[row]:8.3f} {scores.blame[row]:6.3f}  {values}{breaks}")
    return [*lines, *_rule_notes(network, scores, shown_rows)]


def _broken(scores: RowScores, row: int) -> list[int]:
    """Return the numbers of the rules that a row breaks, from 1."""
    return [int(number) + 1 for number in np.flatnonzero(scores.breaks[:, row])]


def _rule_notes(network: DecomposableMarkovNetwork, scores: RowScores, rows: Sequence[int]) -> list[str]:
    """Return what the rules say that some rows break, and how many rows break each."""
    lines = []
    for number in sorted({number for row in rows for number in _broken(scores, row)}):
        rule, n_broken = scores.rules[number - 1], int(scores.breaks[number - 1].sum())
        found = FoundRules(network.variables, network.levels, (rule,), rule.n_rows, (), (), 0.0)
        lines += ["", f"Rule {number}: {rule_words(found, rule)}"]
        n_told = scores.n_told[number - 1]
        n_open = scores.breaks.shape[1] - n_told
        cannot_tell = f"; in {n_open:,} a value is missing or too rare to tell" if n_open else ""
        lines.append(f"  broken by {counted(n_broken, 'row')} of {n_told:,}{cannot_tell}")
    return lines


def _values(
    network: DecomposableMarkovNetwork, rows: RowCodes, scores: RowScores, row: int
) -> Iterator[tuple[str, object]]:
    """Yield the values a row has in the clique that is to blame, as the table has them."""
    by_name = {column.name: column for column in rows.columns}
    for name in scores.cliques[scores.blamed[row]]:
        code = rows.codes[network.variables.index(name), row]
        if code >= 0:
            yield name, plain(network.levels_of(name)[code])
        elif code == -1:
            yield name, None
        else:
            column = by_name[name]
            yield name, plain(column.levels[column.codes[row]])
