"""Rewards made of rewards: the contract, the formulas, sound constants, conjugates, boxes, files, agents."""

from __future__ import annotations

import functools
import itertools
import json
import math

import cvxpy
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.errors import RewardError
from equipoise.rewards import Linear, Minimum, Shortfall, Sum, Within
from equipoise.rewards.norms import NORMS, dual, length, stretch
from equipoise.testing import REWARD_CLAUSES
from tests.rewards.members import assert_same_elsewhere

INF = math.inf


@functools.cache
def own():
    return rewards.Custom(
        3, lambda w: -np.sum((w - 0.25) ** 2), lambda w: 0.5 - 2 * w, norm=2, lipschitz=3.0, smoothness=2.0
    )


@functools.cache
def square_of_a_sum():
    """-(sum of w)^2 / 2: beta is 1 in norm 1, and K in the Euclidean one."""
    return rewards.Custom(
        3, lambda w: -0.5 * np.sum(w) ** 2, lambda w: -np.sum(w) * np.ones(3), norm=1, lipschitz=3.0, smoothness=1.0
    )


CASES = {
    "sum: throughput and the worst off": lambda: Sum([Linear([1.0, 1.0, 1.0]), rewards.BottomSum(3, 1)], [1.0, 2.0]),
    "sum: the same, inf": lambda: Sum([Linear([1.0, 1.0, -0.5]), rewards.BottomSum(3, 1)], [1.0, 2.0], INF),
    "sum: two of inf": lambda: Sum([rewards.BottomSum(3, 2), rewards.BottomSum(3, 1)], [0.5, 2.0]),
    "sum: knapsack and linear": lambda: Sum([rewards.Knapsack(3, 0.5), Linear([0.0, -1.0, 0.5], norm=INF)]),
    "sum: norms 1 and 2": lambda: Sum([rewards.Entropy(3, mu=0.1), rewards.Quadratic([0.2, 0.3, 0.9])]),
    "sum: norms 1 and 2, as 1": lambda: Sum([rewards.Entropy(3, mu=0.1), rewards.Quadratic([0.2, 0.3, 0.9])], None, 1),
    "sum: norms 2 and inf, as inf": lambda: Sum([rewards.TargetDistance([0.5] * 3), rewards.BottomSum(3, 1)], norm=INF),
    "sum: one": lambda: Sum([rewards.TargetSquared([0.4, 0.9])], [3.0]),
    "sum: linear alone": lambda: Sum([Linear([1.0, -2.0]), Linear([-0.5, 1.0])]),
    "sum: of sums": lambda: Sum(
        [Sum([Linear([1.0, 0.0]), rewards.Balance([0.5, 0.5])]), Minimum([Linear([1.0, 0.0])])]
    ),
    "sum: smoothness that grows with the norm": lambda: Sum([square_of_a_sum(), Linear([1.0, 0.0, 2.0])]),
    "sum: of one's own": lambda: Sum([own(), Linear([0.0, 1.0, 0.0])]),
    "minimum: weighted": lambda: Minimum([Linear([0.5, 0.0, 0.0]), Linear([0.0, 1.0, 0.25])]),
    "minimum: curved": lambda: Minimum([Linear([0.5, 0.0]), rewards.Quadratic([0.2, 0.9]), rewards.Entropy(2, mu=0.2)]),
    "minimum: inf": lambda: Minimum([Linear([0.5, -0.25, 0.0], norm=INF), rewards.BottomSum(3, 2)]),
    "minimum: one": lambda: Minimum([rewards.Quadratic([0.3, 0.6])]),
    "shortfall": lambda: Shortfall(rewards.Entropy(3, mu=0.1), 0.8),
    "shortfall: smoothed": lambda: Shortfall(rewards.Entropy(3, mu=0.1), 0.8, 0.1),
    "shortfall: inf": lambda: Shortfall(Linear([0.0, -1.0, 0.5], norm=INF), 0.1),
    "shortfall: bottom": lambda: Shortfall(rewards.BottomSum(3, 1), 0.3, 0.05),
    "within: logarithm": lambda: rewards.ProportionalFairness(3, 0.01).within([0.1, 0.0, 0.3], [0.9, 1.0, 0.5]),
    "within: entropy": lambda: rewards.Entropy(3, mu=0.01).within([0.1] * 3, [0.8] * 3),
    "within: cross": lambda: rewards.CrossEntropy([0.25, 0.75], mu=0.01).within([0.1] * 2, [0.8] * 2),
    "within: relative": lambda: rewards.RelativeEntropy([0.25, 0.75], mu=0.01).within([0.1] * 2, [0.8] * 2),
    "within: squared": lambda: rewards.TargetSquared([0.5, 0.9]).within([0.25, 0.5], [0.75, 1.0]),
    "within: kinks at the corners": lambda: rewards.Balance([0.25, 0.75]).within([0.25, 0.1], [0.6, 0.75]),
    "within: distance 1": lambda: rewards.TargetDistance([0.25, 0.75], 1).within([0.25, 0.1], [0.6, 0.75]),
    "within: a point": lambda: rewards.Quadratic([0.25, 0.75]).within([0.5, 0.5], [0.5, 0.5]),
    "within: of a sum": lambda: Sum([rewards.ProportionalFairness(3, 0.01), rewards.BottomSum(3, 1)]).within(
        [0.1] * 3, [0.9] * 3
    ),
    "within: of a minimum": lambda: Minimum([rewards.ProportionalFairness(2, 0.01), Linear([1.0, 0.0])]).within(
        [0.1] * 2, [0.9] * 2
    ),
    "within: of a shortfall": lambda: Shortfall(rewards.ProportionalFairness(2, 0.01), 0.5, 0.1).within(
        [0.1] * 2, [0.9] * 2
    ),
    "within: of an affine": lambda: (
        rewards.TargetSquared([0.5, 0.9])
        .of([[-2.0, 4.0, 0.0], [0.5, 0.0, -3.0]], [0.5, 2.0])
        .within([0.1] * 3, [0.3] * 3)
    ),
}
EXACT = {
    "sum: throughput and the worst off", "sum: the same, inf", "sum: knapsack and linear", "sum: one",
    "sum: linear alone", "sum: norms 1 and 2", "sum: norms 1 and 2, as 1",
}  # fmt: skip


