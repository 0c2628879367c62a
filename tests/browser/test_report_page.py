"""The report of a network, opened from disk in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.opening import LEAST_CONTRAST, opened
from xordal.data.table import CategoricalTable
from xordal.formats.shown import shown
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.pi.zoo import music_box
from xordal.report.html import report_page
from xordal.report.summary import summarise
from xordal.types.groups import Submodel
from xordal.types.learned import Learned
from xordal.types.trace import SearchRun, TraceEntry, links_after
from xordal.types.varsets import varset

pytestmark = pytest.mark.slow  # all of them start a browser


LINK_SETS = [1, 1, 2, 2, 2, 1, 3]  # of the music box, Figure 7
HOSTILE = (
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "\"'&lt;{{ 7*7 }}\x1b[31m",
)
SHOWN_LINKS = "() => document.querySelectorAll('#map .link:not(.off)').length"
NEW_LINKS = "() => document.querySelectorAll('#map .link.new:not(.off)').length"
TEXT = "h1, h2, h3, h4, p, td, td small, th, dt, dd, summary, figcaption, button, caption, output, .names span"


def written(network: DecomposableMarkovNetwork, folder: Path, title: str = "") -> Path:
    path = folder / "report.html"
    path.write_text(report_page(summarise(network, title)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = music_box().joint.exact_table()
    return written(fit_network(table, learn(table)), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = [f"{name}!" for name in HOSTILE[:2]]
    rows = [(levels[a], levels[b], levels[a ^ b]) for a in (0, 1) for b in (0, 1)] * 25
    table = CategoricalTable.from_rows(HOSTILE, rows)
    return written(fit_network(table, learn(table)), tmp_path_factory.mktemp("hostile"), HOSTILE[0])


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of 300 variables: 75 exclusive-ors, each beside a variable without a link."""
    firsts = range(0, 300, 4)
    bits = np.random.default_rng(0).integers(0, 2, size=(300, 200))
    for v in firsts:
        bits[v + 2] = bits[v] ^ bits[v + 1]
    links = [((v, v + 1), (v, v + 2), (v + 1, v + 2)) for v in firsts]
    trace = tuple(TraceEntry("add", 3, three, 0.69, 4, 1000 * n) for n, three in enumerate(links, 1))
    names = [f"variable {v}" for v in range(300)]
    table = CategoricalTable.from_rows(names, bits.T.tolist())
    groups = tuple(
        Submodel(varset(range(v, v + 3)), (varset([v]), varset([v + 1]), varset([v + 2])), "full", 0.69)
        for v in firsts
    )
    final = links_after(trace)
    cliques = tuple(tuple(range(v, v + 3)) for v in firsts)
    settings = {
        "criterion": {"name": "EntropyDecrement", "delta_h": 0.004},
        "max_links": 3,
        "schedule": "printed",
    }
    run = SearchRun(trace, 10**6, 10**4, 10**5)
    learned = Learned(tuple(names), final, cliques, run, settings, 200, 1.0, groups, final)
    return written(fit_network(table, learned), tmp_path_factory.mktemp("large"))


