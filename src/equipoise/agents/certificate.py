r"""Certificates: an upper bound on what any policy can reach, and so on the regret, from data alone.

The bound is the least of those that the plans of an agent have proven, of one plan with the present regions, and of as
many more as the effort allows (`dual_bound`). `slack` lists where the bound could come down.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

import numpy as np

from equipoise._types import Vector
from equipoise.agents.constraints import ConstraintStatus, bound_constraints, constraint_statuses, find_conflict
from equipoise.agents.dual_bound import Bound, BoundOptions, Evidence, Proof, best_bound
from equipoise.agents.slack import slack_table
from equipoise.errors import ProtocolError
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained

if TYPE_CHECKING:
    import polars

    from equipoise.agents.toc_ucrl2 import TocUCRL2

_TOLERANCE_FACTOR: Final = 0.01  # of the agent's own tolerance, by which the bound of a plan is too large


@final
@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound on the optimum, and so on the regret, from data alone.

    With constraints (`Constrained`), `best_possible` bounds the optimum of the penalised reward, which is at least the
    constrained one, so that no policy that meets the constraints has more of the reward itself. `achieved` is the
    penalised reward of the average; for `MixtureUCRL2`, which has no price, and for a log without one, it is the reward
    alone. `constraints` has what is reached and what is possible of each constraint.

    Attributes
    ----------
    best_possible : float
        An upper bound on the optimum: no policy has a larger g in the long run.
    achieved : float
        g of the average outcomes so far; NaN before the first step.
    probability : float
        With which all certificates of this agent hold simultaneously, at all times.
    t : int
        Steps taken by the agent when the certificate was made.
    theta : float array
        The theta that proves the bound.
    proven_at : int
        The time of the plan that proved it.
    reward : Reward
        What evaluates the outcomes: its limit, if it changes with time.
    outcomes : tuple of str
        The names of the outcomes.
    slack : polars.DataFrame
        Where the bound could come down, largest first: state, action, the `source` of the uncertainty (an outcome,
        "transitions", the name of a law, or "outcomes never seen" where outcomes are nearly all zero), `visits` of the
        pair or of the law, and `adds`, what it adds to the bound under the present regions.
    constraints : tuple of ConstraintStatus
        For a `Constrained` reward: name, level, reached, violation, best_possible and `impossible` of each constraint.
    conflict : tuple of str
        The names of constraints that are proven not to be met together by any policy; empty if nothing is proven.
    loose : float
        0, unless the sweeps of its plan ran out before the tolerance was reached: then the bound still holds, and may
        exceed what the regions prove by as much.

    See Also
    --------
    equipoise.certify : Made from a log.
    equipoise.Certified : Stop a run by it.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.star(branches=3, diameter=4)
    >>> agent = eq.recommended(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    >>> run = eq.simulate(model, agent, 10**5)
    >>> certificate = agent.certificate()
    >>> certificate.probability, 1.0 <= certificate.best_possible < 1.001, certificate.regret_at_most < 0.001
    (0.95, True, True)
    """

    best_possible: float
    achieved: float
    probability: float
    t: int
    theta: Vector
    proven_at: int
    reward: Reward = field(repr=False)
    outcomes: tuple[str, ...] = field(repr=False)
    slack: polars.DataFrame = field(repr=False)
    loose: float = 0.0
    constraints: tuple[ConstraintStatus, ...] = field(default=(), repr=False)
    conflict: tuple[str, ...] = ()

    @property
    def regret_at_most(self) -> float:
        """best_possible - achieved."""
        return self.best_possible - self.achieved

    @property
    def prices(self) -> dict[str, float]:
        """Minus theta, by outcome names: roughly the value of a little more of each outcome at the optimum."""
        return dict(zip(self.outcomes, (-self.theta).tolist(), strict=True))

    def __str__(self) -> str:
        sure = f"with probability {self.probability:g}" if self.probability < 1.0 else "for certain"
        bound = f"no policy reaches more than {self.best_possible:.6g}"
        loose = f" (its plan ran out of sweeps: {self.loose:.2g} of that may be the planner's)" if self.loose else ""
        if self.conflict:
            listed = " and ".join(repr(name) for name in self.conflict)
            return f"{sure}, no policy meets {listed}{' together' if len(self.conflict) > 1 else ''}"
        if math.isnan(self.achieved):
            return f"{sure}, {bound}{loose}"
        missed = [one for one in self.constraints if one.violation]
        violated = "".join(f"; {one.name!r} is violated by {one.violation:.3g}" for one in missed)
        return (
            f"after {self.t} steps: {self.achieved:.6g} was achieved, and {sure} {bound}; "
            f"at most {self.regret_at_most:.3g} is lost{loose}{violated}"
        )


