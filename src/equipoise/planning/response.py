r"""What an optimistic plan believes: the model in its region that the last sweep used, and where that leads.

In state s the policy takes the pair i = pi(s), and the sweep used a p in the region of i at which p.u is largest: from
the lower bounds, the mass that is left goes to the states in decreasing order of u, up to their upper bounds, and to
the states that are not listed together up to `rest_sum`. In a ball, half the radius is moved from the worst states to
the best one. The stationary distribution of that chain, x~, has the property that for every theta'

    gain(theta')  >=  (-theta').z,      z = sum over s of x~(s) v~(s, pi(s)),

with v~ the optimistic outcomes: policy and model stay in the region when theta changes. So z is a cut of the convex
function theta -> gain(theta), and -z a subgradient of it where it was planned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.region import Region
from equipoise.offline.chains import recurrent_classes, stationary_distribution


class Response(NamedTuple):
    """The optimistic model of a plan, seen from its long run.

    Attributes
    ----------
    pairs : int array, one entry a state
        The pair that the policy takes.
    share : float array, one entry a state
        x~: how often, in the long run.
    outcomes : float array, one row a state
        v~.
    chain : sparse array
        p~, one row a state.
    """

    pairs: Index
    share: Vector
    outcomes: Vector
    chain: csr_array

    @property
    def column(self) -> Vector:
        """z: the long-run average of the optimistic outcomes."""
        return self.share @ self.outcomes


def response(first_pair: Index, region: Region, theta: Vector, bias: Vector, policy: Index) -> Response:
    """Work out what a plan believes.

    Parameters
    ----------
    first_pair : int array
        Where the pairs of each state begin.
    region : Region
        That of the plan.
    theta : float array
        Of the plan.
    bias : float array
        u, of the plan.
    policy : int array
        Its actions.

    Examples
    --------
    >>> import numpy as np
    >>> region = Region(
    ...     first=np.array([0, 2, 4]), successor=np.array([0, 1, 0, 1]), lo=np.array([0.25, 0.25, 1.0, 0.0]),
    ...     hi=np.array([0.75, 0.75, 1.0, 0.0]), rest=np.zeros(2), rest_sum=np.zeros(2), radius=np.zeros(2),
    ...     v_lo=np.array([[0.0], [0.5]]), v_hi=np.array([[0.0], [1.0]]),
    ... )
    >>> belief = response(np.array([0, 1, 2]), region, np.array([-1.0]), np.array([0.0, 1.0]), np.array([0, 0]))
    >>> belief.chain.toarray().tolist(), belief.column.round(4).tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [0.4286])
    """
    pairs = first_pair[:-1] + policy
    order = np.argsort(-bias, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    rows = [_likeliest(region, int(pair), order, rank) for pair in pairs]
    lengths = [states.size for states, _ in rows]
    chain = csr_array(
        (
            np.concatenate([mass for _, mass in rows]),
            np.concatenate([states for states, _ in rows]),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(bias.size, bias.size),
    )
    outcomes = np.where(theta < 0.0, region.v_hi[pairs], region.v_lo[pairs])
    return Response(pairs, long_run(chain, outcomes @ -theta), outcomes, chain)


def _likeliest(region: Region, pair: int, order: Index, rank: Index) -> tuple[Index, NDArray[np.float64]]:
    """Where the mass of one pair goes if as much as can be goes to states early in the order.

    Only states that may get some are looked at: those listed, and of the others as many as it takes to use up what is
    free. So the work is that of what was seen, and not of all states.
    """
    part = slice(region.first[pair], region.first[pair + 1])
    listed, low = region.successor[part], region.lo[part]
    if region.radius[pair] > 0.0:
        return _in_ball(listed, low, float(region.radius[pair]), order, rank)
    free, each, together = max(0.0, 1.0 - float(low.sum())), float(region.rest[pair]), float(region.rest_sum[pair])
    others = order[:0]
    if min(free, each, together) > 0.0:
        enough = min(order.size, int(min(free, together) / each) + 1)
        first = order[: enough + listed.size]
        others = first[~np.isin(first, listed)][:enough]
    states = np.concatenate([listed, others])
    mass = np.concatenate([low, np.zeros(others.size)])
    room = np.concatenate([region.hi[part] - low, np.full(others.size, each)])
    by_rank = np.argsort(rank[states])
    room, hidden = room[by_rank], by_rank >= listed.size
    room[hidden] = np.diff(np.minimum(np.cumsum(room[hidden]), together), prepend=0.0)
    mass[by_rank] += np.diff(np.minimum(np.cumsum(room), free), prepend=0.0)
    return _as_distribution(states, mass)


def _in_ball(
    listed: Index, centre: Vector, radius: float, order: Index, rank: Index
) -> tuple[Index, NDArray[np.float64]]:
    """Half the radius more for the best state, and what is then too much taken from the worst."""
    best = order[0]
    states = listed if best in listed else np.append(listed, best)
    mass = np.append(centre, np.zeros(states.size - listed.size))
    here = int(np.flatnonzero(states == best)[0])
    mass[here] += min(1.0 - mass[here], 0.5 * (radius + 1.0 - float(mass.sum())))
    worst_first = np.argsort(-rank[states])[: states.size - 1]  # all but the best
    excess = max(0.0, float(mass.sum()) - 1.0)
    mass[worst_first] -= np.diff(np.minimum(np.cumsum(mass[worst_first]), excess), prepend=0.0)
    return _as_distribution(states, mass)


def _as_distribution(states: Index, mass: Vector) -> tuple[Index, NDArray[np.float64]]:
    used = mass > 0.0
    return states[used], mass[used] / mass[used].sum()


def long_run(chain: csr_array, reward: Vector) -> Vector:
    """The stationary distribution of the recurrent class that pays most."""
    best, share = -np.inf, np.zeros(reward.size)
    for states in recurrent_classes(chain):
        inside = stationary_distribution(csr_array(chain[states][:, states]))
        pays = float(inside @ reward[states])
        if pays > best:
            best = pays
            share = np.zeros(reward.size)
            share[states] = inside
    return share