@pytest.fixture(params=CASES)
def reward(request):
    return CASES[request.param]()


@pytest.mark.parametrize("clause", REWARD_CLAUSES.values(), ids=REWARD_CLAUSES)
def test_contract(reward, clause):
    clause(reward)


def test_conjugate_against_a_convex_solver(reward):
    if "Custom" in repr(reward):  # which has no expression
        return
    rng = np.random.default_rng(5)
    w, theta = cvxpy.Variable(reward.n_outcomes), cvxpy.Parameter(reward.n_outcomes)
    program = cvxpy.Problem(cvxpy.Maximize(reward.concave_expression(w) + theta @ w), [w >= 0.0, w <= 1.0])
    assert program.is_dcp()
    for radius in (0.1, 0.5, 2.0):
        theta.value = radius * reward.lipschitz * rng.uniform(-1.0, 0.5, reward.n_outcomes)
        program.solve(solver=cvxpy.CLARABEL)
        assert reward.conjugate(theta.value) == pytest.approx(program.value, abs=2e-6)
        assert reward.conjugate_bound(theta.value) >= program.value - 1e-6


def test_what_is_exact_says_so():
    assert {name for name in CASES if name.startswith("sum") and CASES[name]().exact_conjugate} == EXACT
    assert not any(CASES[name]().exact_conjugate for name in CASES if name.startswith(("minimum", "shortfall")))


