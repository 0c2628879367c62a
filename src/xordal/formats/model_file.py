"""The model file: a network, its counts and its history as versioned JSON. docs/model-file.md has the schema.

It is what ``xordal learn --json`` prints, and what it takes to use the network: levels, counts of the cliques'
occupied cells, the smoothing, a summary of the data and what a single-link search would have returned.
Probabilities are made again from the counts, so a loaded network is the saved one to the bit.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from xordal import __version__
from xordal.counting.oracle import CellCounts
from xordal.data.files import file_bytes
from xordal.data.write import write_text
from xordal.errors import ModelFileError
from xordal.formats.checked import Node, parse
from xordal.formats.history import history, read_links
from xordal.formats.json import to_json
from xordal.formats.levels import level_from_json, level_to_json
from xordal.formats.rule_json import network_rule_to_json, network_rules_from_json
from xordal.graph.chordal import ChordalGraph
from xordal.graph.junction_tree import junction_tree, maximal_cliques
from xordal.model.estimation import CliqueCounts, estimate
from xordal.model.network import DecomposableMarkovNetwork
from xordal.model.parameters import Table
from xordal.model.smoothing import Backoff, Smoothing, smoothing_to_json
from xordal.types.trace import single_link_part
from xordal.types.varsets import LinkSet, VarSet, members, varset

FORMAT, VERSION = "xordal network", 3

_MOST_ROWS = 2**53


def save(network: DecomposableMarkovNetwork, path: str | Path) -> None:
    """Write a network to a model file, whole or not at all.

    Raises
    ------
    DataError
        If the file cannot be written, or a level has a type that JSON cannot hold.
    """
    write_text(path, dumps(network))


def load(path: str | Path) -> DecomposableMarkovNetwork:
    """Read a network from a model file, or from standard input for ``-``.

    Raises
    ------
    ModelFileError
        If the file is not a model file, from a newer version, cut short, or not sensible: with its place.
    """
    file = "standard input" if str(path) == "-" else str(path)
    if Path(path).is_dir():
        raise ModelFileError(f"{file!r} is a directory. Name a model file in it, as xordal learn -o writes it.")
    try:
        text = file_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFileError(
            f"{file} is no model file: it is no text in UTF-8. Name the file that xordal learn wrote with -o."
        ) from None
    return loads(text, file)


def dumps(network: DecomposableMarkovNetwork) -> str:
    """Return a network as the text of a model file: one line for each key, table and step."""
    lines = ",\n".join(f"{json.dumps(key)}: {_laid_out(value)}" for key, value in _content(network).items())
    return f"{{\n{lines}\n}}\n"


def loads(text: str, file: str = "the text") -> DecomposableMarkovNetwork:
    """Return the network of the text of a model file, checked; ``file`` is its name in errors."""
    top = parse(text, file)
    _check_kind(top)
    variables = tuple(name for _, name in top["variables"].texts())
    if not variables:
        top["variables"].wrong("there must be at least one variable")
    levels = tuple(_levels(top["levels"], variables))
    n_rows = top["n_rows"].integer(1, _MOST_ROWS)
    links = read_links(top["links"], variables)
    learned_graph = graph = _graph(top["links"], variables, links)
    if (more := top.get("rule_links")) is not None:
        graph = _graph(more, variables, tuple(sorted({*links, *read_links(more, variables)})))
    tables = _tables(top, variables, tuple(map(len, levels)), graph, n_rows)
    _check_agreement(top["tables"], variables, graph, tables)
    _check_summary(top["data"], variables, levels, tables, n_rows)
    learned = history(top, variables, levels, learned_graph, n_rows)
    smoothing = _smoothing(top["smoothing"])
    ruled = top.get("network_rules")
    rules = () if ruled is None else network_rules_from_json(ruled, variables, levels, graph, n_rows)
    counts = CliqueCounts(tables)
    return estimate(graph, counts, variables, levels, smoothing=smoothing, learned=learned, rules=rules)


def _content(network: DecomposableMarkovNetwork) -> dict[str, object]:
    variables = network.variables
    content: dict[str, object] = {"format": FORMAT, "version": _version(network), "xordal": __version__}
    if network.learned is not None:
        content |= to_json(network.learned)
    added = set() if network.learned is None else {*network.graph.links} - {*network.learned.links}
    content |= {
        "variables": list(variables),
        "links": [[variables[u], variables[v]] for u, v in network.graph.links if (u, v) not in added],
        "cliques": [list(clique) for clique in network.cliques],
        "n_rows": network.n_rows,
        "levels": {
            name: [level_to_json(level, name) for level in levels]
            for name, levels in zip(variables, network.levels, strict=True)
        },
        "smoothing": smoothing_to_json(network.smoothing),
        "tables": [_table(network, table) for table in network.clique_tables()],
        "data": _summary(network),
    }
    if network.rules:
        content["network_rules"] = [
            network_rule_to_json(rule, variables, network.levels) for rule in network.rules
        ]
    if added:
        content["rule_links"] = [[variables[u], variables[v]] for u, v in sorted(added)]
    if network.learned is not None:
        single = single_link_part(network.learned.trace)
        content["single_link"] = {"links": [[variables[u], variables[v]] for u, v in single]}
    return content


def _version(network: DecomposableMarkovNetwork) -> int:
    """Return the oldest version that can hold a network, so that older programs read what they can."""
    if network.rules or (network.learned is not None and network.learned.rules):
        return 3
    return 2 if isinstance(network.smoothing, Backoff) else 1


def _smoothing(node: Node) -> Smoothing:
    if not isinstance(node.value, dict):
        return node.number(0)
    node["name"].one_of("Backoff")
    if (rows := node["rows"].number(0)) == 0:
        node["rows"].wrong("there must be a number of rows above 0")
    return Backoff(rows)


def _table(network: DecomposableMarkovNetwork, table: Table) -> dict[str, object]:
    cells, counts = table.counted.cells, table.counted.counts
    return {
        "variables": list(network.names(table.variables)),
        "cells": cells.tolist(),
        "counts": counts.tolist(),
    }


def _summary(network: DecomposableMarkovNetwork) -> dict[str, object]:
    tables = {table.variables: table.counted for table in network.clique_tables()}
    margins = CliqueCounts(tables).counts([varset([v]) for v in range(len(network.variables))])
    columns = {}
    for name, levels, margin in zip(network.variables, network.levels, margins, strict=True):
        counts = np.zeros(len(levels), dtype=np.int64)
        counts[margin.cells[:, 0]] = margin.counts
        columns[name] = counts.tolist()
    return {"n_rows": network.n_rows, "counts": columns}


def _laid_out(value: object) -> str:
    """Return JSON text: items of a list of objects, and lists in an object, on lines of their own."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "[\n  " + ",\n  ".join(json.dumps(item) for item in value) + "\n]"
    if isinstance(value, dict) and value and all(isinstance(item, list | dict) for item in value.values()):
        inner = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
        return "{\n  " + inner + "\n}"
    return json.dumps(value)


