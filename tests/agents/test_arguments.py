"""Every agent says how it was made, in values that make the same agent again."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.agents.baselines import FrankWolfeUCB, RoundRobin, Rule, StationaryAgent
from equipoise.agents.budgets import BudgetedAgent
from equipoise.confidence.base import Confidence
from equipoise.oracles.base import Oracle
from tests.agents.kinds import CASES, HORIZON, take

SPACE = eq.models.bandit(2).space
REWARD = eq.rewards.Quadratic([0.5, 0.5])


@pytest.mark.parametrize("name", CASES)
def test_made_again_it_goes_the_same_way(name):
    model, make = CASES[name]
    agent = make()
    made_of = () if isinstance(agent, BudgetedAgent) else (agent.reward,)
    twin = type(agent)(agent.space, *made_of, **agent.arguments())
    assert twin.arguments().keys() == agent.arguments().keys()
    assert repr(twin.arguments()) == repr(agent.arguments())
    assert take(agent, model.world(3), 200) == take(twin, model.world(3), 200)
    ran = [eq.simulate(model, type(agent)(agent.space, *made_of, **one.arguments()), 200, 3) for one in (agent, twin)]
    assert np.array_equal(ran[0].outcomes, ran[1].outcomes)
    assert np.array_equal(ran[0].outcomes[-1], agent.average)


@pytest.mark.parametrize("kind", [eq.TocUCRL2, eq.MixtureUCRL2])
def test_the_growth_of_visits_is_kept_and_checked(kind, tmp_path):
    agent = kind(SPACE, REWARD, visits=0.25)
    assert agent.arguments()["visits"] == agent.visit_growth == 0.25
    assert "visits" not in kind(SPACE, REWARD).arguments()
    assert agent.visits.tolist() == [0, 0]
    agent.save(tmp_path / "agent.npz")
    assert kind.load(tmp_path / "agent.npz").visit_growth == 0.25
    for wrong in (0, -1.0, 1.5, float("nan"), "much", True):
        with pytest.raises(eq.EquipoiseError, match="visits: "):
            kind(SPACE, REWARD, visits=wrong)


@pytest.mark.parametrize("name", CASES)
def test_they_are_all_of_the_constructor_s_in_plain_values(name):
    agent = CASES[name].make()
    parameters = list(inspect.signature(type(agent)).parameters)
    left_out = ("space", "reward", "visits")  # the last at 1 alone
    assert list(agent.arguments()) == [one for one in parameters if one not in left_out]
    plain = (int, float, list, type(None), Oracle, Confidence, eq.planning.Planner)
    for value in agent.arguments().values():
        assert isinstance(value, plain)
        assert not isinstance(value, np.generic)
        assert all(type(entry) in (int, float) for entry in (value if isinstance(value, list) else ()))


def test_what_they_say():
    toc = eq.TocUCRL2(SPACE, REWARD, delta=np.float32(0.25), threshold=np.int64(1)).arguments()
    assert (toc["threshold"], toc["delta"], toc["tolerance"]) == (1.0, 0.25, None)
    assert {type(toc[name]) for name in ("threshold", "delta")} == {float}
    assert toc["oracle"] == eq.oracles.FrankWolfe()
    assert isinstance(toc["confidence"], eq.confidence.Bernstein)
    assert toc["planner"] == eq.planning.Planner()
    assert eq.TocUCRL2(SPACE, REWARD).arguments()["threshold"] is None
    assert eq.TocUCRL2(SPACE, REWARD, threshold=math.inf).arguments()["threshold"] == math.inf

    knapsack = CASES["knapsack toc"].make().arguments()
    assert {name: value for name, value in knapsack.items() if name != "confidence"} == {
        "budget": 0.2,
        "horizon": HORIZON,
        "null_actions": [0] * 5,
        "delta": 0.05,
        "tolerance": None,
    }
    assert list(CASES["knapsack"].make().arguments()) == ["budget", "horizon", "null_actions", "delta", "confidence"]

    assert StationaryAgent(SPACE, REWARD).arguments() == {"policy": None, "seed": 0}
    told = StationaryAgent(SPACE, REWARD, np.array([1, 0]), seed=np.int64(4)).arguments()
    assert told == {"policy": [1.0, 0.0], "seed": 4}
    assert {type(value) for value in (*told["policy"], told["seed"])} == {float, int}
    assert Rule(SPACE, REWARD, lambda state: 1).arguments() == {"rule": [1]}
    assert RoundRobin(SPACE, REWARD).arguments() == {}
    assert FrankWolfeUCB(SPACE, REWARD, np.float64(0.5)).arguments() == {"delta": 0.5}
