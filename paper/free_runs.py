r"""The "free" run of Proposition 6.1's proof: TOC-UCRL2 on g_C for T steps, whatever it consumes, step by step.

`FreeRun` has the prices y_t = (2/b) lambda_t of the oracle, theta_t = (-1, y_t), and the outcomes (R_t, C_t); sums up
to t are rows of `earned` and `used`. The stopped run of Algorithm 2, with the rule I_k >= 1 of erratum 4, is its first
tau steps. Everything here is the paper's own formula, written out:

    f_t(theta_t)  =  b ||y_t||_1 + R_t - y_t.C_t,    t g_C(average)  =  earned_t - (2/b) max over k of (used_t - bt)^+.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from equipoise._types import Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.offline.knapsack import KnapsackBenchmark
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import SlackSimplex
from equipoise.rewards.penalties import Knapsack
from equipoise.theory.recording import record_run
from paper.rates import TOLERANCE


@final
@dataclass(frozen=True, eq=False)
class FreeRun:
    """Prices and outcomes of every step; b is the budget per step."""

    b: float
    theta: Vector
    outcomes: Vector

    @property
    def T(self) -> int:
        """The horizon."""
        return len(self.outcomes)

    @cached_property
    def t(self) -> Vector:
        """1 to T."""
        return np.arange(1.0, self.T + 1.0)

    @cached_property
    def earned(self) -> Vector:
        """The rewards up to t."""
        return np.cumsum(self.outcomes[:, 0])

    @cached_property
    def used(self) -> Vector:
        """What was consumed up to t, a column a resource."""
        return np.cumsum(self.outcomes[:, 1:], axis=0)

    @property
    def lead(self) -> Vector:
        """The largest of used - bt over the resources, at each t."""
        return np.asarray((self.used - self.b * self.t[:, None]).max(axis=1))

    @property
    def violation(self) -> float:
        """T eta^free: what was consumed beyond bT, of the resource most exceeded."""
        return max(0.0, float(self.lead[-1]))

    @cached_property
    def tau(self) -> int:
        """How many steps the stopped run takes: until some resource has less than a unit left, or T."""
        short = np.flatnonzero((self.used + 1.0 > self.b * self.T).any(axis=1))
        return int(short[0]) + 1 if short.size else self.T

    @property
    def surrogate(self) -> Vector:
        """What g_C gives to the average up to t, times t."""
        return self.earned - 2.0 / self.b * np.maximum(self.lead, 0.0)

    @property
    def dual(self) -> Vector:
        """The sum of f_q(theta_q) up to t."""
        y = self.theta[:, 1:]
        return np.asarray(np.cumsum(self.b * y.sum(axis=1) + self.outcomes[:, 0] - (y * self.outcomes[:, 1:]).sum(1)))

    @property
    def descent(self) -> Vector:
        """What mirror descent allows at t for the difference of the two: L' [T^{2/3} + t T^{-2/3}], ||1|| being 1."""
        slow = self.T ** (2.0 / 3.0)
        reach = 2.0 / self.b * np.sqrt(np.log(self.outcomes.shape[1]))
        return np.asarray(reach * (slow + self.t / slow))

    def errors(self, best: KnapsackBenchmark) -> Vector:
        """The sum of (-theta_q).(v* - V_q) up to t, v* being the outcomes of the optimum."""
        return np.asarray(np.cumsum((-self.theta * (best.outcomes - self.outcomes)).sum(axis=1)))

    def allowed(self, best: KnapsackBenchmark) -> Vector:
        """E(t): what (A.10) allows at t, with the errors of the path itself."""
        return self.descent + self.errors(best)


def free_run(model: Model, b: float, T: int, seed: int = 0, *, known: bool = False) -> FreeRun:
    """Run it; with the model known, plans are exact."""
    reward = Knapsack(model.n_outcomes, b)
    oracle = TunedMirrorDescent(SlackSimplex(), T)
    exact = (Known(model), TOLERANCE) if known else (None, None)
    agent = TocUCRL2(model.space, reward, oracle, reward.lipschitz, 0.05, *exact)
    ((trace, _),) = record_run(model, agent, T, seed, T)
    return FreeRun(b, trace.theta.copy(), trace.outcome.copy())
