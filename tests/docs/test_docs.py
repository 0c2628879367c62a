"""The documentation is true: its examples run and print what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import xordal
from tests.commands import call
from xordal.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = [command.callback.__name__ for command in app.registered_commands if command.callback]

each_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])


def with_tables(folder: Path) -> Path:
    """Return a folder in which examples run as in a checkout: the tables of the tutorials are there."""
    shutil.copytree(ROOT / "docs" / "tables", folder / "docs" / "tables")
    return folder


def test_no_page_is_called_as_one_that_sphinx_makes() -> None:
    """Sphinx writes its own search.html over a page of that name, and says nothing."""
    assert {page.stem for page in PAGES} & {"search", "genindex", "py-modindex"} == set()


def test_no_listing_stands_in_three_pages() -> None:
    """What a command prints is shown once and linked to; pages of the gallery are written by the program."""
    holders: dict[tuple[str, ...], set[str]] = {}
    for page in PAGES:
        for _, output in [] if page.name.startswith("gallery-") else console_examples(page):
            told = [line for line in output if line.strip() not in ("", "...")]
            for start in range(len(told) - 2):
                holders.setdefault(tuple(told[start : start + 3]), set()).add(page.name)
    assert not {lines: pages for lines, pages in holders.items() if len(pages) > 2}


@pytest.mark.slow
@each_page
def test_python_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(with_tables(tmp_path))
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def console_examples(page: Path) -> list[tuple[str, list[str]]]:
    """Return each ``$ xordal`` command of a page with the output lines printed below it."""
    examples: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                examples.append((line[2:], []))
            elif examples:
                examples[-1][1].append(line)
    return [(command, output) for command, output in examples if command.startswith("xordal ")]


WIDE = {"COLUMNS": "160", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def executed(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell would: in this process, unless the line joins several programs."""
    words = shlex.split(command)
    if {"|", "&&"} & set(words):
        return subprocess.run(
            command, shell=True, cwd=folder, env=os.environ | WIDE, capture_output=True, text=True, check=False
        )
    both = "2>&1" in words
    arguments = [word for word in words[1:] if word != "2>&1"]
    file = arguments.pop() if ">" in arguments else None
    done = call([word for word in arguments if word != ">"], cwd=folder, environment=WIDE)
    out, err = done.stdout.decode(), done.stderr.decode()
    if file is not None:
        (folder / file).write_text(out, encoding="utf-8")
        out = ""
    return subprocess.CompletedProcess(command, done.returncode, err + out if both else out, err)


@pytest.mark.slow
@each_page
def test_console_examples(page: Path, tmp_path: Path) -> None:
    with_tables(tmp_path)
    for command, expected in console_examples(page):
        if "--install-completion" in command:
            continue  # would write to the user's own shell settings
        done = executed(command, tmp_path)
        if any(line.strip() for line in expected):
            shown = done.stdout if done.stdout.strip() else done.stderr
            assert re.fullmatch(pattern(expected), normalised(shown)), f"{command}\nprinted\n{shown}"
        else:
            assert done.returncode == 0, done.stderr


def normalised(text: str) -> str:
    """Make the one thing that differs between runs, the time, the same."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return re.sub(r'\b\d+\.\d+ s\b|(?<="seconds": )[\d.e-]+', "TIME", "\n".join(lines))


def pattern(lines: list[str]) -> str:
    """Turn the shown lines into a pattern in which a line of three dots stands for any lines."""
    escaped = re.escape(normalised("\n".join(lines)))
    return re.sub(r"(?m)^[ ]*\\\.\\\.\\\.$", r"[\\s\\S]*", escaped.replace("\\\n", "\n").replace("\\ ", " "))


def test_every_command_is_documented() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for command in COMMANDS:
        assert f"xordal {command}" in text, f"no page shows xordal {command}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help(command: str) -> None:
    group = typer.main.get_command(app)
    parameters = group.commands[command].params  # type: ignore[attr-defined]
    assert all(parameter.help for parameter in parameters if parameter.name != "help")


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_commands_in_pages_can_be_parsed() -> None:
    for page in PAGES:
        for command, _ in console_examples(page):
            assert shlex.split(command)[1].startswith("-") or shlex.split(command)[1] in COMMANDS, command


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    told = re.findall(r"^\.\. auto\w+:: xordal\.(\w+)$", page, flags=re.MULTILINE)
    assert sorted(told) == sorted(xordal.__all__), "docs/api.md names every public name once"


@pytest.mark.long
def test_the_site_builds_without_a_broken_link(tmp_path: Path) -> None:
    """Sphinx warns of every link that leads nowhere, headings included, and warnings are errors."""
    pytest.importorskip("myst_parser")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert [name for name in xordal.__all__ if f'id="xordal.{name}"' not in reference] == []
