"""The whole algorithm against a loop that only samples the same world under a fixed policy."""

from __future__ import annotations

import math
from functools import partial

import numba
import numpy as np

import equipoise as eq
from benchmarks.timing import best_times
from equipoise.models.world import get_sampling, sample

STEPS = 10**7


@numba.njit(error_model="numpy", _nrt=False)
def bare(steps, rng, first_pair, policy, world, out):
    """Sample and nothing else."""
    state = 0
    for _ in range(steps):
        pair = first_pair[state] + policy[state]
        state = sample(rng, pair, world, out)
    return state


def sampling(model: eq.Model, steps: int) -> None:
    policy = np.zeros(model.n_states, dtype=np.int64)
    rng, world = eq.models.stream(model, 1), get_sampling(model)
    bare(steps, rng, model.first_pair, policy, world, np.zeros(model.n_outcomes))


def learning(model: eq.Model, reward: eq.rewards.Reward, steps: int, threshold: float | None = None) -> eq.Run:
    return eq.simulate(model, eq.TocUCRL2(model.space, reward, threshold=threshold), steps, seed=1, progress=False)


def mixing(model: eq.Model, reward: eq.rewards.Reward, steps: int) -> eq.Run:
    return eq.simulate(model, eq.MixtureUCRL2(model.space, reward), steps, seed=1, progress=False)


def noisy_star() -> eq.Model:
    """The star with its outcomes drawn: four uniform numbers a step instead of one."""
    still = eq.models.star(branches=3, diameter=4)
    return eq.Model.from_sparse(still.first_pair, still.transitions(), still.means, noise="bernoulli")


def speed(steps: int, seconds: float) -> str:
    return f"{steps / seconds / 1e6:.1f} M steps/s"


def report() -> list[tuple[str, str, str]]:
    """Rows of the table: what, measured, asked."""
    rows = []
    reward = eq.rewards.Quadratic([1 / 3] * 3)
    for name, model, limit in (
        ("star", eq.models.star(branches=3, diameter=4), "<= 3"),
        ("star, Bernoulli outcomes", noisy_star(), ""),
    ):
        ours, floor = best_times(partial(learning, model, reward, STEPS), partial(sampling, model, STEPS))
        what = f"{name}, K=3, D=4, FrankWolfe, Q=L, 10^7 steps: time over bare sampling"
        rows.append((what, f"{ours / floor:.2f}  ({speed(STEPS, ours)} and {speed(STEPS, floor)})", limit))
    scalar = eq.rewards.Linear([1.0])
    for n in (6, 20):
        model = eq.models.riverswim(n)
        ours, floor = best_times(
            partial(learning, model, scalar, 10**6, math.inf), partial(sampling, model, 10**6), rounds=3
        )
        what = f"RiverSwim {n}, UCRL2's schedule, 10^6 steps: time over bare sampling"
        rows.append((what, f"{ours / floor:.2f}  ({speed(10**6, ours)})", ""))
    for name, model, goal in (
        ("pricing, budget", eq.models.pricing(), eq.rewards.Knapsack(2, 0.3)),
        ("scheduler, worst user", eq.models.scheduler(), eq.rewards.BottomSum(3, 1)),
        ("random, 1,000 states", eq.models.garnet(1000, 4, 5, n_outcomes=3, seed=1), eq.rewards.BottomSum(3, 1)),
    ):
        steps = 10**6 if model.n_states < 100 else 10**5
        ours, descent = best_times(partial(mixing, model, goal, steps), partial(learning, model, goal, steps), rounds=2)
        what = f"{name}, {steps:,} steps: MixtureUCRL2 over TocUCRL2"
        asked = ">= 1 M steps/s" if model.n_states < 100 else "<= 2"
        rows.append((what, f"{ours / descent:.2f}  ({speed(steps, ours)})", asked))
    return rows
