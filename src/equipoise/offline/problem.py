r"""What is to be maximised and what is to be met, of average outcomes w; and what a solver claims of it.

    max  g(w)   with   h_j(w) >= level_j   for every constraint j,

or without an objective g: how close w comes to meeting them, max over w of min over j of h_j(w) - level_j. A reward
alone is a problem without constraints; budgets are constraints on single outcomes.

A point of the dual has a multiplier lambda_i for each function, that of g being 1 (without g they sum to 1), and
lambda_i times a supergradient. `bound_terms` makes the terms of a bound from it, which `certificate.dual_bound` proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.offline.certificate import Term
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained, Constraint

_MIN_MULTIPLIER: Final = 1e-9  # a multiplier below it is a solver's rounding
_LEAST: Final = 1e-12  # outcomes at which a gradient is taken that does not exist at 0


class Problem(NamedTuple):
    """An objective and constraints."""

    objective: Reward | None
    constraints: tuple[Constraint, ...] = ()

    @staticmethod
    def of(reward: Reward) -> Problem:
        """The problem of a reward: with its constraints instead of its penalty, if it is `Constrained`."""
        if isinstance(reward, Constrained):
            return Problem(reward.reward, reward.constraints)
        return Problem(reward)

    @property
    def functions(self) -> list[Reward]:
        """The objective, if there is one, and the functions of the constraints."""
        first = [] if self.objective is None else [self.objective]
        return [*first, *(one.function for one in self.constraints)]

    @property
    def levels(self) -> list[float]:
        """What is subtracted from each function: of the objective 0."""
        first = [] if self.objective is None else [0.0]
        return [*first, *(one.at_least for one in self.constraints)]

    @property
    def piecewise_linear(self) -> bool:
        """Whether all functions are."""
        return all(function.piecewise_linear for function in self.functions)

    @property
    def is_linear(self) -> bool:
        """Whether there is an objective, and all functions are linear."""
        return self.objective is not None and all(function.smoothness == 0.0 for function in self.functions)

    @property
    def is_expressible(self) -> bool:
        """Whether all functions have a cvxpy expression."""
        try:
            for function in self.functions:
                expression_of(function)
        except RewardError:
            return False
        return True

    @property
    def is_smooth(self) -> bool:
        """Whether it is a smooth objective alone."""
        return self.objective is not None and self.objective.smoothness is not None and not self.constraints

    def eased(self, by: float) -> Problem:
        """The same with lower levels."""
        lower = tuple(Constraint(one.function, one.at_least - by, one.name) for one in self.constraints)
        return self._replace(constraints=lower) if by else self

    def violations(self, w: Vector) -> Vector:
        """By how much w violates each constraint."""
        return np.array([one.violation(w) for one in self.constraints])

    def value(self, w: Vector, price: float = 0.0) -> float:
        """What is maximised, at w; the largest violation costs `price`."""
        if self.objective is None:
            return min(one.function.value(w) - one.at_least for one in self.constraints)
        return self.objective.value(w) - (price * float(self.violations(w).max(initial=0.0)) if price else 0.0)


class DualPoint(NamedTuple):
    """Multipliers of the functions of a problem, and each multiplier times a supergradient."""

    multipliers: Vector
    slopes: Sequence[Vector]


class Claim(NamedTuple):
    """What a solver says of a problem; nothing of it is believed."""

    occupancy: Vector
    duals: tuple[DualPoint, ...]
    bias: Vector | None
    solver: str


def bound_terms(problem: Problem, dual: DualPoint, smooth_at: Vector | None = None) -> tuple[Term, ...]:
    """The terms of a bound, from any multipliers and slopes; with gradients at w of functions that are smooth."""
    multipliers = dual.multipliers
    if problem.objective is None:
        weights = multipliers / max(multipliers.sum(), _MIN_MULTIPLIER)
    else:
        weights = np.append(1.0, multipliers[1:])
    terms = []
    rows = zip(problem.functions, weights.tolist(), multipliers.tolist(), dual.slopes, problem.levels, strict=True)
    for function, weight, scale, slope, level in rows:
        if weight <= _MIN_MULTIPLIER:
            terms.append(Term(0.0, function, np.zeros(function.n_outcomes), level))
        elif smooth_at is not None and function.smoothness is not None:
            terms.append(Term(weight, function, -gradient_at(function, smooth_at), level))
        else:
            terms.append(Term(weight, function, -slope / scale, level))
    return tuple(terms)


def gradient_at(reward: Reward, w: Vector) -> Vector:
    """A supergradient at outcomes that rounding may have put a little outside of the box."""
    w = np.clip(w, 0.0, 1.0)
    try:
        return reward.gradient(w)
    except RewardError:  # the entropy has no gradient at an outcome of 0: take it close by
        return reward.gradient(np.maximum(w, _LEAST))


def expression_of(reward: Reward) -> tuple[Any, Any]:
    """Return a cvxpy vector w and g(w), or raise a `RewardError`."""
    import cvxpy as cp

    w = cp.Variable(reward.n_outcomes)
    g = reward.concave_expression(w)
    if not isinstance(g, cp.Expression) or g.size != 1 or not g.is_concave():
        raise RewardError(f"{reward!r}: its cvxpy expression is not a concave scalar by cvxpy's rules: {g}")
    return w, g
