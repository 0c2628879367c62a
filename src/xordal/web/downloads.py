"""Files to take away: the network in every format, and the report."""

from __future__ import annotations

from collections.abc import Iterator

from xordal.errors import DataError
from xordal.formats.endings import NAMES, OF_ANY
from xordal.formats.network_files import FORMATS, as_directed, network_text, read_network
from xordal.formats.uai import order_of, write_names
from xordal.web.store import RunFolder

ENDINGS = {
    "json": ".json", "bif": ".bif", "xmlbif": ".xmlbif", "net": ".net", "uai": ".uai",
    "uai-pgmpy": ".pgmpy.uai",
    "uai-pyagrum": ".pyagrum.uai", "report": ".html", "uai-names": f".uai{NAMES}",
    **{name: form.endings[0] for name, form in OF_ANY.items()},
}  # fmt: skip
"""What can be taken away, and how the names of such files end."""

assert {*FORMATS, "report", "uai-names"} == set(ENDINGS), "every format can be taken away"


def text_of(folder: RunFolder, what: str, title: str) -> Iterator[str]:
    """Yield a file piece by piece.

    Raises
    ------
    DataError
        If the format cannot hold the network, or there is none yet.
    """
    if not folder.network.is_file():
        raise DataError("Nothing is learned yet.")
    network = read_network(folder.network)
    if what == "report":
        from xordal.formats.network_files import load
        from xordal.report.html import report_page
        from xordal.report.summary import summarise

        return iter([report_page(summarise(load(folder.network), title))])
    if what == "uai-names":
        return iter([write_names(as_directed(network), order_of("uai"))])
    return iter(list(network_text(network, what, title)))
