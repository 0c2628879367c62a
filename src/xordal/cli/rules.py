"""``xordal rules``: parities, check digits and other sums that the rows obey."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import output, reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xordal.data.reading import Reading
    from xordal.data.suspects import Suspect
    from xordal.data.table import CategoricalTable
    from xordal.rules.finding import FoundRules


_MOST_NAMED = 8  # rows whose numbers a note tells


@dataclass(frozen=True, slots=True)
class _Code:
    """A column of codes that was split: its name, its characters, and the code of each row as written."""

    name: str
    places: tuple[tuple[str, str], ...]
    written: NDArray[np.object_]


def rules(  # noqa: PLR0913 - one parameter per option
    data: reading.Data,
    *,
    moduli: Annotated[
        str | None,
        typer.Option(
            help="Moduli to try, such as 2,10,97.", show_default="primes to 37, 89, 97", metavar="A,B"
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(help="Split a column of codes of one width into its characters.", metavar="COL"),
    ] = None,
    split_to: Annotated[
        str | None,
        typer.Option(
            help="Write the table with its split columns to this file, for learn, score and predict.",
            metavar="FILE",
        ),
    ] = None,
    broken: Annotated[
        str | None,
        typer.Option(
            help="Write rows that break a rule to this CSV file, with repairs, numbered as in the data.",
            metavar="FILE",
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Only rules that hardly any row breaks: quicker.")
    ] = False,
    largest_parity: Annotated[
        int,
        typer.Option(
            min=4,
            max=6,
            help="Parities of up to so many binary columns are sought through much noise; among a thousand "
            "columns 5 takes half a minute, 6 a minute.",
        ),
    ] = 4,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Chance of a false rule in a table that obeys none.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random choices of rows.")] = 0,
    how: reading.ExactTableOptions,
    as_json: output.AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the rules only, and no notes.")] = False,
) -> None:
    """Find the sums that the rows of a table obey: parities, check digits, totals, of any number of columns.

    A rule says that a sum of functions of some columns is the same in almost all rows, modulo a number. The
    functions are found too: weights of numbers, or a value for each level.

    Examples: xordal rules codes.csv --split isbn; xordal rules bits.csv --moduli 2 --broken wrong.csv
    """
    from xordal.cli import screen
    from xordal.formats.additive import rule_lines, rules_to_json
    from xordal.rules.finding import find_rules

    if not 0 < alpha < 1:
        raise typer.BadParameter("--alpha must be above 0 and below 1.")
    output.check_table_name(broken, data, option="--broken")
    output.check_table_name(split_to, data, option="--split-to")
    if split_to is not None and not split:
        raise typer.BadParameter("--split-to writes what --split COL has split: name a column.")

    def note(line: str) -> None:
        if not quiet:
            screen.note(line)

    table, rows, is_numbered, codes = _read(data, _as_it_is(how), split or [], note)
    if split_to is not None:
        _write_table(split_to, table)
    found = find_rules(
        table,
        moduli=_numbers(moduli),
        exact=exact,
        alpha=alpha,
        seed=seed,
        largest_parity=largest_parity,
        notice=note,
    )
    for code in codes:
        found = _completed(table, found, code, rows)
    for line in found.notes:
        note(line)
    if broken is not None:
        if not is_numbered:
            note(
                f"The rows in {broken} are numbered as they were taken: of tables packed on disk and of "
                "databases it is not known which rows a missing value left out."
            )
        _write_broken(broken, table, found, rows, codes)
    if as_json:
        typer.echo(json.dumps(rules_to_json(found), indent=2))
    else:
        screen.print_lines(screen.output(), rule_lines(found))


def _as_it_is(how: reading.TableOptions) -> Reading:
    """Return how to read the table: sums are of numbers as they are, so nothing is cut that need not be."""
    from xordal.data.discretise import Binning

    asked = how.reading()
    uncut = asked if how.bins is not None else replace(asked, bins=Binning())
    return replace(uncut, missing="drop") if how.missing == "auto" else uncut


def _read(
    data: str, how: Reading, split: Sequence[str], tell: Callable[[str], None]
) -> tuple[CategoricalTable, Sequence[int], bool, list[_Code]]:
    """Read a table as it is: numbers of many levels enter rules by their weight, and codes can be split.

    Its rows come with their numbers in the data, from 1: those with missing values or codes of another width
    are left out of the table, and count. Whether those with missing values do is the next answer: they do not
    in a table that is packed on disk. The last are the columns that were split.
    """
    import warnings
    from shlex import quote

    import numpy as np

    from xordal.data.read import read
    from xordal.data.split import split_rows
    from xordal.errors import DataWarning, counted

    def judge(found: Sequence[Suspect]) -> list[str]:
        for one in found:
            if one.kind == "counts" and (how.weights, how.survey_weights) == (None, None):
                tell(one.message)
        for name in (column.name for column in found if column.is_code and column.name not in split):
            tell(f"Column {name!r} has many levels of one width. If these are codes: --split {quote(name)}")
        return []

    masks: list[NDArray[np.bool_]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        # One column of codes is enough.
        table = read(data, how, judge, tell, warn=tell, least_columns=1, on_kept=masks.append)
    for warning in caught:
        tell(str(warning.message))
    rows = np.flatnonzero(masks[0]) if masks else np.arange(table.codes.shape[1])
    split_up: list[_Code] = []
    for name in split:
        before = table
        table, fits, places, n_cut = split_rows(before, name)
        rows = rows[fits]
        split_up = [replace(code, written=code.written[fits]) for code in split_up]
        at = before.names.index(name)
        written = np.array([str(level) for level in before.levels[at]], dtype=object)[before.codes[at]][fits]
        split_up.append(_Code(name, places, written))
        if left_out := int((~fits).sum()):
            told = f"{counted(left_out, 'row')} left out, where {name!r} has another width."
            tell(told + _cut(n_cut, len(places)))
    return table, (rows + 1).tolist(), bool(masks), split_up


def _cut(n_cut: int, width: int) -> str:
    """Return what to say of shorter codes of digits: a spreadsheet that takes codes as numbers cuts zeros."""
    if not n_cut:
        return ""
    which = "One code is shorter and" if n_cut == 1 else f"{n_cut:,} codes are shorter and"
    return (
        f" {which} may have lost leading zeros, as in a spreadsheet that takes codes as numbers: "
        f"export the column as text, or fill codes up to {width} characters with zeros on the left."
    )


def _completed(table: CategoricalTable, found: FoundRules, code: _Code, rows: Sequence[int]) -> FoundRules:
    """Return rules completed by the scheme of a code, with notes on its characters that are nearly constant."""
    from xordal.errors import counted
    from xordal.rules.completing import completed

    whole = completed(table, found.rules, code.places)
    notes = list(found.notes)
    for number, columns in whole.added.items():
        notes.append(
            f"Nearly all codes have the same character in {_listed(table, columns)}, so that the rows do not "
            f"tell what others add there. Rule {number + 1} takes it from the scheme of the whole code, "
            f"{whole.rules[number].name}."
        )
    if whole.unchecked and len(whole.differ):
        some = ", ".join(str(rows[row]) for row in whole.differ[:_MOST_NAMED].tolist())
        notes.append(
            f"Nearly all codes have the same character in {_listed(table, whole.unchecked)}, and no rule "
            "checks it: errors there are not found. Another character is there in "
            f"{counted(len(whole.differ), 'row')}: {some}{', ...' if len(whole.differ) > _MOST_NAMED else '.'}"
        )
    return replace(found, rules=whole.rules, notes=tuple(notes))


def _listed(table: CategoricalTable, columns: Sequence[int]) -> str:
    names = [table.names[v] for v in columns]
    return ", ".join(names[:-1]) + " and " + names[-1] if names[1:] else names[0]


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"--moduli are whole numbers with commas between, such as 2,10,97, not {text!r}."
        ) from None


def _write_table(file: str, table: CategoricalTable) -> None:
    from xordal.errors import counted

    each = (
        [levels[code] for levels, code in zip(table.levels, codes, strict=True)]
        for codes in table.codes.T.tolist()
    )
    output.write_table(file, table.names, each)
    output.tell(counted(table.codes.shape[1], "row"), file)


def _write_broken(
    file: str, table: CategoricalTable, found: FoundRules, rows: Sequence[int], codes: Sequence[_Code]
) -> None:
    from xordal.errors import counted
    from xordal.rules.repair import broken_rows

    names = ["row", "breaks", "change", "from", "to", "repairs", *(code.name for code in codes), *table.names]
    lines = []
    for each in broken_rows(table, found.rules):
        values = [levels[code] for levels, code in zip(table.levels, table.codes[:, each.row], strict=True)]
        change = "" if each.column is None else table.names[each.column]
        told = ["" if value is None else value for value in (each.value, each.repaired)]
        written = [code.written[each.row] for code in codes]
        numbers = " ".join(str(k + 1) for k in each.rules)
        lines.append([rows[each.row], numbers, change, *told, each.n_repairs, *written, *values])
    output.write_table(file, names, lines)
    output.tell(counted(len(lines), "row"), file)
