"""``xordal cache``: large tables that were packed, where they are, and how to be rid of them."""

from __future__ import annotations

from typing import Annotated

import typer


def cache(
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
) -> None:
    """List the large tables that are kept packed, so that the next run on them starts at once.

    They lie in the folder that XORDAL_CACHE names, by default ~/.cache/xordal. A table whose files have changed
    is packed anew by the next run that reads it.

    Examples: xordal cache; xordal cache --clear
    """
    from xordal.cli import screen
    from xordal.data.large.cache import cache_folder, entries
    from xordal.data.large.cache import clear as clear_all
    from xordal.errors import counted
    from xordal.formats.shown import shown

    console = screen.output()
    if clear:
        console.print(f"Removed {size_text(clear_all())} from {shown(str(cache_folder()))}", soft_wrap=True)
        return
    found = entries()
    total = size_text(sum(entry.n_bytes for entry in found))
    console.print(f"{shown(str(cache_folder()))}: {counted(len(found), 'table')}, {total}", soft_wrap=True)
    for entry in found:
        size = (
            f"{counted(entry.n_rows, 'row')}, {counted(entry.n_columns, 'column')}, {size_text(entry.n_bytes)}"
        )
        console.print(f"  {shown(entry.label)}: {size}", soft_wrap=True)


def size_text(n_bytes: int) -> str:
    """Return a number of bytes as people read it.

    Examples
    --------
    >>> size_text(0), size_text(2_500), size_text(2_750_000_000)
    ('0 kB', '2 kB', '2.8 GB')
    """
    if n_bytes >= 10**9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 10**6 else f"{n_bytes / 1e3:.0f} kB"
