r"""A shop with one article: fill rate against holding against the number of orders.

In the user's words: every morning we may order a batch from the supplier, which takes its time to come. We
want to sell to everybody who asks, with little on the shelves, and without ordering all the time. Any two of
the three are easy.

Symbols: C the capacity, L the lead time, D the day's demand with P(D = d) = demand[d], quantities Q_0 < Q_1 < ...

States.       (x; y_1, ..., y_{L-1}): x units in stock, from 0 to C, and the orders on their way, y_1 the next
              to come. With L = 0 or 1 nothing is on its way when a day begins.
Actions.      In every state: a orders the quantity Q_a; Q_0 = 0, so a = 0 orders nothing.
Transitions.  An order takes L days: with L = 0 it comes before the customers; with L = 1 after them, to be
              sold from the next day; with L >= 2 it enters the pipeline, and the delivery of the evening is
              y_1. What does not fit is sent back. With x the stock when the shop opens, after the delivery
              if L = 0, there is z = max(0, x - D) left when it closes, and the next day begins with
              min(C, z + delivery). Unmet demand is lost.
Outcomes.     Fill rate: min(x, D) / D, and 1 if D = 0. Low holding: 1 - z / C. Few orders: 1 if nothing was
              ordered, else 0. The first two and the next state all depend on the same D.

The first average is the mean of the daily fill rates, a day without demand being a good one; it is at least
(all that was sold) / (all that was asked for), because the more is asked for, the smaller the part that is met.

Communicating whenever demand[0] > 0 and demand[1] > 0: with no demand, orders fill the shop up to its
capacity; one unit a day then empties it to any level; and with no demand any pipeline can be set up.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list
from equipoise.models.applied._checks import checked_distribution
from equipoise.models.labels import Labels
from equipoise.models.model import Model

Shop = tuple[int, ...]

_DEMAND = (0.2, 0.3, 0.3, 0.2)
_ORDERS = (0, 3, 6)


def inventory(
    capacity: int = 10,
    demand: Sequence[float] = _DEMAND,
    orders: Sequence[int] = _ORDERS,
    lead_time: int = 1,
) -> Model:
    """Build the shop; it starts full with nothing on its way.

    The label of a state is (stock, next delivery, the one after it, ...). Action a orders ``orders[a]`` units.
    Outcomes: 0 the fill rate, 1 low holding, 2 few orders.

    Parameters
    ----------
    capacity : int
        C, how many units fit, at least 1.
    demand : sequence of float
        The distribution of the day's demand: entry d is the probability of d units. Entries 0 and 1 must
        be above 0.
    orders : sequence of int
        The quantities that can be ordered, increasing; the first is 0, and there are at least two.
    lead_time : int
        L, the days an order takes, at least 0. There are (capacity + 1) * len(orders)^(L - 1) states.

    Returns
    -------
    Model
        Its outcomes are the fill rate, low stock and few orders.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.inventory : The same, told as mechanics.

    Examples
    --------
    Two units in stock and none on their way; we order two, and they come after the customers.

    >>> shop = inventory(capacity=4, demand=[0.5, 0.25, 0.0, 0.25], orders=[0, 2], lead_time=1)
    >>> pair = shop.pair(shop.labels.state_index((2,)), shop.labels.action_index(2, "order 2"))
    >>> shop.transitions()[[pair]].toarray().tolist()
    [[0.0, 0.0, 0.25, 0.25, 0.5]]
    >>> shop.means[pair].round(4).tolist()  # fill: 2 of 3 once in four days; left on average: 1.25 of 4
    [0.9167, 0.6875, 0.0]
    """
    capacity = checked_integer(capacity, "capacity", 1)
    quantities = _checked_orders(orders)
    lead_time = checked_integer(lead_time, "lead_time", 0)
    states = tuple(itertools.product(range(capacity + 1), *[quantities] * max(0, lead_time - 1)))
    law = checked_distribution(demand, "demand")
    for d in (0, 1):
        if law.size <= d or law[d] == 0.0:
            raise ModelError(f"demand: the probability of {d} must be above 0, or some states are never reached")
    number = {shop: s for s, shop in enumerate(states)}

    def cases(shop: Shop, quantity: int) -> list[Branch]:
        opening = min(capacity, shop[0] + quantity) if lead_time == 0 else shop[0]
        delivery, *coming = (0,) if lead_time == 0 else (*shop[1:], quantity)
        branches: list[Branch] = []
        for d, probability in enumerate(law):
            left = max(0, opening - d)
            fill = min(opening, d) / d if d else 1.0
            outcome = np.array([fill, 1.0 - left / capacity, float(quantity == 0)])
            branches.append((float(probability), number[(min(capacity, left + delivery), *coming)], outcome))
        return branches

    branches = [[cases(shop, quantity) for quantity in quantities] for shop in states]
    labels = Labels(
        states=states,
        actions=["order nothing", *(f"order {quantity}" for quantity in quantities[1:])],
        outcomes=["fill rate", "low holding", "few orders"],
    )
    return Model.from_branches(branches, start=number[(capacity, *states[0][1:])], labels=labels)


def _checked_orders(orders: Sequence[int]) -> list[int]:
    quantities = [checked_integer(q, f"orders[{a}]", 0) for a, q in enumerate(checked_list(orders, "orders"))]
    if len(quantities) < 2 or quantities[0] != 0:
        raise ModelError(f"orders: got {quantities}; 0 comes first, and at least one other quantity follows")
    for a, (less, more) in enumerate(itertools.pairwise(quantities)):
        if more <= less:
            raise ModelError(f"orders[{a + 1}]: got {more} after {less}; the quantities must increase")
    return quantities
