"""Baselines: the same compiled and by hand, and what they do in closed form."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise.agents.baselines import FrankWolfeUCB, RoundRobin, Rule, StationaryAgent, ucrl2

TARGET = [0.4, 0.3, 0.3]
MAKERS = {
    "uniform": lambda space: StationaryAgent(space, eq.rewards.Quadratic(TARGET), seed=3),
    "deterministic": lambda space: StationaryAgent(
        space, eq.rewards.Balance(TARGET), np.eye(space.n_pairs)[space.first_pair[:-1]].sum(axis=0)
    ),
    "rule": lambda space: Rule(space, eq.rewards.Balance(TARGET), lambda state: (state + 1) % 3),
    "round robin": lambda space: RoundRobin(space, eq.rewards.BottomSum(3, 1)),
    "ucrl2": lambda space: ucrl2(space, [0.2, 0.3, 0.5]),
}


@pytest.mark.parametrize("name", MAKERS)
def test_compiled_is_by_hand(name):
    model = eq.models.garnet(5, 3, 3, 3, seed=2)
    by_hand, compiled = MAKERS[name](model.space), MAKERS[name](model.space)
    world = model.world(6)
    for _ in range(700):
        by_hand.observe(*world.step(by_hand.act(world.state)))
    eq.simulate(model, compiled, 300, seed=6)
    run = eq.simulate(model, compiled, 400, seed=6)
    assert np.array_equal(by_hand.average, compiled.average)
    assert by_hand.state == compiled.state
    assert run.t[-1] == 700


def test_frank_wolfe_ucb_by_hand_and_against_the_threshold_at_zero():
    """In one state, replanning whenever theta moves is the same choice of arm, but for its clock of regions."""
    model = eq.Model.from_arrays([[[1.0]] * 3], [[[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.6]]])
    reward = eq.rewards.Quadratic(TARGET)
    by_hand, compiled = (FrankWolfeUCB(model.space, reward, delta=0.1) for _ in range(2))
    direct = eq.TocUCRL2(model.space, reward, threshold=0.0, delta=0.1)
    world = model.world(1)
    same = 0
    for _ in range(2000):
        action = by_hand.act(0)
        same += action == direct.act(0)
        outcomes, state = world.step(action)
        by_hand.observe(outcomes, state)
        if direct.loop.arrays.memory.policy[0] != action:  # follow the first agent's trajectory
            break
        direct.observe(outcomes, state)
    assert same >= 1999
    eq.simulate(model, compiled, 2000, seed=1)
    twin = FrankWolfeUCB(model.space, reward, delta=0.1)
    world = model.world(1)
    for _ in range(2000):
        twin.observe(*world.step(twin.act(0)))
    assert np.array_equal(twin.average, compiled.average)


def test_bandit_regret_falls():
    model = eq.models.bandit(3)
    reward = eq.rewards.Quadratic([1 / 3] * 3)
    for agent in (FrankWolfeUCB(model.space, reward), eq.TocUCRL2(model.space, reward)):
        run = eq.simulate(model, agent, 10**5, checkpoints=[10**3, 10**5])
        assert run.regret(1.0)[1] < run.regret(1.0)[0]
        assert run.regret(1.0)[1] < 1e-4


@pytest.mark.parametrize("name", MAKERS)
def test_a_copy_goes_its_own_way_and_a_pickle_goes_on(name):
    model = eq.models.garnet(5, 3, 3, 3, seed=2)
    agent = MAKERS[name](model.space)
    eq.simulate(model, agent, 100, seed=6)
    twins = [copy.copy(agent), pickle.loads(pickle.dumps(agent))]
    runs = [eq.simulate(model, one, 100, seed=6).outcomes[-1] for one in (*twins, agent)]
    assert np.array_equal(runs[0], runs[2])
    assert np.array_equal(runs[1], runs[2])


def test_round_robin_takes_every_action_alike():
    model = eq.models.garnet(3, 4, 2, 1, seed=0)
    agent = RoundRobin(model.space, eq.rewards.Linear([1.0]))
    world = model.world(0)
    taken = np.zeros((3, 4))
    for _ in range(1200):
        action = agent.act(world.state)
        taken[world.state, action] += 1
        agent.observe(*world.step(action))
    assert np.all(taken.max(axis=1) - taken.min(axis=1) <= 1)


SHOP = eq.models.inventory()
KPIS = eq.rewards.TargetSquared([0.9, 0.8, 0.8])


def base_stock(shop):
    return "order 6" if shop[0] < 4 else "order 3" if shop[0] < 6 else "order nothing"


def test_a_rule_is_the_policy_that_it_says():
    """By labels, by numbers and as a list it is one agent; its averages are those of the chain that it makes."""
    by_label = Rule(SHOP.space, KPIS, base_stock)
    assert by_label.rule == [2] * 4 + [1] * 2 + [0] * 5
    by_number = Rule(SHOP.space, KPIS, lambda shop: np.int64(2 if shop[0] < 4 else 1 if shop[0] < 6 else 0))
    listed = Rule(SHOP.space, KPIS, by_label.arguments()["rule"])
    assert by_label.arguments() == by_number.arguments() == listed.arguments()
    averages = [eq.simulate(SHOP, one, 10**5, seed=4).outcomes[-1] for one in (by_label, by_number, listed)]
    assert np.array_equal(averages[0], averages[1])
    assert np.array_equal(averages[0], averages[2])
    pairs = SHOP.first_pair[:-1] + np.array(by_label.rule)
    chain = SHOP.transitions().toarray()[pairs]
    stationary = np.linalg.matrix_power(chain, 10**4)[0]
    assert averages[0] == pytest.approx(stationary @ SHOP.means[pairs], abs=0.01)
    policy = np.eye(SHOP.n_pairs)[pairs].sum(axis=0)
    twin = StationaryAgent(SHOP.space, KPIS, policy)
    assert np.array_equal(averages[0], eq.simulate(SHOP, twin, 10**5, seed=4).outcomes[-1])


def test_a_label_goes_before_a_number():
    space = eq.Space([3], 1, labels=eq.Labels(actions=[2, 0, 5]))
    reward = eq.rewards.Linear([1.0])
    assert [Rule(space, reward, lambda _, x=x: x).rule for x in (2, 0, 5, 1)] == [[0], [1], [2], [1]]


def test_a_rule_runs_in_known_mechanics_and_in_a_file(tmp_path):
    shop = eq.mechanics.inventory(capacity=5)
    agent = Rule(shop.space, KPIS, lambda stock: "order 3" if stock[0] < 3 else "order nothing")
    eq.simulate(shop.model(), agent, 500, seed=1)
    agent.save(tmp_path / "rule")
    again = Rule.load(tmp_path / "rule")
    assert again.rule == agent.rule == [1, 1, 1, 0, 0, 0]
    runs = [eq.simulate(shop.model(), one, 500, seed=1).outcomes[-1] for one in (agent, again)]
    assert np.array_equal(*runs)


def test_a_study_holds_a_rule_as_a_list():
    rule = Rule(SHOP.space, KPIS, base_stock)
    description = {"kind": "Rule", **rule.arguments()}
    agent = eq.studies.vocabulary.make_agent(description, SHOP, KPIS, 100, 0, "agent")
    assert isinstance(agent, Rule)
    assert agent.rule == rule.rule
    with pytest.raises(eq.EquipoiseError, match=r"agent: Rule: rule: state 0 \(0,\): got 9"):
        eq.studies.vocabulary.make_agent({"kind": "Rule", "rule": [9] * 11}, SHOP, KPIS, 100, 0, "agent")


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        (
            lambda shop: "order 7",
            r"rule: state 0 \(0,\): there is no action 'order 7'.*; its actions are order nothing, order 3",
        ),
        (lambda shop: int(1 // (shop[0] - 3) > 9), r"rule: state 3 \(3,\): it raised ZeroDivisionError"),
        (lambda shop: 3 if shop[0] == 5 else 0, r"rule: state 5 \(5,\): got 3; a whole number from 0 to 2"),
        (lambda shop: None, r"rule: state 0 \(0,\): there is no action None"),
        (lambda shop: [], r"rule: state 0 \(0,\): there is no action \[\]"),
        ([0] * 10 + [-1], r"rule: state 10 \(10,\): got -1"),
        ([0] * 10, "rule: got .* a list of 11 actions"),
        ("order 3", "rule: got 'order 3'; a function of a state is needed"),
        ([0.0] * 11, r"rule: state 0 \(0,\): got 0.0; a whole number is needed"),
    ],
)
def test_what_is_not_a_rule(rule, complaint):
    with pytest.raises(eq.EquipoiseError, match=complaint):
        Rule(SHOP.space, KPIS, rule)


def test_an_action_of_probability_zero_is_never_taken():
    model = eq.models.bandit(3)
    agent = StationaryAgent(model.space, eq.rewards.Linear([1.0, 1.0, 1.0]), [0.0, 1.0, 0.0])
    assert eq.simulate(model, agent, 1000).outcomes[-1].tolist() == [0.0, 1.0, 0.0]
    half = StationaryAgent(model.space, eq.rewards.Linear([1.0, 1.0, 1.0]), [0.3, 0.7, 0.0])
    assert half._cumulative.tolist() == [0.3, 1.0, 1.0]


@pytest.mark.parametrize("policy", [[0.5], [0.5, 0.6], [1.5, -0.5], [np.nan, 1.0]])
def test_what_is_not_a_policy(policy):
    with pytest.raises(eq.EquipoiseError, match="policy"):
        StationaryAgent(eq.models.bandit(2).space, eq.rewards.Quadratic([0.5, 0.5]), policy)


def test_bad_input():
    space = eq.models.star(2, 2).space
    reward = eq.rewards.Quadratic([0.5, 0.5])
    with pytest.raises(eq.EquipoiseError, match="this algorithm is for one"):
        FrankWolfeUCB(space, reward)
    with pytest.raises(eq.EquipoiseError, match="FrankWolfe needs a smooth reward"):
        FrankWolfeUCB(eq.models.bandit(2).space, eq.rewards.Balance([0.5, 0.5]))
    with pytest.raises(eq.EquipoiseError, match="it takes 1 outcomes; the space has 2"):
        RoundRobin(space, eq.rewards.Linear([1.0]))
    with pytest.raises(eq.EquipoiseError, match="seed: got -1"):
        StationaryAgent(space, reward, seed=-1)
    agent = RoundRobin(space, reward)
    with pytest.raises(eq.EquipoiseError, match="no action is waiting"):
        agent.observe([0, 0], 0)
    agent.act(0)
    with pytest.raises(eq.EquipoiseError, match="has not been observed yet"):
        agent.act(0)
    with pytest.raises(eq.EquipoiseError, match=r'outcomes, outcome 1 \("loop 1"\): got 2\.0'):
        agent.observe([0, 2], 0)
