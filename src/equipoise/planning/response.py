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
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.nonzero import NonzeroSums
from equipoise.confidence.region import Region
from equipoise.models.rows import Rows
from equipoise.offline.evaluation import Moves
from equipoise.offline.gains import distributions
from equipoise.planning.believed_rows import BelievedRows, believed_rows
from equipoise.planning.likeliest import likeliest_rows


class Response(NamedTuple):
    """The optimistic model of a plan, seen from its long run.

    Attributes
    ----------
    pairs : int array, one entry a state
        The pair that the policy takes.
    share : float array, one entry a state
        x~: how often, in the long run.
    outcomes : float array, sparse one, or BelievedRows, one row a state
        v~.
    chain : sparse array
        p~, one row a state.
    """

    pairs: Index
    share: Vector
    outcomes: Rows | BelievedRows
    chain: csr_array

    @property
    def column(self) -> Vector:
        """z: the long-run average of the optimistic outcomes."""
        return np.asarray(self.share @ self.outcomes)


def response(
    first_pair: Index,
    region: Region,
    theta: Vector,
    bias: Vector,
    policy: Index,
    told: Rows | None = None,
    nonzero: NonzeroSums | None = None,
) -> Response:
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
    told : array or sparse array, optional
        The mean outcomes of all pairs, where they are told and the region has none.
    nonzero : NonzeroSums, optional
        Which outcomes the region lists, where it lists some.

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
    first, successor, probability = likeliest_rows(region, pairs, bias)
    chain = csr_array((probability, successor, first), shape=(bias.size, bias.size))
    outcomes: Rows | BelievedRows
    if told is not None:
        outcomes = told[pairs]
    elif nonzero is not None and region.nonzero is not None:
        outcomes = believed_rows(nonzero, region.nonzero, theta, pairs)
    else:
        outcomes = np.where(theta < 0.0, region.v_hi[pairs], region.v_lo[pairs])
    return Response(pairs, long_run(chain, outcomes @ -theta), outcomes, chain)


def long_run(chain: csr_array, reward: Vector) -> Vector:
    """The stationary distribution of the recurrent class that pays most."""
    best, share = -np.inf, np.zeros(reward.size)
    for states, inside in distributions(
        Moves(chain.indptr.astype(np.int64), chain.indices.astype(np.int64), chain.data)
    ):
        pays = float(inside @ reward[states])
        if pays > best:
            best = pays
            share = np.zeros(reward.size)
            share[states] = inside
    return share
