r"""The planner's part for known mechanics and unknown laws: the value of every node of the graph.

With u the value of states and r(row) the optimistic reward of a row of outcomes, a sweep needs

    x(leaf) = r(row of the leaf) + u(next state of the leaf),
    x(node) = max { sum over values w of q(w) x(child w) : q in the region of the node's law },

children before parents, once for every part of the graph however many pairs it belongs to. A node maximises over the
law for reward and next value jointly. Nested nodes may choose the law of an inner one again for every value of an outer
one, which only enlarges the set of models looked at.

The maximum over a box starts from the lower bounds and gives what is left to the best values first; the values never
seen share one bound besides their own. Over a ball of radius r in the 1-norm it gives r/2 to the best value and takes
it from the worst. The order of a node's children is kept from sweep to sweep, as it hardly changes.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import inlined, kernel
from equipoise.models.laws.laws import LawArrays


class LawWork(NamedTuple):
    """Buffers of the planner for the laws of a space."""

    value: NDArray[np.float64]
    order: NDArray[np.int64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    unseen: NDArray[np.bool_]


def law_work(laws: LawArrays) -> LawWork:
    """Buffers for these laws; the bounds of those that are given are filled in."""
    return LawWork(
        value=np.zeros(laws.leaf_next.size + laws.node_law.size),
        order=np.zeros(laws.child.size, dtype=np.int64),
        lo=laws.probability.copy(),
        hi=laws.probability.copy(),
        unseen=np.zeros(laws.probability.size, dtype=np.bool_),
    )


@kernel
def spread_bounds(laws, region, work):
    """Bounds for every value of the laws to be learnt, from a region that lists only what was seen; reset the order."""
    for law in range(laws.learnt):
        first = laws.first_value[law]
        for i in range(first, laws.first_value[law + 1]):
            work.lo[i] = 0.0
            work.hi[i] = region.rest[law]
            work.unseen[i] = True
        for i in range(region.first[law], region.first[law + 1]):
            place = first + region.successor[i]
            work.lo[place] = region.lo[i]
            work.hi[place] = region.hi[i]
            work.unseen[place] = False
    for node in range(laws.node_law.shape[0]):
        begin = laws.node_first[node]
        for i in range(begin, laws.node_first[node + 1]):
            work.order[i] = i - begin


@inlined
def row_rewards(laws, theta, region, out):
    """(-theta).v for every row of outcomes, the largest within its bounds where v is unknown."""
    for row in range(laws.rows.shape[0]):
        total = 0.0
        unit = laws.row_unit[row]
        for k in range(theta.shape[0]):
            if unit < 0:
                total -= theta[k] * laws.rows[row, k]
            else:
                total += max(-theta[k] * region.v_lo[unit, k], -theta[k] * region.v_hi[unit, k])
        out[row] = total


@inlined
def _put_in_order(begin, end, child, value, order):
    """Shell sort of a node's children by decreasing value; one insertion pass if they are few."""
    gap = 1
    while gap < (end - begin) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            number = order[i]
            key = value[child[begin + number]]
            j = i
            while j >= begin + gap and value[child[begin + order[j - gap]]] < key:
                order[j] = order[j - gap]
                j -= gap
            order[j] = number
        gap //= 3


@inlined
def _over_box(begin, end, child, value, order, first, lo, hi, unseen, unseen_sum):
    total = 0.0
    free = 1.0
    for i in range(end - begin):
        total += lo[first + i] * value[child[begin + i]]
        free -= lo[first + i]
    shared = unseen_sum
    for j in range(begin, end):
        if not free > 0.0:
            break
        i = order[j]
        more = min(hi[first + i] - lo[first + i], free)
        if unseen[first + i]:
            more = min(more, shared)
            shared -= more
        total += more * value[child[begin + i]]
        free -= more
    return total


@inlined
def _over_ball(begin, end, child, value, order, first, centre, radius):
    """What the centre lacks to one comes on top of half the radius."""
    total = 0.0
    excess = -1.0
    for i in range(end - begin):
        total += centre[first + i] * value[child[begin + i]]
        excess += centre[first + i]
    best = order[begin]
    more = min(1.0 - centre[first + best], 0.5 * (radius - excess))
    total += more * value[child[begin + best]]
    excess += more
    j = end - 1
    while excess > 0.0 and j >= begin:
        i = order[j]
        less = min(centre[first + i], excess)
        total -= less * value[child[begin + i]]
        excess -= less
        j -= 1
    return total


@inlined
def evaluate(laws, region, reward, u, work):
    """The value of every leaf and every node; `reward` is that of each row, `work` a `LawWork`."""
    value, child, order = work.value, laws.child, work.order
    leaves = laws.leaf_next.shape[0]
    for leaf in range(leaves):
        value[leaf] = reward[laws.leaf_row[leaf]] + u[laws.leaf_next[leaf]]
    for node in range(laws.node_law.shape[0]):
        law = laws.node_law[node]
        begin = laws.node_first[node]
        end = laws.node_first[node + 1]
        first = laws.first_value[law]
        if law >= laws.learnt:
            total = 0.0
            for i in range(end - begin):
                total += work.lo[first + i] * value[child[begin + i]]
            value[leaves + node] = total
            continue
        _put_in_order(begin, end, child, value, order)
        if region.radius[law] > 0.0:
            value[leaves + node] = _over_ball(begin, end, child, value, order, first, work.lo, region.radius[law])
        else:
            value[leaves + node] = _over_box(
                begin, end, child, value, order, first, work.lo, work.hi, work.unseen, region.rest_sum[law]
            )
