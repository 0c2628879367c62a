"""The live page in a real browser, served by a real process: drop a table, watch it learn, ask it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from benchmarks.messy import workbook
from tests.browser.live_server import Served, served
from tests.browser.opening import LEAST_CONTRAST
from xordal.data.table import CategoricalTable
from xordal.data.write import csv_text
from xordal.demos.gallery import DEMOS
from xordal.formats.network_files import load
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.zoo import music_box
from xordal.web import downloads

pytestmark = pytest.mark.slow  # all of them start a browser and a server

PARTS = Path(__file__).parents[2] / "docs" / "tables" / "parts.csv"
STEPS = [1, 1, 2, 2, 2, 1, 3]  # links of each step of the music box, Figure 7
READY = "main[data-ready]"
PATIENCE = 420_000  # milliseconds: kernels may be compiled for the first time, beside other tests
expect.set_options(timeout=PATIENCE)


def box_file(folder: Path) -> Path:
    table = music_box().joint.exact_table()
    rows = [[table.levels[v][code] for v, code in enumerate(row)] for row in table.rows()]
    path = folder / "box.csv"
    path.write_text(csv_text(table.names, rows))
    return path


def slow_file(folder: Path) -> Path:
    """Write a table whose 190 million sets of five columns take long, while its pairs are found at once."""
    draw = np.random.default_rng(3)
    bits = draw.integers(0, 3, size=(120, 3000))
    for v in range(0, 120, 2):
        bits[v + 1] = np.where(draw.random(3000) < 0.3, bits[v], bits[v + 1])
    path = folder / "slow.csv"
    path.write_text(csv_text([f"x{v}" for v in range(120)], bits.T.tolist()))
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("runs")) as found:
        yield found


def patient(browser: Browser, **how: Any) -> BrowserContext:
    """Open a window of its own that waits long for everything."""
    context = browser.new_context(**how)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture(scope="module")
def cookies(server: Served, browser: Browser) -> list[Any]:
    """Enter once: the token is used up by that."""
    context = patient(browser)
    page = context.new_page()
    page.goto(server.address)
    expect(page.locator(".sample-card")).to_have_count(len(DEMOS))
    assert "token" not in page.url
    found = context.cookies()
    context.close()
    return found


@pytest.fixture
def context(browser: Browser, cookies: list[Any]) -> Iterator[BrowserContext]:
    found = patient(browser, viewport={"width": 1280, "height": 800})
    found.add_cookies(cookies)
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext, server: Served) -> Iterator[Page]:
    """Return the first screen; whatever it logs as an error, or asks from elsewhere, fails the test."""
    found = context.new_page()
    errors: list[str] = []
    asked: list[str] = []
    found.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.on("request", lambda request: asked.append(request.url))
    found.goto(server.origin)
    yield found
    assert errors == []
    ours = (server.origin, "data:", "blob:")
    assert [url for url in asked if not url.startswith(ours)] == []


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return box_file(tmp_path_factory.mktemp("box"))


def learned(page: Page, file: Path) -> None:
    """Upload a table and learn it with the settings as they are."""
    page.set_input_files("#file", file)
    page.locator("#learn").click()
    page.wait_for_selector(READY)


# Drops a file on the page, as the browser does when a person lets go of one; tells whether it was awaited.
_DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  const place = document.querySelector(".drop"), how = { bubbles: true, cancelable: true, dataTransfer };
  const tell = type => place.dispatchEvent(new DragEvent(type, how));
  tell("dragenter"); tell("dragover");
  const lit = place.classList.contains("over");
  tell("drop");
  return lit;
}"""


def dropped(page: Page, file: Path) -> None:
    page.wait_for_selector(".drop")
    assert page.evaluate(_DROP, [file.name, file.read_text()])


def level(page: Page, variable: str, name: str) -> Any:
    return page.locator(f'.variable[aria-label="{variable}"] .level', has_text=name)


