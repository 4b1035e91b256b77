"""What a confidence is: it turns counts into a `Region`, at the start of every episode.

The planner sees the region and nothing else. A confidence is a compiled entry, `kernel`, on raw pointers,
and two vectors of parameters that it reads; `SIGNATURE` lists its arguments in order:

    tau, delta, S, number of pairs, K,
    known_mask, known_outcomes                         what the space tells in advance,
    visits, fresh, sums, squares, latest               the counts; a pair was seen visits + fresh times,
    block_first, block_used, pool_state, pool_count    its successors: `block_used` of them from `block_first`,
    floats, ints                                       the confidence's own parameters,
    stream                                             the state of its random numbers, kept by the agent,
    first, successor, lo, hi, rest, rest_sum, radius, v_lo, v_hi      the region, to be filled.

Matrices come row by row: sums[pair * K + k]. When it is called, rest_sum is one and radius zero for all pairs; a
confidence that has no use for them leaves them so. One that is a rule for single means is best written
as an `Elementwise` one, which needs two numbers of it at a time; `L1`, `Known` and `PosteriorSampling` fill all.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._component import Component
from equipoise.models.model import Space

_INTS: Final = types.CPointer(types.int64)
_FLOATS: Final = types.CPointer(types.float64)
_FLAGS: Final = types.CPointer(types.uint8)
_STREAM: Final = types.CPointer(types.uint64)
SIGNATURE: Final = types.void(
    types.int64, types.float64, types.int64, types.int64, types.int64,
    _FLAGS, _FLOATS,
    _INTS, _INTS, _FLOATS, _FLOATS, _INTS,
    _INTS, _INTS, _INTS, _INTS,
    _FLOATS, _INTS, _STREAM,
    _INTS, _INTS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS,
)  # fmt: skip


def confidence_entry(function: Callable[..., None]) -> Entry:
    """Declare the kernel of a confidence; as a decorator."""
    return Entry(function, signature=SIGNATURE)


class Confidence(Component, abc.ABC):
    """A rule for the regions H^v_m and H^p_m.

    Attributes
    ----------
    guarantee : str
        With what probability, and when, the regions hold the truth.
    caveat : str
        What reports say of an agent with these regions; empty if the guarantee is proven.
    relaxation : float
        The planner's relaxation on these regions: 1, the paper's, unless they may be periodic.
    learning : bool
        Whether visits narrow the regions; if not, the doubling of visits ends no episode.
    """

    guarantee: str
    caveat: str = ""
    relaxation: float = 1.0
    learning: bool = True

    @property
    @abc.abstractmethod
    def kernel(self) -> Entry:
        """The compiled entry that fills a region."""

    @property
    def floats(self) -> NDArray[np.float64]:
        """Parameters that the kernel reads."""
        return np.zeros(1)

    @property
    def ints(self) -> NDArray[np.int64]:
        """Parameters that the kernel reads; addresses may be among them, so they hold for this process only."""
        return np.zeros(1, dtype=np.int64)

    @property
    def listed(self) -> int:
        """How many successors are listed whatever was seen; those seen always have room."""
        return 0

    def first_stream(self) -> NDArray[np.uint64]:
        """The state of its random numbers at the beginning; most confidences draw none."""
        return np.zeros(1, dtype=np.uint64)

    def check(self, space: Space) -> None:
        """Raise an error if this confidence is not for that space."""
