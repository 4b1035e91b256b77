"""The shape of every confidence region: what a confidence fills in and all that the planner sees.

For a state-action pair, a region says

    v_lo[k] <= mean outcome k <= v_hi[k]                     for each of the K outcomes,
    lo[i]   <= probability of successor[i] <= hi[i]          for each successor listed,
    0       <= probability of s' <= rest                     for every state s' that is not listed,
               their probabilities together <= rest_sum      (1 if nothing is said about it),

together with probabilities summing to one. The successors of `pair` are listed at positions
first[pair] to first[pair + 1]. Listing only what was seen is what keeps the planner sparse: every successor
never seen has the same interval.

With a `radius` above zero the transitions of the pair are a ball instead: all distributions p with
|p - lo|_1 <= radius, where lo is zero for what is not listed. Then hi, rest and rest_sum say nothing.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import inlined, move_within
from equipoise.confidence.nonzero import NonzeroBounds, NonzeroSums, empty_bounds


class Region(NamedTuple):
    """Bounds on transitions and mean outcomes, for all pairs.

    The module's text says how they are to be read.

    Attributes
    ----------
    first : int array, one entry per pair and one more
        Where the successors of a pair begin.
    successor : int array
        The states that are listed.
    lo, hi : float arrays
        Bounds on the probability of each that is listed; with a radius, `lo` is the centre of the ball.
    rest : float array, one entry per pair
        A bound on the probability of any one state that is not listed.
    rest_sum : float array, one entry per pair
        A bound on the probability of all of them together.
    radius : float array, one entry per pair
        Of the ball in the 1-norm, where that is the region; 0 where it is the box.
    v_lo, v_hi : float arrays, one row per pair
        Bounds on the mean outcomes.
    nonzero : NonzeroBounds or None
        The same where outcomes are nearly all zero; then the two before have no columns. See `nonzero`.

    Examples
    --------
    One pair in a world of three states: state 1 follows with probability 0.5 to 0.7, any other with at most 0.4.

    >>> import numpy as np
    >>> region = Region(
    ...     first=np.array([0, 1]), successor=np.array([1]), lo=np.array([0.5]), hi=np.array([0.7]),
    ...     rest=np.array([0.4]), rest_sum=np.ones(1), radius=np.zeros(1),
    ...     v_lo=np.zeros((1, 2)), v_hi=np.ones((1, 2)),
    ... )
    >>> region.successor[region.first[0] : region.first[1]].tolist()
    [1]
    """

    first: NDArray[np.int64]
    successor: NDArray[np.int64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    rest: NDArray[np.float64]
    rest_sum: NDArray[np.float64]
    radius: NDArray[np.float64]
    v_lo: NDArray[np.float64]
    v_hi: NDArray[np.float64]
    nonzero: NonzeroBounds | None = None


def empty_region(n_pairs: int, n_outcomes: int, capacity: int, nonzero: NonzeroSums | None = None) -> Region:
    """A region that can list `capacity` successors in all, to be filled; and the outcomes that were `nonzero`."""
    return Region(
        first=np.zeros(n_pairs + 1, dtype=np.int64),
        successor=np.zeros(capacity, dtype=np.int64),
        lo=np.zeros(capacity),
        hi=np.zeros(capacity),
        rest=np.zeros(n_pairs),
        rest_sum=np.ones(n_pairs),
        radius=np.zeros(n_pairs),
        v_lo=np.zeros((n_pairs, n_outcomes)),
        v_hi=np.zeros((n_pairs, n_outcomes)),
        nonzero=None if nonzero is None else empty_bounds(nonzero),
    )


@inlined
def without_bounds(region):
    """The same region as a confidence is given it: of one type, whether outcomes are kept apart or not."""
    return Region(
        region.first, region.successor, region.lo, region.hi, region.rest, region.rest_sum, region.radius,
        region.v_lo, region.v_hi, None,
    )  # fmt: skip


@inlined
def lay_out(task, counts, region):
    """Give each pair room for the successors that were seen of it, in the order of the pairs."""
    if task.anew:
        listed = 0
        region.first[0] = 0
        for pair in range(task.n_pairs):
            listed += counts.block_used[pair]
            region.first[pair + 1] = listed
        return
    end = counts.pool[0].seen
    top = region.first[task.n_pairs]  # what is listed from the last pair looked at up to here moves by `shift`
    shift = end - top
    for pair in range(task.n_pairs - 1, -1, -1):
        old_end = region.first[pair + 1]
        if end == old_end:
            _move_up(region, old_end, top, shift)
            return  # nothing new up to here
        region.first[pair + 1] = end
        end -= counts.block_used[pair]
        if end - region.first[pair] != shift:  # something new of this one
            _move_up(region, old_end, top, shift)
            top, shift = old_end, end - region.first[pair]
    _move_up(region, region.first[0], top, shift)


@inlined
def _move_up(region, begin, end, shift):
    """Move what is listed from `begin` to `end`."""
    if end > begin:
        move_within(region.successor, begin + shift, begin, end - begin)
        move_within(region.lo, begin + shift, begin, end - begin)
        move_within(region.hi, begin + shift, begin, end - begin)
