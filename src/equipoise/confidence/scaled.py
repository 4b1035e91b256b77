r"""Any learning confidence with its regions shrunk towards the estimates by a factor.

A bound x of a mean whose estimate is m becomes m + factor (x - m), and the bounds on what was never seen and the
radius of a ball are multiplied by the factor; pairs never visited stay as they are. Smaller regions learn faster and
may miss the truth: whatever was proven of the regions is not proven of these.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numba import carray
from numpy.typing import NDArray

from equipoise._compile import Entry, call_address
from equipoise._numbers import real
from equipoise.confidence.base import Confidence, confidence_entry
from equipoise.errors import ParameterError
from equipoise.models.model import Space


@confidence_entry
def _fill(  # type: ignore[no-untyped-def]
    tau, delta, n_states, n_pairs, n_outcomes, known_mask, known_outcomes, visits, fresh, sums, squares, latest,
    block_first, block_used, pool_state, pool_count, floats, ints, stream,
    first, successor, lo, hi, rest, rest_sum, radius, v_lo, v_hi,
):  # fmt: skip
    factor = floats[0]
    call_address(
        ints[0],
        (
            tau, delta, n_states, n_pairs, n_outcomes, known_mask, known_outcomes, visits, fresh, sums, squares, latest,
            block_first, block_used, pool_state, pool_count, carray(floats, 2)[1:], carray(ints, 2)[1:], stream,
            first, successor, lo, hi, rest, rest_sum, radius, v_lo, v_hi,
        ),
    )  # fmt: skip
    for pair in range(n_pairs):
        n = float(visits[pair] + fresh[pair])
        if n <= 0.0:
            continue
        if known_mask[pair] == 0:
            for k in range(pair * n_outcomes, (pair + 1) * n_outcomes):
                mean = sums[k] / n
                v_lo[k] = mean + factor * (v_lo[k] - mean)
                v_hi[k] = mean + factor * (v_hi[k] - mean)
        radius[pair] *= factor
        if radius[pair] > 0.0:
            continue
        for i in range(first[pair], first[pair + 1]):
            mean = 0.0
            place = block_first[pair] + i - first[pair]  # most list successors in the order in which they were seen
            if i - first[pair] < block_used[pair] and pool_state[place] == successor[i]:
                mean = pool_count[place] / n
            else:
                for j in range(block_first[pair], block_first[pair] + block_used[pair]):
                    if pool_state[j] == successor[i]:
                        mean = pool_count[j] / n
            lo[i] = mean + factor * (lo[i] - mean)
            hi[i] = mean + factor * (hi[i] - mean)
        rest[pair] *= factor
        rest_sum[pair] *= factor


@final
class Scaled(Confidence):
    """The regions of another confidence, shrunk towards the estimates.

    Parameters
    ----------
    confidence : Confidence
        Any that learns, and lists what was seen.
    factor : float
        In (0, 1]; 1 changes nothing.

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
        self.factor = real(factor, "factor", error=ParameterError)
        if not 0 < self.factor <= 1:
            raise ParameterError(f"factor: got {factor}; it must lie in (0, 1]")
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
        return np.append(self.confidence.kernel.address, self.confidence.ints)

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
