"""How quick the live page is, in a real browser: ``python -m benchmarks.live -o docs/benchmarks/live.md``.

Needs playwright, chromium and, for alarm, the folder of real data (XORDAL_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from playwright.sync_api import Page, sync_playwright

from tests.browser.live_server import served
from xordal.counting.cpu_numpy import NumpyCounter
from xordal.data.dialect import TextFormat
from xordal.data.read import columns_from
from xordal.data.table import CategoricalTable
from xordal.data.write import csv_text
from xordal.formats.network_files import load
from xordal.graph.chordal import ChordalGraph
from xordal.model.estimation import estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.web.asking import Asked
from xordal.web.overview import overview

ROUNDS = 5
CLICKS = 200
PATIENCE = 120_000
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

# Clicks random values and measures, in the page, from the click until all is drawn, and until it is painted.
CLICK = """async n => {
  const times = [];
  const painted = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  let seed = 1;
  const random = most => { seed = (seed * 48271) % 2147483647; return seed % most; };
  for (let turn = 0; turn < n; turn++) {
    const cards = [...document.querySelectorAll(".variable")];
    const levels = [...cards[random(cards.length)].querySelectorAll(".level:not([hidden])")];
    const level = levels[random(levels.length)];
    const changed = new Promise(resolve => {
      const watch = new MutationObserver(() => { watch.disconnect(); resolve(true); });
      watch.observe(document.querySelector(".asking"), { childList: true, subtree: true, characterData: true });
    });
    const began = performance.now();
    level.click();
    await changed;
    const drawn = performance.now() - began;
    await painted();
    times.push([drawn, performance.now() - began]);
    if (turn % 4 === 3) {
      [...document.querySelectorAll(".asking button")].find(one => one.textContent === "Clear all").click();
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
  return times;
}"""


# Drops the file that another input of the page has, as a browser does when a person lets go of it, and measures
# the time to the picture of its columns.
DROP = """() => new Promise(resolve => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(document.getElementById("aside").files[0]);
  new MutationObserver((changes, watch) => {
    if (!document.querySelector(".columns tbody tr")) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve((performance.now() - began) / 1000)));
  }).observe(document.getElementById("content"), { childList: true, subtree: true });
  const began = performance.now();
  const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer });
  document.querySelector(".drop").dispatchEvent(drop);
})"""


def large_table(megabytes: int) -> str:
    """Return a table of 20 columns of words, of about so many megabytes."""
    draw = np.random.default_rng(0)
    words = np.array(["never", "seldom", "often", "always"])
    n_rows = int(megabytes * 2**20 / (20 * 6.5))
    codes = draw.integers(0, 4, size=(n_rows, 20))
    return csv_text([f"question {v}" for v in range(20)], words[codes].tolist())


def wide_network() -> DecomposableMarkovNetwork:
    """Return a network of 300 variables: 75 exclusive-ors, joined by pairs to chains."""
    bits = np.random.default_rng(0).integers(0, 2, size=(300, 500))
    links = []
    for v in range(0, 300, 4):
        bits[v + 2] = bits[v] ^ bits[v + 1]
        links += [(v, v + 1), (v, v + 2), (v + 1, v + 2), (v + 2, v + 3)]
        if v % 20 != 16:
            links.append((v + 3, v + 4))
    table = CategoricalTable.from_rows([f"variable {v}" for v in range(300)], bits.T.tolist())
    graph = ChordalGraph.empty(300).add(links)
    return estimate(graph, NumpyCounter(table), table.names, table.levels, smoothing=1.0)


def first_picture(page: Page, file: Path) -> float:
    """Return the seconds from dropping a file to its columns on the screen."""
    page.goto(page.url.split("#")[0])
    page.wait_for_selector(".sample-card")
    page.wait_for_timeout(5000)  # as people do; the server has a process ready by then
    page.evaluate("""() => {
      document.body.append(Object.assign(document.createElement("input"), { type: "file", id: "aside" }));
    }""")
    page.set_input_files("#aside", file)
    return float(page.evaluate(DROP))


def opened(page: Page, file: Path) -> None:
    """Open a network."""
    page.goto(page.url.split("#")[0])
    page.wait_for_selector(".sample-card")
    page.set_input_files("#file", file)
    page.wait_for_selector("main[data-ready]", timeout=PATIENCE)


def frames(page: Page) -> tuple[float, float]:
    """Drag a variable about for some seconds; return frames per second and the longest wait for one, in ms."""
    page.locator(".frame").scroll_into_view_if_needed()
    box = page.locator(".node").first.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate("""() => {
      window.times = [];
      const step = () => {
        if (!window.times) return;
        window.times.push(performance.now());
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }""")
    page.mouse.move(x, y)
    page.mouse.down()
    began = perf_counter()
    turn = 0
    while perf_counter() - began < 4:
        turn += 1
        page.mouse.move(x + 80 * np.sin(turn / 9), y + 60 * np.cos(turn / 7))
    page.mouse.up()
    times = np.diff(page.evaluate("() => { const found = window.times; window.times = null; return found; }"))
    return 1000 / float(np.mean(times)), float(np.max(times))


def processor_times(folder: Path) -> list[str]:
    """Return the processor time of what the server does for the two: it does not depend on the load."""
    looks = []
    for _ in range(ROUNDS):
        began = process_time()
        overview(columns_from(folder / "large.csv", TextFormat())[0])
        looks.append(process_time() - began)
    rows = [_row("processor time of reading those columns, s", looks, 2)]
    if (alarm := _alarm()) is not None:
        asked, draw = Asked(load(alarm)), np.random.default_rng(0)
        asked.answer({"given": []})
        answers = []
        for _ in range(CLICKS):
            variables = draw.choice(len(asked.network.variables), draw.integers(1, 5), replace=False).tolist()
            given = [[v, int(draw.integers(len(asked.network.levels[v])))] for v in variables]
            began = process_time()
            json.dumps(asked.answer({"given": given}))
            answers.append(1000 * (process_time() - began))
        rows.append(_row("processor time of an answer of alarm, ms", answers, 1))
    return rows


def _alarm() -> Path | None:
    found = Path(os.environ.get("XORDAL_DATA", "")) / "bif" / "alarm.bif"
    return found if found.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    output = parser.parse_args().output
    lines = measured()
    text = "\n".join(lines) + "\n"
    if output is None:
        print(text)
    else:
        output.write_text(text, encoding="utf-8")


def measured() -> list[str]:
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    load = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as name,
        served(Path(name) / "runs") as server,
        sync_playwright() as play,
    ):
        folder = Path(name)
        (folder / "large.csv").write_text(large_table(10))
        wide_network().save(folder / "wide.json")
        browser = play.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.address)
        page.wait_for_selector(".sample-card")
        size = (folder / "large.csv").stat().st_size / 2**20
        firsts = [first_picture(page, folder / "large.csv") for _ in range(ROUNDS)]
        lines = [
            "# The live page",
            "",
            f"`python -m benchmarks.live`, {platform.machine()}, {os.cpu_count()} cores (load average "
            f"{load:.1f} when it began), Python {platform.python_version()}, headless Chromium without a GPU.",
            "",
            "| | median | quartiles |",
            "|---|---:|---:|",
            _row(f"from dropping a CSV of {size:.1f} MB to its columns on the screen, s", firsts, 2),
        ]
        if (alarm := _alarm()) is not None:
            opened(page, alarm)
            clicks, frames_after = np.array(page.evaluate(CLICK, CLICKS)).T.tolist()
            name_ = (
                f"alarm, from a click on a value to all marginals drawn, ms ({CLICKS} clicks, up to 4 given)"
            )
            lines.append(_row(name_, clicks, 1))
            lines.append(f"| the slowest of 20 of these, ms | {np.quantile(clicks, 0.95):.1f} | |")
            name_ = "alarm, from such a click until the browser has painted them, ms"
            lines.append(_row(name_, frames_after, 1))
        opened(page, folder / "wide.json")
        rounds = [frames(page) for _ in range(ROUNDS)]
        lines.append(_row("300 variables, frames a second while one is dragged", [fps for fps, _ in rounds], 0))
        lines.append(_row("the longest wait for a frame, ms", [longest for _, longest in rounds], 0))
        browser.close()
        lines += processor_times(folder)
    return lines


def _row(name: str, values: list[float], digits: int) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"| {name} | {middle:.{digits}f} | {low:.{digits}f} to {high:.{digits}f} |"


if __name__ == "__main__":
    main()
