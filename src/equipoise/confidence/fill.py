"""Filling a region: the call of a confidence's kernel, from a loop and from Python."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry, call_for_two, inlined, kernel
from equipoise._frames import call_framed, framed
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts, without_nonzero
from equipoise.confidence.frame import ConfidenceFrame, Own, Task, to_be_filled
from equipoise.confidence.law_counts import units_of
from equipoise.confidence.region import Region, empty_region, without_bounds
from equipoise.errors import ContractError, ParameterError
from equipoise.models.model import Space


@inlined
def fill(address, task, counts, region, own):
    """Call the kernel at `address` of a confidence; `rest_sum` is 1 and `radius` 0 unless it sets them.

    Outcomes that are kept apart (`nonzero`) are no part of what it is given, and are bounded by its rule afterwards.
    """
    for pair in range(region.radius.shape[0]):
        if to_be_filled(task, counts, pair):
            region.rest_sum[pair] = 1.0
            region.radius[pair] = 0.0
    frame = ConfidenceFrame(task, without_nonzero(counts), without_bounds(region), own)
    call_framed(address, framed(frame))
    bound_nonzero(counts.nonzero, region.nonzero, task, counts, own)


@inlined
def all_finite(task, counts, region):
    """Whether every bound that was filled is a number; the planner would make a policy of anything."""
    for pair in range(region.radius.shape[0]):
        if not to_be_filled(task, counts, pair):
            continue
        for k in range(region.v_lo.shape[1]):
            if not (abs(region.v_lo[pair, k]) < np.inf and abs(region.v_hi[pair, k]) < np.inf):
                return False
        if not (abs(region.rest[pair]) < np.inf and abs(region.rest_sum[pair]) < np.inf):
            return False
        if not abs(region.radius[pair]) < np.inf:
            return False
        for i in range(region.first[pair], region.first[pair + 1]):
            if not (abs(region.lo[i]) < np.inf and abs(region.hi[i]) < np.inf):
                return False
    return nonzero_finite(counts.nonzero, region.nonzero, task, counts)


@inlined
def bound_nonzero(sums, bounds, task, counts, own):
    """Bound the mean outcomes of all pairs that are to be filled, by the rule for one mean of an `Elementwise`."""
    if sums is not None:
        interval, floats = own.ints[0], own.floats
        means = float(sums.pool[0].outcomes) * float(task.n_pairs)
        any_value = np.int64(0)
        for pair in range(task.n_pairs):
            if not to_be_filled(task, counts, pair):
                continue
            begin = sums.block_first[pair]
            if task.known_mask[pair]:  # the means stand in the place of the sums, and all others are zero
                bounds.rest_lo[pair], bounds.rest_hi[pair] = 0.0, 0.0
                for i in range(begin, begin + sums.block_used[pair]):
                    bounds.lo[i], bounds.hi[i] = sums.pool_sum[i], sums.pool_sum[i]
                continue
            n = float(counts.visits[pair] + counts.fresh[pair])
            rest = (0.0, 1.0)
            if n > 0.0:
                rest = call_for_two(interval, (task.tau, task.delta, means, any_value, n, 0.0, 0.0, floats))
            bounds.rest_lo[pair], bounds.rest_hi[pair] = rest
            for i in range(begin, begin + sums.block_used[pair]):
                total, squares = sums.pool_sum[i], sums.pool_square[i]
                found = call_for_two(interval, (task.tau, task.delta, means, any_value, n, total, squares, floats))
                bounds.lo[i], bounds.hi[i] = found


@inlined
def nonzero_finite(sums, bounds, task, counts):
    """Whether every bound that was filled is a number."""
    if sums is not None:
        for pair in range(task.n_pairs):
            if to_be_filled(task, counts, pair):
                if not (abs(bounds.rest_lo[pair]) < np.inf and abs(bounds.rest_hi[pair]) < np.inf):
                    return False
                begin = sums.block_first[pair]
                for i in range(begin, begin + sums.block_used[pair]):
                    if not (abs(bounds.lo[i]) < np.inf and abs(bounds.hi[i]) < np.inf):
                        return False
    return True


@kernel
def _fill_once(address, task, counts, region, own):
    fill(address, task, counts, region, own)


def region_of(confidence: Confidence, space: Space, counts: Counts, tau: int, delta: float) -> Region:
    """The region of an episode that starts at time `tau` with these counts, as a new object.

    A confidence that draws random numbers begins its stream anew.
    """
    units = units_of(space, counts.nonzero is not None)
    region = empty_region(units.n_units, units.n_outcomes, max(counts.seen, confidence.listed), counts.nonzero)
    fill_region(confidence, space, counts, tau, delta, confidence.first_stream(), region)
    return region


def fill_region(
    confidence: Confidence,
    space: Space,
    counts: Counts,
    tau: int,
    delta: float,
    stream: NDArray[np.uint64],
    region: Region,
) -> None:
    """The same, in a region that is large enough for it; random numbers are drawn from `stream`."""
    units = units_of(space, counts.nonzero is not None)
    task = Task(
        tau=int(tau),
        delta=float(delta),
        anew=True,
        n_states=units.n_values,
        n_pairs=units.n_units,
        n_outcomes=units.n_outcomes,
        known_mask=units.known_mask,
        known_outcomes=units.known_outcomes,
    )
    _fill_once(kernel_address(confidence), task, counts, region, Own(*numbers_of(confidence), stream))


def kernel_address(confidence: Confidence) -> int:
    """The address of its kernel, which must be one that takes the frame of confidences: compiled code checks nothing.

    Parameters
    ----------
    confidence : Confidence
        Whose.
    """
    entry: object = confidence.kernel
    if not isinstance(entry, Entry) or not entry.takes(ConfidenceFrame):
        raise ContractError(
            f"confidence: the kernel of {confidence!r} is {entry!r}; an entry declared by @confidence_entry is needed"
        )
    return entry.address


def numbers_of(confidence: Confidence) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Its `floats`, with its scratch behind them, and its `ints`, of the types that a kernel reads by raw pointers."""
    try:
        given = np.array(confidence.floats, dtype=np.float64, ndmin=1)
        floats = np.zeros(given.size + int(confidence.scratch))  # what is never written takes no memory
        floats[: given.size] = given
        if confidence.scratch:
            floats[0] = confidence.scratch
        ints = np.array(confidence.ints, ndmin=1)
        return floats, ints.astype(np.int64, casting="safe" if ints.size else "unsafe")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"confidence: {confidence!r}: its floats must be numbers and its ints whole ones ({error})"
        ) from None
