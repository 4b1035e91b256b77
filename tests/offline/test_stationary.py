"""What stationary policies reach, against brute force and against long simulations."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equipoise import models, rewards, simulate
from equipoise.agents.baselines import StationaryAgent
from equipoise.errors import ParameterError
from equipoise.models import Model
from equipoise.offline import best_stationary, solve
from equipoise.offline.chains import long_run, policy_chain, recurrent_classes, stationary_distribution
from equipoise.offline.program import flow_matrix
from equipoise.offline.stationary import _support
from equipoise.rewards import Reward


def cesaro(chain: np.ndarray) -> np.ndarray:
    """The limit of the averages of the powers of a chain, by repeated squaring of the lazy chain."""
    lazy = 0.5 * (np.eye(len(chain)) + chain)
    for _ in range(60):
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return lazy


def brute_force(model: Model, reward: Reward) -> float:
    """Every deterministic policy, every start: the best g(limit) over states in a recurrent class."""
    p = model.transitions().toarray()
    top = -np.inf
    ranges = [range(a, b) for a, b in itertools.pairwise(model.first_pair)]
    for pairs in itertools.product(*ranges):
        limit = cesaro(p[list(pairs)])
        for s in range(model.n_states):
            if limit[s, s] > 1e-6:  # recurrent
                top = max(top, reward.value(np.clip(limit[s] @ model.means[list(pairs)], 0.0, 1.0)))
    return top


def test_the_star_by_hand() -> None:
    # One loop: g(e_k); or no loop at all: g(0).
    for K in (2, 3):
        reward = rewards.Quadratic(np.full(K, 1 / K))
        loop = 1.0 - ((1 - 1 / K) ** 2 + (K - 1) / K**2) / 2.0
        best = best_stationary(models.star(K, 4), reward)
        assert best.deterministic.exact
        assert best.deterministic.value == pytest.approx(max(loop, 1.0 - 1 / K / 2.0))
        assert best.supremum == pytest.approx(1.0)
        assert not best.attained
        assert best.classes == K
    kpi = rewards.TargetDistance([0.5, 0.0, 0.5], 1)
    best = best_stationary(models.star(3, 4), kpi)
    assert best.deterministic.value == pytest.approx(0.5)
    assert best.deterministic.states.size == 1
    actions = best.deterministic.actions
    run = follow(models.star(3, 4), np.eye(3)[actions, :3].ravel()[_ragged(models.star(3, 4))], 10_000, 1, kpi)
    assert run.values[-1] == pytest.approx(0.5, abs=1e-3)  # from the start it is led to its class


def _ragged(model: Model) -> list[int]:
    """Positions, in an S x 3 table, of the pairs of a model with at most 3 actions."""
    return [3 * s + a for s, n in enumerate(model.n_actions) for a in range(n)]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))])
def test_enumeration_against_brute_force(seed: int) -> None:
    model = models.garnet(4, 2, 1 + seed % 3, 2, seed=seed)
    for reward in (rewards.Quadratic([0.9, 0.2]), rewards.BottomSum(2, 1), rewards.Entropy(2)):
        best = best_stationary(model, reward)
        assert best.deterministic.exact
        assert best.deterministic.value == pytest.approx(brute_force(model, reward), abs=1e-9)
        assert best.deterministic.value <= best.supremum + 1e-6
        searched = best_stationary(model, reward, limit=1).deterministic
        assert not searched.exact
        assert searched.value <= best.deterministic.value + 1e-9 <= searched.upper + 2e-9
        assert searched.value == pytest.approx(best.deterministic.value, abs=1e-9)  # on worlds as small as this
        assert "at most" in repr(searched)


@pytest.mark.parametrize("n", [6, 12])
def test_linear_rewards_are_attained_by_a_deterministic_policy(n: int) -> None:
    model = models.riverswim(n)
    best = best_stationary(model, rewards.Linear([1.0]))
    assert best.attained
    assert best.deterministic.exact
    assert best.deterministic.value == pytest.approx(best.supremum, abs=1e-8)
    river = best_stationary(models.riverswim(60), rewards.Linear([1.0]))
    assert river.attained
    large = river.deterministic
    assert not large.exact
    assert large.value == pytest.approx(large.upper, abs=1e-6)


@pytest.mark.parametrize("model", [models.star(3, 4), models.garnet(12, 3, 2, 3, seed=4), models.hub(3)])
def test_the_mixed_policies(model: Model) -> None:
    reward = rewards.Quadratic([0.5, 0.3, 0.2])
    best = best_stationary(model, reward)
    for epsilon in (1.0, 0.3, 0.01):
        x, policy = best.occupancy_at(epsilon), best.policy(epsilon)
        assert np.abs(flow_matrix(model) @ x).max() <= 1e-8
        assert x.min() > 0.0
        assert x.sum() == pytest.approx(1.0)
        ((states, settled),) = long_run(model, policy)
        assert states.size == model.n_states
        assert settled == pytest.approx(x, abs=1e-7)
        assert best.outcomes_at(epsilon) == pytest.approx(model.means.T @ settled, abs=1e-6)
        assert best.value_at(epsilon) <= best.supremum + 1e-6
    assert best.value_at(1e-7) == pytest.approx(best.supremum, abs=1e-5)
    for epsilon in (0.0, -0.5, 2.0, float("nan")):
        with pytest.raises(ParameterError, match="epsilon"):
            best.policy(epsilon)
    with pytest.raises(ParameterError, match="another model"):
        best_stationary(models.star(3, 2), reward, benchmark=best.benchmark)


def follow(model, policy, steps, seed, reward, checkpoints=None):
    return simulate(model, StationaryAgent(model.space, reward, policy, seed), steps, seed, checkpoints=checkpoints)


def test_a_simulated_policy_tends_to_its_stationary_outcomes() -> None:
    model = models.star(3, 4)
    best = best_stationary(model, rewards.Quadratic([1 / 3] * 3))
    run = follow(model, best.policy(0.3), 400_000, 7, best.reward)
    assert run.t[-1] == 400_000
    assert run.outcomes[-1] == pytest.approx(best.outcomes_at(0.3), abs=0.02)
    assert run.values[-1] == pytest.approx(best.value_at(0.3), abs=0.01)
    again = follow(model, best.policy(0.3), 400_000, 7, best.reward, [10, 400_000])
    assert np.array_equal(again.outcomes[-1], run.outcomes[-1])
    assert not np.array_equal(follow(model, best.policy(0.3), 1000, 8, best.reward).values[-1:], run.values[-1:])
    noisy = models.riverswim(6)
    linear = rewards.Linear([1.0])
    river = solve(noisy, linear)
    assert follow(noisy, river.policy(), 300_000, 1, linear).values[-1] == pytest.approx(river.value, abs=0.01)


def test_chains() -> None:
    model = models.garnet(3500, 1, 4, 1, seed=0)
    chain = policy_chain(model, np.ones(model.n_pairs))
    (states,) = recurrent_classes(chain)
    own = chain[states][:, states].tocsr()
    pi = stationary_distribution(own)
    assert np.abs(own.T @ pi - pi).sum() <= 1e-12
    for n in (60, 400):  # seven times as likely with every step to the right: nothing may be lost to rounding
        river = models.riverswim(n)
        right = np.tile([0.0, 1.0], n)
        pi = stationary_distribution(policy_chain(river, right))
        assert pi[-1] == pytest.approx(3 / 7)
        assert pi[5:-5] / pi[4:-6] == pytest.approx(np.full(n - 10, 7.0)) if n == 60 else True
    assert stationary_distribution(policy_chain(models.ring(5), np.ones(5))) == pytest.approx([0.2] * 5)


def test_a_support_whose_parts_are_all_but_cut_off() -> None:
    """On a large grid the optimum stays at the goals and hardly ever walks: its classes are counted all the same."""
    model, reward = models.grid(60, 60, goals=[(0, 59), (59, 0), (59, 59)]), rewards.Quadratic([0.5, 0.7, 0.9])
    best = solve(model, reward, method="columns")
    classes, _ = _support(model, reward, best, 1e-6)
    assert classes >= 1
    broken = replace(best, value=best.value + 1e-3)  # a value that no support explains
    assert _support(model, reward, broken, 1e-6) == (0, False)
