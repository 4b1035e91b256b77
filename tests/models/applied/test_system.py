"""The worlds that exist as tables too: with the same laws the mechanics make the same world."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

import equipoise as eq
from equipoise import mechanics, models
from equipoise.errors import ModelError

TABLES = ("inventory", "queue", "scheduler", "pricing", "bidding", "patrol", "sites", "bike_sharing")


def coin(p):
    return [1 - p, p]


def inventory_laws(demand):
    return {"demand": demand}


def queue_laws(arrivals, service):
    done = {f"class {k}": coin(p) for k, p in enumerate(service)}
    return {"done": done} | {f"arrival_{k}": coin(p) for k, p in enumerate(arrivals)}


def scheduler_laws(up, down):
    return {f"channel_{k}": {-1: d, 1: u} for k, (u, d) in enumerate(zip(up, down, strict=True))}


def pricing_laws(words, sale, regimes):
    told = {f"regime {r}, {words[j]}": coin(p) for r, row in enumerate(sale) for j, p in enumerate(row)}
    return {"sale": told, "regime": {f"regime {r}": row for r, row in enumerate(regimes)}}


def bidding_laws(leads, rivals, market):
    return {
        "lead": {f"condition {c}": coin(p) for c, p in enumerate(leads)},
        "rival": {f"condition {c}": [*row, 1 - sum(row)] for c, row in enumerate(rivals)},
        "condition": {f"condition {c}": row for c, row in enumerate(market)},
    }


def sites_laws(delay, success):
    return {"delay": {"on the road": coin(delay)}, "job": {f"site {k}": coin(p) for k, p in enumerate(success)}}


HOTEL = {"prices": [60, 60, 100], "uses": [[1, 0], [0, 1], [1, 1]]}
HOTEL_WORDS = ["offer 0 at 60", "offer 1 at 60", "offer 2 at 100"]
SALE = [[0.5, 0.25, 0.125], [0.75, 0.5, 0.0]]
CHAIN = [[0.25, 0.75], [1.0, 0.0]]
RATES = [[0.1, 0.5, 1.0], [0.2, 0.9]]
PICTURE = "..#.\n....\n.##."

# The mechanics, the laws that they are given, and the table.
CASES = {
    **{name: (getattr(mechanics, name)(), {}, getattr(models, name)()) for name in TABLES},
    "inventory, 189 states": (
        mechanics.inventory(20, 6, (0, 4, 9), 3),
        inventory_laws([0.1, 0.2, 0.3, 0.0, 0.1, 0.1, 0.2]),
        models.inventory(20, [0.1, 0.2, 0.3, 0.0, 0.1, 0.1, 0.2], (0, 4, 9), 3),
    ),
    "inventory, at once": (
        mechanics.inventory(4, 3, [0, 2], 0),
        inventory_laws([0.5, 0.25, 0.0, 0.25]),
        models.inventory(4, [0.5, 0.25, 0.0, 0.25], [0, 2], 0),
    ),
    "inventory, two days": (
        mechanics.inventory(4, 1, [0, 2, 5], 2),
        inventory_laws([0.4, 0.6]),
        models.inventory(4, [0.4, 0.6], [0, 2, 5], 2),
    ),
    "queue, three classes": (
        mechanics.queue(3, 2),
        queue_laws([0.15, 0.6, 0.4], [1.0, 0.3, 0.8]),
        models.queue([0.15, 0.6, 0.4], [1.0, 0.3, 0.8], 2),
    ),
    "queue, one line": (mechanics.queue(1, 5), queue_laws([0.3], [0.6]), models.queue([0.3], [0.6], 5)),
    "scheduler, levels": (
        mechanics.scheduler(RATES),
        scheduler_laws([0.3, 0.25], [0.5, 0.75]),
        models.scheduler(RATES, [0.3, 0.25], [0.5, 0.75]),
    ),
    "scheduler, packets": (
        mechanics.scheduler(RATES, "bernoulli"),
        scheduler_laws([0.3, 0.25], [0.5, 0.75]),
        models.scheduler(RATES, [0.3, 0.25], [0.5, 0.75], "bernoulli"),
    ),
    "scheduler, one level": (
        mechanics.scheduler([[0.5], [0.0, 1.0]]),
        scheduler_laws([0.5, 0.1], [0.5, 0.3]),
        models.scheduler([[0.5], [0.0, 1.0]], [0.5, 0.1], [0.5, 0.3]),
    ),
    "pricing, a hotel": (
        mechanics.pricing(**HOTEL, n_regimes=2),
        pricing_laws(HOTEL_WORDS, SALE, CHAIN),
        models.pricing(**HOTEL, sale=SALE, regimes=CHAIN),
    ),
    "bidding, second price": (
        mechanics.bidding([10, 20, 50], [0.3, 1.0], "second"),
        bidding_laws([0.0, 0.7], [[0.2, 0.3, 0.4], [0.5, 0.0, 0.5]], CHAIN),
        models.bidding([10, 20, 50], [0.3, 1.0], [0.0, 0.7], [[0.2, 0.3, 0.4], [0.5, 0.0, 0.5]], CHAIN, "second"),
    ),
    "bidding, first price": (
        mechanics.bidding([10, 20, 50], [0.3, 1.0]),
        bidding_laws([0.4, 0.7], [[0.2, 0.3, 0.4], [0.5, 0.0, 0.5]], CHAIN),
        models.bidding([10, 20, 50], [0.3, 1.0], [0.4, 0.7], [[0.2, 0.3, 0.4], [0.5, 0.0, 0.5]], CHAIN),
    ),
    "patrol, a picture": (mechanics.patrol(PICTURE), {"slip": [0.4, 0.3, 0.3]}, models.patrol(PICTURE, 0.6)),
    "sites, two": (
        mechanics.sites(2, 1),
        sites_laws(0.25, [0.5, 1.0]),
        models.sites(2, 1, 0.25, [0.5, 1.0]),
    ),
    "bike sharing, two stations": (
        mechanics.bike_sharing(5, 4, [[0, 2], [1, 0]]),
        {"ride": [0.2, 0.3, 0.5]},
        models.bike_sharing(5, 4, [[0, 2], [1, 0]], [[0, 0.3], [0.5, 0]]),
    ),
    "sites, four": (
        mechanics.sites(4, 2),
        sites_laws(0.0, [0.1, 0.2, 0.3, 0.4]),
        models.sites(4, 2, 0.0, [0.1, 0.2, 0.3, 0.4]),
    ),
}  # fmt: skip


def joint(model):
    """The law of next state and outcomes in every state and action, all by label; a Bernoulli outcome is drawn out."""
    laws = {}
    for s, n in enumerate(model.n_actions):
        for a in range(n):
            pair, law = model.pair(s, a), defaultdict(float)
            for j in range(model.branch_first[pair], model.branch_first[pair + 1]):
                row = model.rows[model.branch_row[j]]
                uncertain = [k for k, p in enumerate(row) if model.noise == "bernoulli" and 0 < p < 1]
                for drawn in itertools.product((0, 1), repeat=len(uncertain)):
                    outcomes, chance = row.copy(), float(model.branch_probability[j])
                    for k, one in zip(uncertain, drawn, strict=True):
                        outcomes[k] = one
                        chance *= row[k] if one else 1 - row[k]
                    law[model.labels.state(int(model.branch_next[j])), tuple(outcomes.round(9))] += chance
            laws[model.labels.state(s), model.labels.action(s, a)] = {k: p for k, p in law.items() if p > 1e-13}
    return laws


@pytest.mark.parametrize("name", CASES)
def test_with_the_same_laws_it_is_the_same_world(name):
    told, laws, table = CASES[name]
    world = told.model(**laws)
    assert world.labels.states == table.labels.states
    assert world.labels.state(world.start) == table.labels.state(table.start)
    assert world.n_actions == table.n_actions
    assert [world.labels.outcome(k) for k in range(world.n_outcomes)] == list(table.labels.outcomes)
    assert world.transitions().toarray() == pytest.approx(table.transitions().toarray(), abs=1e-12)
    assert world.means == pytest.approx(table.means, abs=1e-12)
    ours, theirs = joint(world), joint(table)
    assert ours.keys() == theirs.keys()
    for pair, law in theirs.items():
        assert ours[pair] == pytest.approx(law, abs=1e-12), pair
    assert world.is_communicating()


OTHERS = {
    "inventory": {"demand": [0.21, 0.29, 0.3, 0.2]},
    "queue": {"done": {"class 1": [0.31, 0.69]}},
    "scheduler": {"channel_2": [0.3, 0.56, 0.14]},
    "pricing": {"regime": {"regime 2": [0.0, 0.21, 0.79]}},
    "bidding": {"condition": {"condition 1": [0.1, 0.79, 0.11]}},
    "patrol": {"slip": [0.9, 0.06, 0.04]},
    "sites": {"delay": {"on the road": [0.89, 0.11]}},
    "bike_sharing": {"ride": [0.21, 0.19, *[0.2, 0.2 / 3] * 2, 0.2 / 3]},
}


@pytest.mark.parametrize("name", TABLES)
def test_with_another_law_it_is_another_world(name):
    told, _, table = CASES[name]
    difference = told.model(**OTHERS[name]).transitions().toarray() - table.transitions().toarray()
    assert abs(difference).max() > 5e-3


@pytest.mark.parametrize("name", mechanics.__all__)
def test_usual_laws(name):
    told = getattr(mechanics, name)()
    assert told.model() == told.model(**told.usual)
    with pytest.raises(TypeError):
        told.usual["demand"] = [1.0]
    noises = told.space.laws.noises
    assert set(told.usual) <= set(noises)
    labels = [label for labels in told.laws.values() for label in labels]
    assert all(label is None or isinstance(label, str) for label in labels)  # a file can name them


@pytest.mark.parametrize(
    "make",
    [
        *(lambda n=n: mechanics.inventory(6, n) for n in (1, 2, 5, 6)),
        *(lambda n=n: mechanics.queue(n, 1) for n in (1, 3, 4)),
        *(lambda n=n: mechanics.scheduler([[0.1, 0.9]] * n) for n in (1, 2, 4)),
        *(lambda n=n: mechanics.pricing([1, 2, 5], n) for n in (1, 2, 5)),
        *(lambda n=n: mechanics.bidding([1, 2, 5], [0.5] * n) for n in (1, 2, 4)),
        lambda: mechanics.bidding([100.0], [1.0] * 3),
        lambda: mechanics.department(("calls",), (3,), (4,), (2,), 3, ("all_day",)),
        lambda: mechanics.department(("a", "b", "c"), (1, 1, 2), (1, 1, 2), (1, 1, 1), 2, ("night", "day"), 0.5),
        lambda: mechanics.battery(4, 1, [0, 2], [5.0], 1),
        lambda: mechanics.bike_sharing(1, 1, [[0, 1], [1, 0]]),
        lambda: mechanics.bike_sharing(5, 2, [[abs(i - j) for i in range(4)] for j in range(4)]),
        lambda: mechanics.battery(5, 5, [1], [1, 2, 3, 4], 4),
    ],
)
def test_other_sizes_have_usual_laws_too(make):
    world = make().model()
    assert world.is_communicating()
    assert world.transitions().sum(axis=1) == pytest.approx(np.ones(world.n_pairs))


def test_a_law_that_is_given_goes_before_a_usual_one():
    def step(state, action, coin):
        return coin, [float(coin)]

    def made(**laws):
        return eq.Mechanics(step, 0, ["go"], ["heads"], {"coin": [0, 1]}, **laws)

    assert made(usual={"coin": [0.5, 0.5]}).model().means[0, 0] == 0.5
    assert made(usual={"coin": [0.5, 0.5]}, given={"coin": [0.25, 0.75]}).model().means[0, 0] == 0.75
    assert made(usual={"coin": {1: 0.5}}, given={"coin": [0.25, 0.75]}).model(coin=[0, 1]).means[0, 0] == 1.0
    assert made().usual == {}
    with pytest.raises(ModelError, match="the law of coin is missing"):
        made().model()
    with pytest.raises(ModelError, match=r"usual, coin: the probabilities sum to 0\.9"):
        made(usual={"coin": [0.5, 0.4]})
    with pytest.raises(ModelError, match="usual: there is no noise 'coins'"):
        made(usual={"coins": [0.5, 0.5]})
    assert made(usual={"coin": [0.5, 0.5]}).space == made().space  # the agent is not told


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: mechanics.inventory(largest_demand=0), "largest_demand: got 0"),
        (lambda: mechanics.inventory(capacity=0), "capacity: got 0"),
        (lambda: mechanics.inventory(orders=[3]), "orders: got"),
        (lambda: mechanics.inventory(lead_time=-1), "lead_time: got -1"),
        (lambda: mechanics.queue(classes=0), "classes: got 0"),
        (lambda: mechanics.queue(room=0), "room: got 0"),
        (lambda: mechanics.scheduler(rates=3), "rates: got 3"),
        (lambda: mechanics.scheduler(rates=[[1.5]]), r"rates\[0\]\[0\]: got 1.5"),
        (lambda: mechanics.scheduler(noise="loud"), "noise: got 'loud'"),
        (lambda: mechanics.pricing(prices=["a"]), "prices: got"),
        (lambda: mechanics.pricing(n_regimes=0), "n_regimes: got 0"),
        (lambda: mechanics.pricing(uses=[[1]]), "uses: got 1 entries"),
        (lambda: mechanics.bidding(bids=[2, 1]), r"bids\[1\]: got 1.0 after 2.0"),
        (lambda: mechanics.bidding(values=[2.0]), r"values\[0\]: got 2.0"),
        (lambda: mechanics.bidding(auction="third"), "auction: got 'third'"),
        (lambda: mechanics.patrol("..\n."), "picture: .* row 1 of the picture has 1 cells; 2 are needed"),
        (lambda: mechanics.patrol(".#."), "picture: "),
        (lambda: mechanics.sites(n_sites=1), "n_sites: got 1"),
        (lambda: mechanics.sites(distance=0), "distance: got 0"),
        (lambda: mechanics.department(classes="urgent"), "classes: got 'urgent'"),
        (lambda: mechanics.department(classes=("urgent", "urgent")), r"classes\[1\]: got 'urgent'"),
        (lambda: mechanics.department(limits=(1,)), "limits: got 1 entries; 2 are needed, one for each class"),
        (lambda: mechanics.department(limits=(1, 0)), r"limits\[1\]: got 0"),
        (lambda: mechanics.department(doctors=0), "doctors: got 0"),
        (lambda: mechanics.department(periods=()), "periods: got"),
        (lambda: mechanics.department(hours=0.1), "hours: got 0.1"),
        (lambda: mechanics.battery(capacity=0), "capacity: got 0"),
        (lambda: mechanics.battery(rate=13), "rate: got 13; it is at most the capacity, 12"),
        (lambda: mechanics.battery(sun=(1, 1)), r"sun\[1\]: got 1 after 1"),
        (lambda: mechanics.battery(prices=(0.0, 1.0)), r"prices\[0\]: got 0.0"),
        (lambda: mechanics.battery(sun=(3, 4)), "largest_demand: got 3; it must be above 3"),
    ],
)
def test_bad_input(make, complaint):
    with pytest.raises(ModelError, match=complaint):
        make()
