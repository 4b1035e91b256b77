"""Closed forms, family by family, and what each constructor refuses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from equipoise import rewards
from equipoise._runtime.compiler import invoke
from equipoise.errors import RewardError


def at_time(reward: rewards.Reward, kernel: str, t: int, x: list[float], size: int) -> np.ndarray:
    out = np.empty(size)
    invoke(getattr(reward.kernels, kernel).address, t, np.array(x), reward.params, out)
    return out


# Linear ---------------------------------------------------------------------------------------------------


def test_linear_constants_follow_the_norm():
    constants = [rewards.Linear([3.0, -4.0], norm).lipschitz for norm in (1, 2, math.inf)]
    assert constants == [4.0, 5.0, 7.0]
    assert rewards.Linear([3.0, -4.0]).smoothness == 0.0
    assert rewards.Linear([3.0, -4.0]).conjugate([-3.0, 5.0]) == 1.0


# Targets --------------------------------------------------------------------------------------------------


def test_squared_shortfall():
    g = rewards.TargetSquared([0.5, 0.8])
    assert g.value([0.1, 0.9]) == pytest.approx(1 - 0.16 / 2, abs=1e-15)
    assert g.gradient([0.1, 0.9]) == pytest.approx([0.4, 0.0], abs=1e-15)  # upwards: the paper's sign is wrong
    assert g.lipschitz == 2 / math.sqrt(2)
    assert g.smoothness == 1.0
    assert g.conjugate_argmax([-0.1, -2.0]) == pytest.approx([0.4, 0.0], abs=1e-15)
    assert g.conjugate_argmax([0.0, 0.1]) == pytest.approx([0.5, 1.0], abs=1e-15)


def test_distance_values():
    kpi, w = [0.5, 0.9, 0.2], [0.2, 0.5, 1.0]
    values = [rewards.TargetDistance(kpi, norm).value(w) for norm in (1, 2, math.inf)]
    assert values == pytest.approx([0.3, 0.5, 0.6], abs=1e-15)
    gradients = [rewards.TargetDistance(kpi, norm).gradient(w) for norm in (1, 2, math.inf)]
    assert np.array(gradients) == pytest.approx(np.array([[1, 1, 0], [0.6, 0.8, 0], [0, 1, 0]]), abs=1e-15)


def test_distance_has_no_gradient_once_the_targets_are_met():
    for norm in (1, 2, math.inf):
        assert rewards.TargetDistance([0.5, 0.2], norm).gradient([0.5, 0.9]).tolist() == [0.0, 0.0]


def test_euclidean_gradient_survives_tiny_shortfalls():
    g = rewards.TargetDistance([3e-200, 4e-200])
    assert g.gradient([0.0, 0.0]) == pytest.approx([0.6, 0.8], abs=1e-15)


@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_distance_conjugate_inside_the_dual_ball_is_the_target(norm: float):
    g = rewards.TargetDistance([0.5, 0.25], norm)
    assert g.conjugate_argmax([-0.4, -0.5]).tolist() == [0.5, 0.25]
    assert g.conjugate_argmax([-0.4, 0.0]).tolist() == [0.5, 0.25]
    assert g.conjugate_argmax([-0.4, 1e-9]).tolist() == [0.5, 1.0]


def test_distance_conjugate_outside_the_dual_ball():
    g = rewards.TargetDistance([0.5, 0.6], 2)
    # y = (0.5, a_2 r) with r^2 = 0.25 / (1 - 0.36): the first is capped, the second is not.
    r = 0.5 / 0.8
    assert g.conjugate_argmax([-3.0, -0.6]) == pytest.approx([0.0, 0.6 - 0.6 * r], abs=1e-15)
    assert g.conjugate_argmax([-3.0, -3.0]).tolist() == [0.0, 0.0]
    g = rewards.TargetDistance([0.5, 0.75], math.inf)
    assert g.conjugate_argmax([-0.8, -0.4]).tolist() == [0.0, 0.25]
    assert g.conjugate_argmax([-0.4, -1.2]).tolist() == [0.0, 0.0]
    g = rewards.TargetDistance([0.5, 0.75], 1)
    assert g.conjugate_argmax([-1.1, -0.9]).tolist() == [0.0, 0.75]


def test_euclidean_conjugate_at_many_sizes():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        for _ in range(50):
            kpi, theta = rng.random(n), -rng.exponential(2.0 / math.sqrt(n), n)
            g = rewards.TargetDistance(kpi, 2)
            y = kpi - g.conjugate_argmax(theta)
            r = np.linalg.norm(y)
            if np.linalg.norm(theta) <= 1.0:
                assert r == 0.0
            else:
                assert r > 0.0
                assert y == pytest.approx(np.minimum(kpi, -theta * r), abs=1e-13)


# Balance --------------------------------------------------------------------------------------------------


def test_balance_is_one_minus_total_variation():
    g = rewards.Balance([0.25] * 4)
    assert g.value([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert g.gradient([1.0, 0.0, 0.25, 0.0]).tolist() == [-0.5, 0.5, 0.0, 0.5]
    assert g.lipschitz == 1.0
    assert g.conjugate_argmax([0.5, -0.5, 0.6, -0.6]).tolist() == [0.25, 0.25, 1.0, 0.0]


# Ordered sums ---------------------------------------------------------------------------------------------


def test_bottom_sum_breaks_ties_by_index():
    g = rewards.BottomSum(4, 2)
    assert g.gradient([0.5, 0.5, 0.5, 0.1]).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert g.vertices is not None
    assert g.vertices.scale.tolist() == [2.0] * 4


def test_bottom_sum_on_softmax_weights_keeps_the_empty_set():
    g = rewards.BottomSum(3, 1)
    for seed in range(20):
        x = np.random.default_rng(seed).dirichlet(np.ones(3))
        assert g.conjugate_argmax(-x).tolist() == [0.0, 0.0, 0.0]
        assert g.conjugate(-x) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("K", "kappa"), [(1, 1), (3, 2), (5, 3), (6, 6)])
def test_bottom_sum_conjugate_formula(K: int, kappa: int):
    rng = np.random.default_rng(1)
    g = rewards.BottomSum(K, kappa)
    for _ in range(50):
        x = np.sort(rng.normal(0.5, 1.0, K))
        expected = max(max(0, n - K + kappa) - x[:n].sum() for n in range(K + 1))
        assert g.conjugate(-rng.permutation(x)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [[1.0], [0.6, 0.4], [3.0, 2.0, 2.0, 0.5], [1.0, 0.0, 0.0]])
def test_gini_conjugate_is_attained_at_a_vertex(weights: list[float]):
    g = rewards.GeneralisedGini(weights)
    rng = np.random.default_rng(2)
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=len(weights))))
    for _ in range(50):
        theta = rng.normal(-np.mean(weights), 1.0, len(weights))
        best = max(g.value(w) + theta @ w for w in corners)
        assert g.conjugate(theta) == pytest.approx(best, abs=1e-12)
        inside = rng.random((200, len(weights)))
        assert all(g.value(w) + theta @ w <= best + 1e-12 for w in inside)


def test_gini_contains_the_others():
    w = np.random.default_rng(3).random(5)
    assert rewards.GeneralisedGini([1, 1, 0, 0, 0]).value(w) == rewards.BottomSum(5, 2).value(w)
    assert rewards.GeneralisedGini([1] * 5).value(w) == pytest.approx(w.sum(), abs=1e-15)
    expected = np.sort(w) @ [0.5, 0.2, 0.1, 0.1, 0.1]
    assert rewards.GeneralisedGini([0.5, 0.2, 0.1, 0.1, 0.1]).value(w) == pytest.approx(expected, abs=1e-15)


# Logarithms -----------------------------------------------------------------------------------------------


def test_proportional_fairness_is_a_scaled_sum_of_logarithms():
    g = rewards.ProportionalFairness(3, 0.1)
    w = np.array([0.0, 0.4, 1.0])
    low, high = 3 * math.log(0.1), 3 * math.log(1.1)
    assert g.value(w) == pytest.approx((np.log(w + 0.1).sum() - low) / (high - low), abs=1e-14)
    assert g.gradient(w) == pytest.approx(1 / ((w + 0.1) * (high - low)), rel=1e-14)
    assert g.conjugate_argmax(-g.gradient(w)) == pytest.approx(w, abs=1e-14)


# Entropy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mu", "constant"), [(0.1, math.log(10)), (1.0, math.log(2) + 0.5), (0.4, math.log(1.4) + 1 / 1.4)]
)
def test_entropy_constants(mu: float, constant: float):
    g = rewards.Entropy(3, mu)
    slopes = [abs(g.gradient([p, 0, 0])[0]) for p in np.linspace(0.0, 1.0, 1001)]
    assert g.lipschitz == pytest.approx(constant / math.log(3), rel=1e-14)
    assert g.lipschitz == pytest.approx(max(slopes), rel=1e-14)
    assert g.smoothness == pytest.approx(2 / (mu * math.log(3)), rel=1e-15)


def test_entropy_conjugate_inverts_the_gradient():
    rng = np.random.default_rng(4)
    for mu in (1e-12, 1e-6, 1e-2, 0.5, 1.0):
        g = rewards.Entropy(6, mu)
        w = np.concatenate(([0.0, 1.0, 1e-9], rng.random(3)))
        assert g.conjugate_argmax(-g.gradient(w)) == pytest.approx(w, abs=5e-15)


def test_entropy_is_within_S_mu_of_the_true_one():
    P = np.random.default_rng(5).dirichlet(np.ones(8))
    for mu in (1e-1, 1e-3):
        assert abs(rewards.Entropy(8, mu).value(P) - rewards.Entropy(8).value(P)) * math.log(8) <= 8 * mu


def test_anytime_entropy():
    g = rewards.Entropy(4)
    assert g.lipschitz == g.smoothness == math.inf
    assert g.value([0.5, 0.5, 0.0, 0.0]) == pytest.approx(0.5, abs=1e-15)
    assert g.gradient([0.25] * 4) == pytest.approx([1 - 1 / math.log(4)] * 4, abs=1e-15)
    assert g.arguments() == {"n_states": 4, "mu": None}
    assert repr(rewards.Entropy(**g.arguments())) == repr(g)
    smooth = g.at(1000)
    assert smooth.mu == pytest.approx(1 / (4 ** (2 / 3) * 10), rel=1e-14)
    assert smooth.at(5) is smooth
    for w in ([0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]):
        assert at_time(g, "value", 1000, w, 1) == pytest.approx([smooth.value(w)], rel=1e-14)
        assert at_time(g, "gradient", 1000, w, 4) == pytest.approx(smooth.gradient(w), rel=1e-14)
        theta = [-0.5, 0.0, 0.3, -2.0]
        argmax = at_time(g, "conjugate_argmax", 1000, theta, 4)
        assert argmax == pytest.approx(smooth.conjugate_argmax(theta), abs=1e-14)


def test_anytime_entropy_conjugate_is_the_limit():
    g = rewards.Entropy(4)
    theta = np.array([-0.5, 0.0, 2.0, -900.0])
    expected = np.minimum(1.0, np.exp(theta * math.log(4) - 1.0))
    assert g.conjugate_argmax(theta) == pytest.approx(expected, rel=1e-14, abs=1e-300)


def test_anytime_entropy_refuses_a_gradient_at_zero():
    with pytest.raises(RewardError, match=r"w\[2\]: got 0.*\.at\(t\)"):
        rewards.Entropy(3).gradient([0.5, 0.5, 0.0])
    with pytest.raises(RewardError, match="t: got 0"):
        rewards.Entropy(3).at(0)


def test_relative_entropy_is_a_divergence():
    q = np.array([0.1, 0.2, 0.7, 0.0])
    rng = np.random.default_rng(6)
    for mu in (1e-3, 0.3, 1.0):
        g = rewards.RelativeEntropy(q, mu)
        assert g.value(q) == 1.0
        assert g.gradient(q).tolist() == [0.0] * 4
        for w in rng.dirichlet(np.ones(4), 20):
            a, b = (w + mu) / (1 + 4 * mu), (q + mu) / (1 + 4 * mu)
            divergence = (1 + 4 * mu) * (a @ np.log(a / b))
            assert g.value(w) == pytest.approx(1 - divergence / math.log(4), abs=1e-13)
            assert g.value(w) < 1.0


def test_relative_entropy_to_uniform_tends_to_entropy():
    P = np.random.default_rng(7).dirichlet(np.ones(5))
    assert rewards.RelativeEntropy([0.2] * 5, 1e-9).value(P) == pytest.approx(rewards.Entropy(5).value(P), abs=1e-7)


def test_cross_entropy_is_affine_in_the_cross_entropy():
    q = np.array([0.3, 0.0, 0.7])
    g = rewards.CrossEntropy(q, 0.01)
    w = np.array([0.5, 0.1, 0.4])
    expected = (q @ np.log(w + 0.01) - math.log(0.01)) / (math.log(1.01) - math.log(0.01))
    assert g.value(w) == pytest.approx(expected, abs=1e-14)
    assert g.value([0, 0, 0]) == 0.0
    assert g.value([1, 1, 1]) == pytest.approx(1.0, abs=1e-15)
    assert g.conjugate_argmax([-1.0, 0.0, 0.0]).tolist()[1:] == [0.0, 1.0]


# Knapsack -------------------------------------------------------------------------------------------------


def test_knapsack():
    g = rewards.Knapsack(3, 0.25)
    assert g.lipschitz == 9.0
    assert g.value([1.0, 0.25, 0.1]) == 1.0
    assert g.value([1.0, 0.5, 0.75]) == -3.0
    assert g.gradient([1.0, 0.25, 0.1]).tolist() == [1.0, 0.0, 0.0]
    assert g.gradient([1.0, 0.5, 0.5]).tolist() == [1.0, -8.0, 0.0]


def test_knapsack_conjugate_on_the_prices_of_the_oracle():
    g = rewards.Knapsack(4, 0.3)
    for seed in range(50):
        weights = np.random.default_rng(seed).dirichlet(np.ones(4 if seed % 2 else 3))[:3]
        theta = np.concatenate(([-1.0], 2 / 0.3 * weights))
        assert g.conjugate_argmax(theta).tolist() == [0.0, 0.3, 0.3, 0.3]
    assert g.conjugate_argmax([-0.5, 7.0, -1.0, 0.0]).tolist() == [1.0, 1.0, 0.0, 1.0]


# Refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rewards.Linear([1.0, math.inf]), r"weights\[1\]: got inf"),
        (lambda: rewards.Linear([]), "weights: .* non-empty"),
        (lambda: rewards.Linear([1.0], norm=3), "norm: got 3"),
        (lambda: rewards.TargetSquared([0.5, 1.5]), r"kpi\[1\]: got 1.5"),
        (lambda: rewards.TargetDistance([-0.5], 1), r"kpi\[0\]: got -0.5"),
        (lambda: rewards.TargetDistance([0.5], 4), "norm: got 4"),
        (lambda: rewards.Balance([[0.5]]), "target: got an array of shape"),
        (lambda: rewards.BottomSum(3, 4), "kappa: got 4; a whole number from 1 to 3"),
        (lambda: rewards.BottomSum(3, 1.5), "kappa: got 1.5; a whole number"),
        (lambda: rewards.BottomSum(0, 1), "n_outcomes: got 0; a whole number >= 1"),
        (lambda: rewards.GeneralisedGini([0.2, 0.5]), r"weights\[1\]: got 0.5, more than weights\[0\]"),
        (lambda: rewards.GeneralisedGini([0.2, -0.5]), r"weights\[1\]: got -0.5; it must not be negative"),
        (lambda: rewards.GeneralisedGini([0.0, 0.0]), r"weights\[0\]: got 0.0; it must be positive"),
        (lambda: rewards.ProportionalFairness(2, 0.0), "eps: got 0.0"),
        (lambda: rewards.ProportionalFairness(2, "x"), "eps: got 'x'; a number"),
        (lambda: rewards.Entropy(1), "n_states: got 1; a whole number >= 2"),
        (lambda: rewards.Entropy(3, 0.0), "mu: got 0.0; it must be above 0 and at most 1"),
        (lambda: rewards.Entropy(3, 1.5), "mu: got 1.5"),
        (lambda: rewards.RelativeEntropy([0.5, 0.4], 0.1), "target: the entries sum to 0.9"),
        (lambda: rewards.RelativeEntropy([1.5, -0.5], 0.1), r"target\[0\]: got 1.5"),
        (lambda: rewards.RelativeEntropy([1.0], 0.1), "target: got 1 entry"),
        (lambda: rewards.CrossEntropy([0.5, 0.6], 0.1), "target: the entries sum to 1.1"),
        (lambda: rewards.CrossEntropy([0.5, 0.5], -1), "mu: got -1.0"),
        (lambda: rewards.Knapsack(1, 0.5), "n_outcomes: got 1; a whole number >= 2"),
        (lambda: rewards.Knapsack(2, 1.0), "budget: got 1.0; it must lie strictly between"),
    ],
)
def test_refusals_name_the_field(make, message: str):
    with pytest.raises(RewardError, match=message):
        make()
