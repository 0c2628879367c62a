"""XML read with suspicion: elements and text only, few levels deep, and nothing that the file itself defines.

A document type may be there, as XMLBIF files have one; entities it declares are refused before any is used, so
that a small file cannot unfold into a large one, and nothing outside the file is ever opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from xordal.errors import ModelFileError
from xordal.formats.draft import short

_DEEPEST = 16
_MOST_ELEMENTS = 2_000_000
_MOST_ATTRIBUTES, _LONGEST_VALUE = 100, 1000
"""Attributes that a document type may declare, and characters of a value it gives one.

Every element of a name gets all that are declared for it: without a limit, 0.6 MB with 20,000 attributes and
5,000 elements took 9 seconds.
"""
_AT_A_TIME = 2**20
"""Bytes that the parser is given at a time. A tag or a comment longer than two such parts is refused."""


@dataclass(slots=True)
class Element:
    """An element: its name, the line it begins on, its text, and the elements in it."""

    name: str
    line: int
    file: str
    pieces: list[str] = field(default_factory=list)
    inner: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in the element, without blanks around it."""
        return "".join(self.pieces).strip()

    def all(self, *names: str) -> list[Element]:
        """Return the elements in it with one of these names."""
        return [element for element in self.inner if element.name in names]

    def one(self, name: str) -> Element:
        """Return the only element of a name, which must be there."""
        found = self.all(name)
        if len(found) != 1:
            self.wrong(f"there must be one {name} in {short(self.name)}, not {len(found)}")
        return found[0]

    def wrong(self, why: str) -> NoReturn:
        """Raise an error about this element."""
        raise ModelFileError(f"{self.file}, line {self.line}: {why}. Mend the file, or write it anew.")


def parse_xml(data: bytes, file: str) -> Element:
    """Return the outermost element.

    Raises
    ------
    ModelFileError
        If it is no XML, ends in the middle, declares entities, or is nested too deeply.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True  # one piece of text for many lines
    root = Element("", 1, file)
    open_ones = [root]
    n_elements = n_attributes = 0

    def here() -> Element:
        return Element("", parser.CurrentLineNumber, file)

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal n_elements
        n_elements += 1
        if len(open_ones) > _DEEPEST or n_elements > _MOST_ELEMENTS:
            here().wrong("there are too many elements, or they are nested too deeply")
        element = Element(name, parser.CurrentLineNumber, file)
        open_ones[-1].inner.append(element)
        open_ones.append(element)

    def text(piece: str) -> None:
        open_ones[-1].pieces.append(piece)

    def refuse(*declared: object) -> NoReturn:
        here().wrong("it declares an entity, which is not allowed here")

    def attribute(element: str, name: str, kind: str, value: str | None, is_required: int) -> None:
        nonlocal n_attributes
        n_attributes += 1
        if n_attributes > _MOST_ATTRIBUTES or len(value or "") > _LONGEST_VALUE:
            here().wrong("the document type declares too many attributes, or too long ones")

    parser.StartElementHandler = start
    parser.AttlistDeclHandler = attribute
    parser.EndElementHandler = lambda name: open_ones.pop()
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        for at in range(0, len(data) or 1, _AT_A_TIME):
            parser.Parse(data[at : at + _AT_A_TIME], at + _AT_A_TIME >= len(data))
            if at - parser.CurrentByteIndex > _AT_A_TIME:
                here().wrong("a tag or a comment is too long")
    except expat.ExpatError as error:
        told = expat.errors.messages.get(error.code, "not valid")
        raise ModelFileError(
            f"{file}, line {error.lineno}: this is no XML, or is cut short ({told}). Mend the file, or write "
            "it anew."
        ) from None
    except ModelFileError:
        raise
    except (LookupError, ValueError):  # an encoding that is not known
        raise ModelFileError(f"{file}: the XML has an encoding that is not known. Save it in UTF-8.") from None
    return root.inner[0]
