"""The page of the reproduced paper, opened from disk in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from xordal.report.html import paper_page
from xordal.report.paper import Summary, reproduce

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


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = 1280, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """Open the page; anything it logs as an error or asks from elsewhere fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    errors: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert errors == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    context.close()


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
    contrast = """() => {
      const light = colour => {
        const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(v => v / 255)
          .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const behind = element => {
        const colour = getComputedStyle(element).backgroundColor;
        return colour === 'rgba(0, 0, 0, 0)' ? behind(element.parentElement) : colour;
      };
      const told = [...document.querySelectorAll('p, .badge, td, th, h2, .label, figcaption')];
      return Math.min(...told.map(element => {
        const pair = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
        return (pair[0] + 0.05) / (pair[1] + 0.05);
      }));
    }"""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        with opened(browser, file, scheme=scheme) as page:
            assert page.evaluate(contrast) >= 4.5, scheme
