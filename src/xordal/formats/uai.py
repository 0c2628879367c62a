"""UAI, the format of the inference competitions: numbers only, with the names in a file beside it.

    BAYES                   or MARKOV: tables that need not sum to one
    2                       how many variables
    2 2                     how many levels each has
    2                       how many tables
    1 0                     how many variables each has, and which; the child is the last
    2 0 1
    2 0.2 0.8               how many cells each has, and what is in them; the last variable changes fastest
    4 0.9 0.1 0.05 0.95

Programs differ in the order of the cells. By the format's description the last variable of a table changes
fastest. pgmpy writes the first one fastest. pyAgrum writes the child fastest, then the first parent. All three
are read: pgmpy's order shows in rows that are nearer to a sum of one than otherwise, pyAgrum's in the names
that it puts as comments behind the variables of each table. The first is written unless another :data:`Order`
is asked for.

In a Markov network pyAgrum lists the variables of a table in one order and its cells in another, which it tells
in a comment: ``12 # {3, 1, 2}`` is a table of 12 cells in which variable 3 changes fastest. (pyAgrum 3.3 does
not read that comment, and so does not read its own file as it was.)

The names beside ``net.uai`` are in ``net.uai.names``, JSON with ``variables``, ``levels`` and ``order``, so
that nothing has to be guessed. Without that file variables are called x0, x1, ... and their levels 0, 1, ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from math import prod
from typing import Literal, NoReturn, cast, get_args

import numpy as np
from numpy.typing import NDArray

from xordal.errors import DataError, ModelFileError, counted
from xordal.formats.checked import parse
from xordal.formats.draft import MOST_AXES, MOST_CELLS, MOST_IN_ALL, MOST_VARIABLES, Draft, number, short
from xordal.formats.endings import NAMES
from xordal.formats.left_out import rule_remarks
from xordal.formats.levels import level_from_json, level_to_json
from xordal.formats.plain_words import plain_word
from xordal.model.directed import BayesianNetwork
from xordal.model.exact import Factor, markov_network
from xordal.model.network import DecomposableMarkovNetwork

Order = Literal["uai", "pgmpy", "pyagrum"]
"""Whose order of the cells: that of the format's description, or that of a program which has its own."""

MOST_WORDS = MOST_IN_ALL + 2**22
"""Words of the longest file: cells of all tables, and what is said of the variables before them."""

_NEARER = 1e-6
"""By how much rows must be nearer to a sum of one in pgmpy's order to be read so.

Where they sum to one in both orders, sums still differ in their last bits, which say nothing.
"""

_ANEW = "Remove it, which leaves x0, x1, ... as names, or write both files anew."

_COMMENT = re.compile(r"#[^\n]*")
_COMMENTED_TABLE = re.compile(r"^[ \t]*+[0-9]++[ \t]*+#[ \t]*+\{([0-9, \t]*+)\}", re.MULTILINE)
_COMMENTED_SCOPE = re.compile(r"^[ \t]*[0-9]+(?:[ \t]+[0-9]+)+[ \t]*#[ \t]*\S", re.MULTILINE)

Names = tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...]]


def order_of(format_name: str) -> Order:
    """Return the order of cells of a format: ``uai``, ``uai-pgmpy`` or ``uai-pyagrum``."""
    return cast(Order, format_name.removeprefix("uai-"))


def is_uai(text: str) -> bool:
    """Whether a text begins as a UAI file does."""
    return text[:64].split(maxsplit=1)[:1] in (["BAYES"], ["MARKOV"])


