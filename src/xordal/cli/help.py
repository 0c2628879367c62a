"""``--help`` that fits a terminal of 80 columns: an option, its words beside it, those of one kind together.

Examples stand one a line, as they would be typed, and no line ends within an option such as ``--no-browser``.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

# What typer calls types and defaults, and what people do.
_PLAINER = ((r" <(int|float)( range)?>", " N"), (r" <(str|path)>", ""), (r" <list\[str\]>", " ..."))
_RANGE = re.compile(r"; [\d.]*(<=|<)?x?(<=|<|>=|>)[^;\]]*|\[(?:[\d.]+(<=|<))?x(<=|<|>=|>)[\d.]+\]")
_SET = re.compile(r"\[default: \((.*?)\)(?=[;\]])", re.DOTALL)


class Command(TyperCommand):
    """A command whose options are told group by group, in the order of their panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what is wrong is said without the name of the error that typer puts before it."""
        try:
            return super().parse_args(ctx, args)
        except BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does, and its examples one a line."""
        words, _, examples = cleandoc(self.help or "").partition("Examples: ")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_whole(words.strip()))
        if examples:
            with formatter.section("Examples"):
                for example in " ".join(examples.split()).split("; "):
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        _parted(formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, those of a panel under its name."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                usual = "Arguments" if is_argument else "Options"
                panel = getattr(parameter, "rich_help_panel", None) or usual
                panels.setdefault(panel, []).append(plainer(*record))
        for name, records in panels.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl([(names, _whole(words)) for names, words in records], col_max=26)
        _parted(formatter)


class Group(TyperGroup):
    """The program as a whole: each command with the first sentence of what it does, never cut short."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each with its first sentence."""
        records = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                records.append((name, " ".join((command.help or "").split("\n\n")[0].split())))
        with formatter.section("Commands"):
            formatter.write_dl(records)


_HYPHEN = "\u2011"  # at which lines do not break


def _whole(words: str) -> str:
    """Return text whose words are not parted at a hyphen when lines are made of it."""
    return words.replace("-", _HYPHEN)


def _parted(formatter: Any) -> None:
    """Write hyphens as they are typed, once the lines are made."""
    formatter.buffer[:] = [piece.replace(_HYPHEN, "-") for piece in formatter.buffer]


def plainer(names: str, words: str) -> tuple[str, str]:
    """Return an option's names and help without what only programs need to know.

    Examples
    --------
    >>> plainer("-k, --max-links <int range>", "Links to look ahead.  [default: (3); x>=1]")
    ('-k, --max-links N', 'Links to look ahead.  [default: 3]')
    """
    for found, plain in _PLAINER:
        names = re.sub(found, plain, names)
    words = _RANGE.sub("", _SET.sub(r"[default: \1", words))
    return names, words.replace("  [required]", "").rstrip()
