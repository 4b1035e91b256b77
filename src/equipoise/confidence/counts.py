"""What has been counted: visits, sums of outcomes, and seen successors only.

Eq. (Nm) of the paper, kept sparse. The successors of a pair stand in a block of a common pool, in the
order in which they were first seen. A block that is full moves to the end of the pool with twice the
capacity; when the pool itself is full, Python makes it larger (`enlarged`). So counting costs one
short scan, allocates nothing, and the memory is proportional to what was seen, never S x A x S.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined
from equipoise.confidence.nonzero import NonzeroSums, arrays_of

_FIRST_CAPACITY: Final = 2  # of a pair's block

# Numbers about the pool. All fields are int64, so that a file can hold them as a plain vector.
POOL: Final = np.dtype(
    [
        ("used", np.int64),  # the end of the used part of the pool
        ("seen", np.int64),  # successors seen, over all pairs
        ("largest", np.int64),  # the capacity of the largest block
        ("moved", np.int64),  # 1 if a block has moved since the size of the pool was last checked
    ]
)


class Counts(NamedTuple):
    """Sufficient statistics of all that was observed.

    `visits` is N_m, the visits of each pair before the current episode, and `fresh` is nu_m, those within
    it; `sums` and `squares` are sums of outcomes and of their squares over both. `latest` is the number of visits of a
    pair at which a successor was last seen for the first time.

    The successors of a pair are pool_state[i] with pool_count[i] visits each, for the `block_used` places i from
    `block_first` on; its block has `block_capacity` places. `pool` is one record with numbers about the pool, whose
    fields are those of `POOL`. Where outcomes are nearly all zero, `nonzero` has their sums, and `sums` and `squares`
    have no columns; else it is None.
    """

    visits: NDArray[np.int64]
    fresh: NDArray[np.int64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    latest: NDArray[np.int64]
    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_capacity: NDArray[np.int64]
    pool_state: NDArray[np.int64]
    pool_count: NDArray[np.int64]
    pool: NDArray[np.void]
    nonzero: NonzeroSums | None = None

    @property
    def seen(self) -> int:
        """How many successors were seen, over all pairs."""
        return int(self.pool["seen"][0])


def no_counts(n_pairs: int, n_outcomes: int, nonzero: NonzeroSums | None = None) -> Counts:
    """Nothing seen yet."""
    size = _FIRST_CAPACITY * n_pairs
    pool = np.zeros(1, dtype=POOL)
    pool["moved"] = 1
    return Counts(
        visits=np.zeros(n_pairs, dtype=np.int64),
        fresh=np.zeros(n_pairs, dtype=np.int64),
        sums=np.zeros((n_pairs, n_outcomes)),
        squares=np.zeros((n_pairs, n_outcomes)),
        latest=np.zeros(n_pairs, dtype=np.int64),
        block_first=np.zeros(n_pairs, dtype=np.int64),
        block_used=np.zeros(n_pairs, dtype=np.int64),
        block_capacity=np.zeros(n_pairs, dtype=np.int64),
        pool_state=np.zeros(size, dtype=np.int64),
        pool_count=np.zeros(size, dtype=np.int64),
        pool=pool,
        nonzero=nonzero,
    )


def enlarged(counts: Counts) -> Counts:
    """The same counts with a pool of at least twice the size."""
    size = 2 * counts.pool_state.size + 2 * int(counts.pool["largest"][0]) + _FIRST_CAPACITY
    pool_state = np.zeros(size, dtype=np.int64)
    pool_count = np.zeros(size, dtype=np.int64)
    pool_state[: counts.pool_state.size] = counts.pool_state
    pool_count[: counts.pool_count.size] = counts.pool_count
    return counts._replace(pool_state=pool_state, pool_count=pool_count)


@inlined
def without_nonzero(counts):
    """The same counts as a confidence is given them: of one type, whether outcomes are kept apart or not."""
    return Counts(
        counts.visits, counts.fresh, counts.sums, counts.squares, counts.latest, counts.block_first,
        counts.block_used, counts.block_capacity, counts.pool_state, counts.pool_count, counts.pool, None,
    )  # fmt: skip


@inlined
def pool_is_full(counts):
    """Whether the pool could not take a larger block of any pair; looks only if a block has moved."""
    pool = counts.pool[0]
    if pool.moved == 0:
        return False
    if pool.used + max(_FIRST_CAPACITY, 2 * pool.largest) > counts.pool_state.shape[0]:
        return True
    pool.moved = 0
    return False


@inlined
def add_outcome(counts, pair, k, outcome):
    """Add one outcome to the sums of a pair."""
    counts.sums[pair, k] += outcome
    counts.squares[pair, k] += outcome * outcome


@inlined
def count(counts, pair, next_state):
    """Take in one transition; the pool must not be full. The sums of outcomes and squares are the caller's."""
    counts.fresh[pair] += 1
    begin = counts.block_first[pair]
    used = counts.block_used[pair]
    for i in range(begin, begin + used):
        if counts.pool_state[np.uint64(i)] == next_state:
            counts.pool_count[np.uint64(i)] += 1
            return
    pool = counts.pool[0]
    if used == counts.block_capacity[pair]:
        moved = pool.used
        capacity = max(_FIRST_CAPACITY, 2 * used)
        for i in range(used):
            counts.pool_state[moved + i] = counts.pool_state[begin + i]
            counts.pool_count[moved + i] = counts.pool_count[begin + i]
        counts.block_first[pair] = moved
        counts.block_capacity[pair] = capacity
        pool.used = moved + capacity
        pool.largest = max(pool.largest, capacity)
        pool.moved = 1
        begin = moved
    counts.pool_state[begin + used] = next_state
    counts.pool_count[begin + used] = 1
    counts.latest[pair] = counts.visits[pair] + counts.fresh[pair]
    counts.block_used[pair] = used + 1
    pool.seen += 1


def forget(counts: Counts, fresh: Counts) -> None:
    """Back to nothing seen, in place: what is `fresh` takes the place of what was counted."""
    for tuples in ((counts, fresh), (counts.nonzero, fresh.nonzero)):
        for part, nothing in zip(*map(arrays_of, tuples), strict=True):
            part[: nothing.shape[0]] = nothing
            part[nothing.shape[0] :] = 0
