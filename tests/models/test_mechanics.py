"""Mechanics: closed forms, what is found, worlds, what does not depend on the order, and bad input with its culprit."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import ModelError
from tests.agents.mechanics_cases import CASES, shop

NAMES = ["fill", "low stock"]
DEMAND = [0.5, 0.25, 0.25]


def new_shop(**changes) -> eq.Mechanics:
    arguments = {"step": shop, "start": 3, "actions": [0, 1], "outcomes": NAMES, "noises": {"demand": range(3)}}
    return eq.Mechanics(**(arguments | changes))


def by_hand(mechanics: eq.Mechanics, case) -> eq.Model:
    """The same world from branches, written down without any of the library's tables."""
    labels = mechanics.labels
    states = [labels.state(s) for s in range(mechanics.space.n_states)]
    known = {**{n: ([v] if not isinstance(v, dict) else v) for n, v in case.given.items()}}
    branches = []
    for state in states:
        rows = []
        for action in case.actions(state):
            pairs = []
            for drawn in itertools.product(*case.noises.values()):
                noise = dict(zip(case.noises, drawn, strict=True))
                chance = 1.0
                for name, value in noise.items():
                    label = None if case.law is None else case.law(name, state, action)
                    law = chances(case, known, name, label)
                    chance *= law[list(case.noises[name]).index(value)]
                after, outcomes = case.step(state, action, **noise)
                pairs.append((chance, states.index(after), outcomes))
            rows.append(pairs)
        branches.append(rows)
    return eq.Model.from_branches(branches, start=0)


def chances(case, known, name, label):
    truth = case.truth.get(name)
    if label is None:
        return truth if truth is not None else case.given[name]
    return truth[label] if truth is not None and label in truth else case.given[name][label]


# --- what it makes ---


