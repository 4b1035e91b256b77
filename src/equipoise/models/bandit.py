"""M_BG of the paper: one state, K loops, loop k yields e_k; deterministic."""

from __future__ import annotations

import numpy as np

from equipoise.models._checks import checked_integer
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def bandit(arms: int = 3) -> Model:
    """Build M_BG: one state with `arms` loops, the k-th of which yields the unit vector e_k.

    Parameters
    ----------
    arms : int
        K, at least 1.

    Examples
    --------
    >>> bandit(2).means.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    arms = checked_integer(arms, "arms", 1)
    names = [f"arm {k}" for k in range(arms)]
    return Model.from_branches(
        [[[(1.0, 0, unit)] for unit in np.eye(arms)]], labels=Labels(actions=names, outcomes=names)
    )
