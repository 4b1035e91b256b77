"""`Custom`: the same as a built-in reward when the functions are right, a clear refusal when they are not."""

from __future__ import annotations

import copy
import json
import math
import pickle
import threading

import cvxpy
import numba
import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.errors import RewardError
from equipoise.testing import check_reward
from tests.rewards.members import missing

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("K", [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)])
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(RewardError, match="made of functions, which cannot be saved"):
        rewards.Custom(**RIGHT).arguments()


def test_wrong_size_is_refused():
    with pytest.raises(RewardError, match="2 entries; 3 are needed"):
        rewards.Custom(**RIGHT).value([0.0, 0.0])


def uncompilable(w):
    text = json.dumps(w.tolist())
    return float(text.count(","))


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
        ({"gradient": lambda w: np.zeros(3) @ w}, r"gradient: it gives an array of shape \(\); \(3,\)"),
        ({"lipschitz": 0.8}, r"lipschitz: got 0.8, but at w = .* length 0.866025"),
        ({"lipschitz": 0.5, "norm": math.inf}, "lipschitz: got 0.5"),
        ({"smoothness": 0.9}, "smoothness: got 0.9, but between .* the gradient changes by"),
        (
            {"value": uncompilable},
            r"value: numba cannot compile it, line \d+ of test_custom.py, `text = json.dumps\(w.tolist\(\)\)`: "
            "Unknown attribute 'dumps' .* compiled=False",
        ),
        ({"value": lambda w: w}, r"value: it gives an array of shape \(3,\); a number is needed"),
        ({"value": math.sqrt}, r"value: at w = \[0.5, 0.5, 0.5\] it raises TypeError: only .* converted"),
        ({"value": sum}, "value: numba cannot compile it, .*sum.* is no Python function"),
        ({"value": in_place}, r"value: at \[.*\] it changes its argument in place"),
        ({"value": lambda w: "high"}, "value: it gives 'high'; a number is needed"),
        ({"gradient": lambda w: [0.5 - w[0], "x", None]}, "gradient: "),
        ({"compiled": 1}, "compiled: got 1; True or False"),
        ({"vertices": [0.0, 1.0]}, "vertices: got .* base, coordinate and scale"),
        ({"vertices": ([0.0] * 3, [3], [1.0])}, r"vertices.coordinate\[0\]: got 3.0; a whole number from 0 to 2"),
        ({"vertices": ([0.0] * 2, [1], [1.0])}, "vertices.base: got 2 entries; 3"),
        ({"vertices": ([0.0] * 3, [0, 1, 2], [1.0] * 3)}, "vertices: the supergradient .* is no point"),
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
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 700


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


# Why a function is not taken -----------------------------------------------------------------------------


def other_exception(w):
    try:
        return w[0]
    except KeyError:
        return 0.0


def with_statement(w):
    with threading.Lock() as held:
        return 0.0 * held


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (other_exception, "line .* of test_custom.py, `except KeyError:`: .*limited to <class 'Exception'>"),
        (with_statement, "with_statement, line .* of test_custom.py: .*The 'with .context manager.* is not supported"),
    ],
)
def test_numbas_reason_is_given(value, message: str):
    with pytest.raises(RewardError, match=f"value: numba cannot compile it, {message}"):
        rewards.Custom(**RIGHT | {"value": value})


def test_a_default_is_no_second_argument():
    g = rewards.Custom(1, lambda w, scale=2.0: scale * w[0], lambda w: np.full(1, 2.0), 2, 2.0, 0.0, params=[7.0])
    assert g.value([0.5]) == 1.0


# Exceptions ----------------------------------------------------------------------------------------------


def raising(w):
    if w[0] == 0.0:
        raise ValueError("nothing sold")
    return 1.0 - 0.5 * np.sum((w - 0.5) ** 2)


def raising_gradient(w):
    if w[0] > 0.9:
        raise ArithmeticError("too much")
    return 0.5 - w


