"""Checks that the F of a mirror map is what the theorems need, and that its step is the argmax that it claims.

For any two thetas in the domain of F (minus supergradients, thetas of paths, and mixtures), with |.| the dual norm,

    F at the middle  <=  the mean of F at both ends  -  |one - other|^2 / 8,

which for a continuous F is to be 1-strongly convex. As eta Z.theta + F(theta) is strongly convex too, its minimiser
over the domain is theta_{t+1} exactly if every other theta is worse by at least |theta - theta_{t+1}|^2 / 2.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import ContractError
from equipoise.oracles.base import Phase
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.rewards.audit import box_points, show
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import dual
from equipoise.testing._oracle_paths import Leg

_POINTS: Final = 40  # of the box, and mixtures
_LOOKED_AT: Final = 30  # steps of a path
_SLACK: Final = 1e-9


def candidates(reward: Reward, seed: int) -> Vector:
    """Minus supergradients, and mixtures of some of them: a row for each theta."""
    rng = np.random.default_rng(seed)
    corners = -np.array([reward.gradient(w) for w in box_points(rng, _POINTS, reward.n_outcomes)])
    shares = rng.dirichlet(np.full(3, 0.5), len(corners))
    mixed = np.einsum("ij,ijk->ik", shares, corners[rng.integers(len(corners), size=(len(corners), 3))])
    return np.concatenate((corners, mixed))


def demand_strong_convexity(clause: str, oracle: TunedMirrorDescent, reward: Reward, points: Vector) -> None:
    """F is finite where minus supergradients lie, 1-strongly convex, least at theta_1, and its range is L'^2."""
    F = oracle.mirror_map
    values = np.asarray(F.value(reward, points), dtype=np.float64)
    if values.shape != points.shape[:-1]:
        raise ContractError(
            f"{clause}: value: of {len(points)} thetas it has the shape {values.shape}; one number each"
        )
    alone = np.asarray(F.value(reward, points[0]))
    if alone.shape != () or not np.isclose(alone, values[0], rtol=1e-12, atol=1e-12, equal_nan=True):
        raise ContractError(f"{clause}: value: of one theta alone it is {alone!r}, and among others {values[0]!r}")
    outside = np.flatnonzero(~np.isfinite(values))
    if outside.size:
        raise ContractError(
            f"{clause}: value: at theta = {show(points[outside[0]])}, a mixture of minus supergradients, it is "
            f"{values[outside[0]]}; the domain of F must hold it"
        )
    scale = max(1.0, float(np.abs(values).max()), reward.lipschitz**2)
    others = np.roll(np.arange(len(points)), 1)
    far = np.linalg.norm(points - points[others], ord=dual(reward.norm), axis=1)
    middle = F.value(reward, 0.5 * (points + points[others]))
    allowed = 0.5 * (values + values[others]) - 0.125 * far**2
    i = int(np.argmax(middle - allowed))
    if not middle[i] <= allowed[i] + _SLACK * scale:
        raise ContractError(
            f"{clause}: value: not 1-strongly convex: midway between {show(points[i])} and {show(points[others[i]])}, "
            f"{far[i]:.9g} apart in the dual of norm {reward.norm:g}, it is {middle[i]:.9g}, more than {allowed[i]:.9g}"
        )
    first = oracle.initial_theta(reward)
    least = float(F.value(reward, first))
    if not values.min() >= least - _SLACK * scale:
        raise ContractError(f"{clause}: initial_theta: F is {least:.9g} there, and {values.min():.9g} elsewhere")
    reach = F.radius(reward)
    if not values.max() - least <= reach**2 + _SLACK * scale:
        raise ContractError(
            f"{clause}: radius: L'^2 = {reach**2:.9g}, and F ranges over {values.max() - least:.9g} at least"
        )


def demand_minimisers(clause: str, oracle: TunedMirrorDescent, reward: Reward, leg: Leg, points: Vector) -> None:
    """theta_{t+1} minimises eta Z.theta + F(theta), Z the sum of grad g*(theta_q) - V_q."""
    F, eta = oracle.mirror_map, oracle.eta(reward)
    Z = np.zeros(reward.n_outcomes)
    elsewhere = F.value(reward, points)
    for t in range(min(len(leg.outcomes), _LOOKED_AT)):
        Z += reward.conjugate_argmax(leg.thetas[t]) - leg.outcomes[t]
        theta = leg.thetas[t + 1]
        here = eta * float(Z @ theta) + float(F.value(reward, theta))
        there = eta * points @ Z + elsewhere
        far = np.linalg.norm(points - theta, ord=dual(reward.norm), axis=1)
        short = here + 0.5 * far**2 - there
        i = int(np.argmax(short))
        if not short[i] <= _SLACK * max(1.0, abs(here), reward.lipschitz**2):
            raise ContractError(
                f"{clause}: step {t + 1}: theta = {show(theta)} is not the minimiser of eta Z.theta + F(theta): it is "
                f"{here:.9g} there, and {there[i]:.9g} at {show(points[i])}, {far[i]:.9g} away"
            )


def described_by_a_map(phase: Phase) -> TunedMirrorDescent | None:
    """The oracle of a phase, if it is mirror descent from the minimiser of F."""
    return phase.oracle if isinstance(phase.oracle, TunedMirrorDescent) else None
