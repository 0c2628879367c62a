"""The demos by name: data, where they come from, and the story of what they hide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xordal.errors import SettingsError, nearest

if TYPE_CHECKING:
    from xordal.data.table import CategoricalTable

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Demo:
    """A table that hides a group of columns.

    Attributes
    ----------
    name, title
        What it is called, on the command line and in print.
    story
        What the table is of, and what a pairwise view makes of it.
    moral
        What was found, and why it matters.
    group
        The columns that hide something together.
    max_variables
        How many variables a group found at once may have; None for the default search.
    source
        Where the data come from, and their licence.
    """

    name: str
    title: str
    story: str
    moral: str
    group: tuple[str, ...]
    source: str
    max_variables: int | None = None

    def table(self) -> CategoricalTable:
        """Return the data.

        Examples
        --------
        >>> find_demo("epistasis").table().n_rows
        1600
        """
        if self.name == MUSIC_BOX.name:
            from xordal.pi.zoo import music_box

            return music_box().joint.exact_table()
        from xordal.data.read import read_table

        return read_table(_DATA / f"{self.name}.csv.gz")


MUSIC_BOX = Demo(
    "music-box",
    "The music box",
    """\
Three balls are drawn; 20, 60 and 50 % of them are white. A music box plays when an odd number is white.
A dog barks when two lights are both on or both off. John complains when it is too quiet or too noisy:
neither box nor dog, or both. Nobody tells the program any of this. It sees a table of eight columns.""",
    "Whoever sees pairs only would take John for unpredictable.",
    ("music_box", "dog", "John"),
    "generated from the model of Hu and Xiang (UAI 1997)",
)
CHECK_DIGIT = Demo(
    "check-digit",
    "The check digit",
    """\
Chemicals have registry numbers, and the last digit of each checks the others: digit n1 counts once, n2 twice,
n3 three times and so on, and the sum modulo 10 is the check digit. Here is only whether each digit is odd
or even, of 9,000 real numbers. Digits that count an even number of times cannot make the sum odd.
So the check digit is odd when an odd number of n1, n3, n5 and n7 is. The program is not told.""",
    """\
The rule of the check digit came out of the data: five columns of which any four look all but independent.
Tables are full of such columns. To a model that misses them a corrupted number is as likely as a right one.""",
    ("n7", "n5", "n3", "n1", "check"),
    "parities of the digits of CAS registry numbers, from the identifier tables of an MIT-licensed package",
    5,
)
CALENDAR = Demo(
    "calendar",
    "The calendar",
    """\
7,670 days from 1994 to 2014: by how many weekdays the year, the month and the day of the month move the
calendar (each modulo 7), the weekday, and whether few or many children were born in the United States.
Year, month and day settle the weekday. No two of the four know anything of each other.""",
    """\
Births do depend on the weekday, and that shows in pairs: hospitals plan. But the rule of the calendar itself,
the strongest in the table, shows in no pair and hardly in any three of its four columns.""",
    ("year", "month", "day", "weekday"),
    "births by day, FiveThirtyEight, CC BY 4.0",
    4,
)
EPISTASIS = Demo(
    "epistasis",
    "Two genes and a disease",
    """\
1,600 people, half of them ill, and 20 genetic markers. No marker by itself makes anyone ill: carriers of
each variant fall ill about as often as everyone else. A study that tests marker after marker finds nothing.""",
    """\
Two markers together tell four of five people right, and each alone tells none. Geneticists call it epistasis;
it may be where a part of the missing heritability hides.""",
    ("P1", "P2", "disease"),
    "GAMETES, simulated, from the Penn Machine Learning Benchmarks, MIT",
)

DEMOS: dict[str, Demo] = {demo.name: demo for demo in (MUSIC_BOX, CHECK_DIGIT, CALENDAR, EPISTASIS)}


def find_demo(name: str) -> Demo:
    """Return a demo by its name.

    Examples
    --------
    >>> find_demo("calendar").title
    'The calendar'
    """
    if name not in DEMOS:
        raise SettingsError(f"There is no demo {name!r}; {nearest(name, DEMOS)}")
    return DEMOS[name]
