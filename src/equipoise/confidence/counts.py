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

# Positions in `end`.
USED: Final = 0  # the end of the used part of the pool
SEEN: Final = 1  # successors seen, over all pairs
LARGEST: Final = 2  # the room of the largest block
MOVED: Final = 3  # 1 if a block has moved since room was last looked for
_END_SIZE: Final = 4


class Counts(NamedTuple):
    """Sufficient statistics of all that was observed.

    `visits` is N_m, the visits of each pair before the current episode, and `fresh` is nu_m, those within
    it; `sums` and `squares` are sums of outcomes and of their squares over both. `latest` is the number of visits of a
    pair at which a successor was last seen for the first time. `end` holds numbers about the pool, at the positions
    above.
    """

    visits: NDArray[np.int64]
    fresh: NDArray[np.int64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    latest: NDArray[np.int64]
    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_room: NDArray[np.int64]
    pool_state: NDArray[np.int64]
    pool_count: NDArray[np.int64]
    end: NDArray[np.int64]


def no_counts(n_pairs: int, n_outcomes: int) -> Counts:
    """Nothing seen yet."""
    room = _FIRST_ROOM * n_pairs
    end = np.zeros(_END_SIZE, dtype=np.int64)
    end[MOVED] = 1
    return Counts(
        visits=np.zeros(n_pairs, dtype=np.int64),
        fresh=np.zeros(n_pairs, dtype=np.int64),
        sums=np.zeros((n_pairs, n_outcomes)),
        squares=np.zeros((n_pairs, n_outcomes)),
        latest=np.zeros(n_pairs, dtype=np.int64),
        block_first=np.zeros(n_pairs, dtype=np.int64),
        block_used=np.zeros(n_pairs, dtype=np.int64),
        block_room=np.zeros(n_pairs, dtype=np.int64),
        pool_state=np.zeros(room, dtype=np.int64),
        pool_count=np.zeros(room, dtype=np.int64),
        end=end,
    )


def with_room(counts: Counts) -> Counts:
    """The same counts with a pool of at least twice the size."""
    size = 2 * counts.pool_state.size + 2 * int(counts.end[LARGEST]) + _FIRST_ROOM
    pool_state = np.zeros(size, dtype=np.int64)
    pool_count = np.zeros(size, dtype=np.int64)
    pool_state[: counts.pool_state.size] = counts.pool_state
    pool_count[: counts.pool_count.size] = counts.pool_count
    return counts._replace(pool_state=pool_state, pool_count=pool_count)


@inlined
def lacks_room(pool_state, end):
    """Whether the pool could not take a larger block of any pair; looks only if a block has moved."""
    if end[MOVED] == 0:
        return False
    if end[USED] + max(_FIRST_ROOM, 2 * end[LARGEST]) > pool_state.shape[0]:
        return True
    end[MOVED] = 0
    return False


@inlined
def count(visits, fresh, latest, block_first, block_used, block_room, pool_state, pool_count, end, pair, next_state):
    """Take in one transition; there must be room. The sums of outcomes and squares are the caller's."""
    fresh[pair] += 1
    begin = block_first[pair]
    used = block_used[pair]
    for i in range(begin, begin + used):
        if pool_state[np.uint64(i)] == next_state:
            pool_count[np.uint64(i)] += 1
            return
    if used == block_room[pair]:
        moved = end[USED]
        room = max(_FIRST_ROOM, 2 * used)
        for i in range(used):
            pool_state[moved + i] = pool_state[begin + i]
            pool_count[moved + i] = pool_count[begin + i]
        block_first[pair] = moved
        block_room[pair] = room
        end[USED] = moved + room
        end[LARGEST] = max(end[LARGEST], room)
        end[MOVED] = 1
        begin = moved
    pool_state[begin + used] = next_state
    pool_count[begin + used] = 1
    latest[pair] = visits[pair] + fresh[pair]
    block_used[pair] = used + 1
    end[SEEN] += 1


def forget(counts: Counts) -> None:
    """Back to nothing seen, in place."""
    for part in counts:
        part[:] = 0
    counts.end[MOVED] = 1
