"""`Custom`: the same as a built-in reward when the functions are right, a clear refusal when they are not."""

from __future__ import annotations

import json
import math

import cvxpy
import numba
import numpy as np
import pytest

from equipoise import rewards
from equipoise.errors import RewardError
from tests.rewards.members import missing


@numba.njit
def quadratic(w):
    return 1.0 - 0.5 * np.sum((w - 0.5) ** 2)


@numba.njit
def quadratic_gradient(w):
    return 0.5 - w


RIGHT = {
    "n_outcomes": 3,
    "value": quadratic,
    "gradient": quadratic_gradient,
    "norm": 2,
    "lipschitz": math.sqrt(0.75),
    "smoothness": 1.0,
}


def test_agrees_with_the_built_in():
    custom, built_in = rewards.Custom(**RIGHT), rewards.Quadratic([0.5] * 3)
    rng = np.random.default_rng(0)
    for w in rng.random((20, 3)):
        assert custom.value(w) == pytest.approx(built_in.value(w), abs=1e-15)
        assert custom.gradient(w) == pytest.approx(built_in.gradient(w), abs=1e-15)
        theta = 2.0 * w - 1.0
        assert custom.conjugate_argmax(theta) == pytest.approx(built_in.conjugate_argmax(theta), abs=1e-9)
    assert "n_outcomes=3" in repr(custom)


def test_takes_parameters_and_compiled_functions():
    @numba.njit
    def value(w, params):
        return -params[0] * np.sum((w - params[1]) ** 2)

    @numba.njit
    def gradient(w, params):
        return -2.0 * params[0] * (w - params[1])

    g = rewards.Custom(2, value, gradient, norm=2, lipschitz=math.sqrt(2) * 2.8, smoothness=4, params=[2.0, 0.3])
    assert g.value([0.3, 0.8]) == pytest.approx(-0.5)
    assert g.conjugate_argmax([0.4, -4.0]) == pytest.approx([0.4, 0.0], abs=1e-9)


def test_the_gap_of_the_iterated_maximiser_is_small():
    built_in = rewards.Entropy(6, mu=0.05)

    def value(w):
        return -np.sum(w * np.log(w + 0.05)) / np.log(6.0)

    def gradient(w):
        return -(np.log(w + 0.05) + w / (w + 0.05)) / np.log(6.0)

    g = rewards.Custom(6, value, gradient, 1, built_in.lipschitz, built_in.smoothness)
    rng = np.random.default_rng(1)
    for theta in rng.uniform(-2.0, 2.0, (20, 6)):
        w = g.conjugate_argmax(theta)
        assert np.all((w >= 0.0) & (w <= 1.0))
        assert missing(built_in, w, theta) <= 2e-10
        assert g.conjugate(theta) == pytest.approx(built_in.conjugate(theta), abs=1e-9)


