"""``xordal learn --bootstrap``: its options, and the resampling with progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable
    from xordal.types.learned import Stability


@dataclass(frozen=True, slots=True)
class BootstrapOptions:
    """How often to learn again, from resamples of the rows."""

    resamples: Annotated[
        int,
        typer.Option(
            "--bootstrap",
            min=0,
            help="Learn from this many resamples of the rows as well; tell how often links and groups come "
            "back.",
            metavar="B",
        ),
    ] = 0
    workers: Annotated[int, typer.Option(min=1, help="Processes for --bootstrap.")] = 1
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers of --bootstrap.")] = 0


def of(
    table: CategoricalTable, how: BootstrapOptions, quiet: bool, settings: dict[str, Any]
) -> Stability | None:
    """Return how stable the result is, or None after Ctrl-C."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from xordal.cli.screen import notes
    from xordal.resampling import bootstrap

    console = notes()
    columns = (TextColumn("resamples"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    silent = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("resamples", total=how.resamples)
        try:
            return bootstrap(
                table,
                how.resamples,
                seed=how.seed,
                workers=how.workers,
                on_sample=lambda n_done: bar.update(task, completed=n_done),
                **settings,
            )
        except KeyboardInterrupt:
            return None