@pytest.mark.parametrize("name", ["sum: two of inf", "sum: norms 1 and 2", "minimum: curved", "sum: of sums"])
def test_values_are_those_of_the_parts(name):
    reward = CASES[name]()
    rng = np.random.default_rng(0)
    for w in rng.random((30, reward.n_outcomes)):
        parts = np.array([part.value(w) for part in reward.rewards])
        expected = parts @ reward.weights if isinstance(reward, Sum) else parts.min()
        assert reward.value(w) == pytest.approx(expected, abs=1e-14)


def test_stretch_is_attained():
    """Against the definition, on vectors among which are the worst of each pair of norms."""
    K = 5
    x = np.concatenate([np.random.default_rng(0).standard_normal((300, K)), np.eye(K), np.ones((1, K))])
    for norm, other in itertools.product(NORMS, NORMS):
        ratios = [length(u, norm) / length(u, other) for u in x]
        assert max(ratios) == pytest.approx(stretch(norm, other, K))
        duals = [length(u, dual(other)) / length(u, dual(norm)) for u in x]
        assert max(duals) == pytest.approx(stretch(norm, other, K))


def test_a_simplex_is_no_longer_than_the_lipschitz_constant():
    """The domain of an entropic mirror map must lie in the dual ball."""
    named = [reward for make in CASES.values() if (reward := make()).vertices is not None and reward.norm == INF]
    assert len(named) >= 5
    for reward in named:
        base, _, scale = reward.vertices
        assert np.abs(base).sum() + np.abs(scale).max() <= reward.lipschitz * (1 + 1e-12)


def test_a_sum_has_the_vertices_of_a_knapsack():
    """A reward with a price on each budget, put together: the simplex of multiplicative weights with slack."""
    parts = [Linear([1.0, 0.0, 0.0], norm=INF)]
    parts += [Shortfall(Linear(-np.eye(3)[k], norm=INF), -0.25) for k in (1, 2)]
    vertices = Sum(parts, [1.0, 3.0, 3.0]).vertices
    assert vertices.base.tolist() == [1.0, 0.0, 0.0]
    assert sorted(zip(vertices.coordinate.tolist(), vertices.scale.tolist(), strict=True)) == [
        (0, 0.0), (1, -6.0), (2, -6.0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("within")])
def test_within_a_box(name):
    """The same on the box, no steeper beyond it, never less than g, and L is attained on the box where it is sharp."""
    reward = CASES[name]()
    own = (getattr(reward, "low", None), getattr(reward, "high", None), getattr(reward, "inner", None))
    low, high, plain = {
        "within: of a sum": (
            [0.1] * 3, [0.9] * 3, Sum([rewards.ProportionalFairness(3, 0.01), rewards.BottomSum(3, 1)])
        ),
        "within: of a minimum": (
            [0.1] * 2, [0.9] * 2, Minimum([rewards.ProportionalFairness(2, 0.01), Linear([1.0, 0.0])])
        ),
        "within: of a shortfall": ([0.1] * 2, [0.9] * 2, Shortfall(rewards.ProportionalFairness(2, 0.01), 0.5, 0.1)),
        "within: of an affine": (
            [0.1] * 3, [0.3] * 3,
            rewards.TargetSquared([0.5, 0.9]).of([[-2.0, 4.0, 0.0], [0.5, 0.0, -3.0]], [0.5, 2.0]),
        ),
    }.get(name, own)  # fmt: skip
    low, high = np.array(low), np.array(high)
    rng = np.random.default_rng(1)
    inside = low + (high - low) * np.concatenate([rng.random((50, low.size)), [np.zeros(low.size), np.ones(low.size)]])
    for w in inside:
        assert reward.value(w) == pytest.approx(plain.value(w), abs=1e-12)
    for w in rng.random((200, low.size)):
        assert reward.value(w) >= plain.value(w) - 1e-12
    assert reward.lipschitz <= plain.lipschitz * (1 + 1e-12)
    if isinstance(reward, Within):
        steepest = max(length(reward.gradient(w), dual(reward.norm)) for w in inside)
        assert steepest >= reward.lipschitz / math.sqrt(reward.n_outcomes) - 1e-12


