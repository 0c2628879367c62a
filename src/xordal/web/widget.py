"""The view of a network as a notebook widget: the page's own map and panel, answered by the kernel."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from xordal.errors import XordalError
from xordal.model.evidence import code_of, number_of
from xordal.model.network import DecomposableMarkovNetwork
from xordal.report.html import STATIC, one_script
from xordal.web.asking import Asked
from xordal.web.results import result_of, single_link_network

_HERE = Path(__file__).parent
_LOOKS = (
    _HERE.parent / "report" / "templates" / "style.css",
    _HERE.parent / "report" / "templates" / "report.css",
)
_NOT_SENT = ("steps", "notes", "lead", "title")


def script() -> str:
    """Return the parts of the page as one module: a widget cannot import files."""
    own = [_HERE / "static" / name for name in ("dom.js", "map.js", "ask.js", "workbench.js", "widget.js")]
    return "\n".join(map(one_script, [STATIC / "view.js", *own]))


def looks() -> str:
    """Return the page's styles, for what lies inside the widget only."""
    files = (*_LOOKS, _HERE / "static" / "page.css")
    whole = "\n".join(path.read_text(encoding="utf-8") for path in files).replace(":root", "&")
    inside = re.sub(r"@keyframes \w+ \{.*\}\n", "", whole)
    own = "font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); padding: .75rem;"
    return f".xordal-widget {{ {own}\n{inside}\n.workbench .map {{ height: 26rem; }}\n}}\n"


class NetworkWidget(anywidget.AnyWidget):
    """A network to click on; :attr:`evidence` is what is clicked, by name, and can be set."""

    _esm = script()
    _css = looks()
    network = traitlets.Dict().tag(sync=True)
    given: traitlets.List[list[int]] = traitlets.List().tag(sync=True)

    def __init__(self, network: DecomposableMarkovNetwork) -> None:
        found = result_of(network, "")
        single = single_link_network(network)
        sent = {name: value for name, value in found.items() if name not in _NOT_SENT}
        super().__init__(network={**sent, "has_single": single is not None and bool(found["missed"])}, given=[])
        self._network, self._asked = network, Asked(network, single)
        self.on_msg(self._on_question)

    def __repr__(self) -> str:
        """Return what Jupyter writes, up to 110 characters of it, where it cannot show the view."""
        told = f"A view of {len(self._network.variables)} variables."
        return f"{told} No picture? Install anywidget where Jupyter itself runs, and reload."

    @property
    def evidence(self) -> dict[str, Hashable]:
        """What is clicked at present."""
        levels, names = self._network.levels, self._network.variables
        return {names[v]: levels[v][code] for v, code in self.given}

    @evidence.setter
    def evidence(self, given: Mapping[str, Hashable]) -> None:
        numbers = {number_of(self._network, name): level for name, level in given.items()}
        self.given = [[v, code_of(self._network, v, level)] for v, level in numbers.items()]

    def _on_question(self, widget: object, message: Mapping[str, Any], buffers: object) -> None:
        try:
            answer = self._asked.answer(message.get("question"))
        except XordalError as error:
            answer = {"error": str(error)}
        self.send({"id": message.get("id"), "answer": answer})
