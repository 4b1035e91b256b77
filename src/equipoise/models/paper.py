"""The worlds that the paper reasons about; all are deterministic, with outcomes 0 or 1.

`bandit`      M_BG: one state, K loops, loop k yields e_k.
`hub`         M_MG: a centre M_c that yields nothing, and around it K states with a loop that yields e_k.
`scalar_hub`  M_MS: the same dynamics with one outcome, earned by going back and forth on one spoke.
`star`        M_star: the hub that is a star graph of diameter D, from the proof of the first claim.
`ring`        M_det: a directed cycle that pays at one state only.

An arc of the paper's figures is an action that leads along it with certainty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list
from equipoise.models.base import Model

Branch = tuple[float, int, NDArray[np.float64]]


def bandit(arms: int = 3) -> Model:
    """Build M_BG: one state with `arms` loops, the k-th of which yields the unit vector e_k.

    >>> bandit(2).means.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    arms = checked_integer(arms, "arms", 1)
    return Model.from_branches([[[(1.0, 0, unit)] for unit in np.eye(arms)]])


def ring(length: int) -> Model:
    """Build M_det: a directed cycle whose only action pays 1 at state 0, the start, and 0 elsewhere.

    Its diameter is `length`: the time to come back to a state.

    >>> ring(3).means.ravel().tolist()
    [1.0, 0.0, 0.0]
    """
    length = checked_integer(length, "length", 1)
    return Model.from_branches([[[(1.0, (s + 1) % length, [float(s == 0)])]] for s in range(length)])


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
    for k in range(K):
        for d in range(1, half + 1):
            here = k * half + d
            inward = here - 1 if d > 1 else 0
            onward = (1.0, here, units[k]) if d == half else (1.0, here + 1, nothing)
            states.append([[onward], [(1.0, inward, nothing)]])
    return Model.from_branches(states)


def hub(branches: int = 3, centre: Model | None = None, attach: Sequence[int] | None = None) -> Model:
    """Build M_MG: states s^1 ... s^K around a centre, each with a loop that yields e_k; nothing else does.

    The centre's states come first, with their numbers, their own actions and no outcomes; s^k is state
    n + k, where n is the size of the centre and k counts from 0. At s^k action 0 is the loop and action 1
    leads to its place of attachment, which has, after its own actions, one more that leads to s^k (if it
    has several, in the order of k). The start is the centre's.

    Parameters
    ----------
    branches : int
        K.
    centre : Model, optional
        Any communicating model; by default a directed cycle of K states.
    attach : sequence of int, optional
        The centre's state to which each s^k is attached; by default k modulo the centre's size.

    Examples
    --------
    >>> world = hub(branches=2)
    >>> world.n_states, world.n_actions
    (4, (2, 2, 2, 2))
    """
    K = checked_integer(branches, "branches", 1)
    centre, places = _centre(K, centre, attach)
    nothing, units = np.zeros(K), np.eye(K)
    states = _inside(centre, nothing)
    for k, place in enumerate(places):
        here = centre.n_states + k
        states[place].append([(1.0, here, nothing)])
        states.append([[(1.0, here, units[k])], [(1.0, place, nothing)]])
    return Model.from_branches(states, start=centre.start)


def scalar_hub(branches: int = 3, centre: Model | None = None, attach: Sequence[int] | None = None) -> Model:
    """Build M_MS: the dynamics of `hub` with one outcome.

    It is 1 for both arcs between s^1 and the centre and for the loop at s^2 (states n and n + 1, in the
    numbering of `hub`), and 0 for all else.

    Parameters
    ----------
    branches : int
        How many peripheral states there are, at least 2.
    centre, attach
        As for `hub`.

    Examples
    --------
    >>> world = scalar_hub(branches=2)
    >>> [int(pair) for pair in world.means.nonzero()[0]] == [world.pair(0, 1), world.pair(2, 1), world.pair(3, 0)]
    True
    """
    K = checked_integer(branches, "branches", 2)
    centre, places = _centre(K, centre, attach)
    nothing, one = np.zeros(1), np.ones(1)
    states = _inside(centre, nothing)
    for k, place in enumerate(places):
        here = centre.n_states + k
        arc = one if k == 0 else nothing
        states[place].append([(1.0, here, arc)])
        states.append([[(1.0, here, one if k == 1 else nothing)], [(1.0, place, arc)]])
    return Model.from_branches(states, start=centre.start)


def _centre(K: int, centre: Model | None, attach: Sequence[int] | None) -> tuple[Model, list[int]]:
    if centre is None:
        centre = ring(K)
    elif not isinstance(centre, Model):
        raise ModelError(f"centre: got {centre!r}; a Model is needed")
    try:
        centre.require_communicating()
    except ModelError as error:
        raise ModelError(f"centre: {error}") from None
    n = centre.n_states
    if attach is None:
        return centre, [k % n for k in range(K)]
    places = checked_list(attach, "attach", K, "branch")
    return centre, [checked_integer(place, f"attach[{k}]", 0, n - 1) for k, place in enumerate(places)]


def _inside(centre: Model, nothing: NDArray[np.float64]) -> list[list[list[Branch]]]:
    """Return the centre's own actions with no outcomes."""
    p = centre.transitions()
    return [
        [
            [(float(p.data[i]), int(p.indices[i]), nothing) for i in range(p.indptr[pair], p.indptr[pair + 1])]
            for pair in range(centre.first_pair[s], centre.first_pair[s + 1])
        ]
        for s in range(centre.n_states)
    ]
