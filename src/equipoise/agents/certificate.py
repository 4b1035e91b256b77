r"""What the data prove: a bound on what any policy could reach, and so on what is still lost.

Every theta bounds the optimum by opt(P_M) <= g*(theta) + phi(theta) <= g*(theta) + gain(theta), the second wherever the
region holds the truth (`proof`). The right side is convex in theta. Minimised over all theta it is the best that the
present region can prove; its value is the largest g of any long-run average that some model in the region allows.

`effort` asks for so many plans beyond the first. Each adds a column z_j, a long-run average of outcomes that the region
allows (`planning.response`). As gain(theta) >= (-theta).z_j, the largest g over mixtures of the columns,

    lower = max over mixtures z of g(z) = min over theta of [g*(theta) + max over j of (-theta).z_j]  <=  the minimum,

and minus a supergradient of g at the best mixture is the theta of the next plan: the method of cutting planes. It stops
when the bound is within a ten-thousandth of itself (or of 1, if that is more) of `lower`, or the effort is spent.

Where the slack comes from is in `slack`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from equipoise._numbers import whole
from equipoise._types import Vector
from equipoise.agents.proof import ROUNDING
from equipoise.agents.slack import slack_of
from equipoise.confidence.counts import Counts
from equipoise.confidence.region import Region
from equipoise.errors import ParameterError
from equipoise.models.model import Space
from equipoise.planning.believing import Belief, believed
from equipoise.rewards.base import Reward

if TYPE_CHECKING:
    import polars

_CLOSE: Final = 1e-4  # how near the bound must come to the best that the region can prove, as a part of itself
_MOST_EFFORT: Final = 1000


class Grounds(NamedTuple):
    """What a bound rests on: observations, and the regions made from them.

    Attributes
    ----------
    space : Space
        Of the world.
    counts : Counts
        What was observed.
    region : Region
        What that leaves possible.
    """

    space: Space
    counts: Counts
    region: Region


class Bound(NamedTuple):
    """An upper bound on the optimum, with the plan that gives it.

    Attributes
    ----------
    value : float
        g*(theta) + gain.
    theta : float array
        By which.
    belief : Belief
        The plan whose gain it is, and the model that it believes in.
    """

    value: float
    theta: Vector
    belief: Belief


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
        What the outcomes are judged by; that in force at time t, if it changes with time.
    outcomes : tuple of str
        The names of the outcomes.
    slack : polars.DataFrame
        Where the bound could come down, most first: state, action, the `source` of the uncertainty (an outcome,
        "transitions", or the name of a law), `visits` of the pair or of the law, and `adds`, what it adds to the bound
        under the present regions.

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
        if np.isnan(self.achieved):
            return f"{sure}, no policy reaches more than {self.best_possible:.6g}"
        return (
            f"after {self.t} steps: {self.achieved:.6g} was achieved, and {sure} no policy reaches more than "
            f"{self.best_possible:.6g}; at most {self.regret_at_most:.3g} is lost"
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
    )


def best_bound(
    grounds: Grounds, reward: Reward, theta: Vector, tolerance: float, effort: int, relaxation: float, bias: Vector
) -> Bound:
    """The least bound of a plan for `theta` and so many more, each for a theta that the ones before point to.

    Parameters
    ----------
    grounds : Grounds
        What is known.
    reward : Reward
        g; one that does not change with time.
    theta : float array
        Where to begin.
    tolerance : float
        Of the plans: the bound may be too large by as much.
    effort : int
        How many plans more.
    relaxation : float
        Of the planner.
    bias : float array
        Where its first plan starts from.
    """
    whole(effort, "effort", 0, _MOST_EFFORT, error=ParameterError)
    bound = _planned(grounds, reward, theta, tolerance, relaxation, bias)
    columns: list[Vector] = []
    best = bound
    for _ in range(effort):
        columns.append(bound.belief.response.column)
        lower, theta = _master(reward, np.array(columns))
        if best.value - lower <= _CLOSE * max(abs(best.value), 1.0):
            break
        bound = _planned(grounds, reward, theta, tolerance, relaxation, bound.belief.plan.bias)
        best = min(best, bound, key=lambda each: each.value)
    return _at_most(best, reward)


def _at_most(bound: Bound, reward: Reward) -> Bound:
    """The bound, or the largest value of g, which theta = 0 proves without any plan."""
    nothing = np.zeros(reward.n_outcomes)
    ceiling = reward.conjugate_bound(nothing)
    return bound._replace(value=ceiling, theta=nothing) if ceiling < bound.value else bound


def _planned(
    grounds: Grounds, reward: Reward, theta: Vector, tolerance: float, relaxation: float, bias: Vector
) -> Bound:
    belief = believed(grounds.space, grounds.region, theta, tolerance, relaxation, bias)
    plan = belief.plan
    rounding = ROUNDING * (1.0 + float(plan.bias.max() - plan.bias.min()))
    return Bound(reward.conjugate_bound(theta) + plan.gain + rounding, theta, belief)


def _master(reward: Reward, columns: Vector) -> tuple[float, Vector]:
    """The largest g over mixtures of the columns, and minus a supergradient there."""
    import cvxpy

    weight, point = cvxpy.Variable(len(columns), nonneg=True), cvxpy.Variable(reward.n_outcomes)
    link = point == columns.T @ weight
    problem = cvxpy.Problem(cvxpy.Maximize(reward.concave_expression(point)), [link, cvxpy.sum(weight) == 1])
    problem.solve(solver=cvxpy.CLARABEL)
    mixture = np.clip(columns.T @ np.maximum(weight.value, 0.0), 0.0, 1.0)
    lower = reward.value(mixture)
    # the multiplier of the link is a supergradient, up to its sign, which is a convention of the modelling layer
    multiplier = np.asarray(link.dual_value, dtype=np.float64)
    candidates = [multiplier, -multiplier, -reward.gradient(mixture)]
    return lower, min(candidates, key=lambda theta: reward.conjugate_bound(theta) + float((columns @ -theta).max()))
