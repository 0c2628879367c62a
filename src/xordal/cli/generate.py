"""``xordal generate``: tables from the models of the zoo."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from xordal.cli import output


def generate(  # noqa: PLR0913 - one parameter per option
    model: Annotated[
        str | None,
        typer.Argument(help="A model such as music-box or parity; --list shows them all.", metavar="MODEL"),
    ] = None,
    *,
    rows: Annotated[
        int | None,
        typer.Option("-n", "--rows", min=1, show_default="2000", help="Random rows to draw."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Write the smallest table in exact proportions instead.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, show_default="0", help="Seed of the random rows.")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "-p", "--parameter", metavar="NAME=VALUE", help="Parameter of the model; may be repeated."
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="CSV file to write; - or none: standard output."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write links and hidden groups, or rules and typing errors, to this file as JSON.",
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the models and their parameters.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing about the file written.")] = False,
) -> None:
    """Write a table drawn from a model with hidden groups or check digits, to learn from.

    Examples: xordal generate music-box -n 2000 -o box.csv; xordal generate parity -p variables=5 -p noise=0.1;
    xordal generate isbn-10 -p errors=1/100 -o books.csv
    """
    from xordal.errors import counted
    from xordal.formats.json import codes_to_json, truth_to_json
    from xordal.pi.zoo import CODES, FAMILIES, build, build_codes

    if show_list:
        if model is not None:
            raise typer.BadParameter(f"--list shows all models; leave {model!r} out.")
        _print_list()
        return
    if model is None:
        raise typer.BadParameter(f"name a model: {', '.join([*FAMILIES, *CODES])}.")
    if exact and (rows is not None or seed is not None):
        raise typer.BadParameter("--exact writes the smallest exact table; leave -n and --seed out.")
    _check_files(to, truth)
    n_rows = 2000 if rows is None else rows
    drawn: Iterable[tuple[str, ...]]
    if model in CODES:
        if exact:
            raise typer.BadParameter(f"{model} has too many states for --exact; draw rows with -n.")
        codes = build_codes(model, _named(parameters or []))
        drawn, errors = codes.draw(n_rows, seed or 0)
        names, about = codes.variables, codes_to_json(codes, errors)
    else:
        built = build(model, _named(parameters or []))
        names = built.joint.variables
        drawn = list(built.joint.exact_rows()) if exact else built.joint.sample_rows(n_rows, seed or 0)
        about = {} if truth is None else truth_to_json(built)
    known = None if truth is None else json.dumps(about, indent=2)
    output.write_table(to, names, drawn)
    if known is not None:
        output.write(truth, [f"{known}\n"])
    if not quiet:
        kind = "in exact proportions" if exact else f"at random, seed {seed or 0},"
        output.tell(f"{counted(len(drawn) if isinstance(drawn, list) else n_rows, 'row')} {kind}", to)
        output.tell("the truth", truth)


def _check_files(to: str | None, truth: str | None) -> None:
    """Refuse names that are none, and two outputs into one place."""
    from xordal.data.tables_out import table_format
    from xordal.data.write import is_standard_output

    if to:
        table_format(to)
    for option, file in (("-o", to), ("--truth", truth)):
        if file == "":
            raise typer.BadParameter(f"{option} needs the name of a file.")
    if truth is None:
        return
    rows_to = "-" if to is None else to
    both_shown = is_standard_output(rows_to) and is_standard_output(truth)
    if both_shown or Path(rows_to).resolve() == Path(truth).resolve():
        raise typer.BadParameter("the rows and the truth cannot go to one place; name two files.")


def _named(parameters: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        if not equals:
            raise typer.BadParameter(f"a parameter is NAME=VALUE, not {parameter!r}.")
        if name in named:
            raise typer.BadParameter(f"the parameter {name!r} is given more than once.")
        named[name] = value
    return named


def _print_list() -> None:
    from xordal.pi.zoo import CODES, FAMILIES, Family

    families: dict[str, Family[Any]] = {**FAMILIES, **CODES}
    for name, family in families.items():
        typer.echo(f"{name:<15} {family.summary}")
        if family.defaults:
            told = "  ".join(f"{key}={value}" for key, value in family.defaults.items())
            typer.echo(f"{'':<15} -p {told}")
