"""Options that several commands share are written down once, as the fields of a dataclass.

A command asks for all of them with one parameter, ``how: reading.TableOptions``. Typer knows no such
parameters: :func:`flat` makes of the command one with a parameter for each field, as typer wants it, that puts
the dataclass together when it is called. A field may be a group of options itself. Help, order and checks of
the options are typer's own, so a group looks to the user as if its options stood in the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which every group of options is replaced, where it stands, by its options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 3
    ...     height: int = 2
    >>> def draw(name: str, *, size: Size, bold: bool = False) -> None:
    ...     print(name, size, bold)
    >>> list(signature(flat(draw)).parameters)
    ['name', 'width', 'height', 'bold']
    >>> flat(draw)(name="box", width=5, height=2, bold=True)
    box Size(width=5, height=2) True
    """
    hints = get_type_hints(command, include_extras=True)
    own = signature(command).parameters

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: _gathered(name, hints[name], given) for name in own})

    flattened = [
        parameter
        for name, asked in own.items()
        for parameter in (
            _options(hints[name]) if is_dataclass(hints[name]) else [asked.replace(annotation=hints[name])]
        )
    ]
    run.__signature__ = Signature(flattened)  # type: ignore[attr-defined]  # where inspect looks first
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flattened}
    return run


def _options(group: Any) -> Iterator[Parameter]:
    """Yield the options of a group, those of the groups in it included."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        if is_dataclass(hints[field.name]):
            yield from _options(hints[field.name])
        else:
            yield Parameter(
                field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )


def _gathered(name: str, hint: Any, given: Mapping[str, Any]) -> Any:
    """Return the value of an option; of a group, the dataclass with the values of its options."""
    if not is_dataclass(hint):
        return given[name]
    inner = get_type_hints(hint, include_extras=True)
    return hint(**{field.name: _gathered(field.name, inner[field.name], given) for field in fields(hint)})  # type: ignore[operator]
