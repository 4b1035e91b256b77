"""Learning from what others did: counts as if one had been there, and nothing else changed."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.errors import LogError, ProtocolError

MODEL = eq.models.garnet(5, 2, 3, n_outcomes=2, seed=3)
REWARD = eq.rewards.Quadratic([0.7, 0.7])
RULES = [eq.confidence.Bernstein(), eq.confidence.Adaptive(), eq.confidence.EmpiricalBernstein(), eq.confidence.L1()]


def log_of(steps, seed=0, model=MODEL):
    old = eq.agents.baselines.StationaryAgent(model.space, REWARD, seed=seed)
    return eq.simulate(model, old, steps, seed, trace=True, progress=False).trace


def counts_of(agent):
    counts = agent.machine.counts
    blocks = {}
    for pair in range(agent.space.n_pairs):
        part = slice(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair])
        blocks[pair] = sorted(zip(counts.pool_state[part].tolist(), counts.pool_count[part].tolist(), strict=True))
    return (counts.visits + counts.fresh).tolist(), counts.sums.tolist(), counts.squares.tolist(), blocks


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_counts_are_those_of_one_who_was_there(rule):
    """An agent that saw the same rows as steps has the same counts; its regions too, at the same time."""
    log = log_of(3000)
    agent = eq.TocUCRL2(MODEL.space, REWARD, confidence=rule)
    assert agent.absorb(log) == 3000
    visits = np.zeros(MODEL.n_pairs)
    sums = np.zeros((MODEL.n_pairs, 2))
    pairs = MODEL.first_pair[log["state"].to_numpy()] + log["action"].to_numpy()
    np.add.at(visits, pairs, 1)
    np.add.at(sums, pairs, log.select(MODEL.space.outcome_names()).to_numpy())
    seen = counts_of(agent)
    assert seen[0] == visits.tolist()
    assert np.array(seen[1]) == pytest.approx(sums)
    for pair, block in seen[3].items():
        there = log.filter(pl.Series(pairs == pair))["next_state"].value_counts(sort=False)
        assert block == sorted(zip(there["next_state"].to_list(), there["count"].to_list(), strict=True))
    assert agent.t == 1
    assert not agent.average.any()
    assert agent.rules.tau_origin == -3000  # rows are time, for radii that grow with it


def test_in_pieces_between_steps_and_from_a_file(tmp_path):
    log = log_of(4000)
    whole, pieces, file = (eq.recommended(MODEL.space, REWARD) for _ in range(3))
    whole.absorb(log)
    for part in log.iter_slices(700):
        pieces.absorb(part)
    log.write_parquet(tmp_path / "log.parquet")
    file.absorb(tmp_path / "log.parquet")
    assert counts_of(whole)[0] == counts_of(pieces)[0] == counts_of(file)[0]
    runs = [eq.simulate(MODEL, agent, 500, seed=5, progress=False) for agent in (whole, file)]
    assert runs[0].outcomes.tobytes() == runs[1].outcomes.tobytes()
    action = whole.act(whole.state)
    whole.absorb(log)  # between act and observe
    whole.observe([0.5, 0.5], 1)
    assert sum(counts_of(whole)[0]) == 8501
    assert 0 <= action < 2
    whole.act(1)


def test_it_is_kept(tmp_path):
    agent = eq.recommended(MODEL.space, REWARD)
    agent.absorb(log_of(1000))
    eq.simulate(MODEL, agent, 300, progress=False)
    agent.save(tmp_path / "agent.npz")
    again = eq.TocUCRL2.load(tmp_path / "agent.npz")
    one, other = (eq.simulate(MODEL, a, 2000, seed=1, progress=False) for a in (agent, again))
    assert one.outcomes.tobytes() == other.outcomes.tobytes()
    assert again.rules.tau_origin == -1000
    twin = __import__("copy").deepcopy(agent)
    assert twin.rules.tau_origin == -1000


def test_nothing_is_half_absorbed():
    agent = eq.recommended(MODEL.space, REWARD)
    agent.absorb(log_of(100))
    before, planned = counts_of(agent), agent.act(0)
    bad = log_of(1000).with_columns(next_state=pl.Series([*[0] * 999, 9]))
    with pytest.raises(LogError, match="row 1000: next_state: there is no 9"):
        agent.absorb(bad)
    assert counts_of(agent) == before
    agent.observe([0.0, 0.0], 0)
    assert planned == planned


@pytest.mark.slow
def test_a_log_helps():
    """The certificate of an agent that begins with a log is lower than that of one that does not."""
    river = eq.models.riverswim(6)
    goal = eq.rewards.Linear([1.0])
    agent, other = (eq.recommended(river.space, goal) for _ in range(2))
    explorer = eq.recommended(river.space, goal)
    agent.absorb(eq.simulate(river, explorer, 50_000, trace=True, progress=False).trace)
    runs = [eq.simulate(river, each, 2000, seed=3, progress=False) for each in (agent, other)]
    assert runs[0].certified[-1] < 0.3 * runs[1].certified[-1]
    assert runs[0].values[-1] > runs[1].values[-1]


def test_who_cannot():
    with pytest.raises(ProtocolError, match="RoundRobin keeps no counts"):
        eq.agents.baselines.RoundRobin(MODEL.space, REWARD).absorb(log_of(10))
    forgetful = eq.TocUCRL2(MODEL.space, eq.rewards.BottomSum(2, 1))
    with pytest.raises(ProtocolError, match="forgets everything at each of its restarts"):
        forgetful.absorb(log_of(10))


def test_under_budgets():
    model = eq.models.pricing()
    agent = eq.KnapsackAgent(model.space, 0.25, 1000, 0, confidence=eq.confidence.Adaptive())
    log = log_of(2000, model=model) if model.n_outcomes == 2 else None
    assert log is not None
    assert agent.absorb(log) == 2000
    eq.simulate(model, agent, 1000, progress=False)
    assert agent.inventory.min() >= 0
    bad = log.with_columns(
        pl.when(pl.col("action") == 0).then(1.0).otherwise(pl.col(model.space.outcome_names()[0])).alias(
            model.space.outcome_names()[0]
        )
    )  # fmt: skip
    with pytest.raises(LogError, match="is a null action, and yields or consumes something"):
        eq.KnapsackAgent(model.space, 0.25, 1000, 0).absorb(bad)


def test_resuming_after_a_gap():
    river = eq.models.riverswim(3)
    agent = eq.recommended(river.space, eq.rewards.Linear([1.0]))
    eq.simulate(river, agent, 100, progress=False)
    visits = agent.visits.sum()
    agent.act(agent.state)
    agent.resume(2)  # the action that was under way is forgotten
    assert (agent.t, agent.state, agent.pending) == (101, 2, False)
    assert agent.visits.sum() == visits
    agent.observe([0.0], 1 + 0 * agent.act(2))
    assert agent.t == 102
    with pytest.raises(ProtocolError, match="state: got 3"):
        agent.resume(3)
    budgeted = eq.KnapsackAgent(eq.models.pricing().space, 0.25, 1000, 0)
    budgeted.act(budgeted.state)
    budgeted.resume(1)
    budgeted.observe([0.0] * budgeted.space.n_outcomes, 0 * budgeted.act(1))
    assert budgeted.t == 2


def test_certify():
    log = log_of(50_000)
    best = eq.solve(MODEL, REWARD)
    certificate = eq.certify(MODEL.space, REWARD, log, delta=0.1)
    assert certificate.probability == 0.9
    assert certificate.t == 50_000
    average = log.select(MODEL.space.outcome_names()).mean().row(0)
    assert certificate.achieved == pytest.approx(REWARD.value(np.array(average)))
    assert best.value <= certificate.best_possible <= best.value + 0.05
    assert not math.isnan(certificate.regret_at_most)
    with pytest.raises(eq.errors.ParameterError, match="are not proven"):
        eq.certify(MODEL.space, REWARD, log, confidence=eq.confidence.PosteriorSampling())
    with pytest.raises(eq.errors.ParameterError, match="strictly between 0 and 1"):
        eq.certify(MODEL.space, REWARD, log, delta=1.0)