def _check_kind(top: Node) -> None:
    """Refuse what is not ours, and what is newer than this version."""
    whole = top.value if isinstance(top.value, dict) else {}
    if whole.get("format") != FORMAT:
        hint = (
            " It looks like what xordal learn --json prints: write a model with -o." if "trace" in whole else ""
        )
        raise ModelFileError(
            f'{top.file} is no model file of xordal: it does not say "format": "{FORMAT}".{hint} '
            "A model file is written by xordal learn DATA -o FILE."
        )
    version = top["version"].integer(1)
    if version > VERSION:
        raise ModelFileError(
            f"{top.file} is of version {version} of the model format; xordal {__version__} reads up to version "
            f"{VERSION}. Install a newer xordal, or learn the network anew."
        )


def _levels(node: Node, variables: tuple[str, ...]) -> Iterator[tuple[Hashable, ...]]:
    unknown = [name for name in node.object() if name not in variables]
    if unknown:
        node.wrong(f"{unknown[0]!r} is no variable of the network")
    for name in variables:
        known: dict[Hashable, Hashable] = {}
        for item in node[name].items():
            level = level_from_json(item)
            if level in known:
                same = type(level) is type(known[level])
                item.wrong(
                    f"the level {level!r} is there a second time"
                    if same
                    else "levels of different types are equal"
                )
            known[level] = level
        if not known:
            node[name].wrong("a variable must have at least one level")
        yield tuple(known)


def _graph(node: Node, variables: tuple[str, ...], links: LinkSet) -> ChordalGraph:
    try:
        return ChordalGraph.empty(len(variables)).add(links)
    except ValueError:
        node.wrong("the links are not chordal: a ring of four or more has no link across it")


def _tables(
    top: Node, variables: tuple[str, ...], n_levels: tuple[int, ...], graph: ChordalGraph, n_rows: int
) -> dict[VarSet, CellCounts]:
    expected = list(maximal_cliques(graph))
    for node, path in ((top["cliques"], ""), (top["tables"], "variables")):
        found = [varset(_numbers(item[path] if path else item, variables)) for item in node.items()]
        if found != expected:
            told = next((a for a, b in zip(found, expected, strict=False) if a != b), None)
            which = (
                "their number differs"
                if told is None
                else f"{[variables[v] for v in members(told)]} is out of place"
            )
            node.wrong(f"these are not the maximal cliques of the links, in order: {which}")
    parts = zip(top["tables"].items(), expected, strict=True)
    return {clique: _counts(node, members(clique), n_levels, n_rows) for node, clique in parts}


