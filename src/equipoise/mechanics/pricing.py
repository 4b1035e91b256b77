r"""Dynamic pricing: what a sale brings and takes is known, who buys at which price and when the season turns is not.

The states, actions, outcomes and parameters are those of `equipoise.models.pricing`.

Noises.       sale: whether the offer is taken; a law for each regime and offer, and nothing to be seen when closed.
              regime: the number of the next one; a law for each regime, the same for all offers. That the regimes are
              a chain which no offer influences is told; the table has to learn it for every offer anew.
Usual laws.   Those of the table for three regimes and prices of 40, 60, 80 and 100. For other sizes the chances of a
              sale lie linearly between those, by the price as a part of the highest one and by the place of the
              regime among all, and a regime goes to each neighbour with 0.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from equipoise import models
from equipoise.mechanics.usual import along, coin, size, walk
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics

_PRICES: Final = (40.0, 60.0, 80.0, 100.0)
_SALE: Final = ((0.60, 0.35, 0.15, 0.05), (0.80, 0.60, 0.40, 0.20), (0.95, 0.90, 0.80, 0.65))
_REGIMES: Final = ((0.90, 0.10, 0.00), (0.05, 0.85, 0.10), (0.00, 0.20, 0.80))


def pricing(
    prices: Sequence[float] = _PRICES, n_regimes: int = 3, uses: Sequence[Sequence[int]] | None = None
) -> Mechanics:
    """Tell what is sold; regime 0 comes first.

    Parameters
    ----------
    prices : sequence of float
        The price of each offer, above 0, in any currency.
    n_regimes : int
        How many regimes of demand there are, at least 1.
    uses : sequence of sequences of {0, 1}, optional
        By offer and resource: what a sale takes. By default one resource, of which every sale takes one unit.

    Raises
    ------
    ModelError
        Naming the parameter.

    Examples
    --------
    >>> shop = pricing(prices=[50, 100], n_regimes=1)
    >>> shop.laws
    {'sale': ['closed', 'regime 0, offer 0 at 50', 'regime 0, offer 1 at 100'], 'regime': ['regime 0']}
    >>> sale = {"regime 0, offer 0 at 50": [0.5, 0.5], "regime 0, offer 1 at 100": [0.75, 0.25]}
    >>> shop.model(sale=sale).means.tolist()
    [[0.0, 0.0], [0.25, 0.5], [0.25, 0.25]]
    """
    R = size(n_regimes, "n_regimes")
    chain = _REGIMES if len(_REGIMES) == R else walk(R)
    sale = _usual_sales(prices, R)
    table = models.pricing(prices, sale, chain, uses)
    highest = max(prices)
    taken = {  # what a sale brings and takes; nothing when closed
        table.labels.action(0, 1 + j): [price / highest, *map(float, uses[j] if uses is not None else [1])]
        for j, price in enumerate(prices)
    }
    regimes = [table.labels.state(r) for r in range(R)]

    def step(_: str, action: str, sale: bool, regime: int) -> tuple[object, list[float]]:
        sold = sale and action in taken
        return regimes[regime], taken[action] if sold else [0.0] * table.n_outcomes

    def law(noise: str, state: str, action: str) -> str:
        if noise == "regime":
            return state
        return f"{state}, {action}" if action in taken else "closed"

    return in_the_words_of(
        table,
        step,
        noises={"sale": (False, True), "regime": range(R)},
        usual={
            "sale": {f"{regimes[r]}, {action}": coin(sale[r][j]) for r in range(R) for j, action in enumerate(taken)},
            "regime": {str(regimes[r]): chain[r] for r in range(R)},
        },
        law=law,
        given={"sale": {"closed": coin(0.0)}},
    )


def _usual_sales(prices: Sequence[float], n_regimes: int) -> list[list[float]]:
    """By regime and offer; anything for prices that are none, at which the table will complain."""
    try:
        dear = np.asarray(prices, dtype=np.float64) / np.max(prices)
        by_price = [np.interp(dear, np.array(_PRICES) / _PRICES[-1], row) for row in _SALE]
    except (TypeError, ValueError):
        return [[]] * n_regimes
    columns = [along([float(row[j]) for row in by_price], n_regimes) for j in range(dear.size)]
    return [[column[r] for column in columns] for r in range(n_regimes)]
