"""Learning from what others did: counts as if one had been there, and nothing else changed."""

from __future__ import annotations

import copy
import math

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import empty_counts
from equipoise.confidence.intervals import count_log
from equipoise.errors import LogError, ProtocolError

MODEL = eq.models.garnet(5, 2, 3, n_outcomes=2, seed=3)
REWARD = eq.rewards.Quadratic([0.7, 0.7])
RULES = [eq.confidence.Bernstein(), eq.confidence.Adaptive(), eq.confidence.EmpiricalBernstein(), eq.confidence.L1()]


def log_of(steps, seed=0, model=MODEL, reward=REWARD):
    old = eq.agents.baselines.StationaryAgent(model.space, reward, seed=seed)
    return eq.simulate(model, old, steps, seed, trace=True, progress=False).trace


def counts_of(agent):
    counts = agent.loop.arrays.counts
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
    assert agent.loop.constants.tau_offset == -3000  # rows are time, for radii that grow with it


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
    whole.absorb(log, again=True)  # between act and observe
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
    assert again.loop.constants.tau_offset == -1000
    twin = __import__("copy").deepcopy(agent)
    assert twin.loop.constants.tau_offset == -1000


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
    """The certified regret of an agent that begins with a log is less than half of that of one that does not."""
    river = eq.models.riverswim(6)
    goal = eq.rewards.Linear([1.0])
    agent, other = (eq.recommended(river.space, goal) for _ in range(2))
    explorer = eq.recommended(river.space, goal)
    agent.absorb(eq.simulate(river, explorer, 50_000, trace=True, progress=False).trace)
    runs = [eq.simulate(river, each, 2000, seed=3, progress=False) for each in (agent, other)]
    assert runs[0].certified[-1] < 0.5 * runs[1].certified[-1]
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
    with pytest.raises(LogError, match="a null action must yield and consume nothing"):
        eq.agents.KnapsackTocUCRL2(model.space, 0.25, 1000, 0).absorb(bad)
    names = model.space.outcome_names()
    consumes = log.with_columns(pl.when(pl.col("action") == 0).then(1.0).otherwise(pl.col(names[1])).alias(names[1]))
    agent = eq.KnapsackAgent(model.space, 0.25, 1000, 0)
    with pytest.raises(LogError, match="a null action must consume nothing"):
        agent.absorb(consumes)
    assert agent.absorb(log) == 2000  # nothing of the other was taken


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


# -- the order of rows, and their time ---------------------------------------------------------------------------

ORDERS = {
    "as it happened": lambda log: log,
    "backwards": lambda log: log.reverse(),
    "sorted": lambda log: log.sort("state", "action", "next_state"),
    "new ones first": lambda log: log.sort(pl.col("next_state").cum_count().over("state", "action", "next_state")),
}


def wheel(pockets):
    """A wheel that stops at itself half of the time, and else in one of many pockets."""
    hub = pockets  # with the highest number, so that to sort the rows puts what is common last
    branches = [[[(1.0, hub, [0.0])]] for _ in range(pockets)]
    branches.append([[(0.5, hub, [0.0]), *((0.5 / pockets, s, [0.0]) for s in range(pockets))]])
    return eq.Model.from_branches(branches, start=hub)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_order_of_the_rows_changes_no_region(rule):
    model = wheel(40)
    log = log_of(400, model=model, reward=eq.rewards.Linear([1.0]))
    regions = []
    for order in ORDERS.values():
        counts, rows, _ = count_log(empty_counts(model.space, rule), order(log), model.space)
        region = build_region(rule, model.space, counts, rows + 1, 0.05, logged=True)
        listed = [
            sorted(zip(*(part[region.first[p] : region.first[p + 1]] for part in region[1:4]), strict=True))
            for p in range(model.n_pairs)
        ]
        regions.append((listed, *(part.tolist() for part in region[4:7])))
    assert all(region == regions[0] for region in regions)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("logged", [True, False])
def test_no_order_hides_what_was_never_seen(order, logged):
    """Sorted, the last rows of a pair are all alike, as if it had long had no new successor."""
    model, rule = wheel(500), eq.confidence.Adaptive()
    hub = model.n_pairs - 1
    for seed in range(5):
        log = ORDERS[order](log_of(400, seed, model, eq.rewards.Linear([1.0])))
        counts, rows, _ = count_log(empty_counts(model.space, rule), log, model.space)
        region = build_region(rule, model.space, counts, rows + 1, 0.05, logged=logged)
        seen = region.successor[region.first[hub] : region.first[hub + 1]]
        unseen = (500 - np.count_nonzero(seen < 500)) * 0.5 / 500
        assert unseen <= region.rest_sum[hub]


