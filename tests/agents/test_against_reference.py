"""The compiled agent against the dense transcription of the paper: same actions, episodes, theta and gain.

Both see the same observations, step by step. Actions, episode starts and triggers must be equal; theta, gain
and the span of the bias agree to rounding, which accumulates over sums of a few thousand terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from tests.reference import oracles as ref_oracles
from tests.reference import rewards as ref_rewards
from tests.reference.toc_ucrl2 import Reference
from tests.reference.ucrl2 import UCRL2

ROUNDING = 1e-9
K = 3
KPI = [0.7, 0.5, 0.6]


@dataclass
class Case:
    name: str
    reward: eq.rewards.Reward
    oracle: o.Oracle
    ref_reward: object
    ref_oracle: Callable[[], object]


def cases() -> list[Case]:
    horizon = 2000
    found = []

    def add(name, reward, oracle, ref_reward, make):
        found.append(Case(name, reward, oracle, ref_reward, make))

    def frank_wolfe(name, reward, ref):
        add(f"FW-{name}", reward, o.FrankWolfe(), ref, lambda: ref_oracles.FrankWolfe(ref, K))

    frank_wolfe("quadratic", eq.rewards.Quadratic(KPI), ref_rewards.Quadratic(KPI))
    frank_wolfe("squared", eq.rewards.TargetSquared(KPI), ref_rewards.TargetSquared(KPI))
    frank_wolfe("linear", eq.rewards.Linear([0.5, 0.3, 0.2]), ref_rewards.Linear([0.5, 0.3, 0.2]))
    frank_wolfe("fair", eq.rewards.ProportionalFairness(K, 0.1), ref_rewards.ProportionalFairness(K, 0.1))
    frank_wolfe("entropy", eq.rewards.Entropy(K, 0.05), ref_rewards.Entropy(K, 0.05))

    balance = ref_rewards.Balance([0.4, 0.3, 0.3])
    balance.norm = 2.0  # the library measures it in the 2-norm, so that gradient descent fits
    for name, reward, ref in (
        ("balance", eq.rewards.Balance([0.4, 0.3, 0.3]), balance),
        ("distance2", eq.rewards.TargetDistance(KPI, 2), ref_rewards.TargetDistance(KPI, 2)),
        ("quadratic", eq.rewards.Quadratic(KPI), ref_rewards.Quadratic(KPI)),
    ):
        L = reward.lipschitz
        add(f"TGD-{name}", reward, o.TunedGradientDescent(), ref,
            lambda ref=ref, L=L: ref_oracles.TunedGradientDescent(ref, K, L))  # fmt: skip
        ball = ref_oracles.EuclideanBall(K, L)
        add(f"TMD-ball-{name}", reward, o.TunedMirrorDescent(o.EuclideanBall(), horizon), ref,
            lambda ref=ref, ball=ball: ref_oracles.TunedMirrorDescent(ref, ball, horizon))  # fmt: skip

    distance1 = ref_rewards.TargetDistance(KPI, 1)
    add("TMD-box", eq.rewards.TargetDistance(KPI, 1), o.TunedMirrorDescent(o.Box(), horizon), distance1,
        lambda: ref_oracles.TunedMirrorDescent(distance1, ref_oracles.Cube(K, 1.0), horizon))  # fmt: skip
    bottom = ref_rewards.BottomSum(K, 2)
    add("TMD-simplex", eq.rewards.BottomSum(K, 2), o.TunedMirrorDescent(o.SignedSimplex(), horizon), bottom,
        lambda: ref_oracles.TunedMirrorDescent(bottom, ref_oracles.SignedSimplex(K, 2.0), horizon))  # fmt: skip
    gini = ref_rewards.GeneralisedGini([0.5, 0.3, 0.2])
    add("TMD-gini", eq.rewards.GeneralisedGini([0.5, 0.3, 0.2]), o.TunedMirrorDescent(o.SignedSimplex(), horizon), gini,
        lambda: ref_oracles.TunedMirrorDescent(gini, ref_oracles.SignedSimplex(K, 1.0), horizon))  # fmt: skip
    distance_inf = ref_rewards.TargetDistance(KPI, math.inf)
    add("TMD-slack", eq.rewards.TargetDistance(KPI, math.inf), o.TunedMirrorDescent(o.SlackSimplex(), horizon),
        distance_inf, lambda: ref_oracles.TunedMirrorDescent(
            distance_inf, ref_oracles.target_distance_simplex(K), horizon))  # fmt: skip
    knapsack = ref_rewards.Knapsack(K, 0.4)
    add("TMD-knapsack", eq.rewards.Knapsack(K, 0.4), o.TunedMirrorDescent(o.SlackSimplex(), horizon), knapsack,
        lambda: ref_oracles.TunedMirrorDescent(knapsack, ref_oracles.knapsack_simplex(K, 0.4), horizon))  # fmt: skip

    add("TMD-cross", eq.rewards.BottomSum(K, 2), o.TunedMirrorDescent(o.CrossPolytope(), horizon), bottom,
        lambda: ref_oracles.TunedMirrorDescent(bottom, ref_oracles.CrossPolytope(K, 2.0), horizon))  # fmt: skip

    def simplex(length):
        return ref_oracles.TunedMirrorDescent(bottom, ref_oracles.SignedSimplex(K, 2.0), length)

    for inherit in (False, True):
        add(f"doubling-{'inherit' if inherit else 'fresh'}", eq.rewards.BottomSum(K, 2),
            o.Doubling(o.SignedSimplex(), inherit=inherit), bottom,
            lambda inherit=inherit: ref_oracles.Doubling(simplex, inherit=inherit))  # fmt: skip
    return found


def compare(model: eq.Model, agent: eq.TocUCRL2, reference: Reference, steps: int, seed: int) -> None:
    world = model.world(seed)
    thetas = []
    for t in range(1, steps + 1):
        action = agent.act(world.state)
        assert action == reference.act(world.state), f"time {t}"
        thetas.append(agent.theta)
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        reference.observe(outcomes, state)
    assert agent.episode_starts.tolist() == reference.episode_starts
    ended = agent.episode_record.triggers()
    assert ended[:-1] == reference.triggers[1:]
    assert ended[-1] == "open"
    np.testing.assert_allclose(thetas, reference.thetas, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(agent.episode_record.gain, reference.gains, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(agent.episode_record.span, reference.bias_spans, rtol=0, atol=ROUNDING)
    assert agent.episode_record.sweeps.tolist() == [plan.sweeps for plan in reference.plans]
    np.testing.assert_allclose(agent.average, reference.average, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("threshold", [0.3, 2.0])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_oracle(case, threshold):
    model = eq.models.garnet(5, 3, 3, K, seed=11)
    agent = eq.TocUCRL2(model.space, case.reward, case.oracle, threshold)
    reference = Reference(model.n_actions, K, model.start, case.ref_reward, case.ref_oracle(), threshold)
    compare(model, agent, reference, steps=2000, seed=5)


def starting_at(oracle, theta):
    """The same with another theta_1; theta_2 and so on follow from it as they do from its own."""
    oracle.theta = np.array(theta)
    return oracle


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_first_theta_of_ones_choice(case):
    """Algorithm 1 has it as an input: under every oracle, and in every mega-episode. It is where the oracle may be."""
    model = eq.models.garnet(5, 3, 3, K, seed=11)
    L = case.reward.lipschitz
    theta = {
        "TMD-knapsack": [-1.0, 5.0, 0.0], "TMD-slack": [0.0, -1.0, 0.0], "TMD-simplex": [0.0, -2.0, 0.0],
        "TMD-gini": [-0.2, -0.8, 0.0], "doubling-fresh": [-2.0, 0.0, 0.0], "doubling-inherit": [0.0, -0.5, -1.5],
    }.get(case.name, [0.5 * L, -0.4 * L, 0.0])  # fmt: skip
    made = case.ref_oracle()
    if isinstance(made, ref_oracles.Doubling):
        made = ref_oracles.Doubling(lambda length, make=made.make: starting_at(make(length), theta), made.inherit)
    else:
        made = starting_at(made, theta)
    agent = eq.TocUCRL2(model.space, case.reward, o.StartingAt(case.oracle, theta), 0.3)
    reference = Reference(model.n_actions, K, model.start, case.ref_reward, made, 0.3)
    compare(model, agent, reference, steps=600, seed=5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_oracle_on_random_worlds(case, seed):
    rng = np.random.default_rng([seed, 7])
    n_states = int(rng.integers(1, 7))
    model = eq.models.garnet(n_states, int(rng.integers(1, 4)), int(rng.integers(1, n_states + 1)), K, seed=100 + seed)
    threshold = float(rng.choice([0.1, 0.7, 3.0]))
    agent = eq.TocUCRL2(model.space, case.reward, case.oracle, threshold)
    reference = Reference(model.n_actions, K, model.start, case.ref_reward, case.ref_oracle(), threshold)
    compare(model, agent, reference, steps=1000, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_reward_gives_ucrl2(seed):
    """The same policies as UCRL2 with these regions, written down on its own."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=K)
    model = eq.models.garnet(5, 3, 3, K, seed=seed)
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear(weights), delta=0.1)
    reference = UCRL2(model.n_actions, weights, model.start, 0.1)
    world = model.world(seed)
    for t in range(1, 3001):
        action = agent.act(world.state)
        assert action == reference.act(world.state), f"time {t}"
        assert agent.policy.tolist() == reference.policy.tolist()
        outcomes, state = world.step(action)
        agent.observe(outcomes, state)
        reference.observe(outcomes, state)
    assert agent.episode_starts.tolist() == reference.episode_starts
    np.testing.assert_allclose(agent.episode_record.gain, reference.gains, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(6))
