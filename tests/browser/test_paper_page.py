"""The page of the reproduced paper, opened from disk in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.browser.opening import LEAST_CONTRAST, opened
from xordal.report.html import paper_page
from xordal.report.paper import Summary, reproduce

pytestmark = pytest.mark.slow  # all of them start a browser


WIDTHS = [390, 1280]

OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  texts.forEach(([first, a], place) => texts.slice(place + 1).forEach(([second, b]) => {
    const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    if (!apart) found.push(`${svg.querySelector('title').textContent}: ${first} / ${second}`);
  }));
  return found;
})"""

OUTSIDE = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
  }).map(text => text.textContent);
})"""

LABELS_IN_BOXES = """() => [...document.querySelectorAll('svg.network')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('rect')].map(rect => rect.getBoundingClientRect());
  return [...svg.querySelectorAll('text')].filter(text => {
    const t = text.getBoundingClientRect();
    return !boxes.some(b => b.left <= t.left && t.right <= b.right && b.top <= t.top && t.bottom <= b.bottom);
  }).map(text => text.textContent);
})"""

COLOURS = """() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
  getComputedStyle(document.querySelector('svg.network text')).fill,
  getComputedStyle(document.querySelector('svg.network rect')).fill]"""


@pytest.fixture(scope="session")
def summary() -> Summary:
    return reproduce()


@pytest.fixture(scope="session")
def file(summary: Summary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("paper") / "index.html"
    path.write_text(paper_page(summary), encoding="utf-8")
    return path


def test_the_page_shows_every_item_under_its_heading(browser: Browser, file: Path, summary: Summary) -> None:
    with opened(browser, file) as page:
        assert page.locator("h1").count() == 1
        for item in summary.items:
            section = page.locator(f"section#{item.key}")
            assert section.locator("h2").inner_text() == f"{item.label} {item.title}"
            assert section.locator("svg").count() == len(item.drawings)
            marks = section.locator(".checks .badge").all_inner_texts()
            assert marks == [check.mark for check in item.checks]
        links = page.locator("nav a")
        assert links.count() == len(summary.items)
        links.last.click()
        assert page.url.endswith(f"#{summary.items[-1].key}")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_sideways(browser: Browser, file: Path, width: int) -> None:
    with opened(browser, file, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_a_figure_overlaps_another(browser: Browser, file: Path, width: int) -> None:
    with opened(browser, file, width=width) as page:
        assert page.locator("svg").count() == 19
        assert page.evaluate(OVERLAPS) == []
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(LABELS_IN_BOXES) == []


def test_tables_fit_a_wide_screen(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        cut = (
            "() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"
        )
        assert page.evaluate(cut) == 0


def test_dark_mode_changes_page_and_figures(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        light = page.evaluate(COLOURS)
    with opened(browser, file, scheme="dark") as page:
        dark = page.evaluate(COLOURS)
        assert all(one != other for one, other in zip(light, dark, strict=True))
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(COLOURS)[0] == "rgb(255, 255, 255)"


def test_print_cuts_nothing_off(browser: Browser, file: Path) -> None:
    with opened(browser, file, width=688) as page:  # A4 less its margins, in CSS pixels
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
        assert page.evaluate(OVERLAPS) == []
        pages = page.pdf(format="A4").count(b"/Type /Page\n")
        assert 5 <= pages <= 25


def test_badges_and_text_have_contrast(browser: Browser, file: Path) -> None:
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        with opened(browser, file, scheme=scheme) as page:
            assert page.evaluate(LEAST_CONTRAST, "p, .badge, td, th, h2, .label, figcaption") >= 4.5, scheme
