r"""What is known of each constraint: how well the average meets it, and whether any policy can.

Of the constraints h_j(w) >= level_j of a `Constrained` reward, two upper bounds are proven from the same regions as
that of a certificate, and by the same cutting planes (`dual_bound.best_bound`):

- of h_j alone. Where it is below level_j, no policy meets constraint j.
- of minus the sum of the violations of several constraints. Where it is below 0, no policy meets all of them. From
  such a set each constraint is left out in turn, as long as the others are still proven not to be met together; what
  remains is the conflict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.agents.dual_bound import BoundOptions, Evidence, best_bound
from equipoise.rewards.base import Reward
from equipoise.rewards.combinations import Sum
from equipoise.rewards.constrained import Constrained, Constraint
from equipoise.rewards.penalties import Shortfall

_EFFORT: Final = 5  # plans for the bound of several constraints, at least
_INSIDE: Final = 1e-9  # where a gradient is taken, as some do not exist at 0
_ROUNDING: Final = 1e-9  # of a bound: one that is not further below the level proves nothing


class ConstraintStatus(NamedTuple):
    """What is known of one constraint h(w) >= level, in an agent, a run and a certificate.

    Attributes
    ----------
    name : str
        The name of the constraint.
    level : float
        The level that h must reach; for `at_most`, h is minus the average, and the level is negative.
    reached : float
        h of the average so far; NaN before the first step.
    violation : float
        max(0, level - reached); 0 before the first step.
    best_possible : float
        The least proven upper bound on h in the long run, whatever the policy; infinity if none was computed. Only
        certificates compute it.

    See Also
    --------
    equipoise.Certificate : Has one for each constraint, and the constraints that are proven to be in conflict.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> goal = eq.rewards.Constrained(eq.rewards.Linear([1.0, 0.0]), [eq.rewards.at_least(1, 0.25, model)])
    >>> agent = eq.MixtureUCRL2(model.space, goal)
    >>> run = eq.simulate(model, agent, 10_000)
    >>> (status,) = run.constraints
    >>> status.name, status.level, status.violation < 0.001, status.impossible
    ('arm 1 at least 0.25', 0.25, True, False)
    """

    name: str
    level: float
    reached: float
    violation: float
    best_possible: float

    @property
    def impossible(self) -> bool:
        """Whether it is proven that no policy meets the constraint."""
        return self.best_possible < self.level - _ROUNDING * (1.0 + abs(self.level))


def no_bounds(reward: Reward) -> Vector:
    """The bounds on the functions of a reward's constraints before any was computed; empty without constraints."""
    return np.full(len(reward.names) if isinstance(reward, Constrained) else 0, np.inf)


def constraint_statuses(reward: Reward, average: Vector | None, bounds: Vector) -> tuple[ConstraintStatus, ...]:
    """The status of every constraint of a reward, none without constraints; no average before the first step."""
    if not isinstance(reward, Constrained):
        return ()
    statuses = []
    for name, one, bound in zip(reward.names, reward.constraints, bounds.tolist(), strict=True):
        reached = math.nan if average is None else one.function.value(average)
        missing = 0.0 if average is None else one.violation(average)
        statuses.append(ConstraintStatus(name, one.at_least, reached, missing, bound))
    return tuple(statuses)


def bound_constraints(evidence: Evidence, options: BoundOptions, goal: Constrained, average: Vector | None) -> Vector:
    """An upper bound on the function of each constraint in the long run."""
    return np.array([_largest(evidence, options, one.function, average) for one in goal.constraints])


def find_conflict(
    evidence: Evidence,
    options: BoundOptions,
    goal: Constrained,
    statuses: Sequence[ConstraintStatus],
    average: Vector | None,
) -> tuple[str, ...]:
    """The names of constraints that are proven not to be met together by any policy; empty if nothing is proven."""
    alone = [one.name for one in statuses if one.impossible]
    if alone:
        return (alone[0],)
    if len(statuses) < 2 or not any(one.violation > 0.0 for one in statuses):
        return ()  # an average that meets all constraints shows that nothing is wrong with them
    options = options._replace(effort=max(options.effort, _EFFORT))
    kept = list(zip(goal.names, goal.constraints, strict=True))
    if not _cannot_be_met(evidence, options, [one for _, one in kept], average):
        return ()
    for one in list(kept):
        others = [other for other in kept if other is not one]
        if others and _cannot_be_met(evidence, options, [other for _, other in others], average):
            kept = others
    return tuple(name for name, _ in kept)


def _cannot_be_met(
    evidence: Evidence, options: BoundOptions, constraints: Sequence[Constraint], average: Vector | None
) -> bool:
    """Whether minus the sum of the violations is proven to be below 0 in every long run."""
    shortfalls = [Shortfall(one.function, one.at_least, 0.0) for one in constraints]
    missing: Reward = Sum(shortfalls, [1.0] * len(shortfalls))
    return _largest(evidence, options, missing, average) < -_ROUNDING * len(shortfalls)


def _largest(evidence: Evidence, options: BoundOptions, function: Reward, average: Vector | None) -> float:
    """An upper bound on a function in the long run."""
    w = np.full(function.n_outcomes, 0.5) if average is None else np.clip(average, _INSIDE, 1.0)
    theta = -function.gradient(w)
    return best_bound(evidence, function, options._replace(theta=theta)).value