def same_as_the_library(page: Page, network: DecomposableMarkovNetwork, given: dict[str, str]) -> None:
    """Hold every probability on the page to the library's."""
    told = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".variable")].map(card => [
      card.getAttribute("aria-label"), Object.fromEntries([...card.querySelectorAll(".level")].map(level => [
        level.querySelector(".level-name").textContent, level.querySelector(".chance").textContent]))]))""")
    marginals = network.marginals(given)
    assert list(told) == [str(name) for name in marginals]
    for name, chances in marginals.items():
        assert list(told[name]) == [str(value) for value in chances]
        for value, chance in chances.items():
            text = told[name][str(value)]
            if text[0] in "<>":  # not 0 and not 1, though it would be rounded to that
                assert 0 < chance < 0.0005 if text == "<\u00a00.1\u00a0%" else 0.9995 < chance < 1, (
                    name,
                    value,
                )
            else:
                assert float(text.strip(" %")) / 100 == pytest.approx(chance, abs=0.00051), (name, value)


def test_the_music_box_from_upload_to_answers(page: Page, box: Path) -> None:
    dropped(page, box)
    page.locator("#learn").click()
    page.evaluate(_WATCH)
    page.wait_for_selector(READY)
    assert page.evaluate("window.seen") == [list(pair) for pair in enumerate(accumulate(STEPS), 1)]
    table, found = _learned()
    expect(page.locator("h1")).to_have_text(f"{len(found.submodels)} hidden groups")
    expect(page.locator("#groups .card").first).to_contain_text("look independent two at a time")
    assert page.locator("line.link").count() == sum(STEPS)

    network = fit_network(table, found)
    level(page, "dog", "barks").click()
    expect(level(page, "dog", "barks")).to_have_attribute("aria-pressed", "true")
    expect(level(page, "light1", "off").locator(".was")).to_be_visible()
    same_as_the_library(page, network, {"dog": "barks"})
    level(page, "music_box", "plays").click()
    expect(level(page, "John", "complains").locator(".chance")).to_contain_text("99.")
    same_as_the_library(page, network, {"dog": "barks", "music_box": "plays"})

    page.get_by_label("beside a network of single links").check()
    expect(level(page, "John", "complains").locator(".other-chance")).to_have_text("50.0 %")
    page.get_by_label("Why did John change?").click()
    expect(page.locator(".story h4")).to_have_text("Why John = complains went from 50.0 % to > 99.9 %")
    expect(page.locator(".story")).to_contain_text("Only together do they")
    page.get_by_role("button", name="Most probable case").click()
    expect(page.locator(".story")).to_contain_text("complains")
    page.get_by_role("button", name="Undo").click()
    expect(level(page, "John", "complains").locator(".chance")).to_have_text("50.0 %")
    page.get_by_role("button", name="Clear all").click()
    expect(page.locator(".chip")).to_have_count(0)


# Notes how many steps and links there are, whenever there is one step more.
_WATCH = """() => {
  window.seen = [];
  new MutationObserver(() => {
    const steps = document.querySelectorAll(".live .steps-list li").length;
    if (steps > window.seen.length) window.seen.push([steps, document.querySelectorAll("line.link").length]);
  }).observe(document.getElementById("content"), { childList: true, subtree: true });
}"""


def _learned() -> tuple[CategoricalTable, Any]:
    table = music_box().joint.exact_table()
    return table, learn(table)


def test_files_are_dropped_anywhere_one_at_a_time(page: Page, box: Path, tmp_path: Path) -> None:
    learned(page, box)
    prevented = """texts => {
      const dataTransfer = new DataTransfer();
      texts.forEach((text, n) => dataTransfer.items.add(new File([text], `t${n}.csv`)));
      const how = { bubbles: true, cancelable: true, dataTransfer };
      const events = ["dragover", "drop"].map(type => new DragEvent(type, how));
      events.forEach(event => document.querySelector("main").dispatchEvent(event));
      return events.every(event => event.defaultPrevented);
    }"""
    assert page.evaluate(prevented, ["a,b\n0,1\n1,0\n"])  # or the browser would leave the page for the file
    expect(page.locator("h1")).to_have_text("t0.csv")
    assert page.evaluate(prevented, ["a,b\n0,1\n", "c,d\n0,1\n"])
    told = "2 files were dropped; one table at a time can be looked at."
    expect(page.locator(".drop [role=alert]")).to_have_text(told)
    assert page.evaluate(prevented, [])  # a text, or a picture of the page


def test_what_begins_a_run_begins_one_however_often_it_is_clicked(page: Page) -> None:
    page.wait_for_selector(".sample-card")
    n_runs = "fetch('/api/start').then(answer => answer.json()).then(told => told.runs.length)"
    before = page.evaluate(n_runs)
    page.evaluate(
        "() => { const one = document.querySelector('.sample-card'); one.click(); one.click(); one.click(); }"
    )
    page.wait_for_selector("#learn")
    assert page.evaluate(n_runs) == before + 1


def test_a_node_is_dragged_and_its_links_follow(page: Page, box: Path) -> None:
    learned(page, box)
    page.locator("#ask").scroll_into_view_if_needed()
    node = page.locator(".node", has_text="John")
    node.scroll_into_view_if_needed()
    before, links = node.bounding_box(), page.evaluate(_ENDS)
    assert before is not None
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 40, steps=4)
    page.mouse.move(x + 60, y - 80, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "x => document.querySelector('.node[data-v=\"7\"]').getBoundingClientRect().x > x", arg=before["x"] + 50
    )
    after = node.bounding_box()
    assert after is not None
    assert after["x"] - before["x"] == pytest.approx(60, abs=3)
    assert after["y"] - before["y"] == pytest.approx(-80, abs=3)
    assert sum(a != b for a, b in zip(links, page.evaluate(_ENDS), strict=True)) == 2  # John has two links


_ENDS = """() => [...document.querySelectorAll("line.link")].map(
  line => ["x1", "y1", "x2", "y2"].map(name => line.getAttribute(name)).join())"""


def test_reloading_in_the_middle_and_a_second_tab(page: Page, context: BrowserContext, tmp_path: Path) -> None:
    page.set_input_files("#file", slow_file(tmp_path))
    page.get_by_label("Look for").select_option("m5")
    page.locator("#learn").click()
    page.wait_for_selector(".steps-list li:nth-child(3)")
    page.reload()
    page.wait_for_selector(".steps-list li:nth-child(5)")
    other = context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".steps-list li:nth-child(5)")
    other.locator("#stop").click()  # either may stop it, and both see the same
    for one in (page, other):
        one.wait_for_selector(READY)
        expect(one.locator("main")).to_contain_text("ended by an interruption")
        assert one.locator("line.link").count() >= 5
    level(page, "x0", "1").click()
    expect(page.locator(".chip")).to_have_count(1)
    expect(other.locator(".chip")).to_have_count(0)  # evidence belongs to a tab
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator(".chip")).to_have_text("x0 = 1 ✕")
    page.get_by_role("button", name="Undo").click()  # what can be undone is kept too
    expect(page.locator(".chip")).to_have_count(0)


def test_many_steps_that_wait_are_shown_in_about_five_seconds(page: Page, tmp_path: Path) -> None:
    """By the page's own clock, which stands still until all 60 steps wait."""
    page.set_input_files("#file", slow_file(tmp_path))
    page.get_by_label("Look for").select_option("k1")
    page.clock.install(time=datetime(2026, 1, 1, tzinfo=UTC))
    page.clock.pause_at(datetime(2026, 1, 2, tzinfo=UTC))
    page.locator("#learn").click()
    page.wait_for_selector(".steps-list li")
    run = page.url.rsplit("/", 1)[1]
    done = "run => fetch(`/api/runs/${run}`).then(answer => answer.json()).then(told => told.status === 'done')"
    while not page.evaluate(done, run):
        page.wait_for_timeout(50)
    expect(page.locator(".steps-list li")).to_have_count(1)  # one a timer, and none has run
    page.clock.run_for(2000)
    assert 5 < page.locator(".live .steps-list li").count() < 50  # they can be watched
    page.clock.run_for(4500)
    page.wait_for_selector(READY)
    assert page.locator("line.link").count() >= 55


def test_stopping_takes_back_what_was_said_of_the_time(page: Page, tmp_path: Path) -> None:
    page.set_input_files("#file", slow_file(tmp_path))
    page.get_by_label("Look for").select_option("m5")
    expect(page.locator(".settings-form")).to_contain_text("million sets of columns to look at")
    page.locator("#learn").click()
    expect(page.locator(".go .quiet")).to_contain_text("left")
    page.locator("#stop").click()
    expect(page.locator(".lead")).to_have_text("Stopping; what is found is kept")
    expect(page.locator(".go .quiet")).to_have_text("")
    assert "ompil" not in page.locator("main").inner_text()
    page.wait_for_selector(READY)