def read_uai(
    text: str, file: str = "the text", names: str | None = None
) -> BayesianNetwork | DecomposableMarkovNetwork:
    """Return the network of a UAI file, directed if it says BAYES; ``names`` is the text beside it.

    Raises
    ------
    ModelFileError
        If the text is no UAI, cut short, or not sensible.
    """
    numbers = _Numbers(_COMMENT.sub("", text) if "#" in text else text, file)
    kind = numbers.word()
    n_levels = [numbers.integer(1, MOST_CELLS) for _ in range(numbers.count(MOST_VARIABLES, "variables"))]
    if not n_levels:
        numbers.wrong("there must be at least one variable")
    numbers.check_levels(sum(n_levels))
    scopes = [numbers.scope(len(n_levels)) for _ in range(numbers.count(MOST_VARIABLES, "tables"))]
    tables = [numbers.table(scope, n_levels) for scope in scopes]
    if not numbers.is_end:
        numbers.wrong("there is more after the last table")
    variables, levels = _named(n_levels) if names is None else _read_names(names, f"{file}{NAMES}", n_levels)
    if kind == "MARKOV" and not _are_families(names, f"{file}{NAMES}"):
        for scope, table in zip(scopes, tables, strict=True):
            if (table < 0).any():
                numbers.wrong(f"the table of {scope} has negative numbers")
        commented = _by_comments(scopes, tables, n_levels, text, file)
        factors = [Factor(scope, table) for scope, table in commented]
        try:
            return markov_network(variables, levels, factors)
        except DataError as error:
            raise ModelFileError(f"{file}: {error}") from None
    told = None if names is None else _told_order(names, f"{file}{NAMES}")
    if told is None and len(_COMMENTED_SCOPE.findall(text)) == len(scopes):
        told = "pyagrum"
    n_families = len(n_levels) if kind == "MARKOV" else len(scopes)
    in_order = _in_order(scopes[:n_families], tables[:n_families], n_levels, told)
    drafted = _bayesian(n_levels, in_order, numbers)
    return BayesianNetwork(variables, levels, drafted.families)


Scope = tuple[int, ...]
Table = NDArray[np.float64]


def _in_order(
    scopes: list[Scope], tables: list[Table], n_levels: list[int], told: Order | None
) -> list[tuple[Scope, Table]]:
    """Return scopes, parents first, and tables with an axis for each of their variables, whoever wrote them."""
    if told == "pyagrum":
        turned = [(*scope[-2::-1], *scope[-1:]) for scope in scopes]
        shapes = [[n_levels[v] for v in scope] for scope in turned]
        return [(scope, t.reshape(shape)) for scope, t, shape in zip(turned, tables, shapes, strict=True)]
    by_pgmpy = [_from_pgmpy(scope, t, n_levels) for scope, t in zip(scopes, tables, strict=True)]
    nearer = _off_one(tables) - _off_one([t for _, t in by_pgmpy])
    is_pgmpy = told == "pgmpy" or (told is None and nearer > _NEARER)
    return by_pgmpy if is_pgmpy else list(zip(scopes, tables, strict=True))


def _by_comments(
    scopes: list[Scope], tables: list[Table], n_levels: list[int], text: str, file: str
) -> list[tuple[Scope, Table]]:
    """Return scopes and tables of a Markov network; in pyAgrum's files comments tell the order of the cells."""
    comments = _COMMENTED_TABLE.findall(text)
    if len(comments) != len(scopes):
        return list(zip(scopes, tables, strict=True))
    turned = []
    for scope, table, comment in zip(scopes, tables, comments, strict=True):
        by_word = {str(variable): variable for variable in scope}
        words = [word.strip() for word in comment.split(",") if word.strip()]
        if len(words) != len(scope) or set(words) != set(by_word):
            raise ModelFileError(
                f"{file}: the comment {short('{' + comment + '}')} of a table does not name its variables "
                f"{scope[:8]}, so that the order of its cells is not known. Write the file anew."
            )
        slowest_first = tuple(by_word[word] for word in reversed(words))
        turned.append((slowest_first, table.reshape([n_levels[v] for v in slowest_first])))
    return turned


def _from_pgmpy(scope: Scope, table: Table, n_levels: list[int]) -> tuple[Scope, Table]:
    """Return a scope and its table where the child, the last, changes slowest and parents are reversed."""
    if not scope:
        return scope, table
    parents = scope[-2::-1]
    turned = table.reshape([n_levels[scope[-1]], *(n_levels[v] for v in parents)])
    return (*parents, scope[-1]), np.ascontiguousarray(np.moveaxis(turned, 0, -1))


