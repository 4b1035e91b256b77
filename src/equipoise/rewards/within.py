r"""A reward on a box that is known to hold the average outcomes, gone on with straight beyond it.

Some rewards are steep in corners of [0,1]^K that never occur: a logarithm at 0 makes L as large as it likes, and the
threshold Q = L then never ends an episode. For g(w) = sum_k g_k(w_k), with the corners low and high of the box,

    h(w) = g(z) + sum_k s_k (w_k - z_k),      z = w moved into the box,

    s_k = g_k'(low_k) where w_k < low_k,      g_k'(high_k) where w_k > high_k.

h is g on the box and its tangent beyond, coordinate by coordinate: concave, at least g everywhere, and as smooth as g
is on the box, since a tangent has no curvature.
No supergradient is longer than the one with the entries max(|g_k'(low_k)|, |g_k'(high_k)|), and the dual norm of that
is L: the sharp constant of g on the box. The maximiser of the conjugate is exact as well: 0 where g_k'(low_k) + theta_k
< 0, 1 where g_k'(high_k) + theta_k > 0, and that of g, moved into the box, elsewhere.

Averages leave the box early on, when they are averages of little. What that means: h is what is maximised, and beyond
the box it pays more than g does. Nothing is lost by that in the long run if the averages stay in the box, and nothing
that is proven of h is wrong; but where they do not, what is called the value is that of h and not of g.

Rewards that are made of others take the box into their parts (`Reward.within`), so that g may also be a sum, a minimum,
a shortfall or a reward of an affine image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._compile import entry, stack_floats
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._composed import (
    ON_STACK,
    Composed,
    fixed_reward,
    own_numbers,
    part_argmax,
    part_gradient,
    part_value,
)
from equipoise.rewards.base import Reward, RewardKernels, checked_box, read_only
from equipoise.rewards.norms import dual, length

if TYPE_CHECKING:
    import cvxpy

# The own numbers are low, high, the slopes at low and the slopes at high: K of each.


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    inside = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    beyond = 0.0
    for k in range(n):
        inside[k] = w[k]
        if w[k] < own[k]:
            inside[k] = own[k]
            beyond += own[2 * n + k] * (w[k] - own[k])
        elif w[k] > own[n + k]:
            inside[k] = own[n + k]
            beyond += own[3 * n + k] * (w[k] - own[n + k])
    part_value(0, t, n, inside, params, out)
    out[0] += beyond


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    inside = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    for k in range(n):
        inside[k] = min(own[n + k], max(own[k], w[k]))
    part_gradient(0, t, n, inside, params, out)
    for k in range(n):
        if w[k] < own[k]:
            out[k] = own[2 * n + k]
        elif w[k] > own[n + k]:
            out[k] = own[3 * n + k]


@entry
def _conjugate_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    part_argmax(0, t, n, theta, params, out)
    for k in range(n):
        if own[2 * n + k] + theta[k] < 0.0:
            out[k] = 0.0
        elif own[3 * n + k] + theta[k] > 0.0:
            out[k] = 1.0
        else:
            out[k] = min(1.0, max(0.0, min(own[n + k], max(own[k], out[k]))))


_KERNELS: Final = RewardKernels(_value, _gradient, _conjugate_argmax)


@final
class Within(Composed):
    """A reward on a box, with its tangents beyond; `Reward.within` makes one.

    Parameters
    ----------
    inner : Reward
        g, a sum of functions of one outcome each (`separable`); it may not change with time.
    low, high : array_like
        The corners of the box that holds the average outcomes in the long run: low <= high, within [0, 1] unless g is
        defined elsewhere too (`lipschitz_on`).

    Raises
    ------
    RewardError
        When g is not of that kind, or naming the entry that will not do.

    Examples
    --------
    No outcome is ever below 0.1 on average; the logarithm of less is then of no account.

    >>> from equipoise.rewards import ProportionalFairness
    >>> g = ProportionalFairness(2, eps=0.001)
    >>> h = Within(g, low=[0.1, 0.1], high=[1.0, 1.0])
    >>> round(g.lipschitz, 1), round(h.lipschitz, 2), h.value([0.2, 0.5]) == g.value([0.2, 0.5])
    (102.3, 1.01, True)
    """

    def __init__(self, inner: Reward, low: ArrayLike, high: ArrayLike) -> None:
        self.inner = fixed_reward(inner, "inner")
        self.n_outcomes = inner.n_outcomes
        if not inner.separable:
            raise RewardError(
                f"inner: {inner!r} is no sum of functions of one outcome each; its .within(low, high) says what can be "
                "had"
            )
        self._low, self._high = checked_box(low, high, self.n_outcomes)
        outside = np.flatnonzero((self._low < 0.0) | (self._high > 1.0))
        if outside.size and inner.lipschitz_on(self._low, self._high) is None:
            k = outside[0]
            raise RewardError(
                f"low[{k}], high[{k}]: got {self._low[k]:g} and {self._high[k]:g}; they must lie in [0, 1], where the "
                "reward is defined"
            )
        self._below, self._above = inner.gradient(self._low), inner.gradient(self._high)
        self.norm = inner.norm
        self.lipschitz = length(np.maximum(np.abs(self._below), np.abs(self._above)), dual(self.norm))
        self.smoothness = inner.smoothness_on(self._low, self._high)
        self.piecewise_linear = inner.piecewise_linear
        self.separable = True
        self.exact_conjugate = inner.exact_conjugate

    @property
    def low(self) -> Vector:
        """The lower corner."""
        return read_only(self._low)

    @property
    def high(self) -> Vector:
        """The upper corner."""
        return read_only(self._high)

    @property
    def parts(self) -> tuple[Reward, ...]:
        """The reward on the box."""
        return (self.inner,)

    @property
    def numbers(self) -> Vector:
        """The corners, and the slopes there."""
        return np.concatenate([self._low, self._high, self._below, self._above])

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
        """The largest g(z) + s.(w - z) for z in the box, z being a variable of its own; known where w is a constant."""
        import cvxpy

        if w.is_constant():
            z = cvxpy.Constant(np.clip(w.value, self._low, self._high))
        else:
            z = cvxpy.Variable(self.n_outcomes, bounds=[self._low, self._high])
        beyond = cvxpy.minimum(cvxpy.multiply(self._below, w - z), cvxpy.multiply(self._above, w - z))
        return self.inner.concave_expression(z) + cvxpy.sum(beyond)