def test_two_quick_clicks_are_both_kept_and_undone_one_by_one(page: Page, box: Path) -> None:
    learned(page, box)
    height = "() => document.querySelector('.asking').offsetHeight"
    before = page.evaluate(height)
    level(page, "ball1", "black").click()
    expect(page.locator(".chip")).to_have_count(1)
    assert page.evaluate(height) == before  # nothing below moves away from under the mouse
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".chip")).to_have_count(0)
    page.evaluate("""() => {
      const first = name => document.querySelector(`.variable[aria-label="${name}"] .level`);
      for (const name of ["dog", "music_box"]) first(name).click();
    }""")
    expect(page.locator(".chip")).to_have_text(["dog = barks ✕", "music_box = plays ✕"])
    expect(level(page, "John", "complains").locator(".chance")).to_contain_text("99.")
    page.evaluate(
        "() => { const undo = document.querySelector('.asking .tools button'); undo.click(); undo.click(); }"
    )
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_why_stands_below_its_column_and_escape_closes_it(page: Page, box: Path) -> None:
    learned(page, box)
    level(page, "dog", "barks").click()
    expect(page.locator(".chip")).to_have_count(1)
    level(page, "music_box", "plays").click()
    why = page.get_by_label("Why did John change?")
    expect(why).to_be_visible()
    why.focus()
    page.keyboard.press("Enter")
    story = page.locator(".story")
    expect(story).to_be_visible()
    assert story.evaluate("one => one.previousElementSibling.getAttribute('aria-label')") == "John"
    assert story.evaluate("one => one.contains(document.activeElement)")
    expect(story).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(story).to_be_hidden()
    assert why.evaluate("one => one === document.activeElement")


def test_what_is_said_of_a_column_follows_its_box(page: Page) -> None:
    page.set_input_files("#file", PARTS)
    remark = page.locator(".odd li", has_text="part")
    expect(remark).to_contain_text("It is left out.")
    page.get_by_label("Take part", exact=False).first.check()
    expect(remark).not_to_contain_text("left out")
    expect(remark).to_contain_text("taken")


def test_words_for_missing_values_and_sheets_are_chosen_by_clicking(page: Page, tmp_path: Path) -> None:
    rows = "".join(f"{n % 2},{n % 3 if n % 8 else '-'}\n" for n in range(80))
    (tmp_path / "dash.csv").write_text(f"a,b\n{rows}")
    page.set_input_files("#file", tmp_path / "dash.csv")
    expect(page.locator(".odd")).to_contain_text("- stands in 10 cells of one column, as a value.")
    page.get_by_role("button", name="Take it as missing").click()
    expect(page.locator(".odd")).to_contain_text("10 of 80 rows have one in the columns")
    expect(page.locator(".odd")).to_contain_text("- is taken as missing.")
    page.get_by_role("button", name="Take it as a value").click()
    expect(page.locator(".odd")).to_contain_text("stands in 10 cells")
    page.locator("summary", has_text="More settings").click()
    page.get_by_label("Missing is also written as").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".odd")).to_contain_text("2 is taken as missing.")

    rows = "".join(f"{n % 2},{999 if n % 9 == 0 else 20 + n % 60}\n" for n in range(180))
    (tmp_path / "codes.csv").write_text(f"a,age\n{rows}")
    page.goto(page.url.split("#")[0])
    page.set_input_files("#file", tmp_path / "codes.csv")
    expect(page.locator(".odd")).to_contain_text(
        "999 stands in 20 cells of one column, as a number far from the others."
    )
    page.get_by_role("button", name="Take it as missing").click()
    expect(page.locator(".odd")).to_contain_text("20 of 180 rows have one in the columns")
    expect(page.locator(".columns .tag", has_text="20 missing")).to_have_count(1)

    sheets = {"Old": [["a", "b"], ["0", "1"], ["1", "0"]], "New": [["p", "q"], ["0", "1"], ["1", "0"]]}
    (tmp_path / "two.xlsx").write_bytes(workbook(sheets))
    page.goto(page.url.split("#")[0])
    page.set_input_files("#file", tmp_path / "two.xlsx")
    expect(page.get_by_label("Sheet")).to_have_value("Old")
    page.get_by_label("Sheet").select_option("New")
    expect(page.locator(".columns tbody th").first).to_have_text("p")
    expect(page.get_by_label("Sheet")).to_have_value("New")


def test_settings_are_clicked_and_hold(page: Page, box: Path) -> None:
    page.set_input_files("#file", box)
    page.get_by_label("Take light2").uncheck()
    page.get_by_label("Look for").select_option("k1")
    page.locator("summary", has_text="More settings").click()
    page.get_by_label("Keep a link when").select_option("entropy")
    expect(page.get_by_label("at this level")).to_have_value("0.004")
    page.get_by_label("at this level").fill("0.01")
    page.get_by_text("What you know already").click()
    pick = page.locator(".pick")
    pick.get_by_role("button", name="ball1").click()
    pick.get_by_role("button", name="John").click()
    expect(page.locator(".settings-form .chip")).to_have_text("ball1 – John must be linked ✕")
    page.get_by_label("What holds for the two").select_option("forbidden")
    pick.get_by_role("button", name="light1").click()
    pick.get_by_role("button", name="dog").click()
    expect(page.locator(".settings-form .chip")).to_have_count(2)
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    assert page.locator(".node").count() == 7
    assert page.locator("line.link").count() == 1  # John's; light1 - dog would be the next, and is forbidden
    expect(page.locator(".steps-list")).to_contain_text("ball1 - John")
    page.get_by_role("button", name="Learn again with other settings").click()
    expect(page.get_by_label("Look for")).to_have_value("k1")  # the settings are kept
    expect(page.get_by_label("Take light2")).not_to_be_checked()
    page.locator("summary", has_text="More settings").click()
    expect(page.get_by_label("at this level")).to_have_value("0.01")
    page.get_by_text("What you know already").click()
    chips = page.locator(".settings-form .chip")
    page.get_by_label("Take dog").uncheck()  # what is said of a column waits until it is taken
    expect(chips).to_have_text("ball1 – John must be linked ✕")
    expect(pick.get_by_role("button", name="dog")).to_have_count(0)
    page.get_by_label("Take dog").check()
    expect(chips).to_have_count(2)
    pick.get_by_role("button", name="John").click()
    pick.get_by_role("button", name="ball1").click()
    expect(chips).to_have_count(2)  # said twice
    page.get_by_role("button", name="light1 – dog must not be linked").click()
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    assert page.locator("line.link").count() == 2


