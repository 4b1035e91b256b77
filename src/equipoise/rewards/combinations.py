"""Several rewards in one: their sum with positive weights, or the least of them.

`Sum`, sum over i of c_i g_i(w). Supergradients and constants add up, the constants after they are put into one norm
(see `norms.stretch`): the one that all parts have, or the Euclidean one, or the one that is requested. They are upper
bounds. If every part states a simplex of its supergradients, base_i + sum_j lambda_ij scale_ij e_c(ij), the sum lies in

    sum_i c_i base_i  +  the simplex of the vertices  (M / M_i) scale_ij e_c(ij),

M_i = max_j |scale_ij|, M = sum_i c_i M_i, with the weights (c_i M_i / M) lambda_ij.

Its conjugate is exact where all parts but one are linear: with their weights c, that of c_1 g_1(w) + c.w has its
maximiser at that of g_1 for (theta + c) / c_1. It is exact as well where all parts are sums of functions of one outcome
each, by bisection. Otherwise it is found by iteration.

`Minimum`, the least g_i(w). A supergradient is that of the smallest part, the first of them. L is the largest of the
parts' constants in one norm. It is not smooth, unless there is one part only. If every part states a simplex of its
supergradients with the base zero, the simplex of all their vertices holds them. The conjugate is found by iteration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import entry, stack_floats
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_positive, read_only
from equipoise.rewards.composed import (
    ON_STACK,
    Composed,
    fixed_rewards,
    gradient_simplex,
    iterated_argmax,
    lipschitz_constants,
    lipschitz_in,
    merge_vertices,
    n_parts,
    own_numbers,
    part_argmax,
    part_gradient,
    part_value,
    separable_argmax,
    simplex_from_zero,
    smoothness_in,
)
from equipoise.rewards.separable import Linear

if TYPE_CHECKING:
    import cvxpy

_MOST_TANGENTS: Final = 64

# The own numbers are the weights; if one part alone is not linear, then which that is, and the sum of the others.


@entry
def _sum_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    weights, number = own_numbers(params), stack_floats(1)
    total = 0.0
    for i in range(n_parts(params)):
        part_value(i, t, n, w, params, number)
        total += weights[i] * number[0]
    out[0] = total


@entry
def _sum_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    weights = own_numbers(params)
    slope = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    for k in range(n):
        out[k] = 0.0
    for i in range(n_parts(params)):
        part_gradient(i, t, n, w, params, slope)
        for k in range(n):
            out[k] += weights[i] * slope[k]


@entry
def _shifted_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    own, parts = own_numbers(params), n_parts(params)
    curved = int(own[parts])
    inner = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    for k in range(n):
        inner[k] = (theta[k] + own[parts + 1 + k]) / own[curved]
    part_argmax(curved, t, n, inner, params, out)


_SUM: Final = RewardKernels(_sum_value, _sum_gradient, iterated_argmax)
_SHIFTED_SUM: Final = RewardKernels(_sum_value, _sum_gradient, _shifted_argmax)
_SEPARABLE_SUM: Final = RewardKernels(_sum_value, _sum_gradient, separable_argmax)


@final
class Sum(Composed):
    """A sum of rewards with positive weights.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts, all of the same outcomes; none may change with time.
    weights : array_like, optional
        One positive number for each; by default 1.
    norm : float, optional
        The norm of `lipschitz` and `smoothness`: 1, 2 or infinity. By default that of the parts, or 2 if they differ.

    Examples
    --------
    The sum of all outcomes, and the least of them twice.

    >>> from equipoise.rewards import BottomSum, Linear
    >>> g = Sum([Linear([1.0, 1.0]), BottomSum(2, kappa=1)], [1.0, 2.0])
    >>> g.value([0.5, 0.25]), g.gradient([0.5, 0.25]).tolist()
    (1.25, [1.0, 3.0])
    >>> g.exact_conjugate, g.conjugate_argmax([-1.5, -2.0]).tolist()
    (True, [1.0, 1.0])
    """

    def __init__(self, rewards: Sequence[Reward], weights: ArrayLike | None = None, norm: float | None = None) -> None:
        self.rewards = self._take_parts(fixed_rewards(rewards, "rewards"), norm)
        self.weights = read_only(checked_positive(weights, "weights", len(self.rewards), "reward"))
        self._terms = list(zip(self.weights.tolist(), self.rewards, strict=True))
        self.lipschitz = math.fsum(c * lipschitz_in(part, self.norm) for c, part in self._terms)
        bends = [smoothness_in(part, self.norm) for part in self.rewards]
        known = [c * bend for c, bend in zip(self.weights.tolist(), bends, strict=True) if bend is not None]
        self.smoothness = math.fsum(known) if len(known) == len(bends) else None
        self.separable = all(part.separable for part in self.rewards)
        self.vertices = self._simplex()
        curved = [i for i, part in enumerate(self.rewards) if not isinstance(part, Linear)] or [0]
        self._is_shifted = len(curved) == 1 and self.rewards[curved[0]].exact_conjugate
        self.exact_conjugate = self._is_shifted or self.separable
        self.numbers = self.weights
        if self._is_shifted:
            rest = np.zeros(self.n_outcomes)
            for i, (c, part) in enumerate(self._terms):
                if i != curved[0] and isinstance(part, Linear):
                    rest += c * part.weights
            self.numbers = np.concatenate([self.weights, [float(curved[0])], rest])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        if self._is_shifted:
            return _SHIFTED_SUM
        return _SEPARABLE_SUM if self.separable else _SUM

    def tangents(self, w: ArrayLike) -> list[tuple[float, Vector]]:
        """The sums of those of the parts, in all combinations if there are not too many."""
        found = [(0.0, np.zeros(self.n_outcomes))]
        for c, part in self._terms:
            more = part.tangents(w)
            if len(found) * len(more) > _MOST_TANGENTS:
                more = Reward.tangents(part, w)
            found = [(height + c * h, slope + c * q) for height, slope in found for h, q in more]
        return found

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """The sum of those of the parts; None if one of them is None."""
        each = lipschitz_constants(self.rewards, self.norm, low, high)
        return None if each is None else float(self.weights @ each)

    def within(self, low: ArrayLike, high: ArrayLike) -> Sum:
        """The sum of the parts within the box; see `Reward.within`."""
        return Sum([part.within(low, high) for part in self.rewards], self.weights, self.norm)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of the expressions."""
        import cvxpy

        return cvxpy.sum([c * part.concave_expression(w) for c, part in self._terms])

    def _simplex(self) -> Vertices | None:
        base = np.zeros(self.n_outcomes)
        simplices: list[tuple[float, Vertices]] = []
        for c, part in self._terms:
            simplex = gradient_simplex(part)
            if simplex is None:
                return None
            base += c * simplex.base
            simplices.append((c * float(np.abs(simplex.scale).max()), simplex))
        reach = math.fsum(own for own, _ in simplices)
        moving = [(c, simplex) for c, simplex in simplices if c > 0.0]
        if not moving:
            return None
        scales = [reach * simplex.scale / np.abs(simplex.scale).max() for _, simplex in moving]
        return merge_vertices(base, [simplex.coordinate for _, simplex in moving], scales)


