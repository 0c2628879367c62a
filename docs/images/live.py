"""Make the pictures of the live page: ``python docs/images/live.py`` (needs playwright, chromium and pillow).

Two pictures and a recording: the page finds the music box and is asked about it.
"""

from __future__ import annotations

import io
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.live_server import served

HERE = Path(__file__).parent
WIDTH = 760  # pixels of the recording
COLOURS = 256  # with fewer the blue of single links, of which there is little, is grey

PACE, MOVING = 650, 600  # milliseconds between two steps on the page, and until all is in its place after one
DONE = "run => fetch(`/api/runs/${run}`).then(answer => answer.json()).then(told => told.status === 'done')"


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


def _steps(page: Page, recording: Recording) -> None:
    """Take a picture of every step, by the page's own clock, which stands still until all steps wait."""
    page.clock.install(time=datetime(2026, 1, 1, tzinfo=UTC))
    page.clock.pause_at(datetime(2026, 1, 2, tzinfo=UTC))
    page.click("#learn")
    page.wait_for_selector(".steps-list li")
    while not page.evaluate(DONE, page.url.rsplit("/", 1)[1]):
        page.wait_for_timeout(50)
    while not page.locator("main[data-ready]").count():
        page.clock.run_for(MOVING)
        page.wait_for_timeout(600)  # colours fade by the clock on the wall
        if page.locator(".live .steps-list li").count():
            recording.take(700)
        page.clock.run_for(PACE - MOVING)
        page.wait_for_timeout(300)
    page.clock.resume()


def _whole_group(page: Page) -> None:
    """Take the picture of the first hidden group, from the heading above it to its end."""
    page.set_viewport_size({"width": 1080, "height": 1400})
    above, group = (
        page.locator("#groups > h2").bounding_box(),
        page.locator("#groups .card").first.bounding_box(),
    )
    assert above is not None and group is not None
    top, bottom = above["y"] - 12, group["y"] + group["height"] + 14
    clip = {"x": 0.0, "y": top, "width": 1080.0, "height": bottom - top}
    page.screenshot(path=HERE / "live-groups.png", clip=clip)  # type: ignore[arg-type]


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
        _steps(page, recording)
        page.evaluate("scrollTo(0, 0)")
        recording.take(2600)
        _whole_group(page)
        page.set_viewport_size({"width": 1080, "height": 720})
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
