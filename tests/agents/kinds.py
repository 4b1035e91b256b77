"""One agent of every kind and make, each with a world for it: what tests of all agents run over."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import equipoise as eq
from equipoise.agents import KnapsackTocUCRL2
from equipoise.agents.baselines import FrankWolfeUCB, PosteriorProgram, RoundRobin, Rule, StationaryAgent

TARGET = [0.4, 0.3, 0.3]
HORIZON = 300


class Case(NamedTuple):
    model: eq.Model
    make: Callable[[], eq.agents.Agent]


def with_nulls(model: eq.Model) -> eq.Model:
    """The same world, but that action 0 yields and consumes nothing."""
    means = model.means.copy()
    means[model.first_pair[:-1]] = 0.0
    return eq.Model.from_sparse(model.first_pair, model.transitions(), means)


def cases() -> dict[str, Case]:
    world = eq.models.garnet(5, 3, 3, 3, seed=8)
    nulls = with_nulls(world)
    arms = eq.Model.from_arrays([[[1.0]] * 3], [[[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.6]]])
    smooth, kinked = eq.rewards.Quadratic(TARGET), eq.rewards.Balance(TARGET)
    space = world.space
    counts = np.diff(space.first_pair)
    policy = np.concatenate([np.random.default_rng(s).dirichlet(np.ones(n)) for s, n in enumerate(counts)])
    first = np.eye(space.n_pairs)[space.first_pair[:-1]].sum(axis=0)
    known = eq.confidence.Known(nulls)
    return {
        "toc": Case(world, lambda: eq.TocUCRL2(space, smooth)),
        "toc, all given": Case(
            nulls,
            lambda: eq.TocUCRL2(
                nulls.space, kinked, eq.oracles.TunedGradientDescent(), 0.5, 0.1, known, 1e-6,
                planner=eq.planning.Planner(warm_start=True, limit=10_000),
            ),
        ),
        "knapsack": Case(nulls, lambda: eq.KnapsackAgent(nulls.space, 0.2, HORIZON, 0)),
        "knapsack, all given": Case(nulls, lambda: eq.KnapsackAgent(nulls.space, 0.5, HORIZON, [0] * 5, 0.1, known)),
        "knapsack, drawn": Case(
            nulls,
            lambda: eq.KnapsackAgent(
                nulls.space, 0.3, HORIZON, 0, confidence=eq.confidence.PosteriorSampling(seed=5)
            ),
        ),
        "knapsack toc": Case(nulls, lambda: KnapsackTocUCRL2(nulls.space, 0.2, HORIZON, 0)),
        "knapsack toc, all given": Case(
            nulls, lambda: KnapsackTocUCRL2(nulls.space, 0.5, HORIZON, [0] * 5, 0.1, known, tolerance=1e-4)
        ),
        "mixture": Case(world, lambda: eq.MixtureUCRL2(space, kinked)),
        "mixture, smooth": Case(world, lambda: eq.MixtureUCRL2(space, smooth, delta=0.1)),
        "mixture, drawn": Case(world, lambda: eq.MixtureUCRL2(space, kinked, eq.confidence.PosteriorSampling(seed=2))),
        "mixture, known": Case(nulls, lambda: eq.MixtureUCRL2(nulls.space, kinked, known)),
        "posterior program": Case(world, lambda: PosteriorProgram(space, smooth, seed=4)),
        "uniform": Case(world, lambda: StationaryAgent(space, smooth, seed=2**200 + 1)),
        "randomised": Case(world, lambda: StationaryAgent(space, kinked, policy, 7)),
        "deterministic": Case(world, lambda: StationaryAgent(space, kinked, first)),
        "rule": Case(world, lambda: Rule(space, smooth, lambda state: (2 * state + 1) % 3)),
        "rule, listed": Case(world, lambda: Rule(space, kinked, np.array([2, 0, 1, 1, 0]))),
        "round robin": Case(world, lambda: RoundRobin(space, eq.rewards.BottomSum(3, 1))),
        "arms": Case(arms, lambda: FrankWolfeUCB(arms.space, smooth)),
        "arms, delta": Case(arms, lambda: FrankWolfeUCB(arms.space, smooth, delta=0.3)),
    }  # fmt: skip


CASES = cases()
KINDS = {"toc", "knapsack toc", "randomised", "rule", "round robin", "arms"}  # classes whose files are checked alike


def take(agent: eq.agents.Agent, world: eq.models.World, steps: int) -> list[tuple[int, bytes, int]]:
    """Step by hand: actions, outcomes to the last bit, next states."""
    taken = []
    for _ in range(steps):
        action = agent.act(world.state)
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        taken.append((action, outcomes.tobytes(), state))
    return taken
