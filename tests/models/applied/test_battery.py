"""The battery against another program, by hand, and in what must hold in every hour."""

from __future__ import annotations

import random

import numpy as np
import pytest

import equipoise as eq
from equipoise import mechanics
from tests.models.applied.frequencies import check_frequencies

HOME = mechanics.battery()
WORLD = HOME.model()


def branches(state, action):
    s = WORLD.labels.state_index(state)
    pair = WORLD.pair(s, WORLD.labels.action_index(s, action))
    for j in range(WORLD.branch_first[pair], WORLD.branch_first[pair + 1]):
        after = WORLD.labels.state(int(WORLD.branch_next[j]))
        yield float(WORLD.branch_probability[j]), after, WORLD.rows[WORLD.branch_row[j]]


def test_size_and_words():
    assert (HOME.space.n_states, HOME.space.n_pairs, HOME.space.n_outcomes) == (117, 351, 3)
    assert HOME.labels.state(HOME.space.start) == (12, 10.0, 0)
    assert WORLD.is_communicating()
    assert len(HOME.space.laws.names) == 3 + 9 + 3
    assert "next_sun (price 10, sun 0)" in HOME.space.laws.names


@pytest.mark.parametrize(
    ("state", "action", "demand", "level", "outcomes"),
    [
        # Three are needed, one comes from the sun, two from the battery: nothing is paid.
        ((5, 20.0, 1), "discharge", 3, 3, [1.0, 1.0, 1 / 3]),
        # The battery is left alone: two are bought, at 20 of 240.
        ((5, 20.0, 1), "hold", 3, 5, [1 - 40 / 240, 1 / 3, 1.0]),
        # Two are bought for the house and three for the battery.
        ((5, 20.0, 1), "charge", 3, 8, [1 - 100 / 240, 1 / 3, 0.0]),
        # Of a sun of three one serves the demand, two the battery, and one is bought.
        ((5, 40.0, 3), "charge", 1, 8, [1 - 40 / 240, 1.0, 0.0]),
        # There is room for one only, which the sun gives; the rest is given away.
        ((11, 40.0, 3), "charge", 1, 12, [1.0, 1.0, 1 - 1 / 3]),
        # No need, so nothing goes out.
        ((11, 40.0, 3), "discharge", 2, 11, [1.0, 1.0, 1.0]),
        # It is empty.
        ((0, 10.0, 0), "discharge", 2, 0, [1 - 20 / 240, 0.0, 1.0]),
        # It is full.
        ((12, 10.0, 0), "charge", 1, 12, [1 - 10 / 240, 0.0, 1.0]),
    ],
)
def test_by_hand(state, action, demand, level, outcomes):
    law = [0.0] * 3
    law[demand - 1] = 1.0
    world = HOME.model(demand=dict.fromkeys(HOME.laws["demand"], law))
    s = world.labels.state_index(state)
    pair = world.pair(s, world.labels.action_index(s, action))
    assert world.means[pair] == pytest.approx(outcomes)
    after = world.transitions()[[pair]]
    assert {world.labels.state(int(i))[0] for i in after.indices} == {level}


def test_the_hours_go_on_whatever_is_done():
    """Price and sun of the next hour have the same law for all actions and levels."""
    p = WORLD.transitions().toarray()
    kinds = sorted({state[1:] for state in WORLD.labels.states})
    group = np.array([[state[1:] == kind for kind in kinds] for state in WORLD.labels.states], float)
    onwards = p @ group
    for s, state in enumerate(WORLD.labels.states):
        alike = WORLD.labels.state_index((0, *state[1:]))
        for a in range(3):
            assert onwards[WORLD.pair(s, a)] == pytest.approx(onwards[WORLD.pair(alike, 0)], abs=1e-12)
    # The price goes round, five hours each on average.
    first = onwards[0]
    dearer = sum(first[i] for i, (price, _) in enumerate(kinds) if price == 20.0)
    assert (dearer, sum(first[i] for i, (price, _) in enumerate(kinds) if price == 40.0)) == pytest.approx((0.2, 0.0))


def test_what_holds_in_every_hour():
    for state in WORLD.labels.states:
        for action in ("charge", "hold", "discharge"):
            for _, after, (saved, own, spared) in branches(state, action):
                moved = after[0] - state[0]
                assert abs(moved) == pytest.approx(3 * (1 - spared))
                assert moved >= 0 or action == "discharge"
                assert moved <= 0 or action == "charge"
                assert own == 1.0 or saved < 1.0  # what is not own power was paid for


def test_another_program():
    dice = random.Random(8)
    usual = HOME.usual
    suns, tariff = [0, 1, 3], [10.0, 20.0, 40.0]
    level, price, sun, log = 12, 10.0, 0, []
    for hour in range(40_000):
        action = dice.choice(["charge", "hold", "discharge"])
        demand = dice.choices([1, 2, 3], usual["demand"][f"price {price:.0f}"])[0]
        panels, house, grid = sun, demand, 0
        used = min(panels, house)
        panels, house, before = panels - used, house - used, level
        if action == "discharge":
            while house > 0 and level > 0 and before - level < 3:
                house, level = house - 1, level - 1
        if action == "charge":
            while level < 12 and level - before < 3:
                level += 1
                if panels:
                    panels -= 1
                else:
                    grid += 1
        grid += house
        outcomes = [1 - price * grid / 240, 1 - house / demand, 1 - abs(level - before) / 3]
        following = dice.choices(tariff, usual["next_price"][f"price {price:.0f}"])[0]
        weather = dice.choices(suns, usual["next_sun"][f"price {price:.0f}, sun {sun}"])[0]
        log.append(((before, price, sun), action, (level, following, weather), outcomes))
        price, sun = following, weather
        if hour % 5 == 4:  # or it would stay nearly full
            level = dice.randrange(13)
    assert check_frequencies(WORLD, log, least=100) > 100


def test_goals_conflict():
    """Low bills, own power and a battery that is spared: each alone could have more than all together."""
    fair = eq.solve(WORLD, eq.rewards.TargetSquared([1.0, 1.0, 1.0])).outcomes
    for k in range(3):
        alone = eq.solve(WORLD, eq.rewards.Linear(np.eye(3)[k])).outcomes
        assert alone[k] > fair[k] + 0.01
        assert (np.delete(alone, k) < np.delete(fair, k) - 0.01).any()
