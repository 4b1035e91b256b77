"""Playing a known optimum: its value is reached, also where it has several recurrent classes."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.agents import Optimum

CASES = {
    "three classes": (eq.models.star(3, 4), eq.rewards.Balance([0.5, 0.3, 0.2])),
    "one class": (eq.models.scheduler(), eq.rewards.BottomSum(3, 1)),
    "classes and chance": (eq.models.sites(), eq.rewards.BottomSum(3, 1)),
    "linear": (eq.models.riverswim(6), eq.rewards.Linear([1.0])),
}


def optimum(name):
    model, reward = CASES[name]
    best = eq.solve(model, reward)
    return best, best.agent(model.space)


@pytest.mark.parametrize("name", CASES)
def test_the_optimum_is_reached_at_the_rate_of_the_theorem(name):
    best, agent = optimum(name)
    run = eq.simulate(best.model, agent, 100_000, seed=3, checkpoints=[1_000, 10_000, 100_000], progress=False)
    regret = run.regret(best)
    assert regret[-1] <= 0.012
    assert np.abs(run.outcomes[-1] - best.outcomes).max() <= 0.02
    assert regret[-1] <= 0.5 * regret[0] + 0.003


def test_one_stationary_policy_stays_in_a_class_and_the_agent_does_not():
    best, agent = optimum("three classes")
    model = best.model
    stationary = eq.agents.baselines.StationaryAgent(model.space, best.reward, best.policy())
    runs = [eq.simulate(model, each, 20_000, progress=False).regret(best)[-1] for each in (agent, stationary)]
    assert runs[0] < 0.05 < 0.3 < runs[1]


def test_saved_in_the_middle_of_a_round_it_goes_on_alike(tmp_path):
    best, whole = optimum("classes and chance")
    _, parts = optimum("classes and chance")
    model = best.model
    eq.simulate(model, whole, 1_000, seed=1, progress=False)
    for steps in (1, 99, 900):
        parts.save(tmp_path / "agent.npz")
        parts = Optimum.load(tmp_path / "agent.npz")
        eq.simulate(model, parts, steps, seed=1, progress=False)
    np.testing.assert_array_equal(whole.average, parts.average)
    by_hand, world = optimum("classes and chance")[1], model.world(seed=1)
    for _ in range(1_000):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    np.testing.assert_array_equal(whole.average, by_hand.average)


def follow(file, model, steps, seed):
    """Play the turns of a saved table by its rule alone, and average the outcomes."""
    table = json.loads(file.read_text(encoding="utf-8"))
    n, distance = table["turns"], table["distance"]
    rows = {}
    for row in table["policy"]:
        rows.setdefault((row["turn"], row["state"]), []).append(row)
    shares = {row["turn"]: row["share"] for row in table["policy"]}
    world, rng, total = model.world(seed=seed), np.random.default_rng(seed), np.zeros(model.n_outcomes)
    turn, left = n - 1, 0
    for t in range(1, steps + 1):
        if left <= 0:
            turn = (turn + 1) % n
            if turn == 0:
                length = max(n * distance, 2 * np.sqrt(n * distance * t))
            left = round(shares[turn] * length)
        state = world.state
        here = rows[turn, model.labels.state(state)]
        chosen = here[rng.choice(len(here), p=[row["probability"] for row in here])]
        left -= chosen["inside"]
        actions = [model.labels.action(state, a) for a in range(model.space.n_actions[state])]
        total += world.step(actions.index(chosen["action"]))[0]
    return total / steps


@pytest.mark.parametrize("name", ["three classes", "classes and chance"])
def test_the_saved_turns_reach_the_optimum_by_their_rule_alone(name, tmp_path):
    best, agent = optimum(name)
    average = follow(agent.save_policy(tmp_path / "turns.json"), best.model, 20_000, seed=5)
    assert best.value - best.reward.value(average) < 0.05


@pytest.mark.parametrize("name", CASES)
def test_turns_are_a_table_of_policies(name, tmp_path):
    best, agent = optimum(name)
    table = agent.frame()
    turns = table.group_by("turn").agg(pl.col("share").first(), pl.col("distance").first())
    assert turns["share"].sum() == pytest.approx(1.0, abs=1e-5)
    assert (turns["distance"] >= 1.0).all()
    totals = table.group_by("turn", "state").agg(pl.col("probability").sum(), pl.col("action").n_unique(), pl.len())
    assert totals["probability"].to_list() == pytest.approx([1.0] * totals.height)
    assert (totals["action"] == totals["len"]).all()
    assert totals.height == turns.height * best.model.n_states  # a row for every state, wherever the system may be
    read = pl.read_csv(agent.save_policy(tmp_path / "turns.csv"))
    assert read.columns == table.columns
    assert read["probability"].to_list() == pytest.approx(table["probability"].to_list())


def test_distances_of_a_star_are_those_between_its_ends():
    _, agent = optimum("three classes")
    np.testing.assert_allclose(agent.frame()["distance"], 4.0, atol=0.01)  # a plan of the way is that exact


def test_an_optimum_with_constraints_is_played():
    model = eq.models.inventory()
    outcomes = list(model.space.outcome_names())
    goal = eq.rewards.Constrained(
        eq.rewards.Linear(np.eye(len(outcomes))[0]), [eq.rewards.at_least(1, 0.5, outcomes)], price=5.0
    )
    best = eq.solve(model, goal)
    run = eq.simulate(model, best.agent(model.space), 50_000, progress=False)
    assert np.abs(run.outcomes[-1] - best.outcomes).max() < 0.02


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"occupancy": np.zeros(15)}, "occupancy: its least entry is 0 and the sum 0"),
        ({"occupancy": np.zeros(3)}, r"occupancy: got shape \(3,\); 15 finite numbers"),
        ({"theta": np.full(3, np.nan)}, "theta: got shape"),
        ({"theta": "abc"}, "theta: not a vector of numbers"),
        ({"model": 3}, "model: got int"),
        ({"model": eq.models.sites()}, "Known: its model has 10 states"),
    ],
)
def test_what_will_not_do_is_refused(wrong, said):
    model, reward = CASES["three classes"]
    best = eq.solve(model, reward)
    given = {"model": model, "occupancy": best.occupancy, "theta": best.theta}
    with pytest.raises(eq.EquipoiseError, match=said):
        Optimum(model.space, reward, **{**given, **wrong})
