"""The deterministic models of the paper: an arc of its figures is an action that leads along it with certainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise._types import Branch, Vector
from equipoise.errors import ModelError
from equipoise.models.checks import check_integer, check_list
from equipoise.models.labels import Label, Labels, texts
from equipoise.models.model import Model


def bandit(arms: int = 3) -> Model:
    """Build M_BG, the bandit: one state with `arms` loops, the k-th of which yields the unit vector e_k.

    Parameters
    ----------
    arms : int
        K, at least 1.

    Examples
    --------
    >>> bandit(2).means.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    arms = check_integer(arms, "arms", 1)
    names = [f"arm {k}" for k in range(arms)]
    return Model.from_branches(
        [[[(1.0, 0, unit)] for unit in np.eye(arms)]], labels=Labels(actions=names, outcomes=names)
    )


def star(branches: int = 3, diameter: int = 4) -> Model:
    """Build M_star of Claim 3.1: `branches` paths of length D/2 from a centre, a loop yielding e_k at each end.

    State 0 is the centre and the start; the state at distance d from it on branch k is 1 + k D/2 + (d - 1).
    Actions: at the centre, action k leads out along branch k; at an end, 0 is the loop and 1 leads back;
    in between, 0 leads outwards and 1 inwards. Only the loops yield anything.

    Parameters
    ----------
    branches, diameter : int
        K, at least 2, and D, even and at least 2.

    Examples
    --------
    >>> world = star(branches=3, diameter=4)
    >>> world.n_states, world.n_actions, world.diameter()
    (7, (3, 2, 2, 2, 2, 2, 2), 4.0)
    """
    K = check_integer(branches, "branches", 2)
    D = check_integer(diameter, "diameter", 2)
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


def hub(branches: int = 3, centre: Model | None = None, attach: Sequence[int] | None = None) -> Model:
    """Build M_MG: states s^1 ... s^K around a centre M_c, each with a loop that yields e_k; nothing else does.

    The centre's states come first, with their numbers, their own actions and no outcomes; s^k is state n + k, where n
    is the size of the centre and k counts from 0. At s^k action 0 is the loop and action 1 leads to its place of
    attachment, which has one more action that leads to s^k, after its own and in the order of k. The start is the
    centre's.

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
    K = check_integer(branches, "branches", 1)
    nothing, units = np.zeros(K), np.eye(K)
    return _around(K, centre, attach, nothing, [(nothing, unit) for unit in units], [f"loop {k}" for k in range(K)])


def scalar_hub(branches: int = 3, centre: Model | None = None, attach: Sequence[int] | None = None) -> Model:
    """Build M_MS: the dynamics of `hub` with one outcome, earned by going back and forth on one spoke.

    It is 1 for both arcs between s^1 and the centre and for the loop at s^2 (states n and n + 1), and 0 for all else.

    Parameters
    ----------
    branches, centre, attach
        As for `hub`, with at least 2 branches.

    Examples
    --------
    >>> world = scalar_hub(branches=2)
    >>> [int(pair) for pair in world.means.nonzero()[0]] == [world.pair(0, 1), world.pair(2, 1), world.pair(3, 0)]
    True
    """
    K = check_integer(branches, "branches", 2)
    nothing, one = np.zeros(1), np.ones(1)
    yields = [(one if k == 0 else nothing, one if k == 1 else nothing) for k in range(K)]
    return _around(K, centre, attach, nothing, yields, ["pay"])


def _around(
    K: int,
    centre: Model | None,
    attach: Sequence[int] | None,
    nothing: Vector,
    yields: list[tuple[Vector, Vector]],
    outcomes: list[str],
) -> Model:
    """The model with K states around a centre; `yields` are the outcomes of both arcs to each state and of its loop."""
    centre, places = _centre(K, centre, attach)
    states = _inside(centre, nothing)
    for k, (place, (arc, loop)) in enumerate(zip(places, yields, strict=True)):
        here = centre.n_states + k
        states[place].append([(1.0, here, arc)])
        states.append([[(1.0, here, loop)], [(1.0, place, arc)]])
    return Model.from_branches(states, start=centre.start, labels=_labels(centre, places, outcomes))


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
    places = check_list(attach, "attach", K, "branch")
    return centre, [check_integer(place, f"attach[{k}]", 0, n - 1) for k, place in enumerate(places)]


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


def ring(length: int) -> Model:
    """Build M_det: a directed cycle whose only action pays 1 at state 0, the start, and 0 elsewhere.

    Parameters
    ----------
    length : int
        The number of states, at least 1; it is the diameter too, the time to come back to a state.

    Examples
    --------
    >>> ring(3).means.ravel().tolist()
    [1.0, 0.0, 0.0]
    """
    length = check_integer(length, "length", 1)
    return Model.from_branches(
        [[[(1.0, (s + 1) % length, [float(s == 0)])]] for s in range(length)],
        labels=Labels(actions=["go on"], outcomes=["pay"]),
    )
