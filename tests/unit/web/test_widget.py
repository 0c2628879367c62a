"""The widget without a browser: what it sends, what it answers, and evidence by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from xordal.data.table import CategoricalTable
from xordal.errors import DataError, SettingsError
from xordal.learning.fitting import fit_network
from xordal.learning.learn import learn
from xordal.model.network import DecomposableMarkovNetwork
from xordal.web.explore import explore
from xordal.web.widget import looks, script


@pytest.fixture(scope="module")
def network() -> DecomposableMarkovNetwork:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 25
    table = CategoricalTable.from_rows(["a", "b", "c"], rows)
    return fit_network(table, learn(table))


def asked(view: Any, question: object) -> dict[str, Any]:
    sent: list[dict[str, Any]] = []
    view.send = sent.append
    view._on_question(view, {"id": "one", "question": question}, [])
    assert sent[0]["id"] == "one"
    answer: dict[str, Any] = sent[0]["answer"]
    return answer


def test_it_answers_as_the_network_does(network: DecomposableMarkovNetwork) -> None:
    view = explore(network, given={"a": 1, "b": 0})
    assert view.given == [[0, 1], [1, 0]] and view.evidence == {"a": 1, "b": 0}
    told = asked(view, {"given": view.given})["marginals"]
    assert told == [list(row.values()) for row in network.marginals({"a": 1, "b": 0}).values()]
    assert view.network["has_single"] and len(view.network["links"]) == 3
    assert view.network["n_groups"] == 1 and "a | b | c" in view.network["groups_html"]
    assert "error" in asked(view, {"given": [[9, 9]]})


def test_evidence_is_set_by_name(network: DecomposableMarkovNetwork) -> None:
    view = explore(network)
    view.evidence = {"c": 1}
    assert view.given == [[2, 1]]
    with pytest.raises(DataError, match="no variable"):
        view.evidence = {"d": 1}
    with pytest.raises(DataError):
        view.evidence = {"c": "one"}


def test_a_fitted_estimator_will_do_and_anything_else_will_not(network: DecomposableMarkovNetwork) -> None:
    class Fitted:
        network_ = network

    assert explore(Fitted()).evidence == {}
    with pytest.raises(SettingsError, match="a network or a fitted estimator, not list"):
        explore([])


def test_without_the_extension_it_says_what_to_install(network: DecomposableMarkovNetwork) -> None:
    told = explore(network)._repr_mimebundle_()
    data = told[0] if isinstance(told, tuple) else told
    assert data is not None
    assert data["text/plain"].endswith("Install anywidget where Jupyter itself runs, and reload.")


def test_its_script_is_one_module_and_its_looks_stay_inside() -> None:
    assert not re.search(r"(?m)^\s*import\b|\bimport\(", script())
    assert re.findall(r"(?m)^export .*$", script()) == ["export default { render };"]
    declared = re.findall(r"(?m)^(?:const|let|class) (\w+)", script())
    assert len(set(declared)) == len(declared)  # one module: a name that two files declare would stop it
    assert looks().startswith(".xordal-widget {") and ":root" not in looks() and "@keyframes" not in looks()
