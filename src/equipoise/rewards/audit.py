"""Checks of a reward against its declarations at sample points; for `Custom` and `equipoise.testing.check_reward`.

On points of [0,1]^K, some inside, some on faces, some vertices, some close to one another: values and gradients are
finite; g(midpoint) is at least the mean of the ends; g(u) <= g(w) + grad(w).(u - w), which is concavity and the
supergradient property at once; |g(u) - g(w)| <= L ||u - w|| and ||grad(w)||_* <= L; and, if declared,
||grad(u) - grad(w)||_* <= beta ||u - w||. A conjugate maximiser lies in the box, and no sampled point beats it, for
minus the sampled gradients and for random theta. A simplex of supergradients holds every sampled one.

Each check returns a sentence with the point and the numbers, or None. Comparisons allow `slack` of the size of what is
compared.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise._runtime.compiler import ENTRY_SIGNATURE, Entry, invoke
from equipoise._types import Vector
from equipoise.rewards.base import Reward, RewardKernels, Vertices
from equipoise.rewards.norms import NORMS, dual, ones

SLACK: Final = 1e-9
CONSTANTS: Final = ("n_outcomes", "norm", "lipschitz", "smoothness", "piecewise_linear")
_GUARD: Final = 8  # numbers before and after a kernel's vectors that must stay as they are
_MARK: Final = -1234.5
_NEARBY: Final = 1e-3  # how far, at most, a coordinate of a neighbouring point is away
_BEYOND: Final = 2.0  # how far outside the dual ball theta is tried, in multiples of L
_TIES: Final = 4.0  # some coordinates are multiples of a quarter, so that they are often equal
_TIME: Final = 1000  # the time that kernels are given whose values must not depend on it


class Samples(NamedTuple):
    """Sampled points, a row each, with g and its supergradients there."""

    w: Vector
    values: Vector
    gradients: Vector


def sample_points(reward: Reward, samples: int, seed: int) -> Samples:
    """Evaluate a reward at `samples` points or a few more."""
    w = box_points(np.random.default_rng(seed), samples, reward.n_outcomes)
    return Samples(w, np.array([reward.value(x) for x in w]), np.array([reward.gradient(x) for x in w]))


def finite_part(points: Samples) -> Samples:
    """The samples at which everything is finite."""
    keep = np.isfinite(points.values) & np.isfinite(points.gradients).all(axis=1)
    return Samples(points.w[keep], points.values[keep], points.gradients[keep])


def sample_thetas(reward: Reward, points: Samples, seed: int) -> Vector:
    """Minus the sampled gradients, and as many theta within twice the dual ball."""
    rng = np.random.default_rng([seed, 1])
    ball = _dual_ball(rng, len(points.w), reward.n_outcomes, reward.norm, reward.lipschitz)
    ball[::3] *= _BEYOND
    ball[1::3] = np.round(ball[1::3] / reward.lipschitz * _TIES) / _TIES * reward.lipschitz
    return np.concatenate((-points.gradients, ball))


def not_declared(reward: Reward) -> str | None:
    """Its constants, its parameters and its kernels are there, and of the types that kernels read."""
    missing = [name for name in (*CONSTANTS, "params") if not hasattr(reward, name)]
    if missing:
        return f"it has no {missing[0]}"
    n: Any = reward.n_outcomes
    beta: Any = reward.smoothness
    params: Any = reward.params
    is_vector = isinstance(params, np.ndarray) and params.dtype == np.float64 and params.ndim == 1
    right = {
        "n_outcomes: a whole number >= 1": isinstance(n, int) and n >= 1,
        "norm: 1.0, 2.0 or math.inf": reward.norm in NORMS,
        "lipschitz: a float >= 0": isinstance(reward.lipschitz, float) and reward.lipschitz >= 0,
        "smoothness: None or a float >= 0": beta is None or (isinstance(beta, float) and beta >= 0),
        "piecewise_linear: True or False": isinstance(reward.piecewise_linear, bool),
        "params: a contiguous float64 vector that can be written": is_vector and params.flags.carray,
        "kernels: RewardKernels": isinstance(reward.kernels, RewardKernels),
    }
    for what, is_right in right.items():
        if not is_right:
            name, _, needed = what.partition(": ")
            return f"{name}: got {getattr(reward, name)!r}; {needed} is needed"
    for name, kernel in reward.kernels._asdict().items():
        absent = name == "lipschitz" and kernel is None
        if not absent and (not isinstance(kernel, Entry) or not kernel.has(ENTRY_SIGNATURE)):
            return f"kernels.{name}: got {kernel!r}; declare it with @entry"
    return None


def not_finite(points: Samples) -> str | None:
    """The value and the supergradient are finite."""
    for w, value, gradient in zip(*points, strict=True):
        if not np.isfinite(value):
            return f"value: at w = {show(w)} it is {value}; it must be finite on [0, 1]^K"
        if not np.all(np.isfinite(gradient)):
            return f"gradient: at w = {show(w)} it is {show(gradient)}; it must be finite on [0, 1]^K"
    return None


def not_concave(reward: Reward, points: Samples, slack: float = SLACK) -> str | None:
    """Midway between two points, g is at least the mean of its values there."""
    w, values, _ = points
    scale = _scale(reward, values)
    for i in range(len(w) - 1):
        middle = reward.value(0.5 * (w[i] + w[i + 1]))
        mean = 0.5 * (values[i] + values[i + 1])
        if middle < mean - slack * scale:
            return (
                f"value: not concave: midway between {show(w[i])} and {show(w[i + 1])} it is {middle:.9g}, "
                f"less than the mean of the two ends, {mean:.9g}"
            )
    return None


def not_a_supergradient(reward: Reward, points: Samples, others: Vector, slack: float = SLACK) -> str | None:
    """The tangent at each sample lies above g at all samples and at all `others`, points of the box."""
    w, values, gradients = points
    u = np.concatenate((w, others))
    there = np.concatenate((values, [reward.value(x) for x in others]))
    tangent = values[:, None] + gradients @ u.T - np.sum(gradients * w, axis=1)[:, None]
    i, j = _worst(there[None, :] - tangent)
    if there[j] > tangent[i, j] + slack * _scale(reward, values):
        return (
            f"gradient: not a supergradient at w = {show(w[i])}: with u = {show(u[j])}, "
            f"g(u) = {there[j]:.9g} exceeds g(w) + gradient(w).(u - w) = {tangent[i, j]:.9g}; "
            f"gradient(w) = {show(gradients[i])}"
        )
    return None


def too_steep(reward: Reward, points: Samples, slack: float = SLACK) -> str | None:
    """No supergradient is longer than L in the dual norm, and g changes by no more than L times the distance."""
    w, values, gradients = points
    lengths = np.linalg.norm(gradients, ord=dual(reward.norm), axis=1)
    i = int(lengths.argmax())
    if lengths[i] > reward.lipschitz * (1.0 + slack):
        return (
            f"lipschitz: got {reward.lipschitz:.9g}, but at w = {show(w[i])} the gradient "
            f"{show(gradients[i])} has length {lengths[i]:.9g} in the dual of norm {reward.norm:g}"
        )
    far = _distances(w, reward.norm)
    change = np.abs(values[:, None] - values[None, :])
    i, j = _worst(change - reward.lipschitz * far)
    if change[i, j] > reward.lipschitz * far[i, j] + slack * _scale(reward, values):
        return (
            f"lipschitz: got {reward.lipschitz:.9g}, but between {show(w[i])} and {show(w[j])}, "
            f"{far[i, j]:.9g} apart in norm {reward.norm:g}, the value changes by {change[i, j]:.9g}"
        )
    return None


def too_curved(reward: Reward, points: Samples, slack: float = SLACK) -> str | None:
    """If beta is declared: the gradient changes by no more than beta times the distance."""
    if reward.smoothness is None:
        return None
    w, _, gradients = points
    far = _distances(w, reward.norm)
    turn = _distances(gradients, dual(reward.norm))
    allowed = reward.smoothness * far * (1.0 + slack)
    i, j = _worst(turn - allowed)
    if turn[i, j] > allowed[i, j] + slack * reward.lipschitz:
        return (
            f"smoothness: got {reward.smoothness:.9g}, but between {show(w[i])} and {show(w[j])}, "
            f"{far[i, j]:.9g} apart in norm {reward.norm:g}, the gradient changes by {turn[i, j]:.9g} "
            "in the dual norm"
        )
    return None


def not_the_argmax(reward: Reward, points: Samples, thetas: Vector, slack: float = SLACK) -> str | None:
    """`conjugate_argmax` stays in the box, and no sample has a larger g(w) + theta.w."""
    for theta in thetas:
        best = reward.conjugate_argmax(theta)
        if not np.all((best >= 0.0) & (best <= 1.0)):
            return f"conjugate_argmax: at theta = {show(theta)} it gives {show(best)}, outside [0, 1]"
        reached = reward.value(best) + float(theta @ best)
        totals = points.values + points.w @ theta
        j = int(totals.argmax())
        scale = max(1.0, abs(float(totals[j])), reward.lipschitz)
        if totals[j] > reached + slack * scale:
            return (
                f"conjugate_argmax: at theta = {show(theta)} it gives {show(best)}, where g(w) + theta.w = "
                f"{reached:.9g}; u = {show(points.w[j])} is better, with {totals[j]:.9g}"
            )
    return None


def outside_the_simplex(vertices: Vertices | None, points: Samples, slack: float = SLACK) -> str | None:
    """If a simplex is declared: every supergradient is base + sum_j lambda_j scale_j e_{coordinate_j}."""
    if vertices is None:
        return None
    from scipy.optimize import nnls  # takes long to import

    base, coordinate, scale = vertices
    size = max(1.0, float(np.abs(scale).max()))
    columns = np.zeros((base.size + 1, scale.size))
    columns[coordinate, np.arange(scale.size)] = scale
    columns[-1] = size  # the weights sum to 1; in the units of the scales, so that the residual has a meaning
    for w, gradient in zip(points.w, points.gradients, strict=True):
        _, residual = nnls(columns, np.append(gradient - base, size))
        if residual > max(slack, 1e-12) * size * base.size:
            return (
                f"vertices: the supergradient {show(gradient)} at w = {show(w)} is no point of their simplex; "
                f"the nearest is {residual:.3g} away"
            )
    return None


def not_a_function(reward: Reward, points: Samples, thetas: Vector) -> str | None:
    """Kernels write their output and nothing else, leave their arguments alone, and give the same answer again."""
    for name, kernel in reward.kernels._asdict().items():
        size = 1 if name in ("value", "lipschitz") else reward.n_outcomes
        rows = thetas if name == "conjugate_argmax" else points.w
        for row in rows if kernel is not None else ():
            one, fault = _guarded_call(kernel, row, reward.params, size, 0.0)
            two, _ = _guarded_call(kernel, row, reward.params, size, _MARK)
            if fault:
                return f"{name}: at {show(row)} {fault}"
            if not np.array_equal(one, two, equal_nan=True):
                return f"{name}: at {show(row)} it gives {show(one)}, and when called again {show(two)}"
    return None


def _guarded_call(kernel: Entry, x: Vector, params: Vector, size: int, start: float) -> tuple[Vector, str]:
    """Call a kernel on vectors with marked places around them; its output, and a word if it wrote elsewhere."""
    (x_wide, x_inner), (params_wide, params_inner) = _padded(x), _padded(params)
    out_wide, out = _padded(np.full(size, start))
    invoke(kernel.address, _TIME, x_inner, params_inner, out)
    for name, wide, before in (("its argument", x_wide, x), ("the parameters", params_wide, params)):
        if not np.array_equal(wide, _padded(before)[0]):
            return out, f"it changes {name} in place"
    if np.any(out_wide[:_GUARD] != _MARK) or np.any(out_wide[_GUARD + size :] != _MARK):
        return out, f"it writes beyond the {size} numbers of its output"
    return out, ""


def _padded(x: Vector) -> tuple[Vector, Vector]:
    wide = np.full(x.size + 2 * _GUARD, _MARK)
    inner = wide[_GUARD : _GUARD + x.size]
    inner[:] = x
    return wide, inner


def box_points(rng: np.random.Generator, samples: int, size: int) -> Vector:
    """Draw a quarter inside, a quarter on faces or with ties, a quarter of vertices, and close neighbours of some."""
    shape = (-(-samples // 4), size)
    inside = rng.random(shape)
    faces = rng.random(shape)
    faces = np.where(rng.random(shape) < 0.5, np.round(_TIES * faces) / _TIES, faces)
    vertices = np.round(rng.random(shape))
    vertices[0], vertices[1:2] = 0.0, 1.0
    moves = _NEARBY * rng.random(shape)
    moves[::2] *= (np.arange(size) == rng.integers(size, size=shape[0])[:, None])[::2]
    centres = np.where(np.arange(shape[0])[:, None] % 4 < 2, vertices, inside)
    return rng.permutation(np.concatenate((inside, faces, vertices, np.abs(centres - moves))))


def _dual_ball(rng: np.random.Generator, samples: int, size: int, norm: float, radius: float) -> Vector:
    """Points with dual norm at most `radius`, some on the edge."""
    directions = rng.uniform(-1.0, 1.0, (samples, size)) if norm == 1.0 else rng.normal(size=(samples, size))
    lengths = np.linalg.norm(directions, ord=dual(norm), axis=1)
    reach = np.minimum(1.0, 1.25 * rng.random(samples))
    scales: Vector = (radius * reach / np.maximum(lengths, math.ulp(1.0)))[:, None]
    return np.asarray(directions * scales)


def _distances(x: Vector, norm: float) -> Vector:
    return np.asarray(np.linalg.norm(x[:, None, :] - x[None, :, :], ord=norm, axis=2))


def _scale(reward: Reward, values: Vector) -> float:
    """What rounding errors are relative to: the values, and how much they can differ in the box."""
    return max(1.0, float(np.abs(values).max()), reward.lipschitz * ones(reward.n_outcomes, reward.norm))


def _worst(excess: Vector) -> tuple[int, int]:
    i, j = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return int(i), int(j)


def show(x: Vector) -> str:
    """A vector as a short text."""
    return "[" + ", ".join(f"{entry:.6g}" for entry in x.tolist()) + "]"
