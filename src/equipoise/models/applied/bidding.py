r"""Bidding under budgets: which impressions to buy in a market that changes its mood.

In the user's words: every slot an advertising place is auctioned. Of the people who see our advertisement some
become leads, and leads are what we live on. How hard the others bid, and how good the public is, depends on the
mood of the market, which we see; how likely a bid is to win, and how likely a lead is to follow, we do not
know. There is so much money for the campaign, and the sales team can follow up so many leads.

States.       The conditions of the market c = 0 ... C-1.
Actions.      In every state: 0 makes no bid, the null action; j >= 1 bids bids[j-1].
Transitions.  A Markov chain over the conditions that no action influences: the probability of c -> c' is
              market[c][c'].
Outcomes.     The highest rival bid is bids[i] with probability rivals[c][i] (i = 0 ... J-1), and above all of
              ours with the probability that remains. A bid wins if it is at least the rival's. The winner pays
              the own bid in a "first" price auction and the rival's in a "second" price auction; a lead
              follows with probability leads[c]. All this is independent of the next condition.
              Outcome 0: values[c] for a lead, else 0. Outcome 1: the payment / max(bids), a fraction, if the
              bid has won, else 0. Outcome 2: 1 for a lead, else 0. Without a bid all are 0.

Outcome 0 is the reward, 1 and 2 are the consumptions of the control problem with budgets: the money, and the
capacity of the sales team. The null actions are known: the agent is told that they yield and consume nothing.
Communicating exactly when the chain is irreducible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch
from equipoise.errors import ModelError
from equipoise.models._checks import checked_list
from equipoise.models.applied._checks import checked_amounts, checked_chain, checked_probabilities, plain
from equipoise.models.labels import Labels
from equipoise.models.model import Model

_BIDS = (25.0, 50.0, 75.0, 100.0)
_VALUES = (0.4, 0.7, 1.0)
_LEADS = (0.5, 0.6, 0.8)
_RIVALS = ((0.40, 0.30, 0.20, 0.10), (0.20, 0.30, 0.30, 0.20), (0.05, 0.15, 0.30, 0.40))
_MARKET = ((0.80, 0.15, 0.05), (0.10, 0.80, 0.10), (0.05, 0.25, 0.70))
_SLACK = 1e-9


def bidding(
    bids: Sequence[float] = _BIDS,
    values: Sequence[float] = _VALUES,
    leads: Sequence[float] = _LEADS,
    rivals: Sequence[Sequence[float]] = _RIVALS,
    market: Sequence[Sequence[float]] = _MARKET,
    auction: str = "first",
) -> Model:
    """Build the bidding world; state c is the condition c, and condition 0 comes first.

    Action 0 makes no bid, action j bids ``bids[j - 1]``. Outcome 0 is the value of the lead, outcome 1 the
    payment in units of the highest bid, outcome 2 is 1 for a lead. By default the market is slack, normal
    or hot: the hotter, the more a place is worth and the more it costs.

    Parameters
    ----------
    bids : sequence of float
        The bids to choose from, increasing and above 0, in any currency.
    values : sequence of float
        By condition: what a lead is worth, in [0, 1].
    leads : sequence of float
        By condition: the probability that an impression leads to a lead.
    rivals : sequence of sequences of float
        By condition: the probability that the highest rival bid is each of `bids`; what is missing to 1 is
        the probability of a rival above all of them.
    market : sequence of sequences of float
        The transition matrix of the conditions, irreducible.
    auction : {"first", "second"}
        Whether the winner pays the own bid or the rival's.

    Returns
    -------
    Model
        Outcome 0 is the value won, 1 the money spent, 2 the leads to follow up.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.bidding : The same, told as mechanics.

    Examples
    --------
    A rival at 50 half of the time and above 100 else; if we bid 100 and win, we pay 100, or 50:

    >>> given = {"bids": [50, 100], "values": [0.5], "leads": [0.25], "rivals": [[0.5, 0.0]], "market": [[1.0]]}
    >>> first, second = bidding(**given), bidding(**given, auction="second")
    >>> first.means[2].tolist(), second.means[2].tolist()
    ([0.0625, 0.5, 0.125], [0.0625, 0.25, 0.125])
    """
    bid = checked_amounts(bids, "bids")
    J = bid.size
    for j in range(1, J):
        if bid[j] <= bid[j - 1]:
            raise ModelError(f"bids[{j}]: got {bid[j]} after {bid[j - 1]}; the bids must increase")
    chain = checked_chain(market, "market")
    C = chain.shape[0]
    worth = checked_probabilities(values, "values", C, "condition")
    lead = checked_probabilities(leads, "leads", C, "condition")
    rows = checked_list(rivals, "rivals", C, "condition")
    rival = np.array([checked_probabilities(row, f"rivals[{c}]", J, "bid") for c, row in enumerate(rows)])
    total = rival.sum(axis=1)
    for c in range(C):
        if total[c] > 1.0 + _SLACK:
            raise ModelError(f"rivals[{c}]: the probabilities sum to {total[c]}; it must be at most 1")
    if not isinstance(auction, str) or auction not in ("first", "second"):
        raise ModelError(f"auction: got {auction!r}; 'first' or 'second' is needed")
    cost = bid / bid[-1]
    nothing = np.zeros(3)

    def cases(c: int, j: int) -> list[Branch]:
        """Bid number j, and none for j = -1."""
        branches: list[Branch] = []
        for after, moves in enumerate(chain[c]):
            for i in range(j + 1):
                paid = cost[i] if auction == "second" else cost[j]
                won = float(moves * rival[c, i])
                branches.append((won * float(lead[c]), after, np.array([worth[c], paid, 1.0])))
                branches.append((won * (1.0 - float(lead[c])), after, np.array([0.0, paid, 0.0])))
            lost = max(0.0, 1.0 - float(rival[c, : j + 1].sum()))
            branches.append((float(moves) * lost, after, nothing))
        return branches

    labels = Labels(
        states=[f"condition {c}" for c in range(C)],
        actions=["no bid", *(f"bid {plain(amount)}" for amount in bid)],
        outcomes=["value", "money", "leads"],
    )
    branches = [[cases(c, j) for j in range(-1, J)] for c in range(C)]
    return Model.from_branches(branches, known=[(c, 0) for c in range(C)], labels=labels)
