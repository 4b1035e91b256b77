"""A formula is plain data: it can be saved with an agent, named in a study, and read again to the last bit."""

from __future__ import annotations

import json
import pickle

import cvxpy as cp
import numpy as np

import equipoise as eq
from equipoise.rewards import Expression, from_cvxpy
from equipoise.studies import make_plan, read_study


def test_a_saved_agent_goes_on(tmp_path):
    model = eq.models.star(3, 2)
    w = cp.Variable(3)
    reward = from_cvxpy(cp.sum(cp.log(w + 0.05)) - cp.sum_squares(w - 1 / 3), w)
    agent = eq.TocUCRL2(model.space, reward)
    eq.simulate(model, agent, steps=500, seed=3)
    agent.save(tmp_path / "agent.npz")
    again = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert again.reward == reward
    assert again.reward is not reward
    assert np.array_equal(again.reward.params, reward.params)
    runs = [eq.simulate(model, one, steps=500, seed=3) for one in (agent, again)]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)


def test_arguments_and_pickles():
    g = Expression("min(w) - 0.1 * norm(w - [0.1, 0.2])", 2, norm=1)
    again = Expression(**json.loads(json.dumps(g.arguments())))
    assert again == g
    assert np.array_equal(again.params, g.params)
    thawed = pickle.loads(pickle.dumps(g))
    assert thawed == g
    assert thawed.value([0.5, 0.25]) == g.value([0.5, 0.25])


def test_a_study_names_it(tmp_path):
    text = """
    name = "formulas"
    steps = 300
    seeds = 2
    [[problems]]
    name = "fair"
    world = { kind = "star", branches = 2, diameter = 2 }
    reward = { kind = "Expression", maximise = "min(w) + 0.1 * sum(w)" }
    [[agents]]
    kind = "TocUCRL2"
    """
    (tmp_path / "study.toml").write_text(text)
    study = read_study(tmp_path / "study.toml")
    plan = make_plan(study)
    assert plan.problems[0].reward == Expression("min(w) + 0.1 * sum(w)", 2)


def test_parameters_are_read_once():
    w, level = cp.Variable(2), cp.Parameter(nonneg=True)
    level.value = 2.0
    g = from_cvxpy(level * cp.min(w), w)
    level.value = 5.0
    assert g.value([0.5, 0.5]) == 1.0


def test_the_variable_is_left_alone():
    w = cp.Variable((3, 1))
    w.value = np.array([[0.1], [0.2], [0.3]])
    g = from_cvxpy(cp.min(w), w)
    assert g.value([0.5, 0.25, 1.0]) == 0.25
    assert w.value.tolist() == [[0.1], [0.2], [0.3]]
    scalar = cp.Variable()
    assert from_cvxpy(cp.Maximize(cp.sqrt(scalar + 1)), scalar).value([0.0]) == 1.0
