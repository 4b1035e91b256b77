r"""A shop with one article: how stock moves is known, what customers will ask for is not.

The states, actions, outcomes and parameters are those of `equipoise.models.inventory`. As a table, a shop of 189 states
and three order sizes has 567 unknown distributions. As mechanics it has one unknown law, the day's demand, and what
is seen of it on any day holds for all.

Noise.        demand: 0, 1, ..., largest_demand. One law. It is seen, also what of it is not met.
Usual laws.   Weights 2, 3, 4, ... that rise to the middle and fall again: (0.2, 0.3, 0.3, 0.2) for a largest demand of
              three, the default of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise import models
from equipoise.mechanics.usual import size, triangle
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics

Shop = tuple[int, ...]


def inventory(
    capacity: int = 10, largest_demand: int = 3, orders: Sequence[int] = (0, 3, 6), lead_time: int = 1
) -> Mechanics:
    """Tell how the shop works; it starts full with nothing on its way.

    Parameters
    ----------
    capacity : int
        How many units fit, at least 1.
    largest_demand : int
        The most that is asked for on a day, at least 1.
    orders : sequence of int
        The quantities that can be ordered, increasing; the first is 0, and there are at least two.
    lead_time : int
        The days an order takes, at least 0.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.models.inventory : The same as a table.

    Examples
    --------
    >>> inventory(capacity=20, largest_demand=6, orders=(0, 5, 10), lead_time=3)
    Mechanics(189 states, 567 pairs, 3 outcomes, start=(20, 0, 0); laws: demand)
    >>> inventory().usual["demand"]
    (0.2, 0.3, 0.3, 0.2)
    >>> inventory().model(demand=[0.25, 0.25, 0.25, 0.25]).means[0].tolist()  # nothing in stock, nothing ordered
    [0.25, 1.0, 1.0]
    """
    demands = size(largest_demand, "largest_demand") + 1
    table = models.inventory(capacity, triangle(demands), orders, lead_time)
    quantity = {table.labels.action(0, a): units for a, units in enumerate(orders)}

    def step(shop: Shop, order: str, demand: int) -> tuple[Shop, list[float]]:
        stock, *coming = shop
        coming.append(quantity[order])
        if lead_time == 0:  # it is there before the customers, and nothing comes in the evening
            stock, coming = min(capacity, stock + quantity[order]), [0]
        sold = min(stock, demand)
        left = stock - sold
        after = (min(capacity, left + coming[0]), *coming[1:])
        return after, [sold / demand if demand else 1.0, 1.0 - left / capacity, float(quantity[order] == 0)]

    return in_the_words_of(table, step, {"demand": range(demands)}, {"demand": triangle(demands)})
