"""Commands as they were written before: understood for one more release, with a notice."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def as_now(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as they are written now; say so where that differs.

    ``xordal learn --tune`` has become ``xordal tune``. It takes the same options but for those that never went
    with --tune, which it refuses by name.

    Examples
    --------
    >>> as_now(["learn", "survey.csv", "--tune", "--folds", "3"])
    ['tune', 'survey.csv', '--folds', '3']
    """
    if list(arguments[:1]) != ["learn"] or "--tune" not in arguments:
        return list(arguments)
    typer.echo(
        "Note: xordal learn --tune is now a command of its own, xordal tune; the old form goes with the next "
        "release.",
        err=True,
    )
    return ["tune", *(argument for argument in arguments[1:] if argument != "--tune")]
