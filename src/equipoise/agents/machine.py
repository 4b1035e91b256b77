"""What the compiled kernels of `TocUCRL2` work on, and why they come back.

A loop written outside the agent needs three things of it: its `machine`, the arrays that kernels read and write; its
`rules`, the constants and addresses of the present phase; and what a kernel returns, one of the reasons below. On
any reason but `DONE` Python has something to do, and the kernel has left everything as it was before the step or the
plan that it could not take. `theory.recording` is such a loop:

    with agent.exclusive():
        while agent.t <= last:
            agent.begin_phase_if_due()
            reason = some_kernel(agent.machine, agent.rules, ...)
            if reason != DONE:
                agent.attend_to(reason)
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.episodes import Episodes
from equipoise.agents.memory import Buffers, Memory
from equipoise.agents.proof import Proof
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.models.laws.laws import LawArrays
from equipoise.models.rows import SparseRows
from equipoise.oracles.frame import RewardCalls
from equipoise.planning.evi import Workspace

# Why a kernel came back.
DONE: Final = 0  # all steps were taken
POOL_FULL: Final = 1  # the pool of successors may be too small for the next observation
REGION_FULL: Final = 2  # the region is too small for all successors that were seen
RECORDS_FULL: Final = 3  # the record of episodes is too short for another one
NOT_CONVERGED: Final = 4  # the planner did not reach its tolerance
PAUSED: Final = 5  # it has planned for so long that it lets Python hear Ctrl-C; called again, it goes on with the plan
BUDGET_GONE: Final = 6  # some outcome after the first could exceed its budget at the next step
NOT_FINITE: Final = 7  # theta is not a number: the reward's gradient was not, or the oracle's step
NO_REGION: Final = 8  # some bound that the confidence gave is not a number
OUTCOMES_FULL: Final = 9  # the pool of outcomes that were other than zero may be too small for the next observation


class Machine(NamedTuple):
    """All arrays of an agent. Some are replaced by larger ones on the way, so ask the agent again after each kernel.

    Attributes
    ----------
    counts : Counts
        What was observed.
    memory : Memory
        What else decides what comes next.
    records : Episodes
        The episodes so far; longer than there are any.
    region : Region
        That of the present episode.
    buffers, work
        Scratch of steps and plans, and of the planner.
    proof : Proof
        What the plans have proven of the optimum.
    """

    counts: Counts
    memory: Memory
    records: Episodes
    region: Region
    buffers: Buffers
    work: Workspace
    proof: Proof


class StepMachine(NamedTuple):
    """The part of a `Machine` that one step needs. Every array costs time at the border to Python, for each step."""

    counts: Counts
    memory: Memory
    buffers: Buffers


class Rules(NamedTuple):
    """What does not change within a phase: the constants of the algorithm, and the addresses that it calls."""

    laws: LawArrays | None  # known mechanics, if there are any; then the pairs of what follows are their units
    first_pair: NDArray[np.int64]
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]
    told: SparseRows | None  # all mean outcomes, if they are told and nearly all zero; then none are counted
    confidence: int  # the address of its kernel
    drawn: bool  # whether its regions are drawn at random
    timeless: bool  # whether the bounds of what was not visited since the last plan still stand
    floats: NDArray[np.float64]  # what that kernel reads
    ints: NDArray[np.int64]
    oracle: int  # the address of its step
    oracle_params: NDArray[np.float64]
    frank_wolfe: bool  # whether that step is Frank-Wolfe's, which the loop has built in
    reward: RewardCalls
    dual_norm: float
    threshold: float  # Q_m = threshold tau^threshold_power max(threshold_floor, span), the last if the floor is > 0
    threshold_power: float
    threshold_floor: float
    moving_threshold: int  # the entry that gives Q at time t in the place of Q_m, or 0
    delta: float
    tau_origin: int
    tolerance: float  # of a plan: tolerance tau^tolerance_power
    tolerance_power: float
    relaxation: float
    sweep_limit: int
    pause: int  # sweeps after which a kernel returns, to go on when it is called again
    warm_after: int  # what may have ended an episode if the next plan is to start from the last bias, bit by bit
    leaps: bool
    proving: int  # how g*(theta) is had for a proof, see `proof`
    value: int  # the addresses of the reward's entries that a proof needs
    slope: int
    conjugate_argmax: int
