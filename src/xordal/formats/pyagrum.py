"""Bridges to pyAgrum: a Bayesian network as its ``BayesNet``, and back."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from xordal.errors import DataError, SettingsError
from xordal.formats.bridged import AnyNetwork, check_model, directed, with_texts
from xordal.formats.draft import Draft
from xordal.formats.plain_words import no_escape, original
from xordal.formats.written import level_texts
from xordal.model.directed import BayesianNetwork


def to_pyagrum(network: AnyNetwork) -> Any:
    """Return a network as pyAgrum's ``BayesNet``, with the same joint distribution.

    Names are kept, but for what looks like an escape (``_x0041_``), levels become text; a
    decomposable network is directed along a perfect order.

    Raises
    ------
    SettingsError
        If pyAgrum is not installed.
    DataError
        If a name or a level is no text that pyAgrum can hold.
    """
    try:
        with warnings.catch_warnings():  # its extension crashes where the warnings of its own import are errors
            warnings.simplefilter("ignore")
            import pyagrum
    except ImportError:
        raise SettingsError("This needs pyAgrum: pip install pyagrum.") from None
    found = with_texts(directed(network), no_escape)
    model = pyagrum.BayesNet()
    texts = level_texts(found.variables, found.levels)
    for name, levels in zip(found.variables, texts, strict=True):
        _check_texts(name, levels)
        model.add(pyagrum.LabelizedVariable(name, name, list(levels)))
    for family in found.families:
        for parent in family.parents:
            model.addArc(found.variables[parent], found.variables[family.variable])
        # The axes of its arrays are the parents, the last one first, and then the child.
        cpt = model.cpt(found.variables[family.variable])
        own = [*(found.variables[p] for p in family.parents), found.variables[family.variable]]
        axes = [own.index(name) for name in reversed(cpt.names)]
        cpt[:] = np.ascontiguousarray(np.transpose(family.shares, axes))
    return model


def _check_texts(name: str, levels: tuple[str, ...]) -> None:
    """Refuse what pyAgrum cannot hold: half a character ends the process, and a level ends at a zero byte."""
    for place, text in enumerate((name, *levels)):
        is_whole = not any("\ud800" <= c <= "\udfff" for c in text)
        if not is_whole or (place > 0 and "\0" in text):
            what = "half a character" if not is_whole else "a zero byte"
            raise DataError(
                f"The name or a level of the variable {ascii(name)[:60]} has {what} in it, {ascii(text)[:60]}, "
                "which pyAgrum cannot hold. Rename it, or write a BIF file, where such characters are escaped."
            )


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Return pyAgrum's ``BayesNet`` as a network; escapes in names and levels are undone.

    Raises
    ------
    DataError
        If the model is not sensible.
    """
    check_model(model, "cpt", "pyAgrum's BayesNet")
    draft, nodes = Draft(), sorted(model.nodes())
    for node in nodes:
        variable = model.variable(node)
        draft.add_variable(
            variable.name(), [str(variable.label(c)) for c in range(variable.domainSize())], _wrong
        )
    for node in nodes:
        cpt = model.cpt(node)
        *parents, child = reversed(cpt.names)
        draft.shape(child, parents, _wrong)
        draft.add_family(child, parents, np.array(cpt.toarray(), dtype=np.float64), _wrong)
    return with_texts(draft.network(_wrong), original)


def _wrong(why: str) -> NoReturn:
    raise DataError(f"This is no sensible pyAgrum model: {why}.")