def agent_certificate(agent: TocUCRL2, effort: int) -> Certificate:
    """The certificate of an agent, from its earlier plans and its present regions."""
    if agent.confidence.caveat:
        raise ProtocolError(
            f"certificate: the regions of {agent.confidence!r} are not proven to contain the true model "
            f"({agent.confidence.guarantee}), so they prove nothing; eq.confidence.Adaptive() has some that are"
        )
    arrays, constants = agent._arrays, agent._constants
    tau = float(agent.t - constants.tau_offset)
    evidence = Evidence(agent.space, arrays.counts, agent._present_region())
    options = BoundOptions(
        theta=arrays.memory.theta.copy(),
        bias=arrays.memory.bias,
        tolerance=_TOLERANCE_FACTOR * constants.tolerance * tau**constants.tolerance_power,
        relaxation=constants.relaxation,
        limit=constants.sweep_limit,
        effort=effort,
    )
    return tightest_certificate(
        evidence,
        options,
        arrays.proof,
        agent.reward,
        average=agent.average,
        probability=1.0 - agent.delta if agent.confidence.learning else 1.0,
        t=agent.t,
        earlier=agent._constraint_bounds,
    )


def tightest_certificate(
    evidence: Evidence,
    options: BoundOptions,
    proof: Proof,
    reward: Reward,
    *,
    average: Vector,
    probability: float,
    t: int,
    earlier: Vector,
) -> Certificate:
    """The least of the bounds of earlier plans and of a search, which is kept in `proof` if it is the least so far.

    `earlier` are the bounds on the functions of constraints that earlier certificates have proven.
    """
    bound, when = best_bound(evidence, reward, options), t
    if proof.bound[0] <= bound.value:
        bound = bound._replace(value=float(proof.bound[0]), theta=proof.theta.copy())
        when = int(proof.time[0])
    else:
        proof.bound[0], proof.time[0], proof.theta[:] = bound.value, when, bound.theta
    certificate = build_certificate(
        evidence,
        bound,
        reward,
        achieved=reward.value(average) if t > 1 else math.nan,
        probability=probability,
        t=t - 1,
        proven_at=when,
    )
    return add_constraints(certificate, evidence, options, average if t > 1 else None, earlier)


def add_constraints(
    certificate: Certificate,
    evidence: Evidence,
    options: BoundOptions,
    average: Vector | None,
    earlier: Vector | float = math.inf,
) -> Certificate:
    """The certificate with the status of each constraint of its reward, and a conflict if one is proven.

    `average` is None before the first step. `earlier` are bounds on the functions of the constraints that hold too.
    """
    reward = certificate.reward
    if not isinstance(reward, Constrained):
        return certificate
    bounds = np.minimum(bound_constraints(evidence, options, reward, average), earlier)
    statuses = constraint_statuses(reward, average, bounds)
    conflict = find_conflict(evidence, options, reward, statuses, average)
    return dataclasses.replace(certificate, constraints=statuses, conflict=conflict)


def build_certificate(
    evidence: Evidence, bound: Bound, reward: Reward, *, achieved: float, probability: float, t: int, proven_at: int
) -> Certificate:
    """The certificate of a bound."""
    return Certificate(
        best_possible=bound.value,
        achieved=achieved,
        probability=probability,
        t=t,
        theta=bound.theta,
        proven_at=proven_at,
        reward=reward,
        outcomes=tuple(evidence.space.outcome_names()),
        slack=slack_table(evidence.space, evidence.counts, evidence.region, bound.belief),
        loose=bound.loose,
    )
