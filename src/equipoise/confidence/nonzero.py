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

from equipoise._compile import inlined, kernel, move_within
from equipoise._types import Index, Mask
from equipoise.models.rows import Rows

OTHERS: Final = "outcomes never seen"  # what all that are not listed are called in tables
_FIRST_CAPACITY: Final = 2  # of a pair's block
_GROWTH: Final = 4  # a block that doubles until it holds K outcomes takes less than so many times K places on the way

_Tuple = TypeVar("_Tuple", bound=tuple[Any, ...])

POOL: Final = np.dtype(
    [
        ("used", np.int64),  # the end of the used part of the pool
        ("outcomes", np.int64),  # K
    ]
)


class NonzeroSums(NamedTuple):
    """Sums of outcomes and of their squares, of those that were ever other than zero.

    Those of a pair are outcome[i], with sum[i] and square[i], for the `block_used` places i from `block_first` on. Of a
    pair whose means are told nothing is counted, and the means stand in the place of the sums.

    Attributes
    ----------
    block_first, block_used, block_capacity : int arrays, one entry a pair
        Where the block of a pair begins, how many of its places are taken, and how many it has.
    pool_outcome : int array
        The outcomes that are listed, increasing within a block.
    pool_sum, pool_square : float arrays
        Their sums, and those of their squares.
    pool : record
        Of the type `POOL`.
    """

    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_capacity: NDArray[np.int64]
    pool_outcome: NDArray[np.int64]
    pool_sum: NDArray[np.float64]
    pool_square: NDArray[np.float64]
    pool: NDArray[np.void]


class NonzeroBounds(NamedTuple):
    """Bounds on mean outcomes: of those that are listed, at their places in the pool, and of all others of a pair.

    Attributes
    ----------
    lo, hi : float arrays
        One entry a place of the pool.
    rest_lo, rest_hi : float arrays, one entry a pair
        Of every outcome that is not listed.
    """

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    rest_lo: NDArray[np.float64]
    rest_hi: NDArray[np.float64]


def arrays_of(parts: Iterable[Any] | None) -> list[NDArray[Any]]:
    """The arrays of a tuple, without what other tuples within it hold; of None, none."""
    return [part for part in parts or () if isinstance(part, np.ndarray)]


def copied(parts: _Tuple) -> _Tuple:
    """The same NamedTuple of arrays, each in memory of its own, and those of tuples within it.

    >>> copied(no_sums(2, 3)).block_first.tolist()
    [0, 0]
    """
    inside: Any = parts
    same: _Tuple = inside._make(
        part if part is None else np.array(part) if isinstance(part, np.ndarray) else copied(part) for part in inside
    )
    return same


def no_sums(n_pairs: int, n_outcomes: int, told: Rows | None = None) -> NonzeroSums:
    """Nothing seen yet; the means that are told, one row a pair, are there from the beginning.

    >>> sums = no_sums(2, 3, np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]))
    >>> sums.block_used.tolist(), sums.pool_outcome[0].item(), sums.pool_sum[0].item()
    ([0, 1], 1, 0.5)
    """
    means: Any = csr_array((n_pairs, n_outcomes)) if told is None else csr_array(told)
    size = means.nnz + _FIRST_CAPACITY * n_pairs + _GROWTH * n_outcomes
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


def no_bounds(sums: NonzeroSums) -> NonzeroBounds:
    """Room for the bounds of these sums, to be filled."""
    size, n_pairs = sums.pool_outcome.size, sums.block_first.size
    return NonzeroBounds(np.zeros(size), np.zeros(size), np.zeros(n_pairs), np.zeros(n_pairs))


def more_room(sums: NonzeroSums) -> NonzeroSums:
    """The same sums in a pool of at least twice the size."""
    size = 2 * sums.pool_outcome.size + _GROWTH * int(sums.pool["outcomes"][0])
    return sums._replace(
        pool_outcome=_longer(sums.pool_outcome, size),
        pool_sum=_longer(sums.pool_sum, size),
        pool_square=_longer(sums.pool_square, size),
    )


