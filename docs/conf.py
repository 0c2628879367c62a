"""How ``make docs`` builds the site: the same pages as in the repository, and the reference from docstrings.

README, changelog and contributing live at the root of the repository, where people look for them; their pages
are made from those files as the site is built, so that nothing is said twice.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import xordal

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "xordal"
author = "The xordal developers"
copyright = "The xordal developers"
release = version = xordal.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build", "notebooks"]
html_theme = "pydata_sphinx_theme"
html_title = "xordal"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
# All pages stand in the sidebar, under the captions of the contents: the theme's own menu names the first five.
html_sidebars = {"**": ["globaltoc.html"]}
html_theme_options = {
    "navbar_center": [],
    "globaltoc_includehidden": True,
    "globaltoc_maxdepth": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
napoleon_numpy_docstring = True
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what parameters are
# scikit-learn adds methods to estimators whose docstrings refer to its own manual.
autodoc_default_options = {"members": True, "exclude-members": "set_fit_request,set_score_request"}
nitpicky = False
suppress_warnings = [
    "myst.header",  # some pages begin their sections at the third level
    "config.cache",
]

_FROM_ROOT = {"index": "README.md", "changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
_PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
_CONTENTS = """
```{toctree}
:caption: Tutorials
:hidden:
tutorial-survey
tutorial-quality
gallery-epistasis
gallery-check-digit
gallery-calendar
gallery-book-numbers
gallery
demo
tables/README
```

```{toctree}
:caption: How to
:hidden:
HOW_TO
```

```{toctree}
:caption: Reference
:hidden:
README
api
coming-from
model-file
changelog
contributing
```

```{toctree}
:caption: Background
:hidden:
statistics
theory
searching
counting
architecture
extending
paper-notes
reproduce
```

```{toctree}
:caption: Measured
:hidden:
:glob:
benchmarks/*
```
"""


def _how_to() -> str:
    """Return the pages that no other part of the contents names: those that say how something is done."""
    named = set(re.findall(r"^[a-z-]+$", _CONTENTS, flags=re.MULTILINE)) | {*_FROM_ROOT, "README"}
    first = ["data", "learn", "report", "use"]
    others = sorted(page.stem for page in HERE.glob("*.md") if page.stem not in {*named, *first})
    return "\n".join([*first, *others])


def _read(app: Any, name: str, source: list[str]) -> None:
    """Put the files of the root in their pages, and have links from page to page lead within the site."""
    if name in _FROM_ROOT:
        source[0] = (ROOT / _FROM_ROOT[name]).read_text(encoding="utf-8")
        for file, page in _PAGES.items():
            source[0] = source[0].replace(f"]({file}", f"]({page}")
        source[0] = re.sub(r"\]\((LICENSE|CITATION\.cff)\)", r"](../\1)", source[0].replace("](docs/", "]("))
    if name == "index":
        source[0] += _CONTENTS.replace("HOW_TO", _how_to())
    up = "../" * name.count("/")
    for file, page in _PAGES.items():
        source[0] = source[0].replace(f"]({up}../{file}", f"]({up}{page}")
    source[0] = re.sub(r"\[([^\]]*)\]\((?:\.\./)+(?:src|tests|benchmarks)/[^)]*\)", r"\1", source[0])


def setup(app: Any) -> None:
    """Have Sphinx call us for every page it reads."""
    app.connect("source-read", _read)
