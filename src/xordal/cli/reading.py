"""The options of every command that reads a table, each written down once, and how odd columns are judged.

Where the library warns, the command line acts, and says so: columns of numbers are cut into bins, columns that
look like identifiers, dates or weights are left out unless they are asked for by name, missing values become a
level or their rows go. All of it is said at once, with the options that would say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.types.choices import CacheBy, Missing

if TYPE_CHECKING:
    from xordal.counting.select import Backend
    from xordal.data.dialect import TextFormat
    from xordal.data.discretise import Binning
    from xordal.data.reading import Reading
    from xordal.data.suspects import Suspect
    from xordal.data.table import CategoricalTable

PANEL = "Reading the table"
_MOST_TABULATED = 1 << 20  # bytes of a file that may be a table of counts


Data = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, Excel, JSON Lines, Parquet or Feather file, also compressed; a quoted pattern such as "
        "'data/*.parquet', or a folder; - for standard input. With --sql also a DuckDB or SQLite file, or "
        "postgresql://...",
        metavar="DATA",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How to read a text file."""

    missing_tokens: Annotated[
        list[str] | None,
        typer.Option(
            help="What stands for a missing value, beside an empty cell.",
            show_default="NA, NaN, NULL, ? and the like",
            metavar="A,B",
            rich_help_panel=PANEL,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What separates values; 'tab' for a tab.",
            show_default="detected",
            metavar="CHARACTER",
            rich_help_panel=PANEL,
        ),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            help="Of a workbook: name of the sheet, or its number.",
            show_default="the first with a table",
            metavar="SHEET",
            rich_help_panel=PANEL,
        ),
    ] = None
    skip_lines: Annotated[
        int | None,
        typer.Option(
            min=0, help="Lines above the header.", show_default="detected", metavar="N", rich_help_panel=PANEL
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether a line names the columns.",
            show_default="detected",
            rich_help_panel=PANEL,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Encoding of a text file.", show_default="detected", metavar="NAME", rich_help_panel=PANEL
        ),
    ] = None

    def text_format(self) -> TextFormat:
        """Return how a text file is to be read."""
        from xordal.data.dialect import MISSING_TOKENS, TextFormat

        tokens = names_in(self.missing_tokens)
        return TextFormat(
            delimiter_of(self.delimiter),
            self.header,
            self.encoding,
            MISSING_TOKENS if tokens is None else tuple(tokens),
            self.skip_lines,
            self.sheet,
        )