@pytest.mark.parametrize(
    ("field", "typed", "told"),
    [
        ("at this level", "5", "A chance between 0 and 1, such as 0.05."),
        ("at this level", "0", "A chance between 0 and 1, such as 0.05."),
        ("Cut numbers into", "1", "A whole number of ranges, at least 2."),
        ("Merge values of fewer rows than", "1.5", "A whole number of rows; 0 merges none."),
        ("Stop after", "-1", "A number of seconds above 0; nothing for none."),
    ],
)
def test_a_number_that_cannot_be_says_so_in_its_field(
    page: Page, box: Path, field: str, typed: str, told: str
) -> None:
    page.set_input_files("#file", box)
    summary = page.locator("summary", has_text="More settings")
    summary.click()
    page.get_by_label(field).fill(typed)
    summary.click()  # and in settings that are closed again
    page.locator("#learn").click()
    expect(page.get_by_label(field)).to_be_focused()
    assert page.get_by_label(field).evaluate("one => one.validationMessage") == told
    page.get_by_label(field).fill("0.01" if field == "at this level" else "7")
    page.locator("#learn").click()
    page.wait_for_selector(READY)


def test_missing_values_are_told_of_the_columns_that_are_taken(page: Page, tmp_path: Path) -> None:
    rows = "".join(f"{n % 2},{n % 3 if n % 20 else ''},{'' if n % 4 else n % 8}\n" for n in range(200))
    (tmp_path / "gaps.csv").write_text(f"a,b,c\n{rows}")
    page.set_input_files("#file", tmp_path / "gaps.csv")
    odd, settings = page.locator(".odd"), page.get_by_label("Missing values")
    expect(odd).to_contain_text(
        "160 of 200 rows have one in the columns that are taken. A missing value is made"
    )
    page.get_by_label("Take c").uncheck()
    expect(odd).to_contain_text("10 of 200 rows have one in the columns that are taken. They are left out.")
    expect(settings).to_have_value("drop")
    page.get_by_label("Take b").uncheck()
    page.get_by_label("Take c").check()
    expect(odd).to_contain_text("150 of 200 rows")
    expect(settings).to_have_value("level")
    page.locator("summary", has_text="More settings").click()
    settings.select_option("drop")
    expect(odd).to_contain_text("150 of 200 rows have one in the columns that are taken. They are left out.")
    page.get_by_label("Take b").check()
    expect(settings).to_have_value("drop")  # what a person chose stays
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    expect(page.locator(".lead")).to_contain_text("40 rows of 3 columns")


def test_a_column_of_counts_counts_the_rows(page: Page, tmp_path: Path) -> None:
    cells = "".join(f"{a},{b},{a ^ b},{7 + a}\n" for a in (0, 1) for b in (0, 1))
    (tmp_path / "counts.csv").write_text(f"a,b,c,Freq\n{cells}")
    page.set_input_files("#file", tmp_path / "counts.csv")
    remark = page.locator(".odd li", has_text="Freq")
    expect(remark).to_contain_text("Each row counts as often as it says")
    expect(page.get_by_label("Take Freq")).to_be_disabled()
    page.locator("summary", has_text="More settings").click()
    page.get_by_label("Each row counts").select_option("")
    expect(remark).to_contain_text("It is left out; under More settings rows can be counted by it.")
    expect(page.get_by_label("Take Freq")).to_be_enabled()
    page.get_by_label("Each row counts").select_option("Freq")
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    expect(page.locator(".lead")).to_contain_text("30 rows of 3 columns")


def test_the_encoding_can_be_chosen(page: Page, tmp_path: Path) -> None:
    rows = "".join(f"{n % 2},{n % 3}\n" for n in range(60))
    (tmp_path / "central.csv").write_bytes(f"Ile lat,Płeć\n{rows}".encode("cp1250"))
    page.set_input_files("#file", tmp_path / "central.csv")
    expect(page.locator(".odd")).to_contain_text("read as Windows-1252 (Western Europe).")
    expect(page.locator(".odd")).not_to_contain_text("If names")
    page.locator("summary", has_text="More settings").click()
    page.get_by_label("Its text is written in").select_option("cp1250")
    expect(page.locator(".columns tbody th").nth(1)).to_have_text("Płeć")
    (tmp_path / "russian.csv").write_bytes(f"возраст,пол\n{rows}".encode("cp1251"))
    page.goto(page.url.split("#")[0])
    page.set_input_files("#file", tmp_path / "russian.csv")
    expect(page.locator("h1")).to_have_text("This file cannot be used")
    page.get_by_label("Its text is written in").select_option("cp1251")
    expect(page.locator(".columns tbody th").first).to_have_text("возраст")


