"""Every table and figure of the paper beside ours: ``reproduce()`` computes it all, nothing is drawn here.

``printed`` holds what the paper prints, ``runs`` what we computed, ``checks`` compares; each other module makes
the items of one kind.
"""

from __future__ import annotations

from xordal.report.paper.checks import Check, Grid, Item, Mark, Summary
from xordal.report.paper.reproduce import reproduce

__all__ = ["Check", "Grid", "Item", "Mark", "Summary", "reproduce"]
