r"""A battery in a microgrid: when to charge and when to discharge, by the price, the sun and the wear.

States        (level, price, sun): units in the battery, 0 to `capacity`; the price of a unit now; the units that the
              panels give this hour.
Actions       charge, hold, discharge.
Noises        demand: the units used in this hour, 1 to largest_demand; one law per price. next_sun: what the panels
              give in the next hour; one law per price and sun. next_price: one law per price.
Step          The sun serves the demand first; what is then missing is the need. Charging takes up to `rate` units,
              from the sun that is left and for the rest from the grid. Discharging gives up to `rate` units, as far
              as there is need. What is still missing is bought; what is left of the sun is given away.
Outcomes      "saved": 1 - (what was paid) / (the most that could be paid). "own power": the part of the demand that
              was not bought in this hour. "spared": 1 - (units moved in or out) / rate.

Communicating by the usual laws: the largest demand exceeds the sun in some weather, so that the battery can be emptied;
it can be filled; and all prices and suns are visited from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from equipoise.errors import ModelError
from equipoise.models.applied.system import binomial, check_size, interpolate
from equipoise.models.checks import check_amounts, check_increasing, check_list
from equipoise.models.mechanics import Mechanics

Grid = tuple[int, float, int]

_ACTIONS: Final = ("charge", "hold", "discharge")
_CHANGE: Final = 0.2  # how often the price changes in an hour, by the usual law


def battery(
    capacity: int = 12,
    rate: int = 3,
    sun: Sequence[int] = (0, 1, 3),
    prices: Sequence[float] = (10.0, 20.0, 40.0),
    largest_demand: int = 3,
) -> Mechanics:
    """Describe a microgrid; it starts with a full battery, at the first price and the first sun.

    A state is (level, price, sun); the actions are charge, hold and discharge; the outcomes are "saved", "own power"
    and "spared". Unknown are the demand, the weather and the prices to come. By the usual laws the demand rises with
    the price, the sun stays or changes by one step, more often up the higher the price, and the price stays for five
    hours on average and then goes on to the next, from the last to the first.

    Parameters
    ----------
    capacity : int
        The units that the battery holds, at least 1.
    rate : int
        The largest number of units in or out per hour, at least 1 and no more than the capacity.
    sun : sequence of int
        By weather: the units that the panels give in an hour, increasing.
    prices : sequence of float
        What a unit costs, by regime, increasing and above 0, in any currency.
    largest_demand : int
        The most units that are used in an hour, at least 1, and more than the least that the panels give.

    Examples
    --------
    >>> home = battery()
    >>> home.space.n_states, home.space.n_pairs, home.labels.outcomes
    (117, 351, ('saved', 'own power', 'spared'))
    >>> len(home.laws["next_sun"]), home.laws["demand"]
    (9, ['price 10', 'price 20', 'price 40'])

    A unit in the battery, the highest price, a sun of one and a demand of three: two are missing, one is available.

    >>> world = home.model(demand={"price 40": [0.0, 0.0, 1.0]})
    >>> pair = world.pair(world.labels.state_index((1, 40, 1)), 2)
    >>> world.means[pair].round(4).tolist()  # 40 of at most 240 is paid
    [0.8333, 0.6667, 0.6667]
    """
    full = check_size(capacity, "capacity")
    power = check_size(rate, "rate")
    if power > full:
        raise ModelError(f"rate: got {power}; it is at most the capacity, {full}")
    suns = [check_size(units, f"sun[{i}]", 0) for i, units in enumerate(check_list(sun, "sun", some=True))]
    check_increasing(suns, "sun")
    tariff = check_amounts(prices, "prices").tolist()
    check_increasing(tariff, "prices")
    most = check_size(largest_demand, "largest_demand")
    if most <= suns[0]:
        raise ModelError(
            f"largest_demand: got {most}; it must be above {suns[0]}, the least that the panels give, or the battery "
            "is never emptied"
        )
    bill = tariff[-1] * (most + power)

    def step(state: Grid, action: str, demand: int, next_sun: int, next_price: float) -> tuple[Grid, list[float]]:
        level, price, units = state
        need, spare = max(0, demand - units), max(0, units - demand)
        into = min(power, full - level) if action == "charge" else 0
        out = min(power, level, need) if action == "discharge" else 0
        bought = need - out
        paid = price * (bought + max(0, into - spare))
        outcomes = [1.0 - paid / bill, 1.0 - bought / demand, 1.0 - (into + out) / power]
        return (level + into - out, next_price, next_sun), outcomes

    def law(noise: str, state: Grid, _action: str) -> str:
        _, price, units = state
        return _at(price, units) if noise == "next_sun" else _at(price)

    return Mechanics(
        step,
        start=(full, tariff[0], suns[0]),
        actions=_ACTIONS,
        outcomes=["saved", "own power", "spared"],
        noises={"demand": range(1, most + 1), "next_sun": suns, "next_price": tariff},
        law=law,
        usual=_usual(tariff, suns, most),
        states=[(level, price, units) for level in range(full + 1) for price in tariff for units in suns],
    )


def _usual(tariff: Sequence[float], suns: Sequence[int], most: int) -> dict[str, Any]:
    demand, weather, next_price = {}, {}, {}
    R, W = len(tariff), len(suns)
    for r, (price, busy, bright) in enumerate(
        zip(tariff, interpolate([0.25, 0.75], R), interpolate([0.15, 0.45], R), strict=True)
    ):
        demand[_at(price)] = binomial(most - 1, busy)
        change = [0.0] * R
        change[(r + 1) % R] += _CHANGE
        change[r] += 1.0 - _CHANGE
        next_price[_at(price)] = change
        for i, units in enumerate(suns):
            chances = [0.0] * W
            chances[min(i + 1, W - 1)] += bright
            chances[max(i - 1, 0)] += 0.6 - bright
            chances[i] += 0.4
            weather[_at(price, units)] = chances
    return {"demand": demand, "next_sun": weather, "next_price": next_price}


def _at(price: float, sun: int | None = None) -> str:
    """The label of a law."""
    label = f"price {price:g}"
    return label if sun is None else f"{label}, sun {sun}"