def more_bounds(bounds: NonzeroBounds, sums: NonzeroSums) -> NonzeroBounds:
    """The same bounds, with a place for every place of a pool that was made larger."""
    size = sums.pool_outcome.size
    return bounds._replace(lo=_longer(bounds.lo, size), hi=_longer(bounds.hi, size))


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def sums_fit(sums: NonzeroSums, fresh: NonzeroSums, known: Mask, visits: Index) -> bool:
    """Whether sums out of a file are such as can have come about: kernels follow their indices unchecked.

    Parameters
    ----------
    sums, fresh : NonzeroSums
        Those of a file, and those of an agent that has seen nothing.
    known : bool array
        Of which pairs the means are told.
    visits : int array
        Of each pair.
    """
    used, K = int(sums.pool["used"][0]), int(fresh.pool["outcomes"][0])
    begin, taken, room = sums.block_first, sums.block_used, sums.block_capacity
    told = (begin[known], taken[known], room[known])
    given = (fresh.block_first[known], fresh.block_used[known], fresh.block_capacity[known])
    kept = int(fresh.pool["used"][0])
    sound = (
        sums.pool["outcomes"][0] == K
        and all(np.array_equal(one, two) for one, two in zip(told, given, strict=True))
        and all(np.array_equal(part[:kept], first[:kept]) for part, first in zip(sums[3:6], fresh[3:6], strict=True))
        and fresh.pool_outcome.size <= sums.pool_outcome.size == sums.pool_sum.size == sums.pool_square.size
        and 0 <= used <= sums.pool_outcome.size
        and np.all((begin >= 0) & (taken >= 0) & (taken <= room) & (room <= K) & (begin <= used - room))
        and _lie_apart(begin, room)
        and np.all((sums.pool_outcome >= 0) & (sums.pool_outcome < K))
    )
    if not sound:
        return False
    pair, place = listed_places(sums, np.flatnonzero(~known))
    most, order = visits[~known][pair], sums.pool_outcome[place]
    inside = pair[1:] == pair[:-1]
    return bool(
        np.all(order[1:][inside] > order[:-1][inside])
        and np.all((sums.pool_sum[place] > 0.0) & (sums.pool_sum[place] <= most))
        and np.all((sums.pool_square[place] >= 0.0) & (sums.pool_square[place] <= most))
    )


def _lie_apart(begin: Index, room: Index) -> bool:
    """Whether no two blocks share a place; those without room have none."""
    order = np.argsort(begin[room > 0])
    begin, end = begin[room > 0][order], (begin + room)[room > 0][order]
    return bool(np.all(end[:-1] <= begin[1:]))


def listed_places(sums: NonzeroSums, pairs: Index) -> tuple[Index, Index]:
    """The listed outcomes of some pairs: of which of them each is, by its place in `pairs`, and its place in the pool.

    >>> sums = no_sums(3, 4)
    >>> sums.block_first[:], sums.block_used[:] = [0, 2, 4], [1, 0, 2]
    >>> [part.tolist() for part in listed_places(sums, np.array([0, 2]))]
    [[0, 1, 1], [0, 4, 5]]
    """
    taken = sums.block_used[pairs]
    row = np.repeat(np.arange(pairs.size), taken)
    within = np.arange(row.size) - np.repeat(np.cumsum(taken) - taken, taken)
    return row, sums.block_first[pairs][row] + within


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


@kernel
def list_outcome(sums, pair, place, k):
    """Make room for outcome k at a place of the block of a pair; returns the place, which may have moved."""
    pool = sums.pool[0]
    begin, used = sums.block_first[pair], sums.block_used[pair]
    before = place - begin
    if used == sums.block_capacity[pair]:
        moved = pool.used
        for i in range(used):
            sums.pool_outcome[moved + i] = sums.pool_outcome[begin + i]
            sums.pool_sum[moved + i] = sums.pool_sum[begin + i]
            sums.pool_square[moved + i] = sums.pool_square[begin + i]
        capacity = min(max(_FIRST_CAPACITY, 2 * used), pool.outcomes)
        sums.block_first[pair] = moved
        sums.block_capacity[pair] = capacity
        pool.used = moved + capacity
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