def _off_one(tables: list[Table]) -> float:
    """Return by how much the sums of rows are off one at most."""
    return max([float(np.abs(t.sum(axis=-1) - 1).max()) for t in tables if t.ndim], default=0.0)


def _told_order(names: str, file: str) -> Order | None:
    """Return the order that the file of names tells, if it does."""
    told = parse(names, file).get("order")
    return None if told is None else cast(Order, told.one_of(*get_args(Order)))


def _are_families(names: str | None, file: str) -> bool:
    """Whether the tables of a Markov network are told to be families, one for each variable, and then ones."""
    return names is not None and parse(names, file).get("families") is not None


def _bayesian(n_levels: list[int], tables: list[tuple[Scope, Table]], numbers: _Numbers) -> BayesianNetwork:
    draft = Draft()
    variables, levels = _named(n_levels)
    for name, known in zip(variables, levels, strict=True):
        draft.add_variable(name, [str(level) for level in known], numbers.wrong)
    for scope, chances in tables:
        if not scope:
            numbers.wrong("a table of a Bayesian network must have a variable")
        *parents, child = (variables[v] for v in scope)
        draft.shape(child, parents, numbers.wrong)
        draft.add_family(child, parents, chances, numbers.wrong)
    return draft.network(numbers.wrong)


def _named(n_levels: list[int]) -> Names:
    return (
        tuple(f"x{v}" for v in range(len(n_levels))),
        tuple(tuple(map(str, range(n))) for n in n_levels),
    )


def _read_names(text: str, file: str, n_levels: list[int]) -> Names:
    try:
        top = parse(text, file)
    except ModelFileError:
        raise ModelFileError(
            f"{file}: this cannot be read as JSON, as the names beside a UAI file are. {_ANEW}"
        ) from None
    variables = tuple(name for _, name in top["variables"].texts())
    if len(variables) != len(n_levels):
        raise ModelFileError(
            f"{file} names {counted(len(variables), 'variable')}, and the file beside it has {len(n_levels)}: "
            f"it belongs to another network. {_ANEW}"
        )
    levels = []
    for name, n in zip(variables, n_levels, strict=True):
        found = tuple(level_from_json(item) for item in top["levels"][name].items())
        if len(found) != n or len(set(found)) != n:
            raise ModelFileError(
                f"{file} has {counted(len(set(found)), 'different level')} of {short(name)}, and the file "
                f"beside it {n}: it belongs to another network. {_ANEW}"
            )
        levels.append(found)
    return variables, tuple(levels)


class _Numbers:
    """The words of a file, one after the other; what it claims is compared with what is left of it."""

    def __init__(self, text: str, file: str) -> None:
        self._words = text.split(maxsplit=MOST_WORDS)  # each takes some 60 bytes
        self._place, self._file = 0, file
        if len(self._words) > MOST_WORDS:
            self.wrong(f"there are more than {MOST_WORDS:,} numbers")

    @property
    def is_end(self) -> bool:
        return self._place >= len(self._words)

    def word(self) -> str:
        if self.is_end:
            self.wrong("the file ends in the middle")
        self._place += 1
        return self._words[self._place - 1]

    def integer(self, low: int, high: int) -> int:
        word = self.word()
        if not (word.isascii() and word.isdigit() and len(word) < 12 and low <= int(word) <= high):
            self.wrong(f"there must be a whole number between {low} and {high:,}, not {short(word)}")
        return int(word)

    def count(self, most: int, things: str) -> int:
        found = self.integer(0, most)
        if found > len(self._words) - self._place:
            self.wrong(f"there cannot be {found:,} {things}: the file ends before")
        return found

    def check_levels(self, n_levels: int) -> None:
        """Refuse more levels than there can be cells: a variable of many levels has a table as large."""
        if n_levels > len(self._words) + 1000:
            self.wrong(f"there cannot be {n_levels:,} levels in all: the file has fewer numbers")

    def scope(self, n_variables: int) -> tuple[int, ...]:
        found = tuple(self.integer(0, n_variables - 1) for _ in range(self.count(n_variables, "variables")))
        if len(set(found)) < len(found):
            self.wrong(f"the variables {found[:8]} of a table must be distinct")
        if len(found) > MOST_AXES:
            self.wrong(f"a table has {len(found)} variables; the most are {MOST_AXES}")
        return found

    def table(self, scope: tuple[int, ...], n_levels: list[int]) -> NDArray[np.float64]:
        shape = tuple(n_levels[v] for v in scope)
        n_cells = self.count(MOST_CELLS, "cells")
        if n_cells != prod(shape):
            self.wrong(f"the table of the variables {scope[:8]} has {prod(shape):,} cells and not {n_cells:,}")
        values = np.array([number(self.word(), self.wrong) for _ in range(n_cells)], dtype=np.float64)
        if not np.isfinite(values).all():
            self.wrong("a cell is no number")
        return values.reshape(shape)

    def wrong(self, why: str) -> NoReturn:
        raise ModelFileError(
            f"{self._file}, word {self._place} of {len(self._words)}: {why}. Mend the file, or write it anew."
        )


