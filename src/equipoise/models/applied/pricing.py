r"""Dynamic pricing of perishable stock, with a demand that has its seasons.

States        The regimes of demand r = 0 ... R-1.
Actions       0 is closed, the null action; j >= 1 shows offer j - 1.
Noises        sale: whether the offer is taken; one law per regime and offer, nothing to be seen when closed. regime:
              the number of the next one; one law per regime, the same for all offers, which an agent with the table
              must learn for every offer.
Outcomes      If offer j is taken: the revenue prices[j] / max(prices) in outcome 0, and the units uses[j][i] in {0, 1}
              of resource i in outcome 1 + i. Otherwise all are 0.
Usual laws    `SALE` and `REGIMES` for three regimes and the prices `PRICES`. For other sizes the probabilities of a
              sale are interpolated between those, by the price as a part of the highest one and by the place of the
              regime among all, and a regime goes to each neighbour with 0.1.

Outcome 0 is the reward and the others are the consumptions of the control problem with budgets. Communicating exactly
when the chain is irreducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise.errors import ModelError
from equipoise.models.applied.system import System, check_size, coin, format_amount, interpolate, neighbour_chain
from equipoise.models.checks import check_amounts, check_integer, check_list
from equipoise.models.mechanics import Mechanics

PRICES: Final = (40.0, 60.0, 80.0, 100.0)
SALE: Final = ((0.60, 0.35, 0.15, 0.05), (0.80, 0.60, 0.40, 0.20), (0.95, 0.90, 0.80, 0.65))
REGIMES: Final = ((0.90, 0.10, 0.00), (0.05, 0.85, 0.10), (0.00, 0.20, 0.80))


def pricing(
    prices: Sequence[float] = PRICES, n_regimes: int = 3, uses: Sequence[Sequence[int]] | None = None
) -> Mechanics:
    """Describe offers at prices under a demand with regimes; regime 0 comes first.

    State r is regime r. Action 0 sells nothing, action j shows offer j - 1. Outcome 0 is the revenue, in units of the
    highest price; outcomes 1, 2, ... are the units of each resource used. Unknown are the sales by regime and offer,
    and the change of regimes.

    Parameters
    ----------
    prices : sequence of float
        The price of each offer, above 0, in any currency.
    n_regimes : int
        How many regimes of demand there are, at least 1.
    uses : sequence of sequences of {0, 1}, optional
        By offer and resource: what a sale takes; every offer takes something. By default one resource, of which every
        sale takes one unit. With several, an offer is a product at a price: a hotel that sells Friday, Saturday or
        both has two resources.

    Examples
    --------
    >>> shop = pricing(prices=[50, 100], n_regimes=1)
    >>> shop.laws
    {'sale': ['closed', 'regime 0, offer 0 at 50', 'regime 0, offer 1 at 100'], 'regime': ['regime 0']}
    >>> sale = {"regime 0, offer 0 at 50": [0.5, 0.5], "regime 0, offer 1 at 100": [0.75, 0.25]}
    >>> shop.model(sale=sale).means.tolist()
    [[0.0, 0.0], [0.25, 0.5], [0.25, 0.25]]
    """
    R = check_size(n_regimes, "n_regimes")
    system = pricing_system(prices, R, uses)
    part = check_amounts(prices, "prices") / np.max(prices)
    by_price = [np.interp(part, np.array(PRICES) / PRICES[-1], row) for row in SALE]
    columns = [interpolate([float(row[j]) for row in by_price], R) for j in range(part.size)]
    chain = REGIMES if len(REGIMES) == R else neighbour_chain(R)
    return system.mechanics(pricing_laws(system, list(zip(*columns, strict=True)), chain))


def pricing_system(prices: Any, n_regimes: int, uses: Any) -> System:
    """What is sold, in so many regimes."""
    price = check_amounts(prices, "prices").tolist()
    units = _check_uses(uses, len(price))
    taken = {  # what a sale brings and takes
        f"offer {j} at {format_amount(amount)}": [amount / max(price), *units[j]] for j, amount in enumerate(price)
    }
    regimes = [f"regime {r}" for r in range(n_regimes)]
    nothing = [0.0] * (1 + len(units[0]))

    def step(_: str, action: str, sale: bool, regime: int) -> tuple[str, list[float]]:
        return regimes[regime], taken[action] if sale and action in taken else nothing

    def law(noise: str, state: str, action: str) -> str:
        if noise == "regime":
            return state
        return f"{state}, {action}" if action in taken else "closed"

    return System(
        step,
        start=regimes[0],
        states=regimes,
        actions=["closed", *taken],
        outcomes=["revenue", *(f"units of resource {i}" for i in range(len(units[0])))],
        noises={"sale": (False, True), "regime": range(n_regimes)},
        law=law,
        given={"sale": {"closed": coin(0.0)}},
    )


def pricing_laws(system: System, sale: Any, regimes: Any) -> dict[str, Any]:
    """The laws with these probabilities of a sale, by regime and offer, and of the next regime."""
    taken = {
        f"{regime}, {offer}": coin(chance)
        for regime, row in zip(system.states, sale, strict=True)
        for offer, chance in zip(list(system.actions)[1:], row, strict=True)
    }
    return {"sale": taken, "regime": dict(zip(system.states, regimes, strict=True))}


def _check_uses(uses: Any, offers: int) -> list[list[float]]:
    if uses is None:
        return [[1.0]] * offers
    table: list[list[float]] = []
    for j, row in enumerate(check_list(uses, "uses", offers, "price")):
        entries = check_list(row, f"uses[{j}]", len(table[0]) if table else None, "resource")
        table.append([float(check_integer(unit, f"uses[{j}][{i}]", 0, 1)) for i, unit in enumerate(entries)])
        if not any(table[j]):
            raise ModelError(f"uses[{j}]: it takes nothing; every offer must take a unit of some resource")
    return table
