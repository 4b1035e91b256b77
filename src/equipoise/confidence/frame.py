"""What the kernel of a confidence is given: a `ConfidenceFrame`, by one pointer.

    @confidence_entry
    def _fill(frame):
        task, counts, region, own = opened(frame)
        for pair in range(task.n_pairs):
            visits = counts.visits[pair] + counts.fresh[pair]
            ...
            region.v_lo[pair, k] = ...

`Task` and `Own` are here; the fields of `Counts` and `Region` are described in their own files. The kernel reads all
and writes the region, and nothing else but the state of its random numbers, `own.stream`. When it is called,
`region.rest_sum` is one and `region.radius` zero for all pairs that are to be filled; a confidence that has no use for
them leaves them so. All pairs are to be filled, unless it is `timeless`: see `to_be_filled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry, inlined
from equipoise._frames import opened
from equipoise.confidence.counts import Counts, no_counts
from equipoise.confidence.region import Region, empty_region

__all__ = ["ConfidenceFrame", "Own", "Task", "confidence_entry", "opened", "to_be_filled"]


class Task(NamedTuple):
    """For which problem, and when, a region is needed.

    Attributes
    ----------
    tau : int
        The time at which the episode starts.
    delta : float
        The level of all regions together.
    anew : bool
        Whether all pairs are to be filled. If not, what the region holds of those with ``counts.fresh == 0`` is right:
        nothing was seen of them since it was filled. Only a confidence that is `timeless` is ever asked so.
    n_states, n_pairs, n_outcomes : int
        S, SA and K.
    known_mask : bool array, one a pair
        Of which pairs the mean outcomes are told in advance.
    known_outcomes : float array, pairs by outcomes
        These means.
    """

    tau: int
    delta: float
    anew: bool
    n_states: int
    n_pairs: int
    n_outcomes: int
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]


class Own(NamedTuple):
    """What belongs to the confidence itself.

    Attributes
    ----------
    floats : float array
        `Confidence.floats`, and behind them its scratch.
    ints : int array
        `Confidence.ints`.
    stream : uint64 array
        The state of its random numbers, which the agent keeps from episode to episode.
    """

    floats: NDArray[np.float64]
    ints: NDArray[np.int64]
    stream: NDArray[np.uint64]


class ConfidenceFrame(NamedTuple):
    """All that the kernel of a confidence is given."""

    task: Task
    counts: Counts
    region: Region
    own: Own

    @staticmethod
    def example() -> ConfidenceFrame:
        """One of the right types; its values mean nothing."""
        return ConfidenceFrame(
            Task(1, 0.05, True, 1, 1, 1, np.zeros(1, dtype=np.bool_), np.zeros((1, 1))),
            no_counts(1, 1),
            empty_region(1, 1, 1),
            Own(np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint64)),
        )


@inlined
def to_be_filled(task, counts, pair):  # type: ignore[no-untyped-def]
    """Whether the bounds of a pair are to be worked out, or still stand."""
    return task.anew or counts.fresh[pair] > 0


def confidence_entry(function: Callable[..., None]) -> Entry:
    """Declare the kernel of a confidence, a function of one frame; as a decorator."""
    return Entry(function, frame=ConfidenceFrame)
