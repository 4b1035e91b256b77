r"""g(A w + b): a reward of sums, differences and shares of the outcomes.

A ratio of two averages is not a concave function of them, but a target for it is a linear one. That the share of
patients who are seen in time is at least z is in_time - z seen >= 0, and so

    (in_time - z seen + z) / (1 + z) >= z / (1 + z),

where the left side lies in [0, 1] for all outcomes in [0,1]: an affine image of them, with the target z / (1 + z).

In units of its own, (in_time - z seen) / rate, with the rate at which patients come, the image leaves [0, 1]. Some
rewards have a formula that holds on any box, with another Lipschitz constant (`Reward.lipschitz_on`); for the others A
must map all of [0,1]^K into [0,1]^M, up to rounding, and images are moved back into it.

With the norm of g, L = L_g ||A|| and beta = beta_g ||A||^2, L_g on the box of all images. ||A|| is the largest of
||A u|| for ||u|| = 1: the largest sum of a column for the 1-norm, of a row for the infinity norm, of absolute values
both, and the largest singular value for the Euclidean one. They are upper bounds, and may be larger than necessary. The
supergradient is A' q, q that of g at the image.

The conjugate has no closed form in general, also where A can be inverted: the image of the box is no box. The
maximiser is iterated for, as for `Custom`, so `exact_conjugate` is False, and bounds are proven by tangents
(`conjugate_bound`). But where the image *picks* outcomes, each row another one, as w_k or as 1 - w_k, it is that of g
for the outcomes that are picked, and 1 or 0 by the sign of theta for the others.

The compiled entries call those of g by their addresses, see `_composed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._compile import entry, inlined, stack_floats
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._composed import (
    ON_STACK,
    Composed,
    fixed_reward,
    iterated_argmax,
    own_numbers,
    part_argmax,
    part_gradient,
    part_value,
)
from equipoise.rewards.base import Reward, RewardKernels, checked_box, checked_vector, read_only

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
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own = own_numbers(params)
    m = int(own[_ROWS])
    image = carray(stack_floats(m), m) if m <= ON_STACK else np.empty(m)
    _write_image(n, w, own, image)
    part_value(0, t, m, image, params, out)


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
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


_KERNELS: Final = RewardKernels(_value, _gradient, iterated_argmax)
_PICKING: Final = RewardKernels(_value, _gradient, _picked_argmax)


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

    Raises
    ------
    RewardError
        Naming the row that leaves [0, 1], or the argument.

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
        self._matrix = _checked_matrix(matrix, inner.n_outcomes)
        M, K = self._matrix.shape
        self._offset = np.zeros(M) if offset is None else checked_vector(offset, "offset")
        if self._offset.size != M:
            raise RewardError(f"offset: got {self._offset.size} entries; {M} are needed, one for each row of matrix")
        low = self._offset + np.minimum(self._matrix, 0.0).sum(axis=1)
        high = self._offset + np.maximum(self._matrix, 0.0).sum(axis=1)
        leaving = np.flatnonzero((low < -_ROUNDING) | (high > 1.0 + _ROUNDING))
        elsewhere = inner.lipschitz_on(low, high) if leaving.size else None
        if leaving.size and elsewhere is None:
            raise _leaves(int(leaving[0]), low, high, K)
        self._free = elsewhere is not None
        stretch = float(np.linalg.norm(self._matrix, inner.norm))
        if stretch == 0.0:
            raise RewardError("matrix: it is zero, and the reward would not depend on the outcomes")
        self.n_outcomes = K
        self.norm = inner.norm
        self.lipschitz = max(inner.lipschitz, elsewhere or 0.0) * stretch
        self.smoothness = None if inner.smoothness is None else inner.smoothness * stretch**2
        self.piecewise_linear = inner.piecewise_linear
        self._picks = _picks(self._matrix, self._offset)
        self.exact_conjugate = self._picks and inner.exact_conjugate

    @property
    def matrix(self) -> Vector:
        """The matrix A."""
        return read_only(self._matrix)

    @property
    def offset(self) -> Vector:
        """The vector b."""
        return read_only(self._offset)

    @property
    def parts(self) -> tuple[Reward, ...]:
        """The reward of the image."""
        return (self.inner,)

    @property
    def numbers(self) -> Vector:
        """How many rows, whether images may leave the box, b, and A row by row."""
        return np.concatenate([[float(self._offset.size), float(self._free)], self._offset, self._matrix.ravel()])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _PICKING if self._picks else _KERNELS

    def image(self, w: ArrayLike) -> Vector:
        """A w + b, the numbers that the goal is for.

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        return np.asarray(self._matrix @ self._vector(w, "w") + self._offset)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The expression of g, of A w + b."""
        return self.inner.concave_expression(self._matrix @ w + self._offset)

    def within(self, low: ArrayLike, high: ArrayLike) -> Affine:
        """The inner reward within the box of all images of the box; see `Reward.within`.

        Parameters
        ----------
        low, high : array_like
            The corners of the box.
        """
        low, high = checked_box(low, high, self.n_outcomes)
        up, down = np.maximum(self._matrix, 0.0), np.minimum(self._matrix, 0.0)
        lowest, highest = self._offset + up @ low + down @ high, self._offset + up @ high + down @ low
        if not self._free:
            lowest, highest = np.clip(lowest, 0.0, 1.0), np.clip(highest, 0.0, 1.0)
        return Affine(self.inner.within(lowest, highest), self._matrix, self._offset)


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


def _checked_matrix(x: ArrayLike, rows: int) -> Vector:
    try:
        matrix = np.array(x, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise RewardError(f"matrix: not a matrix of numbers ({error})") from None
    if matrix.ndim != 2 or matrix.shape[0] != rows or not matrix.shape[1]:
        raise RewardError(
            f"matrix: got an array of shape {matrix.shape}; {rows} rows are needed, one for each outcome of the inner "
            "reward, of as many numbers as the world has outcomes"
        )
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        i, k = wrong[0]
        raise RewardError(f"matrix[{i}][{k}]: got {matrix[i, k]}; a finite number is needed")
    return matrix


def _leaves(row: int, low: Vector, high: Vector, n_outcomes: int) -> RewardError:
    return RewardError(
        f"matrix[{row}]: with its offset it is from {low[row]:g} to {high[row]:g} on [0,1]^{n_outcomes}; it must stay "
        "in [0, 1], where the inner reward is defined: scale the row, and shift it by its offset"
    )
