"""Make the pictures of the live page: ``python docs/images/live.py`` (needs playwright, chromium and pillow).

Two pictures and a recording: the page finds the music box and is asked about it.
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.live_server import served

HERE = Path(__file__).parent
WIDTH = 760  # pixels of the recording
COLOURS = 256  # with fewer the blue of single links, of which there is little, is grey

# Waits until every variable is in its place.
STILL = """async () => {
  const nodes = [...document.querySelectorAll(".node")];
  const places = () => nodes.map(node => node.getAttribute("transform")).join();
  const pause = () => new Promise(resolve => setTimeout(resolve, 100));
  await pause();
  for (let before = ""; before !== places(); await pause()) before = places();
}"""


class Recording:
    """Pictures of a page, one after the other."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[tuple[Image.Image, int]] = []

    def take(self, milliseconds: int) -> None:
        """Take a picture that is shown so long; one that is as the last makes that one longer."""
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        small = picture.resize((WIDTH, picture.height * WIDTH // picture.width), Image.Resampling.LANCZOS)
        frame = small.quantize(COLOURS, dither=Image.Dither.NONE)
        if self._frames and self._frames[-1][0].convert("RGB").tobytes() == frame.convert("RGB").tobytes():
            last, shown = self._frames[-1]
            self._frames[-1] = (last, shown + milliseconds)
        else:
            self._frames.append((frame, milliseconds))

    def save(self, path: Path) -> None:
        """Write all of them as one GIF."""
        first, *others = [frame for frame, _ in self._frames]
        times = [shown for _, shown in self._frames]
        first.save(path, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


def main() -> None:
    """Write the pictures."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with TemporaryDirectory() as folder, served(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1080, "height": 720})
        page.goto(server.address)
        page.wait_for_selector(".sample-card")
        recording = Recording(page)
        recording.take(1400)
        page.click("[data-sample=music-box]")
        page.wait_for_selector("#learn")
        recording.take(1400)
        page.click("#learn")
        n_steps = 0
        while not page.locator("main[data-ready]").count():  # a picture for every step, however slow this goes
            now = page.locator(".live .steps-list li").count()
            if now > n_steps:
                n_steps = now
                page.evaluate(STILL)
                recording.take(700)
            page.wait_for_timeout(30)
        page.evaluate("scrollTo(0, 0)")
        recording.take(2600)
        page.evaluate("document.getElementById('groups').scrollIntoView()")
        page.screenshot(path=HERE / "live-groups.png")
        page.evaluate("document.querySelector('.workbench.ask').scrollIntoView()")
        recording.take(1200)
        for variable in ("dog", "music_box"):
            card = page.locator(f'.variable[aria-label="{variable}"]')
            card.locator(".level").first.click()
            card.locator('.level[aria-pressed="true"]').wait_for()
            page.locator(".answers").evaluate("list => { list.scrollTop = list.scrollHeight; }")
            page.wait_for_timeout(500)
            recording.take(1800)
        page.get_by_label("beside a network of single links").check()
        page.locator(".answers").evaluate("list => { list.scrollTop = list.scrollHeight; }")
        page.mouse.move(0, 0)
        page.wait_for_timeout(500)
        recording.take(3200)
        page.set_viewport_size({"width": 1080, "height": 792})  # so that columns begin and end in it
        page.evaluate("document.querySelector('.workbench.ask').scrollIntoView()")
        page.locator('.variable[aria-label="ball3"]').evaluate("card => card.scrollIntoView()")
        page.evaluate("document.querySelector('.workbench.ask').scrollIntoView()")
        page.wait_for_timeout(300)
        page.screenshot(path=HERE / "live-ask.png")
        recording.save(HERE / "live.gif")
        browser.close()


if __name__ == "__main__":
    main()
