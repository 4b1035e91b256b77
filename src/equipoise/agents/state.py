"""The arrays of an agent: what it remembers, what its compiled kernels work on, and why they return.

`new_clock` makes the record that every agent has: the time, the state, and the pair that waits to be observed.
`TocUCRL2` has more: `Memory`, and with counts, regions and scratch `AgentArrays`, which its kernels read and write.
`PhaseConstants` are the numbers and addresses that do not change while a phase of the oracle lasts.

A kernel returns one of the codes below. After any code but `DONE`, Python has something to do (`growth`), and the
kernel has left everything as it was before the step or the plan that it could not take, so it can be called again.

`Memory` holds arrays and nothing else, so a checkpoint is these arrays. `clock` and `drift_state` are one record each,
with the few numbers that change at every step. All fields of a record have one type, so that a file can hold it as a
plain vector.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST
from equipoise.agents.dual_bound import Proof
from equipoise.agents.episodes import Episodes
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.models.laws.laws import LawArrays
from equipoise.models.model import Space
from equipoise.models.outcome_rows import SparseRows
from equipoise.oracles.frame import RewardCalls
from equipoise.planning.evi import Workspace

# Why a kernel returned.
DONE: Final = 0  # all steps were taken
POOL_FULL: Final = 1  # the pool of successors may be too small for the next observation
REGION_FULL: Final = 2  # the region is too small for all successors that were seen
RECORDS_FULL: Final = 3  # the record of episodes is too short for another one
NOT_CONVERGED: Final = 4  # the planner did not reach its tolerance
PAUSED: Final = 5  # it planned for so long that Python must check for Ctrl-C; called again, it continues the plan
BUDGET_GONE: Final = 6  # some outcome after the first could exceed its budget at the next step
NOT_FINITE: Final = 7  # theta is not a number: the reward's gradient was not, or the oracle's step
NO_REGION: Final = 8  # some bound that the confidence gave is not a number
OUTCOMES_FULL: Final = 9  # the pool of nonzero outcomes may be too small for the next observation
PLAN_ELSEWHERE: Final = 10  # a planner other than the built-in one is to make the prepared plan

# -- the clock of every agent ---------------------------------------------------------------------------------------

CLOCK_FIELDS: Final = ("time", "state", "pending")
BASE_CLOCK: Final = np.dtype([(name, np.int64) for name in CLOCK_FIELDS])


def new_clock(start: int) -> NDArray[np.void]:
    """Time 1, in the start state, with no action pending."""
    return np.array([(1, start, -1)], dtype=BASE_CLOCK)


def set_clock(clock: NDArray[np.void], time: int, state: int, pending: int = -1) -> None:
    """Write the time, the state and the pending pair."""
    clock["time"], clock["state"], clock["pending"] = time, state, pending


def clock_numbers(clock: NDArray[np.void]) -> NDArray[np.int64]:
    """The three numbers as a vector, for files and comparisons."""
    return np.array([clock[name][0] for name in CLOCK_FIELDS], dtype=np.int64)


def clock_fits(numbers: NDArray[np.int64], space: Space) -> bool:
    """Whether the time and the state are possible, and the pending pair, if any, is one of that state."""
    time, state, pending = (int(number) for number in numbers)
    if not (1 <= time <= LARGEST and 0 <= state < space.n_states):
        return False
    return pending == -1 or bool(space.first_pair[state] <= pending < space.first_pair[state + 1])


# -- the arrays of TocUCRL2 -----------------------------------------------------------------------------------------

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
DRIFT_STATE: Final = np.dtype(
    [
        ("drift", np.float64),  # Psi
        ("threshold", np.float64),  # Q_m, of the present episode
    ]
)


class Memory(NamedTuple):
    """What an agent carries besides its counts and records."""

    total: NDArray[np.float64]
    average: NDArray[np.float64]
    theta: NDArray[np.float64]
    reference: NDArray[np.float64]
    oracle: NDArray[np.float64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    clock: NDArray[np.void]
    drift_state: NDArray[np.void]
    stream: NDArray[np.uint64]


class Buffers(NamedTuple):
    """Scratch for one step and one plan; nothing in it outlives them."""

    outcome: NDArray[np.float64]
    limit: NDArray[np.float64]
    oracle: NDArray[np.float64]
    reward: NDArray[np.float64]
    filled: NDArray[np.int64]
    policy: NDArray[np.int64]
    bias: NDArray[np.float64]
    stream: NDArray[np.uint64]


class AgentArrays(NamedTuple):
    """All arrays of an agent. Some are replaced by larger ones, so ask the agent again after each kernel."""

    counts: Counts
    memory: Memory
    records: Episodes
    region: Region
    buffers: Buffers
    work: Workspace
    proof: Proof


class StepArrays(NamedTuple):
    """The `AgentArrays` that one step needs. Passing an array from Python to a kernel takes time at every step."""

    counts: Counts
    memory: Memory
    buffers: Buffers


class PhaseConstants(NamedTuple):
    """What does not change within a phase: the constants of the algorithm, and the addresses that it calls."""

    laws: LawArrays | None  # known mechanics, if any; then the pairs of what follows are their units
    first_pair: NDArray[np.int64]
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]
    told: SparseRows | None  # all mean outcomes, if they are known and nearly all zero; then none are counted
    confidence: int  # the address of its kernel
    drawn: bool  # whether its regions are drawn at random
    timeless: bool  # whether the bounds of pairs not visited since the last plan are still valid
    floats: NDArray[np.float64]  # what that kernel reads
    ints: NDArray[np.int64]
    oracle: int  # the address of its step
    oracle_params: NDArray[np.float64]
    frank_wolfe: bool  # whether that step is Frank-Wolfe's, which is built into the loop
    reward: RewardCalls
    dual_norm: float
    threshold: float  # Q_m = threshold tau^threshold_power max(threshold_floor, span), the last if the floor is > 0
    threshold_power: float
    threshold_floor: float
    moving_threshold: int  # the entry that gives Q at time t instead of Q_m, or 0
    delta: float
    tau_offset: int  # tau = t - tau_offset: steps forgotten, less rows of logs
    rows: int  # of logs, which are time for regions and tolerances, but not for theta and its threshold
    tolerance: float  # of a plan: tolerance tau^tolerance_power
    tolerance_power: float
    relaxation: float
    sweep_limit: int
    pause: int  # sweeps after which a kernel returns, to continue when it is called again
    growth: float  # the factor by which visits grow until an episode ends
    warm_after: int  # what may have ended an episode if the next plan is to start from the last bias, bit by bit
    leaps: bool
    elsewhere: bool  # whether plans are made by a planner other than the built-in one
    proving: int  # how g*(theta) is found for a bound, see `dual_bound`
    value: int  # the addresses of the reward's entries that a bound needs
    slope: int
    conjugate_argmax: int


def new_memory(
    n_states: int, n_outcomes: int, oracle: int, start: int, learning: bool, stream: NDArray[np.uint64]
) -> Memory:
    """At time 1, in the start state, before the first plan; `oracle` is the number of values that it remembers."""
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
        drift_state=np.zeros(1, dtype=DRIFT_STATE),
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
    """A record as the vector of its fields, for a file; any other array as it is."""
    fields = part.dtype.fields
    return part if fields is None else part.view(next(iter(fields.values()))[0])


def as_record(part: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The reverse: a vector from a file as a record, if `like` is one."""
    return part if like.dtype.fields is None else np.ascontiguousarray(part).view(like.dtype)
