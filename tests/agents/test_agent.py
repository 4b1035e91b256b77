"""The agent step by step: its protocol, its errors, its records."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise.confidence.nonzero import list_arrays
from tests.invariants import assert_invariants

K = 3
TARGET = [0.4, 0.3, 0.3]


def small_agent(**options) -> tuple[eq.Model, eq.TocUCRL2]:
    model = eq.models.garnet(4, 2, 2, K, seed=1)
    return model, eq.TocUCRL2(model.space, eq.rewards.Quadratic(TARGET), **options)


def snapshot(agent: eq.TocUCRL2) -> list[bytes]:
    return [
        part.tobytes()
        for part in (*list_arrays(agent.loop.arrays.counts), *agent.loop.arrays.memory, *agent.episode_record)
    ]


def drive(model, agent, steps, seed=0):
    world = model.world(seed)
    actions = []
    for _ in range(steps):
        actions.append(agent.act(world.state))
        agent.observe(*world.step(actions[-1]))
    return actions


def test_a_space_made_by_hand_is_enough():
    space = eq.Space(n_actions=[2, 3, 1], n_outcomes=2, start=1)
    agent = eq.TocUCRL2(space, eq.rewards.Quadratic([0.5, 0.5]))
    rng = np.random.default_rng(0)
    state = 1
    for _ in range(500):
        action = agent.act(state)
        assert 0 <= action < space.n_actions[state]
        state = int(rng.integers(3))
        agent.observe(rng.random(2), state)
    assert_invariants(agent)


def test_defaults_are_the_papers():
    _, agent = small_agent()
    assert isinstance(agent.oracle, o.FrankWolfe)
    assert isinstance(agent.confidence, eq.confidence.Bernstein)
    assert agent.tolerance is None
    agent.act(0)
    assert agent.loop.arrays.memory.drift_state["threshold"][0] == agent.reward.lipschitz


@pytest.mark.parametrize(
    ("reward", "oracle"),
    [
        (eq.rewards.TargetSquared(TARGET), "FrankWolfe()"),
        (eq.rewards.Linear([1.0, 0.0, 0.5]), "FrankWolfe()"),
        (eq.rewards.Balance(TARGET), "TunedGradientDescent()"),
        (eq.rewards.TargetDistance(TARGET, 2), "TunedGradientDescent()"),
        (eq.rewards.TargetDistance(TARGET, 1), "Doubling(mirror_map=Box())"),
        (eq.rewards.TargetDistance(TARGET, math.inf), "Doubling(mirror_map=SlackSimplex())"),
        (eq.rewards.BottomSum(K, 2), "Doubling(mirror_map=SignedSimplex())"),
        (eq.rewards.Knapsack(K, 0.5), "Doubling(mirror_map=SlackSimplex())"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else None,
)
def test_default_oracle_fits_the_reward(reward, oracle):
    model = eq.models.garnet(4, 2, 2, K, seed=1)
    agent = eq.TocUCRL2(model.space, reward)
    assert repr(agent.oracle) == oracle
    drive(model, agent, 300)
    assert_invariants(agent)


def test_nothing_is_there_before_the_first_plan():
    _, agent = small_agent()
    assert agent.t == 1
    assert agent.episode_starts.size == 0
    for name in ("policy", "gain", "bias"):
        with pytest.raises(eq.EquipoiseError, match=f"{name}: nothing has been planned yet"):
            getattr(agent, name)


def test_what_is_shown_cannot_be_changed_from_outside():
    model, agent = small_agent()
    drive(model, agent, 10)
    before = snapshot(agent)
    for name in ("theta", "policy", "bias", "average", "visits", "episode_starts"):
        getattr(agent, name)[:] = 7
    assert snapshot(agent) == before


class TestProtocol:
    def test_acting_twice(self):
        _, agent = small_agent()
        agent.act(0)
        before = snapshot(agent)
        with pytest.raises(eq.EquipoiseError, match=r"act: the action of time 1 has not been observed yet"):
            agent.act(0)
        assert snapshot(agent) == before

    def test_observing_without_acting(self):
        model, agent = small_agent()
        with pytest.raises(eq.EquipoiseError, match=r"observe: no action is waiting at time 1"):
            agent.observe([0, 0, 0], 0)
        drive(model, agent, 3)
        before = snapshot(agent)
        with pytest.raises(eq.EquipoiseError, match=r"no action is waiting at time 4"):
            agent.observe([0, 0, 0], 0)
        assert snapshot(agent) == before

    def test_a_message_names_a_few_of_many_outcomes(self):
        agent = eq.TocUCRL2(eq.Space([1], 50), eq.rewards.Quadratic([0.1] * 50))
        agent.act(0)
        with pytest.raises(eq.EquipoiseError, match=r"in the order outcome_0, .*, outcome_7, \.\.\.$"):
            agent.observe({"sales": 1.0}, 0)

    @pytest.mark.parametrize(
        ("outcomes", "state", "message"),
        [
            ([0.0, 1.5, 0.0], 0, r"outcomes, outcome 1: got 1.5"),
            ([0.0, 0.0, -0.1], 0, r"outcomes, outcome 2: got -0.1"),
            ([math.nan, 0.0, 0.0], 0, r"outcomes, outcome 0: got nan"),
            ([0.0, math.inf, 0.0], 0, r"outcomes, outcome 1: got inf"),
            ([0.0, 1.0], 0, r"outcomes: got shape \(2,\); 3 numbers are needed"),
            ("high", 0, "outcomes: got 'high'"),
            ({"a": 0.0}, 0, "a vector of numbers is needed, in the order outcome_0, outcome_1, outcome_2"),
            ([0.0, 1.0, 0.0], 4, "next_state: got 4; a whole number from 0 to 3"),
            ([0.0, 1.0, 0.0], -1, "next_state: got -1"),
            ([0.0, 1.0, 0.0], 1.0, "next_state: got 1.0; a whole number"),
            ([0.0, 1.0, 0.0], True, "next_state: got True"),
        ],
    )
    def test_bad_observations_change_nothing(self, outcomes, state, message):
        model, agent = small_agent()
        drive(model, agent, 5)
        agent.act(agent.state)
        before = snapshot(agent)
        with pytest.raises(eq.EquipoiseError, match=message):
            agent.observe(outcomes, state)
        assert snapshot(agent) == before
        agent.observe([0.0, 1.0, 0.0], 2)
        assert agent.t == 7

    def test_acting_in_another_state_than_observed(self):
        model, agent = small_agent()
        with pytest.raises(eq.EquipoiseError, match="act: got state 2; the start was state 0"):
            agent.act(2)
        drive(model, agent, 4)
        other = (agent.state + 1) % 4
        with pytest.raises(eq.EquipoiseError, match=f"the next state of the last observe was state {agent.state}"):
            agent.act(other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, "delta: got 0.0"),
        ({"delta": 1.0}, "delta: got 1.0"),
        ({"delta": math.nan}, "delta: got nan"),
        ({"delta": "small"}, "delta: got 'small'"),
        ({"threshold": -0.1}, "threshold: got -0.1"),
        ({"threshold": math.nan}, "threshold: got nan"),
        ({"tolerance": 0.0}, "tolerance: got 0.0"),
        ({"tolerance": math.nan}, "tolerance: got nan"),
        ({"tolerance": math.inf}, "tolerance: got inf"),
        ({"oracle": "FrankWolfe"}, "oracle: got str; it must be of type Oracle"),
        ({"confidence": 0.95}, "confidence: got float"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(eq.EquipoiseError, match=message):
        small_agent(**options)


def test_wrong_number_of_outcomes():
    model = eq.models.star()
    with pytest.raises(eq.EquipoiseError, match="reward: it takes 2 outcomes; the space has 3"):
        eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    with pytest.raises(eq.EquipoiseError, match="Known: its model has 1 states"):
        eq.TocUCRL2(model.space, eq.rewards.Quadratic(TARGET), confidence=eq.confidence.Known(eq.models.bandit(3)))
    with pytest.raises(eq.EquipoiseError, match="space: got Model; it must be of type Space"):
        eq.TocUCRL2(model, eq.rewards.Quadratic(TARGET))


def test_a_plan_that_does_not_converge_leaves_the_agent_as_it_was():
    model = eq.models.riverswim(6)
    options = {"confidence": eq.confidence.Known(model), "tolerance": 1e-12}
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), **options, planner=eq.planning.Planner(limit=3))
    before = snapshot(agent)
    with pytest.raises(eq.errors.ConvergenceError, match="after 3 sweeps"):
        agent.act(0)
    agent.loop.arrays.memory.clock["phase"] = 0  # the phase has begun, and nothing else
    assert snapshot(agent) == before
    agent.__dict__["planner"] = eq.planning.Planner()
    good = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), **options)
    assert drive(model, agent, 50) == drive(model, good, 50)


def test_linear_reward_is_ucrl2_whatever_the_threshold():
    """With a linear g theta never moves, so Q does not matter: the schedule is UCRL2's, the regions the paper's."""
    model = eq.models.riverswim(5)
    runs = []
    for threshold in (0.0, 1e-9, None, math.inf):
        agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), threshold=threshold)
        actions = drive(model, agent, 3000, seed=4)
        assert_invariants(agent)
        assert set(agent.episode_record.ended.tolist()) == {0, 2}
        runs.append((actions, agent.episode_starts.tolist(), agent.episode_record.gain.tolist()))
    assert all(run == runs[0] for run in runs)


def test_doubling_restarts_at_powers_of_two():
    model = eq.models.garnet(3, 2, 2, K, seed=0)
    for inherit in (False, True):
        agent = eq.TocUCRL2(model.space, eq.rewards.BottomSum(K, 1), o.Doubling(o.SignedSimplex(), inherit=inherit))
        drive(model, agent, 200)
        starts, ended = agent.episode_starts, agent.episode_record.ended
        restarts = starts[1:][ended[:-1] == 4]
        assert restarts.tolist() == [2**h - 1 for h in range(2, 8)]
        assert_invariants(agent)
        assert agent.visits.sum() == (200 if inherit else 200 - (2**7 - 2))


def test_attributes_that_a_user_sees():
    """What only loops of your own need is in `loop`."""
    kind = eq.TocUCRL2
    shown = {name for name in dir(kind) if not name.startswith("_") and not callable(getattr(kind, name))}
    assert shown - {"injected", "implicit_kind"} == {
        "absorbed", "average", "best_possible", "bias", "caveat", "constraints", "drift", "episode_record",
        "episode_starts", "episodes", "gain", "horizon", "loop", "pending", "policy", "proves", "state", "t", "theta",
        "visits",
    }  # fmt: skip
