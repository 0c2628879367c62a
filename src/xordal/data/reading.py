"""How a table is to be read: the words of :func:`xordal.read_table` as one value, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal, TypedDict, Unpack, get_args

from xordal.data.dates import check_parts
from xordal.data.dialect import TextFormat
from xordal.data.discretise import Binning, Bins
from xordal.data.missing import check_policy
from xordal.errors import SettingsError, nearest
from xordal.types.choices import CacheBy, Missing

AnyBins = Bins | int | Mapping[str, Bins | int] | Literal["auto"] | None
"""What a user may say of bins: a number, how to cut, either by the name of the column, or nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read; the parameters are those of :func:`read_table`, but for one.

    ``unmerged`` are columns whose rare levels stay where those of others are merged: those that the live page
    takes as they are.
    """

    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    weights: Any = None
    survey_weights: Any = None
    cluster: Any = None
    missing: Missing = "error"
    bins: Binning = field(default_factory=Binning)
    merge_rare: int = 0
    unmerged: Sequence[str] = ()
    categorical: Sequence[str] = ()
    dates: Sequence[str] | Mapping[str, Sequence[str]] = ()
    text: TextFormat = field(default_factory=TextFormat)
    sql: str | None = None
    cache: CacheBy = "time"

    def __post_init__(self) -> None:
        check_policy(self.missing)
        if not isinstance(self.merge_rare, Integral) or self.merge_rare < 0:
            raise SettingsError(f"merge_rare must be a number of rows, not {self.merge_rare!r}.")
        check_parts(self.dates)
        if self.weights is not None and self.survey_weights is not None:
            raise SettingsError("Rows have one weight: give weights or survey_weights, not both.")
        if self.cache not in get_args(CacheBy):
            raise SettingsError(
                f"Unknown kind of cache {self.cache!r}; {nearest(self.cache, get_args(CacheBy))}"
            )
        if not isinstance(self.text, TextFormat):
            raise SettingsError(f"text must be a TextFormat(...), not {self.text!r}.")


class ReadingOptions(TypedDict, total=False):
    """How a source is read, in the words of :func:`xordal.read_table`."""

    columns: Sequence[str] | None
    exclude: Sequence[str]
    weights: Any
    survey_weights: Any
    cluster: Any
    missing: Missing
    bins: AnyBins
    merge_rare: int
    categorical: Sequence[str]
    dates: Sequence[str] | Mapping[str, Sequence[str]]
    text: TextFormat | None
    sql: str | None
    cache: CacheBy


def reading_of(**how: Unpack[ReadingOptions]) -> Reading:
    """Return how to read a table, from the words of :func:`xordal.read_table`.

    Raises
    ------
    SettingsError
        If names are not in a list, or a value is out of range.
    TypeError
        If there is no such word.
    """
    for name in how:
        if name not in ReadingOptions.__annotations__:
            raise TypeError(f"There is no setting {name!r}; {nearest(name, ReadingOptions.__annotations__)}")
    if any(isinstance(how.get(name), str) for name in ("columns", "exclude", "categorical")):
        raise SettingsError("Give column names as a list, for example columns=['age', 'sex'].")
    text = how.get("text")
    return Reading(**{**how, "bins": Binning.of(how.get("bins")), "text": text or TextFormat()})  # type: ignore[arg-type]
