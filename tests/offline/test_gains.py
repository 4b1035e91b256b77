"""The best average score of a known model: closed forms, linear programs, and worlds that are hard for some way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from equipoise import models
from equipoise.errors import SolverError
from equipoise.models import Model
from equipoise.offline import gains, solve
from equipoise.offline.chains import (
    discounted_values,
    factorisation_work,
    factorised_distribution,
    policy_moves,
    stationary_distribution,
)
from equipoise.offline.gains import GainSearch, policy_columns
from equipoise.offline.program import flow_matrix
from equipoise.rewards import Linear

WORLDS = {
    "bandit": models.bandit(3),
    "periodic": models.ring(7),
    "star": models.star(3, 40),
    "line": models.riverswim(60),
    "queue": models.queue(room=6),
    "grid": models.grid(8, 8, goals=[(0, 7), (7, 0), (7, 7)]),
    "random": models.garnet(80, 4, 5, 3, seed=1),
    "random, deterministic": models.garnet(50, 2, 1, 3, seed=2),
    "inventory": models.inventory(),
}


def largest_gain(model: Model, scores: np.ndarray) -> float:
    """By a linear program on dense arrays that shares nothing with the package."""
    n = model.n_states
    p = model.transitions().toarray()
    equal = np.vstack([np.eye(n)[:, model.state_of] - p.T, np.ones(model.n_pairs)])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return -linprog(-scores, A_eq=equal, b_eq=np.append(np.zeros(n), 1.0), options=tight).fun


def bellman(model: Model, scores: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.maximum.reduceat(scores + model.transitions() @ u, model.first_pair[:-1]) - u


def two_towns(size: int, bridge: float, seed: int = 0) -> Model:
    """Two random worlds with a bridge that is taken rarely: it mixes slowly, and is dear to factorise."""
    town = models.garnet(size, 3, 4, 2, seed=seed)
    p = town.transitions().toarray()
    inside = np.hstack([p, np.zeros_like(p)]) * (1.0 - bridge)
    other = np.hstack([np.zeros_like(p), p]) * (1.0 - bridge)
    inside[:, size] += bridge
    other[:, 0] += bridge
    means = np.vstack([town.means, 0.9 * town.means[:, ::-1]])
    return Model.from_sparse(3 * np.arange(2 * size + 1), csr_array(np.vstack([inside, other])), means)


@pytest.mark.parametrize("name", WORLDS)
def test_both_bounds_are_those_of_a_linear_program(name: str) -> None:
    model, rng = WORLDS[name], np.random.default_rng(3)
    search, found = GainSearch(model), None
    for _ in range(4):
        scores = rng.uniform(-1.0, 1.0, model.n_pairs)
        found = search.best(scores, 1e-9, found)
        best = largest_gain(model, scores)
        assert found.upper - found.lower <= 1e-9
        assert found.lower - 1e-8 <= best <= found.upper + 1e-8
        differences = bellman(model, scores, found.bias)
        assert found.upper == pytest.approx(differences.max(), abs=1e-12)
        assert found.lower == pytest.approx(differences.min(), abs=1e-12)
        for column in search.columns(found.pairs):
            assert column.weight @ scores[column.pairs] >= found.lower - 1e-9


@pytest.mark.parametrize("name", WORLDS)
def test_columns_are_occupancies(name: str) -> None:
    model, rng = WORLDS[name], np.random.default_rng(4)
    for _ in range(5):
        pairs = model.first_pair[:-1] + rng.integers(0, np.diff(model.first_pair))
        columns = policy_columns(model, pairs, policy_moves(model, pairs))
        assert columns
        for column in columns:
            x = np.zeros(model.n_pairs)
            x[column.pairs] = column.weight
            assert x.sum() == pytest.approx(1.0, abs=1e-12)
            assert x.min() >= 0.0
            assert np.abs(flow_matrix(model) @ x).sum() <= 1e-10
            assert column.outcomes == pytest.approx(model.means.T @ x, abs=1e-12)


def test_a_policy_with_several_recurrent_classes_has_a_column_for_each() -> None:
    model = models.star(3, 4)
    loops = np.array([model.pair(s, 0) for s in range(model.n_states)])
    columns = policy_columns(model, loops, policy_moves(model, loops))
    assert sorted(column.outcomes.tolist() for column in columns) == np.eye(3)[::-1].tolist()


@pytest.mark.parametrize("name", ["line", "queue", "grid", "periodic", "star", "random"])
def test_factorisations_find_what_sweeps_find(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, rng = WORLDS[name], np.random.default_rng(5)
    swept = GainSearch(model)
    monkeypatch.setattr(gains, "_FREE_VISITS", 0.0)
    factorised = GainSearch(model)
    for _ in range(3):
        scores = rng.random(model.n_pairs)
        one, other = swept.best(scores, 1e-10), factorised.best(scores, 1e-10)
        assert other.upper - other.lower <= 1e-10
        assert other.upper == pytest.approx(one.upper, abs=2e-10)
    assert factorised.evaluations > 0 or name in ("random", "star")  # these settle before anything is evaluated


def test_classes_that_all_but_communicate() -> None:
    """Slips lead from goal to goal once in millions of steps: the bias of most policies is huge, and gains are tied."""
    model = models.grid(20, 20, goals=[(0, 19), (19, 0), (19, 19)])
    search = GainSearch(model)
    found = search.best(np.ascontiguousarray(model.means @ np.full(3, 0.385)), 1e-9)
    assert found.upper - found.lower <= 1e-9


def test_a_world_that_mixes_slowly_and_is_dear_to_factorise(monkeypatch: pytest.MonkeyPatch) -> None:
    model = two_towns(40, 1e-3)
    scores = model.means[:, 0].copy()
    best = largest_gain(model, scores)
    found = GainSearch(model).best(scores, 1e-8)
    assert found.upper - found.lower <= 1e-8
    assert found.upper == pytest.approx(best, abs=2e-8)
    # without factorisations, and with too few sweeps, the bounds are wide and still hold
    monkeypatch.setattr(gains, "AFFORDABLE", 0.0)
    monkeypatch.setattr(gains, "_MAX_VISITS", 1.0)
    monkeypatch.setattr(gains, "_LEAST_SWEEPS", 8)
    coarse = GainSearch(model).best(scores, 1e-12)
    assert coarse.upper - coarse.lower > 1e-12
    assert coarse.lower <= best <= coarse.upper


def test_a_factorisation_that_fails_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.riverswim(30)

    def fail(*arguments: object) -> None:
        raise SolverError("no room")

    monkeypatch.setattr(gains, "_FREE_VISITS", 0.0)
    monkeypatch.setattr(gains, "discounted_values", fail)
    search = GainSearch(model)
    found = search.best(model.means[:, 0].copy(), 1e-9)
    assert search.evaluations == 0
    assert found.upper == pytest.approx(largest_gain(model, model.means[:, 0]), abs=1e-8)


@given(st.integers(0, 10_000), st.floats(1e-12, 0.5))
@settings(max_examples=30, deadline=None)
def test_discounted_values_solve_their_equations(seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    model = models.garnet(12, 2, 2, 1, seed=seed % 20)
    moves = policy_moves(model, model.first_pair[:-1] + rng.integers(0, 2, 12))
    values = rng.standard_normal(12)
    u = discounted_values(moves.chain(), values, epsilon)
    assert u == pytest.approx(values + (1.0 - epsilon) * (moves.chain() @ u), abs=1e-9 * (1.0 + np.abs(u).max()))


def test_stationary_distributions_of_slow_chains() -> None:
    model = models.riverswim(400)
    for action in (0, 1):
        chain = policy_moves(model, model.first_pair[:-1] + action).chain()
        weight = factorised_distribution(chain)
        assert np.abs(chain.T @ weight - weight).sum() <= 1e-13
        assert weight == pytest.approx(stationary_distribution(chain), abs=1e-12)
    # to the right: balance between neighbours, so each state weighs so much more than the one before
    assert weight[396] / weight[395] == pytest.approx(0.35 / 0.05, rel=1e-9)


def test_what_a_factorisation_costs() -> None:
    line, thick = models.riverswim(500), models.garnet(500, 2, 5, 1, seed=0)
    costs = [factorisation_work(policy_moves(model, model.first_pair[:-1] + 1).chain()) for model in (line, thick)]
    assert costs[0] <= 500.0
    assert costs[1] > 1e6


def collecting(side: int, items: int) -> Model:
    """A grid without chance where things lie about, each to be had once before the goal takes one back to the start.

    The state is the cell and what is left: there are many ways that are all but as good as each other.
    """
    rng = np.random.default_rng(1)
    places, kinds = 1 + rng.choice(side * side - 2, items, replace=False), rng.integers(0, 3, items)
    n_states = side * side << items
    target, means = np.empty((n_states, 4), np.int64), np.zeros((n_states, 4, 3))
    for state in range(n_states):
        cell, had = state >> items, state & ((1 << items) - 1)
        for action, (down, right) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            row, column = cell // side + down, cell % side + right
            there = row * side + column if 0 <= row < side and 0 <= column < side else cell
            after = had
            for i in np.flatnonzero(places == there):
                after |= 1 << int(i)
                means[state, action, kinds[i]] += float(not had >> int(i) & 1)
            target[state, action] = 0 if there == side * side - 1 else (there << items) | after
    reached, front = np.zeros(n_states, np.bool_), np.array([0])
    while front.size:
        reached[front] = True
        front = np.unique(target[front])
        front = front[~reached[front]]
    kept = np.flatnonzero(reached)
    new = np.full(n_states, -1)
    new[kept] = np.arange(kept.size)
    p = csr_array((np.ones(4 * kept.size), new[target[kept]].ravel(), np.arange(4 * kept.size + 1)))
    return Model.from_sparse(4 * np.arange(kept.size + 1), p, means[kept].reshape(-1, 3), noise="none")


def test_a_world_without_chance_and_with_many_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps go on changing the policy; it is evaluated all the same: its transitions are certain, so that is cheap."""
    model = collecting(5, 6)
    monkeypatch.setattr(gains, "_FREE_VISITS", 1e4)
    search = GainSearch(model)
    scores = np.ascontiguousarray(model.means.sum(axis=1))
    found = search.best(scores, 1e-9)
    assert found.upper - found.lower <= 1e-9
    assert search.evaluations > 0
    assert solve(model, Linear([1.0, 1.0, 1.0]), method="program").value == pytest.approx(found.upper, abs=1e-8)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_trees_cost_nothing(n: int) -> None:
    """Trees cost nothing, a cycle a little, and what is dense the square of the size for each row."""
    rng = np.random.default_rng(n)
    tree = csr_array((np.ones(n), (np.arange(n), [int(rng.integers(0, max(1, s))) for s in range(n)])), shape=(n, n))
    assert factorisation_work(tree) == n
    ring = csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    assert factorisation_work(ring) <= 5 * n
    dense = csr_array(np.full((min(n, 100), min(n, 100)), 1.0))
    size = dense.shape[0]
    if size > 2:
        assert factorisation_work(dense) >= size**3 / 6


def test_values_of_which_one_is_not_finite_are_an_error() -> None:
    apart = csr_array(np.eye(2))
    with pytest.raises(SolverError, match="not finite"):
        discounted_values(apart, np.array([1.0, np.inf]), 0.5)
