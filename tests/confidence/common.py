"""What the tests of this folder share: rules called one mean at a time, and counts and regions made dense."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

import equipoise as eq
from equipoise._runtime.compiler import call_for_two
from equipoise.confidence.elementwise import Elementwise
from tests.reference.regions import Facts

Array = NDArray[np.float64]
ANY, BINARY = 0, 1


@njit
def _interval(address, delta, count, binary, n, total, squares, floats):
    return call_for_two(address, (np.int64(1), delta, count, np.int64(binary), n, total, squares, floats))


def interval(
    rule: Elementwise, n: float, total: float, squares: float, *, delta: float, count: float = 1.0, binary: int = ANY
) -> tuple[float, float]:
    """What the compiled rule says of one mean."""
    arguments = (float(delta), float(count), int(binary), float(n), float(total), float(squares), rule.floats)
    return _interval(rule.interval.address, *arguments)


def most_misses(runs: int, level: float) -> int:
    """The most misses that are no evidence: were each as likely as ``level``, more would have a chance below 1e-6."""
    from scipy.stats import binom

    return int(binom.isf(1e-6, runs, level))


def facts_of(agent: eq.TocUCRL2) -> Facts:
    """An agent's counts as a table."""
    counts, space = agent.loop.arrays.counts, agent.space
    table = np.zeros((space.n_pairs, space.n_states))
    for pair in range(space.n_pairs):
        for i in range(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair]):
            table[pair, counts.pool_state[i]] = counts.pool_count[i]
    known = {int(pair): space.known_outcomes[pair].copy() for pair in np.flatnonzero(space.known_mask)}
    return Facts(table, counts.sums.copy(), counts.squares.copy(), agent.visits - counts.latest, known)


def as_dense(region: eq.confidence.Region, n_states: int) -> tuple[Array, Array]:
    """The bounds on every state, listed or not."""
    n_pairs = region.rest.size
    lo, hi = np.zeros((n_pairs, n_states)), np.repeat(region.rest[:, None], n_states, axis=1)
    for pair in range(n_pairs):
        part = slice(region.first[pair], region.first[pair + 1])
        lo[pair, region.successor[part]] = region.lo[part]
        hi[pair, region.successor[part]] = region.hi[part]
    return lo, hi
