"""One step of an oracle, compiled: theta_{t+1} from the outcomes of time t.

The oracles are few and fixed, so a step is chosen by a small integer; what varies without limit, the
reward, is called through the address of its entry (its gradient, or the maximiser of its conjugate).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._compile import call_entry, inlined

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
def next_theta(
    code, entry, params, reward_params, t, local, outcome, average, slope, response, weights, theta
):
    """Replace theta_t by theta_{t+1}.

    `t` is the time, `local` the time counted from the oracle's own start; `slope` accumulates
    z_q = grad g*(theta_q) - V_q for the mirror descents; `response` and `weights` are buffers.
    """
    n = theta.shape[0]
    if code == FRANK_WOLFE:
        call_entry(entry, t, average, reward_params, theta)
        for k in range(n):
            theta[k] = -theta[k]
        return
    call_entry(entry, t, theta, reward_params, response)
    if code == GRADIENT_DESCENT:
        step = params[1] / (local ** (2.0 / 3.0))
        for k in range(n):
            theta[k] -= step * (response[k] - outcome[k])
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
