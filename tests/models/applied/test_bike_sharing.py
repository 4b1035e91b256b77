"""The shared bikes against another program, by hand, and in closed form."""

from __future__ import annotations

import random

import numpy as np
import pytest

import equipoise as eq
from equipoise import mechanics, models
from equipoise.errors import ModelError
from tests.models.applied.frequencies import check_frequencies

CITY = mechanics.bike_sharing()
WORLD = CITY.model()


def what_follows(state, action, ride):
    """The next state and the outcomes of a slot with this ride."""
    rides = [CITY.labels.action(0, a) for a in range(7)]  # each transport is a ride too, in the same order
    law = [float(name == ride.replace("no ride", "no transport")) for name in rides]
    world = CITY.model(ride=law)
    s = world.labels.state_index(state)
    pair = world.pair(s, world.labels.action_index(s, action))
    (after,) = world.transitions()[[pair]].indices
    return world.labels.state(int(after)), world.means[pair].tolist()


def test_size_and_words():
    assert (CITY.space.n_states, CITY.space.n_pairs, CITY.space.n_outcomes) == (19, 133, 3)
    assert CITY.labels.state(CITY.space.start) == (2, 2, 2)
    assert WORLD.is_communicating()
    assert CITY.model(ride=[1.0, *[0.0] * 6]).is_communicating()  # by the van alone
    assert CITY.laws == {"ride": [None]}
    downhill = CITY.usual["ride"]
    assert downhill[0] == pytest.approx(0.2)
    assert downhill[1] == downhill[2] == downhill[4] == pytest.approx(3 * downhill[3])


@pytest.mark.parametrize(
    ("state", "transport", "ride", "after", "outcomes"),
    [
        ((2, 2, 2), "no transport", "no ride", (2, 2, 2), [1.0, 1.0, 0.0]),
        ((2, 2, 2), "no transport", "0 to 2", (1, 2, 3), [1.0, 1.0, 0.0]),
        ((2, 2, 2), "2 to 0", "no ride", (3, 2, 1), [1.0, 1.0, 1.0]),  # three kilometres, the longest way
        ((2, 2, 2), "0 to 1", "no ride", (1, 3, 2), [1.0, 1.0, 1 / 3]),
        # The van comes first: its bike is there for the rider.
        ((0, 2, 4), "2 to 0", "0 to 1", (0, 3, 3), [1.0, 1.0, 1.0]),
        ((0, 2, 4), "no transport", "0 to 1", (0, 2, 4), [0.0, 1.0, 0.0]),
        # No dock at station 2; station 1, two kilometres from it, is nearer than station 0.
        ((1, 1, 4), "no transport", "0 to 2", (0, 2, 4), [1.0, 0.0, 0.0]),
        # Station 1 is full too: the rider ends where the ride began.
        ((2, 4, 0), "no transport", "2 to 1", (2, 4, 0), [0.0, 1.0, 0.0]),
        # Nothing to take, and nowhere to bring it.
        ((0, 2, 4), "0 to 1", "no ride", (0, 2, 4), [1.0, 1.0, 0.0]),
        ((1, 1, 4), "1 to 2", "no ride", (1, 1, 4), [1.0, 1.0, 0.0]),
    ],
)
def test_by_hand(state, transport, ride, after, outcomes):
    reached, means = what_follows(state, transport, ride)
    assert reached == after
    assert means == pytest.approx(outcomes)


