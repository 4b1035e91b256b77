"""g(w) = 1 - D_mu(w, q) / log S: visit the states as a distribution q says.

    D_mu(w, q) = sum_s (w_s + mu) log((w_s + mu) / (q_s + mu)) - w_s + q_s

The paper names the minimisation of a KL divergence to a fixed distribution q among the objectives that its
results hold for (end of section "Maximum entropy exploration"), without a formula. Plain KL(w || q) has
unbounded gradients, and is infinite where q_s = 0. D_mu is the same divergence between w + mu and q + mu:
on distributions it equals (1 + S mu) KL(w' || q'), where w' and q' are w and q mixed with the uniform
distribution. It is never negative and vanishes only at w = q, so the smoothing does not move the optimum:
g(q) = 1, and g < 1 elsewhere on the box. As mu goes to 0 it tends to 1 - KL(w || q) / log S on
distributions, which for uniform q is the scaled entropy H(w) / log S.

grad g(w)_s = -log((w_s + mu) / (q_s + mu)) / log S, decreasing in w_s, with derivative -1 / ((w_s + mu) log
S). With norm 1, whose dual is the largest entry, both constants are exact:

    L = max over s of max(log((q_s + mu) / mu), log((1 + mu) / (q_s + mu))) / log S,   beta = 1 / (mu log S).

The conjugate's maximiser is coordinatewise: w_s = (q_s + mu) exp(theta_s log S) - mu, clipped to [0,1].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._checks import checked_distribution, checked_smoothing
from equipoise.rewards.base import Reward, RewardKernels, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    mu = params[0]
    total = 0.0
    for k in range(n):
        gap = w[k] - params[2 + k]
        total += (w[k] + mu) * np.log((w[k] + mu) / (params[2 + k] + mu)) - gap
    out[0] = 1.0 - total / params[1]


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = np.log((params[2 + k] + params[0]) / (w[k] + params[0])) / params[1]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        w = (params[2 + k] + params[0]) * np.exp(theta[k] * params[1]) - params[0]
        out[k] = min(1.0, max(0.0, w))


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class RelativeEntropy(Reward):
    """1 minus a smoothed KL divergence from w to a target distribution, divided by log S.

    Parameters
    ----------
    target : array_like
        The distribution of visits wanted, with at least 2 entries.
    mu : float
        Smoothing, above 0 and at most 1; the optimum is the target itself for every mu.

    Examples
    --------
    >>> g = RelativeEntropy([0.5, 0.5], mu=0.5)
    >>> g.value([0.5, 0.5]), round(g.value([1.0, 0.0]), 3), round(g.lipschitz, 3)
    (1.0, 0.623, 1.0)
    """

    norm = 1.0
    smoothness: float
    separable = True

    def __init__(self, target: ArrayLike, mu: float) -> None:
        q = checked_distribution(target, "target")
        if q.size < 2:
            raise RewardError("target: got 1 entry; at least 2 are needed")
        self.n_outcomes = q.size
        self.mu = checked_smoothing(mu)
        scale = math.log(q.size)
        self.params = np.concatenate(([self.mu, scale], q))
        steepest = max(math.log1p(q.max() / self.mu), math.log((1.0 + self.mu) / (q.min() + self.mu)))
        self.lipschitz = steepest / scale
        self.smoothness = 1.0 / (self.mu * scale)

    @property
    def target(self) -> Vector:
        """The distribution of visits wanted."""
        return read_only(self.params[2:])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def smoothness_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """What beta is on a box: the largest 1 / (w + mu), scaled, at the lower corner.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return 1.0 / (float(self.params[1]) * (float(low.min()) + self.mu))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the sum of kl_div(w + mu, target + mu), scaled."""
        import cvxpy

        divergence = cvxpy.sum(cvxpy.kl_div(w + self.mu, self.target + self.mu))
        return 1.0 - divergence / float(self.params[1])
