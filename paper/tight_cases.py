r"""Worlds in which the inequalities of section 4 are met, or all but met, with closed forms.

With one action a state and a known model nothing is chosen and nothing is learned. The plan's gain is then the average
of the rewards to the tolerance, and Lemma 4.4 is an equality to twice the tolerance.

`turns`: two states in turn, with outcomes 1 and 0; v* = 1/2. `coin`: one pair, whose outcome is 1 or 0 with chance 1/2.
`one_zero(n)`: n states in turn, with outcomes 1, 0, 1, 1, ...; v* = 1 - 1/n. `always(x)`: one pair with outcome x.
`away(n)`: a loop that pays 1, and a way round of n steps that pays nothing; D = n, and the bias has span n - 1.
"""

from __future__ import annotations

import numpy as np

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.known import Known
from equipoise.models.model import Model
from equipoise.rewards.base import Reward

EXACT = 1e-9
"""The tolerance of plans that count as exact."""


def turns() -> Model:
    """Two states in turn, with outcomes 1 and 0."""
    return one_action([[0.0, 1.0], [1.0, 0.0]], [1.0, 0.0])


def one_zero(n: int) -> Model:
    """So many states in turn, with outcomes 1, 0, 1, 1, ..."""
    return one_action(np.roll(np.eye(n), 1, axis=1).tolist(), [float(s != 1) for s in range(n)])


def always(outcome: float) -> Model:
    """One pair whose outcome never changes."""
    return one_action([[1.0]], [outcome])


def coin(chance: float = 0.5) -> Model:
    """One pair whose outcome is 1 with that chance, else 0."""
    return one_action([[1.0]], [chance], noise="bernoulli")


def one_action(transitions: list[list[float]], outcomes: list[float], noise: str = "none") -> Model:
    """Build a world with one action a state and one outcome."""
    p = np.array(transitions)[:, None, :]
    return Model.from_arrays(p, np.array(outcomes)[:, None, None], noise=noise)


def away(n: int) -> Model:
    """Build a loop at state 0 that pays 1, and a way round of n steps that pays nothing.

    >>> away(3).diameter(), away(3).means.ravel().tolist()
    (3.0, [1.0, 0.0, 0.0, 0.0])
    """
    states = [[[(1.0, 0, [1.0])], [(1.0, 1 % n, [0.0])]]]
    return Model.from_branches([*states, *([[(1.0, (s + 1) % n, [0.0])]] for s in range(1, n))])


def knowing(model: Model, reward: Reward, threshold: float | None = None, tolerance: float | None = EXACT) -> TocUCRL2:
    """The agent that knows the model; None for the tolerance is the paper's."""
    return TocUCRL2(model.space, reward, threshold=threshold, confidence=Known(model), tolerance=tolerance)


def waiting(chance: float) -> Model:
    """Build a state that is left with that chance a step, for one with a loop that pays 1 and a way back.

    >>> waiting(0.25).diameter()
    4.0
    """
    return Model.from_branches(
        [
            [[(chance, 1, [0.0]), (1.0 - chance, 0, [0.0])]],
            [[(1.0, 1, [1.0])], [(1.0, 0, [0.0])]],
        ]
    )
