"""Comparisons with the paper: each carries a mark that was computed, and says why where it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Literal, TypeVar, get_args

from xordal.report.drawings import Drawing

Mark = Literal["equal", "equal up to sampling", "different"]
MARKS: tuple[Mark, ...] = get_args(Mark)
"""All marks, best first."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: what the paper prints, what we get, and the mark. ``why`` explains a difference."""

    what: str
    paper: str
    ours: str
    mark: Mark
    why: str = ""


def compare(what: str, paper: T, ours: T, *, show: Callable[[T], str] = str, why: str = "") -> Check:
    """Compare two values for equality.

    Parameters
    ----------
    what
        What is compared.
    paper, ours
        The values; they are equal or different.
    show
        Turns a value into text.
    why
        The reason to give if they differ.

    Examples
    --------
    >>> compare("graphs tested", 30, 25, why="line 6").mark
    'different'
    >>> compare("graphs tested", 30, 30, why="line 6")
    Check(what='graphs tested', paper='30', ours='30', mark='equal', why='')
    """
    is_equal = paper == ours
    return Check(what, show(paper), show(ours), "equal" if is_equal else "different", "" if is_equal else why)


def holds(
    statement: str, is_true: bool, ours: str, *, otherwise: str = "does not hold", why: str = ""
) -> Check:
    """Check a statement of the paper: equal where it holds, different where it does not.

    ``ours`` tells what was found where it holds, ``otherwise`` where it does not.
    """
    if is_true:
        return Check(statement, "holds", ours, "equal")
    return Check(statement, "holds", otherwise, "different", why)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text cells; ``numeric`` says which columns are aligned as numbers."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]

    @classmethod
    def of(cls, caption: str, headings: str, rows: Iterable[Iterable[object]]) -> Grid:
        """Build a grid from headings parted by ``|``; a heading that ends in ``#`` is a column of numbers.

        Examples
        --------
        >>> Grid.of("Squares", "of|is#", [("two", 4)]).numeric
        (False, True)
        """
        names = headings.split("|")
        return cls(
            caption,
            tuple(name.removesuffix("#").strip() for name in names),
            tuple(tuple(str(cell) for cell in row) for row in rows),
            tuple(name.endswith("#") for name in names),
        )


@dataclass(frozen=True, slots=True)
class Item:
    """A table, a figure or the text of a section: the paper beside ours.

    ``key`` is its anchor, ``text`` what has to be known to read it.
    """

    key: str
    label: str
    title: str
    checks: tuple[Check, ...]
    text: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    @property
    def mark(self) -> Mark:
        """The worst mark among its checks."""
        return max((check.mark for check in self.checks), key=MARKS.index)


@dataclass(frozen=True, slots=True)
class Summary:
    """All items in the order of the paper."""

    items: tuple[Item, ...]

    def counts(self) -> dict[Mark, int]:
        """Return how many comparisons carry each mark."""
        every = [check.mark for item in self.items for check in item.checks]
        return {mark: every.count(mark) for mark in MARKS}

    def differences(self) -> tuple[tuple[Item, Check], ...]:
        """Return every comparison that differs, with its item."""
        return tuple((item, check) for item in self.items for check in item.checks if check.mark == "different")

    def to_json(self) -> dict[str, object]:
        """Return the summary as plain lists, numbers and strings."""
        return {"counts": self.counts(), "items": [{"mark": i.mark, **asdict(i)} for i in self.items]}
