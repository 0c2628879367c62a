"""Networks from files of any known format, and to them.

What a file is shows in what it holds, not in its name; what is to be written, in the ending of the name or in
the format asked for.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedReader
from pathlib import Path
from shlex import quote

from xordal.data.files import ARROW_STARTS, file_bytes, is_web_page
from xordal.data.json_lines import looks_like_json
from xordal.data.unpacking import is_workbook, unpacked
from xordal.data.write import is_standard_output, write_pieces, write_text
from xordal.errors import ModelFileError, SettingsError, nearest
from xordal.formats import model_file
from xordal.formats.bif import read_bif, write_bif
from xordal.formats.directed_file import is_directed, read_directed, write_directed
from xordal.formats.draft import short
from xordal.formats.endings import ENDINGS, NAMES, OF_ANY, ending_of, is_hif
from xordal.formats.hugin_net import read_net, write_net
from xordal.formats.left_out import warn_of_rules
from xordal.formats.uai import is_uai, order_of, read_uai, write_names, write_uai
from xordal.formats.xmlbif import read_xmlbif, write_xmlbif
from xordal.model.directed import BayesianNetwork, along_a_perfect_order
from xordal.model.network import DecomposableMarkovNetwork

Network = DecomposableMarkovNetwork | BayesianNetwork

READABLE = ("json", "bif", "xmlbif", "uai", "net")
MOST_BYTES = 2**28
"""Size of the largest file of another program that is read: 256 MB."""

_NONE = "{} is no network: it is no model file (JSON), BIF, XMLBIF, UAI or Hugin NET."
_NAME_IT = "Name the file that xordal learn wrote with -o."
_LOOKED_AT = 4096  # bytes that tell a network from a table
_COMMENT = re.compile(r"(?:\s++|//[^\n]*+|%[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_DOT = re.compile(r"\s*(?:strict\s+)?(?:di)?graph\b[^{]*\{", re.IGNORECASE)
_XML = re.compile(r"<(?:[?!]|BIF\b|[A-Za-z_:][\w.:-]*(?:\s[^<>]*)?/?>\s*(?:<|\Z))", re.IGNORECASE)
_BIF_WORDS, _NET_WORDS = ("network", "variable", "probability"), ("net", "node", "potential", "class")


_TITLED: dict[str, Callable[[BayesianNetwork, str], Iterator[str]]] = {
    "bif": write_bif,
    "xmlbif": write_xmlbif,
    "net": write_net,
}
_OF_DIRECTED: dict[str, Callable[[BayesianNetwork], Iterator[str]]] = {
    **{name: partial(write_uai, order=order_of(name)) for name in ("uai", "uai-pgmpy", "uai-pyagrum")},
}

FORMATS: tuple[str, ...] = ("json", *_TITLED, *_OF_DIRECTED, *OF_ANY)


def load(path: str | Path) -> DecomposableMarkovNetwork:
    """Read a network from a file of any readable format, or from standard input for ``-``, ready to be asked.

    Raises
    ------
    ModelFileError
        If the file is of no known format, cut short, or not sensible: with its place.
    DataError
        If it cannot be read, or a directed network is too large to be asked.
    """
    network = read_network(path)
    return network.to_markov() if isinstance(network, BayesianNetwork) else network


def read_network(path: str | Path) -> Network:
    """Read a network from a file, or from standard input for ``-``.

    Model files of xordal give a :class:`~xordal.DecomposableMarkovNetwork`; BIF, XMLBIF, UAI, Hugin NET and the
    JSON that ``xordal direct`` writes give a :class:`~xordal.BayesianNetwork`, whose ``to_markov()`` can be
    asked, sampled and compared. (UAI files of Markov networks give the former.)

    Raises
    ------
    ModelFileError
        If the file is of no known format, cut short, or not sensible: with its place.
    """
    file = "standard input" if str(path) == "-" else str(path)
    if Path(path).is_dir():
        raise ModelFileError(f"{file!r} is a directory. Name a model file in it, as xordal learn -o writes it.")
    data, _ = unpacked(file_bytes(path), file, MOST_BYTES)
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{") and len(data) > MOST_BYTES:
        raise ModelFileError(f"{file} is larger than {MOST_BYTES:,} bytes; no network file is.")
    if start.startswith(b"<"):
        if b"<graphml" in start:
            raise ModelFileError(_written_only("GraphML", "the graph", file))
        if is_web_page(data[:200]):
            raise ModelFileError(f"{file} is a web page, no network. {_NAME_IT}")
        return read_xmlbif(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if is_workbook(data) or data.startswith((b"PAR1", *ARROW_STARTS)):
            raise ModelFileError(_is_a_table(file)) from None
        raise ModelFileError(
            f"{file} is no text in UTF-8, as network files are. If it is one, of another program, save it in "
            "that encoding; else name the file that xordal learn wrote with -o."
        ) from None
    return _from_text(text, file, path)


def is_network_file(path: str | Path) -> bool:
    """Whether a file, or standard input for ``-``, begins as a readable format does, rather than as a table."""
    if str(path) == "-":
        start = _beginning_of_input()
    elif Path(path).is_file():
        with Path(path).open("rb") as file:
            start = file.read(_LOOKED_AT)
    else:
        return False
    text = _unpacked_beginning(start).decode("utf-8-sig", "replace").lstrip()
    if text.startswith("["):  # a list of objects is a table
        return not looks_like_json(text)
    if text.startswith("{"):
        return not _is_json_lines(text)
    # The header of a table may well begin with a word of these formats, such as "class"; it has no braces. Nor
    # has one that begins with "<18" or "<none>" a tag that another tag follows.
    return (
        (_XML.match(text) is not None and not is_web_page(start))
        or is_uai(text)
        or _DOT.match(text) is not None
        or (_first_word(text) in (*_BIF_WORDS, *_NET_WORDS) and "{" in text)
    )


def _is_json_lines(text: str) -> bool:
    r"""Whether an object is the first of many: whole in its line, with another below it if it says its format.

    Examples
    --------
    >>> _is_json_lines('{"format": "A4"}\n{"format": "A5"}'), _is_json_lines('{"format": "xordal network"}')
    (True, False)
    """
    first, _, rest = text.partition("\n")
    if not looks_like_json(text) or "}" not in first:
        return False
    return '"format"' not in text[:400] or rest.lstrip().startswith("{")


def _beginning_of_input() -> bytes:
    """Return what standard input begins with, and leave it there."""
    if sys.stdin is None:
        return b""
    data = sys.stdin.buffer
    if data.seekable():
        at = data.tell()
        start = data.read(_LOOKED_AT)
        data.seek(at)
        return start
    return data.peek(_LOOKED_AT) if isinstance(data, BufferedReader) else b""


def _unpacked_beginning(start: bytes) -> bytes:
    """Return what a file compressed with gzip begins with; the beginning of another file as it is."""
    if not start.startswith(b"\x1f\x8b"):
        return start
    try:
        return zlib.decompressobj(wbits=31).decompress(start, _LOOKED_AT)  # 31: with the head of gzip
    except zlib.error:
        return b""


def _first_word(text: str) -> str:
    """Return the first word of a text that is no comment."""
    first = re.match(r"[a-z]*", text[_COMMENT.match(text).end() :][:16])  # type: ignore[union-attr]  # matches all
    return "" if first is None else first[0]


def _from_text(text: str, file: str, path: str | Path) -> Network:
    if is_uai(text):
        beside = Path(f"{str(path).removesuffix('.gz')}{NAMES}")
        has_names = str(path) != "-" and beside.is_file()
        return read_uai(text, file, file_bytes(beside).decode("utf-8", "replace") if has_names else None)
    if text[:4096].lstrip().startswith("{"):
        if is_hif(text):
            raise ModelFileError(_written_only("HIF", "hidden groups", file))
        return read_directed(text, file) if is_directed(text) else model_file.loads(text, file)
    word = _first_word(text)
    if word in _BIF_WORDS:
        return read_bif(text, file)
    if word in _NET_WORDS:
        return read_net(text, file)
    if _DOT.match(text[:4096]):
        raise ModelFileError(_written_only("DOT", "the graph", file))
    if not text.strip() or text.lstrip().startswith("["):
        return model_file.loads(text, file)  # says that it is empty, or which JSON it is not
    raise ModelFileError(_no_network(text, file))


def _written_only(name: str, held: str, file: str) -> str:
    return (
        f"{file} is {name}, which can be written and not read: it holds {held} and no probabilities. Name the "
        "model file it was made from, or a BIF, XMLBIF, UAI or Hugin NET file."
    )


def _no_network(text: str, file: str) -> str:
    """Return what is wrong with a file of no known format; tables are often named in place of a network."""
    line = text.lstrip()[:1000].splitlines()[0]
    if any(sign in line for sign in ",;\t"):
        return _is_a_table(file)
    return f"{_NONE.format(file)} It begins with {short(line)}. {_NAME_IT}"


def _is_a_table(file: str) -> str:
    source = "-" if file == "standard input" else quote(file)
    learn_first = f"learn a network from it first: xordal learn {source} -o net.json."
    return f"{_NONE.format(file)} It looks like a table; {learn_first}"


def write_network(network: Network, path: str | Path, to: str | None = None) -> None:
    """Write a network to a file, whole or not at all; the format is told by ``to`` or the file's ending.

    Raises
    ------
    SettingsError
        If the format is not known.
    DataError
        If the file cannot be written, or the format cannot hold the network.
    """
    chosen = format_of(str(path), to)
    if chosen not in ("json", "hif") or isinstance(network, BayesianNetwork):
        warn_of_rules(network)
    title = "" if is_standard_output(path) else Path(path).stem
    pieces = list(network_text(network, chosen, title))  # all of it first: an error must not leave half a file
    write_pieces(path, pieces)
    if chosen.startswith("uai") and not is_standard_output(path):
        write_text(f"{path}{NAMES}", write_names(as_directed(network), order_of(chosen)))


def network_text(network: Network, to: str, title: str = "unknown") -> Iterator[str]:
    """Yield a network as the text of a format; BIF, XMLBIF and NET hold its title."""
    if to in OF_ANY:
        return OF_ANY[to].write(network)
    if to in _TITLED:
        return _TITLED[to](as_directed(network), title)
    if to in _OF_DIRECTED:
        return _OF_DIRECTED[to](as_directed(network))
    if isinstance(network, DecomposableMarkovNetwork) and network.is_counted:
        return iter([model_file.dumps(network)])
    return write_directed(as_directed(network))


def as_directed(network: Network) -> BayesianNetwork:
    """Return a network as a directed one with the same joint distribution."""
    return network if isinstance(network, BayesianNetwork) else along_a_perfect_order(network)


def format_of(path: str, to: str | None = None) -> str:
    """Return the format asked for, or the one that the ending of a file's name means.

    Examples
    --------
    >>> format_of("net.bif"), format_of("-", "uai"), format_of("groups.hif.json")
    ('bif', 'uai', 'hif')

    Raises
    ------
    SettingsError
        If there is none.
    """
    if to is not None:
        if to not in FORMATS:
            raise SettingsError(f"There is no format {to!r}: {nearest(to, FORMATS)}")
        return to
    found = ending_of(path)
    if found is None:
        raise SettingsError(
            f"The name {Path(path).name or path!r} does not say which format is meant. Say so (--to, in Python "
            f"to=), or let it end in one of {', '.join(ENDINGS)}."
        )
    return found