def test_another_program():
    """Bikes with names, each at a dock of its own."""
    dice = random.Random(4)
    rides = [WORLD.labels.action(0, a) for a in range(7)]
    km = {frozenset({0, 1}): 1.0, frozenset({1, 2}): 2.0, frozenset({0, 2}): 3.0}
    at = {bike: bike % 3 for bike in range(6)}
    log = []
    for _ in range(30_000):

        def here(station):
            return [bike for bike, place in at.items() if place == station]

        before, transport = tuple(len(here(k)) for k in range(3)), dice.choice(rides)
        driven, served, parked = 0.0, 1.0, 1.0
        if transport != "no transport":
            i, j = int(transport[0]), int(transport[-1])
            if here(i) and len(here(j)) < 4:
                at[here(i)[0]] = j
                driven = km[frozenset({i, j})] / 3.0
        ride = dice.choices(rides, CITY.usual["ride"])[0]
        if ride != "no transport":
            i, j = int(ride[0]), int(ride[-1])
            if not here(i):
                served = 0.0
            else:
                bike = here(i)[0]
                at[bike] = None
                free = [k for k in range(3) if len(here(k)) < 4]
                at[bike] = j if j in free else min(free, key=lambda k: km[frozenset({j, k})])
                parked = float(j in free)
        log.append((before, transport, tuple(len(here(k)) for k in range(3)), [served, parked, driven]))
    assert check_frequencies(WORLD, log, least=100) > 60


def test_one_bike_in_closed_form():
    """One bike at two stations, and rides down only, with probability p: the van brings it back, or not.

    If it always does, every rider is served, and it drives in p of the slots. Every drive serves one rider, so with at
    most a share c < p of slots in which it drives, c riders are served per slot, and p - c are not.
    """
    p, c = 0.6, 0.25
    down = models.bike_sharing(bikes=1, docks=1, distances=[[0, 1], [1, 0]], rides=[[0, p], [0, 0]])
    served = eq.rewards.Linear([1.0, 0.0, 0.0])
    assert eq.solve(down, served).outcomes == pytest.approx([1.0, 1.0, p], abs=1e-7)
    limit = eq.rewards.at_most("transport", c, down)
    best = eq.solve(down, eq.rewards.Constrained(served, [limit]))
    assert best.value == pytest.approx(1.0 - p + c, abs=1e-7)
    assert best.multipliers[limit.name] == pytest.approx(1.0, abs=1e-6)


def test_the_limit_on_transport_binds():
    """Half a kilometre per slot: riders would be served better with more of it."""
    km = eq.rewards.at_most("transport", 0.5 / 3, WORLD, name="at most half a kilometre")
    riders = eq.rewards.Linear([0.5, 0.5, 0.0])
    free, best = eq.solve(WORLD, riders), eq.solve(WORLD, eq.rewards.Constrained(riders, [km]))
    assert 3 * free.outcomes[2] > 0.75
    assert best.value < free.value - 0.01
    assert best.multipliers[km.name] > 0.1
    assert eq.solve(WORLD, eq.rewards.Linear([0.0, 0.0, -1.0])).outcomes[0] < best.outcomes[0] - 0.05


def test_no_bike_is_lost():
    for state in WORLD.labels.states:
        assert sum(state) == 6
        assert max(state) <= 4
    assert np.all(WORLD.transitions().sum(axis=1) == pytest.approx(1.0))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: mechanics.bike_sharing(bikes=0), "bikes: got 0"),
        (lambda: mechanics.bike_sharing(bikes=12), "bikes: got 12; with 12 docks there are at most 11"),
        (lambda: mechanics.bike_sharing(docks=0), "docks: got 0"),
        (lambda: mechanics.bike_sharing(distances=[[0]]), "distances: got 1 stations; at least two"),
        (lambda: mechanics.bike_sharing(distances=[[0, 1], [1]]), r"distances\[1\]: got 1 entries; 2 are needed"),
        (lambda: mechanics.bike_sharing(distances=[[0, 1], [1, 2]]), r"distances\[1\]\[1\]: got 2; .* it is 0"),
        (lambda: mechanics.bike_sharing(distances=[[0, 0], [1, 0]]), r"distances\[0\]\[1\]: got 0"),
        (lambda: models.bike_sharing(rides=[[0, 0.1, 0.1]]), "rides: got 1 entries; 3 are needed"),
        (lambda: models.bike_sharing(rides=[[0.1, 0, 0], [0] * 3, [0] * 3]), r"rides\[0\]\[0\]: got 0.1; .* it is 0"),
        (lambda: models.bike_sharing(rides=[[0, 0.5, 0], [0.5, 0, 0], [0] * 3]), "rides: the probabilities sum to 1"),
    ],
)
def test_bad_input(make, complaint):
    with pytest.raises(ModelError, match=complaint):
        make()
