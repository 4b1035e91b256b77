"""The applied worlds: laws recomputed by other formulas, always communicating, and goals that conflict."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import equipoise as eq
from equipoise import models
from equipoise.errors import ModelError
from equipoise.models import (
    bidding,
    bike_sharing,
    grid,
    inventory,
    patrol,
    pricing,
    queue,
    scheduler,
    sites,
)
from equipoise.models.applied.patrol import BUILDING

WORLDS = {
    "queue": (queue, 16, 48, 2),
    "inventory": (inventory, 11, 33, 3),
    "scheduler": (scheduler, 8, 24, 3),
    "patrol": (patrol, 85, 340, 85),
    "sites": (sites, 10, 21, 3),
    "pricing": (pricing, 3, 15, 2),
    "bidding": (bidding, 3, 15, 3),
    "bike_sharing": (bike_sharing, 19, 133, 3),
}

inside = st.floats(0.01, 0.99)
above = st.floats(0.01, 1.0)


def law(model, state, action):
    """The next states of a pair, by label, with their probabilities."""
    row = model.transitions().toarray()[model.pair(model.labels.state_index(state), action)]
    return {model.labels.state(s): pytest.approx(float(row[s]), abs=1e-12) for s in np.flatnonzero(row)}


def check(model):
    assert model.is_communicating()
    assert model.rows.min() >= 0.0
    assert model.rows.max() <= 1.0
    assert model.transitions().sum(axis=1) == pytest.approx(np.ones(model.n_pairs))


def single(model):
    """The best average of each outcome for itself, and the averages of all that come with it."""
    K = model.n_outcomes
    return [eq.solve(model, eq.rewards.Linear(unit)).outcomes for unit in np.eye(K)]


def assert_conflict(model, balanced, margin):
    """Each goal alone could have more than the balanced optimum gives it, and takes it from another."""
    for k, alone in enumerate(single(model)):
        assert alone[k] > balanced[k] + margin
        assert (np.delete(alone, k) < np.delete(balanced, k) - margin).any()


@pytest.mark.parametrize("name", WORLDS)
def test_defaults(name):
    build, n_states, n_pairs, n_outcomes = WORLDS[name]
    model = build()  # that it keeps the contract of worlds is tests/testing/test_model_contract.py
    assert (model.n_states, model.n_pairs, model.n_outcomes) == (n_states, n_pairs, n_outcomes)
    assert name in models.__all__


# The call centre.


def test_queue_by_hand():
    model = queue(arrivals=[0.3, 0.2], service=[0.75, 0.5], room=3)
    assert model.labels.states == tuple(itertools.product(range(4), repeat=2))
    assert model.labels.actions == ("serve class 0", "serve class 1", "rest")
    assert model.labels.outcomes == ("service level of class 0", "service level of class 1")
    assert model.labels.state(model.start) == (0, 0)
    # Served at class 0, which is 2 long: down with .75 * .7, kept with .75 * .3 + .25 * .7, up with .25 * .3;
    # class 1 is full and stays so.
    assert law(model, (2, 3), 0) == {(1, 3): 0.525, (2, 3): 0.4, (3, 3): 0.075}
    # Serving an empty line is resting.
    assert law(model, (0, 1), 0) == law(model, (0, 1), 2)
    assert law(model, (0, 1), 2) == {(0, 1): 0.56, (1, 1): 0.24, (0, 2): 0.14, (1, 2): 0.06}
    # Served when full: a customer leaves first, so that there is room for one who arrives.
    assert law(model, (0, 3), 1) == {(0, 2): 0.28, (0, 3): 0.42, (1, 2): 0.12, (1, 3): 0.18}


def test_queue_arrivals_are_binomial():
    model = queue(arrivals=[0.35] * 3, service=[0.5] * 3, room=2)
    row = model.transitions().toarray()[model.pair(0, 3)]
    waiting = np.array([sum(lengths) for lengths in model.labels.states])
    assert [row[waiting == n].sum() for n in range(4)] == pytest.approx(binom.pmf(range(4), 3, 0.35))


def test_queue_levels_in_closed_form():
    """Class by class: E min(room, q - served + arrived), the same for the transitions and for the outcomes."""
    arrivals, service, room = [0.15, 0.6, 0.4], [1.0, 0.3, 0.8], 3
    model = queue(arrivals, service, room)
    lines = model.labels.states
    mean_next = model.transitions() @ np.array(lines, float)
    for s, a in itertools.product(range(model.n_states), range(4)):
        pair = model.pair(s, a)
        for k, q in enumerate(lines[s]):
            left = service[k] if a == k and q > 0 else 0.0
            expected = left * (q - 1 + arrivals[k]) + (1 - left) * (q + arrivals[k] * (q < room))
            assert mean_next[pair, k] == pytest.approx(expected)
            assert model.means[pair, k] == pytest.approx(1 - expected / room)


def test_queue_outcomes_show_the_next_state():
    model = queue()
    world, lines = model.world(seed=1), model.labels.states
    rng = np.random.default_rng(1)
    for _ in range(300):
        outcomes, state = world.step(int(rng.integers(3)))
        assert outcomes.tolist() == [1 - q / 3 for q in lines[state]]


@settings(max_examples=40, deadline=None)
@given(
    classes=st.lists(st.tuples(inside, above), min_size=1, max_size=3),
    room=st.integers(1, 3),
)
def test_queue_is_communicating(classes, room):
    arrivals, service = zip(*classes, strict=True)
    model = queue(arrivals, service, room)
    assert model.n_states == (room + 1) ** len(classes)
    check(model)


def test_queue_levels_conflict():
    model = queue()
    fair = eq.solve(model, eq.rewards.BottomSum(2, 1))
    assert fair.outcomes == pytest.approx([0.5474, 0.5474], abs=1e-3)
    assert_conflict(model, fair.outcomes, margin=0.2)
    assert eq.solve(model, eq.rewards.TargetSquared([0.54, 0.54])).value == pytest.approx(1.0)
    assert eq.solve(model, eq.rewards.TargetSquared([0.6, 0.6])).value < 0.998


# The shop.


def test_inventory_by_hand():
    demand, orders = [0.5, 0.25, 0.0, 0.25], [0, 2, 5]
    model = inventory(4, demand, orders, 1)
    assert model.labels.states == tuple((x,) for x in range(5))
    assert model.labels.actions == ("order nothing", "order 2", "order 5")
    assert model.labels.outcomes == ("fill rate", "low holding", "few orders")
    assert model.start == 4
    assert law(model, (1,), 0) == {(1,): 0.5, (0,): 0.5}
    assert law(model, (3,), 1) == {(4,): 0.75, (2,): 0.25}  # 5 units do not fit
    # Of stock 1: demand 0 and 1 are met, of 3 a third is; 1 unit is left half of the time.
    assert model.means[model.pair(1, 0)] == pytest.approx([0.75 + 0.25 / 3, 1 - 0.5 / 4, 1.0])
    assert model.means[model.pair(0, 2)] == pytest.approx([0.5, 1.0, 0.0])  # nothing to sell today


def test_inventory_lead_times():
    demand, orders = [0.5, 0.25, 0.0, 0.25], [0, 2]
    at_once = inventory(4, demand, orders, 0)
    assert law(at_once, (1,), 1) == {(3,): 0.5, (2,): 0.25, (0,): 0.25}
    assert at_once.means[at_once.pair(1, 1)] == pytest.approx([1.0, 1 - (0.5 * 3 + 0.25 * 2) / 4, 0.0])
    assert law(at_once, (3,), 1) == {(4,): 0.5, (3,): 0.25, (1,): 0.25}  # one of the two is sent back

    two = inventory(4, demand, orders, 2)
    assert two.labels.states == tuple(itertools.product(range(5), orders))
    assert law(two, (1, 2), 0) == {(3, 0): 0.5, (2, 0): 0.5}
    assert law(two, (1, 0), 1) == {(1, 2): 0.5, (0, 2): 0.5}
    assert two.means[two.pair(two.labels.state_index((1, 2)), 0)] == pytest.approx([0.75 + 0.25 / 3, 0.875, 1.0])
    assert two.labels.state(two.start) == (4, 0)

    three = inventory(4, demand, orders, 3)
    assert law(three, (1, 2, 0), 1) == {(3, 0, 2): 0.5, (2, 0, 2): 0.5}
    assert law(three, (1, 0, 2), 0) == {(1, 2, 0): 0.5, (0, 2, 0): 0.5}


def test_inventory_outcomes_go_with_the_next_state():
    """Holding and fill tell the demand, and the demand tells the next stock."""
    model = inventory()
    world = model.world(seed=2)
    rng = np.random.default_rng(2)
    stock = 10
    for _ in range(500):
        a = int(rng.integers(3))
        (fill, low, few), after = world.step(a)
        left = round(10 * (1 - low))
        assert after == min(10, left + (0, 3, 6)[a])
        assert few == (a == 0)
        assert fill == 1.0 or left == 0
        assert math.isclose(fill, 1.0) or any(math.isclose(fill, stock / d) for d in (1, 2, 3))
        stock = after


@settings(max_examples=40, deadline=None)
@given(
    capacity=st.integers(1, 6),
    weights=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5),
    steps=st.lists(st.integers(1, 4), min_size=1, max_size=2),
    lead_time=st.integers(0, 3),
)
def test_inventory_is_communicating(capacity, weights, steps, lead_time):
    orders = [0, *np.cumsum(steps).tolist()]
    model = inventory(capacity, np.array(weights) / sum(weights), orders, lead_time)
    assert model.n_states == (capacity + 1) * len(orders) ** max(0, lead_time - 1)
    check(model)


def test_inventory_kpis_conflict():
    model = inventory()
    balanced = eq.solve(model, eq.rewards.TargetSquared([0.9, 0.8, 0.8]))
    assert balanced.value < 0.9998
    assert_conflict(model, balanced.outcomes, margin=0.05)
    assert eq.solve(model, eq.rewards.TargetSquared([0.88, 0.77, 0.78])).value == pytest.approx(1.0)


# The base station.


def test_scheduler_by_hand():
    rates = [[0.1, 0.5, 1.0], [0.2, 0.9]]
    model = scheduler(rates, up=[0.3, 0.25], down=[0.5, 0.75])
    channels = model.labels.states
    assert channels == tuple(itertools.product(range(3), range(2)))
    assert model.labels.actions == ("serve user 0", "serve user 1")
    assert model.labels.outcomes == ("rate of user 0", "rate of user 1")
    expected = {(0, 0): 0.375, (0, 1): 0.125, (1, 0): 0.15, (1, 1): 0.05, (2, 0): 0.225, (2, 1): 0.075}
    for action in (0, 1):
        assert law(model, (1, 1), action) == expected
        assert law(model, (1, 0), action) == expected  # as up + down = 1 for user 1
    assert law(model, (0, 0), 1) == {(0, 0): 0.525, (0, 1): 0.175, (1, 0): 0.225, (1, 1): 0.075}
    for s, (first, second) in enumerate(channels):
        assert model.means[model.pair(s, 0)].tolist() == [rates[0][first], 0.0]
        assert model.means[model.pair(s, 1)].tolist() == [0.0, rates[1][second]]
    assert (model.noise, scheduler(rates, [0.3, 0.25], [0.5, 0.75], "bernoulli").noise) == ("none", "bernoulli")


def test_a_channel_that_does_not_fade():
    model = scheduler(rates=[[0.5], [0.0, 1.0]], up=[0.5, 0.1], down=[0.5, 0.3])
    assert model.n_states == 2
    assert model.transitions().toarray()[::2] == pytest.approx(np.array([[0.9, 0.1], [0.3, 0.7]]), abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(
    users=st.lists(st.tuples(st.lists(st.floats(0, 1), min_size=1, max_size=3), inside, inside), min_size=1, max_size=3)
)
def test_scheduler_is_communicating(users):
    rates, up, share = zip(*users, strict=True)
    check(scheduler(rates, up, [min(b * (1 - a) + 1e-6, 1 - a) for a, b in zip(up, share, strict=True)]))


def test_scheduler_fairness_conflicts_with_the_total():
    model = scheduler()
    fair = eq.solve(model, eq.rewards.BottomSum(3, 1))
    nash = eq.solve(model, eq.rewards.ProportionalFairness(3, 0.05))
    total = eq.solve(model, eq.rewards.Linear([1.0, 1.0, 1.0]))
    assert_conflict(model, fair.outcomes, margin=0.04)
    assert total.outcomes.min() < 0.03 < 0.18 < fair.outcomes.min()
    assert total.outcomes.sum() > nash.outcomes.sum() + 0.05 > fair.outcomes.sum() + 0.1
    # Catching the channels when they are good: more for everybody than a third of the mean rate.
    blind = scheduler().means.reshape(8, 3, 3).mean(axis=1)
    chance = np.linalg.matrix_power(model.transitions().toarray()[::3], 10**4)[0]
    assert (nash.outcomes > 1.2 * (chance @ blind)).all()


# The patrol.


def test_patrol_is_the_grid_of_the_picture():
    cells = patrol().labels.states
    lines = BUILDING.split()
    assert (len(lines), {len(line) for line in lines}) == (10, {10})
    assert cells == tuple((r, c) for r in range(10) for c in range(10) if lines[r][c] != "#")
    assert patrol().labels.outcomes == tuple(str(cell) for cell in cells)
    assert patrol().labels.actions == ("up", "right", "down", "left")
    assert patrol(slip=0.3) == grid(10, 10, BUILDING, slip=0.3).visits()
    model = patrol(".#.\n...", slip=0.0)
    assert model.means.tolist() == np.repeat(np.eye(5), 4, axis=0).tolist()
    assert model.known_mask.all()
    assert model.diameter() == 4.0


@settings(max_examples=30, deadline=None)
@given(slip=st.floats(0, 1), rows=st.integers(1, 4), columns=st.integers(2, 4))
def test_patrol_is_communicating(slip, rows, columns):
    check(patrol("\n".join(["." * columns] * rows), slip))


def test_patrol_can_be_even():
    model = patrol()
    visits = eq.solve(model, eq.rewards.Entropy(model.n_states, mu=1e-3)).outcomes
    assert -(visits @ np.log(visits)) / math.log(model.n_states) > 0.999


# The field service.


def test_sites_by_hand():
    model = sites(n_sites=2, distance=2, delay=0.25, success=[0.5, 1.0])
    p = model.transitions().toarray()
    assert model.n_actions == (2, 2, 2, 2, 2)
    assert p[model.pair(0, 1)].tolist() == [0.25, 0, 0, 0.75, 0]
    assert p[model.pair(3, 0)].tolist() == [0, 0, 0, 0.25, 0.75]
    assert p[model.pair(3, 1)].tolist() == [0.75, 0, 0, 0.25, 0]
    assert p[model.pair(4, 0)].tolist() == [0, 0, 0, 0, 1]
    assert p[model.pair(2, 1)].tolist() == [0, 0.75, 0.25, 0, 0]
    assert {tuple(row) for row in model.means[model.means.any(axis=1)].tolist()} == {(0.5, 0.0), (0.0, 1.0)}
    assert model.means[model.pair(2, 0)].tolist() == [0.5, 0.0]
    assert model.noise == "bernoulli"


def test_without_chance_the_sites_are_the_star():
    assert sites(3, 2, delay=0.0, success=1.0).transitions().toarray().tolist() == (
        models.star(3, 4).transitions().toarray().tolist()
    )


@settings(max_examples=30, deadline=None)
@given(
    success=st.lists(above, min_size=2, max_size=4), distance=st.integers(1, 4), delay=st.floats(0, 0.95)
)  # fmt: skip
def test_sites_are_communicating(success, distance, delay):
    model = sites(len(success), distance, delay, success)
    check(model)
    assert model.diameter() == pytest.approx(2 * distance / (1 - delay))


@pytest.mark.slow
def test_no_stationary_policy_serves_all_sites():
    found = eq.best_stationary(sites(), eq.rewards.TargetSquared([0.3, 0.3, 0.3]))
    assert found.supremum == pytest.approx(1.0)
    assert found.classes == 3
    assert not found.attained
    assert found.deterministic.value < 0.95


# Budgets.


@pytest.mark.parametrize(
    "model",
    [
        pricing(),
        pricing([3, 4, 5], [[0.5, 0.4, 0.3]], [[1.0]], uses=[[1, 0], [0, 1], [1, 1]]),
        bidding(),
        bidding(auction="second"),
    ],
    ids=["pricing", "hotel", "bidding", "second price"],
)
def test_null_actions(model):
    null = [model.pair(s, 0) for s in range(model.n_states)]
    assert not model.means[null].any()
    for pair in null:  # with certainty, not only on average
        branches = slice(model.branch_first[pair], model.branch_first[pair + 1])
        assert not model.rows[model.branch_row[branches]].any()
    assert np.flatnonzero(model.known_mask).tolist() == null
    assert np.flatnonzero(model.space.known_mask).tolist() == null
    assert model.noise == "none"
    assert model.means[~model.known_mask].any(axis=1).all()


def test_pricing_by_hand():
    regimes = [[0.75, 0.25], [0.5, 0.5]]
    model = pricing(prices=[30, 60], sale=[[0.5, 0.25], [1.0, 0.75]], regimes=regimes)
    assert model.n_actions == (3, 3)
    assert model.means.tolist() == [[0, 0], [0.25, 0.5], [0.25, 0.25], [0, 0], [0.5, 1.0], [0.75, 0.75]]
    assert model.transitions().toarray().tolist() == [row for row in regimes for _ in range(3)]


def test_revenue_comes_with_a_unit():
    rng = np.random.default_rng(3)
    world = pricing().world(seed=3)
    seen = set()
    for _ in range(400):
        a = int(rng.integers(5))
        (revenue, unit), _ = world.step(a)
        assert unit in (0.0, 1.0)
        assert (revenue > 0) == (unit == 1.0)
        assert revenue in (0.0, 0.0 if a == 0 else (0.4, 0.6, 0.8, 1.0)[a - 1])
        seen.add((a > 0, unit))
    assert seen == {(False, 0.0), (True, 0.0), (True, 1.0)}
    hotel = pricing([3, 4, 5], [[0.5, 0.4, 0.3]], [[1.0]], uses=[[1, 0], [0, 1], [1, 1]])
    assert {tuple(row) for row in hotel.rows.tolist()} == {(0, 0, 0), (0.6, 1, 0), (0.8, 0, 1), (1, 1, 1)}


def test_bidding_by_hand():
    market = [[0.5, 0.5], [0.25, 0.75]]
    given = {"bids": [1, 2, 4], "values": [0.5, 1.0], "leads": [0.5, 0.25], "market": market}
    rivals = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.25]]
    first, second = (bidding(**given, rivals=rivals, auction=auction) for auction in ("first", "second"))
    win = np.cumsum(rivals, axis=1)
    for c, j in itertools.product(range(2), range(3)):
        pair = first.pair(c, j + 1)
        lead = win[c, j] * given["leads"][c]
        price = given["bids"][j] / 4
        assert first.means[pair] == pytest.approx([lead * given["values"][c], win[c, j] * price, lead])
        paid = sum(rivals[c][i] * given["bids"][i] / 4 for i in range(j + 1))
        assert second.means[pair] == pytest.approx([lead * given["values"][c], paid, lead])
    assert first.transitions().toarray() == pytest.approx(np.repeat(market, 4, axis=0))
    assert second.transitions().toarray() == pytest.approx(np.repeat(market, 4, axis=0))


def test_value_comes_with_a_lead_and_a_payment():
    for auction in ("first", "second"):
        rows = bidding(auction=auction).rows
        assert set(rows[:, 2].tolist()) == {0.0, 1.0}
        assert ((rows[:, 0] > 0) == (rows[:, 2] == 1)).all()
        assert (rows[rows[:, 2] == 1, 1] > 0).all()
        assert set(rows[:, 1].tolist()) == {0.0, 0.25, 0.5, 0.75, 1.0}


@st.composite
def chains(draw):
    n = draw(st.integers(1, 4))
    rows = [draw(st.lists(st.floats(0.05, 1.0), min_size=n, max_size=n)) for _ in range(n)]
    return [np.array(row) / sum(row) for row in rows]


@settings(max_examples=40, deadline=None)
@given(chain=chains(), prices=st.lists(st.floats(0.1, 1e6), min_size=1, max_size=3), data=st.data())
def test_pricing_and_bidding_are_communicating(chain, prices, data):
    R, J = len(chain), len(prices)
    chance = st.lists(st.floats(0, 1), min_size=J, max_size=J)
    table = [data.draw(chance) for _ in range(R)]
    check(pricing(prices, table, chain))
    bids = np.cumsum(prices)
    check(bidding(bids, [0.5] * R, [0.5] * R, [np.array(row) / J for row in table], chain))


def test_the_budget_binds():
    for model, b in [(pricing(), 0.3), (bidding(), 0.3), (bidding(auction="second"), 0.3)]:
        tight, loose = eq.solve_knapsack(model, b), eq.solve_knapsack(model, 0.999)
        assert tight.status == loose.status == "optimal"
        assert loose.value > tight.value + 0.05
        assert loose.outcomes[1:].max() < 0.99
        assert tight.outcomes[1:].max() == pytest.approx(b)
    assert (eq.solve_knapsack(bidding(), 0.3).prices > 0.1).all()  # money and leads are both scarce


# Bad parameters.


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: queue(arrivals=[]), "arrivals: got no entries"),
        (lambda: queue(arrivals=0.5), "arrivals: got 0.5; a sequence"),
        (lambda: queue(arrivals=[0.5, 0.0]), r"arrivals\[1\]: got 0.0; it must be strictly"),
        (lambda: queue(arrivals=[1.0, 0.5]), r"arrivals\[0\]: got 1.0; it must be strictly"),
        (lambda: queue(arrivals=[0.5, float("nan")]), r"arrivals\[1\]: got nan"),
        (lambda: queue(service=[0.5]), "service: got 1 entries; 2 are needed, one for each class"),
        (lambda: queue(service=[0.5, 0.0]), r"service\[1\]: got 0.0; it must be above 0"),
        (lambda: queue(service=[0.5, "x"]), r"service\[1\]: got 'x'"),
        (lambda: queue(room=0), "room: got 0"),
        (lambda: queue(room=1.5), "room: got 1.5"),
        (lambda: inventory(capacity=0), "capacity: got 0"),
        (lambda: inventory(demand=[0.5, 0.4]), "demand: the probabilities sum to 0.9"),
        (lambda: inventory(demand=[0.0, 1.0]), "demand: the probability of 0 must be above 0"),
        (lambda: inventory(demand=[0.5, 0.0, 0.5]), "demand: the probability of 1 must be above 0"),
        (lambda: inventory(demand=[1.0]), "demand: the probability of 1 must be above 0"),
        (lambda: inventory(demand=[1.5, -0.5]), r"demand\[0\]: got 1.5"),
        (lambda: inventory(demand=[]), "demand: got no entries"),
        (lambda: inventory(orders=[0]), r"orders: got \[0\]"),
        (lambda: inventory(orders=[1, 2]), r"orders: got \[1, 2\]; 0 comes first"),
        (lambda: inventory(orders=[0, 2, 2]), r"orders\[2\]: got 2 after 2"),
        (lambda: inventory(orders=[0, 2.5]), r"orders\[1\]: got 2.5"),
        (lambda: inventory(orders=[0, -1]), r"orders\[1\]: got -1"),
        (lambda: inventory(lead_time=-1), "lead_time: got -1"),
        (lambda: scheduler(rates=[]), "rates: got no entries"),
        (lambda: scheduler(rates=[[0.5, 1.0], [], [1.0]]), r"rates\[1\]: got no entries"),
        (lambda: scheduler(rates=[[0.5, 2.0], [1.0], [1.0]]), r"rates\[0\]\[1\]: got 2.0"),
        (lambda: scheduler(up=[0.5]), "up: got 1 entries; 3 are needed, one for each user"),
        (lambda: scheduler(up=[0.5, 0.0, 0.5]), r"up\[1\]: got 0.0; it must be above 0"),
        (lambda: scheduler(down=[0.5, 0.5, -0.5]), r"down\[2\]: got -0.5"),
        (lambda: scheduler(up=[0.9, 0.1, 0.1]), r"up\[0\] and down\[0\]: they sum to 1.05"),
        (lambda: scheduler(noise="loud"), "noise: got 'loud'"),
        (lambda: patrol(7), "picture: got 7"),
        (lambda: patrol(""), "picture: it has no rows"),
        (lambda: patrol("..\n..."), "picture: .* row 1 of the picture has 3 cells; 2 are needed"),
        (lambda: patrol("##"), "picture: .* no cell free"),
        (lambda: patrol(".#."), r"picture: .* cell \(0, 2\) cannot be reached from \(0, 0\)"),
        (lambda: patrol(slip=-0.1), "slip: got -0.1"),
        (lambda: sites(n_sites=1), "n_sites: got 1"),
        (lambda: sites(distance=0), "distance: got 0"),
        (lambda: sites(delay=1.0), "delay: got 1.0; it must be below 1"),
        (lambda: sites(delay=-1), "delay: got -1"),
        (lambda: sites(success=0.0), "success: got 0.0"),
        (lambda: sites(success=[0.5, 0.5]), "success: got 2 entries; 3 are needed, one for each site"),
        (lambda: sites(success=[0.5, 0.5, 1.5]), r"success\[2\]: got 1.5"),
        (lambda: pricing(prices=[]), "prices: got no entries"),
        (lambda: pricing(prices=[1, 0, 2, 3]), r"prices\[1\]: got 0.0"),
        (lambda: pricing(prices=[1, math.inf, 2, 3]), r"prices\[1\]: got inf"),
        (lambda: pricing(sale=[[0.5] * 4]), "sale: got 1 entries; 3 are needed, one for each regime"),
        (lambda: pricing(sale=[[0.5] * 3] * 3), r"sale\[0\]: got 3 entries; 4 are needed, one for each price"),
        (lambda: pricing(sale=[[0.5] * 4, [0.5] * 4, [0.5, 0.5, 1.2, 0]]), r"sale\[2\]\[2\]: got 1.2"),
        (lambda: pricing(regimes=[]), "regimes: got no rows"),
        (lambda: pricing(regimes=[[0.5, 0.5], [1.0]]), r"regimes\[1\]: got 1 entries; 2"),
        (lambda: pricing(regimes=[[0.5, 0.6], [0, 1]]), r"regimes\[0\]: the probabilities sum to 1.1"),
        (lambda: pricing(regimes=[[0.5, 0.5], [0, 1]]), "regimes: 0 is never reached from 1"),
        (lambda: pricing(uses=[[1]]), "uses: got 1 entries; 4 are needed, one for each price"),
        (lambda: pricing(uses=[[1], [1], [1], [2]]), r"uses\[3\]\[0\]: got 2"),
        (lambda: pricing(uses=[[1, 0], [0, 1], [0, 0], [1, 1]]), r"uses\[2\]: it takes nothing"),
        (lambda: pricing(uses=[[1, 0], [1], [1], [1]]), r"uses\[1\]: got 1 entries; 2 are needed"),
        (lambda: pricing(uses=[[], [], [], []]), r"uses\[0\]: it takes nothing"),
        (lambda: bidding(bids=[]), "bids: got no entries"),
        (lambda: bidding(bids=[1, 2, 2, 3]), r"bids\[2\]: got 2.0 after 2.0"),
        (lambda: bidding(bids=[-1, 2, 3, 4]), r"bids\[0\]: got -1.0"),
        (lambda: bidding(values=[0.5, 0.5]), "values: got 2 entries; 3 are needed, one for each condition"),
        (lambda: bidding(values=[0.5, 0.5, 7]), r"values\[2\]: got 7.0"),
        (lambda: bidding(leads=[0.5]), "leads: got 1 entries; 3 are needed, one for each condition"),
        (lambda: bidding(leads=[0.5, -1, 0.5]), r"leads\[1\]: got -1.0"),
        (lambda: bidding(rivals=[[0.1] * 4]), "rivals: got 1 entries; 3"),
        (lambda: bidding(rivals=[[0.1] * 4, [0.3] * 4, [0.1] * 4]), r"rivals\[1\]: the probabilities sum to 1.2"),
        (lambda: bidding(rivals=[[0.1] * 3] * 3), r"rivals\[0\]: got 3 entries; 4"),
        (lambda: bidding(market=[[1, 0], [0, 1]]), "market: 1 is never reached from 0"),
        (lambda: bidding(auction="third"), "auction: got 'third'"),
    ],
)
def test_bad_parameters_are_named(build, message):
    with pytest.raises(ModelError, match=message):
        build()
