"""The conjugate of a reward without a closed form: its maximiser by iteration, and a sound upper bound by tangents.

g*(theta) is the maximum of g(w) + theta.w over [0,1]^K. With G = grad g(w) + theta, what is missing at w is at most the
Frank-Wolfe gap, sum_k max(G_k (1 - w_k), -G_k w_k).

`smooth_ascent`
    Accelerated projected gradient with step 1/beta, beta the Euclidean smoothness, momentum restarted when it points
    downhill, extrapolated points clipped to the box. Ends when the gap is at most the tolerance; at the limit of
    iterations the point with the smallest gap is returned.

`separable_ascent`
    For g that is a sum of functions of one outcome each, smooth or not: bisection on the sign of G_k, for all k at
    once, exact to rounding.

`cutting_ascent`
    For g that is not smooth. K = 1: bisection. K > 1: the ellipsoid method with deep cuts, from the ball around the
    box; every centre, moved into the box, is a candidate. The ellipsoid is kept as {c + B z: |z| <= 1}, which rounding
    cannot spoil. It stops when |B'G|, by which no point beats the centre, is at most the tolerance. For 1e-10 it takes
    of the order of K^2 iterations of K^2 operations: 0.04, 1 and 10 ms for K = 3, 10 and 20.

Where g or its supergradient is not a number, neither is the answer. The caller lends the working vectors.

`tangent_bound`
    A tangent at any point w of the box, with a supergradient q there, bounds g everywhere: g(x) <= g(w) + q.(x - w).
    So do mixtures of tangents. With weights mu >= 0 of sum 1, whatever the points and the weights are,

        g*(theta)  <=  sum_j mu_j (g(w_j) - q_j.w_j)  +  sum_k max(0, sum_j mu_j q_jk + theta_k).

    A linear program finds the best weights and the point of the next tangents (Kelley's cutting planes), until the
    bound is as close to the largest g(w_j) + theta.w_j as rounding allows, or it comes closer too slowly. The weights
    of the program are not trusted: the right side is computed from them as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from equipoise._runtime.compiler import call_entry, inlined, kernel
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.norms import stretch

if TYPE_CHECKING:
    from equipoise.rewards.base import Reward

ITERATIONS: Final = 20_000  # of `smooth_ascent`
TOLERANCE: Final = 1e-10
_CURVED: Final = 100.0  # a smoothness from which on cutting planes are faster, for few outcomes
FEW: Final = 20  # outcomes
BISECTIONS: Final = 60  # of [0, 1]: to the last bit


def cut_limit(n_outcomes: int) -> int:
    """After how many cuts `cutting_ascent` gives up."""
    return 80 * n_outcomes * (n_outcomes + 1) + 200


def euclidean(smoothness: float, norm: float, n_outcomes: int) -> float:
    """The smoothness in the Euclidean norm, from that in another."""
    return smoothness * stretch(norm, 2.0, n_outcomes) ** 2


def ascent_options(reward: Reward, few: int) -> tuple[float, float, int]:
    """What `ascend` needs to know: the smoothness, or -1 for cutting planes; the tolerance; the limit of iterations.

    Cutting planes are also used for a smooth reward that is strongly curved and of at most `few` outcomes.
    """
    if reward.smoothness is not None:
        beta = euclidean(reward.smoothness, reward.norm, reward.n_outcomes)
        if beta <= _CURVED or reward.n_outcomes > few:
            return beta, TOLERANCE * max(1.0, reward.lipschitz), ITERATIONS
    return -1.0, TOLERANCE, cut_limit(reward.n_outcomes)


@kernel
def _write_nan(out: Vector) -> None:
    for k in range(out.shape[0]):
        out[k] = np.nan


@kernel
def smooth_ascent(
    gradient: int,
    t: int,
    theta: Vector,
    params: Vector,
    out: Vector,
    beta: float,
    tolerance: float,
    limit: int,
    x: Vector,
    y: Vector,
    G: Vector,
) -> None:
    """Write the maximiser to `out`; `gradient` is the address of an entry, the last three are scratch."""
    n = theta.shape[0]
    for k in range(n):
        x[k] = y[k] = 0.5
    if beta == 0.0:
        call_entry(gradient, t, y, params, G)
        for k in range(n):
            out[k] = 1.0 if G[k] + theta[k] > 0.0 else 0.0
            if np.isnan(G[k]):
                out[k] = np.nan
        return
    best = np.inf
    momentum = 1.0
    for _ in range(limit):
        call_entry(gradient, t, y, params, G)
        gap = 0.0
        for k in range(n):
            G[k] += theta[k]
            gap += max(G[k] * (1.0 - y[k]), -G[k] * y[k])
        if np.isnan(gap):
            _write_nan(out)
            return
        if gap < best:
            best = gap
            for k in range(n):
                out[k] = y[k]
        if gap <= tolerance:
            return
        # `uphill` is the slope along the last move: when it is negative the momentum has overshot.
        uphill = 0.0
        stuck = True
        for k in range(n):
            step = min(1.0, max(0.0, y[k] + G[k] / beta))
            stuck = stuck and step == y[k]
            uphill += G[k] * (step - x[k])
            y[k] = step - x[k]
            x[k] = step
        if stuck:
            return
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        weight = (momentum - 1.0) / following
        if uphill < 0.0:
            following = 1.0
            weight = 0.0
        for k in range(n):
            y[k] = min(1.0, max(0.0, x[k] + weight * y[k]))
        momentum = following


@kernel
def separable_ascent(
    gradient: int,
    t: int,
    theta: Vector,
    params: Vector,
    out: Vector,
    w: Vector,
    G: Vector,
    low: Vector,
    high: Vector,
) -> None:
    """Write a maximiser to `out`, for g that is a sum of functions of one outcome each; from `w` on it is scratch."""
    n = theta.shape[0]
    for k in range(n):
        w[k] = low[k] = 0.0
        high[k] = 1.0
    call_entry(gradient, t, w, params, G)
    for k in range(n):
        if np.isnan(G[k]):
            _write_nan(out)
            return
        if G[k] + theta[k] <= 0.0:
            high[k] = 0.0
        w[k] = 1.0
    call_entry(gradient, t, w, params, G)
    for k in range(n):
        if np.isnan(G[k]):
            _write_nan(out)
            return
        if high[k] > 0.0 and G[k] + theta[k] >= 0.0:
            low[k] = 1.0
    for _ in range(BISECTIONS):
        done = True
        for k in range(n):
            w[k] = 0.5 * (low[k] + high[k])
            done = done and low[k] == high[k]
        if done:
            break
        call_entry(gradient, t, w, params, G)
        for k in range(n):
            if np.isnan(G[k]):
                _write_nan(out)
                return
            if G[k] + theta[k] > 0.0:
                low[k] = w[k]
            else:
                high[k] = w[k]
    for k in range(n):
        out[k] = 0.5 * (low[k] + high[k])


@kernel
def cutting_ascent(
    value: int,
    gradient: int,
    t: int,
    theta: Vector,
    params: Vector,
    out: Vector,
    tolerance: float,
    limit: int,
    B: Vector,
    centre: Vector,
    inside: Vector,
    G: Vector,
    u: Vector,
    number: Vector,
) -> None:
    """Write a maximiser to `out`; `value` and `gradient` are addresses of entries, from `B` on it is scratch."""
    n = theta.shape[0]
    if n == 1:
        separable_ascent(gradient, t, theta, params, out, centre, G, inside, u)
        return
    for i in range(n):
        centre[i] = out[i] = 0.5
        for j in range(n):
            B[i, j] = 0.5 * np.sqrt(n) if i == j else 0.0
    best = -np.inf
    for _ in range(limit):
        # The cut: points with G.(w - centre) < depth are of no interest.
        worst = 0.0
        where = -1
        for k in range(n):
            inside[k] = min(1.0, max(0.0, centre[k]))
            outside = max(-centre[k], centre[k] - 1.0)
            if outside > worst:
                worst = outside
                where = k
        call_entry(value, t, inside, params, number)
        total = number[0]
        for k in range(n):
            total += theta[k] * inside[k]
        if np.isnan(total):
            _write_nan(out)
            return
        if total > best:
            best = total
            for k in range(n):
                out[k] = inside[k]
        if where >= 0:
            for k in range(n):
                G[k] = 0.0
            G[where] = 1.0 if centre[where] < 0.0 else -1.0
            depth = worst
        else:
            call_entry(gradient, t, centre, params, G)
            for k in range(n):
                G[k] += theta[k]
            depth = best - total
        # In the coordinates of the ball: its radius along the cut is `reach`, and u the direction there.
        reach = 0.0
        for j in range(n):
            u[j] = 0.0
            for i in range(n):
                u[j] += B[i, j] * G[i]
            reach += u[j] * u[j]
        reach = np.sqrt(reach)
        if np.isnan(reach):
            _write_nan(out)
            return
        if reach <= depth or (where < 0 and reach - depth <= tolerance):
            return
        alpha = depth / reach
        move = (1.0 + n * alpha) / (n + 1.0)
        squeeze = 1.0 - np.sqrt(max(0.0, 1.0 - 2.0 * move / (1.0 + alpha)))
        grow = n * np.sqrt((1.0 - alpha * alpha) / (n * n - 1.0))
        for j in range(n):
            u[j] /= reach
        for i in range(n):
            along = 0.0
            for j in range(n):
                along += B[i, j] * u[j]
            centre[i] += move * along
            for j in range(n):
                B[i, j] = grow * (B[i, j] - squeeze * along * u[j])


_CLOSE: Final = 1e-10  # relative: the gap between the bounds at which to stop
_ROUNDS: Final = 200  # linear programs, at most
_ROUNDS_TO_HALVE: Final = 20  # within which the gap must halve, or the iteration ends
_OPTIONS: Final = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@inlined
def ascend(value, gradient, t, theta, params, out, beta, tolerance, limit, B, work, number):  # type: ignore[no-untyped-def]
    """Write the maximiser by the method that fits; the last three are scratch, of K x K, 4 x K and 1 numbers."""
    if beta >= 0.0:
        smooth_ascent(gradient, t, theta, params, out, beta, tolerance, limit, work[0], work[1], work[2])
    else:
        cutting_ascent(
            value, gradient, t, theta, params, out, tolerance, limit, B, work[0], work[1], work[2], work[3], number
        )


def tangent_bound(reward: Reward, theta: Vector, points: Sequence[Vector]) -> float:
    """The least bound on g*(theta) that is found from tangents at these points of the box, and then at others."""
    heights, slopes, upper, lower = np.zeros(0), np.zeros((0, theta.size)), np.inf, -np.inf
    todo, before = list(points) or [reward.conjugate_argmax(theta)], np.inf
    for number in range(_ROUNDS):
        for w in todo:
            try:
                value, tangents = reward.value(w), reward.tangents(w)
            except RewardError:  # there is no gradient, as that of a logarithm at 0
                continue
            lower = max(lower, value + float(theta @ w))
            for height, slope in tangents:
                if np.isfinite(height) and np.isfinite(slope).all():
                    heights, slopes = np.append(heights, height), np.vstack([slopes, slope])
                    upper = min(upper, _mixed(heights[-1:], slopes[-1:], np.ones(1), theta))
        left = upper - lower
        if left <= _CLOSE * max(1.0, abs(upper)) or not heights.size:
            break
        if number % _ROUNDS_TO_HALVE == _ROUNDS_TO_HALVE - 1:
            if left > 0.5 * before:
                break
            before = left
        found = _relaxed(heights, slopes, theta)
        if found is None:
            break
        w, weights = found
        upper = min(upper, _mixed(heights, slopes, weights, theta))
        if upper - lower <= _CLOSE * max(1.0, abs(upper)):
            break
        todo = [w, reward.conjugate_argmax(theta)] if points and number == 0 else [w]
    return upper


def _mixed(heights: Vector, slopes: Vector, weights: Vector, theta: Vector) -> float:
    """The bound of a mixture of tangents."""
    return float(weights @ heights) + float(np.maximum(0.0, weights @ slopes + theta).sum())


def _relaxed(heights: Vector, slopes: Vector, theta: Vector) -> tuple[Vector, Vector] | None:
    """Where the least of the tangents, plus theta.w, is largest, and the weights of the tangents there."""
    from scipy.optimize import linprog

    run: Any = linprog
    n = theta.size
    rows = np.column_stack([-slopes, np.ones(heights.size)])
    bounds = [(0.0, 1.0)] * n + [(None, None)]
    answer = run(np.append(-theta, -1.0), rows, heights, bounds=bounds, options=_OPTIONS, method="highs")
    if answer.status != 0:
        return None
    weights = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
    total = float(weights.sum())
    return (np.clip(answer.x[:n], 0.0, 1.0), weights / total) if total > 0.0 else None
