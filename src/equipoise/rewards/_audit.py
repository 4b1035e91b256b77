"""The checks of a `Custom` reward: whether it is what its author declares, as far as samples tell.

On points of [0,1]^K, some inside, some on faces, some vertices, some close to one another: values and
gradients are finite; g(midpoint) is at least the mean of the ends; g(u) <= g(w) + grad(w).(u - w) for every
pair, which is concavity and the supergradient property at once; |g(u) - g(w)| <= L ||u - w|| and
||grad(w)||_* <= L; and, if declared, ||grad(u) - grad(w)||_* <= beta ||u - w||. For a conjugate maximiser:
it lies in the box, and no sampled point beats it, for minus the sampled gradients and for random theta with
||theta||_* <= L.

All comparisons allow 1e-9 of the size of what is compared.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from equipoise._compile import Entry, invoke
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.norms import dual

if TYPE_CHECKING:
    from equipoise.rewards.custom import Custom

_SLACK: Final = 1e-9


class Points(NamedTuple):
    """Sampled points, a row each, with g and its supergradients there."""

    w: Vector
    values: Vector
    gradients: Vector


def audit(reward: Custom, value: Entry, gradient: Entry, samples: int, seed: int) -> Points:
    """Check a reward's value, gradient and constants; the points are used again for the conjugate."""
    rng = np.random.default_rng(seed)
    points = _evaluated(reward, value, gradient, _box_points(rng, samples, reward.n_outcomes))
    _check_midpoints(reward, value, points)
    w, values, gradients = points
    scale = max(1.0, float(np.abs(values).max()), reward.lipschitz)

    tangent = values[:, None] + gradients @ w.T - np.sum(gradients * w, axis=1)[:, None]
    i, j = _worst(values[None, :] - tangent)
    if values[j] > tangent[i, j] + _SLACK * scale:
        raise RewardError(
            f"gradient: not a supergradient at w = {_show(w[i])}: with u = {_show(w[j])}, "
            f"g(u) = {values[j]:.9g} exceeds g(w) + gradient(w).(u - w) = {tangent[i, j]:.9g}; "
            f"gradient(w) = {_show(gradients[i])}"
        )

    lengths = np.linalg.norm(gradients, ord=dual(reward.norm), axis=1)
    i = int(lengths.argmax())
    if lengths[i] > reward.lipschitz * (1.0 + _SLACK):
        raise RewardError(
            f"lipschitz: got {reward.lipschitz:.9g}, but at w = {_show(w[i])} the gradient "
            f"{_show(gradients[i])} has length {lengths[i]:.9g} in the dual of norm {reward.norm:g}"
        )

    far = np.linalg.norm(w[:, None, :] - w[None, :, :], ord=reward.norm, axis=2)
    change = np.abs(values[:, None] - values[None, :])
    i, j = _worst(change - reward.lipschitz * far)
    if change[i, j] > reward.lipschitz * far[i, j] + _SLACK * scale:
        raise RewardError(
            f"lipschitz: got {reward.lipschitz:.9g}, but between {_show(w[i])} and {_show(w[j])}, "
            f"{far[i, j]:.9g} apart in norm {reward.norm:g}, the value changes by {change[i, j]:.9g}"
        )

    if reward.smoothness is not None:
        turn = np.linalg.norm(gradients[:, None, :] - gradients[None, :, :], ord=dual(reward.norm), axis=2)
        i, j = _worst(turn - reward.smoothness * far * (1.0 + _SLACK))
        if turn[i, j] > reward.smoothness * far[i, j] * (1.0 + _SLACK) + _SLACK * reward.lipschitz:
            raise RewardError(
                f"smoothness: got {reward.smoothness:.9g}, but between {_show(w[i])} and {_show(w[j])}, "
                f"{far[i, j]:.9g} apart in norm {reward.norm:g}, the gradient changes by {turn[i, j]:.9g} "
                "in the dual norm"
            )
    return points


def audit_conjugate(reward: Custom, argmax: Entry, points: Points, seed: int) -> None:
    """Check a maximiser that the user gave."""
    rng = np.random.default_rng([seed, 1])
    balls = _dual_ball(rng, len(points.w), reward.n_outcomes, reward.norm, reward.lipschitz)
    for theta in np.concatenate((-points.gradients, balls)):
        best = np.empty(reward.n_outcomes)
        invoke(argmax.address, 0, theta.copy(), reward.params, best)
        if not np.all((best >= 0.0) & (best <= 1.0)):
            raise RewardError(f"conjugate_argmax: at theta = {_show(theta)} it gives {_show(best)}, outside [0, 1]")
        reached = reward.value(best) + float(theta @ best)
        totals = points.values + points.w @ theta
        j = int(totals.argmax())
        scale = max(1.0, abs(float(totals[j])), reward.lipschitz)
        if totals[j] > reached + _SLACK * scale:
            raise RewardError(
                f"conjugate_argmax: at theta = {_show(theta)} it gives {_show(best)}, where g(w) + theta.w = "
                f"{reached:.9g}; u = {_show(points.w[j])} is better, with {totals[j]:.9g}"
            )


def _check_midpoints(reward: Custom, value: Entry, points: Points) -> None:
    w, values, _ = points
    scale = max(1.0, float(np.abs(values).max()))
    out = np.empty(1)
    for i in range(len(w) - 1):
        middle = 0.5 * (w[i] + w[i + 1])
        invoke(value.address, 0, middle, reward.params, out)
        mean = 0.5 * (values[i] + values[i + 1])
        if not out[0] >= mean - _SLACK * scale:
            raise RewardError(
                f"value: not concave: midway between {_show(w[i])} and {_show(w[i + 1])} it is {out[0]:.9g}, "
                f"less than the mean of the two ends, {mean:.9g}"
            )


def _evaluated(reward: Custom, value: Entry, gradient: Entry, w: Vector) -> Points:
    values, gradients = np.empty(len(w)), np.empty(w.shape)
    for i, point in enumerate(w):
        before = point.copy()
        invoke(value.address, 0, point, reward.params, values[i : i + 1])
        invoke(gradient.address, 0, point, reward.params, gradients[i])
        if not np.array_equal(point, before):
            raise RewardError(f"value or gradient: it changes its argument in place, at w = {_show(before)}")
        if not np.isfinite(values[i]):
            raise RewardError(f"value: at w = {_show(point)} it is {values[i]}; it must be finite on [0, 1]^K")
        if not np.all(np.isfinite(gradients[i])):
            raise RewardError(
                f"gradient: at w = {_show(point)} it is {_show(gradients[i])}; it must be finite on [0, 1]^K"
            )
    return Points(w, values, gradients)


def _box_points(rng: np.random.Generator, samples: int, size: int) -> Vector:
    """Draw a quarter inside, a quarter on faces, a quarter of vertices, and close neighbours of some.

    Every second neighbour differs in one coordinate only: in norm 1, that is where a gradient turns fastest.
    """
    shape = (-(-samples // 4), size)
    inside = rng.random(shape)
    faces = rng.random(shape)
    faces = np.where(rng.random(shape) < 0.5, np.round(faces), faces)
    vertices = np.round(rng.random(shape))
    vertices[0], vertices[1:2] = 0.0, 1.0
    moves = 1e-3 * rng.random(shape)
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


def _worst(excess: Vector) -> tuple[int, int]:
    i, j = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return int(i), int(j)


def _show(x: Vector) -> str:
    return "[" + ", ".join(f"{entry:.6g}" for entry in x.tolist()) + "]"