def test_closed_form_of_a_shop():
    mechanics = new_shop()
    model = mechanics.model(demand=DEMAND)
    stocks = [mechanics.labels.state(s) for s in range(4)]
    assert stocks[0] == 3
    transitions, means = model.transitions().toarray(), model.means
    for s, stock in enumerate(stocks):
        for order in (0, 1):
            pair = model.pair(s, order)
            expected, fill, low = np.zeros(4), 0.0, 0.0
            for demand, chance in enumerate(DEMAND):
                sold = min(stock, demand)
                expected[stocks.index(min(3, stock - sold + order))] += chance
                fill += chance * (sold / demand if demand else 1.0)
                low += chance * (1 - (stock - sold) / 3)
            np.testing.assert_allclose(transitions[pair], expected, atol=1e-15)
            assert means[pair].tolist() == pytest.approx([fill, low], abs=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_a_model_is_what_branches_by_hand_give(name):
    case = CASES[name]
    mechanics = case.mechanics()
    found, expected = mechanics.model(**case.truth), by_hand(mechanics, case)
    assert found.n_actions == expected.n_actions
    assert found.start == expected.start == 0
    np.testing.assert_allclose(found.transitions().toarray(), expected.transitions().toarray(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.means, expected.means, rtol=0, atol=1e-15)
    reward = eq.rewards.TargetSquared([0.7, 0.6])
    if name not in ("lost sales",):
        assert eq.solve(found, reward).value == pytest.approx(eq.solve(expected, reward).value, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_every_branch_is_the_step_that_its_noise_gives(name):
    case = CASES[name]
    mechanics = case.mechanics()
    model = mechanics.model(**case.truth)
    laws, labels = mechanics.space.laws, mechanics.labels
    states = [labels.state(s) for s in range(model.n_states)]
    for s, state in enumerate(states):
        for a, action in enumerate(case.actions(state)):
            pair = model.pair(s, a)
            for branch in range(model.branch_first[pair], model.branch_first[pair + 1]):
                noise = laws.noise_of(int(model.branch_case[branch]), pair)
                after, outcomes = case.step(state, action, **noise)
                assert states[model.branch_next[branch]] == after
                assert model.rows[model.branch_row[branch]].tolist() == pytest.approx(outcomes, abs=0)


@pytest.mark.parametrize("name", CASES)
def test_the_world_shows_what_was_drawn(name):
    case = CASES[name]
    mechanics = case.mechanics()
    world = mechanics.model(**case.truth).world(3)
    labels, rng = mechanics.labels, np.random.default_rng(1)
    assert world.noise is None
    for _ in range(200):
        before = world.state
        action = int(rng.integers(mechanics.space.n_actions[before]))
        outcomes, after = world.step(action)
        assert set(world.noise) == set(case.noises) - set(case.hidden)
        if not case.hidden:
            state, chosen = labels.state(before), labels.action(before, action)
            result, expected = case.step(state, chosen, **world.noise)
            assert (labels.state(after), outcomes.tolist()) == (result, pytest.approx(expected, abs=0))


def test_states_are_those_that_can_be_reached():
    """Breadth first; what cannot be reached is not there, unless it is listed."""

    def step(place, action, coin):
        return (place + 2 * coin + (1 if action == "hop" else 0)) % 12 if place % 2 == 0 else place - 1, [0.0]

    found = eq.Mechanics(step, 4, lambda p: ["stay"], ["none"], {"coin": [0, 1]})
    states = [found.labels.state(s) for s in range(found.space.n_states)]
    assert states == [4, 6, 8, 10, 0, 2]
    more = eq.Mechanics(step, 4, lambda p: ["stay", "hop"], ["none"], {"coin": [0, 1]})
    assert {more.labels.state(s) for s in range(more.space.n_states)} == set(range(12))
    listed = eq.Mechanics(step, 4, lambda p: ["stay"], ["none"], {"coin": [0, 1]}, states=range(12))
    assert [listed.labels.state(s) for s in range(12)] == list(range(12))
    assert listed.space.start == 4
    assert repr(found) == "Mechanics(6 states, 6 pairs, 1 outcomes, start=4; laws: coin)"


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(4)), values=st.permutations(range(3)), start=st.integers(0, 3))
def test_the_order_of_states_and_values_does_not_matter_to_the_optimum(order, values, start):
    reward = eq.rewards.TargetSquared([0.95, 0.75])
    plain = eq.solve(new_shop().model(demand=DEMAND), reward).value
    law = {value: DEMAND[value] for value in values}
    for states in (order, None):
        other = new_shop(noises={"demand": values}, states=states, start=start).model(demand=law)
        assert eq.solve(other, reward).value == pytest.approx(plain, abs=1e-8)


def test_outcomes_by_name_in_any_order():
    def step(stock, order, demand):
        after, (fill, low) = shop(stock, order, demand)
        return after, {"low stock": low, "fill": fill}

    one, other = new_shop(), new_shop(step=step)
    np.testing.assert_array_equal(one.model(demand=DEMAND).means, other.model(demand=DEMAND).means)
    assert one.space == other.space


def test_laws_by_label():
    case = CASES["laws by state and action"]
    mechanics = case.mechanics()
    assert mechanics.laws == {"demand": ["price 0", "price 1"], "weather": [1, 0]}
    assert mechanics.space.laws.names == ("demand (price 0)", "demand (price 1)", "weather (1)", "weather (0)")
    assert "laws: demand (price 0), demand (price 1), weather (1), weather (0)" in repr(mechanics)
    assert new_shop().laws == {"demand": [None]}
    by_state = new_shop(law=lambda noise, stock, order: "empty" if stock == 0 else "not")
    laws = {"empty": [1.0, 0.0, 0.0], "not": {0: 0.5, 1: 0.25}}
    means = by_state.model(demand=laws).means
    s = [by_state.labels.state(s) for s in range(4)].index(0)
    assert means[by_state.space.pair(s, 0)].tolist() == [1.0, 1.0]  # nobody comes, so nobody goes empty-handed
    assert means[0].tolist() == new_shop().model(demand=DEMAND).means[0].tolist()


def test_laws_that_are_given_need_not_be_repeated_and_may_be_changed():
    mechanics = new_shop(given={"demand": DEMAND})
    assert mechanics.space.laws.n_units == 0
    np.testing.assert_array_equal(mechanics.model().means, new_shop().model(demand=DEMAND).means)
    np.testing.assert_array_equal(
        mechanics.model(demand=[1, 0, 0]).means, new_shop().model(demand={0: 1.0, 1: 0.0}).means
    )


def test_a_noise_of_one_value_has_no_law_to_learn():
    mechanics = new_shop(noises={"demand": [1]})
    assert mechanics.space.laws.n_units == 0
    transitions = mechanics.model(demand=[1.0]).transitions().toarray()
    assert np.all(transitions.max(axis=1) == 1.0)


@settings(max_examples=200, deadline=None)
@given(weights=st.lists(st.integers(0, 20), min_size=3, max_size=3), left_out=st.integers(0, 2))
def test_the_last_probability_may_be_left_out(weights, left_out):
    """Also where the others sum to one but for rounding."""
    if sum(weights) == 0:
        weights = [1, 1, 1]
    law = [weight / sum(weights) for weight in weights]
    short = {value: chance for value, chance in enumerate(law) if value != left_out}
    whole, rest = (SHOP.model(demand=content).means for content in (law, short))
    np.testing.assert_allclose(whole, rest, rtol=0, atol=1e-14)


@settings(max_examples=300, deadline=None)
@given(weights=st.lists(st.integers(1, 30), min_size=7, max_size=7))
def test_what_is_left_is_nothing_but_for_rounding(weights):
    """The others sum to one, or to a little more."""
    law = {value: weight / sum(weights) for value, weight in enumerate(weights)}
    model = COIN.model(w=law)
    assert model.n_states == 1


SHOP = new_shop()
COIN = eq.Mechanics(lambda s, a, w: (0, [w / 7]), 0, [0], ["pay"], {"w": range(8)})


# --- copies ---


@pytest.mark.parametrize("rebuild", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", CASES)
def test_copies_are_equal_and_read_only(name, rebuild):
    case = CASES[name]
    mechanics = case.mechanics()
    space, model = rebuild(mechanics.space), rebuild(mechanics.model(**case.truth))
    assert space == mechanics.space
    assert space.laws == mechanics.space.laws == model.laws
    for part in (*space.laws.arrays, space.laws.first_case, space.laws.case_next, model.branch_case):
        assert not isinstance(part, np.ndarray) or not part.flags.writeable
    with pytest.raises(AttributeError):
        space.laws.names = ()
    reward = eq.rewards.TargetSquared([0.7, 0.6])
    planner = eq.planning.Planner(relaxation=0.5)
    ends = []
    for told, world in ((space, model), (mechanics.space, mechanics.model(**case.truth))):
        agent = eq.TocUCRL2(told, reward, planner=planner)
        eq.simulate(world, agent, 50, seed=1)
        ends.append((agent.visits.tolist(), agent.average.tolist()))
    assert ends[0] == ends[1]


def test_mechanics_can_be_pickled():
    again = pickle.loads(pickle.dumps(new_shop()))
    assert again.space == SHOP.space
    np.testing.assert_array_equal(again.model(demand=DEMAND).means, SHOP.model(demand=DEMAND).means)


def test_spaces_with_other_laws_differ():
    spaces = [
        SHOP.space, SHOP.space.table, new_shop(given={"demand": DEMAND}).space,
        new_shop(law=lambda noise, stock, order: order).space,
    ]  # fmt: skip
    for one, other in itertools.combinations(spaces, 2):
        assert one != other
        assert one.difference(other)
    assert SHOP.space.table.laws is None
    assert SHOP.model(demand=DEMAND).space == SHOP.space.table


# --- bad input ---


def raising(stock, order, demand):
    return shop(stock, order, demand)[0], [0.0, 0.0 / (stock - 1)]


def counting():
    calls = itertools.count()
    return lambda stock, order, demand: (next(calls) % 4, [0.0, 0.0])


def at_random(stock, order, demand):
    return stock, [random.random(), 0.0]


def remembering():
    """Different only from the second round on."""
    seen: set[object] = set()

    def step(stock, order, demand):
        before = (stock, order, demand) in seen
        seen.add((stock, order, demand))
        return shop(stock, order, demand)[0], [float(before), 0.0]

    return step


def changing(*answers):
    """One answer after the other, for ever."""
    turns = itertools.cycle(answers)
    return lambda *arguments: next(turns)


def at_one(stock, order, demand, value):
    """Wrong at one place."""
    return shop(stock, order, demand) if (stock, order, demand) != (1, 0, 2) else value


def wrong_at_one(value):
    return lambda stock, order, demand: at_one(stock, order, demand, value)


PLACE = r"^step, state 1, action 0, demand=2: "
ANYWHERE = r"^step, state \d, action \d, demand=\d: "


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (raising, r"^step, state 1, action 0, demand=0: it raised ZeroDivisionError: .*division by zero"),
        (lambda stock, order: (0, [0, 0]), ANYWHERE + r"it raised TypeError: .*demand"),
        (wrong_at_one((7, [0, 0])), PLACE + r"the next state 7 is not one of the 4 that are listed"),
        (wrong_at_one((1, [0.5, 1.5])), PLACE + r'the outcome "low stock" is 1\.5; it must lie in \[0, 1\]'),
        (wrong_at_one((1, [-0.1, 1])), PLACE + r'the outcome "fill" is -0\.1'),
        (wrong_at_one((1, [0.1, float("nan")])), PLACE + r'the outcome "low stock" is nan'),
        (wrong_at_one((1, [0.1, float("inf")])), PLACE + r'the outcome "low stock" is inf'),
        (wrong_at_one((1, [0.1])), PLACE + r"it returned 1 outcomes; 2 are declared: \['fill', 'low stock'\]"),
        (wrong_at_one((1, [0.1] * 3)), PLACE + r"it returned 3 outcomes; 2"),
        (wrong_at_one((1, 0.1)), PLACE + r"the outcomes are 0\.1; 2 numbers"),
        (wrong_at_one((1, ["a", 0])), PLACE + r"the outcomes are \['a', 0\]"),
        (wrong_at_one((1, None)), PLACE + r"the outcomes are None"),
        (wrong_at_one((1, [10**400, 0])), PLACE),
        (wrong_at_one((1, {"fill": 1})), PLACE + r".*'low stock' is missing"),
        (wrong_at_one((1, {"fill": 1, "low": 1})), PLACE + r".*'low stock' is missing"),
        (wrong_at_one((1, {"fill": 1, "low stock": 1, "low": 1})), PLACE + r".*'low' is not declared"),
        (wrong_at_one(1), PLACE + r"it returned 1; \(next_state, outcomes\) is needed"),
        (wrong_at_one(None), PLACE + r"it returned None"),
        (wrong_at_one((1, [0, 0], "info")), PLACE + r"it returned \(1, \[0, 0\], 'info'\)"),
        (wrong_at_one(([1], [0, 0])), PLACE + r"the next state \[1\] is not hashable"),
        (wrong_at_one((([1],), [0, 0])), PLACE + r"the next state \(\[1\],\) is not hashable"),
        (counting(), ANYWHERE + r"it returned .* the first time and .* the second; it may depend on nothing"),
        (at_random, ANYWHERE + r"it returned .* the first time"),
        (remembering(), r"^step, state \d, action \d, demand=\d: it returned .*0\.0.* the first time and .*1\.0"),
    ],
)
def test_bad_steps_are_named(step, message):
    with pytest.raises(ModelError, match=message):
        new_shop(step=step, states=range(4))


