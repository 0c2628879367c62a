"""pyAgrum, imported: its extension module crashes where the warnings it gives on import are errors."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum as gum

__all__ = ["gum"]
