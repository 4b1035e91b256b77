"""The river: n states in a row and a current, on which learners are compared in the literature.

Swimming left always succeeds; swimming right, against the current, moves on with probability .35, stays with .6
and falls back with .05. At the left end it moves on with .6 and stays with .4; at the right end it stays with .6
and falls back with .4. Going left at the left end pays .005 on average, going right at the right end pays 1.
"""

from __future__ import annotations

import numpy as np

from equipoise.models._checks import checked_integer
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def riverswim(n: int = 6) -> Model:
    """Build the river of `n` states, at least 2: action 0 swims left, 1 right; start at the left end.

    One outcome, drawn 0 or 1.

    Parameters
    ----------
    n : int
        How many states there are.

    Examples
    --------
    >>> river = riverswim(4)
    >>> river.transitions()[[river.pair(2, 1)]].toarray().tolist()
    [[0.0, 0.05, 0.6, 0.35]]
    """
    n = checked_integer(n, "n", 2)
    transitions = np.zeros((n, 2, n))
    outcomes = np.zeros((n, 2, 1))
    for s in range(n):
        transitions[s, 0, max(s - 1, 0)] = 1.0
        if 0 < s < n - 1:
            transitions[s, 1, s - 1 : s + 2] = 0.05, 0.6, 0.35
    transitions[0, 1, :2] = 0.4, 0.6
    transitions[n - 1, 1, n - 2 :] = 0.4, 0.6
    outcomes[0, 0, 0] = 0.005
    outcomes[n - 1, 1, 0] = 1.0
    return Model.from_arrays(transitions, outcomes, labels=Labels(actions=["left", "right"], outcomes=["pay"]))
