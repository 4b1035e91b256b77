"""The tabular learner: a scalar learner number by number while theta_ref stays, and steered when it moves."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

import equipoise as eq
from equipoise.adapters import DifferentialQ, GradientThreshold
from equipoise.errors import AdapterError, ParameterError
from tests.adapters.scripted import Scripted

THIRDS = eq.rewards.Quadratic([1 / 3] * 3)


def steered(model, reward, threshold=None):
    return GradientThreshold(eq.adapters.to_gymnasium(model), reward, threshold=threshold)


def test_it_is_a_scalar_learner_while_theta_ref_stays():
    """The same steps through a scalar differential Q-learner, written down from its formulas."""
    env = steered(eq.models.garnet(5, 3, 2, 3, seed=2), THIRDS, math.inf)
    learner = DifferentialQ(env, step_size=0.3, mean_step=0.2, seed=4)
    theta, table, mean = env.steering.theta_ref, np.zeros((5, 3)), 0.0
    state = env.reset(seed=4)[0]
    for _ in range(500):
        action = learner.choose(state)
        after, reward, _, _, info = env.step(action)
        learner.learn(state, action, info["outcomes"], after)
        delta = reward - mean + table[after].max() - table[state, action]
        table[state, action] += 0.3 * delta
        mean += 0.2 * 0.3 * delta
        state = after
        np.testing.assert_allclose(-learner.values @ theta, table, atol=1e-10)
        assert -learner.mean @ theta == pytest.approx(mean, abs=1e-10)


def test_a_scalar_problem_is_learnt():
    """Where theta never moves, the best actions are those of the offline program."""
    model, reward = eq.models.riverswim(3), eq.rewards.Linear([1.0])
    env = steered(model, reward)
    learner = DifferentialQ(env, pace=500, seed=1)
    learner.run(10_000)
    best = eq.solve(model, reward)
    assert best.policy().reshape(3, 2).argmax(axis=1).tolist() == learner.values[:, :, 0].argmax(axis=1).tolist()


def test_the_threshold_balances_and_a_fixed_weight_does_not():
    """On the star: a third on each loop, in ten seeds; with theta_ref fixed, all on one loop, which loses 1/3."""
    model = eq.models.star(3, 2)

    def regret(threshold, seed):
        env = steered(model, THIRDS, threshold)
        DifferentialQ(env, seed=seed).run(3000)
        return 1.0 - THIRDS.value(env.steering.average)

    assert max(regret(None, seed) for seed in range(5)) < 0.02
    assert min(regret(math.inf, seed) for seed in range(5)) > 0.1


@pytest.mark.parametrize("learning", [True, False])
def test_the_regret_is_at_most_the_oracles_the_delays_and_the_learners_own(learning):
    """What docs/learners.md says of any learner; one that does not learn loses nothing elsewhere, but all by itself.

    opt - g(average) <= oracle term + 2 ||1|| Q M / T + mean over the steps of (best gain by theta_ref - what was paid).
    On the star the best gain by theta is max(0, max_k -theta_k), and opt is 1.
    """
    steps, paying, rows = 3000, [], []
    env = steered(eq.models.star(3, 4), THIRDS)
    learner = DifferentialQ(env, seed=2)
    state, _ = env.reset(seed=2)
    for _ in range(steps):
        action = learner.choose(state) if learning else 0  # to the first loop, and there it stays
        after, _, _, _, info = env.step(action)
        learner.learn(state, action, info["outcomes"], after)
        state = after
        paying.append(info["theta_ref"])
        rows.append(info["outcomes"])
    theta, outcomes = np.array(paying), np.array(rows)
    own = (np.maximum(0.0, (-theta).max(axis=1)) + (theta * outcomes).sum(axis=1)).mean()
    theory, L = eq.oracles.FrankWolfe().theory, THIRDS.lipschitz
    elsewhere = theory.regret_term(THIRDS, steps) + 2 * math.sqrt(3) * L * (env.steering.changes + 1) / steps
    regret = 1.0 - THIRDS.value(outcomes.mean(axis=0))
    assert regret <= elsewhere + own
    assert learning or regret > elsewhere
    assert 5 < env.steering.changes <= theory.gradient_episodes(THIRDS, L, steps)


def test_one_seed_is_one_trajectory_in_one_call_or_several():
    averages = []
    for parts in ([700], [1, 299, 400]):
        env = steered(eq.models.riverswim(4), eq.rewards.Linear([1.0]))
        learner = DifferentialQ(env, seed=9)
        for part in parts:
            learner.run(part)
        averages.append((env.steering.average.tobytes(), learner.values.tobytes()))
    assert averages[0] == averages[1]


def test_episodes_lead_to_the_next_start():
    env = GradientThreshold(Scripted([[1.0, 0.0]], length=4), eq.rewards.Quadratic([0.5, 0.5]))
    learner = DifferentialQ(env)
    learner.run(12)
    assert env.steering.t == 13
    assert len(env.unwrapped.resets) == 4


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"step_size": 0}, "step_size: got 0; a number > 0 and at most 1 is needed"),
        ({"step_size": 1.5}, "step_size: got 1.5"),
        ({"mean_step": -1}, "mean_step: got -1; a number > 0 is needed"),
        ({"pace": math.inf}, "pace: got inf"),
        ({"least_exploration": 2}, "least_exploration: got 2; a number >= 0 and at most 1 is needed"),
        ({"seed": -1}, "seed: got -1"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, match):
    env = GradientThreshold(Scripted([[1.0, 0.0]]), eq.rewards.Quadratic([0.5, 0.5]))
    with pytest.raises(ParameterError, match=match):
        DifferentialQ(env, **arguments)


def test_environments_that_a_table_cannot_hold_are_refused():
    vectors = GradientThreshold(Scripted([[1.0, 0.0]], observations="vector"), eq.rewards.Quadratic([0.5, 0.5]))
    with pytest.raises(AdapterError, match=r"its observations are Box.*a table needs Discrete ones"):
        DifferentialQ(vectors)
    with pytest.raises(AdapterError, match="no GradientThreshold"):
        DifferentialQ(gymnasium.make("FrozenLake-v1"))
