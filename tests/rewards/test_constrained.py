"""A reward with constraints: the contract, the penalty's formula, prices, names, files, agents, bad input."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise import rewards
from equipoise.errors import RewardError
from equipoise.rewards import Constrained, Constraint, Linear, at_least, at_most, exact_price
from equipoise.testing import REWARD_CLAUSES

INF = math.inf
NAMES = ["work", "rest", "waste"]
FLOORS = [at_least("rest", 0.25, NAMES), at_most("waste", 0.1, NAMES)]
CASES = {
    "plain": lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, price=3.0, smoothing=0.0),
    "smoothed": lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, price=[3.0, 1.0]),
    "inf": lambda: Constrained(
        Linear([1.0, 0.0, 0.0], norm=INF), [Constraint(rewards.BottomSum(3, 1), 0.2), *FLOORS], 2.0, norm=INF
    ),
    "curved": lambda: Constrained(
        rewards.ProportionalFairness(3, 0.1),
        [Constraint(rewards.Entropy(3, mu=0.1), 0.5, "diverse"), Constraint(rewards.Quadratic([0.0] * 3), 0.8, "risk")],
        price=2.0,
        smoothing=0.05,
    ),
    "within": lambda: Constrained(
        rewards.ProportionalFairness(3, 0.01),
        [Constraint(rewards.CrossEntropy([0.2, 0.3, 0.5], 0.01), -0.5)],
        price=2.0,
    ).within([0.1] * 3, [0.9] * 3),
}


ONES = {"rest at least 0.25": 1.0, "waste at most 0.1": 1.0}


@pytest.fixture(params=CASES)
def goal(request):
    return CASES[request.param]()


@pytest.mark.parametrize("clause", REWARD_CLAUSES.values(), ids=REWARD_CLAUSES)
def test_contract(goal, clause):
    clause(goal)


def test_it_is_the_reward_less_the_price_of_what_is_missing(goal):
    rng = np.random.default_rng(0)
    mu = goal.smoothing
    for w in rng.random((100, 3)):
        short = np.array([max(0.0, one.at_least - one.function.value(w)) for one in goal.constraints])
        assert goal.violations(w) == pytest.approx(short)
        paid = short if mu == 0 else np.where(short < mu, short**2 / (2 * mu), short - mu / 2)
        assert goal.value(w) == pytest.approx(goal.reward.value(w) - goal.price @ paid, abs=1e-12)
    assert goal.objective is goal.reward


def test_smoothing_by_default_where_it_makes_the_whole_smooth():
    assert CASES["smoothed"]().smoothing == 0.01
    assert CASES["smoothed"]().smoothness is not None
    assert CASES["inf"]().smoothing == 0.0
    assert CASES["inf"]().vertices is not None


def test_a_price_from_a_slack_is_above_the_multipliers():
    """On random worlds with a constraint that some policy meets with a known slack."""
    tightest = 0.0
    for seed in range(10):
        model = eq.models.garnet(4, 3, 3, 2, seed=seed)
        most = eq.solve(model, Linear([0.0, 1.0])).value
        slack = 0.02
        reward = Linear([1.0, 0.0])
        goal = Constrained(reward, [at_least(1, most - slack, model, "floor")], exact_price(reward, slack))
        best = eq.solve(model, goal)
        assert goal.is_exact(best.multipliers)
        tightest = max(tightest, best.multipliers["floor"] / goal.price[0])
    assert tightest > 0.01


def test_the_words_of_the_convenient_ones():
    model = eq.models.inventory()
    fill = at_least("fill rate", 0.9, model)
    assert (fill.name, fill.at_least, fill.function.weights.tolist()) == ("fill rate at least 0.9", 0.9, [1, 0, 0])
    assert at_least(0, 0.9, model.space) == fill
    most = at_most("few orders", 0.5, model, name="orders")
    assert (most.name, most.violation([0, 0, 0.75]), most.violation([0, 0, 0.5])) == ("orders", 0.25, 0.0)


def test_descriptions(goal):
    data = json.loads(json.dumps(eq.studies.vocabulary.part_spec(goal, "reward")))
    again = eq.studies.vocabulary.make_reward(data, eq.models.bandit(3), "reward")
    assert again == goal
    assert again.names == goal.names
    twin = pickle.loads(pickle.dumps(goal))
    assert twin == goal
    assert twin.value([0.3, 0.1, 0.5]) == goal.value([0.3, 0.1, 0.5])


def test_the_notation_of_a_study():
    model = eq.models.inventory()
    written = {
        "kind": "Constrained",
        "reward": {"kind": "Linear", "weights": [0.0, 0.5, 0.5]},
        "constraints": [
            {"kind": "at_least", "outcome": "fill rate", "level": 0.9},
            {"kind": "at_most", "outcome": 2, "level": 0.8, "name": "orders"},
            {"kind": "Constraint", "function": {"kind": "BottomSum", "kappa": 1}, "at_least": 0.3},
        ],
        "price": 3.0,
    }
    goal = eq.studies.vocabulary.make_reward(written, model, "reward")
    assert goal.names == ("fill rate at least 0.9", "orders", "constraint 2")
    assert goal.constraints[2].function == rewards.BottomSum(3, 1)
    for wrong, complaint in (
        ({"outcome": "fill", "level": 0.9}, r"constraints\[0\].*there is no 'fill' \(did you mean 'fill rate'\?\)"),
        ({"outcome": "fill rate", "level": 1.5}, r"constraints\[0\].*level: got 1.5"),
        ({"outcome": "fill rate"}, r"constraints\[0\].*needs the parameter 'level'"),
    ):
        bad = written | {"constraints": [{"kind": "at_least", **wrong}]}
        with pytest.raises(eq.EquipoiseError, match=complaint):
            eq.studies.vocabulary.make_reward(bad, model, "reward")
    free = eq.studies.vocabulary.make_reward({k: v for k, v in written.items() if k != "price"}, model, "reward")
    assert free.is_same_problem(goal)


def test_without_a_price_it_is_derived_from_the_differences_that_are_possible():
    reward, doubled = Linear([1.0, 0.5, 0.0]), Constraint(Linear([0.0, 0.0, 2.0]), 0.5, "doubled")
    goal = Constrained(reward, [at_least(1, 0.25, ["a", "b", "c"]), doubled])
    most = reward.lipschitz * np.sqrt(3)  # of one outcome and of twice that, sqrt 3 and 2 sqrt 3 by the same formula
    np.testing.assert_allclose(goal.price, [10 * most / np.sqrt(3), 10 * most / (2 * np.sqrt(3))])
    assert goal.arguments()["price"] is None
    assert "price" not in repr(goal)
    for twin in (
        pickle.loads(pickle.dumps(goal)),
        eq.studies.vocabulary.make_reward(
            eq.studies.vocabulary.part_spec(goal, "reward"), eq.models.bandit(3), "reward"
        ),
        goal.of(np.eye(3)),
        goal.within([0.0] * 3, [1.0] * 3),
    ):
        assert twin.arguments()["price"] is None
    assert goal.at_prices(2.0).arguments()["price"] == [2.0, 2.0]
    flat = Constrained(Linear([0.0, 0.0, 0.0]), [at_least(1, 0.25, ["a", "b", "c"])])
    assert np.all(np.isfinite(flat.price) & (flat.price > 0.0))


def test_an_agent_with_it_is_saved_and_proves(tmp_path):
    """The certificate bounds the penalised optimum, which is at least the constrained one; and so what is lost."""
    model = eq.models.bandit(3)
    floors = [at_least(1, 0.2, model), at_least(2, 0.3, model)]
    goal = Constrained(Linear([1.0, 0.25, 0.5]), floors, price=1.5)
    best = eq.solve(model, goal)
    agent = eq.TocUCRL2(model.space, goal, confidence=eq.confidence.Adaptive())
    eq.simulate(model, agent, 20000, seed=1)
    agent.save(tmp_path / "agent")
    again = eq.TocUCRL2.load(tmp_path / "agent")
    runs = [eq.simulate(model, one, 5000, seed=1) for one in (agent, again)]
    assert np.array_equal(runs[0].outcomes, runs[1].outcomes)
    assert again.reward == goal
    proven = agent.certificate(effort=5)
    assert proven.best_possible >= eq.solve(model, goal.penalised).value - 1e-9 >= best.value - 1e-6
    assert proven.regret_at_most >= best.value - goal.reward.value(agent.average)
    for surplus in (None, best.surplus_at_most(agent.t - 1)):
        allowed = goal.violation_at_most(best.multipliers, proven.regret_at_most, surplus)
        assert np.all(goal.violations(agent.average) <= list(allowed.values()))
    assert max(goal.violations(agent.average)) < 0.02
    assert runs[0].regret(best)[-1] < 0.02


@pytest.mark.parametrize("wrap", ["of", "within", "in_units"])
def test_a_wrapper_keeps_the_constraints(wrap):
    """The same world with its outcomes written in another way has the same optimum, limits and multipliers."""
    model = eq.models.bandit(3)
    goal = Constrained(Linear([1.0, 0.5, 0.0]), [at_least(1, 0.25, model), at_least(2, 0.125, model)], price=3.0)
    low, high = np.array([0.0, 0.0, -2.0]), np.array([1.0, 4.0, 2.0])
    if wrap == "of":  # outcomes 2, 0, 1 of another world are 0, 1, 2 of this one
        order = [2, 0, 1]
        wrapped, to = goal.of(np.eye(3)[order]), np.argsort(order)
        world = eq.Model.from_arrays([[[1.0]] * 3], [list(model.means[:, to])], noise="none")
        expected = goal.reward.weights @ [0.625, 0.25, 0.125]
    elif wrap == "within":
        wrapped, world, expected = goal.within([0.0] * 3, [1.0] * 3), model, 0.75
    else:
        scaling = eq.adapters.Scaling(("a", "b", "c"), (0, 1, 2), tuple(low), tuple(high))
        units = [Constraint(Linear([0.0, 1.0, 0.0]), 1.0), Constraint(Linear([0.0, 0.0, 1.0]), -1.5)]
        wrapped = scaling.in_units(Constrained(Linear([1.0, 0.125, 0.0]), units, price=3.0))
        world, expected = model, 0.75
    assert isinstance(wrapped, Constrained)
    best = eq.solve(world, wrapped)
    assert best.status == "optimal"
    assert best.value == pytest.approx(expected, abs=1e-6)
    assert max(best.violations.values()) <= 1e-6
    slopes = [4.0, 4.0] if wrap == "in_units" else [1.0, 1.0]  # a unit of these is a quarter of an outcome
    assert [m * s for m, s in zip(best.multipliers.values(), slopes, strict=True)] == pytest.approx(
        [0.5, 1.0], abs=1e-5
    )


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, [1.0, 2.0, 3.0]),
            "price: got 3 entries; 2 are needed, one for each constraint",
        ),
        (
            lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, 0.0),
            r"price\[0\]: got 0.0; a positive number is needed",
        ),
        (lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, "a"), "price: got 'a'"),
        (lambda: Constrained(Linear([1.0, 0.5, 0.0]), [], 1.0), r"constraints: got \[\]; a list of constraints"),
        (
            lambda: Constrained(Linear([1.0, 0.5, 0.0]), [Linear([1.0])], 1.0),
            r"constraints\[0\]: got Linear.* a Constraint",
        ),
        (
            lambda: Constrained(Linear([1.0]), FLOORS, 1.0),
            r"constraints\[0\]: it is for 3 outcomes, and the reward for 1",
        ),
        (lambda: Constrained(CASES["plain"](), FLOORS, 1.0), "reward: it has constraints already"),
        (lambda: Constrained(rewards.Entropy(3), FLOORS, 1.0), "reward: .* changes with time"),
        (
            lambda: Constrained(Linear([1.0, 0.5, 0.0]), [*FLOORS, FLOORS[0]], 1.0),
            r"constraints\[2\]: a second one called",
        ),
        (
            lambda: Constrained(Linear([1.0, 0.5, 0.0]), [FLOORS[0], *FLOORS, at_least("work", 0.1, NAMES)]),
            r"constraints\[1\]: a second one called",
        ),
        (lambda: Constrained(Linear([1.0, 0.5, 0.0]), FLOORS, 1.0, -0.1), "smoothing: got -0.1"),
        (lambda: Constraint("Linear", 0.5), "function: got 'Linear'; a reward is needed"),
        (lambda: Constraint(rewards.Entropy(3), 0.5), "function: .* changes with time"),
        (lambda: Constraint(Linear([1.0]), INF), "at_least: got inf"),
        (lambda: Constraint(Linear([1.0]), 0.5, ""), "name: got ''"),
        (
            lambda: at_least("rset", 0.5, NAMES),
            r"outcome: there is no 'rset' \(did you mean 'rest'\?\); there are 'work'",
        ),
        (lambda: at_least(3, 0.5, NAMES), "outcome: got 3; a whole number from 0 to 2"),
        (lambda: at_most(1, -0.5, NAMES), r"level: got -0.5; it must lie in \[0, 1\]"),
        (lambda: at_most(1, 0.5, "rest"), "outcomes: got 'rest'"),
        (lambda: CASES["plain"]().is_exact({}), "multipliers: none for 'rest at least 0.25'"),
        (lambda: CASES["plain"]().violation_at_most(ONES, 0.1, -0.1), "surplus: got -0.1; a number >= 0"),
        (lambda: CASES["plain"]().violation_at_most(ONES, surplus=0.1), "surplus: got 0.1; .* and a regret with it"),
        (lambda: rewards.Sum([CASES["plain"]()]), r"rewards\[0\]: Constrained.* has constraints, which would become"),
        (lambda: rewards.Minimum([CASES["plain"]()]), r"rewards\[0\]: Constrained.* has constraints"),
        (lambda: rewards.Shortfall(CASES["plain"](), 0.5), "function: Constrained.* has constraints"),
        (lambda: rewards.Affine(CASES["plain"](), np.eye(3)), "inner: Constrained.* has constraints"),
        (lambda: rewards.Within(CASES["plain"](), [0.0] * 3, [1.0] * 3), "inner: Constrained.* has constraints"),
        (lambda: Constraint(CASES["plain"](), 0.5), "function: Constrained.* has constraints"),
        (lambda: exact_price(CASES["plain"](), 0.5), "reward: Constrained.* has constraints"),
        (lambda: exact_price(Linear([1.0]), 0.0), "slack: got 0.0"),
    ],
)
def test_bad_input(make, complaint):
    with pytest.raises(RewardError, match=complaint):
        make()
