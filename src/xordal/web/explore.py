"""explore(network): the live page's view of a network, in a notebook."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from xordal.errors import SettingsError
from xordal.model.network import DecomposableMarkovNetwork

if TYPE_CHECKING:
    from xordal.web.widget import NetworkWidget


def explore(source: Any, given: Mapping[str, Hashable] | None = None) -> NetworkWidget:
    """Return a view of a network for notebooks: click a value and see every other distribution move.

    Needs the extra ``widget``.

    Parameters
    ----------
    source
        A network, or a fitted estimator that has one (``network_``).
    given
        Evidence to begin with.

    Raises
    ------
    SettingsError
        If this is no network, or the extra is not installed.

    Examples
    --------
    >>> view = explore(network, given={"dog": "barks"})  # doctest: +SKIP
    >>> view  # doctest: +SKIP
    >>> view.evidence  # what is clicked at present  # doctest: +SKIP
    {'dog': 'barks'}
    """
    network = getattr(source, "network_", source)
    if not isinstance(network, DecomposableMarkovNetwork):
        raise SettingsError(f"explore() takes a network or a fitted estimator, not {type(source).__name__}.")
    try:
        from xordal.web.widget import NetworkWidget
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"explore() needs {error.name}, which is not installed: pip install 'xordal[widget]'."
        ) from None
    widget = NetworkWidget(network)
    if given:
        widget.evidence = given
    return widget
