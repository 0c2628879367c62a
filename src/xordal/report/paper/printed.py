"""What the paper prints, transcribed: the other half of every comparison.

Source: J. Hu, Y. Xiang, Learning Belief Networks in Domains with Recursively Embedded Pseudo Independent
Submodels, UAI 1997. Numbers stand as they are printed. Of the figures, which are pictures, only what the text
says about them is transcribed. Variables keep the paper's names.
"""

from __future__ import annotations

from dataclasses import dataclass

NamedLink = frozenset[str]
NamedLinks = frozenset[NamedLink]


def links(text: str) -> NamedLinks:
    """Return the links written as ``a-b c-d``.

    Examples
    --------
    >>> links("d-a a-c") == {frozenset("da"), frozenset("ac")}
    True
    """
    return frozenset(frozenset(link.split("-")) for link in text.split())


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """A row of Table 3 or 4: the lookahead, the learned links, graphs tested so far, entropy decrement."""

    name: str
    lookahead: int
    links: NamedLinks
    graphs_tested: int
    decrement: str


TABLE_1 = {  # (d, a, b, c)
    "0000": "0.02", "0001": "0.02", "0010": "0.06", "0011": "0",
    "0100": "0.1", "0101": "0.06", "0110": "0.14", "0111": "0.1",
    "1000": "0.03", "1001": "0.01", "1010": "0.01", "1011": "0.05",
    "1100": "0.09", "1101": "0.07", "1110": "0.15", "1111": "0.09",
}  # fmt: skip
TABLE_1_SUBMODELS = {"N1": frozenset("abc"), "N2": frozenset("dac"), "N3": frozenset("dbc")}

TABLE_3 = (
    PrintedStep("L1", 1, links("d-c"), 6, "0.0033"),
    PrintedStep("L2", 2, links("d-a a-c"), 26, "0.0139"),
    PrintedStep("L3", 2, links("d-b b-c"), 29, "0.0022"),
    PrintedStep("L4", 1, links("a-b"), 30, "0.0389"),
)
FIGURE_2 = (links("d-c"), links("d-a a-c d-b b-c"), links("a-b"))  # what panels (a), (b) and (c) add

TABLE_4 = (
    PrintedStep("L1", 1, links("light1-dog"), 28, "0.0822"),
    PrintedStep("L2", 1, links("ball3-music_box"), 55, "0.0069"),
    PrintedStep("L3", 2, links("light1-light2 light2-dog"), 432, "0.6109"),
    PrintedStep("L4", 2, links("ball2-ball3 ball2-music_box"), 708, "0.1922"),
    PrintedStep("L5", 2, links("ball1-ball3 ball1-music_box"), 939, "0.0146"),
    PrintedStep("L6", 1, links("ball1-ball2"), 1149, "0.4802"),
    PrintedStep("L7", 3, links("music_box-dog dog-John John-music_box"), 2327, "0.6895"),
)
TABLE_4_TOTAL = 3583
TABLE_4_ROWS = 2000
STEPS_OF_FIRST_PASSES = (28, 27)
STEPS_OF_DOUBLE_LINKS = 884

MUSIC_SUBMODELS = {
    "N1": frozenset({"ball1", "ball3", "music_box"}),
    "N2": frozenset({"ball2", "ball3", "music_box"}),
    "N3": frozenset({"ball1", "ball2", "ball3", "music_box"}),
    "N4": frozenset({"light1", "light2", "dog"}),
    "N5": frozenset({"music_box", "dog", "John"}),
}
URNS = {"ball1": "20", "ball2": "60", "ball3": "50"}  # per cent of white balls

# Section 5 on Figure 3: four passes labelled 1, then three labelled 2, then three labelled 1; on Figure 4: the
# first four have the first node labelled 2 as parent, the three labelled 2 the first node labelled 3.
FIGURE_3_PASSES = ((1, 4), (2, 3), (1, 3))
