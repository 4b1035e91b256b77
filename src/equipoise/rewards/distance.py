"""1 minus a distance: to a target set (`TargetDistance`), or to given proportions (`Balance`).

`TargetDistance`, g(w) = 1 - min over z in Z of ||w - z|| (section "Multi-objective optimization", target set
objectives). The norm is ||x|| = |d x|_p with 1 <= p <= infinity and positive weights d. Z is {z >= kpi} or a box, with
the closed forms below, or any other convex `TargetSet`, see `target_sets`. Not smooth. L = 1 with respect to that norm;
in the norm s of theta's dual it is the largest |d x|_p for |x|_s = 1: max d if s <= p, else |d|_r, 1/r = 1/p - 1/s.

A box, low <= z <= high (high = infinity for KPIs). With r_k = d_k times the distance of w_k from the box, a
supergradient is d times the derivative of |r|_p, upwards below the box and downwards above it, and 0 where r = 0:

    norm 1: 1 where r_k > 0;   p: (r_k / |r|_p)^(p-1);   norm infinity: 1 at the first of the largest r_k.

Conjugate of a box, for any theta. w_k = min(1, high_k) + y_k / d_k where theta_k > 0, else low_k - y_k / d_k, with y_k
from 0 to what leads to the edge of [0,1], cap_k. With a_k = |theta_k| / d_k, y maximises a.y - |y|_p:

* norm 1: y_k = cap_k where a_k > 1, else 0.
* 1 < p: y_k = min(cap_k, a_k^(1/(p-1)) r) with r = |y|_p. R = r^p is the positive root of the concave, piecewise linear
  sum_k min(cap_k^p, a_k^q R) - R, which exists when |a|_q > 1 over the k with cap_k > 0; otherwise y = 0. Newton's
  method from the right, R = |cap|_p^p, decreases to it and ends after finitely many steps.
* norm infinity: y_k = min(cap_k, m), m the largest cap_k with sum of a_j over cap_j >= cap_k above 1, or 0 when there
  is none.

At the edge of the dual ball, where many y are optimal, y is the smallest of these: w lies in Z. A projected theta
lies on that edge up to rounding, so the edge is 1e-12 wide: the trajectory must not hang on a last bit.

`Balance`, g(w) = 1 - ||w - c||_1 / 2; on distributions, 1 minus the total variation distance. The paper's star and its
lower bounds use it with c = (1/K, ..., 1/K). A supergradient has entries -sign(w_k - c_k) / 2, with 0 at w_k = c_k.
With the Euclidean norm, so that `TunedGradientDescent` fits, L = sqrt(K) / 2, exact. Not smooth. The conjugate is
attained at 1 where theta_k > 1/2, at 0 where theta_k < -1/2, at c_k between.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import check_float
from equipoise._runtime.compiler import entry
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_positive, checked_unit_vector, read_only
from equipoise.rewards.composed import Packed
from equipoise.rewards.norms import NORMS, check_norm
from equipoise.rewards.target_sets import EDGE, NEAREST, TargetBox, TargetSet, check_set, conjugate_above, pack_nearest

if TYPE_CHECKING:
    import cvxpy

_LEAST_P: Final = 1.01  # below it, and above the next, powers leave the range of floats
_MOST_P: Final = 100.0

# What the kernels of a box read: low, high and d, K numbers each, and p.


@entry
def _value_1(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += max(0.0, max(params[k] - w[k], w[k] - params[n + k])) * params[2 * n + k]
    out[0] = 1.0 - total


@entry
def _gradient_1(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        out[k] = 0.0
        if params[k] > w[k]:
            out[k] = params[2 * n + k]
        elif w[k] > params[n + k]:
            out[k] = -params[2 * n + k]


@entry
def _conjugate_argmax_1(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        steep = abs(theta[k]) > EDGE * params[2 * n + k]
        if theta[k] > 0.0:
            out[k] = 1.0 if steep else min(1.0, params[n + k])
        else:
            out[k] = 0.0 if steep else params[k]


@entry
def _value_p(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    p = params[3 * n]
    largest = 0.0
    total = 0.0
    if p == 2.0:
        for k in range(n):
            short = max(0.0, max(params[k] - w[k], w[k] - params[n + k])) * params[2 * n + k]
            total += short * short
        out[0] = 1.0 - np.sqrt(total)
        return
    for k in range(n):
        largest = max(largest, max(params[k] - w[k], w[k] - params[n + k]) * params[2 * n + k])
    for k in range(n):
        short = max(0.0, max(params[k] - w[k], w[k] - params[n + k])) * params[2 * n + k]
        total += (short / largest) ** p if short > 0.0 else 0.0
    out[0] = 1.0 - largest * total ** (1.0 / p)


@entry
def _gradient_p(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    # Divided by the largest shortfall first, so that tiny ones do not vanish when squared.
    p = params[3 * n]
    largest = 0.0
    for k in range(n):
        out[k] = max(0.0, max(params[k] - w[k], w[k] - params[n + k])) * params[2 * n + k]
        largest = max(largest, out[k])
    if largest > 0.0:
        total = 0.0
        for k in range(n):
            out[k] /= largest
            total += out[k] * out[k] if p == 2.0 else out[k] ** p
        total = np.sqrt(total) if p == 2.0 else total ** (1.0 / p)
        for k in range(n):
            out[k] /= total
            if p != 2.0:
                out[k] = out[k] ** (p - 1.0)
            out[k] *= params[2 * n + k]
            if w[k] > params[n + k]:
                out[k] = -out[k]


@entry
def _conjugate_argmax_p(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    # First the dual norm over the coordinates that can move, and the largest possible R. `out` holds the caps.
    p = params[3 * n]
    q = p / (p - 1.0)
    dual = 0.0
    R = 0.0
    for k in range(n):
        room = max(0.0, 1.0 - params[n + k]) if theta[k] > 0.0 else params[k]
        out[k] = room * params[2 * n + k]
        if theta[k] != 0.0 and out[k] > 0.0:
            a = abs(theta[k]) / params[2 * n + k]
            dual += a * a if p == 2.0 else a**q
            R += out[k] * out[k] if p == 2.0 else out[k] ** p
    if dual <= EDGE:
        R = 0.0
    while R > 0.0:
        capped = 0.0
        free = 0.0
        for k in range(n):
            if theta[k] != 0.0 and out[k] > 0.0:
                a = abs(theta[k]) / params[2 * n + k]
                grown = a * a if p == 2.0 else a**q
                most = out[k] * out[k] if p == 2.0 else out[k] ** p
                if most <= grown * R:
                    capped += most
                else:
                    free += grown
        lower = capped / (1.0 - free) if free < 1.0 else 0.0
        if lower <= 0.0 or lower >= R:
            break
        R = lower
    r = np.sqrt(R) if p == 2.0 else R ** (1.0 / p)
    for k in range(n):
        a = abs(theta[k]) / params[2 * n + k]
        y = (a if p == 2.0 else a ** (1.0 / (p - 1.0))) * r
        move = y / params[2 * n + k]
        if theta[k] > 0.0:
            out[k] = min(1.0, min(1.0, params[n + k]) + move)
        else:
            out[k] = max(0.0, params[k] - move)


@entry
def _value_inf(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    largest = 0.0
    for k in range(n):
        largest = max(largest, max(params[k] - w[k], w[k] - params[n + k]) * params[2 * n + k])
    out[0] = 1.0 - largest


@entry
def _gradient_inf(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    largest = 0.0
    where = -1
    for k in range(n):
        out[k] = 0.0
        short = max(params[k] - w[k], w[k] - params[n + k]) * params[2 * n + k]
        if short > largest:
            largest = short
            where = k
    if where >= 0:
        out[where] = params[2 * n + where] if params[where] > w[where] else -params[2 * n + where]


@entry
def _conjugate_argmax_inf(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        room = max(0.0, 1.0 - params[n + k]) if theta[k] > 0.0 else params[k]
        out[k] = room * params[2 * n + k]
    level = 0.0
    for k in range(n):
        if out[k] > level:
            above = 0.0
            for j in range(n):
                if out[j] >= out[k]:
                    above += abs(theta[j]) / params[2 * n + j]
            if above > EDGE:
                level = out[k]
    for k in range(n):
        move = min(out[k], level) / params[2 * n + k]
        if theta[k] > 0.0:
            out[k] = min(1.0, min(1.0, params[n + k]) + move)
        elif theta[k] < 0.0:
            out[k] = max(0.0, params[k] - move)
        else:
            out[k] = params[k]


_OF_A_BOX: Final = {
    1.0: RewardKernels(_value_1, _gradient_1, _conjugate_argmax_1),
    2.0: RewardKernels(_value_p, _gradient_p, _conjugate_argmax_p),
    math.inf: RewardKernels(_value_inf, _gradient_inf, _conjugate_argmax_inf),
}


@final
class TargetDistance(Packed):
    """1 minus the distance to a target set: to the outcome vectors that meet every KPI, or to any convex set.

    `TargetSquared` is smooth, and learnt at a better rate.

    Parameters
    ----------
    kpi : array_like or TargetSet
        The level that each outcome should reach, in [0, 1]; or the set: `TargetBox`, `TargetBall`, `TargetHull`,
        `TargetPolytope`, or your own.
    norm : float
        1, 2 or infinity: the norm of the distance, and of `lipschitz`.
    weights : array_like, optional
        The weight of each outcome in the distance; K numbers > 0, by default 1.
    p : float, optional
        The norm of the distance, if it is not `norm`: 1, 2, infinity, or a number from 1.01 to 100.

    Examples
    --------
    >>> [TargetDistance([0.75, 0.5], norm).value([0.0, 0.5]) for norm in (1, 2, math.inf)]
    [0.25, 0.25, 0.25]
    >>> from equipoise.rewards import TargetBall
    >>> round(TargetDistance(TargetBall([0.5, 0.5], 0.25)).value([0.5, 0.0]), 9)
    0.75
    """

    smoothness = None

    def __init__(
        self,
        kpi: ArrayLike | TargetSet,
        norm: float = 2.0,
        weights: ArrayLike | None = None,
        p: float | None = None,
    ) -> None:
        self._box: tuple[Vector, Vector] | None = None
        self.kpi: TargetSet | Vector
        if isinstance(kpi, TargetSet):
            check_set(kpi)
            self.kpi, self.n_outcomes = kpi, kpi.n_outcomes
            if isinstance(kpi, TargetBox):
                self._box = (kpi.low, kpi.high)
        else:
            low = checked_unit_vector(kpi, "kpi")
            self.kpi, self.n_outcomes = read_only(low), low.size
            self._box = (low, np.full(low.size, math.inf))
        self.norm = check_norm(norm)
        self.p = None if p is None else _checked_p(p)
        self._power = self.norm if self.p is None else self.p
        self._scale = checked_positive(weights, "weights", self.n_outcomes)
        self.weights = None if weights is None else read_only(self._scale)
        if self.norm <= self._power:
            self.lipschitz = float(self._scale.max())
        else:
            self.lipschitz = float(np.linalg.norm(self._scale, 1.0 / (1.0 / self._power - 1.0 / self.norm)))
        self.piecewise_linear = self._box is not None and self._power in (1.0, math.inf)
        self.separable = self._box is not None and self._power == 1.0
        self.exact_conjugate = self._box is not None or (weights is None and self._power == self.norm)
        one_sided = self._box is not None and bool(np.all(self._box[1] >= 1.0))
        if one_sided and self._power == self.norm == math.inf and weights is None:
            size = self.n_outcomes
            self.vertices = Vertices(np.zeros(size), np.append(np.arange(size), 0), np.append(np.ones(size), 0.0))

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries: of a box in this norm, or of any set."""
        return NEAREST if self._box is None else _OF_A_BOX.get(self._power, _OF_A_BOX[2.0])

    def conjugate_bound(self, theta: ArrayLike, *near: ArrayLike) -> float:  # noqa: ARG002
        """An upper bound on g*(theta); in the dual ball, and everywhere for a box, g*(theta) itself."""
        if not isinstance(self.kpi, TargetSet) or self._box is not None:
            return self.conjugate(theta)
        return conjugate_above(self, self.kpi, self._power, self._scale, self._vector(theta, "theta"))

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:  # noqa: ARG002
        """A distance changes by no more than its argument, everywhere; None if found by iteration, on [0,1]^K."""
        return None if self._box is None else self.lipschitz

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - the norm of the distances; for a set that is not a box there is none, and `solve` needs none."""
        import cvxpy

        if self._box is None:
            raise RewardError(f"{self!r}: a distance found by iteration has no cvxpy expression; solve it by columns")
        low, high = self._box
        p = "inf" if self._power == math.inf else int(self._power) if self._power in (1.0, 2.0) else self._power
        two_sided = bool(np.all(np.isfinite(high)))
        lacking = cvxpy.maximum(low - w, w - high, 0.0) if two_sided else cvxpy.pos(low - w)
        if self.weights is not None:
            lacking = cvxpy.multiply(self.weights, lacking)
        return 1.0 - cvxpy.norm(lacking, p)

    def _pack(self) -> Vector:
        if not isinstance(self.kpi, TargetSet) or self._box is not None:
            assert self._box is not None
            return np.concatenate([*self._box, self._scale, [self._power]])
        return pack_nearest(self.kpi, self._power, self._scale)


def _checked_p(given: float) -> float:
    p = check_float(given, "p", error=RewardError)
    if p not in NORMS and not _LEAST_P <= p <= _MOST_P:
        raise RewardError(f"p: got {given!r}; it must be 1, 2, math.inf, or from {_LEAST_P:g} to {_MOST_P:g}")
    return p


@entry
def _balance_value(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    total = 0.0
    for k in range(n):
        total += abs(w[k] - params[k])
    out[0] = 1.0 - 0.5 * total


@entry
def _balance_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if w[k] > params[k]:
            out[k] = -0.5
        else:
            out[k] = 0.5 if w[k] < params[k] else 0.0


@entry
def _balance_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    for k in range(n):
        if theta[k] > 0.5:
            out[k] = 1.0
        else:
            out[k] = 0.0 if theta[k] < -0.5 else params[k]


@final
class Balance(Reward):
    """1 minus half the l1 distance to a target; for distributions, 1 minus the total variation.

    `Quadratic` is smooth, and learnt at a better rate.

    Parameters
    ----------
    target : array_like
        The proportions wanted, each in [0, 1]; they need not sum to 1.

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
    kernels = RewardKernels(_balance_value, _balance_gradient, _balance_argmax)

    def __init__(self, target: ArrayLike) -> None:
        self.params = checked_unit_vector(target, "target")
        self.n_outcomes = self.params.size
        self.lipschitz = 0.5 * math.sqrt(self.n_outcomes)
        self.target = read_only(self.params)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """1 - norm1 / 2."""
        import cvxpy

        return 1.0 - 0.5 * cvxpy.norm1(w - self.params)
