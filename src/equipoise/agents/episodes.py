"""The record of episodes: when each began, what ended it, and what its plan promised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from equipoise.agents._kernels import BY_GRADIENT, BY_VISITS

if TYPE_CHECKING:
    import polars

OPEN: Final = 0
BY_RESTART: Final = 4
TRIGGERS: Final = {
    OPEN: "open",
    BY_GRADIENT: "gradient",
    BY_VISITS: "visits",
    BY_GRADIENT | BY_VISITS: "both",
    BY_RESTART: "restart",
}


@dataclass
class Episodes:
    """One entry an episode: tau(m), what ended it, gain, span of the bias, sweeps of the planner."""

    start: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    span: list[float] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)

    def begin(self, start: int, gain: float, span: float, sweeps: int) -> None:
        """Add an episode that is still open."""
        self.start.append(start)
        self.ended.append(OPEN)
        self.gain.append(gain)
        self.span.append(span)
        self.sweeps.append(sweeps)

    def frame(self, now: int) -> polars.DataFrame:
        """As a table, with the lengths up to time `now`; the last episode's trigger is "open"."""
        import polars

        start = np.array(self.start, dtype=np.int64)
        return polars.DataFrame(
            {
                "start": start,
                "length": np.diff(np.append(start, now)),
                "trigger": [TRIGGERS[code] for code in self.ended],
                "gain": np.array(self.gain, dtype=np.float64),
                "span": np.array(self.span, dtype=np.float64),
                "sweeps": np.array(self.sweeps, dtype=np.int64),
            },
            schema_overrides={"trigger": polars.Categorical},
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """As arrays, for a checkpoint."""
        return {
            "start": np.array(self.start, dtype=np.int64),
            "ended": np.array(self.ended, dtype=np.int64),
            "gain": np.array(self.gain, dtype=np.float64),
            "span": np.array(self.span, dtype=np.float64),
            "sweeps": np.array(self.sweeps, dtype=np.int64),
        }
