"""Checks of claims that some solver might make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.models import Model
from equipoise.offline.benchmark import Benchmark, Solution, judge, make_benchmark
from equipoise.offline.certificate import Primal, measure
from equipoise.offline.methods import check_claim
from equipoise.offline.problem import Claim, DualPoint, Problem
from equipoise.rewards import Reward


def plain_claim(occupancy: np.ndarray, thetas: Sequence[np.ndarray], bias: np.ndarray | None = None) -> Claim:
    """What a solver might say of a reward without constraints."""
    return Claim(occupancy, tuple(DualPoint(np.ones(1), [-theta]) for theta in thetas), bias, "me")


def check(model: Model, reward: Reward, claim: Claim, tolerance: float) -> Benchmark:
    """What is returned of a claim."""
    problem = Problem.of(reward)
    answer = check_claim(model, problem, claim, tolerance)
    return make_benchmark(model, reward, Solution(answer, judge(answer, problem, tolerance)), tolerance, 0.0)


def primal_point(model: Model, reward: Reward, occupancy: np.ndarray) -> Primal:
    """An occupancy with its outcomes, value and residual."""
    x, w, largest, total = measure(model, occupancy)
    return Primal(x, w, reward.value(w), largest, total)
