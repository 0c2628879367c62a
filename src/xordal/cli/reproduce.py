"""``xordal reproduce``: every table and figure of the paper beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from xordal.report.paper import Check, Grid, Item, Summary


def reproduce(
    folder: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Also write a page with all figures, DIR/index.html."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Compute every table and figure of the paper and compare: equal, equal up to sampling, or different.

    Examples: xordal reproduce; xordal reproduce -o paper
    """
    import json

    from xordal.cli import screen
    from xordal.formats.text import shown
    from xordal.report.paper import reproduce as reproduce_paper

    if folder is not None:
        _make(folder)
    summary = reproduce_paper()
    if folder is not None:
        from xordal.data.write import write_text
        from xordal.report.html import paper_page

        write_text(folder / "index.html", paper_page(summary))
    if as_json:
        typer.echo(json.dumps(summary.to_json(), indent=2))
    else:
        _print_summary(screen.output(), summary)
    if folder is not None:
        screen.notes().print(f"Wrote {shown(folder / 'index.html')}", soft_wrap=True)


def _make(folder: Path) -> None:
    """Create the folder before any work is done."""
    from xordal.errors import DataError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DataError(f"{str(folder)!r} is a file; -o names a folder to write index.html into.") from None
    except OSError as error:
        raise DataError(f"Cannot make the folder {str(folder)!r}: {error.strerror}.") from None


def _print_summary(console: Console, summary: Summary) -> None:
    from rich.text import Text

    for item in summary.items:
        _print_item(console, item)
    differences = summary.differences()
    told = ", ".join(f"{count} {mark}" for mark, count in summary.counts().items())
    console.print(Text(f"In all: {told}{':' if differences else '.'}", style="bold"))
    for item, check in differences:
        console.print(Text(f"  {item.label}: {check.what}"))


def _print_item(console: Console, item: Item) -> None:
    from rich.text import Text

    console.print(Text(f"{item.label}: {item.title}", style="bold underline"))
    for grid in item.grids:
        _print_grid(console, grid)
    for drawing in item.drawings:
        console.print(Text(f"  drawn with -o: {drawing.title}", style="dim"))
    for check in item.checks:
        _print_check(console, check)
    console.print()


def _print_grid(console: Console, grid: Grid) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console.print(Text(f"  {grid.caption}"))
    padding = (0, 1) if console.width >= 100 else (0, 0)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=padding)
    for place, (heading, is_numeric) in enumerate(zip(grid.headings, grid.numeric, strict=True)):
        # Columns of numbers are as narrow as they can be, so that in a narrow terminal only text folds.
        width = max(map(len, [*heading.split(), *(row[place] for row in grid.rows)])) if is_numeric else None
        justify: Literal["right", "left"] = "right" if is_numeric else "left"
        table.add_column(Text(heading), justify=justify, width=width, overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _print_check(console: Console, check: Check) -> None:
    from rich.padding import Padding
    from rich.text import Text

    style = {"equal": "green", "equal up to sampling": "cyan", "different": "yellow"}[check.mark]
    console.print(Text(f"  [{check.mark}] ", style=style) + Text(check.what, style="default"))
    lines = [f"paper: {check.paper}", f"ours:  {check.ours}", f"why:   {check.why}"]
    if check.paper == check.ours:
        lines = [f"both:  {check.ours}"]
    for line in lines if check.why else lines[:2]:
        console.print(Padding(Text(line), (0, 0, 0, 6), expand=False))
