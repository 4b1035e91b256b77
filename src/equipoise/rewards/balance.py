"""g(w) = 1 - ||w - c||_1 / 2: split the time, or anything else, in given proportions.

The paper's star and its lower bounds use it with c = (1/K, ..., 1/K): on distributions, ||w - c||_1 / 2 is
the total variation distance. A supergradient has entries -sign(w_k - c_k) / 2, with 0 at w_k = c_k.

The constant is declared for the Euclidean norm, so that `TunedGradientDescent` fits: L = sqrt(K) / 2,
exact, attained wherever no w_k equals c_k. (With norm 1 it would be 1/2.) Not smooth.

The conjugate's maximiser is coordinatewise: 1 where theta_k > 1/2, 0 where theta_k < -1/2, c_k between.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, checked_unit_vector, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += abs(w[k] - params[k])
    out[0] = 1.0 - 0.5 * total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if w[k] > params[k]:
            out[k] = -0.5
        else:
            out[k] = 0.5 if w[k] < params[k] else 0.0


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] > 0.5:
            out[k] = 1.0
        else:
            out[k] = 0.0 if theta[k] < -0.5 else params[k]


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class Balance(Reward):
    """1 minus half the l1 distance to a target; for distributions, 1 minus the total variation.

    Parameters
    ----------
    target : array_like
        The proportions wanted, each in [0, 1]; they need not sum to 1.

    See Also
    --------
    equipoise.rewards.Quadratic : Smooth, and so learnt at a better rate.

    Examples
    --------
    >>> g = Balance([0.5, 0.5])
    >>> g.value([1.0, 0.0]), g.gradient([1.0, 0.0]).tolist()
    (0.5, [-0.5, 0.5])
    """

    norm = 2.0
    smoothness = None
    separable = True
    piecewise_linear = True

    def __init__(self, target: ArrayLike) -> None:
        self.params = checked_unit_vector(target, "target")
        self.n_outcomes = self.params.size
        self.lipschitz = 0.5 * math.sqrt(self.n_outcomes)

    @property
    def target(self) -> Vector:
        """The proportions wanted."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - norm1 / 2."""
        import cvxpy

        return 1.0 - 0.5 * cvxpy.norm1(w - self.params)
