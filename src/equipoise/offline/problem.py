r"""What is to be maximised and what is to be met, of average outcomes w; and what a solver says of it.

    max  g(w)   with   h_j(w) >= level_j   for every constraint j,

or without an objective g: how close w comes to meeting them, max over w of min over j of h_j(w) - level_j.

A claim has a multiplier lambda_i for each function, that of g being 1 (without one they sum to 1), and lambda_i times a
supergradient. From them `terms` makes what `certificate.split_bound` proves a bound of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.offline.certificate import Term
from equipoise.offline.cuts import Planes
from equipoise.offline.program import expression_of
from equipoise.rewards.base import Reward
from equipoise.rewards.constraint import Constraint

NOTHING: Final = 1e-9  # a multiplier below it is a solver's rounding


class Problem(NamedTuple):
    """An objective and constraints.

    Attributes
    ----------
    objective : Reward or None
        g; None: the least of h_j - level_j.
    constraints : tuple of Constraint
        What is to be met.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> floor = Constraint(Linear([0.0, 1.0]), 0.25)
    >>> problem = Problem(Linear([1.0, 0.0]), (floor,))
    >>> w = np.array([1.0, 0.0])
    >>> problem.value(w), problem.lacking(w), problem.value(w, price=2.0), Problem(None, (floor,)).value(w)
    (1.0, 0.25, 0.5, -0.25)
    """

    objective: Reward | None
    constraints: tuple[Constraint, ...]

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
    def expressible(self) -> bool:
        """Whether all functions have a cvxpy expression."""
        try:
            for function in self.functions:
                expression_of(function)
        except RewardError:
            return False
        return True

    def eased(self, by: float) -> Problem:
        """The same with lower levels."""
        lower = tuple(Constraint(one.function, one.at_least - by, one.name) for one in self.constraints)
        return self._replace(constraints=lower) if by else self

    def lacking(self, w: Vector) -> float:
        """The largest violation at w."""
        return max((one.violation(w) for one in self.constraints), default=0.0)

    def value(self, w: Vector, price: float = 0.0) -> float:
        """What is maximised, at w.

        Parameters
        ----------
        w : float array
            Outcomes.
        price : float
            What a unit of the largest violation costs, if there is an objective.
        """
        if self.objective is None:
            return min(one.function.value(w) - one.at_least for one in self.constraints)
        return self.objective.value(w) - (price * self.lacking(w) if price else 0.0)

    def planes(self) -> list[Planes]:
        """The functions for `cutting_planes`."""
        share = 1.0 if self.objective is None else 0.0
        first = [] if self.objective is None else [Planes(self.objective, 0.0, 1.0)]
        return [*first, *(Planes(one.function, one.at_least, share) for one in self.constraints)]


class SplitClaim(NamedTuple):
    """What a solver says of a problem.

    Attributes
    ----------
    occupancy : float array
        One number a pair.
    multipliers : float array
        One a function.
    slopes : list of float array
        For each function its multiplier times a supergradient.
    bias : float array
        Multipliers of the flow constraints.
    solver : str
        Who says so.
    """

    occupancy: Vector
    multipliers: Vector
    slopes: list[Vector]
    bias: Vector
    solver: str


def terms_of(
    problem: Problem, multipliers: Vector, slopes: Sequence[Vector], smooth_at: Vector | None = None
) -> tuple[Term, ...]:
    """The terms of a bound, whatever the multipliers and slopes are.

    Parameters
    ----------
    problem : Problem
        Of these functions and levels.
    multipliers : float array
        One a function; those that are as good as nothing are left out, and that of an objective is 1.
    slopes : sequence of float array
        For each function its multiplier times a supergradient.
    smooth_at : float array, optional
        Outcomes at which the gradients of smooth functions are taken in the place of the slopes.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> floor = Constraint(Linear([0.0, 1.0]), 0.25)
    >>> [term] = terms_of(Problem(None, (floor,)), np.array([4.0]), [np.array([0.0, 4.0])])
    >>> term.weight, term.theta.tolist(), term.level
    (1.0, [-0.0, -1.0], 0.25)
    """
    if problem.objective is None:
        weights = multipliers / max(multipliers.sum(), NOTHING)
    else:
        weights = np.append(1.0, multipliers[1:])
    terms = []
    rows = zip(problem.functions, weights.tolist(), multipliers.tolist(), slopes, problem.levels, strict=True)
    for function, weight, scale, slope, level in rows:
        if weight <= NOTHING:
            terms.append(Term(0.0, function, np.zeros(function.n_outcomes), level))
        elif smooth_at is not None and function.smoothness is not None:
            terms.append(Term(weight, function, -function.gradient(smooth_at), level))
        else:
            terms.append(Term(weight, function, -slope / scale, level))
    return tuple(terms)


def theta_of(terms: Sequence[Term], n_outcomes: int) -> Vector:
    """The theta of the scalar problem in a bound: the sum of weight times theta."""
    theta: Vector = sum((term.weight * term.theta for term in terms), np.zeros(n_outcomes))
    return theta


def conjugate_of(terms: Sequence[Term]) -> float:
    """What a bound adds to the gain: the sum of weight (g*(theta) - level)."""
    return math.fsum(term.weight * (term.reward.conjugate(term.theta) - term.level) for term in terms if term.weight)
