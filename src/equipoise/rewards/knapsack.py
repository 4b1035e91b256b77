"""g_C(r, c) = r - (2/b) max over k of (c_k - b)^+: reward, with a penalty for the budget most exceeded.

Appendix "Supplements to the discussions on MDPwK" of the paper. Outcome 0 is the reward r, the others are
the amounts consumed, each with the budget b a step.

A supergradient is 1 for the reward, and -2/b at the resource most above its budget, the first of them;
where no budget is exceeded it is (1, 0, ..., 0). (The paper says that every one has l1 length 1 + 2/b; that
is so only above the budget.) With the infinity norm L = 1 + 2/b, exact. Not smooth. g reaches below 0: only
concavity and L matter.

Conjugate, for any theta. w_0 = 1 if theta_0 > -1, else 0. Among the resources, 0 where theta_k < 0; the
others are raised to b for free, and from b all together at the price 2/b: they are 1 if their theta_k sum
to more than 2/b, else b. The thetas that matter are (-1, (2/b) lambda), lambda >= 0, sum lambda <= 1: there
the maximiser is (0, b, ..., b). The comparison with 2/b allows a relative 1e-12, so that a sum of exactly
2/b gives b however it was rounded.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np

from equipoise._compile import entry
from equipoise.rewards._checks import checked_count
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_number

if TYPE_CHECKING:
    import cvxpy

_TIE: Final = 1e-12  # relative: prices that sum to 2/b up to rounding are not above it


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    excess = 0.0
    for k in range(1, n):
        excess = max(excess, w[k] - params[0])
    out[0] = w[0] - 2.0 * excess / params[0]


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
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
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    pull = 0.0
    for k in range(1, n):
        pull += max(0.0, theta[k])
    level = 1.0 if pull > (1.0 + _TIE) * 2.0 / params[0] else params[0]
    out[0] = 1.0 if theta[0] > -1.0 else 0.0
    for k in range(1, n):
        out[k] = 0.0 if theta[k] < 0.0 else level


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class Knapsack(Reward):
    """Outcome 0 less a penalty of 2/budget for each unit of the largest overspending.

    Parameters
    ----------
    n_outcomes : int
        K: the reward and K - 1 resources, so at least 2.
    budget : float
        What each resource allows a step, strictly between 0 and 1.

    Examples
    --------
    >>> g = Knapsack(3, budget=0.5)
    >>> g.value([0.75, 0.5, 0.25]), g.value([0.75, 0.625, 0.25]), g.lipschitz
    (0.75, 0.25, 5.0)
    """

    norm = math.inf
    smoothness = None
    piecewise_linear = True

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

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Outcome 0 less the scaled maximum of the positive parts."""
        import cvxpy

        return w[0] - (2.0 / self.budget) * cvxpy.max(cvxpy.pos(w[1:] - self.budget))
