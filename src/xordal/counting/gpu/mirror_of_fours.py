"""The screen of sets of four in NumPy, tile by tile and in single precision as ``fours.cu`` has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xordal.counting.gpu.engine import MEASURES, TILE_J, TILE_K, FoursJob, tile_of
from xordal.counting.gpu.measuring import measured

Array = NDArray[np.float32]


def fours_of(job: FoursJob, ones: Array) -> NDArray[np.int32]:
    """Return the sets that reach the limit; ``ones`` are the bits of all slots as zeros and ones."""
    n_tiles = job.bits.shape[0] // TILE_J
    found = [np.empty((0, 4), np.int32)]
    for block in range(n_tiles * (n_tiles + 1)):
        j0, k0 = tile_of(block, job.bits.shape[0])
        j, k = np.arange(j0, min(j0 + TILE_J, job.n_slots)), np.arange(k0, min(k0 + TILE_K, job.n_slots))
        if len(j) and len(k):
            found += [_reaching(job, ones, h, j, k) for h in range(job.h_first, job.h_end)]
    return np.concatenate(found)


def _reaching(
    job: FoursJob, ones: Array, h: int, j: NDArray[np.int64], k: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the sets of one h and a tile of j and k."""
    i = np.arange(h + 1, max(h + 1, j[-1]))
    if not len(i):
        return np.empty((0, 4), np.int32)
    n, rho = np.float32(job.n_rows), job.rho
    weight = job.scalars[:, 0] * n
    kappa = weight * job.scalars[:, 1]
    mean = (rho[h, i] + kappa[h] * kappa[i])[:, None, None]
    with_h = ones * ones[h]
    # Axes i, j, k. Moments of three, two of them beyond their means; then of four.
    s_ij, s_ik = (_third(job, with_h, h, i, x) for x in (j, k))
    s_jk = _third(job, with_h, h, j, k)
    n_ijk, n_hijk = (((rows[i][:, None] * ones[j]) @ ones[k].T) for rows in (ones, with_h))
    w_i, w_j, w_k = weight[i][:, None, None], weight[j][:, None], weight[k]
    k_i, k_j, k_k = kappa[i][:, None, None], kappa[j][:, None], kappa[k]
    rho_ij, rho_ik = rho[np.ix_(i, j)][:, :, None], rho[np.ix_(i, k)][:, None]
    rho_hj, rho_hk, rho_jk = rho[h, j][:, None], rho[h, k], rho[np.ix_(j, k)]
    g = n_ijk * w_k * (w_i / n * w_j) - k_k * (rho_ij + k_i * k_j) - k_j * rho_ik
    s_ijk = g - k_i * rho_jk
    both = weight[h] * w_i / n * w_j
    a = s_ik[:, None] + kappa[h] * rho_ik + k_i * rho_hk
    b = (s_ij + kappa[h] * rho_ij[:, :, 0] + kappa[i][:, None] * rho[h, j])[:, :, None] + k_j * mean
    t = n_hijk * w_k * both - k_k * b - k_j * a - kappa[h] * g - k_i * s_jk
    chi = t**2 + s_ijk**2 + s_jk**2 + s_ij[:, :, None] ** 2 + s_ik[:, None] ** 2
    chi = chi + rho[h, i][:, None, None] ** 2 + rho_ij**2 + rho_ik**2 + rho_hj**2 + rho_hk**2 + rho_jk**2
    own = [job.limits[job.kinds[x] >> 3] for x in (j, k)]
    lowest = np.minimum(job.scalars[i, 2][:, None, None], np.minimum(own[0][:, None], own[1]))
    spare = np.float32(job.spare) * ((weight[h] + 1) * (weight[i] + 1)) ** 2
    limit = np.minimum(lowest, job.scalars[h, 2]) - spare[:, None, None]
    is_set = (j[:, None] > i[:, None, None]) & (k > j[:, None])
    at = np.argwhere((chi >= limit) & is_set)
    sets = np.stack([np.full(len(at), h), i[at[:, 0]], j[at[:, 1]], k[at[:, 2]]], axis=1).astype(np.int32)
    return _second_look(job, ones, sets)


def _third(job: FoursJob, with_h: Array, h: int, x: NDArray[np.int64], y: NDArray[np.int64]) -> Array:
    """Return s of h and all x and y."""
    weight = job.scalars[:, 0] * np.float32(job.n_rows)
    kappa = weight * job.scalars[:, 1]
    mean = (job.rho[h, x] + kappa[h] * kappa[x])[:, None]
    counts = with_h[x] @ with_h[y].T
    a = weight[h] * job.scalars[x, 0][:, None] * weight[y] * counts - kappa[y] * mean
    return np.asarray(a - kappa[h] * job.rho[np.ix_(x, y)] - kappa[x][:, None] * job.rho[h, y])


def _second_look(job: FoursJob, ones: Array, sets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the sets that have enough of what is measured; here in double precision."""
    if not len(sets):
        return sets
    levels = 1 - ones[:, : job.n_rows].astype(np.int64)
    cells = (levels[sets] * np.array([8, 4, 2, 1])[:, None]).sum(axis=1)
    every = (cells + 16 * np.arange(len(sets))[:, None]).reshape(-1)
    tables = np.bincount(every, minlength=16 * len(sets)).reshape(-1, 2, 2, 2, 2)
    values = measured(np, tables, MEASURES[job.measure], job.n_rows).values
    return np.asarray(sets[values >= job.bar])
