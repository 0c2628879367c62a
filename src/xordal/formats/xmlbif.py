"""XMLBIF 0.3, the interchange format in XML, as JavaBayes, Weka, pgmpy and pyAgrum read and write it.

A VARIABLE has a NAME and its OUTCOMEs; a DEFINITION is FOR a variable, GIVEN its parents, with a TABLE in which
the child's levels change fastest and the first parent's slowest. Names and levels are written as plain words
(:mod:`xordal.formats.plain_words`), though XML could hold more: pgmpy and pyAgrum read odd names and then write
files that nobody can read. No document type is written, since pyAgrum cannot read one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from xml.sax.saxutils import escape

from xordal.formats.draft import Draft, numbers, short
from xordal.formats.left_out import rule_remarks
from xordal.formats.plain_words import original, plain_level, plain_word, title_word
from xordal.formats.written import Written
from xordal.formats.xml_tree import Element, parse_xml
from xordal.model.directed import BayesianNetwork


def read_xmlbif(data: bytes, file: str = "the text") -> BayesianNetwork:
    """Return the network of an XMLBIF file; ``file`` is its name in errors.

    Raises
    ------
    ModelFileError
        If the file is no XMLBIF, cut short, or not sensible: with its line.
    """
    root = parse_xml(data, file)
    if root.name != "BIF":
        root.wrong(f"this is XML, but no XMLBIF: it begins with {root.name[:40]!r} and not with 'BIF'")
    network, draft = root.one("NETWORK"), Draft()
    for variable in network.all("VARIABLE"):
        levels = [original(outcome.text) for outcome in variable.all("OUTCOME", "VALUE")]
        draft.add_variable(_name(variable.one("NAME")), levels, variable.wrong)
    for definition in network.all("DEFINITION", "PROBABILITY"):
        _read_definition(definition, draft)
    return draft.network(network.wrong)


def _read_definition(definition: Element, draft: Draft) -> None:
    child = _name(definition.one("FOR"))
    parents = [_name(parent) for parent in definition.all("GIVEN")]
    shape = draft.shape(child, parents, definition.wrong)
    table = definition.one("TABLE")
    # One word more than belong there is enough to see that there are too many.
    words = table.text.replace(",", " ").split(maxsplit=prod(shape))
    if len(words) > prod(shape):
        table.wrong(f"there are more than {prod(shape):,} probabilities of {short(child)}")
    chances = numbers(words, shape, child, table.wrong)
    draft.add_family(child, parents, chances, table.wrong)


def _name(element: Element) -> str:
    if not element.text:
        element.wrong("there must be the name of a variable")
    return original(element.text)


def write_xmlbif(network: BayesianNetwork, title: str) -> Iterator[str]:
    """Yield a network as the text of an XMLBIF file; numbers have as many digits as make them exact."""
    written = Written.of(network, plain_word, plain_level)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'
    yield f"<NAME>{title_word(title)}</NAME>\n"
    yield from (f"<PROPERTY>rule = {escape(remark)}</PROPERTY>\n" for remark in rule_remarks(network))
    for name, levels in zip(written.names, written.levels, strict=True):
        outcomes = "".join(f"  <OUTCOME>{level}</OUTCOME>\n" for level in levels)
        yield f'<VARIABLE TYPE="nature">\n  <NAME>{name}</NAME>\n{outcomes}</VARIABLE>\n'
    for family in network.families:
        given = "".join(f"  <GIVEN>{written.names[p]}</GIVEN>\n" for p in family.parents)
        values = " ".join(map(repr, family.chances.reshape(-1).tolist()))
        yield (
            f"<DEFINITION>\n  <FOR>{written.names[family.variable]}</FOR>\n{given}"
            f"  <TABLE>{values}</TABLE>\n</DEFINITION>\n"
        )
    yield "</NETWORK>\n</BIF>\n"