def test_what_is_as_steep_everywhere_comes_back_as_it_is():
    for reward in (rewards.BottomSum(3, 2), rewards.Knapsack(3, 0.5), own()):
        assert reward.within([0.1] * 3, [0.5] * 3) is reward


def test_a_box_wakes_the_threshold():
    """With L at a corner that never occurs, Q = L hardly ever ends an episode; with L on the box it does."""
    model = eq.models.scheduler()
    plain = rewards.ProportionalFairness(3, 0.001)
    best = eq.solve(model, plain)
    ended, regrets = [], []
    for reward in (plain, plain.within([0.05] * 3, [1.0] * 3)):
        agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(model), tolerance=1e-6)
        episodes = eq.simulate(model, agent, 3000, seed=1).episodes
        ended.append(episodes.filter((episodes["trigger"] == "gradient") & (episodes["start"] > 100)).height)
        regrets.append(best.value - plain.value(agent.average))
    assert np.all(best.outcomes > 0.1)
    assert ended[1] > 4 * ended[0]
    assert regrets[1] < regrets[0] / 2


@pytest.mark.parametrize(
    "name", ["sum: norms 1 and 2", "minimum: curved", "shortfall: smoothed", "within: of an affine"]
)
def test_arguments_survive_json_and_a_description(name):
    reward = CASES[name]()
    data = eq.studies.vocabulary.part_spec(reward, "reward")
    model = eq.models.bandit(reward.n_outcomes)
    again = eq.studies.vocabulary.make_reward(json.loads(json.dumps(data)), model, "reward")
    assert again == reward
    assert repr(again) == repr(reward)


def test_a_pickle_has_no_addresses(tmp_path):
    assert_same_elsewhere(CASES["sum: of sums"](), [0.3, 0.8], tmp_path)


@pytest.mark.parametrize(
    "name",
    ["sum: throughput and the worst off", "sum: two of inf", "minimum: weighted", "minimum: inf", "within: entropy"],
)
def test_the_recommended_agent_learns_it(name, tmp_path):
    reward = CASES[name]()
    model = eq.models.garnet(4, 2, 3, reward.n_outcomes, seed=8)
    best = eq.solve(model, reward)
    assert best.status == "optimal"
    agent = eq.recommended(model.space, reward)
    run = eq.simulate(model, agent, 5000, seed=1)
    chance = 4.0 * reward.lipschitz * np.sqrt(reward.n_outcomes / 5000)  # an average of few steps may be better
    assert -chance <= run.regret(best)[-1] < 0.15
    assert agent.certificate().best_possible >= best.value - 1e-9
    agent.save(tmp_path / "agent")
    again = type(agent).load(tmp_path / "agent")
    runs = [eq.simulate(model, one, 500, seed=1) for one in (agent, again)]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)


def test_long_vectors_do_not_use_the_stack():
    K = 5000
    reward = Sum([rewards.Quadratic(np.full(K, 0.5)), Linear(np.ones(K))])
    assert reward.gradient(np.full(K, 0.25)).tolist() == [1.25] * K
    assert reward.within(np.zeros(K), np.ones(K)).value(np.full(K, 0.5)) == 1.0 + 0.5 * K


