"""What a user chooses about smoothing: a number of rows spread evenly, or :class:`Backoff`.

A plain number ``a`` is today's prior: ``a`` rows, spread evenly over the cells of each table
(:mod:`xordal.model.parameters`). :class:`Backoff` borrows rows from smaller margins instead
(:mod:`xordal.model.backoff`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real

from xordal.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Backoff:
    """Shrink each table towards smaller margins of the data.

    The distribution of a variable in a context, the levels of the variables before it in its clique, is that of
    the rows seen there and of ``rows`` more, which are distributed as in the next smaller context: the one
    without the variable that tells the least about it. Where a context was seen often its own rows decide;
    where it was seen seldom or never, the smaller one does.

    Parameters
    ----------
    rows
        Rows that each context borrows; above 0. 10 to 100 suit large cliques.

    Examples
    --------
    >>> from xordal import CategoricalTable, learn
    >>> from xordal.learning.fitting import fit_network
    >>> table = CategoricalTable.from_rows("ab", [(0, 0)] * 30 + [(0, 1)] * 30 + [(1, 1)] * 40)
    >>> network = fit_network(table, learn(table), smoothing=Backoff(10))
    >>> round(network.query("b", given={"a": 1})[0], 3)  # (0 + 10 * 0.3) / (40 + 10)
    0.06
    """

    rows: float = 10.0

    def __post_init__(self) -> None:
        if not _is_number(self.rows) or not self.rows > 0:
            raise SettingsError(
                f"Backoff(rows) must be a positive number of rows, not {self.rows!r}; smoothing=0 leaves "
                "tables as counted."
            )


Smoothing = float | Backoff
"""Rows spread evenly over the cells of a table, 0 for tables as counted; or a :class:`Backoff`."""


def checked(smoothing: Smoothing) -> Smoothing:
    """Return a smoothing as it is kept; refuse what is none."""
    if isinstance(smoothing, Backoff):
        return smoothing
    if not _is_number(smoothing) or smoothing < 0:
        raise SettingsError(
            f"The smoothing must be zero or a positive number of rows, or Backoff(rows), not {smoothing!r}."
        )
    return float(smoothing)


def smoothing_text(smoothing: Smoothing) -> str:
    """Return a smoothing as the command line takes it.

    Examples
    --------
    >>> smoothing_text(1.0), smoothing_text(Backoff(30))
    ('1', 'backoff:30')
    """
    return f"backoff:{smoothing.rows:g}" if isinstance(smoothing, Backoff) else f"{smoothing:g}"


def smoothing_to_json(smoothing: Smoothing) -> object:
    """Return a smoothing as model files hold it: a number, or the name and rows of a back-off."""
    return {"name": "Backoff", "rows": smoothing.rows} if isinstance(smoothing, Backoff) else smoothing


def smoothing_from_text(text: str) -> Smoothing:
    """Return the smoothing that a text such as ``1`` or ``backoff:30`` means.

    Raises
    ------
    SettingsError
        If it means none.

    Examples
    --------
    >>> smoothing_from_text("0.5"), smoothing_from_text("backoff:30")
    (0.5, Backoff(rows=30.0))
    """
    kind, _, number = text.strip().rpartition(":")
    try:
        if kind in ("", "backoff"):
            rows = float(number)
            return checked(Backoff(rows) if kind else rows)
    except ValueError:  # a SettingsError is one too: both end in the same words
        pass
    raise SettingsError(
        f"{text!r} is no smoothing: write a number of rows from 0 on, spread evenly, or backoff:ROWS with ROWS "
        "above 0."
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(float(value))
