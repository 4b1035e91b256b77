"""What Python does after a kernel returned: enlarge an array, continue a plan, or raise an error.

The kernel has left everything as it was before the step or the plan that it could not take, so it can be called again
with the larger array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.agents.phase import nonfinite_theta_error, reraise_as
from equipoise.agents.state import (
    NO_REGION,
    NOT_CONVERGED,
    NOT_FINITE,
    OUTCOMES_FULL,
    PAUSED,
    PLAN_ELSEWHERE,
    POOL_FULL,
    RECORDS_FULL,
    REGION_FULL,
    AgentArrays,
    PhaseConstants,
)
from equipoise.confidence.nonzero import copy_arrays, extend_bounds, extend_pool
from equipoise.errors import ContractError
from equipoise.planning.evi import convergence_error
from equipoise.planning.parallel import continue_sweeps
from equipoise.planning.verification import verify_plan

if TYPE_CHECKING:
    from equipoise.agents.toc_ucrl2 import TocUCRL2


def handle_return_code(agent: TocUCRL2, code: int) -> AgentArrays:
    """The agent's arrays, with one of them larger, or with more sweeps of a plan made."""
    arrays, constants = agent._arrays, agent._constants
    if code == NOT_CONVERGED:
        raise convergence_error(float(arrays.work.certificate["span"][0]), constants.sweep_limit, constants.relaxation)
    if code == NOT_FINITE:
        raise nonfinite_theta_error(agent._phase.oracle, agent.reward, agent.t, agent.average, agent.theta)
    if code == NO_REGION:
        raise ContractError(
            f"confidence: at time {agent.t} {agent.confidence!r} gave bounds that are not finite numbers; "
            "equipoise.testing.check_confidence tells where"
        )
    if code == POOL_FULL:
        return arrays._replace(counts=extend_pool(arrays.counts))
    if code == OUTCOMES_FULL:
        sums = arrays.counts.nonzero
        assert sums is not None
        return grow_region(arrays._replace(counts=arrays.counts._replace(nonzero=extend_pool(sums))))
    if code == RECORDS_FULL:
        return arrays._replace(records=arrays.records.enlarge())
    if code == PLAN_ELSEWHERE:
        _plan_elsewhere(agent)
        return arrays
    if code == PAUSED:
        _sweep_on(arrays, constants)
        return arrays
    assert code == REGION_FULL
    size = 2 * arrays.counts.seen
    arrays.buffers.filled[0] = 0
    arrays.work.progress["time"] = 0
    larger = arrays.region._replace(successor=np.zeros(size, dtype=np.int64), lo=np.zeros(size), hi=np.zeros(size))
    return arrays._replace(region=larger)


def grow_region(arrays: AgentArrays) -> AgentArrays:
    """The same arrays, with a region large enough for the pool of nonzero outcomes, which has grown."""
    sums, bounds = arrays.counts.nonzero, arrays.region.nonzero
    if sums is None or bounds is None:
        return arrays
    return arrays._replace(region=arrays.region._replace(nonzero=extend_bounds(bounds, sums)))


def _sweep_on(arrays: AgentArrays, constants: PhaseConstants) -> None:
    """Let threads continue a plan that has begun, if it is large enough to be shared."""
    begun = arrays.work.progress[0]
    under_way = begun["time"] == arrays.memory.clock["time"][0] and begun["sweeps"] > 0
    if under_way and constants.pause == 1 and constants.laws is None and not constants.leaps:
        continue_sweeps(
            constants.first_pair, arrays.region, arrays.buffers.reward, constants.sweep_limit, constants.relaxation,
            arrays.buffers.bias, arrays.buffers.policy, arrays.work,
        )  # fmt: skip


def _plan_elsewhere(agent: TocUCRL2) -> None:
    """Let the agent's own planner make the prepared plan, and put it where the kernel expects it."""
    arrays, constants, planner = agent._arrays, agent._constants, agent.planner
    work, buffers = arrays.work, arrays.buffers
    region = arrays.region._replace(nonzero=None)  # outcomes are in the rewards
    tolerance = float(work.progress["tolerance"][0])
    with reraise_as(planner, "plan", ContractError):
        answer = planner.plan(constants.first_pair.copy(), copy_arrays(region), buffers.reward.copy(), tolerance)
    plan = verify_plan(answer, repr(planner), constants.first_pair, region, buffers.reward, tolerance, work)
    buffers.policy[:], buffers.bias[:] = plan.policy, plan.bias
    for name in ("gain", "span", "sweeps"):
        work.certificate[name] = getattr(plan, name)
    work.progress["sweeps"] = work.progress["swept"] = 1
