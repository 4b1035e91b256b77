"""The compiled loop: equal to stepping by hand, resumable, interruptible, reproducible."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise import oracles as o
from equipoise._runtime import progress
from equipoise.confidence.nonzero import list_arrays
from equipoise.simulation import log_spaced
from tests.invariants import assert_invariants

K = 3
TARGET = [0.4, 0.3, 0.3]


def makers():
    """Agents of every kind, by name, for worlds with three outcomes."""
    rewards = eq.rewards
    return {
        "FW": lambda space: eq.TocUCRL2(space, rewards.Quadratic(TARGET)),
        "TGD": lambda space: eq.TocUCRL2(space, rewards.Balance(TARGET)),
        "TMD-ball": lambda space: eq.TocUCRL2(
            space, rewards.TargetDistance(TARGET, 2), o.TunedMirrorDescent(o.EuclideanBall(), 10**6)
        ),
        "TMD-box": lambda space: eq.TocUCRL2(
            space, rewards.TargetDistance(TARGET, 1), o.TunedMirrorDescent(o.Box(), 10**6)
        ),
        "TMD-simplex": lambda space: eq.TocUCRL2(
            space, rewards.BottomSum(K, 2), o.TunedMirrorDescent(o.SignedSimplex(), 10**6)
        ),
        "doubling": lambda space: eq.TocUCRL2(space, rewards.Knapsack(K, 0.4)),
        "doubling-inherit": lambda space: eq.TocUCRL2(
            space, rewards.BottomSum(K, 1), o.Doubling(o.CrossPolytope(), inherit=True)
        ),
        "Q=0": lambda space: eq.TocUCRL2(space, rewards.Quadratic(TARGET), threshold=0.0),
        "Q=inf": lambda space: eq.TocUCRL2(space, rewards.Quadratic(TARGET), threshold=math.inf),
    }


def state_of(agent: eq.TocUCRL2) -> list[bytes]:
    """Every bit that decides what comes next, the unused end of the pool apart."""
    used = int(agent.loop.arrays.counts.pool["used"][0])
    counts = agent.loop.arrays.counts._replace(
        pool_state=agent.loop.arrays.counts.pool_state[:used], pool_count=agent.loop.arrays.counts.pool_count[:used]
    )
    return [part.tobytes() for part in (*list_arrays(counts), *agent.loop.arrays.memory, *agent.episode_record)]


@pytest.mark.parametrize("name", makers())
def test_simulating_is_stepping_by_hand(name):
    model = eq.models.garnet(6, 2, 4, K, seed=3)
    by_hand, simulated = makers()[name](model.space), makers()[name](model.space)
    world = model.world(seed=9)
    steps = 300 if name == "Q=0" else 3000
    for _ in range(steps):
        action = by_hand.act(world.state)
        by_hand.observe(*world.step(action))
    run = eq.simulate(model, simulated, steps, seed=9)
    assert state_of(simulated) == state_of(by_hand)
    assert run.t[-1] == steps
    assert np.array_equal(run.outcomes[-1], by_hand.average)
    assert_invariants(simulated)


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(1, 999), max_size=4, unique=True), name=st.sampled_from(sorted(makers())))
def test_going_on_is_never_having_stopped(cuts, name):
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    whole, pieces = makers()[name](model.space), makers()[name](model.space)
    full = eq.simulate(model, whole, 1000, seed=2)
    parts = []
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), 1000], strict=True):
        parts.append(eq.simulate(model, pieces, end - begin, seed=2))
    assert state_of(whole) == state_of(pieces)
    assert full.episodes.equals(parts[-1].episodes)
    assert np.array_equal(full.outcomes[-1], parts[-1].outcomes[-1])


def test_stepping_by_hand_in_the_midst_of_a_simulation():
    model = eq.models.garnet(5, 2, 3, K, seed=8)
    whole, mixed = (makers()["FW"](model.space) for _ in range(2))
    eq.simulate(model, whole, 900, seed=2)
    eq.simulate(model, mixed, 300, seed=2)
    world = model.world(2, mixed.t, mixed.state)
    for _ in range(300):
        mixed.observe(*world.step(mixed.act(world.state)))
    eq.simulate(model, mixed, 300, seed=2)
    assert state_of(whole) == state_of(mixed)


@pytest.mark.slow
def test_one_seed_one_trajectory_in_another_process():
    code = (
        "import equipoise as eq, hashlib\n"
        "m = eq.models.garnet(6, 2, 4, 3, seed=3)\n"
        "a = eq.TocUCRL2(m.space, eq.rewards.Quadratic([.4, .3, .3]))\n"
        "r = eq.simulate(m, a, 5000, seed=7)\n"
        "print(hashlib.sha256(r.outcomes.tobytes() + a.theta.tobytes() + a.bias.tobytes()).hexdigest())\n"
    )
    results = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(results) == 1
    model = eq.models.garnet(6, 2, 4, 3, seed=3)
    agent = makers()["FW"](model.space)
    other = eq.simulate(model, agent, 5000, seed=8)
    agent = makers()["FW"](model.space)
    again = eq.simulate(model, agent, 5000, seed=7)
    assert not np.array_equal(other.outcomes, again.outcomes)


def test_checkpoints():
    model = eq.models.bandit(3)
    agent = makers()["FW"](model.space)
    run = eq.simulate(model, agent, 1000, seed=0)
    assert {1, 10, 100, 1000} <= set(run.t.tolist())
    assert run.outcomes.shape == (run.t.size, K)
    assert run.values.tolist() == [agent.reward.value(w) for w in run.outcomes]
    more = eq.simulate(model, agent, 500, seed=0, checkpoints=[1001, 1200, 1450])
    assert more.t.tolist() == [1001, 1200, 1450]
    assert agent.t == 1501
    assert more.episodes["length"].sum() == 1500
    assert more.episodes["start"].to_list() == agent.episode_starts.tolist()
    np.testing.assert_array_equal(run.regret(1.0), 1.0 - run.values)


@given(first=st.integers(1, 10**6), extra=st.integers(0, 10**8))
def test_log_spaced_times(first, extra):
    times = log_spaced(first, first + extra)
    assert times[-1] == first + extra
    assert times[0] >= first
    assert np.all(np.diff(times) > 0)
    powers = [10**i for i in range(9) if first <= 10**i <= first + extra]
    assert set(powers) <= set(times.tolist())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps: got 0; a whole number >= 1"),
        ({"steps": -5}, "steps: got -5"),
        ({"steps": 2.5}, "steps: got 2.5"),
        ({"steps": True}, "steps: got True"),
        ({"seed": -1}, "seed: got -1"),
        ({"seed": "x"}, "seed: got 'x'"),
        ({"checkpoints": 5}, "checkpoints: got 5; a sequence"),
        ({"checkpoints": [1.5]}, "checkpoints: got 1.5"),
        ({"checkpoints": [5, 5]}, "checkpoints: they must increase"),
        ({"checkpoints": [3, 5, 4]}, "checkpoints: they must increase"),
        ({"checkpoints": [0, 5]}, "lie in 1 to 10"),
        ({"checkpoints": [5, 11]}, "lie in 1 to 10"),
        ({"model": eq.models.star(3, 4)}, "the number of states is 1 here and 7 there"),
        ({"model": "star"}, "model: got str"),
        ({"agent": None}, "agent: got NoneType"),
    ],
)
def test_bad_calls_take_no_step(change, message):
    model = eq.models.bandit(3)
    agent = makers()["FW"](model.space)
    before = state_of(agent)
    arguments = {"model": model, "agent": agent, "steps": 10, "seed": 0} | change
    with pytest.raises(eq.EquipoiseError, match=message):
        eq.simulate(**arguments)
    assert state_of(agent) == before


def test_a_world_that_does_not_communicate_is_refused_by_name():
    model = eq.Model.from_arrays([[[0.5, 0.5, 0]], [[0, 0, 1.0]], [[0, 1.0, 0]]], [[[0.0]], [[0.5]], [[1.0]]])
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]))
    with pytest.raises(eq.EquipoiseError, match="from state 1 no policy reaches state 0"):
        eq.simulate(model, agent, 10)


def test_a_pending_action_and_a_short_horizon_are_refused():
    model = eq.models.bandit(3)
    agent = makers()["FW"](model.space)
    agent.act(0)
    with pytest.raises(eq.EquipoiseError, match="has not been observed yet"):
        eq.simulate(model, agent, 10)
    agent = eq.TocUCRL2(model.space, eq.rewards.BottomSum(3, 1), o.TunedMirrorDescent(o.SignedSimplex(), 100))
    eq.simulate(model, agent, 60)
    with pytest.raises(eq.EquipoiseError, match="60 taken and 41 asked for, but the agent is made for 100"):
        eq.simulate(model, agent, 41)
    eq.simulate(model, agent, 40)


@pytest.mark.parametrize("interrupt", ["raise", "return"])
def test_ctrl_c_ends_a_run_with_what_is_done(interrupt):
    model = eq.models.bandit(3)
    agent = makers()["FW"](model.space)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    if interrupt == "return":
        run = eq.simulate(model, agent, 10**11, seed=0, interrupt="return")
    else:
        with pytest.raises(KeyboardInterrupt, match="interrupted after") as caught:
            eq.simulate(model, agent, 1e11, seed=0)
        run = caught.value.run
    timer.join()
    assert run.status == "interrupted"
    assert 0 < run.steps == agent.t - 1 < 10**11
    assert np.all(np.diff(run.t) > 0)
    assert run.t[-1] == run.steps  # where it was interrupted is recorded
    assert np.array_equal(run.outcomes[-1], agent.average)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    twin = makers()["FW"](model.space)
    eq.simulate(model, twin, run.steps, seed=0)
    assert state_of(twin) == state_of(agent)


def test_progress_bar_appears_on_long_runs_only(capsys, monkeypatch):
    model = eq.models.bandit(3)
    eq.simulate(model, makers()["FW"](model.space), 1000, progress=True)
    assert "simulating" not in capsys.readouterr().err
    monkeypatch.setattr(progress, "_SHOW_AFTER", 0.0)
    eq.simulate(model, makers()["FW"](model.space), 1000, progress=False)
    assert "simulating" not in capsys.readouterr().err
    eq.simulate(model, makers()["FW"](model.space), 1000, progress=True)
    assert "simulating" in capsys.readouterr().err


def test_one_agent_in_two_threads_is_refused():
    model = eq.models.bandit(3)
    agent = makers()["FW"](model.space)
    with agent.loop.exclusive(), pytest.raises(eq.EquipoiseError, match="in use by another thread"):
        eq.simulate(model, agent, 10)
    eq.simulate(model, agent, 10)


def test_a_gradient_that_is_not_finite_is_told():
    """Where the sampled checks could not see it: the run stops, and says where."""
    reward = eq.rewards.Custom(
        2,
        lambda w: 1 - (w**2).sum() / 2,
        lambda w: -w if w[0] < 0.9 else np.array([np.nan, 0.0]),
        norm=2,
        lipschitz=2.0,
        smoothness=1.0,
        samples=0,
    )
    raising = eq.rewards.Custom(
        2, lambda w: 1 - (w**2).sum() / 2, _raising, norm=2, lipschitz=2.0, smoothness=1.0, samples=0
    )
    model = eq.Model.from_arrays([[[1.0]]], [[[1.0, 0.0]]], noise="none")
    for bad in (reward, raising):
        agent = eq.TocUCRL2(model.space, bad)
        with pytest.raises(eq.EquipoiseError, match=r"average outcomes \[1.0, 0.0\], theta is"):
            eq.simulate(model, agent, 1000)


def _raising(w):
    if w[0] > 0.9:
        raise ValueError("no")
    return -w


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(sorted(makers())),
    n_states=st.integers(1, 8),
    n_actions=st.integers(1, 3),
)
def test_invariants_on_random_worlds(seed, name, n_states, n_actions):
    model = eq.models.garnet(n_states, n_actions, min(3, n_states), K, seed=seed)
    agent = makers()[name](model.space)
    eq.simulate(model, agent, 100 if name == "Q=0" else 2000, seed=seed)
    assert_invariants(agent)


# Erratum 9 in docs/paper.md: g(w) = sum_k w_k - (w_k - 1/K)^2 / 2 on the star, the model known, exact plans.
ERRATUM_9 = {
    0.0: {10**2: 0.831, 10**3: 0.816, 10**4: 0.816},  # a plan at every step, which takes long
    1.0: {10**2: 0.360, 10**3: 0.137, 10**4: 0.048, 10**5: 0.016},
    math.inf: {10**2: 0.340, 10**3: 0.334, 10**4: 0.333, 10**5: 0.333},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "steps"),
    [(0.0, 10**3), pytest.param(0.0, 10**4, marks=pytest.mark.slow), (1.0, 10**5), (math.inf, 10**5)],
)
def test_regret_of_the_known_star(threshold, steps):
    model = eq.models.star(branches=3, diameter=4)
    reward = eq.rewards.Custom(
        n_outcomes=3,
        value=lambda w: (w - 0.5 * (w - 1 / 3) ** 2).sum(),
        gradient=lambda w: 1 + 1 / 3 - w,
        conjugate_argmax=lambda theta: np.minimum(1.0, np.maximum(0.0, theta + 4 / 3)),
        norm=2,
        lipschitz=math.sqrt(3) * 4 / 3,
        smoothness=1.0,
    )
    # at Q = 0 a plan from zero takes thousands of sweeps: start each from the last
    planner = eq.planning.Planner(warm_start=threshold == 0.0, relaxation=1.0)
    known = eq.confidence.Known(model)
    agent = eq.TocUCRL2(model.space, reward, threshold=threshold, confidence=known, tolerance=1e-9, planner=planner)
    expected = {t: regret for t, regret in ERRATUM_9[threshold].items() if t <= steps}
    assert max(expected) == steps
    run = eq.simulate(model, agent, steps, seed=0)
    found = dict(zip(run.t.tolist(), run.regret(1.0), strict=True))
    for t, regret in expected.items():
        assert found[t] == pytest.approx(regret, abs=0.00051)
    assert_invariants(agent)
