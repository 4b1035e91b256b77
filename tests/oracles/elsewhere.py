"""Oracles written outside of the package, as a stranger would write them."""

from __future__ import annotations

from typing import Any

import numpy as np

import equipoise as eq
from equipoise.oracles import Oracle
from equipoise.oracles.base import OracleKernel, Phase
from equipoise.oracles.frame import conjugate_argmax, gradient, opened, oracle_entry


@oracle_entry
def _heavy(frame):
    """Heavy ball: memory[:K] is the velocity, memory[K] the number of steps, scratch[:K] the gradient."""
    step = opened(frame)
    n = step.theta.shape[0]
    gradient(step, step.average, step.scratch)
    for k in range(n):
        step.memory[k] = step.params[0] * step.memory[k] + (1.0 - step.params[0]) * (-step.scratch[k] - step.theta[k])
        step.theta[k] += step.memory[k]
    step.memory[n] += 1.0


class HeavyBall(Oracle):
    """Theta follows minus the gradient with some inertia. Nothing is proven of it."""

    def __init__(self, inertia: float = 0.5) -> None:
        self.inertia = inertia

    def check(self, reward: eq.rewards.Reward) -> None:
        pass

    def initial_theta(self, reward: eq.rewards.Reward) -> np.ndarray:
        return np.zeros(reward.n_outcomes)

    def kernel(self, reward: eq.rewards.Reward) -> OracleKernel:
        K = reward.n_outcomes
        return OracleKernel(_heavy, np.array([self.inertia]), memory=K + 1, scratch=K)


@oracle_entry
def _addressed(frame):
    step = opened(frame)
    gradient(step, step.average, step.theta)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -step.theta[k]


class Addressed(HeavyBall):
    """Frank-Wolfe, but not by the entry that the loop has built in."""

    def initial_theta(self, reward: eq.rewards.Reward) -> np.ndarray:
        return eq.oracles.FrankWolfe().initial_theta(reward)

    def kernel(self, reward: eq.rewards.Reward) -> OracleKernel:
        return OracleKernel(_addressed, np.zeros(1))


@oracle_entry
def _reader(frame):
    """Theta is the time, the local time and the outcome, one after the other; scratch is the conjugate's maximiser."""
    step = opened(frame)
    conjugate_argmax(step, step.theta, step.scratch)
    for k in range(step.theta.shape[0]):
        step.memory[k] = step.scratch[k]
    step.theta[0] = step.t
    step.theta[1] = step.local
    step.theta[2] = step.outcome[0] + step.average[1] + step.params[1]


class Reader(HeavyBall):
    """In phases of seven steps, whose counts go on."""

    calls = ("conjugate_argmax",)

    def kernel(self, reward: eq.rewards.Reward) -> OracleKernel:
        return OracleKernel(_reader, [3, 4], scratch=reward.n_outcomes, calls=self.calls)  # whole numbers, in a list

    def phase(self, index: int) -> Phase:
        return Phase(self, 7, 1.0, True, origin=7 * (index - 1))


class Undeclared(Reader):
    calls = ()


class Greedy(HeavyBall):
    """Its second phase needs more memory than it said."""

    def phase(self, index: int) -> Phase:
        return Phase(self if index == 1 else HeavyBall(), 5, 1.0, True, origin=5 * (index - 1))

    def kernel(self, reward: eq.rewards.Reward) -> OracleKernel:
        return OracleKernel(_reader, np.zeros(2), scratch=3)


class Bare(HeavyBall):
    def kernel(self, reward: eq.rewards.Reward) -> Any:
        return OracleKernel(reward.kernels.gradient, np.zeros(1))


class Short(HeavyBall):
    def initial_theta(self, reward: eq.rewards.Reward) -> np.ndarray:
        return np.zeros(1)
