"""Maximum entropy by doubling (section 6.2): one agent that restarts is a sequence of agents that know their T."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise import oracles as o
from equipoise.agents.steering import Steering

S = 4


def world() -> eq.Model:
    """Nothing is random, so that an agent begun anew sees what one that restarts sees."""
    transitions = np.zeros((S, 2, S))
    for s in range(S):
        transitions[s, 0, (s + 1) % S] = 1.0
        transitions[s, 1, max(0, s - 1)] = 1.0
    return eq.Model.from_arrays(transitions, np.zeros((S, 2, 1)), noise="none").visits()


def begun_at(model: eq.Model, state: int) -> eq.Model:
    pairs = [(int(s), int(pair - model.first_pair[s])) for pair, s in enumerate(model.state_of)]
    return eq.Model.from_sparse(model.first_pair, model.transitions(), model.means, state, "none", pairs)


def test_it_is_a_sequence_of_runs_with_mu_and_Q_of_their_own():
    """delta/2^h, mu = 1/(S^(2/3) 2^(h/3)) and Q = L_mu in mega-episode h, written down on their own."""
    model, phases = world(), 8
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(S), o.DoublingFrankWolfe(), delta=0.1)
    trace = eq.simulate(model, agent, 2 ** (phases + 1) - 2, trace=True, progress=False).trace
    actions, state = [], model.start
    for h in range(1, phases + 1):
        mu = 1.0 / (S ** (2 / 3) * 2.0 ** (h / 3))
        reward = eq.rewards.Entropy(S, mu)
        own = begun_at(model, state)
        alone = eq.TocUCRL2(own.space, reward, o.FrankWolfe(), threshold=reward.lipschitz, delta=0.1 * 0.5**h)
        run = eq.simulate(own, alone, 2**h, trace=True, progress=False)
        actions += run.trace["action"].to_list()
        state = alone.state
    assert trace["action"].to_list() == actions
    assert trace["t"][-1] == len(actions)


def test_the_regret_falls_and_the_sum_over_phases_bounds_it():
    """T Reg(T) <= the sum over mega-episodes of l(h) Reg_h, as the entropy is concave."""
    model, phases = world(), 13
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(S), o.DoublingFrankWolfe())
    ends = [2 ** (h + 1) - 2 for h in range(1, phases + 1)]
    run = eq.simulate(model, agent, ends[-1], checkpoints=ends, progress=False)
    totals = run.outcomes * np.array(ends)[:, None]
    judge = eq.rewards.Entropy(S)
    parts = np.diff(np.concatenate([np.zeros((1, S)), totals]), axis=0)
    lengths = parts.sum(axis=1)
    owed = np.cumsum([n * (1.0 - judge.value(part / n)) for n, part in zip(lengths, parts, strict=True)])
    assert np.all(np.array(ends) * run.regret(1.0) <= owed + 1e-9)
    assert run.regret(1.0)[-1] < 0.25 * run.regret(1.0)[4]


def test_what_the_bound_says_and_that_it_holds():
    from equipoise.theory import bounds
    from equipoise.theory.maximum_entropy import doubled_entropy_regret, refined_regret

    model = world()
    facts = bounds.Facts.of(model)
    one = doubled_entropy_regret(facts, 2, 0.1)
    first = eq.rewards.Entropy(S).at(2)
    alone = refined_regret(facts, bounds.Setting(reward=first, delta=0.05), 2).value + S * first.mu / np.log(S)
    assert one == pytest.approx(alone, rel=1e-12)
    agent = eq.TocUCRL2(model.space, eq.rewards.Entropy(S), o.DoublingFrankWolfe())
    run = eq.simulate(model, agent, 20_000, progress=False)
    shares = run.regret(1.0) / [doubled_entropy_regret(facts, int(t)) for t in run.t]
    assert np.all(shares <= 1.0)
    at = [doubled_entropy_regret(facts, T) for T in (10**12, 10**15)]
    assert np.log10(at[1] / at[0]) / 3.0 == pytest.approx(-1 / 3, abs=0.05)


def test_steering_takes_q_of_the_mega_episode():
    steering = Steering(eq.rewards.Entropy(3), o.DoublingFrankWolfe())
    for t in range(1, 40):
        h = int(np.log2(t + 1.0))
        steering.observe(np.eye(3)[t % 3])
        assert steering._constants.threshold == eq.rewards.Entropy(3).at(2**h).lipschitz
        steering.turn()


def test_it_is_kept_and_named_by_a_study(tmp_path):
    from equipoise.studies.vocabulary import make_agent

    model = world()
    table = {"kind": "TocUCRL2", "oracle": {"kind": "DoublingFrankWolfe", "inherit": True}}
    agent = make_agent(table, model, eq.rewards.Entropy(S), 100, 0, "agent")
    eq.simulate(model, agent, 77, progress=False)
    agent.save(tmp_path / "a.npz")
    twin = eq.TocUCRL2.load(tmp_path / "a.npz")
    for one in (agent, twin):
        eq.simulate(model, one, 100, progress=False)
    assert agent.oracle == twin.oracle == o.DoublingFrankWolfe(inherit=True)
    assert agent.theta.tobytes() == twin.theta.tobytes()
    assert agent.certificate().best_possible >= 1.0 - 1e-9  # of H, not of the H_mu of a mega-episode
