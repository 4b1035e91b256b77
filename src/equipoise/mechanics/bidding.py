r"""Bidding under budgets: the auction's rules are known, the rivals, the public and the market's moods are not.

The states, actions, outcomes and parameters are those of `equipoise.models.bidding`.

Noises.       rival: the highest rival bid, one of ours or "higher"; lead: whether a lead follows an impression; both
              with a law for each condition, the same whatever we bid, and nothing to be seen without a bid.
              condition: the number of the next one; a law for each condition. That all of these are independent of
              each other and of our bid is told; the table has to learn the bids one by one.
Usual laws.   Those of the table for three conditions and bids of 25, 50, 75 and 100. For other sizes the chances lie
              linearly between those, the rivals' by the bid as a part of the highest one, and a condition goes to
              each neighbour with 0.1.

Who bids is taken to see the rival's bid and the public's answer also when the auction is lost, as where exchanges
publish them; the agent with the table sees neither. A lead that is seen only after a win cannot be told here: what
is seen of one noise may not depend on what another was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise import models
from equipoise._types import Vector
from equipoise.mechanics.usual import along, coin, walk
from equipoise.mechanics.wording import in_the_words_of
from equipoise.models import Mechanics

_BIDS: Final = (25.0, 50.0, 75.0, 100.0)
_VALUES: Final = (0.4, 0.7, 1.0)
_LEADS: Final = (0.5, 0.6, 0.8)
_RIVALS: Final = ((0.40, 0.30, 0.20, 0.10), (0.20, 0.30, 0.30, 0.20), (0.05, 0.15, 0.30, 0.40))
_MARKET: Final = ((0.80, 0.15, 0.05), (0.10, 0.80, 0.10), (0.05, 0.25, 0.70))


def bidding(bids: Sequence[float] = _BIDS, values: Sequence[float] = _VALUES, auction: str = "first") -> Mechanics:
    """Tell the rules of the auction; condition 0 comes first.

    Parameters
    ----------
    bids : sequence of float
        The bids to choose from, increasing and above 0, in any currency.
    values : sequence of float
        By condition of the market: what a lead is worth, in [0, 1].
    auction : {"first", "second"}
        Whether the winner pays the own bid or the rival's.

    Raises
    ------
    ModelError
        Naming the parameter.

    Examples
    --------
    A rival at 50 half of the time and above 100 else; if we bid 100 and win, we pay 50:

    >>> market = bidding(bids=[50, 100], values=[0.5], auction="second")
    >>> laws = {"rival": {"condition 0": [0.5, 0.0, 0.5]}, "lead": {"condition 0": [0.75, 0.25]}}
    >>> market.model(**laws).means[2].tolist()
    [0.0625, 0.25, 0.125]
    """
    C = len(values) if isinstance(values, Sequence) and len(values) else 1
    chain = _MARKET if len(_MARKET) == C else walk(C)
    rivals, leads = _usual_rivals(bids, C), along(_LEADS, C)
    table = models.bidding(bids, values, leads, [row[:-1] for row in rivals], chain, auction)
    amount = {table.labels.action(0, 1 + j): float(bid) for j, bid in enumerate(bids)}
    worth = {table.labels.state(c): float(value) for c, value in enumerate(values)}
    conditions = [str(table.labels.state(c)) for c in range(C)]
    highest = max(amount.values())

    def step(state: str, action: str, rival: Any, lead: bool, condition: int) -> tuple[str, list[float]]:
        won = action in amount and rival != "higher" and rival <= amount[action]
        paid = (rival if auction == "second" else amount[action]) / highest if won else 0.0
        follows = won and lead
        return conditions[condition], [worth[state] * follows, paid, float(follows)]

    def law(noise: str, state: str, action: str) -> str:
        return state if noise == "condition" or action in amount else "no bid"

    return in_the_words_of(
        table,
        step,
        noises={"rival": (*amount.values(), "higher"), "lead": (False, True), "condition": range(C)},
        usual={
            "rival": dict(zip(conditions, rivals, strict=True)),
            "lead": {name: coin(chance) for name, chance in zip(conditions, leads, strict=True)},
            "condition": dict(zip(conditions, chain, strict=True)),
        },
        law=law,
        given={"rival": {"no bid": {"higher": 1.0}}, "lead": {"no bid": coin(0.0)}},
    )


def _usual_rivals(bids: Sequence[float], conditions: int) -> list[list[float]]:
    """By condition: the chances of each bid, and of a higher one; anything for bids that are none."""
    try:
        part = np.asarray(bids, dtype=np.float64) / np.max(bids)
        places = np.array((0.0, *_BIDS)) / _BIDS[-1]
        at_most = [np.interp(part, places, np.cumsum((0.0, *row))) for row in _RIVALS]
    except (TypeError, ValueError):
        return [[0.0]] * conditions
    below = np.array([along([float(row[j]) for row in at_most], conditions) for j in range(part.size)]).T
    chances: Vector = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return [[float(x) for x in np.maximum(row, 0.0)] for row in chances]
