"""What a user chooses by name.

The names stand here, where nothing heavy is imported, so that the command line offers the very choices that the
library knows.
"""

from __future__ import annotations

from typing import Literal

ScheduleName = Literal["printed", "as_run", "straightforward", "single"]
EngineName = Literal["fast", "reference"]
RankBy = Literal["interaction", "total"]
BinBy = Literal["quantile", "width"]

Missing = Literal["error", "drop", "level", "auto"]
"""What becomes of missing values when a table is read."""

Unseen = Literal["error", "missing", "impossible"]
"""What becomes of a level that a network never saw."""

Absent = Literal["error", "missing"]
"""What becomes of a column that a network knows and a table lacks."""

Phase = Literal[
    "reading", "scanning", "scoring", "p-values", "fill-in", "pruning", "local search", "hidden groups", "rules"
]
"""What learning spends its time on, in the order in which it comes first."""

StoppedBy = Literal["time limit", "memory limit", "interruption"]
"""What can end a search early."""

HiddenBy = Literal["size", "letter"]
"""How hidden groups are told in data: by how much pairs show, or by whether a test sees that a pair depends."""

CacheBy = Literal["time", "content", "off"]
"""How a packed table is known to be that of the data: by size and time of files, by content; or no cache."""

Control = Literal["fwer", "fdr"]
"""What alpha bounds: the probability of any false set, or the share of false sets on average."""
