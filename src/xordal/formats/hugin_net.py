"""Hugin NET, the format of Hugin, GeNIe, Netica and others.

    net { }
    node NAME { states = ( "yes" "no" ); }
    potential ( CHILD | PARENT ) { data = (( 0.9 0.1 )( 0.05 0.95 )); }

The child's levels change fastest, the first parent's slowest. Parentheses within the data only show what
belongs together. A potential without data is even, as Hugin has it. Only discrete chance nodes are known.
Names and levels are plain words; odd ones are escaped (:mod:`xordal.formats.plain_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.formats.draft import MOST_AXES, MOST_LEVELS, MOST_VARIABLES, Draft, numbers, short
from xordal.formats.left_out import rule_remarks
from xordal.formats.plain_words import original, plain_level, plain_word, title_word
from xordal.formats.tokens import NET, Tokens
from xordal.formats.written import Written
from xordal.model.directed import BayesianNetwork

RESERVED = frozenset(
    {
        "net", "class", "node", "discrete", "continuous", "decision", "utility", "function", "interval",
        "boolean", "potential", "data", "states", "label", "position", "normal", "true", "false", "table",
        "name", "experience", "fading",
    }
)  # fmt: skip
"""Words with a meaning of their own, which a name cannot be."""

_LOOKED_FOR = re.compile(r"(node|states|potential|data)([ =(])")
_OTHER_NODES = ("continuous", "decision", "utility", "function", "interval", "class")


def read_net(text: str, file: str = "the text") -> BayesianNetwork:
    """Return the network of a Hugin NET file; ``file`` is its name in errors.

    Raises
    ------
    ModelFileError
        If the text is no NET, cut short, not sensible, or has nodes that are not discrete: with its line.
    """
    tokens, draft = Tokens(text, file, NET), Draft()
    while not tokens.is_end:
        if tokens.accept("net"):
            tokens.skip_past("{")
            tokens.skip_past("}")
        elif tokens.accept("node") or tokens.accept("discrete"):
            tokens.accept("node")
            _node(tokens, draft)
        elif tokens.accept("potential"):
            _potential(tokens, draft)
        elif tokens.text in _OTHER_NODES:
            tokens.wrong(f"{tokens.text} is not known here: only discrete nodes and their potentials are")
        else:
            tokens.wrong(f"there must be net, node or potential, not {short(tokens.text)}")
    return draft.network(tokens.wrong)


def _node(tokens: Tokens, draft: Draft) -> None:
    name, levels = original(tokens.word("the name of a node")), None
    tokens.expect("{")
    while not tokens.accept("}"):
        if levels is None and tokens.accept("states"):
            tokens.expect("=", "(")
            levels = [
                original(word) for word in tokens.words_until(")", MOST_LEVELS, f"levels of {short(name)}")
            ]
            tokens.expect(";")
        else:
            tokens.skip_past(";")
    draft.add_variable(name, levels or (), tokens.wrong_above)


def _potential(tokens: Tokens, draft: Draft) -> None:
    tokens.expect("(")
    child = original(tokens.word("the name of a node"))
    parents = []
    if tokens.accept("|"):
        parents = [
            original(word) for word in tokens.words_until(")", MOST_VARIABLES, f"parents of {short(child)}")
        ]
    else:
        tokens.expect(")")
    shape = draft.shape(child, parents, tokens.wrong_above)
    chances = None
    tokens.expect("{")
    while not tokens.accept("}"):
        if chances is None and tokens.accept("data"):
            tokens.expect("=")
            chances = numbers(_data(tokens, shape, child), shape, child, tokens.wrong_above)
        elif tokens.text.startswith("model"):
            tokens.wrong(f"the table of {short(child)} is a formula (model_data); only numbers are known here")
        else:
            tokens.skip_past(";")
    even: NDArray[np.float64] = np.full(shape, 1 / shape[-1]) if chances is None else chances
    draft.add_family(child, parents, even, tokens.wrong_above)


def _data(tokens: Tokens, shape: tuple[int, ...], child: str) -> list[str]:
    """Return the numbers up to the semicolon; parentheses only have to match, and to hold something."""
    depth, most, found = 0, prod(shape), list[str]()
    while not tokens.accept(";"):
        if tokens.accept("("):
            depth += 1
            if depth > MOST_AXES + 1 or tokens.text == ")":
                tokens.wrong("parentheses are nested too deeply, or hold nothing")
        elif tokens.accept(")"):
            depth -= 1
            if depth < 0:
                tokens.wrong("a parenthesis is closed that was not opened")
        else:
            if len(found) == most and tokens.is_word:
                tokens.wrong(f"there are more than {most:,} probabilities of {short(child)}")
            found.append(tokens.word("a number"))
    if depth:
        tokens.wrong("a parenthesis is not closed")
    return found


def write_net(network: BayesianNetwork, title: str) -> Iterator[str]:
    """Yield a network as the text of a Hugin NET file; numbers have as many digits as make them exact."""
    written = Written.of(
        network, lambda name: plain_word(name, RESERVED), lambda one: plain_level(one, RESERVED)
    )
    yield from (f"% Rule that the tables do not hold: {_remark(text)}\n" for text in rule_remarks(network))
    yield f'net\n{{\n  name = "{title_word(title)}";\n}}\n'
    for name, levels in zip(written.names, written.levels, strict=True):
        states = " ".join(f'"{level}"' for level in levels)
        yield f"node {name}\n{{\n  states = ( {states} );\n}}\n"
    for family in network.families:
        # pgmpy takes "lymph_node a" for the node a: a line ends after such a name.
        ends = ("\n" if written.names[p].endswith("node") else " " for p in family.parents)
        parents = "".join(
            f"{written.names[p]}{end}" for p, end in zip(family.parents, ends, strict=True)
        ).rstrip()
        given = f" | {parents}" if parents else ""
        yield f"potential ( {written.names[family.variable]}{given} )\n"
        yield f"{{\n  data = {_nested(family.chances)};\n}}\n"


def _remark(text: str) -> str:
    """Return a remark in which pgmpy, which looks for such words in comments too, sees no node or table."""
    return _LOOKED_FOR.sub(lambda found: f"{found[1]}_x{ord(found[2]):04X}_", text)


def _nested(chances: NDArray[np.float64]) -> str:
    """Return numbers in parentheses, a pair for each axis."""
    texts = ["( " + " ".join(map(repr, row)) + " )" for row in chances.reshape(-1, chances.shape[-1]).tolist()]
    for length in chances.shape[-2::-1]:
        texts = ["( " + "".join(texts[at : at + length]) + " )" for at in range(0, len(texts), length)]
    return texts[0]
