r"""Any learning confidence with its regions shrunk towards the estimates by a factor.

A bound x of a mean whose estimate is m becomes m + factor (x - m), and the bounds on what was never seen and the
radius of a ball are multiplied by the factor; pairs never visited stay as they are. Smaller regions learn faster and
may exclude the true model: what is proven of the regions is not proven of these.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_float
from equipoise._runtime.compiler import Entry
from equipoise._runtime.frames import call_framed, framed
from equipoise.confidence.base import (
    Confidence,
    ConfidenceFrame,
    Own,
    confidence_entry,
    kernel_address,
    needs_filling,
    opened,
)
from equipoise.errors import ParameterError
from equipoise.models.model import Space


@confidence_entry
def _fill(frame):  # type: ignore[no-untyped-def]
    task, counts, region, own = opened(frame)
    factor = own.floats[0]
    of_other = Own(own.floats[1:], own.ints[1:], own.stream)
    call_framed(own.ints[0], framed(ConfidenceFrame(task, counts, region, of_other)))
    for pair in range(task.n_pairs):
        if not needs_filling(task, counts, pair):
            continue
        n = float(counts.visits[pair] + counts.fresh[pair])
        if n <= 0.0:
            continue
        if not task.known_mask[pair]:
            for k in range(task.n_outcomes):
                mean = counts.sums[pair, k] / n
                region.v_lo[pair, k] = mean + factor * (region.v_lo[pair, k] - mean)
                region.v_hi[pair, k] = mean + factor * (region.v_hi[pair, k] - mean)
        region.radius[pair] *= factor
        if region.radius[pair] > 0.0:
            continue
        begin = region.first[pair]
        block = counts.block_first[pair]
        used = counts.block_used[pair]
        for i in range(begin, region.first[pair + 1]):
            mean = 0.0
            place = block + i - begin  # most list successors in the order in which they were seen
            if i - begin < used and counts.pool_state[place] == region.successor[i]:
                mean = counts.pool_count[place] / n
            else:
                for j in range(block, block + used):
                    if counts.pool_state[j] == region.successor[i]:
                        mean = counts.pool_count[j] / n
            region.lo[i] = mean + factor * (region.lo[i] - mean)
            region.hi[i] = mean + factor * (region.hi[i] - mean)
        region.rest[pair] *= factor
        region.rest_sum[pair] *= factor


@final
class Scaled(Confidence):
    """The regions of another confidence, shrunk towards the estimates.

    Parameters
    ----------
    confidence : Confidence
        Any that learns, and lists what was seen.
    factor : float
        In (0, 1]; 1 changes nothing.

    See Also
    --------
    equipoise.confidence.PosteriorSampling : Faster learning without a proof, too.

    Examples
    --------
    >>> from equipoise.confidence import Bernstein
    >>> Scaled(Bernstein(), 0.1).caveat
    'not covered by the guarantee'
    """

    guarantee = "none: the regions are smaller than what was proven"
    caveat = "not covered by the guarantee"

    def __init__(self, confidence: Confidence, factor: float) -> None:
        if not isinstance(confidence, Confidence) or not confidence.learning:
            raise ParameterError(f"confidence: got {confidence!r}; one with regions that visits narrow is needed")
        self.confidence = confidence
        self.factor = check_float(factor, "factor", error=ParameterError)
        if not 0 < self.factor <= 1:
            raise ParameterError(f"factor: got {factor}; it must lie in (0, 1]")
        self.timeless = bool(confidence.timeless)
        self.relaxation = min(0.9, confidence.relaxation)  # smaller regions are sooner all but periodic

    @property
    def kernel(self) -> Entry:
        """The other's, and then the scaling."""
        return _fill

    @property
    def floats(self) -> NDArray[np.float64]:
        """The factor, and the other's."""
        return np.append(self.factor, self.confidence.floats)

    @property
    def ints(self) -> NDArray[np.int64]:
        """The address of the other's kernel, and its own."""
        return np.append(kernel_address(self.confidence), self.confidence.ints)

    @property
    def listed(self) -> int:
        """As the other's."""
        return self.confidence.listed

    def first_stream(self) -> NDArray[np.uint64]:
        """The other's."""
        return self.confidence.first_stream()

    def check(self, space: Space) -> None:
        """The other must be for that space."""
        self.confidence.check(space)
