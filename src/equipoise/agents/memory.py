"""An agent's memory: arrays and nothing else, so a checkpoint is these arrays.

`clock` and `gauge` hold the few numbers that change at every step, at the positions named below.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Positions in `clock`.
TIME: Final = 0  # t: the time of the next step, from 1
STATE: Final = 1  # s_t: the state in which it will be taken
PENDING: Final = 2  # the pair acted on and not yet observed; -1 if none
ORIGIN: Final = 3  # steps taken before the oracle's present phase
PHASE: Final = 4  # number of that phase, from 1; 0 before the first plan
PLANNED: Final = 5  # whether the policy was planned in that phase
LEARNING: Final = 6  # whether visits end an episode: not when there is nothing to learn
EPISODES: Final = 7  # m: how many episodes have begun
CLOCK_SIZE: Final = 8

# Positions in `gauge`.
DRIFT: Final = 0  # Psi
THRESHOLD: Final = 1  # Q_m, of the present episode
GAUGE_SIZE: Final = 2


class Memory(NamedTuple):
    """What an agent carries besides its counts and records; `stream` is that of its confidence's random numbers."""

    total: NDArray[np.float64]
    average: NDArray[np.float64]
    theta: NDArray[np.float64]
    reference: NDArray[np.float64]
    slope: NDArray[np.float64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    clock: NDArray[np.int64]
    gauge: NDArray[np.float64]
    stream: NDArray[np.uint64]


class Buffers(NamedTuple):
    """Scratch for one step and one plan; nothing in it outlives them."""

    outcome: NDArray[np.float64]
    response: NDArray[np.float64]
    weights: NDArray[np.float64]
    reward: NDArray[np.float64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    stream: NDArray[np.uint64]


def new_memory(n_states: int, n_outcomes: int, start: int, learning: bool, stream: NDArray[np.uint64]) -> Memory:
    """At time 1, in the start state, before the first plan."""
    clock = np.zeros(CLOCK_SIZE, dtype=np.int64)
    clock[TIME], clock[STATE], clock[PENDING], clock[LEARNING] = 1, start, -1, learning
    return Memory(
        total=np.zeros(n_outcomes),
        average=np.zeros(n_outcomes),
        theta=np.zeros(n_outcomes),
        reference=np.zeros(n_outcomes),
        slope=np.zeros(n_outcomes),
        policy=np.zeros(n_states, dtype=np.int64),
        bias=np.zeros(n_states),
        clock=clock,
        gauge=np.zeros(GAUGE_SIZE),
        stream=stream,
    )


def new_buffers(n_states: int, n_pairs: int, n_outcomes: int, stream: int) -> Buffers:
    """Scratch; mirror maps have at most 2K + 1 vertices."""
    return Buffers(
        outcome=np.zeros(n_outcomes),
        response=np.zeros(n_outcomes),
        weights=np.zeros(2 * n_outcomes + 1),
        reward=np.zeros(n_pairs),
        policy=np.zeros(n_states, dtype=np.int64),
        bias=np.zeros(n_states),
        stream=np.zeros(stream, dtype=np.uint64),
    )
