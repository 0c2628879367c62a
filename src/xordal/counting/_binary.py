"""The kernel of the most common long scan: all triples of binary variables.

As :mod:`xordal.counting._scan`, with one plane per variable: of the eight cells of a triple one is counted,
the rows in which all three have their rarer value, and seven follow. With the variables standardised, their
products are an orthonormal basis of the functions on the triple under independence; so chi is the sum of the
squared correlations of the three pairs and of the triple.
"""

from __future__ import annotations

from math import expm1, log
from typing import Any, NamedTuple

import numpy as np

from xordal.counting._bits import HAS_EXTRACT, product
from xordal.counting._cells import compact
from xordal.counting._jit import kernel
from xordal.counting._lanes import reaching
from xordal.counting._llvm import LANES
from xordal.counting._measures import Found, found_more, x_log_x
from xordal.counting._scan import SAFE
from xordal.counting._turns import next_turn


class Columns(NamedTuple):
    """Binary columns, in slots; ones stand where the rarer value does."""

    words: Any  # [block, t, lane], flat
    n_words: int
    n_rows: int
    n_columns: int
    ones: Any  # (slots,)
    pairs: Any  # (slots x slots,) rows with both
    share: Any  # (slots,)
    scale: Any  # (slots,) 1 / standard deviation
    entropies: Any  # (slots,) nats
    logs: Any


@kernel
def scan_binary(columns: Columns, firsts: Any, turn: Any, bar: float) -> Any:
    """Return slots (j, k) of triples that can reach the bar, what they share, each i taken, where its own end.

    Threads that are given the same ``turn`` share the firsts out between them.
    """
    n_slots = len(columns.ones)
    words, n_words, pairs, share = columns.words, columns.n_words, columns.pairs, columns.share
    weight = columns.scale * columns.scale
    more, chi_i = np.empty(n_slots), np.empty(n_slots)  # of each k with i: rows beyond chance, part of chi
    n = float(columns.n_rows)
    per_row = 1 / (n * n)
    limit = expm1(min(bar, 700.0)) * (1 - SAFE) - SAFE
    n_blocks = n_slots // LANES
    rows = np.empty(len(words), np.uint64)
    mask = np.empty(n_words, np.uint64)
    counts, hits = np.empty(LANES * n_slots, np.int32), np.zeros(n_blocks, np.uint8)
    found = Found(np.empty((64, 2), np.int32), np.empty(64), 0)
    taken, ends = np.empty(len(firsts), np.int64), np.empty(len(firsts), np.int64)
    n_taken = 0
    while True:
        place = next_turn(turn)
        if place >= len(firsts):
            break
        i = firsts[place]
        for t in range(n_words):
            mask[t] = words[(i // LANES * n_words + t) * LANES + i % LANES]
        width: Any = (np.int64(columns.ones[i]) + 63) >> 6 if HAS_EXTRACT else n_words
        step, old = width * LANES, n_words * LANES
        start = (i + 1) // LANES
        for block in range(start, n_blocks):
            compact(
                words[block * old : (block + 1) * old],
                n_words,
                mask,
                rows[block * step : (block + 1) * step],
                width,
            )
        p_i, i_unit = share[i], weight[i] * per_row
        for k in range(start * LANES, n_slots):
            more[k] = pairs[i * n_slots + k] - n * p_i * share[k]
            chi_i[k] = more[k] * more[k] * (i_unit * weight[k])
        for j_block in range(start, n_blocks):
            left = j_block * step
            for k_block in range(j_block, n_blocks):
                product(rows, left, rows, k_block * step, width, counts, k_block * LANES, n_slots)
            at = j_block * LANES
            for lane in range(LANES):
                j = at + lane
                if j <= i or j >= columns.n_columns:
                    continue
                n_j, p_j, j_unit = n * share[j], share[j], weight[j] * per_row
                reached = reaching(
                    counts,
                    pairs,
                    share,
                    weight,
                    more,
                    chi_i,
                    hits,
                    (lane * n_slots + at, j * n_slots + at, at, n_blocks - j_block, 255 & ~((2 << lane) - 1)),
                    (p_i, p_j, n_j, more[j] + p_i * n_j, j_unit, weight[i] * j_unit, limit - chi_i[j]),
                )
                if reached != 0:
                    found = emit_binary(columns, i, j, counts, hits, bar, found)
        taken[n_taken], ends[n_taken] = i, found.n
        n_taken += 1
    return found.sets[: found.n], found.shared[: found.n], taken[:n_taken], ends[:n_taken]


@kernel
def emit_binary(columns: Columns, i: int, j: int, counts: Any, hits: Any, bar: float, found: Found) -> Found:
    """Add the triples of one i and j that reach the bar, of those marked."""
    n, n_slots, logs = columns.n_rows, len(columns.ones), columns.logs
    alone = columns.entropies[i] + columns.entropies[j] - log(n)
    n_i, n_j, n_ij = columns.ones[i], columns.ones[j], columns.pairs[i * n_slots + j]
    first = j // LANES * LANES
    for k in range(j + 1, columns.n_columns):
        if not hits[(k - first) // LANES] >> (k % LANES) & 1:
            continue
        t, n_k = counts[j % LANES * n_slots + k], columns.ones[k]
        n_ik, n_jk = columns.pairs[i * n_slots + k], columns.pairs[j * n_slots + k]
        total = (
            (x_log_x(logs, t) + x_log_x(logs, n_ij - t))
            + (x_log_x(logs, n_ik - t) + x_log_x(logs, n_jk - t))
            + (x_log_x(logs, n_i - n_ij - n_ik + t) + x_log_x(logs, n_j - n_ij - n_jk + t))
            + (
                x_log_x(logs, n_k - n_ik - n_jk + t)
                + x_log_x(logs, n - n_i - n_j - n_k + n_ij + n_ik + n_jk - t)
            )
        )
        shared = alone + columns.entropies[k] + total / n
        if shared >= bar:
            found = found_more(found, j, k, shared)
    return found