@pytest.mark.parametrize("compiled", [True, False])
def test_an_exception_is_reported_as_such(compiled: bool):
    with pytest.raises(RewardError, match=r"value: at w = \[0, .*\] it raises ValueError: nothing sold") as caught:
        rewards.Custom(**RIGHT | {"value": raising, "compiled": compiled})
    assert isinstance(caught.value.__cause__, ValueError)
    g = rewards.Custom(**RIGHT | {"value": raising, "compiled": compiled}, samples=0)
    assert g.failure() is None
    with pytest.raises(RewardError, match=r"value: at w = \[0, 0.5, 1\] it raises ValueError: nothing sold"):
        g.value([0.0, 0.5, 1.0])
    assert g.value([0.5] * 3) == 1.0
    assert g.failure() is None  # of the last call


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("smoothness", [1.0, None])
def test_an_exception_within_an_iteration_is_not_lost(compiled: bool, smoothness: float | None):
    change = {"gradient": raising_gradient, "compiled": compiled, "smoothness": smoothness}
    g = rewards.Custom(**RIGHT | change, samples=0)
    with pytest.raises(RewardError, match=r"gradient: at w = \[.*\] it raises ArithmeticError: too much"):
        g.conjugate_argmax([0.5, 0.0, 0.0])
    assert g.conjugate_argmax([-0.2, 0.0, 0.0]) == pytest.approx([0.3, 0.5, 0.5], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("smoothness", [0.0, 1.0, None])
def test_a_gradient_that_is_not_a_number_gives_no_maximiser(compiled: bool, K: int, smoothness: float | None):
    g = rewards.Custom(K, lambda w: np.nan * w[0], lambda w: np.nan * w, 2, 1.0, smoothness, samples=0)
    assert np.isnan(g.conjugate_argmax([0.25] * K)).any()
    assert "it is not finite" in str(g.failure())


@pytest.mark.parametrize("compiled", [True, False])
def test_a_loop_ends_where_the_gradient_raises(compiled: bool, capfd):
    def gradient(w):
        if w[0] > 0.6:
            raise ArithmeticError("too much of outcome 0")
        return np.array([1.0, 0.0])

    g = rewards.Custom(2, lambda w: w[0], gradient, 2, 1.0, 0.0, samples=0, compiled=compiled)
    model = eq.models.bandit(2)
    agent = eq.TocUCRL2(model.space, g, oracle=eq.oracles.FrankWolfe())
    capfd.readouterr()
    with pytest.raises(
        RewardError, match=r"reward: at time .* it raises ArithmeticError: too much of outcome 0"
    ) as caught:
        eq.simulate(model, agent, 10_000)
    assert str(caught.value.__cause__) == str(g.failure())
    assert isinstance(caught.value.__cause__.__cause__, ArithmeticError)
    assert "Exception ignored" not in capfd.readouterr().err


# Plain Python --------------------------------------------------------------------------------------------


def test_functions_that_numba_cannot_take_run_uncompiled():
    table = {"weights": [1.0, 2.0]}

    def value(w):
        return float(sum(a * b for a, b in zip(table["weights"], json.loads(json.dumps(w.tolist())), strict=True)))

    g = rewards.Custom(2, value, lambda w: table["weights"], 2, math.sqrt(5.0), 0.0, compiled=False)
    assert g.value([0.5, 0.25]) == 1.0
    assert g.gradient([0.5, 0.25]).tolist() == [1.0, 2.0]
    assert g.conjugate_argmax([-1.5, -1.5]).tolist() == [0.0, 1.0]
    assert "compiled=False" in repr(g)
    check_reward(g)


class Goal:
    def __init__(self, at: float) -> None:
        self.at = at

    def value(self, w, params):
        return params[0] - 0.5 * np.sum((w - self.at) ** 2)

    def gradient(self, w):
        return self.at - w


def test_bound_methods_and_parameters_run_uncompiled():
    goal = Goal(0.5)
    g = rewards.Custom(3, goal.value, goal.gradient, 2, math.sqrt(0.75), 1.0, params=[1.0], compiled=False)
    assert g.value([0.5, 0.5, 0.0]) == 0.875


ORACLES = {
    "frank-wolfe": lambda: eq.oracles.FrankWolfe(),
    "gradient-descent": lambda: eq.oracles.TunedGradientDescent(),
    "mirror-descent": lambda: eq.oracles.TunedMirrorDescent(eq.oracles.EuclideanBall(), 300),
    "doubling": lambda: eq.oracles.Doubling(eq.oracles.EuclideanBall()),
}


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_uncompiled_functions_give_the_same_trajectory(oracle):
    model = eq.models.star(3, 2)
    ends = []
    for compiled in (True, False):
        agent = eq.TocUCRL2(model.space, rewards.Custom(**RIGHT, compiled=compiled), oracle=oracle())
        eq.simulate(model, agent, 200, seed=3)
        agent.observe([0.0, 0.0, 0.0], model.start if agent.act(agent.state) < 0 else agent.state)
        ends.append((agent.average, agent.theta))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert ends[0][1] == pytest.approx(ends[1][1], abs=1e-12)


def test_an_interrupt_inside_a_function_is_not_swallowed():
    interrupted = []

    def gradient(w):
        if interrupted:
            raise KeyboardInterrupt
        return 0.5 - w

    g = rewards.Custom(**RIGHT | {"gradient": gradient, "compiled": False})
    interrupted.append(True)
    with pytest.raises(KeyboardInterrupt):
        g.gradient([0.5] * 3)


# Copies --------------------------------------------------------------------------------------------------


def plain_value(w):
    return 1.0 - 0.5 * np.sum((w - 0.5) ** 2)


def plain_gradient(w):
    return 0.5 - w


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))], ids=["copy", "deepcopy", "pickle"]
)
def test_copies(compiled: bool, twin):
    g = rewards.Custom(3, plain_value, plain_gradient, 2, math.sqrt(0.75), 1.0, compiled=compiled)
    other = twin(g)
    assert other is not g
    assert other.value([0.5, 0.5, 0.0]) == 0.875
    assert other.conjugate_argmax([0.1, 0.0, -0.7]) == pytest.approx([0.6, 0.5, 0.0], abs=1e-9)
    assert repr(other) == repr(g)
    assert other.fingerprint() == g.fingerprint()


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))], ids=["copy", "deep", "pickle"]
)
def test_copies_of_agents_go_on_alike(compiled: bool, twin):
    model = eq.models.star(3, 2)
    g = rewards.Custom(3, plain_value, plain_gradient, 2, math.sqrt(0.75), 1.0, compiled=compiled)
    agent = eq.TocUCRL2(model.space, g)
    eq.simulate(model, agent, 100, seed=1)
    other = twin(agent)
    for one in (agent, other):
        eq.simulate(model, one, 100, seed=1)
    assert np.array_equal(agent.average, other.average)
    assert np.array_equal(agent.theta, other.theta)


def test_a_function_that_cannot_be_pickled_is_named(monkeypatch):
    monkeypatch.delitem(__import__("sys").modules, "cloudpickle", raising=False)
    g = rewards.Custom(3, plain_value, lambda w: 0.5 - w, 2, math.sqrt(0.75), 1.0)
    with pytest.raises(RewardError, match=r"gradient: <function .* cannot be pickled .*top level of a module"):
        pickle.dumps(g)
    assert copy.deepcopy(g).value([0.5] * 3) == 1.0


@pytest.mark.slow
def test_vertices_open_the_entropic_maps():
    def gradient(w):
        out = np.zeros(3)
        out[np.argmin(w)] = 1.0
        return out

    vertices = (np.zeros(3), np.arange(3), np.ones(3))
    g = rewards.Custom(3, lambda w: np.min(w), gradient, math.inf, 1.0, vertices=vertices)
    built_in = rewards.BottomSum(3, 1)
    assert all(map(np.array_equal, g.vertices, built_in.vertices))
    assert repr(eq.oracles.choice.fitting_oracle(g)) == repr(eq.oracles.choice.fitting_oracle(built_in))
    check_reward(g)
