"""A Bayesian network as JSON: names, levels with their types, families, and which arcs are not identified.

What :mod:`xordal.formats.model_file` is for networks counted from rows, this is for networks that were given.
Numbers are written with all their digits, so a network comes back to the bit.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator

import numpy as np

from xordal import __version__
from xordal.errors import ModelFileError
from xordal.formats.checked import Node, parse
from xordal.formats.draft import Draft
from xordal.formats.left_out import rule_remarks
from xordal.formats.levels import level_from_json, level_to_json
from xordal.model.directed import Arc, BayesianNetwork

FORMAT, VERSION = "xordal bayesian network", 1


def write_directed(network: BayesianNetwork) -> Iterator[str]:
    """Yield a network as JSON: a line for each variable's levels and each family."""
    names = network.variables
    head = {"format": FORMAT, "version": VERSION, "xordal": __version__, "variables": list(names)}
    yield "{\n" + "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    levels = [
        f"  {json.dumps(name)}: {json.dumps([level_to_json(level, name) for level in known])}"
        for name, known in zip(names, network.levels, strict=True)
    ]
    yield '"levels": {\n' + ",\n".join(levels) + "\n},\n"
    if network.unidentified is not None:
        marked = [[names[u], names[v]] for u, v in sorted(network.unidentified)]
        yield f'"unidentified": {json.dumps(marked)},\n'
    if remarks := rule_remarks(network):
        yield f'"rules": {json.dumps(remarks)},\n'
    families = (
        {
            "variable": names[family.variable],
            "parents": [names[p] for p in family.parents],
            "chances": family.chances.reshape(-1).tolist(),
        }
        for family in network.families
    )
    yield '"families": [\n  ' + ",\n  ".join(map(json.dumps, families)) + "\n]\n}\n"


def is_directed(text: str) -> bool:
    """Whether the text of a JSON file says that it is such a network."""
    return f'"{FORMAT}"' in text[:400]


def read_directed(text: str, file: str = "the text") -> BayesianNetwork:
    """Return the network of a JSON text, checked; ``file`` is its name in errors."""
    top = parse(text, file)
    top["format"].one_of(FORMAT)
    if (version := top["version"].integer(1)) > VERSION:
        raise ModelFileError(
            f"{file} is of version {version} of its format; xordal {__version__} reads up to version "
            f"{VERSION}. Install a newer xordal."
        )
    draft = Draft()
    levels = []
    for item, name in top["variables"].texts():
        known = _levels(top["levels"][name])
        draft.add_variable(name, [str(code) for code in range(len(known))], item.wrong)
        levels.append(known)
    for item in top["families"].items():
        _read_family(item, draft)
    found = draft.network(top.wrong)
    return BayesianNetwork(found.variables, tuple(levels), found.families, _unidentified(top, found))


def _levels(node: Node) -> tuple[Hashable, ...]:
    levels = tuple(level_from_json(item) for item in node.items())
    if len(set(levels)) < len(levels):
        node.wrong("a level is there twice")
    return levels


def _read_family(item: Node, draft: Draft) -> None:
    child, parents = item["variable"].name(), [name for _, name in item["parents"].texts()]
    shape = draft.shape(child, parents, item.wrong)
    chances = np.array([number.number(0) for number in item["chances"].items()], dtype=np.float64)
    if chances.size != np.prod(shape):
        item["chances"].wrong(f"there must be {np.prod(shape)} numbers, not {chances.size}")
    draft.add_family(child, parents, chances.reshape(shape), item["chances"].wrong)


def _unidentified(top: Node, network: BayesianNetwork) -> frozenset[Arc] | None:
    if (node := top.get("unidentified")) is None:
        return None
    known, number = set(network.numbered_arcs), {name: v for v, name in enumerate(network.variables)}
    arcs = set()
    for item in node.items():
        ends = [number.get(name, -1) for _, name in item.texts()]
        if len(ends) != 2 or (ends[0], ends[1]) not in known:
            item.wrong("there is no such arc")
        arcs.add((ends[0], ends[1]))
    return frozenset(arcs)