def test_random_worlds(seed):
    rng = np.random.default_rng(seed)
    n_states, n_actions = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    model = eq.models.garnet(n_states, n_actions, int(rng.integers(1, n_states + 1)), K, seed=seed)
    reward, ref = eq.rewards.Quadratic(KPI), ref_rewards.Quadratic(KPI)
    for threshold in (0.0, math.inf, reward.lipschitz):
        agent = eq.TocUCRL2(model.space, reward, threshold=threshold, delta=0.1)
        oracle = ref_oracles.FrankWolfe(ref, K)
        reference = Reference(model.n_actions, K, model.start, ref, oracle, threshold, delta=0.1)
        compare(model, agent, reference, steps=300 if threshold == 0 else 3000, seed=seed)


@pytest.mark.parametrize("visits", [0.1, 0.25, 0.7])
@pytest.mark.parametrize("threshold", [0.3, math.inf])
def test_episodes_that_end_before_visits_have_doubled(threshold, visits):
    model, reward, ref = eq.models.garnet(5, 3, 3, K, seed=4), eq.rewards.Quadratic(KPI), ref_rewards.Quadratic(KPI)
    agent = eq.TocUCRL2(model.space, reward, threshold=threshold, visits=visits)
    oracle = ref_oracles.FrankWolfe(ref, K)
    reference = Reference(model.n_actions, K, model.start, ref, oracle, threshold, growth=visits)
    compare(model, agent, reference, steps=2000, seed=2)
    by_visits = sum(reason in ("visits", "both") for reason in reference.triggers)
    assert 40 < by_visits <= eq.theory.bounds.visit_episodes(model.n_pairs, 2000, visits)


