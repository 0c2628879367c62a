"""Make the pictures of the documentation: ``python docs/images/make.py`` (needs playwright and chromium)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.pi.zoo import music_box
from xordal.report.html import report_page
from xordal.report.summary import summarise

HERE = Path(__file__).parent


def main() -> None:
    """Write the pictures."""
    table = music_box().joint.exact_table()
    page_text = report_page(summarise(fit_network(table, learn(table)), "The music box"))
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(page_text, encoding="utf-8")
        executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=executable, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 900})
        page.goto(file.as_uri())
        page.locator("#group-1").screenshot(path=HERE / "report-groups.png")
        for _ in range(4):
            page.locator("#back").click()
        page.locator("#workbench").screenshot(path=HERE / "report-replay.png")
        learn(HERE.parent / "tables" / "parts.csv", missing="level", bins=4, exclude=["part", "made"]).report(
            file, title="What xordal found in parts"
        )
        page.set_viewport_size({"width": 1180, "height": 640})
        page.goto(file.as_uri())
        page.screenshot(path=HERE / "report-opening.png")
        browser.close()


if __name__ == "__main__":
    main()
