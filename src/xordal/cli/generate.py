"""``xordal generate``: tables from the models of the zoo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def generate(
    model: Annotated[str | None, typer.Argument(help="table-1 or music-box; --list tells more.")] = None,
    rows: Annotated[int, typer.Option("-n", "--rows", min=1, help="Random rows to draw.")] = 2000,
    exact: Annotated[
        bool, typer.Option("--exact", help="Write the smallest table in exact proportions instead.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random rows.")] = 0,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write; standard output if not given.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the models and exit.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing about the file written.")] = False,
) -> None:
    """Write a table drawn from a model with hidden groups, to learn from.

    Examples: xordal generate music-box -n 2000 -o box.csv; xordal generate table-1 --exact
    """
    from xordal.cli.screen import notes
    from xordal.data.write import csv_text, write_text
    from xordal.errors import counted
    from xordal.pi.zoo import MODELS
    from xordal.pi.zoo import model as find_model

    if show_list:
        for name, known in MODELS.items():
            typer.echo(f"{name:<12} {known.summary}")
        return
    if model is None:
        raise typer.BadParameter(f"name a model: {' or '.join(MODELS)}.")
    joint = find_model(model).joint()
    drawn = list(joint.exact_rows() if exact else joint.sample_rows(rows, seed))
    text = csv_text(joint.variables, drawn)
    if to is None:
        typer.echo(text, nl=False)
        return
    write_text(to, text)
    if not quiet:
        kind = "in exact proportions" if exact else f"at random, seed {seed}"
        notes().print(f"Wrote {counted(len(drawn), 'row')} {kind} to {to}")
