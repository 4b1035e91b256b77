"""An agent's memory: arrays and nothing else, so a checkpoint is these arrays.

`clock` and `gauge` are one record each. They hold the few numbers that change at every step, under the names below. All
fields of a record have one type, so that a file can hold it as a plain vector.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

CLOCK: Final = np.dtype(
    [
        ("time", np.int64),  # t: the time of the next step, from 1
        ("state", np.int64),  # s_t: the state in which it will be taken
        ("pending", np.int64),  # the pair acted on and not yet observed; -1 if none
        ("origin", np.int64),  # steps taken before the oracle's present phase
        ("phase", np.int64),  # number of that phase, from 1; 0 before the first plan
        ("planned", np.int64),  # whether the policy was planned in that phase
        ("learning", np.int64),  # whether visits end an episode: not when there is nothing to learn
        ("episodes", np.int64),  # m: how many episodes have begun
    ]
)
GAUGE: Final = np.dtype(
    [
        ("drift", np.float64),  # Psi
        ("threshold", np.float64),  # Q_m, of the present episode
    ]
)


class Memory(NamedTuple):
    """What an agent carries besides its counts and records.

    Attributes
    ----------
    total, average : float arrays
        The sum and the mean of all outcome vectors.
    theta, reference : float arrays
        theta_t, and what it was when the present episode began.
    oracle : float array
        The oracle's own memory; its size is what the oracle asked for.
    policy : int array
        The action of each state in the present episode.
    bias : float array
        The planner's, of each state.
    clock, gauge : records
        Of the types `CLOCK` and `GAUGE`.
    stream : uint64 array
        The state of the confidence's random numbers.
    """

    total: NDArray[np.float64]
    average: NDArray[np.float64]
    theta: NDArray[np.float64]
    reference: NDArray[np.float64]
    oracle: NDArray[np.float64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    clock: NDArray[np.void]
    gauge: NDArray[np.void]
    stream: NDArray[np.uint64]


class Buffers(NamedTuple):
    """Scratch for one step and one plan; nothing in it outlives them.

    Attributes
    ----------
    outcome : float array
        V_t.
    limit : float array
        One number: a threshold that changes with time.
    oracle : float array
        The oracle's scratch; its size is what the oracle asked for.
    reward : float array
        The optimistic reward of each pair.
    filled : int array
        One number: whether the region is that of the last plan, so that only what was visited since must be filled.
    policy, bias, stream : arrays
        Those of a plan that is being made, before they replace the agent's.
    """

    outcome: NDArray[np.float64]
    limit: NDArray[np.float64]
    oracle: NDArray[np.float64]
    reward: NDArray[np.float64]
    filled: NDArray[np.int64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    stream: NDArray[np.uint64]


def new_memory(
    n_states: int, n_outcomes: int, oracle: int, start: int, learning: bool, stream: NDArray[np.uint64]
) -> Memory:
    """At time 1, in the start state, before the first plan; the oracle remembers so many numbers."""
    clock = np.zeros(1, dtype=CLOCK)
    clock["time"], clock["state"], clock["pending"], clock["learning"] = 1, start, -1, learning
    return Memory(
        total=np.zeros(n_outcomes),
        average=np.zeros(n_outcomes),
        theta=np.zeros(n_outcomes),
        reference=np.zeros(n_outcomes),
        oracle=np.zeros(oracle),
        policy=np.zeros(n_states, dtype=np.int64),
        bias=np.zeros(n_states),
        clock=clock,
        gauge=np.zeros(1, dtype=GAUGE),
        stream=stream,
    )


def new_buffers(n_states: int, n_pairs: int, n_outcomes: int, oracle: int, stream: int) -> Buffers:
    """Scratch for these sizes; the last two are those of the oracle's scratch and of the random numbers' state."""
    return Buffers(
        outcome=np.zeros(n_outcomes),
        limit=np.zeros(1),
        oracle=np.zeros(oracle),
        reward=np.zeros(n_pairs),
        filled=np.zeros(1, dtype=np.int64),
        policy=np.zeros(n_states, dtype=np.int64),
        bias=np.zeros(n_states),
        stream=np.zeros(stream, dtype=np.uint64),
    )


def as_plain(part: NDArray[Any]) -> NDArray[Any]:
    """A record as the vector of its fields, for a file; any other array as it is.

    >>> as_plain(np.array([(3.0, 0.5)], dtype=GAUGE)).tolist()
    [3.0, 0.5]
    """
    fields = part.dtype.fields
    return part if fields is None else part.view(next(iter(fields.values()))[0])


def as_record(part: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The reverse: a vector from a file as a record, if `like` is one."""
    return part if like.dtype.fields is None else np.ascontiguousarray(part).view(like.dtype)
