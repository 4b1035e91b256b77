"""The offline program by columns: against the programs, against closed forms, and what happens when it fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.sparse import csr_array

from equipoise import models, rewards
from equipoise.errors import ParameterError, SolverError
from equipoise.models import Model
from equipoise.offline import best_stationary, columns, gains, methods, solve
from equipoise.offline.columns import Pool, by_columns
from equipoise.offline.methods import mean_width, rank_methods
from equipoise.offline.mixtures import CutMixer, InTurn, PairMixer, make_mixer
from equipoise.offline.problem import Problem
from equipoise.rewards import Reward
from tests.offline.common import check

WORLDS = {
    "bandit": models.bandit(3),
    "hub": models.hub(3),
    "scalar_hub": models.scalar_hub(3),
    "star": models.star(3, 4),
    "long star": models.star(3, 60),
    "ring": models.ring(7),
    "riverswim": models.riverswim(50),
    "garnet": models.garnet(60, 4, 5, 4, seed=3),
    "garnet, deterministic": models.garnet(50, 2, 1, 2, seed=2),
    "grid": models.grid(6, 6, goals=[(0, 5), (5, 0), (5, 5)]),
    "queue": models.queue(room=5),
    "inventory": models.inventory(),
    "scheduler": models.scheduler(),
    "sites": models.sites(),
    "pricing": models.pricing(),
    "bidding": models.bidding(),
}
EVERY = [*WORLDS]
FEW = ["star", "ring", "riverswim", "garnet", "grid", "inventory"]


def families(K: int) -> Iterator[Reward]:
    kpi = np.linspace(0.5, 0.9, K)
    yield rewards.Linear(np.linspace(1.0, -0.3, K))
    yield rewards.Quadratic(kpi)
    yield rewards.TargetSquared(kpi)
    for norm in (1, 2, math.inf):
        yield rewards.TargetDistance(kpi, norm)
    yield rewards.Balance(np.full(K, 1 / K))
    yield rewards.BottomSum(K, max(1, K // 2))
    yield rewards.GeneralisedGini(np.linspace(1.0, 0.2, K))
    yield rewards.ProportionalFairness(K, 0.01)
    if K >= 2:
        weights = np.arange(1.0, K + 1.0)
        yield rewards.Entropy(K)
        yield rewards.Entropy(K, 0.01)
        yield rewards.RelativeEntropy(weights / weights.sum(), 0.01)
        yield rewards.CrossEntropy(weights / weights.sum(), 0.01)
        yield rewards.Knapsack(K, 0.3)


def smooth_custom(K: int) -> rewards.Custom:
    return rewards.Custom(
        K,
        value=lambda w: np.sum(w - (w - 1.0 / w.size) ** 2 / 2.0),
        gradient=lambda w: 1.0 - (w - 1.0 / w.size),
        norm=2,
        lipschitz=2.0 * math.sqrt(K),
        smoothness=1.0,
        samples=50,
    )


def sharp_custom(K: int) -> rewards.Custom:
    return rewards.Custom(
        K,
        value=lambda w: np.min(w),
        gradient=lambda w: (np.arange(w.size) == np.argmin(w)) * 1.0,
        norm=math.inf,
        lipschitz=1.0,
        samples=50,
    )


def agree(model: Model, reward: Reward) -> None:
    """Both ways certify their answer, and so each is within the tolerance of the other."""
    one, other = solve(model, reward, method="columns"), solve(model, reward, method="program")
    assert (one.method, other.method) == ("columns", "program")
    assert one.status == "optimal", (reward, one)
    assert other.status == "optimal", (reward, other)
    assert one.value == pytest.approx(other.value, abs=1e-6), reward
    assert one.value <= other.dual_value + 1e-9, reward
    assert other.value <= one.dual_value + 1e-9, reward


@pytest.mark.parametrize("name", FEW)
def test_columns_agree_with_the_programs(name: str) -> None:
    model = WORLDS[name]
    for reward in (rewards.Quadratic(np.linspace(0.5, 0.9, model.n_outcomes)), rewards.BottomSum(model.n_outcomes, 1)):
        agree(model, reward)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_columns_agree_with_the_programs_for_every_reward(name: str) -> None:
    model = WORLDS[name]
    for reward in families(model.n_outcomes):
        agree(model, reward)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [models.garnet(700, 4, 5, 3, seed=1), models.grid(25, 25, goals=[(0, 24), (24, 0), (24, 24)]),
     models.queue(room=25), models.riverswim(800), models.star(3, 300), models.patrol()],
    ids=["garnet", "grid", "queue", "riverswim", "star", "patrol"],
)  # fmt: skip
def test_columns_agree_with_the_programs_on_larger_worlds(model: Model) -> None:
    K = model.n_outcomes
    for reward in (rewards.Quadratic(np.linspace(0.5, 0.9, K)), rewards.BottomSum(K, 1)):
        agree(model, reward)


@pytest.mark.parametrize("name", ["star", "ring", "garnet"])
def test_columns_with_as_many_outcomes_as_states(name: str) -> None:
    model = WORLDS[name].visits()
    best = solve(model, rewards.Entropy(model.n_states), 1e-4, method="columns")
    assert best.status == "optimal"
    assert best.value == pytest.approx(solve(model, rewards.Entropy(model.n_states)).value, abs=2e-4)


def test_closed_forms() -> None:
    thirds = [1 / 3] * 3
    for model, reward, value in (
        (models.bandit(3), rewards.Balance(thirds), 1.0),
        (models.hub(3), rewards.Balance(thirds), 1.0),
        (models.star(3, 4), rewards.Quadratic(thirds), 1.0),
        (models.star(3, 40), rewards.BottomSum(3, 1), 1 / 3),
        (models.scalar_hub(3), rewards.Linear([1.0]), 1.0),
        (models.star(3, 4), rewards.Entropy(3), 1.0),
        (models.ring(12), rewards.Linear([1.0]), 1 / 12),
    ):
        best = solve(model, reward, method="columns")
        assert best.status == "optimal", best
        assert best.value == pytest.approx(value, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("make", [smooth_custom, sharp_custom])
def test_rewards_without_an_expression(make: Callable[[int], Reward]) -> None:
    reward = make(3)
    for model in (models.star(3, 4), models.garnet(30, 3, 3, 3, seed=2)):
        agree(model, reward)


@pytest.mark.slow
def test_the_master_that_suits_a_reward() -> None:
    points = np.array([[0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.1, 0.9], [0.2, 0.2, 0.2]])
    begin = np.array([1.0, 0.0, 0.0, 0.0])
    for reward, kind in (
        (rewards.BottomSum(3, 1), InTurn),
        (smooth_custom(3), PairMixer),
        (sharp_custom(3), CutMixer),
    ):
        master = make_mixer(Problem(reward), 1e-10)
        assert isinstance(master, kind)
        found = master.best(points, begin)
        assert found.weights.sum() == pytest.approx(1.0)
        assert found.weights.min() >= 0.0
        w = found.weights @ points
        assert w == pytest.approx(np.full(3, 1.1 / 3), abs=1e-5)  # by symmetry
        theta = -found.dual.slopes[0]
        assert (points @ -theta).max() <= float(-theta @ w) + 1e-7  # nothing of the hull scores more
        assert reward.conjugate(theta) - float(theta @ w) == pytest.approx(reward.value(w), abs=1e-6)


def test_the_master_has_room_for_more_and_more_points() -> None:
    rng, reward = np.random.default_rng(0), rewards.Quadratic([0.5, 0.5])
    master = make_mixer(Problem(reward), 1e-9)
    points = 0.2 * rng.random((40, 2))
    for n in (1, 5, 40):
        found = master.best(points[:n], np.full(n, 1.0 / n))
        assert found.weights.shape == (n,)
        assert reward.value(found.weights @ points[:n]) >= max(reward.value(point) for point in points[:n]) - 1e-8


def test_a_small_model_goes_to_a_program_and_a_large_one_to_columns() -> None:
    large = models.garnet(600, 4, 4, 3, seed=0)
    assert rank_methods(large, False, None) == ["columns", "program"]
    for model, reward in (
        (models.star(3, 4), rewards.Quadratic([0.5] * 3)),
        (models.riverswim(1500), rewards.Linear([1.0])),  # a line
        (models.garnet(600, 4, 4, 1, seed=0).visits(), rewards.Entropy(600)),  # many outcomes, of which a pair has one
        (models.garnet(600, 4, 4, 20, seed=0), rewards.BottomSum(20, 3)),  # an edge in many dimensions
    ):
        assert rank_methods(model, reward.piecewise_linear, None) == ["program", "columns"]
    assert mean_width(models.garnet(600, 4, 4, 1, seed=0)) > 50


def test_no_program_is_tried_on_what_is_too_large_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "_TOO_LARGE", 2000)
    assert rank_methods(models.garnet(600, 4, 4, 3), False, None) == ["columns"]


def test_the_other_way_is_taken_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    model, reward = models.garnet(500, 4, 2, 2, seed=1), rewards.Quadratic([0.9, 0.8])
    right = solve(model, reward)
    assert right.method == "columns"

    def fail(*arguments: object) -> None:
        raise SolverError("it did not settle")

    monkeypatch.setattr(gains, "policy_columns", fail)
    best = solve(model, reward)
    assert (best.method, best.status) == ("program", "optimal")
    assert best.value == pytest.approx(right.value, abs=1e-6)
    with pytest.raises(SolverError, match="it did not settle"):
        solve(model, reward, method="columns")


def test_too_few_plans_are_said_and_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, reward = models.garnet(60, 4, 5, 4, seed=3), rewards.BottomSum(4, 1)
    right = solve(model, reward)
    monkeypatch.setattr(columns, "_ROUNDS", 2)
    monkeypatch.setattr(columns, "_ROUNDS_PER_NUMBER", 0)
    best = solve(model, reward, method="columns")
    assert best.status.startswith("gap")
    assert best.value <= right.value + 1e-9
    assert right.value <= best.dual_value + 1e-9


def test_an_outcome_that_never_occurs() -> None:
    """The entropy has no gradient where an outcome is 0: neither the first theta nor the check may ask for it."""
    means = np.zeros((8, 3))
    means[:, :2] = np.random.default_rng(0).random((8, 2)) / 2.0
    model = Model.from_sparse(2 * np.arange(5), models.garnet(4, 2, 3, 1, seed=0).transitions(), means)
    agree(model, rewards.Entropy(3))


def test_a_tolerance_is_kept() -> None:
    model, reward = models.garnet(60, 4, 5, 4, seed=3), rewards.Quadratic([0.9] * 4)
    for tolerance in (1e-2, 1e-4, 1e-8):
        best = solve(model, reward, tolerance, method="columns")
        assert best.status == "optimal"
        assert best.gap <= tolerance


def test_the_check_is_independent_of_the_columns() -> None:
    model, reward = models.garnet(60, 4, 5, 4, seed=3), rewards.Quadratic([0.9] * 4)
    claim = by_columns(Pool(model), Problem(reward), 1e-8)
    assert check(model, reward, claim, 1e-6).status == "optimal"
    wrong = claim.occupancy.copy()
    wrong[:10] += 1e-3
    assert check(model, reward, claim._replace(occupancy=wrong), 1e-6).status.startswith("flow residual")
    found = claim.duals[0]
    tilted = found._replace(slopes=[found.slopes[0] - 0.1])
    tilted = check(model, reward, claim._replace(duals=(tilted,), bias=None), 1e-6)
    assert tilted.dual_value >= tilted.value - 1e-9  # still a bound; and minus the gradient is tried besides


def test_a_method_that_does_not_exist() -> None:
    with pytest.raises(ParameterError, match="'columns', 'program' or None is needed"):
        solve(models.star(), rewards.Quadratic([1 / 3] * 3), method="simplex")


@pytest.mark.slow
@pytest.mark.slow
def test_what_stationary_policies_reach_in_a_large_world() -> None:
    model, reward = models.garnet(520, 4, 3, 2, seed=4), rewards.Quadratic([0.9, 0.9])
    best = best_stationary(model, reward)
    assert best.benchmark.method == "columns"
    assert best.deterministic.value <= best.supremum + 1e-9
    assert best.value_at(1e-6) == pytest.approx(best.supremum, abs=1e-5)


def test_an_optimum_of_a_larger_world_is_as_certified_as_one_of_a_small_one() -> None:
    model, reward = models.garnet(3000, 4, 5, 3, seed=7), rewards.Quadratic([0.5, 0.7, 0.9])
    best = solve(model, reward)
    assert (best.status, best.method) == ("optimal", "columns")
    p = csr_array((model.transition_probability, model.transition_state, model.transition_first), shape=(12000, 3000))
    x = best.occupancy
    flow = np.bincount(model.state_of, x) - p.T @ x
    assert np.abs(flow).sum() <= 1e-9
    q = -(model.means @ best.theta) + p @ best.bias - best.bias[model.state_of]
    assert q.max() <= best.gain + 1e-12
    assert reward.value(model.means.T @ x) == pytest.approx(best.value, abs=1e-12)
    assert reward.conjugate(best.theta) + best.gain - best.value <= 1e-6