def test_groups_come_first_with_flat_tables_beside_one_that_is_not(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        assert page.locator("main > section").nth(1).get_attribute("id") == "groups"
        card = page.locator("#group-1")
        assert card.locator("h3").inner_text() == "1 music_box | dog | John"
        flat = card.locator(".flat td")
        assert flat.count() == 12
        assert set(flat.locator("b").all_inner_texts()) == {"250"}
        assert card.locator(".flat td.more, .flat td.less").count() == 0
        joint = card.locator(".together table").last.locator("td")
        assert joint.locator("b").all_inner_texts() == ["250", "0", "0", "250", "0", "250", "250", "0"]
        assert card.locator(".together table").last.locator("td.more, td.less").count() == 8


def test_the_network_and_the_strongest_group_are_above_the_fold(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        for part in ("#map .node >> nth=0", "#map .node >> nth=7", ".strongest .who", ".strongest table"):
            seen = page.locator(part).bounding_box()
            assert seen is not None
            assert seen["y"] >= 0
            assert seen["y"] + seen["height"] <= 800, part
        assert page.locator(".strongest .who").inner_text() == "music_box | dog | John"


def test_links_are_filtered_by_strength(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        assert page.locator("#strongest-of").inner_text() == "all 12"
        page.locator("#strength").fill("3")
        assert page.locator("#strongest-of").inner_text() == "strongest 3 of 12"
        assert page.locator("#map .link:visible").count() == 3
        page.locator("#strength").fill("12")
        assert page.locator("#map .link:visible").count() == 12


def test_a_neighbourhood_alone(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#names button", has_text="light1").click()
        page.locator("#near").click()
        shown = page.locator("#map .node:visible text").all_text_contents()
        assert sorted(shown) == ["dog", "light1", "light2"]
        assert page.locator("#map .link:visible").count() == 3
        page.locator("#strength").fill("1")  # what is drawn around a column is joined to it
        assert page.locator("#map .link:visible").count() >= 2
        page.locator("#strength").fill("12")
        page.locator("#detail button", has_text="dog").click()
        assert page.locator("#map .node:visible").count() == 5
        page.locator("#near").click()
        assert page.locator("#map .node:visible").count() == 8


def test_a_tangle_opens_with_its_strongest_part(browser: Browser, tmp_path: Path) -> None:
    """Of 111 columns that all hang together, some twenty are drawn, large enough to be read."""
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 2, size=(111, 300))
    for v in range(2, 111):
        flipped = generator.random(300) < 0.2
        bits[v] = np.where(flipped, bits[v], bits[v - 1] & bits[v - 2])
    table = CategoricalTable.from_rows([f"column {v}" for v in range(111)], bits.T.tolist())
    links = sorted({(u, v) for u in range(111) for v in (u + 1, u + 2) if v < 111})
    run = SearchRun((TraceEntry("add", 1, tuple(links), 0.1, 1, 10),), 10, 10, 10)
    cliques = tuple((v, v + 1, v + 2) for v in range(109))
    settings = {"criterion": {"name": "Significance", "alpha": 0.05}, "max_links": 3, "schedule": "printed"}
    learned = Learned(table.names, tuple(links), cliques, run, settings, 300, 1.0, (), ())
    with opened(browser, written(fit_network(table, learned), tmp_path)) as page:
        assert 3 <= page.locator("#map .node:visible").count() <= 30
        box = page.locator("#map .node:visible text").first.bounding_box()
        assert box is not None
        assert box["height"] > 9
        page.locator("#near").click()
        assert page.locator("#map .node:visible").count() == 111


def test_the_replay_steps_through_all_link_sets(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        assert (page.evaluate(SHOWN_LINKS), page.evaluate(NEW_LINKS)) == (12, 0)
        page.locator("#first").click()
        assert page.evaluate(SHOWN_LINKS) == 0
        for number, size in enumerate(LINK_SETS, 1):
            page.locator("#next").click()
            assert page.evaluate(NEW_LINKS) == size
            assert page.evaluate(SHOWN_LINKS) == sum(LINK_SETS[:number])
            assert page.locator("#told").inner_text().startswith(f"Step {number} of 7: looking ")
            assert "gain 0." in page.locator("#told").inner_text()
            assert re.search("p [=<] ", page.locator("#told").inner_text())
            assert page.locator("tr.current").get_attribute("id") == f"step-{number}"
        page.locator("#back").click()
        assert page.evaluate(SHOWN_LINKS) == 9


def test_the_replay_by_slider_keys_and_play(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        slider = page.locator("#slider")
        slider.focus()
        page.keyboard.press("Home")
        assert page.evaluate(SHOWN_LINKS) == 0
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN_LINKS) == 1
        assert (slider.get_attribute("aria-valuetext") or "").startswith("Step 1 of 7")
        page.locator("#frame").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN_LINKS) == 4
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(SHOWN_LINKS) == 2
        page.locator("#play").click()
        expect(slider).to_have_value("4")
        assert page.locator("#play").inner_text() == "Pause"
        page.locator("#play").click()
        assert page.locator("#play").inner_text() == "Play"


def test_what_single_links_find_can_be_shown_alone(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#single").check()
        assert page.evaluate(SHOWN_LINKS) == 2
        page.locator("#single").uncheck()
        assert page.evaluate(SHOWN_LINKS) == 12
        assert page.locator("#missed li").count() == 12


def place(page: Page, name: str) -> tuple[float, float]:
    box = page.locator(f"#map .node:has(text:text-is('{name}')) rect").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_variables_are_dragged_with_their_links(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#frame").scroll_into_view_if_needed()
        x, y = place(page, "John")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y - 40, steps=4)
        page.mouse.up()
        assert place(page, "John") == pytest.approx((x + 60, y - 40), abs=1.5)
        ends = """() => {
          const moved = document.querySelector('#map .node:last-child').getAttribute('transform');
          const [x, y] = moved.match(/[-0-9.]+/g).map(Number);
          return [...document.querySelectorAll('#map .link')].filter(l => Math.hypot(
            l.x2.baseVal.value - x, l.y2.baseVal.value - y) < 0.2).length; }"""
        assert page.evaluate(ends) == 2  # John's links end where John is


def test_the_map_zooms_moves_and_fits(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#frame").scroll_into_view_if_needed()
        at = place(page, "John")
        page.locator("#zoom-in").click()
        assert place(page, "John") != pytest.approx(at, abs=1)
        page.locator("#fit").click()
        assert place(page, "John") == pytest.approx(at, abs=1)
        page.locator("#frame").focus()
        page.keyboard.press("Shift+ArrowRight")
        assert place(page, "John")[0] < at[0] - 5
        page.keyboard.press("0")
        before = page.locator(".world").get_attribute("transform") or ""
        page.mouse.move(*at)
        page.mouse.wheel(0, -200)
        expect(page.locator(".world")).not_to_have_attribute("transform", before)
        assert place(page, "John") == pytest.approx(at, abs=2)  # the wheel zooms around the pointer


def test_a_variable_is_found_and_told_about(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#search").fill("LIGHT")
        assert page.locator("#names li:visible").count() == 2
        assert page.locator("#matches").inner_text() == "2 of 8 columns"
        assert page.locator("#map .node.hit").count() == 2
        page.keyboard.press("Enter")
        assert page.locator("#detail h3").inner_text() == "light1"
        assert page.locator("#detail dt").all_inner_texts() == ["off", "on"]
        assert page.locator("#detail button").all_inner_texts()[:2] == ["light2", "dog"]
        page.locator("#detail button", has_text="dog").click()
        assert page.locator("#detail h3").inner_text() == "dog"
        page.locator("#search").fill("")
        assert page.locator("#names li:visible").count() == 8


def test_a_group_is_shown_in_the_network(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        page.locator("#group-1 button").click()
        names = page.locator("#map .node.chosen text").all_text_contents()
        assert sorted(names) == ["John", "dog", "music_box"]
        assert page.locator("#map .link.near").count() == 3


def test_kinds_of_links_differ_by_more_than_colour(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        dash = "kind => getComputedStyle(document.querySelector(`#map .link.${kind}`)).strokeDasharray"
        assert page.evaluate(dash, "colored") != page.evaluate(dash, "black")
        assert page.locator("#map .link.colored").count() == 10


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["box", "large", "hostile"])
def test_nothing_sticks_out_sideways(
    browser: Browser, width: int, name: str, request: pytest.FixtureRequest
) -> None:
    with opened(browser, request.getfixturevalue(name), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_text_has_contrast_in_light_and_dark(browser: Browser, box: Path) -> None:
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    behind = []
    for scheme in schemes:
        with opened(browser, box, scheme=scheme) as page:
            assert page.evaluate(LEAST_CONTRAST, TEXT) >= 4.5, scheme
            behind.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            behind.append(page.evaluate("getComputedStyle(document.querySelector('.node rect')).fill"))
    assert behind[:2] != behind[2:]


def test_print_shows_everything_and_cuts_nothing(browser: Browser, box: Path) -> None:
    with opened(browser, box, width=688, scheme="dark") as page:
        page.locator("#first").click()
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(SHOWN_LINKS) == 12
        assert page.locator("details:not([open])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
        assert page.locator(".replay").is_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details:not([open])").count() > 0


def test_300_variables_stay_apart_and_are_found(browser: Browser, large: Path) -> None:
    with opened(browser, large) as page:
        assert page.locator("#map .node").count() == 300
        overlaps = """() => {
          const boxes = [...document.querySelectorAll('#map .node rect')].map(r => r.getBoundingClientRect());
          return boxes.filter((a, i) => boxes.slice(i + 1).some(b =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length; }"""
        assert page.evaluate(overlaps) == 0
        page.locator("#search").fill("variable 271")
        assert page.locator("#names li:visible").count() == 1
        page.keyboard.press("Enter")
        assert page.locator("#map .node.chosen text").text_content() == "variable 271"
        assert page.locator("#map .node.chosen text").is_visible()
        page.locator("#slider").focus()
        page.keyboard.press("Home")
        page.keyboard.press("PageUp")
        assert 0 < page.evaluate(SHOWN_LINKS) < 225
    assert large.stat().st_size < 1_000_000


def test_hostile_names_are_text(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as page:
        assert page.title() == HOSTILE[0]
        names = [
            page.locator("#names button").nth(v).evaluate("b => b.firstChild.data.trim()") for v in range(3)
        ]
        assert names == [shown(name) for name in HOSTILE]
        page.locator("#names button").nth(1).click()
        assert page.locator("#detail h3").inner_text() == HOSTILE[1]
        assert sorted(page.locator("#detail dt").all_inner_texts()) == sorted(
            f"{name}!" for name in HOSTILE[:2]
        )
        page.locator("#next").click()
        assert HOSTILE[0] in page.locator("#told").inner_text()
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.evaluate("typeof window.hacked") == "undefined"
        policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src 'sha256-" in policy


def test_a_script_that_is_not_ours_does_not_run(browser: Browser, box: Path, tmp_path: Path) -> None:
    text = box.read_text(encoding="utf-8").replace("</body>", "<script>window.hacked=1</script></body>")
    (tmp_path / "changed.html").write_text(text, encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "changed.html").as_uri())
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("#told").inner_text() != ""  # ours does
    context.close()


def test_everything_interactive_has_a_name_and_can_be_reached(browser: Browser, box: Path) -> None:
    with opened(browser, box) as page:
        nameless = """() => [...document.querySelectorAll('button, input, [role]')].filter(e =>
          !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).length"""
        assert page.evaluate(nameless) == 0
        unreachable = """() => [...document.querySelectorAll('button, input, summary, #frame')]
          .filter(e => e.tabIndex < 0).length"""
        assert page.evaluate(unreachable) == 0
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
