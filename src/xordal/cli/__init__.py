"""The command line: parse, call the library, print. No logic here."""

from time import monotonic

BEGAN = monotonic()
"""When this was loaded, before all else that a command loads: nearly when the command was called."""
