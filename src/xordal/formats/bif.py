"""BIF, the interchange format of the Bayesian Network Repository.

    network NAME { }
    variable NAME { type discrete [ 2 ] { yes, no }; }
    probability ( NAME ) { table 0.2, 0.8; }
    probability ( CHILD | PARENT ) { (yes) 0.9, 0.1; (no) 0.05, 0.95; }

Rows of a table may also come at once after ``table``: then the child's levels change slowest, as JavaBayes,
pgmpy and pyAgrum read them. ``default`` stands for all rows that are not there. Properties are read past.
Names and levels are plain words; odd ones are escaped (:mod:`xordal.formats.plain_words`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from xordal.formats.draft import MOST_LEVELS, MOST_VARIABLES, Draft, numbers, short
from xordal.formats.left_out import rule_remarks
from xordal.formats.plain_words import original, plain_level, plain_word, title_word
from xordal.formats.tokens import BIF, Tokens
from xordal.formats.written import Written
from xordal.model.directed import BayesianNetwork, Family

RESERVED = frozenset({"network", "variable", "probability", "property", "type", "discrete", "default", "table"})
"""Words with a meaning of their own, which a name cannot be."""


def read_bif(text: str, file: str = "the text") -> BayesianNetwork:
    """Return the network of a BIF file; ``file`` is its name in errors.

    Raises
    ------
    ModelFileError
        If the text is no BIF, cut short, or not sensible: with its line.
    """
    tokens, draft = Tokens(text, file, BIF), Draft()
    while not tokens.is_end:
        if tokens.accept("network"):
            tokens.skip_past("{")
            tokens.skip_past("}")
        elif tokens.accept("variable"):
            _variable(tokens, draft)
        elif tokens.accept("probability"):
            _probability(tokens, draft)
        else:
            tokens.wrong(f"there must be network, variable or probability, not {short(tokens.text)}")
    return draft.network(tokens.wrong)


def _variable(tokens: Tokens, draft: Draft) -> None:
    name, levels = original(tokens.word("the name of a variable")), None
    tokens.expect("{")
    while not tokens.accept("}"):
        if levels is None and tokens.accept("type"):
            tokens.expect("discrete", "[")
            n_levels = tokens.word("the number of levels")
            tokens.expect("]", "{")
            most = (
                min(int(n_levels), MOST_LEVELS) if n_levels.isdecimal() and len(n_levels) < 9 else MOST_LEVELS
            )
            levels = [original(word) for word in tokens.words_until("}", most, f"levels of {short(name)}")]
            if n_levels != str(len(levels)):
                tokens.wrong(f"{short(name)} has {len(levels)} levels and not {short(n_levels)}")
            tokens.expect(";")
        else:
            tokens.expect("property")
            tokens.skip_past(";")
    draft.add_variable(name, levels or (), tokens.wrong_above)


def _probability(tokens: Tokens, draft: Draft) -> None:
    tokens.expect("(")
    child = original(tokens.word("the name of a variable"))
    tokens.accept("|")
    parents = [original(word) for word in tokens.words_until(")", MOST_VARIABLES, f"parents of {short(child)}")]
    shape = draft.shape(child, parents, tokens.wrong_above)
    tokens.expect("{")
    rows = _Rows(child, parents, shape, tokens, draft)
    while not tokens.accept("}"):
        rows.read()
    draft.add_family(child, parents, rows.finished(), tokens.wrong_above)


class _Rows:
    """The rows of one table as they come; NaN where none has come yet."""

    def __init__(
        self, child: str, parents: list[str], shape: tuple[int, ...], tokens: Tokens, draft: Draft
    ) -> None:
        self._child, self._shape, self._tokens = child, shape, tokens
        self._codes = [{level: code for code, level in enumerate(draft.levels[name])} for name in parents]
        self._chances: NDArray[np.float64] = np.full(shape, np.nan)
        self._default: NDArray[np.float64] | None = None

    def read(self) -> None:
        """Read an entry: a row, the whole table, the default, or a property."""
        tokens = self._tokens
        if tokens.accept("("):
            cell = self._cell()
            self._refuse_second(self._chances[cell])
            self._chances[cell] = self._numbers(self._shape[-1:])
        elif tokens.accept("table"):
            self._refuse_second(self._chances)
            # The child's levels come first here, and change slowest.
            slowest = self._numbers((self._shape[-1], *self._shape[:-1]))
            self._chances = np.ascontiguousarray(np.moveaxis(slowest, 0, -1))
        elif tokens.accept("default"):
            self._refuse_second(self._default)
            self._default = self._numbers(self._shape[-1:])
        else:
            tokens.expect("property")
            tokens.skip_past(";")

    def finished(self) -> NDArray[np.float64]:
        """Return the table, with the default where a row is missing."""
        rows = self._chances.reshape(-1, self._shape[-1])  # two axes: with many, choosing takes much memory
        missing = np.isnan(rows[:, 0])
        if missing.any():
            if self._default is None:
                self._tokens.wrong_above(f"{int(missing.sum()):,} rows of {short(self._child)} are missing")
            rows[missing] = self._default
        return rows.reshape(self._shape)

    def _refuse_second(self, known: NDArray[np.float64] | None) -> None:
        if known is not None and not np.isnan(known.flat[-1]):
            self._tokens.wrong(f"probabilities of {short(self._child)} are there a second time")

    def _cell(self) -> tuple[int, ...]:
        most, things = len(self._codes), f"levels for the parents of {short(self._child)}"
        words = [original(word) for word in self._tokens.words_until(")", most, things)]
        if len(words) != len(self._codes):
            self._tokens.wrong(f"{short(self._child)} has {len(self._codes)} parents and not {len(words)}")
        for word, codes in zip(words, self._codes, strict=True):
            if word not in codes:
                self._tokens.wrong(f"{short(word)} is no level of that parent of {short(self._child)}")
        return tuple(codes[word] for word, codes in zip(words, self._codes, strict=True))

    def _numbers(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        words = self._tokens.words_until(";", prod(shape), f"probabilities of {short(self._child)}")
        found = numbers(words, shape, self._child, self._tokens.wrong_above)
        if np.isnan(found).any():
            self._tokens.wrong(f"the probabilities of {short(self._child)} must be numbers from 0 to 1")
        return found


def write_bif(network: BayesianNetwork, title: str) -> Iterator[str]:
    """Yield a network as the text of a BIF file; numbers have as many digits as make them exact."""
    written = Written.of(
        network, lambda name: plain_word(name, RESERVED), lambda one: plain_level(one, RESERVED)
    )
    yield from (f"// Rule that the tables do not hold: {remark}\n" for remark in rule_remarks(network))
    yield f"network {title_word(title, RESERVED)} {{\n}}\n"
    for name, levels in zip(written.names, written.levels, strict=True):
        yield f"variable {name} {{\n  type discrete [ {len(levels)} ] {{ {', '.join(levels)} }};\n}}\n"
    for family in network.families:
        yield from _written_family(family, written)


def _written_family(family: Family, written: Written) -> Iterator[str]:
    name = written.names[family.variable]
    if not family.parents:
        yield f"probability ( {name} ) {{\n  table {_text(family.chances)};\n}}\n"
        return
    yield f"probability ( {name} | {', '.join(written.names[p] for p in family.parents)} ) {{\n"
    rows = family.chances.reshape(-1, family.chances.shape[-1])
    for levels, row in zip(product(*(written.levels[p] for p in family.parents)), rows, strict=True):
        yield f"  ({', '.join(levels)}) {_text(row)};\n"
    yield "}\n"


def _text(row: NDArray[np.float64]) -> str:
    return ", ".join(map(repr, row.tolist()))
