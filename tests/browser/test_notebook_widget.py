"""The widget in a real notebook server and a real browser: evidence by click, seen by the kernel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.long
PATIENCE = 180_000  # milliseconds: the machine may be busy with other tests

CELLS = [
    """from xordal import explore, learn
from xordal.learning.fitting import fit_network
from xordal.pi.zoo import music_box
table = music_box().joint.exact_table()
network = fit_network(table, learn(table))
view = explore(network)
view""",
    "print('seen by the kernel:', view.evidence)",
    "view.evidence = {'dog': 'barks', 'music_box': 'plays'}",
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Start a notebook server on this computer, with one notebook in it."""
    cell: dict[str, object] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [{**cell, "id": f"c{n}", "source": source} for n, source in enumerate(CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "box.ipynb").write_text(json.dumps(book))
    command = [sys.executable, "-m", "notebook", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    home = {"JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    server = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **home}, stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        found = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+/\S*", line) for line in server.stderr)))
        token = found[0].rpartition("token=")[2]
        yield f"{found[0].split('/tree')[0]}/notebooks/box.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(30)
        if server.stderr is not None:
            server.stderr.close()


def test_evidence_by_click_in_a_notebook(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    first = page.locator(".jp-Cell").first
    first.click(timeout=PATIENCE)
    page.keyboard.press("Shift+Enter")
    widget = page.locator(".xordal-widget").first
    expect(widget.locator(".variable")).to_have_count(8, timeout=PATIENCE)
    dog = widget.locator('.variable[aria-label="dog"] .level', has_text="barks")
    dog.click()
    expect(dog).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)
    expect(dog.locator(".chance")).to_have_text("100.0 %", timeout=PATIENCE)
    page.locator(".jp-Cell").nth(1).click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-Cell").nth(1)).to_contain_text("{'dog': 'barks'}", timeout=PATIENCE)
    page.locator(".jp-Cell").nth(2).click()
    page.keyboard.press("Shift+Enter")
    john = widget.locator('.variable[aria-label="John"] .level', has_text="complains")
    expect(john.locator(".chance")).to_contain_text("99.", timeout=PATIENCE)
    hides = widget.locator(".what-hides")
    expect(hides.locator("summary").first).to_have_text("3 hidden groups")
    hides.locator("summary").first.click()
    expect(hides.locator(".card")).to_have_count(3)
    hides.get_by_role("button", name="Show in the network").first.click()
    expect(widget.locator(".variable:visible")).to_have_count(3)
    widget.get_by_role("button", name="Show all columns").click()
    expect(widget.locator(".variable:visible")).to_have_count(8)
    if picture := os.environ.get("XORDAL_PICTURE"):
        page.screenshot(path=picture)
    page.close()
