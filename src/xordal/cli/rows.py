"""``xordal predict``, ``score`` and ``sample``: a network on tables of rows."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import asking, output, reading
from xordal.types.choices import Absent, Unseen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xordal.data.dialect import TextFormat
    from xordal.model.network import DecomposableMarkovNetwork
    from xordal.model.rows import RowCodes


UnseenOption = Annotated[
    Unseen,
    typer.Option(
        "--unseen",
        help="A level the network never saw: refuse it, take the cell as missing, or (score only) give the row "
        "probability zero.",
        rich_help_panel=reading.PANEL,
    ),
]
AbsentOption = Annotated[
    Absent,
    typer.Option(
        "--absent",
        help="A column that is not there: refuse, or take it as missing.",
        rich_help_panel=reading.PANEL,
    ),
]


def predict(  # noqa: PLR0913 - one parameter per option
    net: asking.Net,
    data: reading.Data,
    *,
    target: Annotated[
        str | None, typer.Option("-t", "--target", metavar="COL", help="The column to predict from the others.")
    ] = None,
    impute: Annotated[
        bool, typer.Option("--impute", help="Instead: write the table with its missing cells filled in.")
    ] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Write the probability of each level.")] = False,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Also write the range that holds each probability (95 %), by the rows behind it.",
        ),
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Copy these columns of the table beside the predictions."),
    ] = None,
    to: output.TableOutput = None,
    unseen: UnseenOption = "error",
    absent: AbsentOption = "error",
    smoothing: asking.Smoothing = None,
    text: reading.TextOptions,
    as_json: output.AsJson = False,
) -> None:
    """Predict a column of a table from the others, or fill in what is missing.

    The target's own values are not looked at; where there are any, how many were right is told. A missing cell
    is no evidence.

    Examples: xordal predict net.json new.csv -t John; xordal predict net.json holes.csv --impute -o full.csv
    """
    from xordal.formats.predictions import imputed_rows, prediction_rows, predictions_to_json
    from xordal.model.imputing import completed, to_fill
    from xordal.model.intervals import ranges_of
    from xordal.model.predict import chances_of

    if (target is None) == (not impute):
        raise typer.BadParameter("say what to predict: --target COL, or --impute for all missing cells.")
    if impute and (proba or intervals or keep or as_json):
        raise typer.BadParameter(
            "--impute writes the whole table; leave out --proba, --intervals, --keep and --json."
        )
    if as_json and (proba or keep):
        raise typer.BadParameter(
            "--json has all probabilities and no other columns; leave out --proba and --keep."
        )
    if unseen == "impossible":
        raise typer.BadParameter("nothing follows from a level that is impossible; --unseen error or missing.")
    (output.check_name if as_json else output.check_table_name)(to, net, data)
    asking.check_sources(net, data)
    network = asking.network_of(net, smoothing)
    rows = rows_for(network, data, text.text_format(), unseen, absent, target, ["absent"])
    if target is None:
        rows = to_fill(network, rows)
        codes = completed(network, rows)
        output.write_table(to, *imputed_rows(network, rows, codes))
        filled = ((rows.codes < 0) & (codes >= 0)).sum(axis=1)
        alone = int(filled[_on_their_own(network)].sum())
        of_these = f" {alone:,} of these are in columns without links: the commonest value." if alone else ""
        _note(f"Filled in {int(filled.sum()):,} of {rows.codes.size:,} cells.{of_these}")
        return
    chances = chances_of(network, rows, target)
    ranges = ranges_of(network, rows, target, chances) if intervals else None
    if as_json:
        told = predictions_to_json(network, rows, target, chances, ranges)
        output.write(to, [json.dumps(told, indent=2) + "\n"])
    else:
        kept = reading.names_in(keep) or []
        output.write_table(to, *prediction_rows(network, rows, target, chances, proba, kept, ranges))
    _tell_accuracy(network, rows, target, chances)


def score(  # noqa: PLR0913 - one parameter per option
    net: asking.Net,
    data: reading.Data,
    *,
    top: Annotated[int, typer.Option(min=0, help="Show this many of the most surprising rows.")] = 10,
    to: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the scores of all rows: CSV, .tsv or .parquet."
        ),
    ] = None,
    unseen: UnseenOption = "error",
    absent: AbsentOption = "error",
    smoothing: asking.Smoothing = None,
    text: reading.TextOptions,
    as_json: output.AsJson = False,
) -> None:
    """Say how probable the rows of a table are, which are odd, and which linked columns are to blame.

    Scores are log probabilities in nats. A missing cell is summed out.

    Examples: xordal score net.json new.csv; xordal score net.json new.csv --top 3 --json
    """
    from xordal.cli import screen
    from xordal.formats.predictions import score_lines, score_rows, scores_to_json
    from xordal.model.predict import score_rows as scores_of

    output.check_table_name(to, net, data)
    asking.check_sources(net, data)
    if as_json and to is not None and _is_output(to):
        raise typer.BadParameter("--json and -o - both print to standard output; name a file for the CSV.")
    network = asking.network_of(net, smoothing)
    rows = rows_for(network, data, text.text_format(), unseen, absent)
    scores = scores_of(network, rows)
    if to is not None:
        output.write_table(to, *score_rows(scores))
    if as_json:
        typer.echo(json.dumps(scores_to_json(network, rows, scores, top), indent=2))
    elif to is None or not _is_output(to):
        screen.print_lines(screen.output(), score_lines(network, rows, scores, top))


def sample(
    net: asking.Net,
    *,
    rows: Annotated[int, typer.Option("-n", "--rows", min=1, help="Random rows to draw.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random rows.")] = 0,
    given: asking.GivenOption = None,
    likely: asking.LikelyOption = None,
    to: output.TableOutput = None,
    smoothing: asking.Smoothing = None,
) -> None:
    """Draw random rows from a network; with --given only such rows.

    Examples: xordal sample net.json -n 1000 --seed 1 -o rows.csv; xordal sample net.json --given John=complains
    """
    from xordal.data.tables_out import table_format
    from xordal.errors import counted
    from xordal.model.sampling import sample_codes

    output.check_table_name(to, net)
    network = asking.network_of(net, smoothing)
    hard, soft = asking.given_in(network, given), asking.likely_in(network, likely)
    codes = sample_codes(network, rows, seed=seed, given=hard, likely=soft)
    is_text = to is None or table_format(to) != "parquet"
    told = [[str(level) if is_text else level for level in levels] for levels in network.levels]
    drawn = ([own[code] for own, code in zip(told, row, strict=True)] for row in codes.T.tolist())
    output.write_table(to, list(network.variables), drawn)
    output.tell(f"{counted(rows, 'row')} at random, seed {seed},", to)


def rows_for(
    network: DecomposableMarkovNetwork,
    data: str,
    form: TextFormat,
    unseen: Unseen,
    absent: Absent,
    ignore: str | None = None,
    offered: Collection[str] = ("absent", "impossible"),
) -> RowCodes:
    """Read a table for a network; notes about how it was read go to standard error."""
    import warnings

    from xordal.cli import screen
    from xordal.errors import DataWarning
    from xordal.model.evidence import number_of
    from xordal.model.rows import encoded

    if ignore is not None:
        number_of(network, ignore)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        found = encoded(
            network,
            data,
            unseen=unseen,
            absent=absent,
            ignore=[] if ignore is None else [ignore],
            by_text=True,
            text=form,
            offered=offered,
        )
    for warning in caught:
        screen.note(str(warning.message))
    return found


def _tell_accuracy(
    network: DecomposableMarkovNetwork, rows: RowCodes, target: str, chances: NDArray[np.float64]
) -> None:
    from xordal.formats.predictions import accuracy_text

    if told := accuracy_text(network, rows, target, chances):
        _note(told)


def _on_their_own(network: DecomposableMarkovNetwork) -> list[int]:
    """Return the columns without links that are in no rule either: nothing is known of them by the others."""
    from xordal.types.varsets import members

    told = {name for clique in network.cliques if len(clique) > 1 for name in clique}
    told |= {network.variables[v] for rule in network.rules for v in members(rule.scope)}
    return [v for v, name in enumerate(network.variables) if name not in told]


def _note(text: str) -> None:
    from xordal.cli import screen

    screen.notes().print(text, soft_wrap=True)


def _is_output(to: str) -> bool:
    from xordal.data.write import is_standard_output

    return is_standard_output(to)
