"""Thresholds and tolerances that change from episode to episode, against the dense agent and by what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise.agents.schedules import Power, Schedule, ScheduleRule, Span
from equipoise.errors import FileError, ParameterError
from tests.agents.test_against_reference import compare
from tests.reference import oracles as ref_oracles
from tests.reference import rewards as ref_rewards
from tests.reference.toc_ucrl2 import Reference
from tests.simulation.test_simulation import state_of

K = 3
KPI = [0.7, 0.5, 0.6]
REWARD = eq.rewards.Quadratic(KPI)
L = REWARD.lipschitz
THRESHOLDS = {
    Power(0.25, scale=0.3): lambda tau, span: 0.3 * tau**0.25,
    Power(-0.4): lambda tau, span: L * tau**-0.4,
    Power(-0.5, scale=2): lambda tau, span: 2 / math.sqrt(tau),
    Power(1 / 3): lambda tau, span: L * tau ** (1 / 3),
    Span(): lambda tau, span: max(L, span),
    Span(0.25): lambda tau, span: 0.25 * max(L, span),
}
TOLERANCES = {
    Power(-0.3, scale=0.5): lambda tau: 0.5 * tau**-0.3,
    Power(-1): lambda tau: 1 / tau,
    Power(0, scale=0.01): lambda tau: 0.01,
}


def reference(model: eq.Model, **more) -> Reference:
    ref = ref_rewards.Quadratic(KPI)
    return Reference(model.n_actions, K, model.start, ref, ref_oracles.FrankWolfe(ref, K), math.nan, **more)


@pytest.mark.parametrize("schedule", THRESHOLDS, ids=repr)
def test_thresholds_against_the_dense_agent(schedule):
    model = eq.models.garnet(5, 3, 3, K, seed=11)
    agent = eq.TocUCRL2(model.space, REWARD, threshold=schedule)
    compare(model, agent, reference(model, Q_of_episode=THRESHOLDS[schedule]), steps=1500, seed=5)
    assert "gradient" in agent.episode_record.triggers()


@pytest.mark.parametrize("schedule", TOLERANCES, ids=repr)
def test_tolerances_against_the_dense_agent(schedule):
    model = eq.models.garnet(5, 3, 3, K, seed=12)
    agent = eq.TocUCRL2(model.space, REWARD, threshold=0.5, tolerance=schedule)
    dense = reference(model, Q_of_episode=lambda tau, span: 0.5, tolerance=TOLERANCES[schedule])
    compare(model, agent, dense, steps=1000, seed=5)


@pytest.mark.parametrize("inherit", [False, True])
def test_under_doubling_tau_is_the_clock_of_the_regions(inherit):
    """With fresh counts every phase begins with tau = 1."""
    model = eq.models.garnet(4, 2, 3, K, seed=13)
    bottom = ref_rewards.BottomSum(K, 2)
    reward = eq.rewards.BottomSum(K, 2)
    agent = eq.TocUCRL2(
        model.space, reward, o.Doubling(o.SignedSimplex(), inherit=inherit), Power(0.3, 0.4), tolerance=Power(-0.4)
    )

    def simplex(length: int) -> ref_oracles.Oracle:
        return ref_oracles.TunedMirrorDescent(bottom, ref_oracles.SignedSimplex(K, 2.0), length)

    dense = Reference(
        model.n_actions, K, model.start, bottom, ref_oracles.Doubling(simplex, inherit=inherit), math.nan,
        tolerance=lambda tau: tau**-0.4, Q_of_episode=lambda tau, span: 0.4 * tau**0.3,
    )  # fmt: skip
    compare(model, agent, dense, steps=1500, seed=2)


def after(steps: int = 3000, **more) -> eq.TocUCRL2:
    model = eq.models.garnet(5, 3, 3, K, seed=11)
    agent = eq.TocUCRL2(model.space, REWARD, **more)
    eq.simulate(model, agent, steps, seed=5)
    return agent


@pytest.mark.parametrize("Q", [0.05, 1.0, 3.3])
def test_the_power_zero_is_a_constant(Q):
    assert state_of(after(threshold=Power(0, scale=Q))) == state_of(after(threshold=Q))
    assert state_of(after(threshold=Power(0))) == state_of(after())


def test_the_power_of_minus_one_half_is_the_papers_tolerance():
    assert state_of(after(tolerance=Power(-0.5))) == state_of(after())
    assert state_of(after(tolerance=Power(-0.5, scale=1))) == state_of(after())
    assert state_of(after(tolerance=Power(0, scale=1e-3))) == state_of(after(tolerance=1e-3))
    assert state_of(after(tolerance=Power(-0.5, scale=0.5))) != state_of(after())


SOME = [Power(0.25, scale=0.3), Power(-0.4), Span(), Span(0.1)]


@pytest.mark.parametrize("schedule", SOME, ids=repr)
def test_the_drift_at_the_end_of_an_episode_is_just_above_the_threshold(schedule):
    """It exceeds Q_m after the last step of an episode that the gradient ended, and at no step before."""
    model = eq.models.garnet(6, 2, 2, K, seed=3)
    agent, world = eq.TocUCRL2(model.space, REWARD, threshold=schedule, tolerance=Power(-1)), model.world(4)
    drifts = [0.0]  # drifts[t]: Psi after step t
    for _ in range(3000):
        agent.observe(*world.step(agent.act(world.state)))
        drifts.append(agent.drift)
    episodes = agent.episode_record
    triggers = episodes.triggers()
    ended = 0
    for m, (start, span) in enumerate(zip(episodes.start, episodes.span, strict=True)):
        if isinstance(schedule, Span):
            Q = schedule.factor * max(L, span)
        else:
            Q = (L if schedule.scale is None else schedule.scale) * float(start) ** schedule.exponent
        end = episodes.start[m + 1] if m + 1 < len(episodes.start) else agent.t
        within = drifts[start:end]
        slack = 1e-12 * Q
        assert max(within[:-1], default=0.0) <= Q + slack
        if triggers[m] in ("gradient", "both"):
            assert within[-1] > Q - slack
            ended += triggers[m] == "gradient"
        elif triggers[m] == "visits":
            assert within[-1] <= Q + slack
    assert ended > 10


def test_the_span_counts_where_it_is_above_the_constant():
    """A known star of diameter 8: its bias has a span above L most of the time, so that the maximum is not always L."""
    model = eq.models.star(branches=3, diameter=8)
    reward = eq.rewards.Quadratic([1 / 3] * 3)
    constant = reward.lipschitz
    known = eq.confidence.Known(model)
    agent = eq.TocUCRL2(model.space, reward, threshold=Span(0.5), confidence=known, tolerance=1e-6)
    world, before = model.world(1), []
    for _ in range(5000):
        before.append(agent.drift)
        agent.observe(*world.step(agent.act(world.state)))
    episodes = agent.episode_record
    Q = 0.5 * np.maximum(constant, episodes.span)
    assert (episodes.span > constant).sum() > 10
    for m, start in enumerate(episodes.start[1:]):
        assert episodes.triggers()[m] == "gradient"
        assert before[start - 1] > Q[m] - 1e-12  # the drift with which episode m ended
        assert start - 2 < episodes.start[m] or before[start - 2] <= Q[m] + 1e-12  # and one step before
    # L in the place of the span would have ended some of them sooner
    assert any(before[start - 2] > 0.5 * constant for start in episodes.start[1:])


@pytest.mark.parametrize("schedule", SOME, ids=repr)
@pytest.mark.parametrize("tolerance", [None, Power(-0.7, scale=2.0)], ids=repr)
def test_a_file_keeps_them(tmp_path, schedule, tolerance):
    """Saved in the midst of an episode: its threshold goes on too."""
    model = eq.models.garnet(5, 3, 3, K, seed=11)
    whole = after(2000, threshold=schedule, tolerance=tolerance)
    agent = after(777, threshold=schedule, tolerance=tolerance)
    assert agent.drift > 0
    agent.save(tmp_path / "agent")
    agent = eq.TocUCRL2.load(tmp_path / "agent")
    assert (agent.threshold, agent.tolerance) == (schedule, tolerance)
    eq.simulate(model, agent, 2000 - 777, seed=5)
    assert state_of(agent) == state_of(whole)
    by_hand = eq.TocUCRL2(model.space, REWARD, threshold=schedule, tolerance=tolerance)
    world = model.world(5)
    for _ in range(2000):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    assert state_of(by_hand) == state_of(whole)


def test_a_file_with_a_schedule_that_is_none(tmp_path):
    from equipoise._files import read_npz, write_npz
    from equipoise.agents.checkpoint import VERSION

    agent = after(50, threshold=Span(), tolerance=Power(-0.7))
    agent.save(tmp_path / "agent")
    header, arrays = read_npz(tmp_path / "agent", "agent", VERSION)
    write_npz(tmp_path / "agent", arrays, header, "agent", VERSION)
    assert state_of(eq.TocUCRL2.load(tmp_path / "agent")) == state_of(agent)
    wrong = [
        {"tolerance": header["agent"]["threshold"]},
        {"threshold": {"kind": "Square", "factor": 1.0}},
        {"threshold": {"kind": "Span", "factor": -1.0}},
        {"threshold": {"kind": "Span"}},
        {"tolerance": {"kind": "Power", "exponent": 11, "scale": None}},
        {"confidence": {"kind": "Region"}},
        {"confidence": {"kind": "Confidence"}},
        {"confidence": {"kind": "Elementwise"}},
    ]
    for change in wrong:
        changed = header | {"agent": header["agent"] | change}
        write_npz(tmp_path / "agent", arrays, changed, "agent", VERSION)
        with pytest.raises(FileError):
            eq.TocUCRL2.load(tmp_path / "agent")


class Own(Schedule):
    """One of somebody else's: half of L, falling with the fourth root of time."""

    def rule(self, unit: float) -> ScheduleRule:
        return ScheduleRule(0.5 * unit, -0.25)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Power(11), "exponent"),
        (lambda: Power(math.nan), "exponent"),
        (lambda: Power("1"), "exponent"),
        (lambda: Power(0, scale=0), "scale"),
        (lambda: Power(0, scale=-1), "scale"),
        (lambda: Power(0, scale=math.inf), "scale"),
        (lambda: Power(0, scale="1"), "scale"),
        (lambda: Span(0), "factor"),
        (lambda: Span(math.inf), "factor"),
        (lambda: Span(math.nan), "factor"),
        (lambda: after(1, tolerance=Span()), "tolerance"),
        (lambda: after(1, tolerance="Power"), "tolerance"),
        (lambda: after(1, threshold="Span"), "threshold"),
        (lambda: after(1, threshold=Power), "threshold"),
        (lambda: after(1, threshold=-0.1), "threshold"),
        (lambda: after(1, threshold=math.nan), "threshold"),
        (lambda: after(1, threshold=True), "threshold"),
        (lambda: after(1, tolerance=True), "tolerance"),
        (lambda: after(1, tolerance=Own()), "tolerance"),
        (lambda: eq.TocUCRL2(eq.models.bandit(2).space, eq.rewards.Entropy(2), threshold=Power(0.1)), "threshold"),
    ],
)
def test_errors_name_the_field(make, field):
    with pytest.raises(ParameterError, match=f"^{field}: "):
        make()


