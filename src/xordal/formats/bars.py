"""Probabilities as bars of text."""

from __future__ import annotations

from collections.abc import Iterable

from xordal.formats.shown import padded, shown, width_of

BLOCKS = "▏▎▍▌▋▊▉█"


def bar(share: float, width: int, *, blocks: bool = True) -> str:
    """Return a bar that fills its share of the width; a share above zero always shows.

    Examples
    --------
    >>> bar(0.5, 8), bar(0.3, 8), bar(0.5, 8, blocks=False), bar(0.0, 8)
    ('████', '██▍', '####', '')
    """
    if not blocks:
        return "#" * max(round(share * width), 1 if share > 0 else 0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return BLOCKS[-1] * whole + (BLOCKS[rest - 1] if rest else "")


def probability(value: float) -> str:
    """Return a probability to four places; what is neither 0 nor 1 is not rounded to it.

    Examples
    --------
    >>> probability(0.25), probability(1e-9), probability(1 - 1e-9), probability(1.0)
    ('0.2500', '<.0001', '>.9999', '1.0000')
    """
    if 0 < value < 0.00005:
        return "<.0001"
    if 0.99995 <= value < 1 - 1e-12:
        return ">.9999"
    return f"{value:.4f}"


def bar_lines(rows: Iterable[tuple[str, float]], width: int, *, blocks: bool = True) -> list[str]:
    """Return lines of label, probability and bar, none wider than the width."""
    told = [(shown(label), value) for label, value in rows]
    longest = max((width_of(label) for label, _ in told), default=0)
    label_width = min(longest, max(8, width - 24))
    room = max(4, min(40, width - label_width - 12))
    return [
        f"  {_fitted(label, label_width)}  {probability(value)}  {bar(value, room, blocks=blocks)}".rstrip()
        for label, value in told
    ]


def _fitted(label: str, width: int) -> str:
    if width_of(label) <= width:
        return padded(label, width)
    while width_of(label) > width - 3:
        label = label[:-1]
    return padded(f"{label}...", width)
