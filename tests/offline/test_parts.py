"""Small parts that the programs share: policies as arrays, and what is maximised and met."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from equipoise import models
from equipoise.errors import SolverError
from equipoise.models import Model
from equipoise.offline import methods
from equipoise.offline.certificate import sum_conjugates, sum_thetas
from equipoise.offline.chains import lead_to
from equipoise.offline.columns import Pool, by_columns
from equipoise.offline.methods import check_claim
from equipoise.offline.problem import DualPoint, Problem, bound_terms
from equipoise.offline.program import ProgramMethod, by_clarabel, by_cuts, by_highs, solve_cone
from equipoise.rewards import Constraint, Linear, Quadratic, Reward

FLOORS = (Constraint(Linear([1.0, 0.0]), 0.25), Constraint(Linear([0.0, 1.0]), 0.5))
STEEP, ROUND = Linear([1.0, 0.5]), Quadratic([1.0, 0.25])


@pytest.mark.parametrize("target", range(4))
def test_a_policy_is_led_to_a_state_from_everywhere(target: int) -> None:
    model = models.riverswim(4)
    before = model.first_pair[:-1].copy()
    pairs = lead_to(model, before, np.array([target]))
    assert pairs[target] == before[target]
    chain = model.transitions().toarray()[pairs]
    assert (np.linalg.matrix_power(np.eye(4) + chain, 4)[:, target] > 0.0).all()
    assert (model.state_of[pairs] == np.arange(4)).all()


def test_without_an_objective_the_worst_constraint_counts() -> None:
    closest = Problem(None, FLOORS)
    assert closest.value(np.array([0.5, 0.5])) == 0.0
    assert closest.value(np.array([0.5, 0.25])) == -0.25
    assert closest.value(np.array([0.125, 1.0])) == -0.125
    assert closest.eased(0.25).value(np.array([0.5, 0.25])) == 0.0


def test_with_an_objective_violations_have_a_price() -> None:
    problem = Problem(Linear([1.0, 1.0]), FLOORS)
    assert problem.value(np.array([0.5, 0.25])) == 0.75
    assert problem.value(np.array([0.5, 0.25]), price=2.0) == 0.75 - 2.0 * 0.25
    assert problem.violations(np.array([0.5, 0.25])).tolist() == [0.0, 0.25]


def test_terms_take_slopes_or_gradients_of_smooth_functions() -> None:
    smooth = Quadratic([0.5, 0.5])
    problem, w = Problem(Linear([1.0, 0.0]), (Constraint(smooth, 0.75), *FLOORS)), np.array([0.25, 1.0])
    multipliers, slopes = np.array([3.0, 2.0, 0.0, 4.0]), [np.full(2, 3.0 * k) for k in (1.0, 2.0, 3.0, 4.0)]
    dual = DualPoint(multipliers, slopes)
    plain = bound_terms(problem, dual)
    assert [term.weight for term in plain] == [1.0, 2.0, 0.0, 4.0]
    assert [term.theta.tolist() for term in plain] == [[-1.0, -1.0], [-3.0, -3.0], [0.0, 0.0], [-3.0, -3.0]]
    at_w = bound_terms(problem, dual, smooth_at=w)
    assert at_w[1].theta.tolist() == [-0.25, 0.5]  # w - target
    assert at_w[3].theta.tolist() == [0.0, -1.0]
    assert sum_thetas(at_w, 2).tolist() == sum(term.weight * term.theta for term in at_w).tolist()
    of_linear = [term for term in at_w if term.weight == 4.0]
    level = of_linear[0].reward.conjugate(of_linear[0].theta) - 0.5
    assert sum_conjugates(of_linear) == pytest.approx(4.0 * level)


def test_which_way_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs for few pairs, narrow worlds and sparse outcomes; of these the last alone does not outweigh the size."""
    for name, limit in {"_PAIRS": 1, "_PAIRS_PER_OUTCOME": 0, "_WIDTH": 0.5, "_OUTCOMES": 1, "_SPARSE": 0.4}.items():
        monkeypatch.setattr(methods, name, limit)
    sparse, dense = models.bandit(3), Model.from_arrays([[[1.0]] * 3], [[[1.0, 0.5]] * 3])
    assert methods.rank_methods(sparse, False, None) == ["program", "columns"]
    assert methods.rank_methods(dense, False, None) == ["columns", "program"]
    monkeypatch.setattr(methods, "_TOO_LARGE", 2)
    assert methods.rank_methods(sparse, False, None) == ["columns"]
    monkeypatch.setattr(methods, "_WIDTH", 1.0)
    assert methods.rank_methods(dense, False, None) == ["program", "columns"]
    monkeypatch.setattr(methods, "_WIDTH", 0.5)
    monkeypatch.setattr(methods, "_PAIRS", 4)
    assert methods.rank_methods(dense, False, None) == ["program", "columns"]


@pytest.mark.parametrize(
    ("way", "objective"),
    [
        *((way, one) for way in (by_clarabel, by_cuts) for one in (None, STEEP, ROUND)),
        *((by_highs, one) for one in (None, STEEP)),
    ],
)
def test_every_way_alone_gives_both_bounds(way: ProgramMethod, objective: Reward | None) -> None:
    model = models.star(2, 4)
    problem = Problem(objective, FLOORS)
    answer = check_claim(model, problem, way(model, problem, 1e-9), 1e-6)
    assert abs(answer.dual.value - answer.primal.value) <= 1e-6
    assert answer.primal.residual_l1 <= 1e-6
    # Two ends that share the time: w = (s, 1 - s) with s in [1/4, 1/2]; without an objective s - 1/4 = 1/2 - s.
    share = 0.375 if objective is None else 0.5
    assert answer.primal.outcomes == pytest.approx([share, 1.0 - share], abs=1e-4)
    if objective is None:
        assert answer.dual.value == pytest.approx(0.125, abs=1e-6)


def test_an_error_of_a_solver_is_reported_with_its_reason() -> None:
    def fail(**options: object) -> None:
        raise ValueError("a bad option")

    problem = SimpleNamespace(solve=fail, status=None)
    with pytest.raises(SolverError, match=r"no solution of the offline program \(ValueError: a bad option\)"):
        solve_cone(problem, "CLARABEL", ({},), [])


def test_columns_raise_the_price_of_a_violation_until_there_is_none() -> None:
    """The floor w_1 >= 1/4 in units of 10,000: its multiplier is 10,000, far above the first price."""
    floor = Constraint(Linear([0.0, 1e-4]), 0.25e-4)
    claim = by_columns(Pool(models.bandit(2)), Problem(Linear([1.0, 0.0]), (floor,)), 1e-8)
    assert claim.occupancy == pytest.approx([0.75, 0.25], abs=2e-4)
    assert claim.duals[0].multipliers == pytest.approx([1.0, 1e4], rel=1e-3)