def test_linear_custom():
    g = rewards.Custom(2, lambda w: w[0] - w[1], lambda w: np.array([1.0, -1.0]), math.inf, 2.0, 0.0)
    assert g.conjugate_argmax([-0.5, 0.5]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("K", [1, 2, 5])
def test_iterated_maximiser_without_smoothness(K: int):
    kpi = np.linspace(0.3, 0.9, K)
    built_in = rewards.TargetDistance(kpi, 2)

    def value(w, kpi):
        return 1.0 - np.sqrt(np.sum(np.maximum(0.0, kpi - w) ** 2))

    def gradient(w, kpi):
        short = np.maximum(0.0, kpi - w)
        return short / max(np.sqrt(np.sum(short**2)), 1e-300)

    g = rewards.Custom(K, value, gradient, 2, 1.0, params=kpi)
    rng = np.random.default_rng(2)
    for theta in rng.uniform(-1.5, 0.3, (15, K)):
        w = g.conjugate_argmax(theta)
        assert np.all((w >= 0.0) & (w <= 1.0))
        assert g.conjugate(theta) == pytest.approx(built_in.conjugate(theta), abs=1e-8)


def test_iterated_maximiser_of_a_piecewise_linear_reward():
    def gradient(w):
        out = np.zeros(4)
        out[np.argmin(w)] = 1.0
        return out

    g = rewards.Custom(4, lambda w: np.min(w), gradient, math.inf, 1.0)
    built_in = rewards.BottomSum(4, 1)
    rng = np.random.default_rng(3)
    for theta in rng.uniform(-0.6, 0.2, (15, 4)):
        assert g.conjugate(theta) == pytest.approx(built_in.conjugate(theta), abs=1e-8)


def test_a_given_maximiser_is_used_and_checked():
    g = rewards.Custom(**RIGHT, conjugate_argmax=lambda theta: np.minimum(1.0, np.maximum(0.0, 0.5 + theta)))
    assert g.conjugate_argmax([0.1, -0.7, 0.7]).tolist() == [0.6, 0.0, 1.0]
    with pytest.raises(RewardError, match=r"conjugate_argmax: at theta = .* is better, with"):
        rewards.Custom(**RIGHT, conjugate_argmax=lambda theta: np.minimum(1.0, np.maximum(0.0, 0.5 - theta)))
    with pytest.raises(RewardError, match=r"conjugate_argmax: .* outside \[0, 1\]"):
        rewards.Custom(**RIGHT, conjugate_argmax=lambda theta: 0.5 + 4.0 * theta)


def test_expression():
    g = rewards.Custom(**RIGHT, expression=lambda w: 1.0 - 0.5 * cvxpy.sum_squares(w - 0.5))
    assert float(g.concave_expression(cvxpy.Constant([0.5, 0.5, 0.0])).value) == 0.875
    with pytest.raises(RewardError, match="expression="):
        rewards.Custom(**RIGHT).concave_expression(cvxpy.Variable(3))


def test_cannot_be_saved():
    with pytest.raises(RewardError, match="functions cannot be saved"):
        rewards.Custom(**RIGHT).arguments()


def test_wrong_size_is_refused():
    with pytest.raises(RewardError, match="2 entries; 3 are needed"):
        rewards.Custom(**RIGHT).value([0.0, 0.0])


def uncompilable(w):
    return json.dumps(w)


def in_place(w):
    w[0] = 0.0
    return -np.sum(w)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": lambda w: np.sum((w - 0.5) ** 2)}, "value: not concave: midway between"),
        ({"value": lambda w: np.log(w[0])}, r"value: at w = \[0, .* it is -inf"),
        ({"gradient": lambda w: w - 0.5}, r"gradient: not a supergradient at w = \["),
        ({"gradient": lambda w: 2.0 * (0.5 - w)}, "gradient: not a supergradient"),
        ({"gradient": lambda w: (0.5 - w) / w}, "gradient: at w = .* it must be finite"),
        ({"gradient": lambda w: np.zeros(2)}, r"gradient: it gives an array of shape \(2,\); \(3,\)"),
        ({"gradient": lambda w: np.zeros(4)[5:] @ w}, "gradient: numba cannot compile it"),
        ({"lipschitz": 0.8}, r"lipschitz: got 0.8, but at w = .* length 0.866025"),
        ({"lipschitz": 0.5, "norm": math.inf}, "lipschitz: got 0.5"),
        ({"smoothness": 0.9}, "smoothness: got 0.9, but between .* the gradient changes by"),
        ({"value": uncompilable}, "value: numba cannot compile it: .+"),
        ({"value": lambda w: w}, r"value: it gives an array of shape \(3,\); a number is needed"),
        ({"value": math.sqrt}, "value: numba cannot compile it"),
        ({"value": in_place}, "value: it changes its arguments"),
        ({"value": 3.0}, "value: got 3.0; a function is needed"),
        ({"lipschitz": 0.0}, "lipschitz: got 0.0"),
        ({"smoothness": -1.0}, "smoothness: got -1.0"),
        ({"norm": 3}, "norm: got 3"),
        ({"n_outcomes": 0}, "n_outcomes: got 0"),
        ({"samples": -1}, "samples: got -1"),
        ({"params": [math.nan]}, r"params\[0\]: got nan"),
    ],
)
def test_refusals(change: dict[str, object], message: str):
    with pytest.raises(RewardError, match=message) as caught:
        rewards.Custom(**{**RIGHT, **change})
    assert "\n" not in str(caught.value)


def test_a_smoothness_for_the_wrong_norm_is_found():
    g = rewards.Entropy(4, mu=0.1)

    def value(w):
        return -np.sum(w * np.log(w + 0.1)) / np.log(4.0)

    def gradient(w):
        return -(np.log(w + 0.1) + w / (w + 0.1)) / np.log(4.0)

    with pytest.raises(RewardError, match="smoothness"):  # the paper's constant, half of the right one
        rewards.Custom(4, value, gradient, 1, g.lipschitz, 0.5 * g.smoothness)


def test_checks_can_be_left_out():
    g = rewards.Custom(**{**RIGHT, "lipschitz": 0.1}, samples=0)
    assert g.lipschitz == 0.1
