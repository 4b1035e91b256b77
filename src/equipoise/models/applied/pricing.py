r"""Dynamic pricing of perishable stock, with a demand that has its seasons.

In the user's words: each slot a customer may come, and we show one price, or none. What is not sold by the
end is worth nothing, but a unit sold cheaply in a slack hour is missing when they would pay the full price. We
do not know how demand answers to prices, nor when the busy hours come.

States.       The regimes of demand r = 0 ... R-1.
Actions.      In every state: 0 is closed, the null action; j >= 1 shows offer j - 1.
Transitions.  A Markov chain over the regimes that no action influences: the probability of r -> r' is
              regimes[r][r'].
Outcomes.     Offer j is taken with probability sale[r][j], independently of the next regime. If it is: the
              revenue, prices[j] / max(prices), in outcome 0, and the units used, uses[j][i] in {0, 1} of each
              resource i, in outcomes 1 + i. If not, or if closed: all outcomes are 0. So there is revenue
              exactly when something is consumed.

Outcome 0 is the reward and the others are the consumptions of the control problem with budgets. The null
actions are known: the agent is told that they yield and consume nothing. Communicating exactly when the chain
is irreducible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list
from equipoise.models.applied._checks import (
    checked_amounts,
    checked_chain,
    checked_probabilities,
    plain,
)
from equipoise.models.labels import Labels
from equipoise.models.model import Model

_PRICES = (40.0, 60.0, 80.0, 100.0)
_SALE = ((0.60, 0.35, 0.15, 0.05), (0.80, 0.60, 0.40, 0.20), (0.95, 0.90, 0.80, 0.65))
_REGIMES = ((0.90, 0.10, 0.00), (0.05, 0.85, 0.10), (0.00, 0.20, 0.80))


def pricing(
    prices: Sequence[float] = _PRICES,
    sale: Sequence[Sequence[float]] = _SALE,
    regimes: Sequence[Sequence[float]] = _REGIMES,
    uses: Sequence[Sequence[int]] | None = None,
) -> Model:
    """Build the pricing world; state r is the regime r, and regime 0 comes first.

    Action 0 sells nothing, action j shows offer j - 1. Outcome 0 is the revenue, in units of the highest
    price, outcomes 1, 2, ... are the units of each resource used. By default one resource, four prices and
    a demand that is low, high or at its peak.

    Parameters
    ----------
    prices : sequence of float
        The price of each offer, above 0, in any currency.
    sale : sequence of sequences of float
        By regime and offer: the probability that it is taken.
    regimes : sequence of sequences of float
        The transition matrix of the regimes, irreducible.
    uses : sequence of sequences of {0, 1}, optional
        By offer and resource: what a sale takes; every offer takes something. By default one resource, of
        which every sale takes one unit. With several an offer is a product at a price: a hotel that sells
        Friday, Saturday or both has two resources.

    Returns
    -------
    Model
        Outcome 0 is the revenue, outcome 1 the unit sold.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.pricing : The same, told as mechanics.

    Examples
    --------
    >>> shop = pricing(prices=[50, 100], sale=[[0.5, 0.25]], regimes=[[1.0]])
    >>> shop.means.tolist(), shop.space.known_mask.tolist()
    ([[0.0, 0.0], [0.25, 0.5], [0.25, 0.25]], [True, False, False])

    Friday, Saturday, or the weekend:

    >>> hotel = pricing([60, 60, 100], [[0.5, 0.5, 0.25]], [[1.0]], uses=[[1, 0], [0, 1], [1, 1]])
    >>> hotel.means[hotel.pair(0, 3)].tolist()
    [0.25, 0.25, 0.25]
    """
    price = checked_amounts(prices, "prices")
    J = price.size
    chain = checked_chain(regimes, "regimes")
    R = chain.shape[0]
    rows = checked_list(sale, "sale", R, "regime")
    taken = np.array([checked_probabilities(row, f"sale[{r}]", J, "price") for r, row in enumerate(rows)])
    sold = np.column_stack([price / price.max(), _checked_uses(uses, J)])
    nothing = np.zeros(sold.shape[1])

    def cases(r: int, j: int | None) -> list[Branch]:
        branches: list[Branch] = []
        for after, moves in enumerate(chain[r]):
            chance = 0.0 if j is None else float(taken[r, j])
            if j is not None:
                branches.append((float(moves) * chance, after, sold[j]))
            branches.append((float(moves) * (1.0 - chance), after, nothing))
        return branches

    branches = [[cases(r, j) for j in (None, *range(J))] for r in range(R)]
    labels = Labels(
        states=[f"regime {r}" for r in range(R)],
        actions=["closed", *(f"offer {j} at {plain(amount)}" for j, amount in enumerate(price))],
        outcomes=["revenue", *(f"units of resource {i}" for i in range(sold.shape[1] - 1))],
    )
    return Model.from_branches(branches, known=[(r, 0) for r in range(R)], labels=labels)


def _checked_uses(uses: Sequence[Sequence[int]] | None, offers: int) -> Vector:
    if uses is None:
        return np.ones((offers, 1))
    table: list[list[int]] = []
    for j, row in enumerate(checked_list(uses, "uses", offers, "price")):
        entries = checked_list(row, f"uses[{j}]", len(table[0]) if table else None, "resource")
        table.append([checked_integer(unit, f"uses[{j}][{i}]", 0, 1) for i, unit in enumerate(entries)])
        if not any(table[j]):
            raise ModelError(f"uses[{j}]: it takes nothing; every offer must take a unit of some resource")
    return np.array(table, np.float64)
