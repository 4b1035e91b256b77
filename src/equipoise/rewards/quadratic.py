"""g(w) = 1 - ||w - c||_2^2 / 2: stay close to a target (the paper's running example).

grad g(w) = c - w, so with the Euclidean norm L = max over the box of ||c - w|| and beta = 1. The
conjugate's maximiser is coordinatewise: w_k = c_k + theta_k, clipped to [0,1].

A target outside [0,1]^K asks for more than can be had, and is as good as any: with c = (1 + 1/K) 1 it is the
sum_k w_k - (w_k - 1/K)^2 / 2 of claim B.1 up to a constant, which rewards all outcomes and their balance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, checked_vector, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        gap = w[k] - params[k]
        total += gap * gap
    out[0] = 1.0 - 0.5 * total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[k] - w[k]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = min(1.0, max(0.0, params[k] + theta[k]))


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class Quadratic(Reward):
    """1 - ||w - target||^2 / 2 in the Euclidean norm.

    Parameters
    ----------
    target : array_like
        Where g is largest: one finite number for each outcome, in [0, 1] or not.

    See Also
    --------
    equipoise.rewards.TargetSquared : Content above the target.
    equipoise.rewards.Balance : The plain distance, in the 1-norm.

    Examples
    --------
    >>> g = Quadratic([0.5, 0.5])
    >>> g.value([0.5, 0.0]), g.gradient([0.5, 0.0]).tolist()
    (0.875, [0.0, 0.5])
    """

    smoothness = 1.0
    separable = True
    norm = 2.0

    def __init__(self, target: ArrayLike) -> None:
        self.params = checked_vector(target, "target")
        self.n_outcomes = self.params.size
        self.lipschitz = float(np.linalg.norm(np.maximum(np.abs(self.params), np.abs(1.0 - self.params))))

    @property
    def target(self) -> Vector:
        """Where g is largest, inside the box or not."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def lipschitz_on(self, low: Vector, high: Vector) -> float:
        """The largest gradient is that at the corner farthest from the target.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return float(np.linalg.norm(np.maximum(np.abs(self.params - low), np.abs(high - self.params))))

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - sum of squares / 2."""
        import cvxpy

        return 1.0 - 0.5 * cvxpy.sum_squares(w - self.params)
