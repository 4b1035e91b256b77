"""What the tests of this folder share: agents of many kinds, their dense terms, and regions made too small."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise import oracles as o
from equipoise._runtime.compiler import Entry
from equipoise.confidence.elementwise import Elementwise, interval_entry
from tests.reference.confidence import Box, log_p, log_v, optimistic_rewards
from tests.reference.planner import best_distribution
from tests.reference.toc_ucrl2 import Reference

K = 3
KPI = [0.7, 0.5, 0.6]
Array = NDArray[np.float64]


def makers() -> dict[str, Callable[..., eq.TocUCRL2]]:
    """Rewards and oracles of every kind, for three outcomes; further arguments are the agent's."""
    r = eq.rewards

    def maker(reward: r.Reward, oracle: o.Oracle) -> Callable[..., eq.TocUCRL2]:
        return lambda space, **more: eq.TocUCRL2(space, reward, oracle, **more)

    return {
        "FW": maker(r.Quadratic(KPI), o.FrankWolfe()),
        "FW-squared": maker(r.TargetSquared(KPI), o.FrankWolfe()),
        "FW-fair": maker(r.ProportionalFairness(K, 0.1), o.FrankWolfe()),
        "FW-linear": maker(r.Linear([0.5, -0.3, 0.2]), o.FrankWolfe()),
        "TGD": maker(r.TargetDistance(KPI, 2), o.TunedGradientDescent()),
        "TMD-ball": maker(r.TargetDistance(KPI, 2), o.TunedMirrorDescent(o.EuclideanBall(), 10**6)),
        "TMD-box": maker(r.TargetDistance(KPI, 1), o.TunedMirrorDescent(o.Box(), 10**6)),
        "doubling": maker(r.BottomSum(K, 2), o.Doubling(o.SignedSimplex())),
        "doubling-slack": maker(r.Knapsack(K, 0.4), o.Doubling(o.SlackSimplex())),
        "doubling-inherit": maker(r.BottomSum(K, 1), o.Doubling(o.CrossPolytope(), inherit=True)),
    }


# --- dense terms, from the transcription in tests/reference ---


class Looking(Reference):
    """The dense agent, with the regions and the counts of every episode kept."""

    boxes: list[tuple[Box, Box]]
    facts: list[dict[str, Any]]

    def _begin_episode(self, reason: str) -> None:
        if not hasattr(self, "boxes"):
            self.boxes, self.facts = [], []
        self.boxes.append(self._regions(self.clock))
        counts = {"successors": self.successor_counts, "sums": self.outcome_sums, "visits": self.visits}
        self.facts.append(
            {"tau": self.clock, "delta": self.delta} | {name: count.copy() for name, count in counts.items()}
        )
        super()._begin_episode(reason)


def dense_terms(agent: Looking, theta: Array, pair: int, state: int, V: Array, target: Array) -> list[float]:
    """Left side, club, diamond, heart, spade and P of the present step, as (4.13) to (4.15) have them."""
    h_p, h_v = agent.boxes[-1]
    bias = agent.plan.bias
    optimistic = optimistic_rewards(agent.theta_ref, h_v)[pair]
    best = best_distribution(bias, h_p.lo[pair], h_p.hi[pair])
    return [
        float(-theta @ (target - V)),
        float((theta - agent.theta_ref) @ V),
        float(optimistic + agent.theta_ref @ V),
        float((agent.theta_ref - theta) @ target),
        float(best @ bias - bias[state]),
        agent.tolerances[-1],
    ]


def dense_slack(facts: dict[str, Any], p: Array, v: Array) -> tuple[float, float]:
    """1 - distance / radius, the least over all entries whose bound is not at 0 or 1; for v and for p."""
    visits = np.maximum(1, facts["visits"])[:, None]
    n_pairs, n_states = p.shape
    found = []
    for truth, sums, log in (
        (v, facts["sums"], log_v(n_pairs, v.shape[1], facts["tau"], facts["delta"])),
        (p, facts["successors"], log_p(n_pairs, n_states, facts["tau"], facts["delta"])),
    ):
        mean = sums / visits
        radius = np.sqrt(2 * mean * log / visits) + 3 * log / visits
        binds = np.where(truth > mean, mean + radius < 1, mean - radius > 0)
        found.append(1 - float(np.max(np.where(binds, np.abs(truth - mean) / radius, 0.0))))
    return found[0], found[1]


# --- the paper's regions with every radius multiplied by a factor ---


@interval_entry
def _interval(tau, delta, count, binary, n, total, squares, floats, bounds):
    log = math.log(12.0 * count * tau * tau / delta)
    mean = total / n
    radius = floats[binary] * (math.sqrt(2.0 * mean * log / n) + 3.0 * log / n)
    bounds[0] = max(0.0, mean - radius)
    bounds[1] = min(1.0, mean + radius)


class Scaled(Elementwise):
    """Bernstein's regions with the radii of v and of p multiplied by a factor each."""

    guarantee = "none"

    def __init__(self, v: float, p: float) -> None:
        self.v, self.p = v, p

    @property
    def interval(self) -> Entry:
        return _interval

    @property
    def floats(self) -> Array:
        return np.array([self.v, self.p])

    def arguments(self) -> Mapping[str, Any]:
        return {"v": self.v, "p": self.p}
