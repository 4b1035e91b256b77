"""g(w) = weights.w: one scalar reward, a weighted sum of the outcomes.

With it the problem is the ordinary one of UCRL2 (the paper's introduction: "if g is linear, we recover
MDPwSR"). grad g(w) = weights everywhere, so L = ||weights||_* exactly and beta = 0. The conjugate is
g*(theta) = sum_k max(0, weights_k + theta_k), attained at w_k = 1 where weights_k + theta_k > 0 and 0
elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, checked_vector, read_only
from equipoise.rewards.norms import check_norm, dual, length

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += params[k] * w[k]
    out[0] = total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = params[k]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 if params[k] + theta[k] > 0.0 else 0.0


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class Linear(Reward):
    """A weighted sum of the outcomes; a negative weight makes a cost of one.

    Parameters
    ----------
    weights : array_like
        One finite number for each outcome.
    norm : float
        The norm that `lipschitz` refers to; its value is the length of the weights in the dual norm.

    Examples
    --------
    >>> g = Linear([3.0, -4.0])
    >>> g.value([0.5, 0.25]), g.lipschitz, g.smoothness
    (0.5, 5.0, 0.0)
    """

    smoothness = 0.0
    separable = True
    piecewise_linear = True

    def __init__(self, weights: ArrayLike, norm: float = 2.0) -> None:
        self.params = checked_vector(weights, "weights")
        self.n_outcomes = self.params.size
        self.norm = check_norm(norm)
        self.lipschitz = length(self.params, dual(self.norm))

    @property
    def weights(self) -> Vector:
        """One number for each outcome."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The same everywhere.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self.lipschitz

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The inner product."""
        return self.params @ w
