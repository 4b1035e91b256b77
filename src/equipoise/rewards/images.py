"""A reward of an affine image of the outcomes (`Affine`), and a reward on a box with its tangents beyond (`Within`).

`Affine` is g(A w + b): a reward of sums, differences and shares of the outcomes. That the share x / y is at least z is
x - z y >= 0, or (x - z y + z) / (1 + z) >= z / (1 + z), where the left side lies in [0, 1] for all outcomes. In other
units, such as (x - z y) / rate, the image leaves [0, 1]. Some rewards have a formula that holds on any box, with
another Lipschitz constant (`Reward.lipschitz_on`); for the others A must map all of [0,1]^K into [0,1]^M, up to
rounding, and images are moved back into it.

With the norm of g, L = L_g ||A|| and beta = beta_g ||A||^2, L_g on the box of all images and ||A|| the largest ||A u||
for ||u|| = 1: upper bounds. The supergradient is A' q, q that of g at the image. The maximiser of the conjugate is
found by iteration, since the image of the box is no box. But where the image *picks* outcomes, each row another one, as
w_k or as 1 - w_k, it is that of g for the outcomes picked, and 1 or 0 by the sign of theta for the others.

`Within` is g on a box, extended by its tangents. A logarithm that is steep where averages never come makes L large, and
the threshold Q = L then never ends an episode. For g(w) = sum_k g_k(w_k), with the corners low and high of the box,

    h(w) = g(z) + sum_k s_k (w_k - z_k),      z = w moved into the box,

    s_k = g_k'(low_k) where w_k < low_k,      g_k'(high_k) where w_k > high_k.

h is g on the box and its tangent beyond, coordinate by coordinate: concave, at least g everywhere, and as smooth as g
is on the box. L is the dual norm of max(|g_k'(low_k)|, |g_k'(high_k)|), the sharp constant of g on the box. The
maximiser of the conjugate is exact as well: 0 where g_k'(low_k) + theta_k < 0, 1 where g_k'(high_k) + theta_k > 0, and
that of g, moved into the box, elsewhere. If the averages leave the box, reported values are those of h, which is larger
than g there. Rewards that are made of others take the box into their parts (`Reward.within`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, inlined, stack_floats
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, RewardKernels, checked_box, checked_matrix, checked_vector, read_only
from equipoise.rewards.composed import (
    ON_STACK,
    Composed,
    fixed_reward,
    iterated_argmax,
    own_numbers,
    part_argmax,
    part_gradient,
    part_value,
)
from equipoise.rewards.norms import dual, length

if TYPE_CHECKING:
    import cvxpy

_ROUNDING: Final = 1e-9  # how far an image may lie outside of the box

# Places among the own numbers; from _MAP on there are b, and A row by row.
_ROWS, _FREE, _MAP = range(3)


@inlined
def _write_image(n, w, own, image):  # type: ignore[no-untyped-def]
    """Write A w + b, moved back into [0, 1] unless it may leave it."""
    m = image.shape[0]
    for i in range(m):
        image[i] = own[_MAP + i]
        for k in range(n):
            image[i] += own[_MAP + m + i * n + k] * w[k]
        if own[_FREE] == 0.0:
            image[i] = min(1.0, max(0.0, image[i]))


@entry
def _affine_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    m = int(own[_ROWS])
    image = carray(stack_floats(m), m) if m <= ON_STACK else np.empty(m)
    _write_image(n, w, own, image)
    part_value(0, t, m, image, params, out)


@entry
def _affine_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    m = int(own[_ROWS])
    work = carray(stack_floats(2 * m), 2 * m) if m <= ON_STACK else np.empty(2 * m)
    image, slope = work[:m], work[m:]
    _write_image(n, w, own, image)
    part_gradient(0, t, m, image, params, slope)
    for k in range(n):
        out[k] = 0.0
        for i in range(m):
            out[k] += own[_MAP + m + i * n + k] * slope[i]


@entry
def _picked_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    m = int(own[_ROWS])
    work = carray(stack_floats(2 * m), 2 * m) if m <= ON_STACK else np.empty(2 * m)
    asked, image = work[:m], work[m:]
    for i in range(m):
        asked[i] = 0.0
        for k in range(n):
            asked[i] += own[_MAP + m + i * n + k] * theta[k]  # 1 or -1 times that of the outcome it picks
    part_argmax(0, t, m, asked, params, image)
    for k in range(n):
        out[k] = 1.0 if theta[k] > 0.0 else 0.0
        for i in range(m):
            sign = own[_MAP + m + i * n + k]
            if sign != 0.0:
                out[k] = image[i] if sign > 0.0 else 1.0 - image[i]


_AFFINE: Final = RewardKernels(_affine_value, _affine_gradient, iterated_argmax)
_PICKING_AFFINE: Final = RewardKernels(_affine_value, _affine_gradient, _picked_argmax)


@final
class Affine(Composed):
    """A reward of an affine image of the outcomes, g(A w + b); `Reward.of` makes one.

    Parameters
    ----------
    inner : Reward
        g, of M outcomes; it may not change with time.
    matrix : array_like
        A, M rows of K numbers.
    offset : array_like, optional
        b, M numbers; by default zero. A w + b must lie in [0,1]^M for all w in [0,1]^K, unless g is defined elsewhere
        too: `TargetSquared`, `TargetDistance`, `Quadratic` and `Linear` are.

    Examples
    --------
    The first two outcomes together, at most 0.5 on average; the third at least 0.75.

    >>> from equipoise.rewards import TargetSquared
    >>> g = Affine(TargetSquared([0.75, 0.75]), [[-0.5, -0.5, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0])
    >>> g.value([0.25, 0.25, 0.75]), g.value([0.5, 0.5, 0.75])
    (1.0, 0.96875)
    """

    def __init__(self, inner: Reward, matrix: ArrayLike, offset: ArrayLike | None = None) -> None:
        self.inner = fixed_reward(inner, "inner")
        self.matrix = read_only(checked_matrix(matrix, "matrix"))
        M, K = self.matrix.shape
        if inner.n_outcomes != M:
            raise RewardError(
                f"matrix: got an array of shape {self.matrix.shape}; {inner.n_outcomes} rows are needed, one for each "
                "outcome of the inner reward, of as many numbers as the model has outcomes"
            )
        self.offset = read_only(
            checked_vector(np.zeros(M) if offset is None else offset, "offset", M, each="row of matrix")
        )
        low = self.offset + np.minimum(self.matrix, 0.0).sum(axis=1)
        high = self.offset + np.maximum(self.matrix, 0.0).sum(axis=1)
        leaving = np.flatnonzero((low < -_ROUNDING) | (high > 1.0 + _ROUNDING))
        elsewhere = inner.lipschitz_on(low, high) if leaving.size else None
        if leaving.size and elsewhere is None:
            row = leaving[0]
            raise RewardError(
                f"matrix[{row}]: with its offset it is from {low[row]:g} to {high[row]:g} on [0,1]^{K}; it must stay "
                "in [0, 1], where the inner reward is defined: scale the row, and shift it by its offset"
            )
        self._free = elsewhere is not None
        stretch = float(np.linalg.norm(self.matrix, inner.norm))
        if stretch == 0.0:
            raise RewardError("matrix: it is zero, and the reward would not depend on the outcomes")
        self._take_parts((self.inner,))
        self.n_outcomes = K
        self.lipschitz = max(inner.lipschitz, elsewhere or 0.0) * stretch
        self.smoothness = None if inner.smoothness is None else inner.smoothness * stretch**2
        self._picks = _picks(self.matrix, self.offset)
        self.exact_conjugate = self._picks and inner.exact_conjugate
        self.numbers = np.concatenate([[float(M), float(self._free)], self.offset, self.matrix.ravel()])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _PICKING_AFFINE if self._picks else _AFFINE

    def image(self, w: ArrayLike) -> Vector:
        """A w + b, the numbers that the goal is for.

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        return np.asarray(self.matrix @ self._vector(w, "w") + self.offset)

    def tangents(self, w: ArrayLike) -> list[tuple[float, Vector]]:
        """Those of g at the image."""
        image = self.image(w) if self._free else np.clip(self.image(w), 0.0, 1.0)
        inner = self.inner.tangents(image)
        return [(height + float(slope @ self.offset), slope @ self.matrix) for height, slope in inner]

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The expression of g, of A w + b."""
        return self.inner.concave_expression(self.matrix @ w + self.offset)

    def within(self, low: ArrayLike, high: ArrayLike) -> Affine:
        """The inner reward within the box of all images of the box; see `Reward.within`."""
        low, high = checked_box(low, high, self.n_outcomes)
        up, down = np.maximum(self.matrix, 0.0), np.minimum(self.matrix, 0.0)
        lowest, highest = self.offset + up @ low + down @ high, self.offset + up @ high + down @ low
        if not self._free:
            lowest, highest = np.clip(lowest, 0.0, 1.0), np.clip(highest, 0.0, 1.0)
        return Affine(self.inner.within(lowest, highest), self.matrix, self.offset)


def _picks(matrix: Vector, offset: Vector) -> bool:
    """Whether every row is another outcome: w_k, or 1 - w_k."""
    used = matrix != 0.0
    signs = matrix.sum(axis=1)
    return bool(
        np.all(used.sum(axis=1) == 1)
        and np.all(used.sum(axis=0) <= 1)
        and np.all(np.abs(signs) == 1.0)
        and np.all(offset == (signs < 0.0))
    )


# The own numbers are low, high, the slopes at low and the slopes at high: K of each.


@entry
def _within_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
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
def _within_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
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
def _within_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    part_argmax(0, t, n, theta, params, out)
    for k in range(n):
        if own[2 * n + k] + theta[k] < 0.0:
            out[k] = 0.0
        elif own[3 * n + k] + theta[k] > 0.0:
            out[k] = 1.0
        else:
            out[k] = min(1.0, max(0.0, min(own[n + k], max(own[k], out[k]))))


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

    Examples
    --------
    No outcome is ever below 0.1 on average, so the logarithm of smaller numbers does not matter.

    >>> from equipoise.rewards import ProportionalFairness
    >>> g = ProportionalFairness(2, eps=0.001)
    >>> h = Within(g, low=[0.1, 0.1], high=[1.0, 1.0])
    >>> round(g.lipschitz, 1), round(h.lipschitz, 2), h.value([0.2, 0.5]) == g.value([0.2, 0.5])
    (102.3, 1.01, True)
    """

    kernels = RewardKernels(_within_value, _within_gradient, _within_argmax)
    separable = True

    def __init__(self, inner: Reward, low: ArrayLike, high: ArrayLike) -> None:
        self.inner = fixed_reward(inner, "inner")
        if not inner.separable:
            raise RewardError(
                f"inner: {inner!r} is no sum of functions of one outcome each; use its .within(low, high) instead"
            )
        low, high = checked_box(low, high, inner.n_outcomes)
        self.low, self.high = read_only(low), read_only(high)
        outside = np.flatnonzero((self.low < 0.0) | (self.high > 1.0))
        if outside.size and inner.lipschitz_on(self.low, self.high) is None:
            k = outside[0]
            raise RewardError(
                f"low[{k}], high[{k}]: got {self.low[k]:g} and {self.high[k]:g}; they must lie in [0, 1], where the "
                "reward is defined"
            )
        self._below, self._above = inner.gradient(self.low), inner.gradient(self.high)
        self._take_parts((self.inner,))
        self.lipschitz = length(np.maximum(np.abs(self._below), np.abs(self._above)), dual(self.norm))
        self.smoothness = inner.smoothness_on(self.low, self.high)
        self.exact_conjugate = inner.exact_conjugate
        self.numbers = np.concatenate([self.low, self.high, self._below, self._above])

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """The same everywhere."""
        return self.lipschitz

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The largest g(z) + s.(w - z) for z in the box, z being a variable of its own; known where w is a constant."""
        import cvxpy

        if w.is_constant():
            z = cvxpy.Constant(np.clip(w.value, self.low, self.high))
        else:
            z = cvxpy.Variable(self.n_outcomes, bounds=[self.low, self.high])
        beyond = cvxpy.minimum(cvxpy.multiply(self._below, w - z), cvxpy.multiply(self._above, w - z))
        return self.inner.concave_expression(z) + cvxpy.sum(beyond)
