"""A reward: three compiled functions on raw pointers, and a class with its constants.

    g(w) = sum over k of worth_k w_k / (w_k + half),

the first units of an outcome count most, and at w_k = half one has half of what there is to gain. With a = worth and
h = half, the derivative is a h / (w + h)^2, which lies between 0 and a / h; so in the Euclidean norm L = ||a|| / h. The
second is -2 a h / (w + h)^3, at most 2 a / h^2 in size; so beta = 2 max(a) / h^2. The maximiser of g(w) + theta.w over
the box is found for each coordinate by itself: 1 where theta >= 0; elsewhere the derivative is -theta at
w = sqrt(a h / -theta) - h, and the nearest point of [0, 1] to that is the maximiser, as g is concave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise.rewards.base import Reward, RewardKernels, checked_vector, entry, read_only

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    out[0] = 0.0
    for k in range(n):
        out[0] += params[k] * w[k] / (w[k] + params[n])


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    for k in range(n):
        out[k] = params[k] * params[n] / (w[k] + params[n]) ** 2


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    for k in range(n):
        out[k] = 1.0
        if theta[k] < 0.0:
            out[k] = min(1.0, max(0.0, np.sqrt(params[k] * params[n] / -theta[k]) - params[n]))


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


class DiminishingReturns(Reward):
    """The first units of each outcome count most.

    Parameters
    ----------
    worth : list of float
        What each outcome can add, > 0.
    half : float
        The amount of an outcome that is worth half of that, > 0.
    """

    norm = 2.0

    def __init__(self, worth: list[float], half: float = 0.5) -> None:
        scales = checked_vector(worth, "worth")
        if not half > 0.0 or not (scales > 0.0).all():
            raise eq.errors.RewardError(f"DiminishingReturns: got {worth} and {half}; numbers > 0 are needed")
        self.half = float(half)
        self.params = np.append(scales, self.half)
        self.n_outcomes = scales.size
        self.lipschitz = float(np.linalg.norm(scales)) / self.half
        self.smoothness = 2.0 * float(scales.max()) / self.half**2

    @property
    def worth(self) -> NDArray[np.float64]:
        """What each outcome can add."""
        return read_only(self.params[:-1])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled functions."""
        return _KERNELS

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """For `eq.solve`: a w / (w + h) = a - a h / (w + h)."""
        import cvxpy

        return cvxpy.sum(self.worth - cvxpy.multiply(self.worth * self.half, cvxpy.inv_pos(w + self.half)))
