"""A plan that takes long is paused for Ctrl-C, and goes on where it was: the trajectory does not know."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import equipoise as eq
from equipoise.planning import evi


def star_agent(planner: eq.planning.Planner | None = None) -> eq.TocUCRL2:
    model = eq.models.star(3, 4)
    return eq.TocUCRL2(
        model.space, eq.rewards.Quadratic([4 / 3] * 3), threshold=0.0, confidence=eq.confidence.Known(model),
        tolerance=1e-6, planner=planner,
    )  # fmt: skip


CASES = {
    "paper's": lambda: (eq.models.star(3, 4), None, 2000),
    "known": lambda: (eq.models.star(3, 4), star_agent(), 60),
    "leaps": lambda: (eq.models.star(3, 4), star_agent(eq.planning.Planner(leaps=True)), 200),
    "warm": lambda: (eq.models.star(3, 4), star_agent(eq.planning.Planner(warm_start=True)), 60),
    "drawn": lambda: _drawn(),
    "mechanics": lambda: _mechanics(),
}


def _drawn():
    model = eq.models.riverswim(6)
    return model, eq.recommended(model.space, eq.rewards.Linear([1.0]), guarantee=False, seed=3), 3000


def _mechanics():
    shop = eq.mechanics.inventory()
    return shop.model(), eq.recommended(shop.space, eq.rewards.TargetSquared([0.9] * shop.space.n_outcomes)), 300


def walked(case: str) -> tuple[eq.TocUCRL2, eq.Run]:
    model, agent, steps = CASES[case]()
    if agent is None:
        agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    return agent, eq.simulate(model, agent, steps, seed=2)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sweeps", [1, 2])
def test_paused_plans_make_the_same_trajectory(case, sweeps, monkeypatch):
    whole, run = walked(case)
    monkeypatch.setattr(evi, "sweeps_per_call", lambda size: sweeps)
    monkeypatch.setattr("equipoise.agents.phase.sweeps_per_call", lambda size: sweeps)
    paused, again = walked(case)
    assert paused.loop.constants.pause == sweeps
    assert again.episodes.equals(run.episodes)
    assert again.episodes["sweeps"].max() > sweeps  # some plan was paused
    assert np.array_equal(again.outcomes, run.outcomes)
    assert np.array_equal(paused.bias, whole.bias)
    assert np.array_equal(paused.loop.arrays.memory.stream, whole.loop.arrays.memory.stream)


def slow_agent() -> tuple[eq.Model, eq.TocUCRL2]:
    """Its first plan takes minutes: two loops differ by 1e-9, which value iteration finds out in a billion sweeps."""
    model = eq.models.star(3, 4)
    reward = eq.rewards.Linear([0.5, 0.5 + 1e-9, 0.5])
    planner = eq.planning.Planner(limit=10**9)
    known = eq.confidence.Known(model)
    return model, eq.TocUCRL2(model.space, reward, confidence=known, tolerance=1e-10, planner=planner)


def interrupt_after(seconds: float) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_inside_a_plan_is_heard_within_a_second():
    model, agent = slow_agent()
    interrupt_after(0.3)
    began = time.perf_counter()
    run = eq.simulate(model, agent, 10, seed=1, interrupt="return")
    assert time.perf_counter() - began < 5.0  # it is a tenth of that on a machine that does nothing else
    assert run.status == "interrupted"
    assert run.steps == 0
    assert agent.loop.arrays.work.progress["sweeps"][0] > 0  # it was in the midst of a plan
    assert agent.t == 1


def test_act_can_be_interrupted_and_called_again():
    _, agent = slow_agent()
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        agent.act(0)
    done = int(agent.loop.arrays.work.progress["sweeps"][0])
    assert done > 0
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        agent.act(0)
    assert int(agent.loop.arrays.work.progress["sweeps"][0]) > done  # it went on


def test_a_log_read_in_the_midst_of_a_plan_begins_the_plan_anew(monkeypatch):
    monkeypatch.setattr("equipoise.agents.phase.sweeps_per_call", lambda size: 1)
    model = eq.models.riverswim(5)
    reward = eq.rewards.Linear([1.0])
    log = eq.simulate(model, eq.agents.baselines.StationaryAgent(model.space, reward), 500, seed=1, trace=True).trace
    agents = [eq.recommended(model.space, reward) for _ in range(2)]
    paused = agents[0]
    with paused.loop.exclusive():
        while not paused.loop.arrays.work.progress["sweeps"][0]:
            paused.advance(model, eq.models.world.stream(model, 5, paused.t), 1)
    steps = paused.t - 1
    assert steps > 0
    eq.simulate(model, agents[1], steps, seed=5)
    for agent in agents:
        agent.absorb(log)
        eq.simulate(model, agent, 500, seed=5)
    assert np.array_equal(agents[0].bias, agents[1].bias)
    assert agents[0].gain == agents[1].gain
    assert agents[0].episode_starts.tolist() == agents[1].episode_starts.tolist()
