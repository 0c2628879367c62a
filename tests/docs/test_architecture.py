"""The map in docs/architecture.md is that of the tree: every module is named in its folder, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import xordal
import xordal.search

ROOT = Path(xordal.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def sections(page: str) -> dict[str, set[str]]:
    """Return the modules that the map names in each folder of the package; "" is the package itself."""
    _, _, below = page.partition("    src/xordal/\n")
    named: dict[str, set[str]] = {"": set()}
    folder = ""
    for line in below.splitlines():
        indent = len(line) - len(line.lstrip())
        if indent < 6:
            break
        first = line.split()[0]
        if indent == 6:
            folder = first.removesuffix("/") if first.endswith("/") else ""
            named.setdefault(folder, set())
        words = first if not folder else line
        named[folder].update(re.findall(r"(?<![\w./])\w+\.py\b", words))
    return named


NAMED = sections(PAGE.read_text(encoding="utf-8"))
FOLDERS = sorted({"", *(path.parent.name for path in ROOT.glob("*/__init__.py"))} - {"cli"})


def modules(folder: str) -> set[str]:
    """Return the modules of a folder and, but for the package itself, of the folders in it."""
    found = (ROOT / folder).rglob("*.py") if folder else ROOT.glob("*.py")
    return {path.name for path in found if not folder or path.name != "__init__.py"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_module_is_on_the_map_and_no_other(folder: str) -> None:
    assert folder in NAMED, f"docs/architecture.md has no folder {folder}/"
    assert modules(folder) - NAMED[folder] == set(), f"docs/architecture.md does not name these in {folder}/"
    assert NAMED[folder] - modules(folder) == set(), (
        f"docs/architecture.md names these in {folder}/; they are gone"
    )


def test_the_search_names_each_of_its_modules_by_one_sentence() -> None:
    lines = re.findall(r"^ *\* ``(\w+)`` (.+(?:\n +(?!\*)\S.+)*)", xordal.search.__doc__ or "", re.MULTILINE)
    assert all(sentence.endswith(".") and sentence.count(". ") == 0 for _, sentence in lines)
    modules_and_folders = {
        path.parent.name if path.name == "__init__.py" else path.stem
        for path in (ROOT / "search").rglob("*.py")
    } - {"search"}
    assert sorted(name for name, _ in lines) == sorted(modules_and_folders)


def test_what_is_left_out_or_gone_is_noticed() -> None:
    lines = ["    src/xordal/", "      types.py   see model.py", "      data/   X", "        read.py, gone.py"]
    page = "\n".join(["# Folders", *lines, "    tests/   test_x.py"])
    assert sections(page) == {"": {"types.py"}, "data": {"read.py", "gone.py"}}
