"""Filling a region: the call of a confidence's kernel, from a loop and from Python."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import call_address, inlined, kernel
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import SEEN, Counts
from equipoise.confidence.region import Region, empty_region
from equipoise.errors import ParameterError
from equipoise.models.model import Space


@inlined
def fill(address, tau, delta, n_states, known_mask, known_outcomes, counts, floats, ints, stream, region):
    """Call the kernel at `address`; its arguments are those of `confidence.base.SIGNATURE`."""
    for pair in range(region.radius.shape[0]):
        region.rest_sum[pair] = 1.0
        region.radius[pair] = 0.0
    call_address(
        address,
        (
            tau, delta, n_states, counts.visits.shape[0], counts.sums.shape[1], known_mask, known_outcomes,
            counts.visits, counts.fresh, counts.sums, counts.squares, counts.latest, counts.block_first,
            counts.block_used, counts.pool_state, counts.pool_count, floats, ints, stream, region.first,
            region.successor, region.lo, region.hi, region.rest, region.rest_sum, region.radius, region.v_lo,
            region.v_hi,
        ),
    )  # fmt: skip


@kernel
def _fill_once(address, tau, delta, n_states, known_mask, known_outcomes, counts, floats, ints, stream, region):
    fill(address, tau, delta, n_states, known_mask, known_outcomes, counts, floats, ints, stream, region)


def region_of(confidence: Confidence, space: Space, counts: Counts, tau: int, delta: float) -> Region:
    """The region of an episode that starts at time `tau` with these counts, as a new object.

    A confidence that draws random numbers begins its stream anew.
    """
    room = max(int(counts.end[SEEN]), confidence.listed)
    region = empty_region(space.n_pairs, space.n_outcomes, room)
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
    """The same, in a region that has room for it; random numbers are drawn from `stream`."""
    _fill_once(
        confidence.kernel.address, tau, delta, space.n_states, space.known_mask, space.known_outcomes, counts,
        *numbers_of(confidence), stream, region,
    )  # fmt: skip


def numbers_of(confidence: Confidence) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Its `floats` and `ints`, of the types that a kernel reads through raw pointers."""
    try:
        floats = np.array(confidence.floats, dtype=np.float64, ndmin=1)
        ints = np.array(confidence.ints, ndmin=1)
        return floats, ints.astype(np.int64, casting="safe" if ints.size else "unsafe")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"confidence: {confidence!r}: its floats must be numbers and its ints whole ones ({error})"
        ) from None