def test_rules_come_first_with_their_counts(page: Page, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    digits = draw.integers(0, 10, size=(5, 4000))
    digits[3] = (3 * digits[0] + digits[1] + 7 * digits[2]) % 10
    wrong = draw.random(4000) < 0.02
    digits[3, wrong] = (digits[3, wrong] + 1) % 10
    bits = draw.integers(0, 2, size=(3, 4000))
    bits[2] = bits[0] ^ bits[1]
    names = ["a", "b", "c", "check", "other", "p", "q", "r"]
    (tmp_path / "digits.csv").write_text(csv_text(names, np.vstack([digits, bits]).T.tolist()))
    learned(page, tmp_path / "digits.csv")
    expect(page.locator("h1")).to_have_text("One hidden group and one rule")
    cards = page.locator("#groups .card")
    expect(cards).to_have_count(2)
    expect(cards.first.locator(".contrast td b")).to_have_text([f"{4000 - wrong.sum():,}", str(wrong.sum())])
    expect(cards.nth(1).locator("h3")).to_contain_text("p | q | r")
    cards.first.get_by_role("button", name="Show in the network").click()
    expect(page.locator(".variable:visible")).to_have_count(4)
    expect(page.locator("#ask")).to_contain_text("Showing the rule")
    lines = page.locator("line.link.rule")  # from the column that it gives to the three it follows from
    expect(lines).to_have_count(3)
    assert [line.get_attribute("class") for line in lines.all()] == ["link rule near"] * 3
    expect(page.locator("svg.map title").first).to_have_text("Network of 8 variables and 3 links")
    expect(page.locator("#ask")).to_contain_text("Dashed lines are no links")
    page.get_by_role("button", name="Show all columns").click()
    expect(page.locator(".variable:visible")).to_have_count(8)


def test_a_run_that_is_removed_while_others_watch(page: Page, context: BrowserContext, tmp_path: Path) -> None:
    page.set_input_files("#file", slow_file(tmp_path))
    page.get_by_label("Look for").select_option("m5")
    page.locator("#learn").click()
    page.wait_for_selector(".steps-list li:nth-child(2)")
    run = page.url.rsplit("/", 1)[1]
    other = context.new_page()
    other.goto(f"{page.url.split('#')[0]}#/")
    row = other.locator(f'.earlier li:has(a[href="#/run/{run}"])')
    row.get_by_role("button").click()
    row.get_by_role("button").click()
    expect(row).to_have_count(0)
    expect(page.locator(".lead")).to_have_text("This run was removed.")
    expect(page.locator("#stop")).to_be_hidden()
    page.locator(".brand").click()
    expect(page.locator(".sample-card").first).to_be_visible()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("one.csv", "a\n0\n1\n0\n", "only one column, 'a'. A network needs at least two."),
        ("same.csv", "a,b\n0,x\n1,x\n0,x\n", "1 of 2 columns are taken. At least two are needed."),
        ("head.csv", "a,b\n", "This file cannot be used"),
        ("blank.csv", "\n\n \n", "This file cannot be used"),
        ("ragged.csv", "a,b\n0,1\n1\n", "This file cannot be used"),
    ],
)
def test_tables_that_hold_nothing_to_learn_say_so(
    page: Page, tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    page.set_input_files("#file", tmp_path / name)
    expect(page.locator("main")).to_contain_text(told)
    if page.locator("#learn").count():
        expect(page.locator("#learn")).to_be_disabled()
    else:
        expect(page.locator(".lead")).to_contain_text(name)


def test_where_nothing_is_found_the_smallest_effect_is_named(page: Page, tmp_path: Path) -> None:
    bits = np.random.default_rng(5).integers(0, 2, size=(4, 400))
    (tmp_path / "coins.csv").write_text(csv_text(["p", "q", "r", "s"], bits.T.tolist()))
    learned(page, tmp_path / "coins.csv")
    expect(page.locator("h1")).to_have_text("Nothing found")
    expect(page.locator("main")).to_contain_text(
        "In 400 rows of 4 columns, two of two levels must share at least"
    )
    expect(page.locator("#groups")).to_contain_text("No column was found to depend on others")


ODD = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "a\"'&b",
    "__proto__",
    "constructor",
]


def test_odd_names_and_values_are_shown_as_they_are(
    page: Page, context: BrowserContext, tmp_path: Path
) -> None:
    """As columns, as values, in the file's name, on every screen and in the report."""
    page.on("dialog", lambda dialog: pytest.fail(f"a script of the table ran: {dialog.message}"))
    bits = np.random.default_rng(2).integers(0, 2, size=(5, 400))
    bits[2] = bits[0] ^ bits[1]
    rows = [[f"{ODD[v]}{bit}" for v, bit in enumerate(row)] for row in bits.T.tolist()]
    (tmp_path / "<b>odd.csv").write_text(csv_text(ODD, rows))
    page.set_input_files("#file", tmp_path / "<b>odd.csv")
    expect(page.locator(".columns tbody th")).to_have_text(ODD)
    expect(page.locator("h1")).to_have_text("<b>odd.csv")
    page.locator("summary", has_text="More settings").click()
    page.get_by_text("What you know already").click()
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    assert [card.get_attribute("aria-label") for card in page.locator(".variable").all()] == ODD
    expect(page.locator("#groups .card h3")).to_have_text(f"1 {' | '.join(ODD[:3])}")
    page.locator(".variable").nth(3).locator(".level").first.click()
    expect(page.locator(".chip")).to_have_text("__proto__ = __proto__0 ✕")
    page.get_by_role("button", name="Most probable case").click()
    expect(page.locator(".story dt")).to_have_text(ODD)
    page.locator("#downloads summary").click()
    with page.expect_download() as waiting:
        page.locator("[data-what=report]").click()
    waiting.value.save_as(tmp_path / "report.html")
    report = context.new_page()
    report.on("dialog", lambda dialog: pytest.fail(f"a script of the table ran: {dialog.message}"))
    report.goto((tmp_path / "report.html").as_uri())
    expect(report.locator("#names button")).to_have_count(5)
    expect(report.locator("#names")).to_contain_text(ODD[0])


QUESTIONS = [
    "Q1. Thinking about your journey to work in the last seven days, how did you travel on most days?",
    "Q2. How satisfied are you, overall, with the way the streets of your neighbourhood are kept clean?",
    "Q3. In the last twelve months, has anybody in your household asked the council about any of its services?",
]
ANSWERS = [
    ["Mostly on foot, by bicycle, or by both of these", "By car, van or motorcycle, or as a passenger in one"],
    ["Satisfied, or neither satisfied nor dissatisfied", "Dissatisfied, or very dissatisfied"],
    ["Yes, " + "again and " * 300 + "again", "No, and I know of nobody who has done so"],
]


