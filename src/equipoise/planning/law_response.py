r"""What an optimistic plan over known mechanics believes: the laws that its last sweep used, and where they lead.

At every node that the policy reaches the sweep used a q in the region of its law at which sum over w of q(w) x(child w)
is largest. Together they give each state a distribution over leaves, and so the chain and the outcomes of the
optimistic model, as in `response`. Two nodes of one law may use different q: the model lies in the enlarged set over
which the planner maximises, and the gain bounds what it earns.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from equipoise._compile import kernel
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
    widest = int(np.diff(laws.node_first).max(initial=0))
    _fill_shares(
        laws.node_law, laws.node_first, laws.child, laws.first_value, laws.learnt, region.radius, region.rest_sum,
        work.lo, work.hi, work.unseen, work.value, np.empty(widest, np.int64), shares,
    )  # fmt: skip
    return shares


@kernel
def _fill_shares(  # type: ignore[no-untyped-def]
    node_law, node_first, child, first_value, learnt, radius, rest_sum, lo, hi, unseen, value, best_first, shares
):
    for node in range(node_law.shape[0]):
        law, begin = node_law[node], node_first[node]
        size, bound = node_first[node + 1] - begin, first_value[law]
        total = 0.0
        for i in range(size):
            shares[begin + i] = lo[bound + i]
            total += lo[bound + i]
        if law >= learnt:
            continue
        for i in range(size):  # stable, the largest value first
            j = i
            while j > 0 and value[child[begin + best_first[j - 1]]] < value[child[begin + i]]:
                best_first[j] = best_first[j - 1]
                j -= 1
            best_first[j] = i
        if radius[law] > 0.0:
            best = begin + best_first[0]
            more = min(1.0 - shares[best], 0.5 * (radius[law] + 1.0 - total))
            shares[best] += more
            excess = max(0.0, total + more - 1.0)
            for i in range(size - 1, 0, -1):
                less = min(shares[begin + best_first[i]], excess)
                shares[begin + best_first[i]] -= less
                excess -= less
        else:
            free, together = max(0.0, 1.0 - total), rest_sum[law]
            for i in range(size):
                at = best_first[i]
                room = hi[bound + at] - lo[bound + at]
                if unseen[bound + at]:
                    room = min(room, together)
                    together -= room
                more = min(room, free)
                shares[begin + at] += more
                free -= more
        total = 0.0
        for i in range(size):
            total += shares[begin + i]
        for i in range(size):
            shares[begin + i] /= total
