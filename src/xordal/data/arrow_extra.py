"""Whether Arrow is installed, and what to say where it is needed and is not.

Arrow (pyarrow) is an extra. Plain text, JSON, arrays and frames of pandas and polars are read without it; large
text files are read faster with it; Parquet and Arrow files need it.
"""

from __future__ import annotations

from functools import cache

from xordal.errors import DataError


@cache
def has_arrow() -> bool:
    """Whether pyarrow can be imported; its import is tried once."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def need_arrow(what: str, instead: str = "") -> None:
    """Refuse what cannot be done without Arrow, where it is not installed.

    Raises
    ------
    DataError
        Naming what needs it, the extra, and what can be done instead.
    """
    if not has_arrow():
        said = f"{what}: this needs Arrow, an extra. Install it: pip install 'xordal[arrow]'. {instead}"
        raise DataError(said.rstrip())
