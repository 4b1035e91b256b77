"""Planners of one's own: in the loop, verified, saved, named by a study, and refused where they do not belong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ContractError, ParameterError
from equipoise.planning import Plan, PlanningOracle, extended_value_iteration
from equipoise.studies.vocabulary import make_agent
from equipoise.testing import PLANNER_CLAUSES, check_planner
from equipoise.theory import bounds

MODEL = eq.models.garnet(5, 3, 3, 3, seed=11)
REWARD = eq.rewards.Quadratic([0.7, 0.5, 0.6])


class Exact(PlanningOracle):
    """The built-in iteration, by way of Python; at a share of the tolerance."""

    def __init__(self, share: float = 1.0) -> None:
        self.share = share

    def plan(self, first_pair, region, reward, tolerance):
        return extended_value_iteration(first_pair, region, reward, self.share * tolerance)


class Shifted(Exact):
    """Its bias has another least entry, which is as good."""

    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(bias=plan.bias + 7.0, policy=plan.policy.astype(np.int32))


class Modest(Exact):
    """Promises less than there is."""

    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(gain=plan.gain - 0.01)


class Boastful(Exact):
    """Promises more than its policy reaches."""

    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(gain=plan.gain + 2.0 * tolerance)


class Careless(Exact):
    """Another action than the one that was worked out, where that is far worse."""

    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, 1e-6)
        pairs = range(first_pair[0], first_pair[1])
        worst = min(pairs, key=lambda pair: reward[pair])
        return plan._replace(policy=np.where(np.arange(plan.policy.size) == 0, worst - first_pair[0], plan.policy))


class Nowhere(Exact):
    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(policy=plan.policy + 99)


class Untold(Exact):
    def plan(self, first_pair, region, reward, tolerance):
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(bias=np.full(plan.bias.size, np.nan))


class Bare(Exact):
    def plan(self, first_pair, region, reward, tolerance):
        return super().plan(first_pair, region, reward, tolerance).policy


class Failing(Exact):
    def plan(self, first_pair, region, reward, tolerance):
        raise ZeroDivisionError("no idea")


class Meddling(Exact):
    def plan(self, first_pair, region, reward, tolerance):
        reward *= 0.5
        return super().plan(first_pair, region, reward, tolerance)


class Drifting(Exact):
    count = 0

    def plan(self, first_pair, region, reward, tolerance):
        Drifting.count += 1
        plan = super().plan(first_pair, region, reward, tolerance)
        return plan._replace(bias=plan.bias + 1e-12 * Drifting.count * np.arange(plan.bias.size))


class Lost(Exact):
    def __init__(self, share: float = 1.0) -> None:
        self.share = 2.0 * share


@pytest.mark.parametrize("planner", [Exact(), Shifted()], ids=repr)
def test_the_same_plans_by_way_of_python_are_the_same_trajectory(planner):
    runs = []
    for one in (eq.planning.Planner(), planner):
        agent = eq.TocUCRL2(MODEL.space, REWARD, planner=one)
        runs.append((agent, eq.simulate(MODEL, agent, 3000, seed=3, progress=False)))
    (own, ran), (other, run) = runs
    assert np.array_equal(ran.outcomes, run.outcomes)
    assert own.episode_starts.tolist() == other.episode_starts.tolist()
    for name in ("policy", "theta"):
        assert np.array_equal(getattr(own, name), getattr(other, name))
    assert other.bias == pytest.approx(own.bias, abs=1e-12)
    assert other.episode_record.gain == pytest.approx(own.episode_record.gain, abs=1e-12)
    assert other.best_possible == pytest.approx(own.best_possible, abs=1e-12)
    stepped = eq.TocUCRL2(MODEL.space, REWARD, planner=planner)
    world = MODEL.world(3)
    for _ in range(500):
        stepped.observe(*world.step(stepped.act(world.state)))
    again = eq.TocUCRL2(MODEL.space, REWARD, planner=planner)
    eq.simulate(MODEL, again, 500, seed=3, progress=False)
    assert stepped.average.tobytes() == again.average.tobytes()


def test_one_that_is_more_exact_makes_better_plans_and_is_kept(tmp_path: Path):
    eq.allow(__name__)
    agent = eq.TocUCRL2(MODEL.space, REWARD, planner=Exact(0.01))
    eq.simulate(MODEL, agent, 1000, seed=3, progress=False)
    assert agent.planner.share == 0.01
    path = tmp_path / "agent.npz"
    agent.save(path)
    twin = eq.TocUCRL2.load(path)
    assert twin.planner == Exact(0.01)
    for one in (agent, twin):
        eq.simulate(MODEL, one, 500, seed=4, progress=False)
    assert twin.bias.tobytes() == agent.bias.tobytes()


def test_a_study_names_it():
    eq.allow(__name__)
    table = {"kind": "TocUCRL2", "planner": {"kind": f"{__name__}:Exact", "share": 0.5}}
    assert make_agent(table, MODEL, REWARD, 10, 0, "agent").planner == Exact(0.5)
    table = {"kind": "TocUCRL2", "planner": {"warm_start": True}}
    assert make_agent(table, MODEL, REWARD, 10, 0, "agent").planner == eq.planning.Planner(warm_start=True)


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (Modest(), "Modest.*the gain .* is no upper bound: with its bias, state"),
        (Boastful(), "Boastful.*below the gain"),
        (Careless(), "in state 0 its action .* reaches"),
        (Nowhere(), "state 0 has no action"),
        (Untold(), "5 finite numbers"),
        (Bare(), "an eq.planning.Plan is needed"),
        (Failing(), "Failing.plan raised ZeroDivisionError: no idea"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_certificate_that_does_not_hold_is_found_and_nothing_is_half_done(planner, message):
    known = eq.confidence.Known(MODEL)
    agent = eq.TocUCRL2(MODEL.space, REWARD, planner=planner, tolerance=1e-3, confidence=known)
    with pytest.raises(ContractError, match=message):
        agent.act(0)
    assert agent.t == 1
    assert not agent.pending
    assert agent.episode_starts.size == 0


def test_where_it_does_not_belong():
    with pytest.raises(ParameterError, match="planner: got"):
        eq.TocUCRL2(MODEL.space, REWARD, planner=0.5)
    with pytest.raises(ParameterError, match="this space has known mechanics"):
        eq.TocUCRL2(eq.mechanics.inventory().space, eq.rewards.Linear([1.0, 0.0, 0.0]), planner=Exact())
    agent = eq.TocUCRL2(MODEL.space, REWARD, planner=Exact())
    assert agent.caveat == "no bound is known for its planner"
    with pytest.raises(ParameterError, match="the bounds are for extended value iteration"):
        bounds.Setting.of(agent)


@pytest.mark.parametrize("clause", PLANNER_CLAUSES.values(), ids=PLANNER_CLAUSES)
@pytest.mark.parametrize("planner", [eq.planning.Planner(relaxation=0.9), Exact(0.5)], ids=repr)
def test_ours_and_an_honest_one_keep_the_contract(planner, clause):
    clause(planner)


@pytest.mark.parametrize(
    ("planner", "clause", "message"),
    [
        (Lost(), "says_what_it_is", "made from its arguments again"),
        (Modest(), "certifies_its_plans", "is no upper bound"),
        (Boastful(), "certifies_its_plans", "below the gain"),
        (Careless(), "certifies_its_plans", "more than the tolerance"),
        (Nowhere(), "certifies_its_plans", "has no action"),
        (Untold(), "certifies_its_plans", "finite bias"),
        (Bare(), "certifies_its_plans", "a Plan is needed|planning.Plan is needed"),
        (Meddling(), "leaves_what_it_is_given", "it changes what it is given"),
        (Drifting(), "leaves_what_it_is_given", "another plan"),
        (Drifting(), "plans_for_an_agent", "the bias is|the starts"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, PlanningOracle) else "",
)
def test_each_clause_finds_what_it_is_for(planner, clause, message):
    with pytest.raises(ContractError, match=message):
        PLANNER_CLAUSES[clause](planner)


def test_a_plan_over_a_known_model_is_verified_by_hand():
    """One state, two actions of rewards 0.25 and 0.75: gain 0.75, whatever the bias."""
    check_planner(eq.planning.Planner(relaxation=0.5))
    model = eq.Model.from_arrays([[[1.0], [1.0]]], [[[0.25], [0.75]]])
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=eq.confidence.Known(model), planner=Exact())
    assert agent.act(0) == 1
    assert (agent.gain, isinstance(agent.planner.plan, object)) == (0.75, True)
    assert isinstance(Plan(np.zeros(1, np.int64), 0.0, np.zeros(1), 0.0, 0), tuple)
