"""What a kernel came back for, and what is done about it.

An array that is too small is made larger, a large plan is shared among threads, and anything else is an error.

The kernel has left everything as it was before the step or the plan that it could not take, so it can be called again
with the larger array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.agents.machine import (
    NO_REGION,
    NOT_CONVERGED,
    NOT_FINITE,
    OUTCOMES_FULL,
    PAUSED,
    POOL_FULL,
    RECORDS_FULL,
    REGION_FULL,
    Machine,
    Rules,
)
from equipoise.agents.parts import no_theta
from equipoise.confidence.counts import enlarged
from equipoise.confidence.nonzero import more_bounds, more_room
from equipoise.errors import ContractError
from equipoise.planning.evi import not_converged
from equipoise.planning.sharing import sweep_on

if TYPE_CHECKING:
    from equipoise.agents.toc_ucrl2 import TocUCRL2


def attended(agent: TocUCRL2, reason: int) -> Machine:
    """The agent's arrays, one of them larger, or with more sweeps of a plan made.

    Parameters
    ----------
    agent : TocUCRL2
        Whose kernel came back.
    reason : int
        Why; see `agents.machine`.

    Raises
    ------
    ConvergenceError
        When the planner did not reach its tolerance.
    ContractError
        When the bounds of the confidence are not numbers.
    RewardError, OracleError
        When theta is not a number: because the reward's gradient or conjugate is none, or the oracle's step.
    """
    machine, rules = agent.machine, agent.rules
    if reason == NOT_CONVERGED:
        raise not_converged(float(machine.work.certificate["span"][0]), rules.sweep_limit, rules.relaxation)
    if reason == NOT_FINITE:
        raise no_theta(agent.phase.oracle, agent.reward, agent.t, agent.average, agent.theta)
    if reason == NO_REGION:
        raise ContractError(
            f"confidence: at time {agent.t} {agent.confidence!r} gave bounds that are not finite numbers; "
            "equipoise.testing.check_confidence tells where"
        )
    if reason == POOL_FULL:
        return machine._replace(counts=enlarged(machine.counts))
    if reason == OUTCOMES_FULL:
        sums = machine.counts.nonzero
        assert sums is not None
        return with_room(machine._replace(counts=machine.counts._replace(nonzero=more_room(sums))))
    if reason == RECORDS_FULL:
        return machine._replace(records=machine.records.enlarged())
    if reason == PAUSED:
        _sweep_on(machine, rules)
        return machine
    assert reason == REGION_FULL
    size = 2 * machine.counts.seen
    machine.buffers.filled[0] = 0
    machine.work.progress["time"] = 0
    larger = machine.region._replace(successor=np.zeros(size, dtype=np.int64), lo=np.zeros(size), hi=np.zeros(size))
    return machine._replace(region=larger)


def with_room(machine: Machine) -> Machine:
    """The same arrays, with a place in the region for the bounds of every outcome in a pool that was made larger.

    Parameters
    ----------
    machine : Machine
        Those of an agent; the bounds that there are stay as they are.
    """
    sums, bounds = machine.counts.nonzero, machine.region.nonzero
    if sums is None or bounds is None:
        return machine
    return machine._replace(region=machine.region._replace(nonzero=more_bounds(bounds, sums)))


def _sweep_on(machine: Machine, rules: Rules) -> None:
    """Let threads go on with a plan that is under way, if it is one for them."""
    begun = machine.work.progress[0]
    under_way = begun["time"] == machine.memory.clock["time"][0] and begun["sweeps"] > 0
    if under_way and rules.pause == 1 and rules.laws is None and not rules.leaps:
        sweep_on(
            rules.first_pair, machine.region, machine.buffers.reward, rules.sweep_limit, rules.relaxation,
            machine.buffers.bias, machine.buffers.policy, machine.work,
        )  # fmt: skip
