"""What a confidence is: it turns counts into a `Region`, at the start of every episode.

The planner sees the region and nothing else. To add one, subclass `Confidence`, say how many successors
it lists in all (`room`) and fill the region (`fill`); `Bernstein` and `Known` are the two patterns.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.models.base import Space


class Confidence(abc.ABC):
    """A rule for the regions H^v_m and H^p_m.

    Attributes
    ----------
    relaxation : float
        The planner's relaxation on these regions: 1, the paper's, unless they may be periodic.
    learning : bool
        Whether visits narrow the regions; if not, the doubling of visits ends no episode.
    """

    relaxation: float = 1.0
    learning: bool = True

    @abc.abstractmethod
    def room(self, space: Space, counts: Counts) -> int:
        """How many successors will be listed, over all pairs, at most."""

    @abc.abstractmethod
    def fill(self, space: Space, counts: Counts, tau: int, delta: float, region: Region) -> None:
        """Fill `region` for an episode that starts at time `tau`, at level `delta`."""

    def check(self, space: Space) -> None:  # noqa: B027
        """Raise an error if this confidence is not for that space."""

    @abc.abstractmethod
    def arguments(self) -> Mapping[str, Any]:
        """The constructor's arguments, as plain data or models."""

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.arguments().items())
        return f"{type(self).__name__}({inside})"