@pytest.mark.parametrize("warm", [True, "visits"])
@pytest.mark.parametrize("name", ["TGD-distance2", "doubling-inherit"])
def test_warm_starts(name, warm):
    """From the last bias after every episode, or after those alone that the doubling of visits ended."""
    (case,) = (case for case in cases() if case.name == name)
    model, Q = eq.models.garnet(5, 3, 3, K, seed=11), 0.3
    planner = eq.planning.Planner(warm_start=warm)
    agent = eq.TocUCRL2(model.space, case.reward, case.oracle, Q, planner=planner)
    after = ("visits",) if warm == "visits" else ("gradient", "visits", "both", "restart")
    reference = Reference(
        model.n_actions, K, model.start, case.ref_reward, case.ref_oracle(), Q, warm_after=after
    )  # fmt: skip
    compare(model, agent, reference, steps=2000, seed=5)
    assert {"visits", "gradient"} <= set(reference.triggers)


def test_where_theta_has_moved_as_well_a_plan_starts_from_zero():
    """With Q = 0 theta has moved whenever visits have doubled: every end is by the gradient, or by both."""
    model = eq.models.garnet(4, 2, 3, K, seed=3)

    def sweeps(warm):
        agent = eq.TocUCRL2(
            model.space, eq.rewards.Quadratic(KPI), threshold=0.0, confidence=eq.confidence.Adaptive(),
            tolerance=1e-3, planner=eq.planning.Planner(warm_start=warm),
        )  # fmt: skip
        eq.simulate(model, agent, 2000, seed=1, progress=False)
        return agent.episode_record

    cold, visits, always = sweeps(False), sweeps("visits"), sweeps(True)
    ended = np.array(cold.triggers()[:-1])
    assert set(ended) <= {"gradient", "both"}
    assert cold.sweeps[1:][ended == "both"].max() > 1
    assert np.array_equal(visits.sweeps, cold.sweeps)
    assert always.sweeps.sum() < cold.sweeps.sum()