@entry
def _minimum_value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    number = stack_floats(1)
    part_value(0, t, n, w, params, out)
    for i in range(1, n_parts(params)):
        part_value(i, t, n, w, params, number)
        # written so that a part that is not a number is the minimum, and is noticed
        if not number[0] >= out[0]:
            out[0] = number[0]


@entry
def _minimum_gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    number = stack_floats(1)
    part_value(0, t, n, w, params, number)
    least, where = number[0], 0
    for i in range(1, n_parts(params)):
        part_value(i, t, n, w, params, number)
        if not number[0] >= least:
            least, where = number[0], i
    part_gradient(where, t, n, w, params, out)


@final
class Minimum(Composed):
    """The least of several rewards.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts, all of the same outcomes; none may change with time.
    norm : float, optional
        The norm of `lipschitz`: 1, 2 or infinity. By default that of the parts, or 2 if they differ.

    Examples
    --------
    The first outcome counts twice as much as the second.

    >>> from equipoise.rewards import Linear
    >>> g = Minimum([Linear([0.5, 0.0]), Linear([0.0, 1.0])])
    >>> g.value([0.5, 0.5]), g.gradient([0.5, 0.5]).tolist(), g.lipschitz
    (0.25, [0.5, 0.0], 1.0)
    """

    kernels = RewardKernels(_minimum_value, _minimum_gradient, iterated_argmax)

    def __init__(self, rewards: Sequence[Reward], norm: float | None = None) -> None:
        self.rewards = self._take_parts(fixed_rewards(rewards, "rewards"), norm)
        self.lipschitz = max(lipschitz_in(part, self.norm) for part in self.rewards)
        self.smoothness = smoothness_in(self.rewards[0], self.norm) if len(self.rewards) == 1 else None
        simplices = [simplex_from_zero(part) for part in self.rewards]
        found = [simplex for simplex in simplices if simplex is not None]
        if len(found) == len(simplices) and any(simplex.scale.any() for simplex in found):
            coordinates, scales = [one.coordinate for one in found], [one.scale for one in found]
            self.vertices = merge_vertices(np.zeros(self.n_outcomes), coordinates, scales)

    def tangents(self, w: ArrayLike) -> list[tuple[float, Vector]]:
        """Those of all parts."""
        return [tangent for part in self.rewards for tangent in part.tangents(w)]

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """The largest of those of the parts; None if one of them is None."""
        each = lipschitz_constants(self.rewards, self.norm, low, high)
        return None if each is None else max(each)

    def within(self, low: ArrayLike, high: ArrayLike) -> Minimum:
        """The minimum of the parts within the box; see `Reward.within`."""
        return Minimum([part.within(low, high) for part in self.rewards], self.norm)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The minimum of the expressions."""
        import cvxpy

        return cvxpy.min(cvxpy.hstack([part.concave_expression(w) for part in self.rewards]))
