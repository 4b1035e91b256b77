"""Agents that are told mechanics, or something of a table: files, logs, certificates, budgets, restarts."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import equipoise as eq
from equipoise.agents.slack import slack_table
from equipoise.confidence.base import build_region
from equipoise.confidence.counts import empty_counts
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.validate import true_laws
from equipoise.planning.optimistic_model import plan_optimistically


def shop(hidden: tuple[str, ...] = ()) -> eq.Mechanics:
    """Room for four; one or two may be ordered, and come after the customers."""

    def step(stock: int, order: int, demand: int) -> tuple[int, list[float]]:
        left = max(0, stock - demand)
        return min(4, left + order), [min(stock, demand) / demand if demand else 1.0, 1 - left / 4, float(order == 0)]

    return eq.Mechanics(
        step, 4, [0, 1, 2], ["fill", "low", "few"], {"demand": range(4)}, hidden=hidden, usual={"demand": DEMAND}
    )


DEMAND = [0.25, 0.375, 0.25, 0.125]
REWARD = eq.rewards.TargetSquared([0.95, 0.75, 0.8])
TABLE = eq.models.riverswim(6)


def partly_known() -> eq.Space:
    return TABLE.space.knowing(
        known_transitions={(s, 0): {max(0, s - 1): 1.0} for s in range(6)},
        same_law=[{(s, 1): [s - 1, s, s + 1] for s in range(1, 5)}],
    )


def makers():
    system = shop()
    lost = shop(hidden=("demand",))
    pay = eq.rewards.Linear([1.0])
    return {
        "paper": lambda: (eq.TocUCRL2(system.space, REWARD), system.model()),
        "recommended": lambda: (eq.recommended(system.space, REWARD), system.model()),
        "posterior": lambda: (
            eq.TocUCRL2(system.space, REWARD, confidence=eq.confidence.PosteriorSampling(seed=3)),
            system.model(),
        ),
        "ball": lambda: (eq.TocUCRL2(system.space, REWARD, confidence=eq.confidence.L1()), system.model()),
        "hidden": lambda: (eq.recommended(lost.space, REWARD), lost.model()),
        "restarts": lambda: (
            eq.TocUCRL2(system.space, REWARD, eq.oracles.Doubling(eq.oracles.EuclideanBall())),
            system.model(),
        ),
        "part of a table": lambda: (eq.recommended(partly_known(), pay), TABLE),
    }


@pytest.mark.parametrize("kind", makers())
def test_a_saved_agent_goes_on_bit_for_bit(kind, tmp_path):
    agent, model = makers()[kind]()
    eq.simulate(model, agent, 700, seed=5)
    agent.save(tmp_path / "agent.npz")
    again = eq.TocUCRL2.load(tmp_path / "agent.npz")
    assert again.space == agent.space
    for each in (agent, again):
        eq.simulate(model, each, 800, seed=5)
    assert np.array_equal(agent.average, again.average)
    assert agent.episodes.equals(again.episodes)
    assert np.array_equal(agent.visits, again.visits)


def test_files_are_checked(tmp_path):
    space = shop().space
    header, arrays = space.laws.pack()
    parts = {name: np.array(part) for name, part in arrays.items()}
    assert Laws.unpack(header, parts, space.n_states, space.n_pairs) == space.laws
    for name, place, value in (
        ("child", 0, 10**6),
        ("root", 0, -1),
        ("leaf_next", 0, space.n_states),
        ("seen_value", 0, 4),
        ("case_next", 0, -1),
        ("node_first", 1, 0),
        ("tested", 0, 1),
    ):
        broken = parts | {name: parts[name].copy()}
        broken[name][place] = value
        with pytest.raises(eq.errors.FileError, match=f"the array 'laws.{name}'"):
            Laws.unpack(header, broken, space.n_states, space.n_pairs)
    with pytest.raises(eq.errors.FileError, match="laws"):
        Laws.unpack(header, parts | {"rows": parts["rows"].astype(np.float32)}, space.n_states, space.n_pairs)


def test_a_model_keeps_its_laws_in_a_file(tmp_path):
    model = shop().model()
    model.save(tmp_path / "shop.model")
    again = eq.Model.load(tmp_path / "shop.model")
    assert again == model
    assert again.mechanics_space == model.mechanics_space
    agents = [eq.recommended(model.mechanics_space, REWARD) for _ in range(2)]
    for world, agent in zip((model, again), agents, strict=True):
        eq.simulate(world, agent, 300, seed=2)
    assert np.array_equal(agents[0].average, agents[1].average)


@pytest.mark.parametrize("hidden", [(), ("demand",)])
def test_a_log_teaches_what_observing_teaches(hidden, tmp_path):
    system = shop(hidden)
    model, watching = system.model(), eq.TocUCRL2(system.space, REWARD)
    trace = eq.simulate(model, watching, 500, seed=1, trace=True).trace
    assert ("demand" in trace.columns) == (not hidden)
    trace.write_parquet(tmp_path / "log.parquet")
    for log in (trace, tmp_path / "log.parquet"):
        reading = eq.TocUCRL2(system.space, REWARD)
        assert reading.absorb(log) == 500
        assert np.array_equal(reading.visits, watching.visits)
        for part in ("pool_state", "pool_count"):
            one, other = (getattr(agent.loop.arrays.counts, part) for agent in (reading, watching))
            assert np.array_equal(one, other)


def test_rows_that_mechanics_forbid_are_refused():
    system = shop()
    trace = eq.simulate(system.model(), eq.TocUCRL2(system.space, REWARD), 50, trace=True).trace
    agent = eq.TocUCRL2(system.space, REWARD)
    worse = trace.with_columns(
        pl.when(pl.col("t") == 7).then(1 - pl.col("fill")).otherwise(pl.col("fill")).alias("fill")
    )
    with pytest.raises(eq.errors.LogError, match=r"1 of 50 rows .* row 7: .* cannot lead to"):
        agent.absorb(worse)
    with pytest.raises(eq.errors.LogError, match="demand may have been"):
        agent.absorb(trace.drop("demand"))
    with pytest.raises(eq.errors.LogError, match="demand: 9 is not one of its values"):
        agent.absorb(trace.with_columns(demand=pl.when(pl.col("t") == 3).then(9).otherwise(pl.col("demand"))))
    assert not agent.visits.any()


def test_certificates_hold_and_are_tighter_than_those_of_the_table():
    system = shop()
    model = system.model()
    best = eq.solve(model, REWARD).value
    bounds = {}
    for told, space in (("mechanics", system.space), ("table", model.space)):
        agent = eq.recommended(space, REWARD)
        run = eq.simulate(model, agent, 3_000, seed=4)
        certificate = agent.certificate(effort=10)
        assert np.all(run.values + run.certified >= best - 1e-9)
        assert certificate.best_possible >= best - 1e-9
        bounds[told] = certificate.best_possible - best
    assert bounds["mechanics"] < 0.5 * bounds["table"]


def test_slack_adds_up_to_what_the_estimates_do_not_explain():
    """gain - the mean, over the long run of the optimistic chain, of (-theta).v^ + p^.u - u, by the estimated model."""
    system = shop()
    space, reward = system.space, eq.rewards.Linear([0.5, 0.3, 0.2])
    agent = eq.recommended(space, reward)
    eq.simulate(system.model(), agent, 400, seed=8)
    guess = system.model(demand=agent.laws()["estimate"].to_numpy())
    region = build_region(agent.confidence, space, agent.loop.arrays.counts, agent.t, agent.delta)
    belief = plan_optimistically(
        space, agent.loop.arrays.counts, region, agent.theta, 1e-10, 0.9, np.zeros(space.n_states)
    )
    pairs, share, u = belief.model.pairs, belief.model.share, belief.plan.bias
    explained = share @ (guess.means[pairs] @ -agent.theta + guess.transitions()[pairs] @ u - u)
    slack = slack_table(space, agent.loop.arrays.counts, region, belief)
    assert slack["adds"].sum() == pytest.approx(belief.plan.gain - explained, abs=1e-9)
    assert belief.plan.gain - explained > 1e-3
    assert set(slack["source"]) == {"demand"}
    assert slack["visits"].unique().to_list() == [400]


def test_what_was_learnt_is_shown_beside_the_truth():
    system = shop(hidden=("demand",))
    agent, model = eq.recommended(system.space, REWARD), system.model()
    eq.simulate(model, agent, 20_000, seed=3)
    table = agent.laws()
    truth = np.concatenate(true_laws(model))
    assert np.all((table["low"].to_numpy() <= truth + 1e-12) & (truth <= table["high"].to_numpy() + 1e-12))
    assert table["estimate"].to_numpy() == pytest.approx(truth, abs=0.03)
    assert agent.space.laws.revealing
    assert agent.caveat == ""
    with pytest.raises(eq.errors.ProtocolError, match="told no mechanics"):
        eq.recommended(model.space, REWARD).laws()


def test_arrivals_that_are_seen_tell_departures_that_are_not():
    """A line with room for two: at the end of it a departure and a refused arrival look alike, elsewhere not."""

    def step(waiting: int, _: int, arrives: int, leaves: int) -> tuple[int, list[float]]:
        after = min(2, max(0, waiting - leaves) + arrives)
        return after, [1 - after / 2]

    line = eq.Mechanics(
        step, 0, [0], ["short"], {"arrives": [0, 1], "leaves": [0, 1]}, hidden=["leaves"],
        usual={"arrives": [0.5, 0.5], "leaves": [0.25, 0.75]},
    )  # fmt: skip
    agent = eq.recommended(line.space, eq.rewards.Linear([1.0]))
    eq.simulate(line.model(), agent, 5_000, seed=1)
    table = agent.laws().filter(pl.col("law") == "leaves")
    assert 0 < table["visits"][0] < 5_000  # in an empty line nothing can be seen of it
    assert table["estimate"][1] == pytest.approx(0.75, abs=0.03)


def test_draws_are_distributions_whatever_other_laws_are_like():
    """A law of two values beside one of ten: what is drawn for the eight that it has not is not lost."""
    system = eq.Mechanics(
        lambda s, a, coin, die: ((s + coin) % 3, [die / 9]), 0, [0], ["x"], {"coin": [0, 1], "die": range(10)},
        usual={"coin": [0.5, 0.5], "die": [0.1] * 10},
    )  # fmt: skip
    agent = eq.TocUCRL2(system.space, eq.rewards.Linear([1.0]), confidence=eq.confidence.PosteriorSampling(seed=1))
    eq.simulate(system.model(), agent, 60, seed=0)
    region = agent.loop.arrays.region
    for law in range(2):
        listed = slice(region.first[law], region.first[law + 1])
        unseen = (2, 10)[law] - region.lo[listed].size
        assert region.lo[listed].sum() + (region.rest_sum[law] if unseen else 0.0) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_draws_do_not_cut_a_system_apart(seed):
    """Without any data a draw may all but forbid what is needed to get about; planning must converge all the same."""
    model = eq.mechanics.scheduler().model()
    agent = eq.TocUCRL2(
        model.mechanics_space,
        eq.rewards.ProportionalFairness(3, eps=0.05),
        confidence=eq.confidence.PosteriorSampling(seed=seed),
    )
    eq.simulate(model, agent, 200, seed=seed)
    assert agent.t == 201


def test_budgets():
    model = eq.mechanics.pricing().model()
    zero = [int(np.flatnonzero([not model.means[model.pair(s, a)].any() for a in range(5)])[0]) for s in range(3)]
    agent = eq.KnapsackAgent(model.mechanics_space, 0.3, 4_000, zero, confidence=eq.confidence.Adaptive())
    eq.simulate(model, agent, 4_000, seed=1)
    assert np.all(agent.inventory >= 0)
    assert agent.earned > 0
    wrong = [(a + 1) % 5 for a in zero]
    with pytest.raises(eq.errors.ParameterError, match="by its mechanics"):
        eq.KnapsackAgent(model.mechanics_space, 0.3, 4_000, wrong)


def test_a_table_of_which_something_is_known_is_learnt_sooner():
    pay = eq.rewards.Linear([1.0])
    best = eq.solve(TABLE, pay)
    regrets = {}
    for name, space in (("table", TABLE.space), ("some", partly_known())):
        runs = [eq.simulate(TABLE, eq.recommended(space, pay), 5_000, seed=seed) for seed in range(3)]
        regrets[name] = np.mean([run.regret(best)[-1] for run in runs])
        assert all(np.all(run.values + run.certified >= best.value - 1e-9) for run in runs)
    assert regrets["some"] < 0.5 * regrets["table"]


def test_pairs_that_share_a_law_up_to_a_wall():
    """Left, stay, right; at a wall to bump is to stay, so that the next state shows the law in part."""
    moves = {(s, 0): [max(0, s - 1), s, min(3, s + 1)] for s in range(4)}
    space = eq.Space([1] * 4, 1, same_law=[moves])
    assert space.laws.names[0] == "common law 0"
    chances = [0.25, 0.25, 0.5]
    rows = [[np.bincount(moves[s, 0], chances, 4)] for s in range(4)]
    model = eq.Model.from_arrays(rows, [[[s / 3]] for s in range(4)])
    agent = eq.recommended(space, eq.rewards.Linear([1.0]))
    eq.simulate(model, agent, 4_000, seed=1)
    truth = dict(zip(space.laws.names, _by_hand(space.laws, chances), strict=True))
    for law, part in agent.laws().group_by("law", maintain_order=True):
        assert np.all(part["low"].to_numpy() <= truth[law[0]] + 1e-12)
        assert np.all(part["high"].to_numpy() >= truth[law[0]] - 1e-12)


def _by_hand(laws: Laws, chances: list[float]) -> list[np.ndarray]:
    """The conditional laws of the sets that the names and values of the units list."""
    whole = []
    for values in laws.values:
        mass = np.array([sum(chances[i] for i in (v if isinstance(v, tuple) else (v,))) for v in values])
        whole.append(mass / mass.sum())
    return whole


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: TABLE.space.knowing(known_transitions={(0, 5): {0: 1.0}}), "known_transitions, state 0, action"),
        (lambda: TABLE.space.knowing(known_transitions={(0, 0): {0: 0.5}}), r"\(0, 0\): the probabilities sum to 0.5"),
        (lambda: TABLE.space.knowing(known_transitions={(0, 0): [1.0]}), "got 1 entries; 6 are needed"),
        (
            lambda: TABLE.space.knowing(same_law=[{(1, 1): [0, 1], (2, 1): [1]}]),
            r"same_law\[0\]: its lists have \[1, 2\]",
        ),
        (lambda: TABLE.space.knowing(same_law=[{(1, 1): [0, 9]}]), r"same_law\[0\], \(1, 1\)"),
        (
            lambda: TABLE.space.knowing(known_transitions={(1, 1): {0: 1.0}}, same_law=[{(1, 1): [0, 1]}]),
            "something else is given for state 1",
        ),
        (lambda: partly_known().knowing(same_law=[{(1, 1): [0, 1]}]), "known already"),
    ],
)
def test_bad_facts_are_refused_by_name(make, complaint):
    with pytest.raises(eq.errors.ModelError, match=complaint):
        make()


def test_agents_and_worlds_that_do_not_fit():
    system, other = shop(), eq.mechanics.inventory(capacity=4, orders=(0, 1, 2))
    agent = eq.recommended(system.space, REWARD)
    with pytest.raises(eq.errors.ParameterError, match="Known: the agent was told mechanics"):
        eq.TocUCRL2(system.space, REWARD, confidence=eq.confidence.Known(system.model()))
    with pytest.raises(eq.errors.ParameterError):
        eq.simulate(other.model(), agent, 10)
    plain = eq.Model.from_parts(
        eq.models.branches.Branches(
            system.model().first_pair, system.model().branch_first, system.model().branch_probability,
            system.model().branch_next, system.model().branch_row, system.model().rows,
        ),
        system.space.start, "none", (), system.labels,
    )  # fmt: skip
    with pytest.raises(eq.errors.ParameterError, match="not of the mechanics"):
        eq.simulate(plain, agent, 10)  # it does not tell the demand
    lost = eq.recommended(shop(hidden=("demand",)).space, REWARD)
    eq.simulate(plain, lost, 10)
    with pytest.raises(eq.errors.ParameterError, match="was told mechanics"):
        eq.theory.Setting.of(agent)
    assert empty_counts(system.space, agent.confidence).visits.size == 1
    assert math.isfinite(agent.best_possible)
