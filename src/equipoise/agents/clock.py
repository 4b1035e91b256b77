"""Where an agent is: the time of its next step, the state, and the pair that waits to be observed, if any.

A record of three named numbers, in an array of one so that kernels can write to it. `TocUCRL2` has a longer record,
with these names among others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import MOST
from equipoise.models.model import Space

NAMES: Final = ("time", "state", "pending")
CLOCK: Final = np.dtype([(name, np.int64) for name in NAMES])


def new_clock(start: int) -> NDArray[np.void]:
    """At time 1 in the start state; nothing waits.

    Parameters
    ----------
    start : int
        The state.
    """
    return np.array([(1, start, -1)], dtype=CLOCK)


def set_clock(clock: NDArray[np.void], time: int, state: int, pending: int = -1) -> None:
    """Write all three numbers.

    Parameters
    ----------
    clock : numpy.ndarray
        The record.
    time, state, pending : int
        Its new content; a pending pair of -1 is none.
    """
    clock["time"], clock["state"], clock["pending"] = time, state, pending


def clock_numbers(clock: NDArray[np.void]) -> NDArray[np.int64]:
    """The three numbers as a vector, for files and comparisons.

    Parameters
    ----------
    clock : numpy.ndarray
        The record.
    """
    return np.array([clock[name][0] for name in NAMES], dtype=np.int64)


def clock_fits(numbers: NDArray[np.int64], space: Space) -> bool:
    """Whether there are such a time, such a state, and in it the pair that waits to be observed, if any.

    Parameters
    ----------
    numbers : numpy.ndarray
        Time, state and pending pair.
    space : Space
        The agent's.
    """
    time, state, pending = (int(number) for number in numbers)
    if not (1 <= time <= MOST and 0 <= state < space.n_states):
        return False
    return pending == -1 or bool(space.first_pair[state] <= pending < space.first_pair[state + 1])
