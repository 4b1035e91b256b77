"""One sweep of the planner: how it grows with S, and against a dense sweep compiled the same way."""

from __future__ import annotations

import resource

import numba
import numpy as np

import equipoise as eq
from benchmarks.timing import best_times
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import Counts
from equipoise.confidence.nonzero import extend_pool
from equipoise.confidence.region import Region
from equipoise.planning.evi import workspace
from equipoise.planning.kernels import sweep

VISITS = 2000  # of every pair: most of the mass is settled, some is free
SWEEPS = 20


def region_after_visits(model: eq.Model) -> Region:
    """The paper's regions once every pair has been visited `VISITS` times, as often as p says."""
    counts = Counts.zeros(model.n_pairs, model.n_outcomes)
    listed = model.transition_state.size
    while counts.pool_state.size < listed:
        counts = extend_pool(counts)
    counts.visits[:] = VISITS
    counts.block_first[:] = model.transition_first[:-1]
    counts.block_used[:] = np.diff(model.transition_first)
    counts.pool_state[:listed] = model.transition_state
    counts.pool_count[:listed] = np.maximum(1, np.rint(VISITS * model.transition_probability))
    counts.pool["seen"] = listed
    return build_region(eq.confidence.Bernstein(), model.space, counts, VISITS * model.n_pairs, 0.05)


def sparse_sweeps(model: eq.Model, region: Region) -> np.ndarray:
    """Twenty sweeps of the planner from u = 0."""
    buffers = workspace(model.n_states, model.n_pairs)
    buffers.order[:] = np.arange(model.n_states)
    u, policy = np.zeros(model.n_states), np.zeros(model.n_states, dtype=np.int64)
    reward = model.means[:, 0].copy()
    for _ in range(SWEEPS):
        sweep(None, model.first_pair, region, reward, u, policy, buffers, np.inf)
        u[:] = buffers.u_next - buffers.u_next.min()
    return u


@numba.njit(error_model="numpy")
def dense_sweep(first_pair, lo, hi, reward, u, u_next):
    """The same operator on S x A x S bounds: states sorted once, then a walk over all of them for each pair."""
    order = np.argsort(-u)
    for s in range(u.shape[0]):
        best = -np.inf
        for pair in range(first_pair[s], first_pair[s + 1]):
            value = reward[pair]
            free = 1.0
            for i in range(u.shape[0]):
                value += lo[pair, i] * u[i]
                free -= lo[pair, i]
            for i in order:
                room = min(hi[pair, i] - lo[pair, i], free)
                value += room * u[i]
                free -= room
                if free <= 0.0:
                    break
            best = max(best, value)
        u_next[s] = best


def dense_sweeps(model: eq.Model, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    u, u_next = np.zeros(model.n_states), np.zeros(model.n_states)
    reward = model.means[:, 0].copy()
    for _ in range(SWEEPS):
        dense_sweep(model.first_pair, lo, hi, reward, u, u_next)
        u[:] = u_next - u_next.min()
    return u


def dense_bounds(model: eq.Model, region: Region) -> tuple[np.ndarray, np.ndarray]:
    lo = np.zeros((model.n_pairs, model.n_states))
    hi = np.repeat(region.rest[:, None], model.n_states, axis=1)
    pair = np.repeat(np.arange(model.n_pairs), np.diff(region.first))
    lo[pair, region.successor] = region.lo
    hi[pair, region.successor] = region.hi
    return lo, hi


def report() -> list[tuple[str, str, str]]:
    """Rows of the table: what, measured, asked."""
    big, small, middle = (eq.models.garnet(n, 4, 5, 1, seed=0) for n in (10**5, 10**3, 2000))
    regions = [region_after_visits(model) for model in (big, small, middle)]
    at_big, at_small = best_times(
        lambda: sparse_sweeps(big, regions[0]), lambda: sparse_sweeps(small, regions[1]), rounds=3
    )
    rows = [(
        "one sweep, A=4, 5 successors: S=10^5 over S=10^3",
        f"{at_big / at_small:.0f}  ({at_big / SWEEPS * 1e3:.1f} ms and {at_small / SWEEPS * 1e6:.0f} us)", "<= 200",
    )]  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows.append(("memory of the process with S=10^5, planning", f"{peak:.0f} MB", "< 1000"))
    lo, hi = dense_bounds(middle, regions[2])
    sparse, dense = best_times(
        lambda: sparse_sweeps(middle, regions[2]), lambda: dense_sweeps(middle, lo, hi), rounds=3
    )
    gap = np.abs(sparse_sweeps(middle, regions[2]) - dense_sweeps(middle, lo, hi)).max()
    rows.append((
        "one sweep at S=2000: dense over sparse",
        f"{dense / sparse:.0f}  (largest difference {gap:.0e})", ">= 20",
    ))  # fmt: skip
    return rows
