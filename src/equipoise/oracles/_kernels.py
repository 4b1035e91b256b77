"""One step of an oracle, compiled: theta_{t+1} from the outcomes of time t.

The oracles are few and fixed, so a step is chosen by a small integer; what varies without limit, the
reward, is called through the address of its entry (its gradient, or the maximiser of its conjugate).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._compile import call_entry, inlined
from equipoise.rewards.norms import distance

FRANK_WOLFE: Final = 0
GRADIENT_DESCENT: Final = 1
MIRROR_BALL: Final = 2
MIRROR_BOX: Final = 3
MIRROR_ENTROPY: Final = 4


@inlined
def project_ball(theta, radius):
    """Euclidean projection on the ball of the given radius."""
    total = 0.0
    for k in range(theta.shape[0]):
        total += theta[k] * theta[k]
    if total > radius * radius:
        shrink = radius / np.sqrt(total)
        for k in range(theta.shape[0]):
            theta[k] *= shrink


@inlined
def entropic_point(params, slope, weights, theta):
    """Theta = base + sum_j lambda_j scale_j e_c(j), with lambda_j proportional to exp(-rate scale_j slope_c(j)).

    `params` holds the rate, the number J of vertices, then base (K), coordinates (J) and scales (J).
    """
    n = theta.shape[0]
    rate = params[0]
    vertices = int(params[1])
    highest = -np.inf
    for j in range(vertices):
        weights[j] = -rate * params[2 + n + vertices + j] * slope[int(params[2 + n + j])]
        highest = max(highest, weights[j])
    total = 0.0
    for j in range(vertices):
        weights[j] = np.exp(weights[j] - highest)
        total += weights[j]
    for k in range(n):
        theta[k] = params[2 + k]
    for j in range(vertices):
        theta[int(params[2 + n + j])] += weights[j] / total * params[2 + n + vertices + j]


@inlined
def negate_and_measure(theta, reference, dual_norm):
    """Turn theta into -theta, and return its distance from `reference`; one pass, for the oracle used most."""
    total = 0.0
    if dual_norm == 2.0:
        for k in range(theta.shape[0]):
            theta[k] = -theta[k]
            gap = theta[k] - reference[k]
            total += gap * gap
        return np.sqrt(total)
    for k in range(theta.shape[0]):
        theta[k] = -theta[k]
    return distance(theta, reference, dual_norm)


@inlined
def descend(code, params, local, outcome, slope, response, weights, theta):
    """One step of a descent on the dual; `response` is the maximiser of the conjugate at theta."""
    n = theta.shape[0]
    if code == GRADIENT_DESCENT:
        rate = params[1] / (local ** (2.0 / 3.0))
        for k in range(n):
            theta[k] -= rate * (response[k] - outcome[k])
        project_ball(theta, params[0])
        return
    for k in range(n):
        slope[k] += response[k] - outcome[k]
    if code == MIRROR_ENTROPY:
        entropic_point(params, slope, weights, theta)
        return
    for k in range(n):
        theta[k] = -params[1] * slope[k]
    if code == MIRROR_BALL:
        project_ball(theta, params[0])
    else:
        for k in range(n):
            theta[k] = min(params[0], max(-params[0], theta[k]))


@inlined
def move_theta(
    code, entry, params, reward_params, t, local, outcome, average, slope, response, weights, theta, reference,
    dual_norm,
):  # fmt: skip
    """Replace theta_t by theta_{t+1}, and return its distance from the reference gradient.

    `t` is the time, `local` the time counted from the oracle's own start; `slope` accumulates
    z_q = grad g*(theta_q) - V_q for the mirror descents; `response` and `weights` are buffers.
    """
    if code == FRANK_WOLFE:
        call_entry(entry, t, average, reward_params, theta)
        return negate_and_measure(theta, reference, dual_norm)
    call_entry(entry, t, theta, reward_params, response)
    descend(code, params, local, outcome, slope, response, weights, theta)
    return distance(theta, reference, dual_norm)
