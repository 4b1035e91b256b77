r"""Bidding under budgets: which impressions to buy in a market whose conditions change.

States        The conditions of the market c = 0 ... C-1.
Actions       0 makes no bid, the null action; j >= 1 bids bids[j-1].
Noises        rival: the highest rival bid, one of ours or "higher"; lead: whether a lead follows an impression; both
              have one law per condition, whatever we bid, and there is nothing to be seen without a bid. condition:
              the number of the next one; one law per condition. All are independent of each other and of our bid.
Outcomes      A bid wins if it is at least the rival's. The winner pays the own bid in a "first" price auction and the
              rival's in a "second" price auction. Outcome 0: values[c] for a lead. Outcome 1: the payment / max(bids).
              Outcome 2: 1 for a lead. All are 0 unless the bid has won.
Usual laws    `LEADS`, `RIVALS` and `MARKET` for three conditions and the bids `BIDS`. For other sizes the
              probabilities are interpolated between those, the rivals' by the bid as a part of the highest one, and a
              condition goes to each neighbour with 0.1.

Outcome 0 is the reward, 1 and 2 are the consumptions of the control problem with budgets: the money, and the capacity
of the sales team. Communicating exactly when the chain is irreducible.

The bidder is assumed to see the rival's bid and the public's answer also when the auction is lost, as on exchanges that
publish them; an agent with the table sees neither. What is seen of one noise may not depend on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise.errors import ModelError
from equipoise.models.applied.system import System, coin, format_amount, interpolate, neighbour_chain
from equipoise.models.checks import check_amounts, check_increasing, check_probabilities
from equipoise.models.mechanics import Mechanics

BIDS: Final = (25.0, 50.0, 75.0, 100.0)
VALUES: Final = (0.4, 0.7, 1.0)
LEADS: Final = (0.5, 0.6, 0.8)
RIVALS: Final = ((0.40, 0.30, 0.20, 0.10), (0.20, 0.30, 0.30, 0.20), (0.05, 0.15, 0.30, 0.40))
MARKET: Final = ((0.80, 0.15, 0.05), (0.10, 0.80, 0.10), (0.05, 0.25, 0.70))


def bidding(bids: Sequence[float] = BIDS, values: Sequence[float] = VALUES, auction: str = "first") -> Mechanics:
    """Describe repeated auctions in a market whose condition changes; condition 0 comes first.

    State c is condition c. Action 0 makes no bid, action j bids ``bids[j - 1]``. Outcome 0 is the value of the lead,
    outcome 1 the payment in units of the highest bid, outcome 2 is 1 for a lead. Unknown are the rival bids, the leads
    and the change of conditions.

    Parameters
    ----------
    bids : sequence of float
        The bids to choose from, increasing and above 0, in any currency.
    values : sequence of float
        By condition of the market: what a lead is worth, in [0, 1].
    auction : {"first", "second"}
        Whether the winner pays the own bid or the rival's.

    Examples
    --------
    A rival at 50 half of the time and above 100 else; if we bid 100 and win, we pay 50:

    >>> market = bidding(bids=[50, 100], values=[0.5], auction="second")
    >>> laws = {"rival": {"condition 0": [0.5, 0.0, 0.5]}, "lead": {"condition 0": [0.75, 0.25]}}
    >>> market.model(**laws).means[2].tolist()
    [0.0625, 0.25, 0.125]
    """
    system = bidding_system(bids, values, auction)
    C = len(system.states)
    part = np.asarray(bids, dtype=np.float64) / np.max(bids)
    places = np.array((0.0, *BIDS)) / BIDS[-1]
    at_most = [np.interp(part, places, np.cumsum((0.0, *row))) for row in RIVALS]
    below = np.array([interpolate([float(row[j]) for row in at_most], C) for j in range(part.size)]).T
    rivals = np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0)
    chain = MARKET if len(MARKET) == C else neighbour_chain(C)
    return system.mechanics(bidding_laws(system, interpolate(LEADS, C), rivals.tolist(), chain))


def bidding_system(bids: Any, values: Any, auction: Any) -> System:
    """The auction, in as many conditions of the market as there are values of a lead."""
    bid = check_amounts(bids, "bids").tolist()
    check_increasing(bid, "bids")
    worth = {f"condition {c}": value for c, value in enumerate(check_probabilities(values, "values").tolist())}
    if not isinstance(auction, str) or auction not in ("first", "second"):
        raise ModelError(f"auction: got {auction!r}; 'first' or 'second' is needed")
    amount = {f"bid {format_amount(one)}": one for one in bid}
    conditions = list(worth)

    def step(state: str, action: str, rival: Any, lead: bool, condition: int) -> tuple[str, list[float]]:
        won = action in amount and rival != "higher" and rival <= amount[action]
        paid = (rival if auction == "second" else amount[action]) / bid[-1] if won else 0.0
        follows = won and lead
        return conditions[condition], [worth[state] * follows, paid, float(follows)]

    def law(noise: str, state: str, action: str) -> str:
        return state if noise == "condition" or action in amount else "no bid"

    return System(
        step,
        start=conditions[0],
        states=conditions,
        actions=["no bid", *amount],
        outcomes=["value", "money", "leads"],
        noises={"rival": (*bid, "higher"), "lead": (False, True), "condition": range(len(conditions))},
        law=law,
        given={"rival": {"no bid": [0.0] * len(bid) + [1.0]}, "lead": {"no bid": coin(0.0)}},
    )


def bidding_laws(system: System, leads: Any, rivals: Any, market: Any) -> dict[str, Any]:
    """The laws with these probabilities of a lead, of each rival bid and a higher one, and of a condition."""
    return {
        "rival": dict(zip(system.states, rivals, strict=True)),
        "lead": {name: coin(chance) for name, chance in zip(system.states, leads, strict=True)},
        "condition": dict(zip(system.states, market, strict=True)),
    }
