"""Build the pages of the gallery by running the demos: ``python docs/gallery.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xordal.demos.gallery import BOOK_NUMBERS, DEMOS, MUSIC_BOX, Demo

HERE = Path(__file__).parent

PAGE = """\
# {title}

Built by running `xordal demo {name}`. Add `-o {name}.html` for [the report](report.md) with all tables.

```console
$ xordal demo {name}
{printed}
```

Source of the data: {source}. {shipped} All stories: [the gallery](gallery.md).
"""
SHIPPED = """\
The file ships with xordal, see
[its list of sources and licences](../src/xordal/demos/data/README.md)."""
DRAWN = """\
The rows are drawn anew each time, the same ones; [Rules of any order](rules.md) says how such rules are
found."""


def page(demo: Demo) -> str:
    """Return the page of a demo."""
    command = [sys.executable, "-m", "xordal", "demo", demo.name]
    environment = os.environ | {"COLUMNS": "160"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    printed = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
    shipped = DRAWN if demo is BOOK_NUMBERS else SHIPPED
    return PAGE.format(title=demo.title, name=demo.name, printed=printed, source=demo.source, shipped=shipped)


def main() -> None:
    """Write one page for each demo with data of its own; the music box has docs/demo.md."""
    for demo in DEMOS.values():
        if demo is not MUSIC_BOX:
            (HERE / f"gallery-{demo.name}.md").write_text(page(demo), encoding="utf-8")


if __name__ == "__main__":
    main()