def test_ragged_actions_and_correlated_outcomes():
    coin = [(0.5, 1, [1.0, 0.0, 0.0]), (0.3, 2, [0.0, 1.0, 0.0]), (0.2, 0, [0.0, 0.0, 1.0])]
    back = [(0.7, 0, [0.2, 0.4, 0.0]), (0.3, 2, [1.0, 1.0, 0.0])]
    model = eq.Model.from_branches([[coin, back, coin], [back], [back, coin]])
    ref = ref_rewards.Quadratic(KPI)
    agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic(KPI), threshold=0.5)
    reference = Reference(model.n_actions, K, 0, ref, ref_oracles.FrankWolfe(ref, K), 0.5)
    compare(model, agent, reference, steps=3000, seed=1)


def test_known_outcomes_give_single_points():
    model = eq.models.riverswim(4).visits()
    ref = ref_rewards.Entropy(4, 0.1)
    told = {(s, a): model.means[model.pair(s, a)] for s in range(4) for a in range(2)}
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(4, 0.1), threshold=1.0)
    reference = Reference(model.n_actions, 4, 0, ref, ref_oracles.FrankWolfe(ref, 4), 1.0, known=told)
    compare(model, agent, reference, steps=2000, seed=3)


def test_entropy_that_follows_time():
    """mu, the gradient and Q follow t."""
    model = eq.models.riverswim(4).visits()
    ref = ref_rewards.AnytimeEntropy(4)
    told = {(s, a): model.means[model.pair(s, a)] for s in range(4) for a in range(2)}
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(4))
    oracle = ref_oracles.FrankWolfe(ref, 4)
    reference = Reference(model.n_actions, 4, 0, ref, oracle, lambda t: ref.at(t).lipschitz, known=told)
    compare(model, agent, reference, steps=4000, seed=3)


@pytest.mark.parametrize("threshold", [0.0, 0.5, math.inf])
def test_known_model(threshold):
    model = eq.models.garnet(5, 3, 3, K, seed=2)
    ref = ref_rewards.Quadratic(KPI)
    agent = eq.TocUCRL2(
        model.space, eq.rewards.Quadratic(KPI), threshold=threshold, confidence=eq.confidence.Known(model),
        tolerance=1e-9, planner=eq.planning.Planner(relaxation=1.0),
    )  # fmt: skip
    reference = Reference(
        model.n_actions, K, 0, ref, ref_oracles.FrankWolfe(ref, K), threshold, tolerance=1e-9,
        known_model=(model.transitions().toarray(), model.means),
    )  # fmt: skip
    compare(model, agent, reference, steps=300, seed=0)
