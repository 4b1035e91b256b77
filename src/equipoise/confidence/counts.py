"""What has been counted: visits, sums of outcomes, and seen successors only.

Eq. (Nm) of the paper, kept sparse. The successors of a pair stand in a block of a common pool, in the
order in which they were first seen. A block that is full moves to the end of the pool with twice the
room; when the pool itself has no room left, Python makes it larger (`with_room`). So counting costs one
short scan, allocates nothing, and the memory is proportional to what was seen, never S x A x S.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined

_FIRST_ROOM: Final = 2


class Counts(NamedTuple):
    """Sufficient statistics of all that was observed.

    `visits` is N_m, the visits of each pair before the current episode, and `fresh` is nu_m, those within
    it; `sums` are sums of outcomes over both. `end` holds the end of the used part of the pool.
    """

    visits: NDArray[np.int64]
    fresh: NDArray[np.int64]
    sums: NDArray[np.float64]
    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_room: NDArray[np.int64]
    pool_state: NDArray[np.int64]
    pool_count: NDArray[np.int64]
    end: NDArray[np.int64]


def no_counts(n_pairs: int, n_outcomes: int) -> Counts:
    """Nothing seen yet."""
    room = _FIRST_ROOM * n_pairs
    return Counts(
        visits=np.zeros(n_pairs, dtype=np.int64),
        fresh=np.zeros(n_pairs, dtype=np.int64),
        sums=np.zeros((n_pairs, n_outcomes)),
        block_first=np.zeros(n_pairs, dtype=np.int64),
        block_used=np.zeros(n_pairs, dtype=np.int64),
        block_room=np.zeros(n_pairs, dtype=np.int64),
        pool_state=np.zeros(room, dtype=np.int64),
        pool_count=np.zeros(room, dtype=np.int64),
        end=np.zeros(1, dtype=np.int64),
    )


def with_room(counts: Counts) -> Counts:
    """The same counts with a pool of at least twice the size."""
    size = 2 * counts.pool_state.size + 2 * int(counts.block_room.max()) + _FIRST_ROOM
    pool_state = np.zeros(size, dtype=np.int64)
    pool_count = np.zeros(size, dtype=np.int64)
    pool_state[: counts.pool_state.size] = counts.pool_state
    pool_count[: counts.pool_count.size] = counts.pool_count
    return counts._replace(pool_state=pool_state, pool_count=pool_count)


# The kernels below take the arrays one by one: a tuple of arrays, opened inside a loop, costs a reference
# count for each of them at each step. Python calls them with ``*counts``.


@inlined
def lacks_room(block_used, block_room, pool_state, end, pair):
    """Whether the pool could not take one more successor of this pair."""
    used = block_used[pair]
    if used < block_room[pair]:
        return False
    return end[0] + max(_FIRST_ROOM, 2 * used) > pool_state.shape[0]


@inlined
def count(
    fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end, pair, outcome, next_state
):
    """Take in one transition."""
    fresh[pair] += 1
    for k in range(outcome.shape[0]):
        sums[pair, k] += outcome[k]
    begin = block_first[pair]
    used = block_used[pair]
    for i in range(begin, begin + used):
        if pool_state[i] == next_state:
            pool_count[i] += 1
            return
    if used == block_room[pair]:
        moved = end[0]
        room = max(_FIRST_ROOM, 2 * used)
        for i in range(used):
            pool_state[moved + i] = pool_state[begin + i]
            pool_count[moved + i] = pool_count[begin + i]
        block_first[pair] = moved
        block_room[pair] = room
        end[0] = moved + room
        begin = moved
    pool_state[begin + used] = next_state
    pool_count[begin + used] = 1
    block_used[pair] = used + 1


def close_episode(counts: Counts) -> None:
    """N_{m+1} = N_m + nu_m, and nu_{m+1} = 0."""
    np.add(counts.visits, counts.fresh, out=counts.visits)
    counts.fresh[:] = 0


def forget(counts: Counts) -> None:
    """Back to nothing seen, in place."""
    for part in counts:
        part[:] = 0
