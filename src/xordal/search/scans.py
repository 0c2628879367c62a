"""The scans of all sets of one size: each range of first variables is looked at once and told when done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from xordal.counting.oracle import Bar, ScanBlock, Scanner

_MOST_KEPT = 200_000  # sets of a block; one that found more is scanned again rather than kept


class Scans:
    """Scans that may have been begun before.

    Parameters
    ----------
    scanner
        Who scans.
    known
        Blocks that an earlier run has finished, by the order of their sets.
    on_done
        Called with the order and each block that is finished now.
    """

    def __init__(
        self,
        scanner: Scanner,
        known: Mapping[int, Iterable[ScanBlock]] | None = None,
        on_done: Callable[[int, ScanBlock], None] = lambda order, block: None,
    ) -> None:
        self.scanner = scanner
        self._known = {order: list(blocks) for order, blocks in (known or {}).items()}
        self._on_done = on_done

    def blocks(self, order: int, at_least: Bar) -> Iterator[ScanBlock]:
        """Yield all blocks of one order, those that are known first; they are known from then on."""
        known = self._known.setdefault(order, [])
        yield from list(known)
        done = {first for block in known for first in block.firsts}
        for block in self.scanner.scan(order, at_least, done=done):
            if len(block.sets) <= _MOST_KEPT:
                self._on_done(order, block)
                known.append(block)
            yield block