def _numbers(node: Node, variables: tuple[str, ...]) -> list[int]:
    numbers = []
    for item, name in node.texts():
        if name not in variables:
            item.wrong(f"{name!r} is no variable of the network")
        numbers.append(variables.index(name))
    if numbers != sorted(numbers):
        node.wrong("the variables must be in the order of the network's")
    return numbers


def _counts(node: Node, inside: tuple[int, ...], n_levels: tuple[int, ...], n_rows: int) -> CellCounts:
    """Return the counts of a table: all at once where they are right, value by value to say what is wrong."""
    shape = [n_levels[v] for v in inside]
    whole = _right_counts(node["cells"].value, node["counts"].value, shape, n_rows)
    return whole or _checked_counts(node, inside, n_levels, n_rows)


def _right_counts(cells: object, counts: object, shape: list[int], n_rows: int) -> CellCounts | None:
    """Return the counts of a table, or None if anything is wrong with them."""
    if not (isinstance(cells, list) and isinstance(counts, list) and 0 < len(cells) == len(counts)):
        return None
    if set(map(type, cells)) != {list} or set(map(len, cells)) != {len(shape)}:
        return None
    if set(map(type, chain(counts, *cells))) != {int} or sum(counts) != n_rows or min(counts) < 1:
        return None
    if min(map(min, cells)) < 0 or any(
        max(codes) >= n for codes, n in zip(zip(*cells, strict=True), shape, strict=True)
    ):
        return None
    if any(one >= other for one, other in pairwise(cells)):
        return None
    return CellCounts(np.array(cells, dtype=np.int64), np.array(counts, dtype=np.int64))


def _checked_counts(node: Node, inside: tuple[int, ...], n_levels: tuple[int, ...], n_rows: int) -> CellCounts:
    cells, counts = node["cells"].items(), node["counts"].items()
    if len(cells) != len(counts):
        node["counts"].wrong(f"there are {len(counts)} counts of {len(cells)} cells")
    codes: list[tuple[int, ...]] = []
    for cell in cells:
        levels = cell.items()
        if len(levels) != len(inside):
            cell.wrong(f"a cell of {len(inside)} variables has as many numbers, not {len(levels)}")
        code = tuple(level.integer(0, n_levels[v] - 1) for level, v in zip(levels, inside, strict=True))
        if codes and code <= codes[-1]:
            cell.wrong("cells must be in increasing order, each once")
        codes.append(code)
    numbers = [count.integer(1, n_rows) for count in counts]
    if sum(numbers) != n_rows:
        node["counts"].wrong(f"the counts sum to {sum(numbers)}, but there are {n_rows} rows")
    return CellCounts(np.array(codes, dtype=np.int64), np.array(numbers, dtype=np.int64))


def _check_agreement(
    node: Node, variables: tuple[str, ...], graph: ChordalGraph, tables: dict[VarSet, CellCounts]
) -> None:
    """Refuse tables that count a separator differently."""
    tree, places = junction_tree(graph), list(tables)
    for clique, separator, parent in zip(tree.cliques, tree.separators, tree.parents, strict=True):
        if parent is None:
            continue
        one, two = (CliqueCounts({c: tables[c]}).counts([separator])[0] for c in (clique, tree.cliques[parent]))
        if not np.array_equal(one.cells, two.cells) or not np.array_equal(one.counts, two.counts):
            names = ", ".join(variables[v] for v in members(separator))
            item = node.items()[places.index(clique)]
            item["counts"].wrong(
                f"{names} has other counts here than in tables[{places.index(tree.cliques[parent])}]"
            )


def _check_summary(
    node: Node,
    variables: tuple[str, ...],
    levels: tuple[tuple[object, ...], ...],
    tables: dict[VarSet, CellCounts],
    n_rows: int,
) -> None:
    if node["n_rows"].integer(1, _MOST_ROWS) != n_rows:
        node["n_rows"].wrong(f"the network has {n_rows} rows")
    margins = CliqueCounts(tables).counts([varset([v]) for v in range(len(variables))])
    for name, known, margin in zip(variables, levels, margins, strict=True):
        item = node["counts"][name]
        counts = [count.integer(0, n_rows) for count in item.items()]
        expected = np.zeros(len(known), dtype=np.int64)
        expected[margin.cells[:, 0]] = margin.counts
        if counts != expected.tolist():
            item.wrong("the counts of the levels are not those of the tables")
