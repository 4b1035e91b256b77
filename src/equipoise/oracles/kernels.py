"""Pieces of the oracles' steps, compiled: a projection, multiplicative weights, Frank-Wolfe's in one pass, a call."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._compile import inlined, kernel
from equipoise._frames import call_framed, framed
from equipoise.oracles.frame import conjugate_argmax
from equipoise.rewards.norms import distance


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
def accumulated(step, response):
    """Add z_t = grad g*(theta_t) - V_t to the oracle's memory, which is Z_t; `response` is a buffer of K numbers."""
    conjugate_argmax(step, step.theta, response)
    for k in range(step.theta.shape[0]):
        step.memory[k] += response[k] - step.outcome[k]


@kernel
def step_once(address, frame):
    """Call the step of an oracle once, from Python, on an `OracleFrame`."""
    call_framed(address, framed(frame))