def test_an_error_keeps_its_cause():
    with pytest.raises(ModelError) as error:
        new_shop(step=raising)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("x", [0.3, 1 / 1024, 976562.5e-9])  # the latter lie between two multiples of 1e-9
def test_outcomes_that_differ_by_rounding_are_one(x):
    mechanics = eq.Mechanics(
        lambda s, a, w: (s, [x + w * 1e-16, float(w == 2)]), 0, [0], ["x", "two"], {"w": range(3)}, hidden=["w"]
    )
    laws = mechanics.space.laws
    assert laws.values[0] == ((0, 1), 2)
    assert laws.arrays.rows.tolist() == [[x, 0.0], [x + 2e-16, 1.0]]


def test_outcomes_may_leave_their_range_by_rounding_only():
    found = eq.Mechanics(lambda s, a: (0, [1.0 + 5e-10, -5e-10]), 0, [0], ["a", "b"], {})
    assert found.space.laws.arrays.rows.tolist() == [[1.0, 0.0]]
    with pytest.raises(ModelError, match='"a" is'):
        eq.Mechanics(lambda s, a: (0, [1.0 + 5e-9, 0.0]), 0, [0], ["a", "b"], {})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": 3}, r"^step: got 3; a function"),
        ({"actions": [0, 0]}, r"^actions.*0 is the label of number 0 already"),
        ({"actions": lambda stock: ["a", "a"] if stock == 1 else ["a"]}, r"^actions, state \d|state 3"),
        ({"actions": []}, r"^actions"),
        ({"actions": lambda stock: [] if stock == 2 else [0, 1]}, r"^actions, state 2"),
        ({"actions": lambda stock: 1 / (stock - 2)}, r"^actions, state \d: "),
        ({"actions": lambda stock: [0] if stock == 3 else stock.missing}, r"^actions, state 2: it raised Attribute"),
        ({"actions": changing([0, 1], [1, 0])}, r"^actions, state \d: it returned .* the first time and .* the second"),
        ({"actions": 3}, r"^actions"),
        ({"actions": [[1]]}, r"^actions.*hashable"),
        ({"outcomes": []}, r"^outcomes"),
        ({"outcomes": ["fill", "fill"]}, r"^outcomes.*'fill' is the label of number 0 already"),
        ({"outcomes": 2}, r"^outcomes"),
        ({"noises": {"demand": []}}, r"^noises, demand"),
        ({"noises": {"demand": [1, 1]}}, r"^noises, demand.*1 is the label of number 0 already"),
        ({"noises": {"demand": 3}}, r"^noises, demand"),
        ({"noises": {"de mand": [1]}}, r"^noises: got the name 'de mand'"),
        ({"noises": {3: [1]}}, r"^noises: got the name 3"),
        ({"noises": ["demand"]}, r"^noises: got \['demand'\]; a mapping"),
        ({"noises": {"demand": [float("nan")]}}, r"^noises, demand"),
        ({"states": range(3)}, r"^start: 3 is not one of the 3 states that are listed"),
        ({"states": range(1, 4)}, r"^step, state 1, action 0, demand=1: the next state 0 is not one of the 3"),
        ({"states": [3, 3]}, r"^states.*3 is the label of number 0 already"),
        ({"start": [3]}, r"^start: got \[3\]; a label must be hashable"),
        ({"start": ([3],)}, r"^start"),
        ({"limit": 2}, r"^states: more than 2 are found from 3; the last is"),
        ({"limit": 0}, r"^limit"),
        (
            {"law": changing("a", "b")},
            r"^law, demand, state \d, action \d: it returned '.' the first time and '.' the sec",
        ),
        ({"law": lambda n, s, a: []}, r"^law, demand, state 3, action 0: .*unhashable"),
        ({"hidden": ["demnd"]}, r"^hidden: there is no noise 'demnd'.*demand"),
        ({"hidden": 3}, r"^hidden"),
        ({"given": [1]}, r"^given: got \[1\]; a mapping"),
        ({"given": {"demnd": DEMAND}}, r"^given: there is no noise 'demnd'.*demand"),
        ({"given": {"demand": [0.5, 0.5]}}, r"^given, demand: got 2 entries; 3"),
        ({"given": {"demand": [0.5, 0.5, 0.5]}}, r"^given, demand: the probabilities sum to 1\.5"),
        ({"given": {"demand": [1.5, -0.5, 0.0]}}, r"^given, demand, 0: got 1\.5; it must lie in \[0, 1\]"),
        ({"given": {"demand": [np.nan, 0.5, 0.5]}}, r"^given, demand, "),
        ({"given": {"demand": {7: 0.5}}}, r"^given, demand: 7 is not one of its values, 0, 1, 2"),
        ({"given": {"demand": {0: 0.5, 1: 0.75}}}, r"^given, demand, 2: got -0\.25"),
        ({"given": {"demand": {0: "x", 1: 0.5}}}, r"^given, demand"),
        ({"given": {"demand": {0: 0.5}}}, r"^given, demand: the probabilities sum to 0\.5"),
        ({"given": {"demand": "abc"}}, r"^given, demand"),
        ({"law": lambda noise, stock, order: stock.missing}, r"^law, demand, state 3, action 0: it raised Attribute"),
        ({"law": lambda noise, stock, order: [stock]}, r"^law, demand, state 3, action 0: "),
        ({"law": 3}, r"^law"),
        ({"law": lambda n, s, a: a, "given": {"demand": DEMAND}}, r"^given, demand: it has 2 laws, 0, 1; a mapping"),
        ({"law": lambda n, s, a: a, "given": {"demand": {2: DEMAND}}}, r"^given, demand: there is no law 2; they are"),
        ({"law": lambda n, s, a: a, "given": {"demand": {0: [1, 1, 1]}}}, r"^given, demand, 0: .* sum to 3"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    with pytest.raises(ModelError, match=message):
        new_shop(**changes)


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ({}, r"^model: the law of demand is missing"),
        ({"demnd": DEMAND}, r"^model: there is no noise 'demnd'"),
        ({"demand": [0.5, 0.5, 0.1]}, r"^model, demand: the probabilities sum to 1\.1"),
        ({"demand": [0.5, 0.5]}, r"^model, demand: got 2 entries"),
        ({"demand": {3: 1.0}}, r"^model, demand: 3 is not one of its values"),
        ({"demand": None}, r"^model, demand"),
    ],
)
def test_bad_laws_are_named(laws, message):
    with pytest.raises(ModelError, match=message):
        SHOP.model(**laws)


