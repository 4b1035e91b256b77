"""The rules of a phase: what an agent is made of, as the numbers and addresses that its kernels read.

A rule does not change within a phase of the oracle. An agent asks for new ones when a phase begins, and when rows of a
log have moved the time from which its regions count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.agents.episodes import BY_GRADIENT, BY_RESTART, BY_VISITS
from equipoise.agents.machine import Rules
from equipoise.agents.parts import calls_of
from equipoise.agents.proof import AT_THE_AVERAGE, BY_CONJUGATE, BY_TANGENT, NOT_AT_ALL
from equipoise.agents.schedules import threshold_rule, tolerance_rule
from equipoise.confidence.fill import kernel_address, numbers_of
from equipoise.confidence.law_counts import units_of
from equipoise.oracles.base import OracleKernel, Phase
from equipoise.oracles.frank_wolfe import FrankWolfe, frank_wolfe_step
from equipoise.planning.evi import sweeps_in_a_call
from equipoise.planning.options import AFTER_VISITS, Planner
from equipoise.planning.sharing import shared
from equipoise.rewards.norms import dual

if TYPE_CHECKING:
    from equipoise.agents.toc_ucrl2 import TocUCRL2


def rules_of(agent: TocUCRL2, phase: Phase, step: OracleKernel, origin: int) -> Rules:
    """The rules of an agent in a phase.

    Parameters
    ----------
    agent : TocUCRL2
        Whose parts.
    phase : Phase
        Of its oracle.
    step : OracleKernel
        Of the oracle in that phase.
    origin : int
        The time from which its regions count, less one: steps that they forget, less rows of logs.
    """
    reward, confidence, kernels = agent.reward, agent.confidence, agent.reward.kernels
    threshold, threshold_power, threshold_floor = threshold_rule(agent.threshold, reward.lipschitz)
    tolerance, tolerance_power, _ = tolerance_rule(agent.tolerance)
    floats, ints = numbers_of(confidence)
    moving, proving = kernels.lipschitz, _proving(agent)
    units, laws = units_of(agent.space, agent.machine.counts.nonzero is not None), agent.space.laws
    return Rules(
        laws=None if laws is None else laws.arrays,
        first_pair=agent.space.first_pair,
        known_mask=units.known_mask,
        known_outcomes=units.known_outcomes,
        told=units.told,
        confidence=kernel_address(confidence),
        drawn=bool(confidence.drawn),
        timeless=bool(confidence.timeless),
        floats=floats,
        ints=ints,
        oracle=step.entry.address,
        oracle_params=step.params,
        frank_wolfe=step.entry is frank_wolfe_step,
        reward=calls_of(step, reward),
        dual_norm=dual(reward.norm),
        threshold=threshold,
        threshold_power=threshold_power,
        threshold_floor=threshold_floor,
        moving_threshold=moving.address if agent.threshold is None and moving is not None else 0,
        delta=agent.delta * phase.share,
        tau_origin=origin,
        tolerance=tolerance,
        tolerance_power=tolerance_power,
        relaxation=agent.planner.relaxation or confidence.relaxation,
        sweep_limit=agent.planner.limit,
        pause=_pause(agent),
        warm_after=_warm_after(agent.planner),
        leaps=agent.planner.leaps,
        proving=proving,
        value=kernels.value.address if proving else 0,
        slope=kernels.gradient.address if proving == BY_TANGENT else 0,
        conjugate_argmax=kernels.conjugate_argmax.address if proving in (BY_CONJUGATE, BY_TANGENT) else 0,
    )


def _warm_after(planner: Planner) -> int:
    """The ends of an episode after which a plan starts from the last bias."""
    if planner.warm_start == AFTER_VISITS:
        return BY_VISITS
    return BY_GRADIENT | BY_VISITS | BY_RESTART if planner.warm_start else 0


def _pause(agent: TocUCRL2) -> int:
    """How many sweeps a kernel makes in one call; one, if the others are shared among threads."""
    laws, n_pairs = agent.space.laws, agent.space.n_pairs
    if laws is not None:
        return sweeps_in_a_call(laws.arrays.child.size)
    return 1 if shared(n_pairs) and not agent.planner.leaps else sweeps_in_a_call(n_pairs)


def _proving(agent: TocUCRL2) -> int:
    """How the plans of an agent bound the optimum."""
    if agent.confidence.caveat:
        return NOT_AT_ALL
    moving = agent.reward.kernels.lipschitz is not None
    if isinstance(agent.oracle, FrankWolfe) and not moving:  # theta is minus the gradient at the average at all times
        return AT_THE_AVERAGE
    return BY_CONJUGATE if agent.reward.exact_conjugate else BY_TANGENT
