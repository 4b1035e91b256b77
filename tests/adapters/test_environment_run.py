"""Agents in environments of which no model is made: states numbered as they are met, ends, truncations, Ctrl-C."""

import os
import signal
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import equipoise as eq
from equipoise.adapters import Drive, DriveInterrupted, drive, model_from, to_gymnasium
from equipoise.errors import AdapterError, ProtocolError


class Corridor(gymnasium.Env):
    """0 ... 4; action 1 goes to the right, 0 to the left. At the right an episode ends, and pays 1 in outcome 1.

    Outcome 0 is paid at the left end.
    """

    observation_space = spaces.Box(-10.0, 10.0, (1,), np.float64)
    action_space = spaces.Discrete(2)
    reward_space = spaces.Box(0.0, 2.0, (2,), np.float64)

    def __init__(self, limit=None):
        self.limit, self.at, self.clock = limit, 0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.clock = 0, 0
        return self.observed(), {}

    def observed(self):
        return np.array([self.at / 2])

    def step(self, action):
        self.clock += 1
        paid = np.array([2.0 * (self.at == 0), 0.0])
        self.at = max(0, self.at + (1 if action else -1))
        ended = self.at == 5
        paid[1] = 2.0 * ended
        return self.observed(), paid, ended, self.clock == self.limit, {}


class RightOnly(eq.Agent):
    """An agent in plain Python that always takes action 1, and keeps nothing."""

    def choose(self, state):
        return 1


BALANCE = eq.rewards.BottomSum(2, kappa=1)


def recommended(space):
    return eq.recommended(space, BALANCE)


def test_states_are_numbered_as_they_are_met():
    run = drive(Corridor(), recommended, 300)
    assert isinstance(run, Drive)
    assert run.states[0] == (0.0,)
    assert set(run.states) == {(x / 2,) for x in range(5)}
    assert run.agent.space.n_states == len(run.states)
    assert run.agent.space.labels.states == run.states
    assert run.agent.space.labels.outcomes == ("reward 0", "reward 1")
    assert run.status == "done"
    assert run.steps == run.t[-1] == 300
    assert np.isnan(run.certified).all()  # over the states met so far nothing is proven


def test_averages_are_those_of_the_log_whatever_agents_there_were():
    run = drive(Corridor(), recommended, 500, checkpoints=[10, 77, 500])
    rows = run.log.select("reward 0", "reward 1").to_numpy()
    assert run.t.tolist() == [10, 77, 500]
    for t, average, value in zip(run.t, run.outcomes, run.values, strict=True):
        assert average == pytest.approx(rows[:t].mean(axis=0))
        assert value == pytest.approx(min(average))
    assert run.frame().columns == ["t", "value", "certified", "reward 0", "reward 1"]


def test_the_log_is_one_that_the_package_reads():
    run = drive(Corridor(), recommended, 2_000)
    guess = eq.Model.estimate(run.log, run.agent.space)
    truth = model_from(Corridor())
    order = [truth.labels.state_index(label) for label in run.states]
    for s, label in enumerate(run.states):
        for a in range(2):
            row = truth.transitions().toarray()[truth.pair(order[s], a)]
            assert guess.transitions().toarray()[guess.pair(s, a)] == pytest.approx(row[order]), (label, a)


def test_it_learns_what_can_be_had():
    """To stay at the left brings outcome 0, to walk brings outcome 1 every five steps."""
    best = eq.solve(model_from(Corridor()), BALANCE)
    run = drive(Corridor(), recommended, 6_000)
    assert best.value - run.values[-1] < 0.05
    assert best.value - run.values[-1] > -1e-9
    assert run.resets > 100


def test_an_end_leads_to_the_start_and_a_truncation_nowhere():
    agent = RightOnly(eq.Space([2] * 5, 2), BALANCE)
    run = drive(Corridor(), agent, 20, checkpoints=[20])
    assert run.resets == 4
    log = run.log.select("state", "next_state").rows()
    assert log == [(s, (s + 1) % 5) for s in range(5)] * 4
    truncated = drive(Corridor(limit=3), RightOnly(eq.Space([2] * 5, 2), BALANCE), 20)
    log = truncated.log.select("state", "next_state").rows()
    assert truncated.resets == 0
    assert log == ([(0, 1), (1, 2), (2, 3)] * 7)[:20]  # from 3 nothing follows: the next row is where it began again


def test_a_limit_of_time_is_left_out_while_it_lasts():
    """It would set both flags where an episode ends just then, and the end would be taken for a state."""
    env = gymnasium.wrappers.TimeLimit(Corridor(), 5)
    run = drive(env, RightOnly(eq.Space([2] * 5, 2), BALANCE), 50)
    assert run.resets == 10
    assert len(run.states) == 5
    env.reset()
    assert [env.step(0)[3] for _ in range(5)] == [False] * 4 + [True]


def test_an_agent_of_the_model_drives_the_environment():
    model, reward = model_from(Corridor()), eq.rewards.Quadratic([0.5, 0.1])  # half of the steps at the left
    agent = eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Known(model), tolerance=1e-6)
    run = drive(Corridor(), agent, 3_000)
    assert run.agent is agent
    assert run.states == model.labels.states
    assert eq.solve(model, reward).value == pytest.approx(1.0)
    assert run.values[-1] > 0.99
    assert np.isfinite(run.certified).all()  # it was told all states