def test_nothing_is_lost_of_a_failure():
    def broken(w):
        if w[0] > 0.9:
            raise ValueError("no")
        return w[0]

    custom = rewards.Custom(
        2, broken, lambda w: np.array([1.0, 0.0]), norm=2, lipschitz=1.0, smoothness=0.0, samples=0, compiled=False
    )
    reward = Sum([Linear([0.0, 1.0]), custom])
    assert math.isnan(reward.value([0.95, 0.0]))
    assert "value: at w = [0.95, 0] it raises ValueError: no" in str(reward.failure())
    assert math.isnan(Minimum([Linear([0.0, 1.0]), custom]).value([0.95, 0.0]))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Sum([]), r"rewards: got \[\]; a list of rewards is needed"),
        (lambda: Sum(Linear([1.0])), "rewards: got Linear.*; a list of rewards is needed"),
        (lambda: Sum([Linear([1.0]), "Linear"]), r"rewards\[1\]: got 'Linear'; a reward is needed"),
        (
            lambda: Sum([Linear([1.0]), Linear([1.0, 2.0])]),
            r"rewards\[1\]: it is for 2 outcomes, and rewards\[0\] for 1",
        ),
        (lambda: Minimum([rewards.Entropy(2)]), r"rewards\[0\]: .* changes with time"),
        (lambda: Sum([Linear([1.0])], [1.0, 2.0]), "weights: got 2 entries; 1 are needed"),
        (lambda: Sum([Linear([1.0])], [-1.0]), r"weights\[0\]: got -1.0; a positive number is needed"),
        (lambda: Sum([Linear([1.0])], ["a"]), r"weights: got \['a'\]; a vector of numbers is needed"),
        (lambda: Sum([Linear([1.0])], norm=3), "norm: got 3"),
        (lambda: Shortfall(Linear([1.0]), math.nan), "at_least: got nan"),
        (lambda: Shortfall(Linear([1.0]), 0.5, -0.1), "smoothing: got -0.1; a number >= 0"),
        (lambda: Within(rewards.BottomSum(2, 1), [0, 0], [1, 1]), "inner: BottomSum.* is no sum of functions"),
        (lambda: Within(rewards.Entropy(2), [0, 0], [1, 1]), "inner: .* changes with time"),
        (
            lambda: rewards.Quadratic([0.5]).within([0.6], [0.5]),
            r"high\[0\]: got 0.5; it must not be below low\[0\], 0.6",
        ),
        (lambda: rewards.Quadratic([0.5]).within([0.6, 0.1], [0.5]), "low: got 2 entries; 1 are needed"),
        (
            lambda: rewards.ProportionalFairness(1, 0.1).within([-0.05], [0.5]),
            r"low\[0\], high\[0\]: got -0.05 and 0.5",
        ),
    ],
)
def test_bad_input(make, complaint):
    with pytest.raises(RewardError, match=complaint):
        make()


@pytest.mark.parametrize(
    ("reward", "beta"),
    [
        (rewards.ProportionalFairness(2, 0.01), 1 / (2 * math.log(101) * 0.21**2)),
        (rewards.CrossEntropy([0.25, 0.75], mu=0.01), 0.75 / (math.log(101) * 0.21**2)),
        (rewards.RelativeEntropy([0.25, 0.75], mu=0.01), 1 / (math.log(2) * 0.21)),
        (rewards.Entropy(2, mu=0.01), 0.22 / (math.log(2) * 0.21**2)),
        (rewards.Expression("sum(log(w + 0.01))", 2), 1 / 0.21**2),
        (rewards.Quadratic([0.25, 0.75]), 1.0),
    ],
)
def test_within_a_box_curvature_is_that_of_the_box(reward, beta):
    assert reward.within([0.2, 0.2], [1.0, 0.9]).smoothness == pytest.approx(beta, rel=1e-12)
    assert reward.within([0.0, 0.0], [1.0, 1.0]).smoothness == pytest.approx(reward.smoothness, rel=1e-12)


def test_lipschitz_constants_beyond_the_unit_box():
    """On [0, 2]^2 a gradient is at most as long as that of each part: |w - c| <= 2 sqrt 2, and |(3, 4)| = 5."""
    low, high = np.zeros(2), np.full(2, 2.0)
    both = Sum([rewards.Quadratic([0.0, 0.0]), Linear([3.0, 4.0])])
    assert both.lipschitz_on(low, high) == pytest.approx(5.0 + 2.0 * math.sqrt(2.0))
    with_logarithm = Sum([Linear([3.0, 4.0]), rewards.ProportionalFairness(2, 0.01)])
    assert with_logarithm.lipschitz_on(low - 1.0, high) is None
