"""M_star, from the proof of the paper's first claim: a star graph of diameter D with a loop at each end.

It is the hub (see `hub`) whose centre is the inside of a star. Deterministic, with outcomes 0 or 1.
"""

from __future__ import annotations

import numpy as np

from equipoise._types import Branch
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def star(branches: int = 3, diameter: int = 4) -> Model:
    """Build M_star: `branches` paths of length D/2 that meet in a centre, a loop yielding e_k at each end.

    State 0 is the centre and the start; the state at distance d from it on branch k is 1 + k D/2 + (d - 1).
    Actions: at the centre, action k leads out along branch k; at an end, 0 is the loop and 1 leads back;
    in between, 0 leads outwards and 1 inwards. Only the loops yield anything.

    Parameters
    ----------
    branches : int
        K, at least 2.
    diameter : int
        D, even and at least 2.

    See Also
    --------
    equipoise.models.hub : States around a centre of any kind.
    equipoise.models.bandit : All loops in one state.

    Examples
    --------
    >>> world = star(branches=3, diameter=4)
    >>> world.n_states, world.n_actions, world.diameter()
    (7, (3, 2, 2, 2, 2, 2, 2), 4.0)
    """
    K = checked_integer(branches, "branches", 2)
    D = checked_integer(diameter, "diameter", 2)
    if D % 2:
        raise ModelError(f"diameter: got {D}; it must be even")
    half = D // 2
    nothing, units = np.zeros(K), np.eye(K)
    states: list[list[list[Branch]]] = [[[(1.0, 1 + k * half, nothing)] for k in range(K)]]
    names = ["centre"]
    actions = [[f"to end {k}" for k in range(K)]]
    for k in range(K):
        for d in range(1, half + 1):
            here = k * half + d
            inward = here - 1 if d > 1 else 0
            onward = (1.0, here, units[k]) if d == half else (1.0, here + 1, nothing)
            states.append([[onward], [(1.0, inward, nothing)]])
            names.append(f"end {k}" if d == half else f"branch {k}, step {d}")
            actions.append(["loop", "inwards"] if d == half else ["outwards", "inwards"])
    labels = Labels(names, actions, [f"loop {k}" for k in range(K)])
    return Model.from_branches(states, labels=labels)