@pytest.mark.parametrize("width", [1280, 390])
def test_questions_of_a_survey_as_names_leave_tables_in_sight(
    browser: Browser, cookies: list[Any], server: Served, tmp_path: Path, width: int
) -> None:
    bits = np.random.default_rng(4).integers(0, 2, size=(3, 600))
    bits[2] = bits[0] ^ bits[1]
    rows = [[ANSWERS[v][bit] for v, bit in enumerate(row)] for row in bits.T.tolist()]
    (tmp_path / "survey.csv").write_text(csv_text(QUESTIONS, rows))
    context = patient(browser, viewport={"width": width, "height": 800})
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(server.origin)
    page.set_input_files("#file", tmp_path / "survey.csv")
    page.wait_for_selector("#learn")
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    page.locator("#learn").click()
    page.wait_for_selector(READY)
    heading = page.locator("#groups h3").first
    assert "…" in heading.inner_text() and len(heading.inner_text()) < 3 * 70
    assert all(question in str(heading.get_attribute("title")) for question in QUESTIONS)
    first = page.locator("#groups .contrast").first
    expect(first.locator("td").last).to_be_visible()
    right = "(one, other) => one.getBoundingClientRect().right <= other.getBoundingClientRect().right"
    card = page.locator("#groups .card").element_handle()
    for table in page.locator("#groups .flat .contrast").all():
        assert table.evaluate(right, card)
    assert first.locator("thead th").first.get_attribute("title") in QUESTIONS  # the whole of it
    card_of = "one => one.getBoundingClientRect().height"
    for question in page.locator(".variable").all():
        assert question.evaluate(card_of) < 400  # the answer of 3,000 characters has a few lines
    page.locator(".variable").nth(0).locator(".level").first.click()
    expect(page.locator(".chip")).to_have_count(1)
    page.locator(".variable").nth(2).locator(".level").first.click()
    expect(page.locator(".chip")).to_have_count(2)
    assert page.locator(".chips").last.evaluate(card_of) < 200
    page.locator(".variable").nth(1).locator(".why:visible").click()
    expect(page.locator(".story")).to_be_visible()
    assert page.evaluate(fits)
    assert page.locator(".story .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    context.close()


def test_a_run_is_removed_by_two_clicks_and_an_unknown_one_is_told(
    page: Page, server: Served, box: Path
) -> None:
    page.set_input_files("#file", box)
    page.wait_for_selector("#learn")
    address = page.url
    page.locator(".brand").click()
    row = page.locator(f'.earlier li:has(a[href="#{address.split("#")[1]}"])')
    row.get_by_role("button").click()
    expect(row.get_by_role("button")).to_have_text("Remove for good")
    page.keyboard.press("Escape")
    expect(row.get_by_role("button")).to_have_text("Remove")
    row.get_by_role("button").click()
    row.get_by_role("button").click()
    expect(row).to_have_count(0)


@pytest.mark.parametrize(
    "where", ["#/run/0123456789abcdef", "#/run/xyz", "#/run/", "#/nowhere", "#/run/..%2Fstart"]
)
def test_an_address_that_leads_nowhere_says_so(context: BrowserContext, server: Served, where: str) -> None:
    page = context.new_page()  # the browser itself logs that the server answered 404
    page.goto(f"{server.origin}/{where}")
    expect(page.locator("h1")).to_have_text("Not here any more")
    page.get_by_role("link", name="To the start").click()
    expect(page.locator(".sample-card").first).to_be_visible()


def tab_to(page: Page, where: str) -> None:
    """Press Tab until the focus is on what the selector names."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("where => document.activeElement.matches(where)", where):
            return
    pytest.fail(f"Tab does not lead to {where}")


def test_a_server_that_is_gone_and_one_started_anew_are_told(browser: Browser, tmp_path: Path) -> None:
    """Beside the search, whose steps may still be on their way to the screen."""
    context = patient(browser)
    page = context.new_page()
    trouble = page.locator(".warning")
    with served(tmp_path / "runs") as server:
        page.goto(server.address)
        page.wait_for_selector(".sample-card")
        page.set_input_files("#file", slow_file(tmp_path))
        page.get_by_label("Look for").select_option("m5")
        page.locator("#learn").click()
        page.wait_for_selector(".steps-list li:nth-child(3)")
        expect(trouble).to_be_hidden()
        server.process.kill()
        expect(trouble).to_have_text("The server does not answer; trying again.")
    with served(tmp_path / "runs", "--port", str(server.port)) as again:
        told = "The server was started anew. Open the address that it printed, then reload this page."
        expect(trouble).to_have_text(told)
        context.new_page().goto(again.address)
        page.reload()
        page.wait_for_selector(".steps-list li:nth-child(3)")
        expect(trouble).to_be_hidden()
    context.close()


def test_seven_tabs_watch_and_an_eighth_is_answered(
    page: Page, context: BrowserContext, server: Served, tmp_path: Path
) -> None:
    """A browser has six connections to a server: streams must not take all of them."""
    page.set_input_files("#file", slow_file(tmp_path))
    page.get_by_label("Look for").select_option("m5")
    page.locator("#learn").click()
    watching = [page, *(context.new_page() for _ in range(6))]
    for tab in watching[1:]:
        tab.goto(page.url)
    for tab in watching:
        tab.wait_for_selector(".steps-list li:nth-child(5)")
    eighth = context.new_page()
    eighth.goto(server.origin)
    expect(eighth.locator(".sample-card").first).to_be_visible()
    watching[-1].locator("#stop").click()
    for tab in watching:  # those without a stream hear of the end too
        tab.wait_for_selector(READY)


def test_what_was_said_goes_with_its_screen(page: Page, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    page.set_input_files("#file", tmp_path / "empty.csv")
    expect(page.locator(".drop [role=alert]")).to_have_text("empty.csv is empty: there is no table in it.")
    (tmp_path / "one.csv").write_text("a,b\n0,1\n1,0\n")
    page.set_input_files("#file", tmp_path / "one.csv")
    page.get_by_label("Take a").uncheck()
    expect(page.locator("#learn")).to_be_disabled()
    page.locator(".brand").click()
    expect(page.locator(".sample-card").first).to_be_visible()
    expect(page.locator("[role=alert]:visible, #said:visible")).to_have_count(0)


def test_with_the_keyboard_only(page: Page) -> None:
    page.wait_for_selector(".sample-card")
    tab_to(page, "[data-sample=music-box]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#learn")
    tab_to(page, "#learn")
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    tab_to(page, ".frame")
    before = page.locator(".world").get_attribute("transform")
    page.keyboard.press("+")
    assert page.locator(".world").get_attribute("transform") != before
    page.keyboard.press("0")
    assert page.locator(".world").get_attribute("transform") == before
    tab_to(page, '.variable[aria-label="dog"] [data-level="0"]')
    page.keyboard.press("Enter")
    expect(level(page, "dog", "barks")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("document.activeElement.dataset.level") == "0"  # the focus stays where it was
    page.keyboard.press("Space")
    expect(level(page, "dog", "barks")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Space")
    expect(page.locator(".chip")).to_have_count(1)
    focused = "() => document.activeElement.className || document.activeElement.textContent"
    for gone in (page.locator(".chip"), page.get_by_role("button", name="Clear all")):
        gone.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".chip")).to_have_count(0)
        assert page.evaluate(focused) == "chips"  # what was pressed is gone: on from what is observed
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".chip")).to_have_count(1)
    page.get_by_role("button", name="Show in the network").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show all columns").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "frame"
    page.locator("#downloads summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#downloads li").first).to_be_hidden()
    assert page.evaluate(focused) == "Download"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # Ask it
    assert page.evaluate("document.activeElement.id") == "ask"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(
    browser: Browser, cookies: list[Any], server: Served, scheme: Any, box: Path, tmp_path: Path
) -> None:
    context = patient(browser, viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True)
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(server.origin)
    text = "h1, h2, h3, h4, p, button, small, .chance, .primary, td, th, summary, label, .quiet, .tag"
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    page.wait_for_selector(".sample-card")
    assert page.evaluate(fits) and page.evaluate(LEAST_CONTRAST, text) >= 4.5
    page.set_input_files("#file", box)
    page.wait_for_selector("#learn")
    assert page.evaluate(fits) and page.evaluate(LEAST_CONTRAST, text) >= 4.5
    page.locator("#learn").tap()
    page.wait_for_selector(READY)
    cut = """() => [...document.querySelectorAll("#groups .scroll")]
      .filter(one => one.scrollWidth > one.clientWidth).length"""
    assert page.locator("#groups .scroll").count() > 9 and page.evaluate(cut) == 0  # no table is cut
    level(page, "dog", "barks").tap()
    page.get_by_label("beside a network of single links").check()
    expect(level(page, "dog", "barks").locator(".chance")).to_have_text("100.0 %")
    assert page.evaluate(fits) and page.evaluate(LEAST_CONTRAST, text) >= 4.5
    level(page, "music_box", "plays").tap()
    page.get_by_label("Why did John change?").tap()
    expect(page.locator(".story")).to_be_in_viewport()
    assert page.evaluate(fits) and page.evaluate(LEAST_CONTRAST, text) >= 4.5
    assert page.locator(".story .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.locator("#downloads summary").tap()
    expect(page.locator("[data-what=svg]")).to_be_visible()
    assert page.evaluate(fits)
    page.goto(f"{server.origin}/#/")
    page.set_input_files("#file", PARTS)  # columns with remarks and a choice
    page.wait_for_selector(".remarks select")
    assert page.evaluate(fits) and page.evaluate(_CUT_OFF) == []
    page.goto(f"{server.origin}/#/")
    learned(page, questions_file(tmp_path))
    assert page.locator("#groups .scroll").count() > 3 and page.evaluate(cut) == 0  # nor one of long names
    page.goto(f"{server.origin}/#/")
    learned(page, days_file(tmp_path))  # of tables wider than the screen all is told but some cells
    assert page.evaluate(fits) and page.evaluate(cut) > 0
    assert page.evaluate(_HEADINGS_OUTSIDE) == []
    wide = page.locator("#groups .scroll").first
    wide.evaluate("one => { one.scrollLeft = 150; }")
    left = "one => one.getBoundingClientRect().left"  # the names of rows stay where they are
    assert wide.evaluate("one => one.scrollLeft") > 0
    assert wide.locator("tbody th").first.evaluate(left) >= wide.evaluate(left) - 1
    context.close()


# What is said of a table, but does not fit on the screen.
_HEADINGS_OUTSIDE = """() => {
  const headings = [...document.querySelectorAll("#groups .contrast :is(caption, th[scope=colgroup])")];
  return headings.filter(one => {
    const words = document.createRange();
    words.selectNodeContents(one);
    return words.getBoundingClientRect().right > innerWidth;
  }).map(one => one.textContent);
}"""


def questions_file(folder: Path) -> Path:
    """Write a table of three questions with short answers, which hang together only all at once."""
    bits = np.random.default_rng(6).integers(0, 2, size=(3, 800))
    bits[2] = bits[0] ^ bits[1]
    names = ["Do you feel rushed at work?", "Do you drink coffee at night?", "Do you find it hard to sleep?"]
    path = folder / "questions.csv"
    path.write_text(csv_text(names, np.array(["no", "yes"])[bits.T].tolist()))
    return path


def days_file(folder: Path) -> Path:
    """Write a table of three columns of seven levels each, two of which determine the third."""
    draw = np.random.default_rng(1)
    first, second = draw.integers(0, 7, size=(2, 3000))
    rows = np.stack([first, second, (first + second) % 7], axis=1)
    path = folder / "days.csv"
    path.write_text(csv_text(["day of the month", "month", "day of the week"], rows.tolist()))
    return path


# What a box that scrolls hides to the right.
_CUT_OFF = """() => [...document.querySelectorAll("main select, main .tag, main button")]
  .filter(one => one.getBoundingClientRect().right > innerWidth).map(one => one.textContent)"""


def wide_file(folder: Path) -> Path:
    """Write a table of 300 columns, in which every tenth and the next determine the third after it."""
    bits = np.random.default_rng(0).integers(0, 2, size=(300, 600))
    for v in range(0, 300, 10):
        bits[v + 2] = bits[v] ^ bits[v + 1]
    path = folder / "wide.csv"
    path.write_text(csv_text([f"variable {v}" for v in range(300)], bits.T.tolist()))
    return path


def test_how_long_it_may_take_is_said_by_how_many_sets_there_are(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    bits = np.random.default_rng(2).integers(0, 2, size=(40, 150))
    path.write_text(csv_text([f"x{v}" for v in range(150)], bits.tolist()))
    page.set_input_files("#file", path)
    reach, told = page.get_by_label("Look for"), page.locator(".settings-form [role=status]")
    for chosen, words in (("k3", ""), ("m4", "minutes"), ("m5", "minutes"), ("m6", "hours")):
        reach.select_option(chosen)
        expect(told).to_have_text(re.compile(f"this may take {words}" if words else "^$"))
    many = np.random.default_rng(3).integers(0, 2, size=(12, 3000))
    path.write_text(csv_text([f"x{v}" for v in range(3000)], many.tolist()))
    page.goto(page.url.split("#")[0])
    page.set_input_files("#file", path)  # triples are quick: ten to a hundred million of them in a second
    expect(told).to_have_text("4 billion sets of columns to look at: this may take minutes.")


def test_300_variables_search_zoom_and_focus_on_a_group(page: Page, tmp_path: Path) -> None:
    learned(page, wide_file(tmp_path))
    cards, svg = page.locator(".variable:visible"), page.locator("svg.map")
    expect(svg).to_have_class("map far")  # all of it is too small to read
    expect(page.locator(".node text:visible")).to_have_count(0)
    level(page, "variable 0", "1").click()
    expect(page.locator(".node text:visible")).to_have_text(["variable 0"])  # but for what one asked about
    page.get_by_label("Find a column").fill("variable 17")
    expect(cards).to_have_count(11)  # 17 and 170 to 179
    page.get_by_label("Find a column").fill("")
    page.get_by_role("button", name="Show in the network").first.click()
    expect(cards).to_have_count(3)
    expect(svg).not_to_have_class(re.compile(r"\bfar\b"))
    inside = page.locator(".node.near")
    expect(inside).to_have_count(3)
    whole = page.locator(".frame").bounding_box()
    assert whole is not None
    for node in inside.all():
        box = node.bounding_box()
        assert box is not None and box["width"] > 40
        assert whole["x"] <= box["x"] and box["x"] + box["width"] <= whole["x"] + whole["width"]
    page.get_by_role("button", name="Show all columns").click()
    expect(cards).to_have_count(300)


def test_a_download_that_is_refused_says_why(page: Page, context: BrowserContext, box: Path) -> None:
    learned(page, box)
    run = page.url.rsplit("/", 1)[1]
    other = context.new_page()  # the refusal is in its console, as it should be
    other.goto(page.url)
    other.wait_for_selector(READY)
    page.locator(".brand").click()
    row = page.locator(f'.earlier li:has(a[href="#/run/{run}"])')
    row.get_by_role("button").click()
    row.get_by_role("button").click()
    expect(row).to_have_count(0)
    other.locator("#downloads summary").click()
    other.locator("[data-what=bif]").click()
    expect(other.locator("#said")).to_contain_text("This run is not here; it may have been removed.")


def test_files_to_keep(page: Page, box: Path, tmp_path: Path) -> None:
    """Every entry of the menu gives a file of its own name, and what it should be."""
    learned(page, box)
    page.locator("#downloads summary").click()
    entries = page.locator("#downloads [data-what]")
    kinds = [entry.get_attribute("data-what") for entry in entries.all()]
    assert set(kinds) == {*downloads.ENDINGS, "svg", "png"} and len(kinds) == len(set(kinds))
    starts = {"svg": b"<svg", "png": b"\x89PNG", "bif": b"network box", "report": b"<!doctype", "json": b"{"}
    starts |= {"dot": b"graph", "uai": b"BAYES", "xmlbif": b"<?xml", "graphml": b"<?xml", "hif": b"{"}
    for what in map(str, kinds):
        with page.expect_download() as waiting:
            page.locator(f"[data-what={what}]").click()
        path = tmp_path / what
        waiting.value.save_as(path)
        assert path.read_bytes().startswith(starts.get(what, b"")) and path.stat().st_size > 100, what
        assert waiting.value.suggested_filename == f"box{downloads.ENDINGS.get(what, f'.{what}')}"
    drawn = (tmp_path / "svg").read_text()
    assert all(name in drawn for name in music_box().joint.exact_table().names)
    assert not any(word in drawn for word in ("<script", "class=", "style=", "color("))
    assert int.from_bytes((tmp_path / "png").read_bytes()[16:20]) > 400  # pixels across
    given = {"dog": "barks"}
    (tmp_path / "json").rename(tmp_path / "box.json")
    assert load(tmp_path / "box.json").query("John", given=given) == _box_network().query("John", given=given)


def _box_network() -> DecomposableMarkovNetwork:
    return fit_network(*_learned())


def test_another_page_is_kept_out(page: Page, server: Served, tmp_path: Path) -> None:
    """A page of another origin, in the same browser, with the cookie there."""
    page.context.route(
        "http://127.0.0.1:1/**", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html")
    )
    evil = page.context.new_page()
    evil.goto("http://127.0.0.1:1/")
    tried = """async origin => {
      const told = [];
      const requests = [
        ["GET", "/api/start"],
        ["POST", "/api/samples/calendar"],
        ["POST", "/api/runs/x/events"],
      ];
      for (const [method, path] of requests) {
        try {
          await fetch(origin + path, { method, credentials: "include" });
          told.push("answered");
        } catch { told.push("refused"); }
      }
      return told;
    }"""
    runs = page.evaluate("fetch('/api/start').then(a => a.json()).then(a => a.runs.length)")
    assert evil.evaluate(tried, server.origin) == ["refused"] * 3
    # Going there is what no browser refuses by itself: it sends the cookie along, as both are on one computer.
    for method, path in (("post", "/api/samples/calendar"), ("get", "/api/start"), ("get", "/static/page.js")):
        evil.goto("http://127.0.0.1:1/")
        with evil.expect_navigation() as going:
            evil.evaluate(
                """([method, action]) => {
                  const form = Object.assign(document.createElement("form"), { method, action });
                  document.body.append(form);
                  form.submit();
                }""",
                [method, server.origin + path],
            )
        assert "xordal-" in going.value.request.all_headers()["cookie"]
        assert going.value.status == 403, path
    evil.goto("http://127.0.0.1:1/")
    assert page.evaluate("fetch('/api/start').then(a => a.json()).then(a => a.runs.length)") == runs
    frame = """origin => new Promise(done => {
      const frame = document.createElement("iframe");
      frame.src = origin;
      frame.onload = () => done(frame.contentDocument ? "ours" : "blocked");
      document.body.append(frame);
    })"""
    assert evil.evaluate(frame, server.origin) == "blocked"
    evil.close()
