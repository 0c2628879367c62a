"""``xordal generate``: tables from the models of the zoo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def generate(
    model: Annotated[
        str | None, typer.Argument(help="A model such as music-box or parity; --list shows them all.")
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option("-n", "--rows", min=1, show_default="2000", help="Random rows to draw."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Write the smallest table in exact proportions instead.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random rows.")] = 0,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "-p", "--parameter", metavar="NAME=VALUE", help="Parameter of the model; may be repeated."
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write; standard output if not given.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the models and their parameters.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing about the file written.")] = False,
) -> None:
    """Write a table drawn from a model with hidden groups, to learn from.

    Examples: xordal generate music-box -n 2000 -o box.csv; xordal generate parity -p variables=5 -p noise=0.1
    """
    from xordal.cli.screen import notes
    from xordal.data.write import csv_text, write_text
    from xordal.errors import counted
    from xordal.pi.zoo import FAMILIES, build

    if show_list:
        _print_list()
        return
    if model is None:
        raise typer.BadParameter(f"name a model: {', '.join(FAMILIES)}.")
    if exact and rows is not None:
        raise typer.BadParameter("--exact writes the smallest exact table; leave -n out.")
    joint = build(model, _named(parameters or [])).joint
    drawn = list(joint.exact_rows() if exact else joint.sample_rows(rows or 2000, seed))
    text = csv_text(joint.variables, drawn)
    if to is None:
        typer.echo(text, nl=False)
        return
    write_text(to, text)
    if not quiet:
        kind = "in exact proportions" if exact else f"at random, seed {seed}"
        notes().print(f"Wrote {counted(len(drawn), 'row')} {kind} to {to}")


def _named(parameters: list[str]) -> dict[str, str]:
    named = {}
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        if not equals:
            raise typer.BadParameter(f"a parameter is NAME=VALUE, not {parameter!r}.")
        named[name] = value
    return named


def _print_list() -> None:
    from xordal.pi.zoo import FAMILIES

    for name, family in FAMILIES.items():
        typer.echo(f"{name:<15} {family.summary}")
        if family.defaults:
            told = "  ".join(f"{key}={value}" for key, value in family.defaults.items())
            typer.echo(f"{'':<15} -p {told}")
