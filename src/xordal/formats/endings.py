"""Which format a file is of, by the ending of its name; and JSON that is HIF, by what is in it.

Here is the list of formats that any network can be written in; a new one is a module of ``formats/`` and a line
there. Their modules are imported when they are used, so that the command line can list the names at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xordal.data.tables_out import KNOWN_ENDINGS
from xordal.errors import SettingsError

if TYPE_CHECKING:
    from xordal.formats.network_files import Network


class OfAny(NamedTuple):
    """A format that any network can be written in, directed or not.

    Attributes
    ----------
    write
        Yields a network as text.
    endings
        Those of its files; the first is that of files to take away.
    """

    write: Callable[[Network], Iterator[str]]
    endings: tuple[str, ...]


def _graphml(network: Network) -> Iterator[str]:
    from xordal.formats.graphs import write_graphml

    return write_graphml(network)


def _dot(network: Network) -> Iterator[str]:
    from xordal.formats.graphs import write_dot

    return write_dot(network)


def _hif(network: Network) -> Iterator[str]:
    from xordal.formats.hif import write_hif

    return write_hif(network)


OF_ANY: dict[str, OfAny] = {
    "graphml": OfAny(_graphml, (".graphml",)),
    "dot": OfAny(_dot, (".dot", ".gv")),
    "hif": OfAny(_hif, (".hif.json", ".hif")),
}
ENDINGS: dict[str, str] = {
    ".json": "json", ".bif": "bif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif", ".xml": "xmlbif", ".uai": "uai",
    ".net": "net", **{ending: name for name, form in OF_ANY.items() for ending in form.endings},
}  # fmt: skip

NAMES = ".names"
"""What is added to the name of a UAI file for the one with its names."""


def ending_of(path: str) -> str | None:
    """Return the format that the ending of a file's name means; None where it means none.

    Examples
    --------
    >>> ending_of("net.BIF"), ending_of("groups.hif.json"), ending_of("net")
    ('bif', 'hif', None)
    """
    suffixes = Path(Path(path).name.lower()).suffixes
    return ENDINGS.get("".join(suffixes[-2:])) or ENDINGS.get("".join(suffixes[-1:]))


def learned_format(path: str) -> str:
    """Return the format that a learned network gets by the name of its file: a model file where it means none.

    Raises
    ------
    SettingsError
        If the ending means something else, such as a table: the file would not be taken for a network.

    Examples
    --------
    >>> learned_format("net.BIF"), learned_format("net"), learned_format("net.v2")
    ('bif', 'json', 'json')
    """
    found, ending = ending_of(path), Path(path).suffix.lower()
    if found is None and ending in KNOWN_ENDINGS:
        raise SettingsError(
            f"No network is written as {ending}. Let the name {Path(path).name!r} end in .json for a model "
            f"file, or in one of {', '.join(one for one in ENDINGS if one != '.json')}."
        )
    return found or "json"


def is_hif(text: str) -> bool:
    """Whether the text of a JSON file is a hypergraph: it has incidences, and says of no format of ours.

    Examples
    --------
    >>> is_hif('{"network-type": "undirected", "incidences": []}'), is_hif('{"format": "xordal network"}')
    (True, False)
    """
    return '"incidences"' in text and '"format": "xordal' not in text[:400]
