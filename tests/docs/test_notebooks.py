"""The example notebooks run from top to bottom."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))

# In a process of its own: the kernel and its sockets outlive no test, and warn about nothing here.
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
here = {"metadata": {"path": "."}}
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=here).execute()
nbformat.write(notebook, "done.ipynb")
"""


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[notebook.name for notebook in NOTEBOOKS])
def test_a_notebook_runs_and_shows_what_it_shows(notebook: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(notebook)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ours, theirs = (
        json.loads(path.read_text(encoding="utf-8"))["cells"] for path in (notebook, tmp_path / "done.ipynb")
    )
    assert [printed(cell) for cell in ours] == [printed(cell) for cell in theirs]
    assert sum("image/png" in kinds for cell in theirs for kinds, _ in printed(cell)) == 3
    assert (tmp_path / "epistasis.html").exists()


def printed(cell: dict[str, object]) -> list[tuple[tuple[str, ...], str]]:
    """Return the kinds of a cell's outputs, and their words: what it printed, and text beside a drawing."""
    outputs = cell.get("outputs", [])
    assert isinstance(outputs, list)
    return [(tuple(sorted(out.get("data", {}))), "".join(out.get("text", "")) + beside(out)) for out in outputs]


def beside(output: dict[str, dict[str, list[str]]]) -> str:
    """Return the text that stands as it is in the HTML of an output."""
    return "".join(
        re.findall("<pre>(.*)</pre>", "".join(output.get("data", {}).get("text/html", [])), re.DOTALL)
    )
