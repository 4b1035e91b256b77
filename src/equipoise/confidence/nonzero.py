"""Outcomes that are nearly all zero: counted and bounded by those alone that were ever seen to be something else.

An array of pairs by outcomes is nearly all zeros then, and its size decides what can be learnt: with 40,000 pairs and
10,000 outcomes, each of the four that counts and regions have takes 3 GB. Here the outcomes of a pair that were ever
other than zero stand in a block of a common pool, in increasing order, as the successors of a pair do in `counts`.

Every outcome of a pair that is not listed has the same record: n observations, all zero. So a rule for one mean gives
all of them the same bounds, and is asked once. With `rest_lo` and `rest_hi` these bounds, the optimistic reward is

    r(s,a) = sum over listed k of max(-theta_k lo_k, -theta_k hi_k) + (P - P_listed) rest_hi + (N - N_listed) rest_lo,

where P and N add up the positive and the negative entries of -theta, once a plan for all outcomes, and P_listed and
N_listed those of the listed ones (`planning.kernels.nonzero_rewards`). It is the sum of eq. (opt_reward) in another
order: bounds are the same to the last bit, rewards up to rounding. A plan costs what was seen; a step takes O(K), as
theta does.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._files import ensure
from equipoise._runtime.compiler import inlined, kernel, move_within
from equipoise._types import Index, Mask
from equipoise.models.outcome_rows import Rows

OTHERS: Final = "outcomes never seen"  # what all that are not listed are called in tables
FIRST_CAPACITY: Final = 2  # of a pair's block
_GROWTH: Final = 4  # a block that doubles until it holds K outcomes takes less than so many times K places on the way

_Tuple = TypeVar("_Tuple", bound=tuple[Any, ...])

POOL: Final = np.dtype(
    [
        ("used", np.int64),  # the end of the used part of the pool
        ("outcomes", np.int64),  # K
    ]
)


class NonzeroSums(NamedTuple):
    """Sums of outcomes and of their squares, of those that were ever other than zero."""

    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_capacity: NDArray[np.int64]
    pool_outcome: NDArray[np.int64]
    pool_sum: NDArray[np.float64]
    pool_square: NDArray[np.float64]
    pool: NDArray[np.void]

    @property
    def spare(self) -> int:
        """Places that a larger pool has in addition to twice those of the old one."""
        return _GROWTH * int(self.pool["outcomes"][0])


class NonzeroBounds(NamedTuple):
    """Bounds on mean outcomes: of those that are listed, at their places in the pool, and of all others of a pair."""

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    rest_lo: NDArray[np.float64]
    rest_hi: NDArray[np.float64]


def list_arrays(parts: Iterable[Any] | None) -> list[NDArray[Any]]:
    """The arrays of a tuple, without what other tuples within it hold; of None, none."""
    return [part for part in parts or () if isinstance(part, np.ndarray)]


def copy_arrays(parts: _Tuple) -> _Tuple:
    """The same NamedTuple of arrays, each in memory of its own, and those of tuples within it."""
    inside: Any = parts
    same: _Tuple = inside._make(
        part if part is None else np.array(part) if isinstance(part, np.ndarray) else copy_arrays(part)
        for part in inside
    )
    return same


def empty_sums(n_pairs: int, n_outcomes: int, told: Rows | None = None) -> NonzeroSums:
    """Nothing seen yet; the means that are told, one row per pair, are there from the beginning."""
    means: Any = csr_array((n_pairs, n_outcomes)) if told is None else csr_array(told)
    size = means.nnz + FIRST_CAPACITY * n_pairs + _GROWTH * n_outcomes
    sums = NonzeroSums(
        block_first=np.array(means.indptr[:-1], dtype=np.int64),
        block_used=np.diff(means.indptr).astype(np.int64),
        block_capacity=np.diff(means.indptr).astype(np.int64),
        pool_outcome=np.zeros(size, dtype=np.int64),
        pool_sum=np.zeros(size),
        pool_square=np.zeros(size),
        pool=np.array([(means.nnz, n_outcomes)], dtype=POOL),
    )
    sums.pool_outcome[: means.nnz] = means.indices
    sums.pool_sum[: means.nnz] = means.data
    return sums


def empty_bounds(sums: NonzeroSums) -> NonzeroBounds:
    """Room for the bounds of these sums, to be filled."""
    size, n_pairs = sums.pool_outcome.size, sums.block_first.size
    return NonzeroBounds(np.zeros(size), np.zeros(size), np.zeros(n_pairs), np.zeros(n_pairs))


def extend_pool(counts: _Tuple) -> _Tuple:
    """The same `Counts` or `NonzeroSums` in a pool of at least twice the size."""
    inside: Any = counts
    pools = {name: part for name, part in inside._asdict().items() if name.startswith("pool_")}
    extended: _Tuple = inside._replace(
        **{name: _longer(part, 2 * part.size + inside.spare) for name, part in pools.items()}
    )
    return extended


def extend_bounds(bounds: NonzeroBounds, sums: NonzeroSums) -> NonzeroBounds:
    """The same bounds, with a place for every place of a pool that was extended."""
    size = sums.pool_outcome.size
    return bounds._replace(lo=_longer(bounds.lo, size), hi=_longer(bounds.hi, size))


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def check_sums(sums: NonzeroSums, fresh: NonzeroSums, known: Mask, visits: Index) -> None:
    """Refuse sums out of a file that cannot have come about: kernels follow their indices unchecked."""
    names = "memory.outcomes"
    used, K, size = int(sums.pool["used"][0]), int(fresh.pool["outcomes"][0]), sums.pool_outcome.size
    blocks = (sums.block_first, sums.block_used, sums.block_capacity)
    kept = int(fresh.pool["used"][0])
    ensure(sums.pool["outcomes"][0] == K, f"the array '{names}.pool' is of another number of outcomes than {K}")
    ensure(
        fresh.pool_outcome.size <= size == sums.pool_sum.size == sums.pool_square.size,
        f"the arrays '{names}.pool_outcome', pool_sum and pool_square differ in length, or are shorter than new ones",
    )
    check_blocks(*blocks, used, size, names)
    for name, part, first in zip(("block_first", "block_used", "block_capacity"), blocks, fresh, strict=False):
        ensure(np.array_equal(part[known], first[known]), f"the array '{names}.{name}' moves outcomes that are told")
    for name in ("pool_outcome", "pool_sum", "pool_square"):
        told = np.array_equal(getattr(sums, name)[:kept], getattr(fresh, name)[:kept])
        ensure(told, f"the array '{names}.{name}' changes outcomes that are told")
    ensure(np.all(sums.block_capacity <= K), f"the array '{names}.block_capacity' has more places than outcomes")
    pair, place = listed_places(sums, np.flatnonzero(~known))
    most, order = visits[~known][pair], sums.pool_outcome[place]
    inside = pair[1:] == pair[:-1]
    ensure(
        np.all((order >= 0) & (order < K)) and np.all(order[1:][inside] > order[:-1][inside]),
        f"the array '{names}.pool_outcome' must list outcomes from 0 to {K - 1}, in increasing order within a block",
    )
    total, square = sums.pool_sum[place], sums.pool_square[place]
    ensure(
        np.all((total > 0.0) & (total <= most)) and np.all((square >= 0.0) & (square <= total)),
        f"the arrays '{names}.pool_sum' and '{names}.pool_square' are not sums of so many outcomes in [0, 1]",
    )


def check_blocks(begin: Index, taken: Index, room: Index, used: int, size: int, names: str) -> None:
    """Refuse blocks that do not lie in the used part of their pool, apart from each other; no sum can wrap around."""
    ensure(0 <= used <= size, f"the array '{names}.pool' uses {used} places of {size}")
    ensure(np.all((room >= 0) & (room <= used)), f"the array '{names}.block_capacity' has blocks outside of the pool")
    ensure(np.all((taken >= 0) & (taken <= room)), f"the array '{names}.block_used' does not fit into the blocks")
    ensure(np.all((begin >= 0) & (begin <= used - room)), f"the array '{names}.block_first' points out of the pool")
    order = np.argsort(begin[room > 0])
    first, end = begin[room > 0][order], (begin + room)[room > 0][order]
    ensure(np.all(end[:-1] <= first[1:]), f"the array '{names}.block_first' has blocks that share a place")


def listed_places(sums: NonzeroSums, pairs: Index) -> tuple[Index, Index]:
    """The listed outcomes of some pairs."""
    return block_places(sums.block_first, sums.block_used, pairs)


def block_places(begin: Index, taken: Index, pairs: Index) -> tuple[Index, Index]:
    """The same for any blocks that begin and are taken so."""
    taken = taken[pairs]
    row = np.repeat(np.arange(pairs.size), taken)
    within = np.arange(row.size) - np.repeat(np.cumsum(taken) - taken, taken)
    return row, begin[pairs][row] + within


@inlined
def outcomes_are_full(sums):
    """Whether the pool might not take all that one step can list; never, where nothing is listed."""
    if sums is None:
        return False
    else:  # noqa: RET505 - numba leaves out one branch by the type of `sums`
        pool = sums.pool[0]
        return pool.used + _GROWTH * pool.outcomes > sums.pool_outcome.shape[0]


@inlined
def add_nonzero(sums, known, pair, outcome):
    """Add the outcomes of a step to the sums of its pair, unless its means are `known`; the pool must not be full."""
    if sums is not None:
        if known[pair]:
            return
        i = sums.block_first[pair]
        end = i + sums.block_used[pair]
        for k in range(outcome.shape[0]):
            x = outcome[k]
            if x != 0.0:
                while i < end and sums.pool_outcome[i] < k:
                    i += 1
                if i == end or sums.pool_outcome[i] != k:
                    i = list_outcome(sums, pair, i, k)
                    end = sums.block_first[pair] + sums.block_used[pair]
                sums.pool_sum[i] += x
                sums.pool_square[i] += x * x


@inlined
def open_block(counts, pair, capacity):
    """Give a pair a larger block at the end of the pool; return where it begins. The caller moves what is listed."""
    begin = counts.pool[0].used
    counts.block_first[pair] = begin
    counts.block_capacity[pair] = capacity
    counts.pool[0].used = begin + capacity
    return begin


@kernel
def list_outcome(sums, pair, place, k):
    """Make room for outcome k at a place of the block of a pair; returns the place, which may have moved."""
    pool = sums.pool[0]
    begin, used = sums.block_first[pair], sums.block_used[pair]
    before = place - begin
    if used == sums.block_capacity[pair]:
        moved = open_block(sums, pair, min(max(FIRST_CAPACITY, 2 * used), pool.outcomes))
        move_within(sums.pool_outcome, moved, begin, used)
        move_within(sums.pool_sum, moved, begin, used)
        move_within(sums.pool_square, moved, begin, used)
        begin = moved
    new = begin + before
    if used > before:
        move_within(sums.pool_outcome, new + 1, new, used - before)
        move_within(sums.pool_sum, new + 1, new, used - before)
        move_within(sums.pool_square, new + 1, new, used - before)
    sums.pool_outcome[new] = k
    sums.pool_sum[new] = 0.0
    sums.pool_square[new] = 0.0
    sums.block_used[pair] = used + 1
    return new