def write_uai(network: BayesianNetwork, order: Order = "uai") -> Iterator[str]:
    """Yield a network as the text of a UAI file; numbers have as many digits as make them exact.

    For pgmpy a network with two or more parents anywhere is written as a Markov network of the same tables:
    pgmpy puts the parents of Bayesian networks into a set, and so mixes up their tables.
    """
    is_markov = _is_markov(network, order)
    own: Order = "uai" if is_markov else order
    n_variables, pairs = len(network.variables), _joined(network) if is_markov else []
    yield f"{'MARKOV' if is_markov else 'BAYES'}\n{n_variables}\n{' '.join(map(str, network.n_levels))}\n"
    yield f"{n_variables + len(pairs)}\n"
    for family in network.families:
        parents = family.parents if own == "uai" else family.parents[::-1]
        remark = f"   # {plain_word(network.variables[family.variable])}" if own == "pyagrum" else ""
        yield f"{len(parents) + 1} {' '.join(map(str, (*parents, family.variable)))}{remark}\n"
    yield from (f"2 {u} {v}\n" for u, v in pairs)
    for family in network.families:
        values = np.moveaxis(family.chances, -1, 0) if own == "pgmpy" else family.chances
        # Not every reader knows exponents (pgmpy does not), so none are written.
        cells = (np.format_float_positional(value, trim="0") for value in values.reshape(-1))
        yield f"\n{family.chances.size}\n{' '.join(cells)}\n"
    for u, v in pairs:
        n_cells = network.n_levels[u] * network.n_levels[v]
        yield f"\n{n_cells}\n{' '.join(['1.0'] * n_cells)}\n"


def _is_markov(network: BayesianNetwork, order: Order) -> bool:
    return order == "pgmpy" and any(len(family.parents) > 1 for family in network.families)


def _joined(network: BayesianNetwork) -> list[tuple[int, int]]:
    """Return pairs that join each variable without an arc to another: pgmpy knows no variable that is alone."""
    joined = {v for arc in network.numbered_arcs for v in arc}
    return [(min(joined), v) for v in range(len(network.variables)) if v not in joined]


def write_names(network: BayesianNetwork, order: Order = "uai") -> str:
    """Return the names that belong beside a UAI file, and its order of cells, as JSON."""
    named = zip(network.variables, network.levels, strict=True)
    levels = {name: [level_to_json(level, name) for level in known] for name, known in named}
    told: dict[str, object] = {"variables": list(network.variables), "levels": levels, "order": order}
    if remarks := rule_remarks(network):
        told["rules"] = remarks
    if _is_markov(network, order):
        told |= {"order": "uai", "families": True}
    return json.dumps(told, indent=1) + "\n"