def test_one_of_several_laws_is_missing():
    case = CASES["laws by state and action"]
    with pytest.raises(ModelError, match=r"^model: the law of weather \(0\) is missing"):
        case.mechanics().model(demand=case.truth["demand"], weather={1: [0.3, 0.7]})


def test_what_can_never_be_learnt_is_refused_by_name():
    """One outcome, which shows the sum of two dice; and a demand that nothing shows."""
    dice = {"one": [0, 1], "two": [0, 1]}

    def roll(state, action, one, two):
        return 0, [(one + two) / 2]

    with pytest.raises(ModelError, match=r"^hidden: one can never be learnt: .*Give its law \(given=\)"):
        eq.Mechanics(roll, 0, [0], ["sum"], dice, hidden=["one", "two"])
    for hidden in (["one"], ["two"]):
        assert eq.Mechanics(roll, 0, [0], ["sum"], dice, hidden=hidden).space.laws.n_units == 2
    half = eq.Mechanics(
        roll, 0, [0], ["sum"], dice, hidden=["one", "two"], given={"one": [0.5, 0.5], "two": [0.5, 0.5]}
    )
    assert half.space.laws.n_units == 0
    with pytest.raises(ModelError, match=r"^hidden: two can never be learnt"):  # the law of one does not tell which
        eq.Mechanics(roll, 0, [0], ["sum"], dice, hidden=["one", "two"], given={"one": [0.5, 0.5]})


def test_values_that_are_never_told_apart_need_not_be_if_the_same_follows():
    """Demands of two and three."""

    def step(state, action, demand):
        return min(demand, 2), [0.5]

    fine = eq.Mechanics(step, 0, [0], ["none"], {"demand": range(4)}, hidden=["demand"])
    assert fine.space.laws.n_units >= 1  # what is not told apart makes no difference


def test_a_hidden_noise_that_does_not_matter_need_not_be_learnt():
    mechanics = eq.Mechanics(
        lambda s, a, w, x: ((s + w) % 2, [float(w)]), 0, [0], ["pay"], {"w": [0, 1], "x": range(5)}, hidden=["x"]
    )
    agent = eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.5]))
    eq.simulate(mechanics.model(w=[0.5, 0.5], x=[0.2] * 5), agent, 100, seed=0)
    assert sorted(agent.visits.tolist()) == [0, 100]
