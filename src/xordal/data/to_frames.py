"""Columns out, as a frame of the library that the user works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from xordal.errors import SettingsError, XordalError, nearest

FrameLibrary = Literal["pandas", "polars", "pyarrow"]


def frame_of(columns: Mapping[str, Sequence[Any]], library: FrameLibrary = "pandas") -> Any:
    """Return a frame of pandas, polars or pyarrow.

    Raises
    ------
    SettingsError
        If it is none of these libraries.
    XordalError
        If the library is not installed.

    Examples
    --------
    >>> frame_of({"a": [1, 2], "b": ["x", "y"]}).shape
    (2, 2)
    """
    import narwhals.stable.v2 as nw

    if library not in get_args(FrameLibrary):
        raise SettingsError(f"There are no frames of {library!r}; {nearest(library, get_args(FrameLibrary))}")
    try:
        return nw.from_dict(dict(columns), backend=library).to_native()
    except ModuleNotFoundError:
        raise XordalError(f"{library} is not installed: pip install {library}") from None
