r"""A call centre: several classes of customers, one server, and a service level for each class.

In the user's words: callers of K classes wait in K lines of limited length; whoever finds the line full is
turned away. Each moment the one agent takes up a class, or rests. Every class has been promised a service
level, and an hour spent on one class is an hour in which the other lines grow.

States.       q = (q_1, ..., q_K), how many of each class wait, each from 0 to `room`; (room + 1)^K in all.
Actions.      In every state: k < K serves class k, K rests. Serving an empty line is resting.
Transitions.  First the service: if the line served is not empty, it loses one customer with probability
              mu_k. Then the arrivals: each class gains one customer with probability lambda_k, independently
              of all else, unless its line is full: q'_k = min(room, q_k - served_k + arrived_k).
Outcomes.     V_k = 1 - q'_k / room, the free part of line k at the end of the slot: 1 when nobody waits, 0
              when the next caller would be turned away. Its average is 1 - (mean length) / room; and since,
              by Little's law, the mean length is the rate of admitted callers times their mean wait, a
              target for it is a target for the wait. Next state and outcomes go together: V is a function
              of q'.

Communicating whenever 0 < lambda_k < 1 and 0 < mu_k <= 1: resting lets every line grow, and with no arrivals
each line can be served until it is empty.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch
from equipoise.models._checks import checked_integer
from equipoise.models.applied._checks import checked_chances
from equipoise.models.labels import Labels
from equipoise.models.model import Model

Lengths = tuple[int, ...]


def queue(
    arrivals: Sequence[float] = (0.5, 0.4),
    service: Sequence[float] = (0.9, 0.7),
    room: int = 3,
) -> Model:
    """Build the multi-class queue; it starts empty, and the label of a state is the tuple of its lengths.

    Action k serves class k, the last action rests. Outcome k is the service level of class k, 1 - (length
    of its line at the end of the slot) / room.

    Parameters
    ----------
    arrivals : sequence of float
        lambda_k, the probability that a customer of class k arrives in a slot, strictly between 0 and 1.
    service : sequence of float
        mu_k, the probability that a customer of class k who is served in a slot is done at its end, above 0.
    room : int
        How many customers of each class can wait, at least 1.

    Returns
    -------
    Model
        Outcome k is the free part of line k.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.queue : The same, told as mechanics.

    Examples
    --------
    >>> centre = queue(arrivals=[0.25, 0.5], service=[0.5, 1.0], room=2)
    >>> centre.n_states, centre.n_outcomes, centre.n_actions[0]
    (9, 2, 3)

    One customer of each class waits, class 1 is served: it leaves for certain, and another may come.

    >>> p = centre.transitions()[[centre.pair(centre.labels.state_index((1, 1)), 1)]]
    >>> {centre.labels.state(s): float(x) for s, x in zip(p.indices, p.data)}
    {(1, 0): 0.375, (1, 1): 0.375, (2, 0): 0.125, (2, 1): 0.125}
    """
    rates = checked_chances(arrivals, "arrivals")
    K = len(rates)
    done = checked_chances(service, "service", K, "class", sure=True)
    room = checked_integer(room, "room", 1)
    lines = tuple(itertools.product(range(room + 1), repeat=K))
    number = {lengths: s for s, lengths in enumerate(lines)}
    level = [1.0 - np.array(lengths) / room for lengths in lines]

    def law(lengths: Lengths, action: int) -> list[Branch]:
        after = [(1.0, lengths)]
        if action < K and lengths[action]:
            fewer = (*lengths[:action], lengths[action] - 1, *lengths[action + 1 :])
            after = [(done[action], fewer), (1.0 - done[action], lengths)]
        chance: dict[int, float] = {}
        for probability, left in after:
            for came in itertools.product((0, 1), repeat=K):
                arrival = float(np.prod([rate if one else 1.0 - rate for rate, one in zip(rates, came, strict=True)]))
                s = number[tuple(min(room, q + one) for q, one in zip(left, came, strict=True))]
                chance[s] = chance.get(s, 0.0) + probability * arrival
        return [(chance[s], s, level[s]) for s in sorted(chance)]

    labels = Labels(
        states=lines,
        actions=[*(f"serve class {k}" for k in range(K)), "rest"],
        outcomes=[f"service level of class {k}" for k in range(K)],
    )
    return Model.from_branches([[law(lengths, action) for action in range(K + 1)] for lengths in lines], labels=labels)
