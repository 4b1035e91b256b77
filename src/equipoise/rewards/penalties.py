"""Rewards that are penalties, or have one: `Shortfall` for a constraint, `Knapsack` for budgets.

`Shortfall` is -phi(level - h(w)), minus how far a concave h is below a level. phi(s) = max(0, s), or smoothed over a
width mu, within mu/2 from below, the one-sided Huber function:

    phi(s) = 0  for s <= 0,      s^2 / (2 mu)  for 0 <= s <= mu,      s - mu/2  for s >= mu.

A supergradient is phi'(level - h(w)) times that of h, phi' = min(1, max(0, s) / mu). L is that of h, and
beta = beta_h + L_h^2 / mu. It states a simplex of supergradients if h does, with a slack vertex more. The conjugate is
found by iteration. `Constrained` uses it for each of its constraints.

`Knapsack` is g_C(r, c) = r - (2/b) max over k of (c_k - b)^+ (appendix "Supplements to the discussions on MDPwK").
Outcome 0 is the reward r, the others are the amounts consumed, each with the budget b per step. A supergradient is 1
for the reward, and -2/b at the resource most above its budget, the first of them; (1, 0, ..., 0) where no budget is
exceeded. With the infinity norm L = 1 + 2/b, exact. Not smooth.

Its conjugate, for any theta: w_0 = 1 if theta_0 > -1, else 0. A resource is 0 where theta_k < 0. The others are raised
to b for free, and from b all together at the cost 2/b: they are 1 if their theta_k sum to more than 2/b, else b. The
comparison allows a relative 1e-12, so that a sum of exactly 2/b gives b however it was rounded.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, stack_floats
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_count, checked_number
from equipoise.rewards.composed import (
    Composed,
    fixed_reward,
    iterated_argmax,
    merge_vertices,
    own_numbers,
    part_gradient,
    part_value,
    simplex_from_zero,
)

if TYPE_CHECKING:
    import cvxpy

# The own numbers are the level and mu.


@entry
def _shortfall_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own, number = own_numbers(params), stack_floats(1)
    part_value(0, t, n, w, params, number)
    short, mu = own[0] - number[0], own[1]
    if short <= 0.0:
        out[0] = 0.0
    elif short < mu:
        out[0] = -short * short / (2.0 * mu)
    else:
        out[0] = 0.5 * mu - short


@entry
def _shortfall_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own, number = own_numbers(params), stack_floats(1)
    part_value(0, t, n, w, params, number)
    short, mu = own[0] - number[0], own[1]
    if short <= 0.0:
        for k in range(n):
            out[k] = 0.0
        return
    part_gradient(0, t, n, w, params, out)
    if short < mu:
        for k in range(n):
            out[k] *= short / mu


@final
class Shortfall(Composed):
    """Minus how far a concave function is below a level.

    Parameters
    ----------
    function : Reward
        h; it may not change with time.
    at_least : float
        The level.
    smoothing : float
        mu: shortfalls below it count less, by their square; 0 for the plain shortfall.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> g = Shortfall(Linear([1.0, 1.0]), at_least=1.0)
    >>> g.value([0.5, 0.25]), g.value([0.75, 0.5]), g.gradient([0.5, 0.25]).tolist()
    (-0.25, 0.0, [1.0, 1.0])
    >>> smooth = Shortfall(Linear([1.0, 1.0]), at_least=1.0, smoothing=0.5)
    >>> smooth.value([0.5, 0.25]), smooth.gradient([0.5, 0.25]).tolist(), round(smooth.smoothness, 9)
    (-0.0625, [0.5, 0.5], 4.0)
    """

    kernels = RewardKernels(_shortfall_value, _shortfall_gradient, iterated_argmax)

    def __init__(self, function: Reward, at_least: float, smoothing: float = 0.0) -> None:
        self.function = fixed_reward(function, "function")
        self.at_least = checked_number(at_least, "at_least")
        self.smoothing = checked_number(smoothing, "smoothing")
        if self.smoothing < 0.0:
            raise RewardError(f"smoothing: got {self.smoothing:g}; a number >= 0 is needed")
        self._take_parts((self.function,))
        self.lipschitz = function.lipschitz
        self.smoothness = None
        if self.smoothing > 0.0 and function.smoothness is not None:
            self.smoothness = function.smoothness + function.lipschitz**2 / self.smoothing
        self.piecewise_linear = function.piecewise_linear and self.smoothing == 0.0
        self.numbers = np.array([self.at_least, self.smoothing])
        simplex = simplex_from_zero(function)
        if simplex is not None and simplex.scale.any():
            coordinates, scales = [simplex.coordinate, np.zeros(1, np.int64)], [simplex.scale, np.zeros(1)]
            self.vertices = merge_vertices(simplex.base, coordinates, scales)

    def tangents(self, w: ArrayLike) -> list[tuple[float, Vector]]:
        """Those of the function less the level, and zero; with smoothing, the one of the gradient."""
        if self.smoothing > 0.0:
            return super().tangents(w)
        short = [(height - self.at_least, slope) for height, slope in self.function.tangents(w)]
        return [(0.0, np.zeros(self.n_outcomes)), *short]

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """That of the function."""
        return self.function.lipschitz_on(low, high)

    def within(self, low: ArrayLike, high: ArrayLike) -> Shortfall:
        """The shortfall of the function within the box; see `Reward.within`."""
        return Shortfall(self.function.within(low, high), self.at_least, self.smoothing)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Minus the positive part, or Huber's function of it."""
        import cvxpy

        short = cvxpy.pos(self.at_least - self.function.concave_expression(w))
        return -short if self.smoothing == 0.0 else -cvxpy.huber(short, self.smoothing) / (2.0 * self.smoothing)


