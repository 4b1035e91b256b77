r"""The best point of g(origin + share z) over the hull of a few outcome vectors z, in some hundred microseconds.

    max  g(w)   over   w = origin + share sum_i lambda_i z_i,   lambda >= 0,   sum of lambda = 1.

With origin 0 and share 1 it is the master problem of column generation. An agent that has averaged `average` over t
steps and plans d more looks ahead with share = d / (t + d) and origin = (1 - share) average.

A smooth g is maximised by pairwise Frank-Wolfe steps (`SmoothMaster`), any other by Kelley's cutting planes, as a
linear program that HiGHS solves (`CutMaster`). Tangents do not depend on the vectors, so those of one problem serve for
the next; a piecewise linear g has few. cvxpy is slower by two orders of magnitude for problems of this size.

The answer has its dual: minus a supergradient at w, with which no vector of the hull scores more than the best mixture,
and an upper bound on g*(theta).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np

from equipoise._runtime.compiler import call_entry, inlined, kernel
from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.rewards.base import FOREVER, Reward

_STEPS: Final = 2_000  # pairwise steps, at most
_BISECTIONS: Final = 40
_LEAST: Final = 1e-12  # outcomes at which slopes are taken; that of an entropy does not exist at 0
_TINY: Final = 1e-14  # a step that rounding could have made
_CUTS: Final = 96  # tangents that are kept
_ROUNDS: Final = 100  # tangents added for one problem, at most
_ROUNDING: Final = 1e-12
_FEASIBLE: Final = (1e-9, 1e-7)  # tolerances of the linear program, to be tried in turn


class HullPoint(NamedTuple):
    """The best mixture of some outcome vectors, and its dual."""

    weights: Vector
    value: float
    theta: Vector
    conjugate: float


class HullMaster(abc.ABC):
    """Finds best mixtures for one reward, time after time."""

    tangents: Vector
    """What is kept for the next problem, to be saved: the point at which each tangent touches."""

    @abc.abstractmethod
    def best(self, points: Vector, weights: Vector, share: float, origin: Vector, tolerance: float) -> HullPoint:
        """Return the best mixture."""


def hull_master(reward: Reward) -> HullMaster:
    """Return the method that suits a reward; one that changes with time is taken at its limit."""
    return CutMaster(reward) if reward.smoothness is None else SmoothMaster(reward)


@final
class SmoothMaster(HullMaster):
    """By pairwise Frank-Wolfe steps."""

    def __init__(self, reward: Reward) -> None:
        self._reward = reward
        self._gradient, self._value = reward.kernels.gradient.address, reward.kernels.value.address
        self._scratch = np.zeros((3, reward.n_outcomes))
        self.tangents = np.zeros((0, reward.n_outcomes))

    def __reduce__(self) -> tuple[Any, ...]:
        return SmoothMaster, (self._reward,)

    def best(self, points: Vector, weights: Vector, share: float, origin: Vector, tolerance: float) -> HullPoint:
        """Move weight from the worst vector in use to the best one."""
        weights, scores, number = weights.copy(), np.zeros(points.shape[0]), np.zeros(1)
        w, slope, other = self._scratch
        params = self._reward.params
        _move_weight(self._gradient, params, points, share, origin, tolerance, weights, scores, w, slope, other)
        _value_at(self._value, params, w, number)
        theta = -slope
        rounding = _ROUNDING * (abs(number[0]) + np.abs(theta).sum())
        return HullPoint(weights, float(number[0]), theta, float(number[0] + theta @ w + rounding))


@final
class CutMaster(HullMaster):
    """By cutting planes; tangents are kept from one problem to the next."""

    def __init__(self, reward: Reward) -> None:
        import highspy

        self._reward = reward
        self._gradient, self._value = reward.kernels.gradient.address, reward.kernels.value.address
        self._points, self._slopes = np.zeros((2, 0, reward.n_outcomes))
        self._heights = np.zeros(0)
        self._kinds = (int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMinimize))
        self._solver: Any = highspy.Highs()
        for name, setting in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex"),
            ("small_matrix_value", 1e-12),
        ):  # fmt: skip
            self._solver.setOptionValue(name, setting)

    def __reduce__(self) -> tuple[Any, ...]:
        return CutMaster, (self._reward,), {"tangents": self.tangents}

    def __setstate__(self, state: Mapping[str, Vector]) -> None:
        self.tangents = state["tangents"]

    @property
    def tangents(self) -> Vector:
        """Where each tangent touches."""
        return self._points

    @tangents.setter
    def tangents(self, points: Vector) -> None:  # no slope and no height is believed, as bounds rest on them
        self._points, self._slopes, self._heights = self._points[:0], self._slopes[:0], self._heights[:0]
        for w in points:
            self._add(w)

    def best(self, points: Vector, weights: Vector, share: float, origin: Vector, tolerance: float) -> HullPoint:
        """Maximise the least of the tangents, and add the one at the maximiser, until it promises no more."""
        if not self._heights.size:
            self._add(origin + share * (weights @ points))
        best: HullPoint | None = None
        for _ in range(_ROUNDS):
            promised, weights, prices = self._solved(points, share, origin)
            w = origin + share * (weights @ points)
            size = np.abs(self._heights) + np.abs(self._slopes).sum(axis=1)
            theta, conjugate = -(prices @ self._slopes), float(prices @ (self._heights + _ROUNDING * size))
            active = prices > 0.0
            value = self._add(w)
            if best is None or value >= best.value:
                best = HullPoint(weights, value, theta, conjugate)
            if promised - best.value <= tolerance:
                best = best._replace(theta=theta, conjugate=conjugate)
                break
        assert best is not None
        if self._heights.size > _CUTS:  # those that were used last, and the latest
            keep = np.arange(self._heights.size) >= self._heights.size - _CUTS // 2
            keep[: active.size] |= active
            self._points, self._slopes, self._heights = self._points[keep], self._slopes[keep], self._heights[keep]
        return best

    def _add(self, w: Vector) -> float:
        """Add the tangent at w, unless it is one already; return g(w)."""
        w = np.minimum(np.maximum(w, _LEAST), 1.0)
        slope, number = np.zeros(w.size), np.zeros(1)
        _slope_at(self._gradient, self._value, self._reward.params, w, slope, number)
        value = float(number[0])
        height = value - float(slope @ w)
        if not (np.isfinite(height) and np.isfinite(slope).all()):
            raise SolverError(f"{self._reward!r}: its value or gradient at {w.tolist()} is not finite")
        known = (np.abs(self._slopes - slope).max(axis=1, initial=0.0) <= _ROUNDING) & (
            np.abs(self._heights - height) <= _ROUNDING
        )
        if not known.any():
            self._points, self._slopes = np.vstack([self._points, w]), np.vstack([self._slopes, slope])
            self._heights = np.append(self._heights, height)
        return value

    def _solved(self, points: Vector, share: float, origin: Vector) -> tuple[float, Vector, Vector]:
        """Maximise the least tangent: its value, the weights, and the multipliers of the tangents."""
        n, m = points.shape[0], self._heights.size
        matrix = np.empty((n + 1, m + 1))  # a row per variable: the least tangent first, then the weights
        matrix[0, 0], matrix[1:, 0] = 0.0, 1.0
        matrix[0, 1:], matrix[1:, 1:] = 1.0, -share * (points @ self._slopes.T)
        low, high = np.full(m + 1, -np.inf), np.append(1.0, self._heights + self._slopes @ origin)
        low[0] = 1.0
        cost, least = np.zeros(n + 1), np.zeros(n + 1)
        cost[0], least[0] = -1.0, -np.inf
        places = np.tile(np.arange(m + 1, dtype=np.int32), n + 1)
        starts = np.arange(0, (n + 1) * (m + 1), m + 1, dtype=np.int32)
        self._solver.passModel(
            n + 1, m + 1, matrix.size, *self._kinds, 0.0, cost, least, np.full(n + 1, np.inf), low, high,
            starts, places, matrix.ravel(), np.zeros(n + 1, dtype=np.int32),
        )  # fmt: skip
        for feasible in _FEASIBLE:
            for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
                self._solver.setOptionValue(name, feasible)
            self._solver.run()
            found = self._solver.getSolution()
            values, duals = np.array(found.col_value), np.array(found.row_dual)
            if found.value_valid and found.dual_valid and values[1:].sum() > 0.0 and duals[1:].min() < 0.0:
                break
            self._solver.clearSolver()
        else:
            raise SolverError(f"HiGHS: no mixture of {n} policies was found ({self._solver.getModelStatus()})")
        weights, prices = np.maximum(values[1:], 0.0), np.maximum(-duals[1:], 0.0)
        return float(values[0]), weights / weights.sum(), prices / prices.sum()


@inlined
def _inside(x):
    return min(1.0, max(_LEAST, x))


@inlined
def _gradient_along(gradient, params, w, step, points, to, away, share, other, slope):
    """The derivative of g(w + step share (z_to - z_away)) in step, over share."""
    for k in range(w.shape[0]):
        other[k] = _inside(w[k] + step * share * (points[to, k] - points[away, k]))
    call_entry(gradient, FOREVER, other, params, slope)
    total = 0.0
    for k in range(w.shape[0]):
        total += slope[k] * (points[to, k] - points[away, k])
    return total


@kernel
def _move_weight(gradient, params, points, share, origin, tolerance, weights, scores, w, slope, other):
    """Pairwise steps, in place; leaves w and the gradient there."""
    n, n_outcomes = points.shape
    for _ in range(_STEPS):
        for k in range(n_outcomes):
            mixed = 0.0
            for i in range(n):
                mixed += weights[i] * points[i, k]
            w[k] = _inside(origin[k] + share * mixed)
        call_entry(gradient, FOREVER, w, params, slope)
        to, away, mean = 0, -1, 0.0
        for i in range(n):
            scores[i] = 0.0
            for k in range(n_outcomes):
                scores[i] += slope[k] * points[i, k]
            mean += weights[i] * scores[i]
            if scores[i] > scores[to]:
                to = i
            if weights[i] > 0.0 and (away < 0 or scores[i] < scores[away]):
                away = i
        if share * (scores[to] - mean) <= tolerance or to == away:
            return
        longest = weights[away]
        if _gradient_along(gradient, params, w, longest, points, to, away, share, other, slope) >= 0.0:
            step = longest
        else:
            low, high = 0.0, longest
            for _ in range(_BISECTIONS):
                step = 0.5 * (low + high)
                if _gradient_along(gradient, params, w, step, points, to, away, share, other, slope) > 0.0:
                    low = step
                else:
                    high = step
            step = 0.5 * (low + high)
        if step <= _TINY:
            call_entry(gradient, FOREVER, w, params, slope)
            return
        weights[to] += step
        weights[away] = 0.0 if step == longest else longest - step
    for k in range(n_outcomes):
        mixed = 0.0
        for i in range(n):
            mixed += weights[i] * points[i, k]
        w[k] = _inside(origin[k] + share * mixed)
    call_entry(gradient, FOREVER, w, params, slope)


@kernel
def _value_at(value, params, w, number):
    call_entry(value, FOREVER, w, params, number)


@kernel
def _slope_at(gradient, value, params, w, slope, number):
    call_entry(gradient, FOREVER, w, params, slope)
    call_entry(value, FOREVER, w, params, number)