def test_a_schedule_of_ones_own_is_the_power_that_it_says():
    reward = after(1).reward
    ours = after(300, threshold=Power(-0.25, 0.5 * reward.lipschitz))
    own = after(300, threshold=Own())
    assert own.episode_starts.tolist() == ours.episode_starts.tolist()
    assert own.theta.tobytes() == ours.theta.tobytes()
    assert own.episode_starts.tolist() != after(300).episode_starts.tolist()


def test_a_reward_without_a_lipschitz_constant():
    """A power takes a scale of its own; the span has a floor of one."""
    model = eq.models.riverswim(4).visits()
    reward = eq.rewards.Entropy(4)
    agent = eq.TocUCRL2(model.space, reward, threshold=Power(0.1, scale=1.0))
    eq.simulate(model, agent, 500)
    assert "gradient" in agent.episode_record.triggers()
    agent, world = eq.TocUCRL2(model.space, reward, threshold=Span()), model.world(0)
    before = []
    for _ in range(500):
        before.append(agent.drift)
        agent.observe(*world.step(agent.act(world.state)))
    episodes = agent.episode_record
    for m, trigger in enumerate(episodes.triggers()):
        if trigger == "gradient":
            assert before[episodes.start[m + 1] - 1] > max(1.0, episodes.span[m]) - 1e-12
    assert "gradient" in episodes.triggers()


def test_they_are_values():
    assert Power(0.5, 2) == Power(0.5, scale=2.0)
    assert Power(0.5) != Power(0.5, scale=1.0)
    assert Span() != Power(1)
    assert Span() == Span(1)
    assert len({Power(0.5), Power(0.5), Span(), Span(2)}) == 3
    assert np.all([eval(repr(schedule)) == schedule for schedule in SOME])
