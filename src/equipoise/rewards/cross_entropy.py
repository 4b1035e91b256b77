"""g(w) = (1/c) sum_s q_s log(1 + w_s / mu), c = log(1 + 1/mu): cover what a target distribution q asks for.

The paper names the minimisation of a cross-entropy with respect to a fixed distribution q among the
objectives that its results hold for (end of section "Maximum entropy exploration"), without a formula. Here
-sum_s q_s log(w_s + mu), the cross-entropy of q relative to w with a little mass given to each state, is
shifted, scaled and turned round, so that g is to be maximised and lies in [0,1]: g(0) = 0 and g(1, ..., 1)
= 1.

Unlike `RelativeEntropy` it asks nothing of the states outside the support of q, and punishes above all the
states of q that are hardly visited. Over distributions its maximum is near q rather than at it, w_s + mu
proportional to q_s where that is possible: w = q up to terms of order S mu.

grad g(w)_s = q_s / (c (w_s + mu)), largest at w = 0. With norm 1, whose dual is the largest entry, both
constants are exact and attained at w = 0: L = max q / (c mu), beta = max q / (c mu^2).

The conjugate's maximiser is coordinatewise. Where theta_s < 0 it is -q_s / (c theta_s) - mu, clipped to
[0,1]; where theta_s > 0 it is 1; where theta_s = 0 it is 1, or 0 if q_s = 0 as well.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards._checks import checked_distribution, checked_smoothing
from equipoise.rewards.base import Reward, RewardKernels, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[2 + k] * np.log1p(w[k] / params[0])
    out[0] = total / params[1]


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[2 + k] / (params[1] * (w[k] + params[0]))


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] < 0.0:
            out[k] = min(1.0, max(0.0, -params[2 + k] / (params[1] * theta[k]) - params[0]))
        else:
            out[k] = 1.0 if theta[k] > 0.0 or params[2 + k] > 0.0 else 0.0


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class CrossEntropy(Reward):
    """Minus the smoothed cross-entropy of a target distribution relative to w, scaled to [0, 1].

    Parameters
    ----------
    target : array_like
        The distribution whose support must be covered.
    mu : float
        Smoothing, above 0 and at most 1.

    Examples
    --------
    >>> g = CrossEntropy([0.5, 0.5, 0.0], mu=0.01)
    >>> round(g.value([0.5, 0.5, 0.0]), 3), round(g.value([0.9, 0.1, 0.0]), 3)
    (0.852, 0.748)
    """

    norm = 1.0
    smoothness: float
    separable = True

    def __init__(self, target: ArrayLike, mu: float) -> None:
        q = checked_distribution(target, "target")
        self.n_outcomes = q.size
        self.mu = checked_smoothing(mu)
        scale = math.log1p(1.0 / self.mu)
        self.params = np.concatenate(([self.mu, scale], q))
        self.lipschitz = float(q.max()) / (scale * self.mu)
        self.smoothness = self.lipschitz / self.mu

    @property
    def target(self) -> Vector:
        """The distribution whose support must be covered."""
        return read_only(self.params[2:])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest target / (w + mu)^2, scaled, at the lower corner.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return float((self.target / (low + self.mu) ** 2).max()) / float(self.params[1])

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The target's mean of the logarithms, scaled."""
        import cvxpy

        return (self.target / self.params[1]) @ cvxpy.log(1.0 + w / self.mu)
