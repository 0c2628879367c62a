"""The page: one file, everything escaped, nothing loaded."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError

from xordal.report.drawings import NetworkDrawing
from xordal.report.html import page, paper_page
from xordal.report.paper.checks import Check, Grid, Item, Summary

NASTY = "<script>alert('x')</script>"


def nasty_page() -> str:
    item = Item(
        "key",
        NASTY,
        NASTY,
        (Check(NASTY, NASTY, "other", "different", NASTY),),
        text=(NASTY,),
        grids=(Grid.of(NASTY, NASTY, [[NASTY]]),),
        drawings=(NetworkDrawing.of(NASTY, [NASTY], []),),
    )
    return paper_page(Summary((item,)))


def test_what_comes_from_data_is_escaped() -> None:
    text = nasty_page()
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 10


def test_nothing_is_loaded() -> None:
    text = nasty_page()
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert not re.search(r"@import|url\(", text)
    assert re.findall(r"https?://[^\"'<\s]+", text) == ["http://www.w3.org/2000/svg"]


def test_a_page_without_differences_does_not_speak_of_them() -> None:
    item = Item("key", "Table 0", "A title", (Check("a", "1", "1", "equal"),))
    assert "What differs" in nasty_page()
    assert "What differs" not in paper_page(Summary((item,)))


def test_a_value_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="summary"):
        page("paper.html")