def largest_shortfall(price: float, multiplier: float, smoothing: float, allowance: float) -> float:
    """Largest s with price phi(s) - multiplier s <= allowance, or infinity if the price is not above the multiplier."""
    if not price > multiplier:
        return math.inf
    if smoothing > 0.0:
        root = multiplier * multiplier + 2.0 * price * allowance / smoothing
        curved = smoothing * (multiplier + math.sqrt(max(0.0, root))) / price
        if curved <= smoothing:
            return curved
    return (allowance + 0.5 * smoothing * price) / (price - multiplier)


_TIE: Final = 1e-12  # relative: prices that sum to 2/b up to rounding are not above it


@entry
def _knapsack_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    excess = 0.0
    for k in range(1, n):
        excess = max(excess, w[k] - params[0])
    out[0] = w[0] - 2.0 * excess / params[0]


@entry
def _knapsack_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    excess = 0.0
    where = 0
    out[0] = 1.0
    for k in range(1, n):
        out[k] = 0.0
        if w[k] - params[0] > excess:
            excess = w[k] - params[0]
            where = k
    if where > 0:
        out[where] = -2.0 / params[0]


@entry
def _knapsack_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    pull = 0.0
    for k in range(1, n):
        pull += max(0.0, theta[k])
    level = 1.0 if pull > (1.0 + _TIE) * 2.0 / params[0] else params[0]
    out[0] = 1.0 if theta[0] > -1.0 else 0.0
    for k in range(1, n):
        out[k] = 0.0 if theta[k] < 0.0 else level


@final
class Knapsack(Reward):
    """Outcome 0 less a penalty of 2/budget for each unit of the largest overspending.

    Parameters
    ----------
    n_outcomes : int
        K: the reward and K - 1 resources, so at least 2.
    budget : float
        The amount of each resource per step, strictly between 0 and 1.

    Examples
    --------
    >>> g = Knapsack(3, budget=0.5)
    >>> g.value([0.75, 0.5, 0.25]), g.value([0.75, 0.625, 0.25]), g.lipschitz
    (0.75, 0.25, 5.0)
    """

    norm = math.inf
    smoothness = None
    piecewise_linear = True
    kernels = RewardKernels(_knapsack_value, _knapsack_gradient, _knapsack_argmax)

    def __init__(self, n_outcomes: int, budget: float) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 2)
        self.budget = checked_number(budget, "budget", 0.0, 1.0)
        self.params = np.array([self.budget])
        self.lipschitz = 1.0 + 2.0 / self.budget
        resources = np.arange(1, self.n_outcomes)
        self.vertices = Vertices(
            np.eye(self.n_outcomes)[0],
            np.append(resources, 0),
            np.append(np.full(resources.size, -2.0 / self.budget), 0.0),
        )

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Outcome 0 less the scaled maximum of the positive parts."""
        import cvxpy

        return w[0] - (2.0 / self.budget) * cvxpy.max(cvxpy.pos(w[1:] - self.budget))
