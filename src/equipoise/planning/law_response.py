r"""What an optimistic plan over known mechanics believes: the laws that its last sweep used, and where they lead.

At every node that the policy reaches the sweep used a q in the region of its law at which sum over w of q(w) x(child w)
is largest. Together they give each state a distribution over leaves, and so the chain and the outcomes of the
optimistic model, as in `response`. Two nodes of one law may use different q: the model lies in the enlarged set over
which the planner maximises, and the gain bounds what it earns.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.region import Region
from equipoise.models.laws.flow import flow
from equipoise.models.laws.laws import LawArrays
from equipoise.planning.evi import Plan
from equipoise.planning.laws import LawWork
from equipoise.planning.response import Response, long_run


def law_response(
    first_pair: Index, laws: LawArrays, region: Region, theta: Vector, plan: Plan, work: LawWork
) -> Response:
    """Work out what a plan believes.

    Parameters
    ----------
    first_pair : int array
        Where the pairs of each state begin.
    laws : LawArrays
        The mechanics.
    region : Region
        That of the plan.
    theta : float array
        Of the plan.
    plan : Plan
        Its policy and bias.
    work : LawWork
        What the planner made of the region, with the values of the last sweep.
    """
    pairs = first_pair[:-1] + plan.policy
    arriving = flow(laws, laws.root[pairs], likeliest(laws, region, work)).leaves
    n_leaves, n_states = laws.leaf_next.size, pairs.size
    lead = csr_array((np.ones(n_leaves), (np.arange(n_leaves), laws.leaf_next)), shape=(n_leaves, n_states))
    outcomes = np.asarray(arriving @ optimistic_rows(laws, region, theta)[laws.leaf_row])
    chain = csr_array(arriving @ lead)
    return Response(pairs, long_run(chain, outcomes @ -theta), outcomes, chain)


def optimistic_rows(laws: LawArrays, region: Region, theta: Vector) -> Vector:
    """The outcomes of each row: as they are known, or the best within their bounds."""
    rows = laws.rows.copy()
    unknown = np.flatnonzero(laws.row_unit >= 0)
    units = laws.row_unit[unknown]
    rows[unknown] = np.where(theta < 0.0, region.v_hi[units], region.v_lo[units])
    return rows


def likeliest(laws: LawArrays, region: Region, work: LawWork) -> Vector:
    """The distribution over its children that each node used, one after the other.

    Parameters
    ----------
    laws, region, work
        As for `law_response`.
    """
    shares = np.zeros(laws.child.size)
    for node, law in enumerate(laws.node_law.tolist()):
        part = slice(laws.node_first[node], laws.node_first[node + 1])
        bounds = slice(laws.first_value[law], laws.first_value[law + 1])
        low = work.lo[bounds]
        if law >= laws.learnt:
            shares[part] = low
            continue
        best_first = np.argsort(-work.value[laws.child[part]], kind="stable")
        if region.radius[law] > 0.0:
            mass = _in_ball(low, float(region.radius[law]), best_first)
        else:
            room = (work.hi[bounds] - low)[best_first]
            unseen = work.unseen[bounds][best_first]
            room[unseen] = np.diff(np.minimum(np.cumsum(room[unseen]), region.rest_sum[law]), prepend=0.0)
            mass = low.copy()
            mass[best_first] += np.diff(np.minimum(np.cumsum(room), max(0.0, 1.0 - float(low.sum()))), prepend=0.0)
        shares[part] = mass / mass.sum()
    return shares


def _in_ball(centre: Vector, radius: float, best_first: Index) -> Vector:
    mass = centre.copy()
    best = best_first[0]
    mass[best] += min(1.0 - mass[best], 0.5 * (radius + 1.0 - float(mass.sum())))
    worst_first = best_first[:0:-1]
    excess = max(0.0, float(mass.sum()) - 1.0)
    mass[worst_first] -= np.diff(np.minimum(np.cumsum(mass[worst_first]), excess), prepend=0.0)
    return mass
