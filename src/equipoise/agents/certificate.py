r"""What the data prove: a bound on what any policy could reach, and so on what is still lost.

The bound is the least of those that the plans of an agent have proven (`proof`), of one plan with the present regions,
and of as many more as the effort allows (`bounding`). Where its slack comes from is in `slack`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from equipoise._types import Vector
from equipoise.agents.bounding import Bound, Grounds, Search, best_bound
from equipoise.agents.slack import slack_of
from equipoise.confidence.fill import region_of
from equipoise.errors import ProtocolError
from equipoise.rewards.base import Reward

if TYPE_CHECKING:
    import polars

    from equipoise.agents.toc_ucrl2 import TocUCRL2

_SHARPER: Final = 0.01  # of the agent's own tolerance: a certificate is too large by that of its plan


@final
@dataclass(frozen=True, eq=False)
class Certificate:
    """How good any policy could be at most, and so how much is lost at most; from data alone.

    With constraints (`Constrained`), both numbers are those of the penalised reward. Its optimum is at least the
    constrained one, so that no policy that meets the constraints has more than `best_possible` of the reward itself,
    and no more of it is lost than `regret_at_most`; `Constrained.violation_at_most` turns that into violations.

    Attributes
    ----------
    best_possible : float
        An upper bound on the optimum: no policy has a larger g in the long run.
    achieved : float
        g of the average outcomes so far; NaN before the first step.
    probability : float
        With which all certificates of this agent hold, those of all times together.
    t : int
        Steps taken by the agent when it was asked.
    theta : float array
        By which the bound was proven.
    proven_at : int
        The time of the plan that proved it.
    reward : Reward
        What the outcomes are judged by: its limit, if it changes with time.
    outcomes : tuple of str
        The names of the outcomes.
    slack : polars.DataFrame
        Where the bound could come down, most first: state, action, the `source` of the uncertainty (an outcome,
        "transitions", the name of a law, or "outcomes never seen" where outcomes are nearly all zero), `visits` of the
        pair or of the law, and `adds`, what it adds to the bound under the present regions.
    loose : float
        0, unless the sweeps of its plan ran out before the tolerance was reached: the bound holds all the same, and may
        be larger than what the regions prove by as much.

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

    @property
    def regret_at_most(self) -> float:
        """best_possible - achieved."""
        return self.best_possible - self.achieved

    @property
    def prices(self) -> dict[str, float]:
        """What a little more of each outcome is worth, about, at the optimum: -theta, by the names of the outcomes."""
        return dict(zip(self.outcomes, (-self.theta).tolist(), strict=True))

    def __str__(self) -> str:
        sure = f"with probability {self.probability:g}" if self.probability < 1.0 else "for certain"
        bound = f"no policy reaches more than {self.best_possible:.6g}"
        loose = f" (its plan ran out of sweeps: {self.loose:.2g} of that may be the planner's)" if self.loose else ""
        if math.isnan(self.achieved):
            return f"{sure}, {bound}{loose}"
        return (
            f"after {self.t} steps: {self.achieved:.6g} was achieved, and {sure} {bound}; "
            f"at most {self.regret_at_most:.3g} is lost{loose}"
        )


def certificate_of(agent: TocUCRL2, effort: int) -> Certificate:
    """What an agent has proven, and its present regions prove.

    Parameters
    ----------
    agent : TocUCRL2
        Whose; if the bound is the least so far, it is kept in its memory.
    effort : int
        How many plans to spend on it beyond one.
    """
    if agent.confidence.caveat:
        raise ProtocolError(
            f"certificate: the regions of {agent.confidence!r} are not proven to hold the truth "
            f"({agent.confidence.guarantee}), so they prove nothing; eq.confidence.Adaptive() has some that are"
        )
    machine, rules = agent.machine, agent.rules
    counts, memory, proof = machine.counts, machine.memory, machine.proof
    steps, tau = agent.t - 1, agent.t - rules.tau_origin
    grounds = Grounds(agent.space, counts, region_of(agent.confidence, agent.space, counts, tau, rules.delta))
    search = Search(
        theta=memory.theta.copy(),
        bias=memory.bias,
        tolerance=_SHARPER * rules.tolerance * float(tau) ** rules.tolerance_power,
        relaxation=rules.relaxation,
        limit=rules.sweep_limit,
        effort=effort,
    )
    bound = best_bound(grounds, agent.reward, search)
    when = agent.t
    if proof.bound[0] <= bound.value:
        bound = bound._replace(value=float(proof.bound[0]), theta=proof.theta.copy())
        when = int(proof.time[0])
    else:
        proof.bound[0], proof.time[0], proof.theta[:] = bound.value, when, bound.theta
    return certified(
        grounds,
        bound,
        agent.reward,
        achieved=agent.reward.value(agent.average) if steps else math.nan,
        probability=1.0 - agent.delta if agent.confidence.learning else 1.0,
        t=steps,
        proven_at=when,
    )


def certified(
    grounds: Grounds, bound: Bound, reward: Reward, *, achieved: float, probability: float, t: int, proven_at: int
) -> Certificate:
    """The certificate of a bound.

    Parameters
    ----------
    grounds : Grounds
        What it rests on.
    bound : Bound
        The bound.
    reward : Reward
        g.
    achieved : float
        g of the average outcomes.
    probability : float
        With which the regions hold.
    t : int
        Steps taken.
    proven_at : int
        When the bound was proven.
    """
    return Certificate(
        best_possible=bound.value,
        achieved=achieved,
        probability=probability,
        t=t,
        theta=bound.theta,
        proven_at=proven_at,
        reward=reward,
        outcomes=tuple(grounds.space.outcome_names()),
        slack=slack_of(grounds.space, grounds.counts, grounds.region, bound.belief),
        loose=bound.loose,
    )
