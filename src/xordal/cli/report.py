"""``xordal report``: a table, or a network, as one page to look at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xordal.cli import asking, output, reading, stopping

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable
    from xordal.report.overview import TableOverview
    from xordal.report.summary import ReportSummary
    from xordal.types.learned import Learned

_COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zip"}
_MOST_LINKS = 3  # that are told on the screen beside groups and rules
_RANGE = re.compile(r"\((\d[\d.]* to \d|over \d|under \d)")
_HEAD = 2000  # bytes in which a page says what made it


def report(
    source: Annotated[
        str,
        typer.Argument(
            help="A table, to learn from; or a network: a model file of xordal learn -o, a BIF, XMLBIF, UAI or "
            "Hugin NET file; - for standard input.",
            metavar="DATA|NET",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="here, the name of the file with .html",
            help="Page to write; - for standard output.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default="the name of the file", metavar="TEXT")
    ] = None,
    max_variables: Annotated[
        int | None,
        typer.Option(
            "-m", "--max-variables", min=2, help="Largest group of columns to find at once.", show_default="3"
        ),
    ] = None,
    limits: stopping.LimitOptions,
    how: reading.TableOptions,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but notes and errors.")] = False,
) -> None:
    """Write what a table holds as one page that needs nothing else: network, hidden groups, columns, replay.

    A table is learned from first, as xordal learn does; what was found is printed in a few lines. The page of a
    network says what its file knows.

    Examples: xordal report survey.csv; xordal report net.json -o report.html --title "Survey of 2026"
    """
    from xordal.formats.network_files import is_network_file
    from xordal.report.html import report_page
    from xordal.report.summary import summarise

    if to is None:
        to = "-" if source == "-" else _own_page(source)
    output.check_name(to, source)
    named = title or ("" if source == "-" else f"What xordal found in {_stem(source)}")
    if is_network_file(source):
        output.write(to, [report_page(summarise(asking.network_of(source), named))])
        output.tell("the report", None if quiet else to)
        return
    chosen = limits.limits()
    table = reading.read_for_learning(source, how.reading(), is_quiet=quiet)
    with stopping.terminable() as signals:
        learned, interrupted = _learned(table, {"max_variables": max_variables, "limits": chosen}, quiet)
    overview = _overview(source, table, how)
    summary = summarise(learned.network(), named, overview)
    output.write(to, [report_page(summary)])
    if not quiet:
        _tell(learned, summary, to)
    if interrupted:
        raise stopping.exit_of(signals)


def _stem(source: str) -> str:
    """Return the name of a source without endings, those of compressed files included.

    Examples
    --------
    >>> _stem("data/survey.csv.gz"), _stem("data/2024/*.parquet"), _stem("v1.2.csv")
    ('survey', '2024', 'v1.2')
    """
    parts = [part for part in Path(source).parts if not set("*?[") & set(part)]
    is_named = bool(parts) and parts[-1] != ".."
    name = Path(parts[-1] if is_named else Path(*parts).resolve().name)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    return name.stem or "table"


def _own_page(source: str) -> str:
    """Return the page named after a source, in the current folder: never beside data, which others may share.

    Raises
    ------
    DataError
        If a file of this name is there that is no page of ours: nobody said that it may go.
    """
    from xordal.errors import DataError

    page = Path(f"{_stem(source)}.html")
    if page.is_file() and b'content="xordal ' not in page.read_bytes()[:_HEAD]:
        raise DataError(f"{str(page)!r} is there already and no page of xordal. Name another file: -o FILE.")
    return str(page)


def _learned(table: CategoricalTable, settings: dict[str, object], quiet: bool) -> tuple[Learned, bool]:
    """Learn; return what was learned, and whether Ctrl-C ended it."""
    from xordal.cli import screen
    from xordal.learning.learn import Interrupted, learn

    with screen.watching(quiet) as (_, tell):
        try:
            found = learn(
                table,
                **settings,  # type: ignore[arg-type]
                on_progress=tell,
                notice=lambda line: None if quiet else screen.note(line),
            )
        except Interrupted as stop:
            return stop.learned, True
    return found, False


def _overview(source: str, table: CategoricalTable, how: reading.TableOptions) -> TableOverview | None:
    """Return the table as it came, where one file holds it; else as it was learned from, if it is in memory."""
    import warnings

    from xordal.data.read import columns_from
    from xordal.errors import DataWarning
    from xordal.report.overview import overview_of

    if table.blocks is not None:
        return None
    if not reading.is_one_file(source, how.large.sql):
        return overview_of(table.columns())
    with warnings.catch_warnings():  # all there is to say was said when the table was read to learn from
        warnings.simplefilter("ignore", DataWarning)
        return overview_of(columns_from(source, how.text.text_format())[0])


def _tell(learned: Learned, summary: ReportSummary, to: str) -> None:
    from xordal.cli import screen
    from xordal.data.write import is_standard_output
    from xordal.formats.effects import smallest_text
    from xordal.formats.overview import overview

    console = screen.notes() if is_standard_output(to) else screen.output()
    links = [link.words for link in summary.strongest_links if link.words]
    lines = overview(learned, "the page").splitlines()
    if summary.groups or summary.rules:  # what hides came first; what pairs show is told in short
        shown = links[:_MOST_LINKS]
        lines += ["  Pairs show:", *(f"    {words}" for words in shown)] if shown else []
    else:
        lines += [f"  {words}" for words in links]
    if not learned.links and not learned.rules and (smallest := smallest_text(learned)):
        lines.append(f"  {smallest.rstrip('.')} (a fair coin has 0.69).")
    if any(_RANGE.search(line) for line in lines):
        lines.append("  Ranges in brackets are of 95 %.")
    screen.print_lines(console, lines)
    output.tell("the report", to)
