"""M_MG and M_MS of the paper: states around a centre, each with a loop of its own; deterministic arcs.

`hub`         M_MG: a centre M_c that yields nothing, and around it K states with a loop that yields e_k.
`scalar_hub`  M_MS: the same dynamics with one outcome, earned by going back and forth on one spoke.

An arc of the paper's figures is an action that leads along it with certainty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_list
from equipoise.models.labels import Label, Labels, texts
from equipoise.models.model import Model
from equipoise.models.ring import ring


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
    labels = _labels(centre, places, [f"loop {k}" for k in range(K)])
    return Model.from_branches(states, start=centre.start, labels=labels)


def scalar_hub(branches: int = 3, centre: Model | None = None, attach: Sequence[int] | None = None) -> Model:
    """Build M_MS: the dynamics of `hub` with one outcome.

    It is 1 for both arcs between s^1 and the centre and for the loop at s^2 (states n and n + 1, in the
    numbering of `hub`), and 0 for all else.

    Parameters
    ----------
    branches : int
        How many peripheral states there are, at least 2.
    centre : Model, optional
        As for `hub`.
    attach : sequence of int, optional
        As for `hub`.

    Returns
    -------
    Model
        With one outcome.

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
    return Model.from_branches(states, start=centre.start, labels=_labels(centre, places, ["pay"]))


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


def _labels(centre: Model, places: list[int], outcomes: list[str]) -> Labels:
    """Name the states and actions of the centre after its own labels, and the others after their spoke."""
    own, n = centre.labels, centre.n_states
    states = [f"centre, {word}" for word in texts(own.state(s) for s in range(n))]
    actions: list[list[Label]] = [
        [f"centre, {word}" for word in texts(own.action(s, a) for a in range(count))]
        for s, count in enumerate(centre.n_actions)
    ]
    for k, place in enumerate(places):
        states.append(f"spoke {k}")
        actions[place].append(f"to spoke {k}")
        actions.append(["loop", "to the centre"])
    return Labels(states, actions, outcomes)


def _inside(centre: Model, nothing: Vector) -> list[list[list[Branch]]]:
    """Return the centre's own actions with no outcomes."""
    p = centre.transitions()
    return [
        [
            [(float(p.data[i]), int(p.indices[i]), nothing) for i in range(p.indptr[pair], p.indptr[pair + 1])]
            for pair in range(centre.first_pair[s], centre.first_pair[s + 1])
        ]
        for s in range(centre.n_states)
    ]
