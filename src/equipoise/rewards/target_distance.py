"""g(w) = 1 - min over z >= kpi of ||w - z|| = 1 - ||(kpi - w)^+||: reach KPIs, plain distance.

Section "Multi-objective optimization" of the paper, target set objectives with a general norm. L = 1 with
respect to the chosen norm (exact unless every KPI is 0); not smooth. A supergradient, with y = (kpi - w)^+
and 0 where y = 0:

    norm 1: 1 where y_k > 0;   norm 2: y / ||y||_2;   norm infinity: 1 at the first of the largest y_k.

Conjugate, for any theta, in the dual ball or not. Where theta_k > 0, w_k = 1. Elsewhere write a_k =
-theta_k >= 0 and w_k = kpi_k - y_k with 0 <= y_k <= kpi_k; y maximises a.y - ||y||:

* norm 1: coordinatewise, y_k = kpi_k where a_k > 1, else 0.
* norm 2: y_k = min(kpi_k, a_k r) with r = ||y||. With q = r^2 this is the positive root of the concave,
  piecewise linear sum_k min(kpi_k^2, a_k^2 q) - q, which exists when ||a|| > 1 over the k with kpi_k > 0;
  otherwise y = 0. Newton's method from the right, q = ||kpi||^2, decreases to it and ends after finitely
  many steps.
* norm infinity: y_k = min(kpi_k, m), where sum_k a_k min(kpi_k, m) - m is concave in m: m is the largest
  KPI kpi_k with sum of a_j over kpi_j >= kpi_k above 1, or 0 when there is none.

At the edge of the dual ball, where many y are optimal, y is the smallest of these: w = kpi. A projected
theta lies on that edge up to rounding, so the edge is 1e-12 wide: the trajectory must not hang on a last bit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_unit_vector, read_only
from equipoise.rewards.norms import check_norm

if TYPE_CHECKING:
    import cvxpy

_EDGE: Final = 1.0 + 1e-12


@entry
def _value_1(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += max(0.0, params[k] - w[k])
    out[0] = 1.0 - total


@entry
def _gradient_1(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 1.0 if params[k] > w[k] else 0.0


@entry
def _conjugate_argmax_1(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] > 0.0:
            out[k] = 1.0
        else:
            out[k] = 0.0 if theta[k] < -_EDGE else params[k]


@entry
def _value_2(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        short = max(0.0, params[k] - w[k])
        total += short * short
    out[0] = 1.0 - np.sqrt(total)


@entry
def _gradient_2(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    # Divided by the largest shortfall first, so that tiny ones do not vanish when squared.
    largest = 0.0
    for k in range(n):
        out[k] = max(0.0, params[k] - w[k])
        largest = max(largest, out[k])
    if largest > 0.0:
        total = 0.0
        for k in range(n):
            out[k] /= largest
            total += out[k] * out[k]
        total = np.sqrt(total)
        for k in range(n):
            out[k] /= total


@entry
def _conjugate_argmax_2(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    # First the dual norm over the coordinates that can move, and the largest possible q.
    dual_squared = 0.0
    q = 0.0
    for k in range(n):
        if theta[k] < 0.0 and params[k] > 0.0:
            dual_squared += theta[k] * theta[k]
            q += params[k] * params[k]
    if dual_squared <= _EDGE:
        q = 0.0
    while q > 0.0:
        capped = 0.0
        free = 0.0
        for k in range(n):
            if theta[k] < 0.0 and params[k] > 0.0:
                squared = theta[k] * theta[k]
                if params[k] * params[k] <= squared * q:
                    capped += params[k] * params[k]
                else:
                    free += squared
        lower = capped / (1.0 - free) if free < 1.0 else 0.0
        if lower <= 0.0 or lower >= q:
            break
        q = lower
    r = np.sqrt(q)
    for k in range(n):
        if theta[k] > 0.0:
            out[k] = 1.0
        else:
            out[k] = max(0.0, params[k] + theta[k] * r)


@entry
def _value_inf(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    largest = 0.0
    for k in range(n):
        largest = max(largest, params[k] - w[k])
    out[0] = 1.0 - largest


@entry
def _gradient_inf(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    largest = 0.0
    where = -1
    for k in range(n):
        out[k] = 0.0
        if params[k] - w[k] > largest:
            largest = params[k] - w[k]
            where = k
    if where >= 0:
        out[where] = 1.0


@entry
def _conjugate_argmax_inf(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        if theta[k] < 0.0:
            total -= theta[k]
    level = 0.0
    if total > _EDGE:
        for k in range(n):
            if params[k] > level:
                above = 0.0
                for j in range(n):
                    if theta[j] < 0.0 and params[j] >= params[k]:
                        above -= theta[j]
                if above > _EDGE:
                    level = params[k]
    for k in range(n):
        if theta[k] > 0.0:
            out[k] = 1.0
        elif theta[k] < 0.0:
            out[k] = params[k] - min(params[k], level)
        else:
            out[k] = params[k]


_KERNELS: Final = {
    1.0: RewardKernels(_value_1, _gradient_1, _conjugate_argmax_1),
    2.0: RewardKernels(_value_2, _gradient_2, _conjugate_argmax_2),
    math.inf: RewardKernels(_value_inf, _gradient_inf, _conjugate_argmax_inf),
}


@final
class TargetDistance(Reward):
    """1 minus the distance to the set of outcome vectors that meet every KPI.

    Parameters
    ----------
    kpi : array_like
        The level that each outcome should reach, in [0, 1].
    norm : float
        1, 2 or infinity: how the distance is measured, and what `lipschitz` refers to.

    See Also
    --------
    equipoise.rewards.TargetSquared : Smooth, and so learnt at a better rate.

    Examples
    --------
    >>> [TargetDistance([0.75, 0.5], norm).value([0.0, 0.5]) for norm in (1, 2, math.inf)]
    [0.25, 0.25, 0.25]
    """

    smoothness = None
    lipschitz = 1.0

    def __init__(self, kpi: ArrayLike, norm: float = 2.0) -> None:
        self.params = checked_unit_vector(kpi, "kpi")
        self.n_outcomes = self.params.size
        self.norm = check_norm(norm)
        self.piecewise_linear = self.norm != 2.0
        self.separable = self.norm == 1.0
        if self.norm == math.inf:
            size = self.n_outcomes
            self.vertices = Vertices(np.zeros(size), np.append(np.arange(size), 0), np.append(np.ones(size), 0.0))

    @property
    def kpi(self) -> Vector:
        """The level that each outcome should reach."""
        return read_only(self.params)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries, one set for each norm."""
        return _KERNELS[self.norm]

    def lipschitz_on(self, low: Vector, high: Vector) -> float:  # noqa: ARG002
        """A distance changes by no more than its argument, everywhere.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self.lipschitz

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the norm of the positive part."""
        import cvxpy

        return 1.0 - cvxpy.norm(cvxpy.pos(self.params - w), "inf" if self.norm == math.inf else int(self.norm))