def test_it_is_the_same_as_a_simulation():
    """In the environment of a model, an agent does what `simulate` does with the same seed, to the last bit."""
    plain = eq.models.garnet(8, 2, 2, 2, seed=3)
    labels = eq.Labels(states=range(8))
    model = eq.Model.from_sparse(plain.first_pair, plain.transitions(), plain.means, labels=labels)
    driven, simulated = (eq.TocUCRL2(model.space, BALANCE) for _ in range(2))
    run = drive(to_gymnasium(model), driven, 1_000, seed=5)
    other = eq.simulate(model, simulated, 1_000, seed=5)
    assert run.outcomes.tolist() == other.outcomes.tolist()
    assert np.array_equal(run.certified, other.certified, equal_nan=True)
    assert driven.state == simulated.state


def test_with_constraints_it_reports_what_a_simulation_does():
    """Values without the penalty, violations apart, and what is certified of the penalised reward."""
    plain = eq.models.garnet(8, 2, 2, 2, seed=3)
    labels = eq.Labels(states=range(8))
    model = eq.Model.from_sparse(plain.first_pair, plain.transitions(), plain.means, labels=labels)
    goal = eq.rewards.Constrained(eq.rewards.Linear([1.0, 0.0]), [eq.rewards.at_least(1, 0.6, model)], price=2.0)
    driven, simulated = eq.recommended(model.space, goal), eq.recommended(model.space, goal)
    run = drive(to_gymnasium(model), driven, 1_000, seed=5, checkpoints=[10, 100, 1_000])
    other = eq.simulate(model, simulated, 1_000, seed=5, checkpoints=[10, 100, 1_000])
    assert run.outcomes.tolist() == other.outcomes.tolist()
    assert run.values == pytest.approx(other.values)
    assert run.values == pytest.approx(run.outcomes[:, 0])
    assert run.certified == pytest.approx(other.certified)
    (name,) = goal.names
    assert run.violations[name] == pytest.approx(other.violations[name])
    assert run.violations[name].max() > 0.0
    assert run.constraints == other.constraints
    assert run.constraints[0].violation == run.violations[name][-1]
    assert f"violation of {name}" in run.frame().columns


def test_it_goes_on_where_it_was():
    whole = drive(Corridor(), recommended, 400, checkpoints=[400])
    parts = drive(env := Corridor(), recommended, 150)
    parts = drive(env, parts, 250, checkpoints=[400])
    assert parts.steps == 250
    assert parts.outcomes.tolist() == whole.outcomes.tolist()


def test_what_is_asked_for_wrongly():
    with pytest.raises(AdapterError, match=r"a run goes on as it began"):
        drive(Corridor(), drive(Corridor(), recommended, 5), 5, episodes=True)
    with pytest.raises(AdapterError, match=r"agent: got str; an agent is needed, or a function that makes one"):
        drive(Corridor(), "recommended", 10)
    with pytest.raises(AdapterError, match=r"its space has 3 actions in state 1; the environment has 2"):
        drive(Corridor(), RightOnly(eq.Space([2, 3], 2), BALANCE), 10)
    with pytest.raises(AdapterError, match=r"its space has 3 outcomes; the environment has 2: reward 0, reward 1"):
        drive(Corridor(), RightOnly(eq.Space([2], 3), eq.rewards.BottomSum(3, 1)), 10)
    with pytest.raises(AdapterError, match=r"agent: the function, which is given a space, raised TypeError"):
        drive(Corridor(), eq.TocUCRL2, 10)
    with pytest.raises(AdapterError, match=r"must return an agent that is made for the space"):
        drive(Corridor(), lambda space: RightOnly(eq.Space([2, 2], 2), BALANCE), 10)
    with pytest.raises(AdapterError, match=r"steps: got 0"):
        drive(Corridor(), recommended, 0)
    with pytest.raises(AdapterError, match=r"interrupt: got 'stop'"):
        drive(Corridor(), recommended, 10, interrupt="stop")
    with pytest.raises(AdapterError, match=r"env: got int"):
        drive(3, recommended, 10)
    with pytest.raises(AdapterError, match=r"reward: the environment does not declare its range; give ranges="):
        drive(gymnasium.make("CliffWalking-v1"), recommended, 10)


def test_a_run_is_shown_in_one_line():
    run = drive(Corridor(), recommended, 20)
    assert repr(run).startswith(f"Drive(done, t=20, value={run.values[-1]:.6g}, {len(run.states)} states, ")
    assert "\n" not in repr(run)


def test_states_beyond_the_room_are_refused():
    with pytest.raises(AdapterError, match=r"state \(1\.0,\): there is room for 2 states only; a function that makes"):
        drive(Corridor(), RightOnly(eq.Space([2] * 2, 2), BALANCE), 10)
    labelled = eq.Space([2] * 2, 2, labels=eq.Labels(states=[(0.0,), (0.5,)]))
    with pytest.raises(AdapterError, match=r"state \(1\.0,\): the agent's space has labels for its states"):
        drive(Corridor(), RightOnly(labelled, BALANCE), 10)
    with pytest.raises(AdapterError, match=r"room for 3 states only; give limit="):
        drive(Corridor(), recommended, 1_000, limit=3)


def test_an_agent_that_cannot_absorb_cannot_grow():
    with pytest.raises(ProtocolError, match="keeps no counts"):
        drive(Corridor(), lambda space: RightOnly(space, BALANCE), 10)


def test_ctrl_c_leaves_everything_whole():
    env = Corridor()
    signalled = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    signalled.start()
    with pytest.raises(DriveInterrupted) as caught:
        drive(env, recommended, 10**9)
    run = caught.value.run
    assert run.status == "interrupted"
    assert 0 < run.steps < 10**9
    assert run.t[-1] == run.steps == run.log.height
    more = drive(env, run, 100)
    assert more.t[-1] == run.steps + 100
