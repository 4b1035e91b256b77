r"""A shop with one article: fill rate against holding against the number of orders.

C is the capacity, L the lead time, D the day's demand, and Q_0 < Q_1 < ... are the quantities.

States        (x; y_1, ..., y_{L-1}): x units in stock, from 0 to C, and the orders on their way, y_1 the next to come.
Actions       a orders the quantity Q_a, and Q_0 = 0.
Noise         demand: 0, 1, ..., the largest demand. One law, seen also as far as the demand is not met.
Step          An order takes L days: with L = 0 it comes before the customers, with L = 1 after them, with L >= 2 it
              enters the pipeline, and the evening's delivery is y_1. From x units z = max(0, x - D) are left, and the
              next day begins with min(C, z + delivery). Unmet demand is lost, what does not fit is sent back.
Outcomes      Fill rate: min(x, D) / D, and 1 if D = 0. Low holding: 1 - z / C. Few orders: 1 if nothing was ordered.
Usual law     Weights 2, 3, 4, ... that rise to the middle and fall again.

The average fill rate is at least (all that was sold) / (all that was asked for), because the larger the demand, the
smaller the part that is met. Communicating if demands of 0 and of 1 have positive probability.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from equipoise.errors import ModelError
from equipoise.models.applied.system import System, check_size, triangle
from equipoise.models.checks import check_increasing, check_integer, check_list
from equipoise.models.mechanics import Mechanics

Shop = tuple[int, ...]


def inventory(
    capacity: int = 10, largest_demand: int = 3, orders: Sequence[int] = (0, 3, 6), lead_time: int = 1
) -> Mechanics:
    """Describe a shop with one article; it starts full with nothing on its way.

    A state is (stock, next delivery, the one after it, ...). Action a orders ``orders[a]`` units. The outcomes are the
    fill rate, low holding and few orders. Unknown is the day's demand.

    Parameters
    ----------
    capacity : int
        How many units fit, at least 1.
    largest_demand : int
        The largest demand of a day, at least 1.
    orders : sequence of int
        The quantities that can be ordered, increasing; the first is 0, and there are at least two.
    lead_time : int
        The days an order takes, at least 0.

    Examples
    --------
    >>> inventory(capacity=20, largest_demand=6, orders=(0, 5, 10), lead_time=3)
    Mechanics(189 states, 567 pairs, 3 outcomes, start=(20, 0, 0); laws: demand)
    >>> inventory().usual["demand"]
    (0.2, 0.3, 0.3, 0.2)
    >>> inventory().model(demand=[0.25, 0.25, 0.25, 0.25]).means[0].tolist()  # nothing in stock, nothing ordered
    [0.25, 1.0, 1.0]
    """
    demands = check_size(largest_demand, "largest_demand") + 1
    return inventory_system(capacity, demands, orders, lead_time).mechanics({"demand": triangle(demands)})


def inventory_system(capacity: Any, demands: int, orders: Any, lead_time: Any) -> System:
    """The shop when the demand of a day is below `demands`."""
    full = check_integer(capacity, "capacity", 1)
    quantities = [check_integer(q, f"orders[{a}]", 0) for a, q in enumerate(check_list(orders, "orders"))]
    if len(quantities) < 2 or quantities[0] != 0:
        raise ModelError(f"orders: got {quantities}; 0 comes first, and at least one other quantity follows")
    check_increasing(quantities, "orders")
    days = check_integer(lead_time, "lead_time", 0)
    quantity = {f"order {units}" if units else "order nothing": units for units in quantities}

    def step(shop: Shop, order: str, demand: int) -> tuple[Shop, list[float]]:
        stock, *coming = shop
        coming.append(quantity[order])
        if days == 0:  # it is there before the customers, and nothing comes in the evening
            stock, coming = min(full, stock + quantity[order]), [0]
        sold = min(stock, demand)
        left = stock - sold
        after = (min(full, left + coming[0]), *coming[1:])
        return after, [sold / demand if demand else 1.0, 1.0 - left / full, float(quantity[order] == 0)]

    return System(
        step,
        start=(full, *[0] * (days - 1)),
        states=list(itertools.product(range(full + 1), *[quantities] * (days - 1))),
        actions=list(quantity),
        outcomes=["fill rate", "low holding", "few orders"],
        noises={"demand": range(demands)},
    )
