"""Which format a file is of, by the ending of its name; and JSON that is HIF, by what is in it."""

from __future__ import annotations

from pathlib import Path

ENDINGS: dict[str, str] = {
    ".json": "json", ".bif": "bif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif", ".xml": "xmlbif", ".uai": "uai",
    ".net": "net", ".graphml": "graphml", ".dot": "dot", ".gv": "dot", ".hif": "hif",
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
    name = Path(path).name.lower()
    return "hif" if name.endswith(".hif.json") else ENDINGS.get(Path(name).suffix)


def is_hif(text: str) -> bool:
    """Whether the text of a JSON file is a hypergraph: it has incidences, and says of no format of ours.

    Examples
    --------
    >>> is_hif('{"network-type": "undirected", "incidences": []}'), is_hif('{"format": "xordal network"}')
    (True, False)
    """
    return '"incidences"' in text and '"format": "xordal' not in text[:400]