@dataclass(frozen=True, slots=True)
class LargeOptions:
    """How to read many rows, from where they are."""

    sql: Annotated[
        str | None,
        typer.Option(
            help="Take the rows of this query as the table: asked of a database, or of files, all of which are "
            "called data in it. Where rows repeat, the database counts them.",
            metavar="QUERY",
            rich_help_panel=PANEL,
        ),
    ] = None
    cache: Annotated[
        CacheBy,
        typer.Option(
            help="Large tables are packed once and kept (see xordal cache). time: they are packed anew when "
            "size or time of a file change; content: when its bytes do; off: always.",
            rich_help_panel=PANEL,
        ),
    ] = "time"


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to make a table of categorical columns from a file: the options of every command that learns."""

    weights: Annotated[
        str | None,
        typer.Option(
            help="Column of row weights: whole numbers count a row that often, fractions are survey weights.",
            metavar="COL",
            rich_help_panel=PANEL,
        ),
    ] = None
    survey_weights: Annotated[
        str | None,
        typer.Option(
            help="In place of --weights: column of survey weights, also where these are whole numbers.",
            metavar="COL",
            rich_help_panel=PANEL,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Column that says which rows belong together (one person, one machine): p-values are "
            "corrected for it.",
            metavar="COL",
            rich_help_panel=PANEL,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Take these columns only.", metavar="A,B", rich_help_panel=PANEL),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Leave these columns out.", metavar="A,B", rich_help_panel=PANEL),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            help="Take these columns as they are, though they look continuous or like identifiers.",
            metavar="A,B",
            rich_help_panel=PANEL,
        ),
    ] = None
    bins: Annotated[
        str | None,
        typer.Option(
            help="Cut columns of numbers into this many levels, all or by name; none refuses such columns.",
            metavar="4|A=5,B=3|none",
            show_default="4",
            rich_help_panel=PANEL,
        ),
    ] = None
    bin_by: Annotated[
        str,
        typer.Option(
            help="Bins with equally many rows (quantile), or equally wide (width); all or by name.",
            metavar="quantile|width|A=width",
            rich_help_panel=PANEL,
        ),
    ] = "quantile"
    dates: Annotated[
        list[str] | None,
        typer.Option(
            help="Take parts of dates in their place: year, quarter, month, weekday, day or hour.",
            metavar="month,weekday|A=month",
            rich_help_panel=PANEL,
        ),
    ] = None
    merge_rare: Annotated[
        int, typer.Option(min=0, help="Merge levels of fewer rows than this into one.", rich_help_panel=PANEL)
    ] = 0
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: refuse them, drop their rows, or make them a level; auto: drop where that "
            "costs at most one row in twenty, else a level.",
            rich_help_panel=PANEL,
        ),
    ] = "auto"
    text: TextOptions = TextOptions()
    large: LargeOptions = LargeOptions()

    def reading(self) -> Reading:
        """Return how to read a table, from what the options say."""
        from xordal.data.reading import Reading

        return Reading(
            columns=names_in(self.columns),
            exclude=names_in(self.exclude) or (),
            weights=self.weights,
            survey_weights=self.survey_weights,
            cluster=self.cluster,
            missing=self.missing,
            bins=binning_of(self.bins, self.bin_by),
            merge_rare=self.merge_rare,
            categorical=names_in(self.categorical) or (),
            dates=date_parts(self.dates),
            text=self.text.text_format(),
            sql=self.large.sql,
            cache=self.large.cache,
        )


@dataclass(frozen=True, slots=True)
class ExactTableOptions(TableOptions):
    """The same for a command that takes rows as they are: a missing value has no place in a sum."""

    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: refuse them, drop their rows, or make them a level, whose rows neither "
            "obey nor break a rule; auto: drop, however many rows that costs.",
            rich_help_panel=PANEL,
        ),
    ] = "auto"


def names_in(texts: Iterable[str] | None) -> list[str] | None:
    """Return the names of an option given once or several times, each a list separated by commas.

    A name that contains a comma is quoted, as in a CSV file.

    Examples
    --------
    >>> names_in(["age,sex", '"size, m"'])
    ['age', 'sex', 'size, m']
    """
    import csv

    if not texts:
        return None
    try:
        return [name.strip() for record in csv.reader(texts, skipinitialspace=True) for name in record]
    except csv.Error as error:
        raise typer.BadParameter(f"column names are separated by commas, on one line ({error}).") from None


def binning_of(bins: str | None, bin_by: str) -> Binning:
    """Return which columns are cut and how: ``4``, ``age=5,income=3``, both, or ``none``.

    Examples
    --------
    >>> found = binning_of("age=5", "income=width")
    >>> found.named["age"].number, found.named["income"].by, found.others.number
    (5, 'width', 4)
    """
    from xordal.data.discretise import Binning, Bins
    from xordal.errors import SettingsError

    numbers, ways = _by_name(bins or "4", "--bins"), _by_name(bin_by, "--bin-by")
    try:
        number = {name: None if text == "none" else int(text) for name, text in numbers.items()}
    except ValueError:
        raise typer.BadParameter(
            f"--bins is a number, or a number for a column such as age=5, not {bins!r}."
        ) from None
    if alone := [name for name, each in number.items() if name and each is None]:
        raise typer.BadParameter(
            f"--bins none is for all columns; --categorical {alone[0]} takes one as it is."
        )
    others = number.get("", 4)
    way = ways.get("", "quantile")
    try:
        usual = 4 if others is None else others
        named = {
            name: Bins(number.get(name) if name in number else usual, ways.get(name, way))  # type: ignore[arg-type]
            for name in {**number, **ways}
            if name
        }
        return Binning(None if others is None else Bins(others, way), named)  # type: ignore[arg-type]  # checked
    except SettingsError as wrong:
        raise typer.BadParameter(f"--bins and --bin-by: {wrong}") from None


def date_parts(texts: Iterable[str] | None) -> list[str] | dict[str, list[str]]:
    """Return the parts of dates asked for: of all columns, or by the name of each.

    Examples
    --------
    >>> date_parts(["month,weekday"]), date_parts(["visit=month,visit=year"])
    (['month', 'weekday'], {'visit': ['month', 'year']})
    """
    items = names_in(texts) or []
    named: dict[str, list[str]] = {}
    for item in items:
        name, _, part = item.rpartition("=")
        named.setdefault(name, []).append(part)
    if len(named) > 1 and "" in named:
        raise typer.BadParameter("--dates gives parts for all columns of dates, or for each by name, not both.")
    return named.get("", []) if not named or "" in named else named


def _by_name(text: str, option: str) -> dict[str, str]:
    """Return what an option says by the name of the column; of all columns, by no name."""
    found: dict[str, str] = {}
    for item in names_in([text]) or []:
        name, _, value = item.rpartition("=")
        if name in found:
            raise typer.BadParameter(f"{option} says two things of {name or 'all columns'}.")
        found[name] = value
    return found


def label_of(source: str) -> str:
    """Return what a source is called on the screen: the name of the file."""
    if "://" in source:  # an address may hold a password
        from xordal.data.sql.places import told_of

        return told_of(source)
    return "standard input" if source == "-" else source.rstrip("/").rpartition("/")[2]


def tell_size(source: str, table: CategoricalTable) -> None:
    """Say what was read, before anything is learned from it."""
    from xordal.cli import screen
    from xordal.errors import counted
    from xordal.formats.text import shown

    size = f"{counted(table.n_rows, 'row')}, {counted(table.n_variables, 'column')}"
    screen.notes().print(f"{shown(label_of(source))}: {size}\n")


def delimiter_of(text: str | None) -> str | None:
    """Return a delimiter as it was meant: a tab and a space are hard to type."""
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(text or "", text)


def read_for_learning(
    source: str, how: Reading, *, is_quiet: bool, backend: str | Backend = "auto"
) -> CategoricalTable:
    """Read a table for a search: refuse, leave out and tell what the library only warns about.

    ``backend`` is who will count; a cluster also lists and reads files.

    Raises
    ------
    DataError
        If the table cannot be read, a column looks continuous, or there is nothing to learn from.
    """
    import warnings

    from xordal.cli import screen
    from xordal.counting.select import as_read_by
    from xordal.data.entering import left_out as words
    from xordal.data.read import read
    from xordal.errors import DataError, DataWarning

    told: list[str] = []
    counts: list[Suspect] = []

    def judge(found: Sequence[Suspect]) -> list[str]:
        left_out = _decide(found, how.columns or ())
        for column in found:
            if (
                column.kind == "counts"
                and (how.weights, how.survey_weights) == (None, None)
                and column.name not in (how.columns or ())
            ):
                counts.append(column)
            elif column.name in left_out:
                told.append(f"{column.message} {words()}")
            elif column.kind != "constant" or not is_quiet:
                told.append(column.message)
        return left_out

    with warnings.catch_warnings(record=True) as caught, screen.packing(is_quiet) as on_rows:
        warnings.simplefilter("always", DataWarning)
        asked = as_read_by(backend, source, how)
        table = read(asked, how, judge, told.append, warn=told.append, on_rows=on_rows)
    if counts:
        table, line = _counted(table, counts)
        told.append(line)
    elif how.weights is None and how.survey_weights is None and (line := _tabulated(source, how)):
        told.append(line)
    if table.n_rows < 2:
        raise DataError("There is only one row. Dependence shows in many rows; a network needs at least two.")
    for message in (*(str(warning.message) for warning in caught), *told):
        screen.note(message)
    if table.n_variables < 2:
        raise DataError(f"Only one column is left, {table.names[0]!r}. A network needs at least two.")
    return table


def is_one_file(source: str, sql: str | None) -> bool:
    """Whether a source is one file that can be read as a whole: no database, pattern, folder or query."""
    from pathlib import Path

    from xordal.data.sql.places import kind_of_file

    return sql is None and Path(source).is_file() and kind_of_file(source) is None


def _tabulated(source: str, how: Reading) -> str:
    """Return what to say of a file that looks like a table of counts; nothing of others, and of large ones."""
    import warnings
    from pathlib import Path

    from xordal.data.read import columns_from
    from xordal.data.tabulated import count_column
    from xordal.errors import DataWarning, typed

    if not is_one_file(source, how.sql) or Path(source).stat().st_size > _MOST_TABULATED:
        return ""
    with warnings.catch_warnings():  # all there is to say was said when the table was read
        warnings.simplefilter("ignore", DataWarning)
        name = count_column(columns_from(source, how.text)[0])
    if name is None or name in (*(how.columns or ()), *how.categorical, *how.exclude):
        return ""
    return (
        f"Each combination of the other columns stands in one row, as in a table of counts. If {name!r} says "
        f"how often it occurs: --weights {typed(name)}."
    )


def _counted(table: CategoricalTable, found: Sequence[Suspect]) -> tuple[CategoricalTable, str]:
    """Count rows by a column of counts where it can be nothing else; return the table and what to say.

    It can be nothing else where every combination of the other columns stands once, as in a table of counts.
    """
    from xordal.data.read import read
    from xordal.data.reading import Reading
    from xordal.errors import typed

    name, codes = found[0].name, table.codes
    others = [v for v in range(table.n_variables) if table.names[v] != name]
    n_rows = codes.shape[1]
    is_once = table.blocks is None and len({column.tobytes() for column in codes[others].T.copy()}) == n_rows
    if len(found) > 1 or not is_once or len(others) < 2:
        return table, " ".join(one.message for one in found)
    told = (
        f"Rows are counted by {name!r}, as with --weights {typed(name)}: each combination of the other columns "
        f"stands there once. --categorical {typed(name)} takes it as a column."
    )
    return read(table, Reading(weights=name, missing="level"), lambda suspects: ()), told


def _decide(found: Sequence[Suspect], asked_for: Sequence[str]) -> list[str]:
    """Refuse columns of numbers that are not to be cut, all in one answer; return the columns to leave out."""
    from xordal.data.entering import identifiers
    from xordal.errors import DataError

    refused = [column for column in found if column.kind in ("continuous", "words")]
    if refused:
        raise DataError("\n".join(column.message for column in refused))
    return identifiers(found, asked_for)