@pytest.mark.parametrize("order", ORDERS)
def test_a_log_in_parts_is_the_whole_log(order):
    """The last part of a sorted log has nothing new, as if nothing new had been seen for long."""
    model, rule = wheel(40), eq.confidence.Adaptive()
    log = ORDERS[order](log_of(400, model=model, reward=eq.rewards.Linear([1.0])))
    whole, _, _ = count_log(empty_counts(model.space, rule), log, model.space)
    parts = empty_counts(model.space, rule)
    for part in log.iter_slices(70):
        parts, _, _ = count_log(parts, part, model.space)
    one, other = (build_region(rule, model.space, counts, 401, 0.05, logged=True) for counts in (whole, parts))
    assert one.rest_sum.tolist() == other.rest_sum.tolist()


def test_what_a_log_proves_of_the_mass_never_seen():
    """By sets of successors, at any order: its level is what the bound by time leaves of delta/2."""
    model, rule, delta = wheel(30), eq.confidence.Adaptive(), 0.05
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=rule, delta=delta)
    log = pl.DataFrame({"state": [30] * 90, "action": 0, "outcome_0": 0.0, "next_state": [30] * 80 + [1, 2] * 5})
    agent.absorb(log)
    S, j, first = 31, 3, delta / (2 * model.n_pairs * 3 * 4)
    second = first / (S * math.comb(S, j))

    def bound():
        counts = agent.loop.arrays.counts
        return build_region(rule, model.space, counts, 1, delta, logged=True).rest_sum[-1]

    assert bound() == pytest.approx(1 - second ** (1 / 90), rel=1e-9)
    for _ in range(50):
        agent.act(30)
        agent.observe([0.0], 30)
    assert bound() == pytest.approx(min(1 - second ** (1 / 140), 1 - first ** (1 / 50)), rel=1e-9)
    agent.absorb(log.head(60))  # with nothing new: its rows are no visits since the last that was
    assert bound() == pytest.approx(min(1 - second ** (1 / 200), 1 - first ** (1 / 50)), rel=1e-9)
    used = sum(1 / (i * (i + 1)) for i in range(1, S))  # with all S seen there is nothing left to bound
    assert used + 1 / S == pytest.approx(1)


def test_the_threshold_that_moves_has_the_time_of_theta():
    """The anytime entropy: theta has the slope of mu(t), and no step is taken with a drift above L of mu(t)."""
    model = eq.models.star(3, 2).visits()
    goal = eq.rewards.Entropy(model.n_states)
    agent = eq.TocUCRL2(model.space, goal, confidence=eq.confidence.Adaptive())
    agent.absorb(log_of(2000, model=model, reward=goal))
    world, ended = model.world(seed=3), 0
    for _ in range(300):
        above = agent.t > 1 and agent.drift > goal.at(agent.t).lipschitz
        episodes = len(agent.episode_starts) if agent.t > 1 else 0
        action = agent.act(world.state)
        ended += above
        assert len(agent.episode_starts) > episodes or not above
        agent.observe(*world.step(action))
    assert ended > 5


def test_a_threshold_that_follows_time_has_the_clock_of_the_agent():
    agent = eq.TocUCRL2(MODEL.space, REWARD, threshold=eq.agents.Power(0.5, 2.0), confidence=eq.confidence.Adaptive())
    agent.absorb(log_of(3000))
    agent.act(0)
    assert agent.loop.arrays.memory.drift_state["threshold"][0] == 2.0


# -- twice -------------------------------------------------------------------------------------------------------


def test_a_log_is_absorbed_once(tmp_path):
    log = log_of(500)
    agent = eq.recommended(MODEL.space, REWARD)
    agent.absorb(log)
    agent.save(tmp_path / "agent.npz")
    log.write_csv(tmp_path / "log.csv")
    for one in (agent, eq.TocUCRL2.load(tmp_path / "agent.npz"), copy.deepcopy(agent)):
        before = counts_of(one)
        for again in (log, log.reverse(), log.lazy(), tmp_path / "log.csv"):
            with pytest.raises(LogError, match=r"the same 500 rows were absorbed before.*again=True"):
                one.absorb(again)
        assert counts_of(one) == before
        assert one.absorb(log.head(499)) == 499  # other rows, as far as it can tell
        assert one.absorb(log_of(500, seed=1)) == 500
        assert one.absorb(log, again=True) == 500
        assert sum(counts_of(one)[0]) == 1999
