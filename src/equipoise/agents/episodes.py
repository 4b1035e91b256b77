"""The record of episodes: when each began, what ended it, and what its plan promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

# What ended an episode. Psi > Q and the doubling of visits may both hold; a restart is the oracle's.
OPEN: Final = 0
BY_GRADIENT: Final = 1
BY_VISITS: Final = 2
BY_RESTART: Final = 4
TRIGGERS: Final = {
    OPEN: "open",
    BY_GRADIENT: "gradient",
    BY_VISITS: "visits",
    BY_GRADIENT | BY_VISITS: "both",
    BY_RESTART: "restart",
}


class Episodes(NamedTuple):
    """One entry per episode: tau(m), what ended it, gain, span of the bias, sweeps of the planner."""

    start: NDArray[np.int64]
    ended: NDArray[np.int64]
    gain: NDArray[np.float64]
    span: NDArray[np.float64]
    sweeps: NDArray[np.int64]

    def first(self, count: int) -> Episodes:
        """A copy of the first `count` entries."""
        return Episodes._make(column[:count].copy() for column in self)

    def enlarge(self) -> Episodes:
        """The same record in arrays for at least twice as many."""
        more = max(64, self.start.size)
        return Episodes._make(np.concatenate([column, np.zeros(more, column.dtype)]) for column in self)

    def triggers(self) -> list[str]:
        """What ended each: "gradient", "visits", "both", "restart", and "open" for the present one."""
        return [TRIGGERS[code] for code in self.ended.tolist()]

    def frame(self, now: int) -> polars.DataFrame:
        """As a table, with the lengths up to time `now`."""
        import polars

        return polars.DataFrame(
            {
                "start": self.start,
                "length": np.diff(np.append(self.start, now)),
                "trigger": self.triggers(),
                "gain": self.gain,
                "span": self.span,
                "sweeps": self.sweeps,
            },
            schema_overrides={"trigger": polars.Categorical},
        )


def empty_episodes(capacity: int = 64) -> Episodes:
    """An empty record, in arrays of that capacity."""
    whole = np.zeros(capacity, dtype=np.int64)
    return Episodes(whole, whole.copy(), np.zeros(capacity), np.zeros(capacity), whole.copy())
