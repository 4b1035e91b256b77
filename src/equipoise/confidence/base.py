"""What a confidence is: it turns counts into a `Region`, at the start of every episode.

The planner sees the region and nothing else. A confidence is a compiled entry, `kernel`, declared by
`confidence_entry`, and two vectors of parameters that it reads; what the kernel is given is described in `frame`.
One that is a rule for single means is best written as an `Elementwise` one, which needs two numbers of it at a time;
`L1`, `Known` and `PosteriorSampling` fill all.
"""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._component import Component
from equipoise.models.model import Space


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
    timeless : bool
        Whether the bounds of a pair depend on its own counts alone, and not on the time. Then those of pairs that were
        not visited since the last plan are kept, and its kernel is asked for the others only: see `frame.Task.anew`.
    scratch : int
        How many numbers its kernel may keep for itself, behind its `floats`; they are zero when a phase begins. The
        first of its floats is then this number where there is such room, and zero where there is none.
    learning : bool
        Whether visits narrow the regions; if not, the doubling of visits ends no episode.
    drawn : bool
        Whether a region is drawn at random, and may be a model in which not all states can be reached.

    See Also
    --------
    equipoise.testing.check_confidence : The contract of a confidence of your own.
    """

    guarantee: str
    caveat: str = ""
    relaxation: float = 1.0
    timeless: bool = False
    scratch: int = 0
    learning: bool = True
    drawn: bool = False

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
        """How many successors are listed whatever was seen; those seen come on top of it."""
        return 0

    def first_stream(self) -> NDArray[np.uint64]:
        """The state of its random numbers at the beginning; most confidences draw none."""
        return np.zeros(1, dtype=np.uint64)

    def check(self, space: Space) -> None:
        """Raise an error if this confidence is not for that space.

        Parameters
        ----------
        space : Space
            What an agent may know of its world.
        """
