"""What a run is compared with, and how it is shown."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ParameterError

MODEL = eq.models.garnet(5, 3, 3, 3, seed=8)
REWARD = eq.rewards.Quadratic([0.4, 0.3, 0.3])


def run(model=MODEL, reward=REWARD, steps=200, **options):
    return eq.simulate(model, eq.recommended(model.space, reward), steps, seed=3, **options)


def test_regret_is_that_of_the_same_problem():
    best = eq.solve(MODEL, REWARD)
    ours = run()
    assert np.array_equal(ours.regret(best), best.value - ours.values)
    assert np.array_equal(ours.regret(best.value), ours.regret(best))
    twin = eq.Model.from_sparse(MODEL.first_pair, MODEL.transitions(), MODEL.means)
    assert np.array_equal(ours.regret(eq.solve(twin, REWARD)), ours.regret(best))
    with pytest.raises(ParameterError, match="optimum of another world"):
        ours.regret(eq.solve(eq.models.garnet(5, 3, 3, 3, seed=9), REWARD))
    with pytest.raises(ParameterError, match="the run was judged by"):
        ours.regret(eq.solve(MODEL, eq.rewards.Quadratic([0.4, 0.3, 0.2])))


def test_a_reward_that_changes_with_time_is_compared_with_its_limit():
    model = eq.models.riverswim(3).visits()
    ours = run(model, eq.rewards.Entropy(3))
    assert ours.regret(eq.solve(model, eq.rewards.Entropy(3))).size == ours.t.size
    assert ours.regret(eq.solve(model, eq.rewards.Entropy(3, 0.01))).size == ours.t.size


def test_a_frame_has_a_row_a_checkpoint_and_the_names_of_the_outcomes():
    model = eq.Model.from_sparse(
        MODEL.first_pair, MODEL.transitions(), MODEL.means, labels=eq.Labels(outcomes=["fill", "wait", "cost"])
    )
    ours = run(model, checkpoints=[10, 200])
    frame = ours.frame(best=1.0)
    assert frame.columns == ["t", "value", "certified", "regret", "fill", "wait", "cost"]
    assert np.array_equal(frame.select("fill", "wait", "cost").to_numpy(), ours.outcomes)
    assert frame["regret"].to_list() == [1.0 - value for value in ours.values]
    assert run().frame().columns == ["t", "value", "certified", "outcome_0", "outcome_1", "outcome_2"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: eq.TocUCRL2(MODEL.space, REWARD),
        lambda: eq.TocUCRL2(MODEL.space, eq.rewards.BottomSum(3, 1)),
        lambda: eq.agents.baselines.StationaryAgent(MODEL.space, REWARD, seed=4),
    ],
    ids=["Frank-Wolfe", "doubling", "stationary"],
)
def test_a_trace_is_of_the_same_trajectory(make):
    plain, agent = make(), make()
    fast = eq.simulate(MODEL, plain, 300, seed=3)
    first = eq.simulate(MODEL, agent, 100, seed=3, trace=True)
    second = eq.simulate(MODEL, agent, 200, seed=3, trace=True)
    assert fast.trace is None
    assert second.outcomes[-1].tobytes() == fast.outcomes[-1].tobytes()
    assert second.episodes.equals(fast.episodes)
    trace = first.trace.vstack(second.trace)
    assert trace["t"].to_list() == list(range(1, 301))
    assert trace["next_state"].to_list()[:-1] == trace["state"].to_list()[1:]
    world = MODEL.world(3)
    for row in trace.iter_rows(named=True):
        outcomes, after = world.step(row["action"])
        assert ([row[f"outcome_{k}"] for k in range(3)], row["next_state"]) == (outcomes.tolist(), after)


def test_a_trace_shows_labels_beside_numbers():
    model = eq.models.star(2, 2)
    trace = run(model, eq.rewards.Quadratic([0.5, 0.5]), 20, trace=True).trace
    labels = model.labels
    for row in trace.iter_rows(named=True):
        assert row["state_label"] == str(labels.state(row["state"]))
        assert row["next_state_label"] == str(labels.state(row["next_state"]))
        assert row["action_label"] == str(labels.action(row["state"], row["action"]))


def test_what_ctrl_c_does_is_one_of_two():
    with pytest.raises(ParameterError, match="interrupt: got 'stop'"):
        run(interrupt="stop")


def test_what_is_certified_with_constraints_is_about_the_penalised_reward():
    """After one step the average has all of the reward and breaks its limit; a run must not stop for that."""
    model = eq.models.bandit(2)
    goal = eq.rewards.Constrained(eq.rewards.Linear([1.0, 0.0]), [eq.rewards.at_least(1, 0.25, model)], price=5.0)
    agent = eq.recommended(model.space, goal)
    eq.simulate(model, agent, 1, progress=False)
    assert agent.best_possible - goal.reward.value(agent.average) <= 0.05
    assert agent.best_possible - goal.value(agent.average) > 1.0
    assert not eq.Certified(regret=0.05).reached(agent)
    agent = eq.recommended(model.space, goal)
    run = eq.simulate(model, agent, 20_000, until=eq.Certified(regret=0.05), progress=False)
    assert run.status == "certified"
    assert run.certified[-1] <= 0.05
    assert run.violations[goal.names[0]][-1] <= 0.05
