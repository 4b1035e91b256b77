"""Compiled pieces of a world: its sampler, and the sweeps behind its hitting times.

`draw` is the one place where a world's randomness is made, for `World.step` and for the compiled
simulation alike. From a uniform u it takes the first branch j of the pair with u < cumulative[j].

Hitting times. For a target z let T be the operator on positive vectors u over the states other than z,

    (Tu)(s) = 1 + min_a sum_{s' != z} p(s'|s,a) u(s'),

whose only fixed point is h. With r = Tu - u, and because T(cu) = 1 - c + c(u + r),

    c (1 - max r) >= 1  implies  T(cu) <= cu, hence  h <= cu;
    c (1 - min r) <= 1  implies  T(cu) >= cu, hence  h >= cu.

So any u gives u / (1 - min r) <= h <= u / (1 - max r), and `bound_hitting` improves u by sweeps in place
(in order of distance from z), rescaled between them, until the bounds settle what was asked.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined, kernel
from equipoise.models.rows import SparseRows

_FEW: Final = 16  # up to so many branches are scanned one by one
_CHECK_EVERY: Final = 4  # sweeps between two looks at the bounds


class Sampling(NamedTuple):
    """What `sample` reads of a model: the branches of each pair, the rows of outcomes, and whether they are drawn."""

    branch_first: NDArray[np.int64]
    branch_cumulative: NDArray[np.float64]
    branch_next: NDArray[np.int64]
    branch_row: NDArray[np.int64]
    rows: NDArray[np.float64]
    sparse: SparseRows | None  # in the place of the rows, where nearly all of them are zero
    bernoulli: bool


@inlined
def draw(rng, pair, world, outcome):  # type: ignore[no-untyped-def]
    """Draw the outcomes of `pair` into `outcome` and return the branch; `world` is a `Sampling`.

    It takes 1 number of the stream, or 1 + K if the outcomes are Bernoulli.
    """
    u = rng.random()
    j = world.branch_first[pair]
    last = world.branch_first[pair + 1] - 1
    if last - j < _FEW:
        while u >= world.branch_cumulative[j] and j < last:
            j += 1
    else:
        while j < last:
            middle = (j + last) >> 1
            if u < world.branch_cumulative[middle]:
                last = middle
            else:
                j = middle + 1
    _write_outcomes(world.sparse, world, world.branch_row[j], rng, outcome)
    return j


@inlined
def _write_outcomes(sparse, world, row, rng, outcome):  # type: ignore[no-untyped-def]
    """The outcomes of a row; `sparse` are the rows where nearly all are zero, else None: numba compiles one branch."""
    if sparse is not None:
        for k in range(outcome.shape[0]):
            outcome[k] = 0.0
        for i in range(sparse.first[row], sparse.first[row + 1]):
            outcome[sparse.outcome[i]] = sparse.value[i]
        if world.bernoulli:
            for k in range(outcome.shape[0]):
                outcome[k] = 1.0 if rng.random() < outcome[k] else 0.0
    elif world.bernoulli:
        for k in range(outcome.shape[0]):
            outcome[k] = 1.0 if rng.random() < world.rows[row, k] else 0.0
    else:
        for k in range(outcome.shape[0]):
            outcome[k] = world.rows[row, k]


@inlined
def sample(rng, pair, world, outcome):  # type: ignore[no-untyped-def]
    """As `draw`; returns the next state."""
    return world.branch_next[draw(rng, pair, world, outcome)]


@kernel
def cumulate(branch_first, probability, out):  # type: ignore[no-untyped-def]
    """Cumulative probabilities within each pair; the last one is exactly 1."""
    for pair in range(branch_first.shape[0] - 1):
        total = 0.0
        for j in range(branch_first[pair], branch_first[pair + 1]):
            total += probability[j]
            out[j] = min(total, 1.0)
        out[branch_first[pair + 1] - 1] = 1.0


@kernel
def breadth_first(reverse_first, reverse_state, target, order, distance):  # type: ignore[no-untyped-def]
    """Fill `order` and `distance` (-1: cannot) with the states that can reach `target`; return how many."""
    distance[:] = -1
    distance[target] = 0
    order[0] = target
    reached = 1
    done = 0
    while done < reached:
        s = order[done]
        done += 1
        for i in range(reverse_first[s], reverse_first[s + 1]):
            before = reverse_state[i]
            if distance[before] < 0:
                distance[before] = distance[s] + 1
                order[reached] = before
                reached += 1
    return reached


@kernel
def approach(first_pair, first, state, distance, policy):  # type: ignore[no-untyped-def]
    """Choose in every state the first pair with a successor nearest to the target."""
    for s in range(first_pair.shape[0] - 1):
        nearest = -1
        for pair in range(first_pair[s], first_pair[s + 1]):
            for i in range(first[pair], first[pair + 1]):
                if nearest < 0 or distance[state[i]] < nearest:
                    nearest = distance[state[i]]
                    policy[s] = pair


@inlined
def _backup(first_pair, first, state, probability, s, u):  # type: ignore[no-untyped-def]
    least = math.inf
    for pair in range(first_pair[s], first_pair[s + 1]):
        total = 1.0
        for i in range(first[pair], first[pair + 1]):
            total += probability[i] * u[state[i]]
        least = min(least, total)
    return least


@kernel
def bound_hitting(  # type: ignore[no-untyped-def]
    first_pair, first, state, probability, target, order, enough, tolerance, sweeps, u
):
    """Improve `u` (positive, zero at `target`) and bound the largest optimal time to reach `target`.

    Stops when the upper bound is at most `enough`, when the lower one is above it, when the two agree to
    the relative `tolerance`, or after so many `sweeps`. The time of return to `target` counts.
    """
    n = first_pair.shape[0] - 1
    below, above = 0.0, math.inf
    for sweep in range(1, sweeps + 1):
        for i in range(1, n):
            s = order[i]
            u[s] = _backup(first_pair, first, state, probability, s, u)
        if sweep % _CHECK_EVERY != 1 and sweep != sweeps:
            continue
        least, most, total, tallest = math.inf, -math.inf, 0.0, 0.0
        for i in range(1, n):
            s = order[i]
            r = _backup(first_pair, first, state, probability, s, u) - u[s]
            least, most, total = min(least, r), max(most, r), total + r
            tallest = max(tallest, u[s])
        if n == 1:
            least = most = 0.0
        if most >= 1.0 or least >= 1.0:
            continue
        back = _backup(first_pair, first, state, probability, target, u) - 1.0
        low, high = 1.0 / (1.0 - least), 1.0 / (1.0 - most)
        below = max(below, max(low * tallest, 1.0 + low * back))
        above = min(above, max(high * tallest, 1.0 + high * back))
        if above <= enough or below > enough or high <= low * (1.0 + tolerance):
            break
        scale = 1.0 / (1.0 - total / (n - 1)) if n > 1 else 1.0
        for s in range(n):
            u[s] *= scale
    return below, above


@kernel
def strong_components(begin, end, successor, label, found, low, stack, path, arc):  # type: ignore[no-untyped-def]
    """Label the strong components of a graph (Tarjan), in linear time; return how many there are.

    The arcs of node s lead to ``successor[begin[s] : end[s]]``. `label` and `found` must be filled with -1; the
    others are scratch of one entry a node. A component has a lower label than every other one that leads to it.
    """
    count = 0
    visited = 0
    top = 0
    for root in range(label.shape[0]):
        if found[root] >= 0:
            continue
        depth = 0
        path[0] = root
        found[root] = low[root] = visited
        visited += 1
        stack[top] = root
        top += 1
        arc[root] = begin[root]
        while depth >= 0:
            s = path[depth]
            if arc[s] < end[s]:
                after = successor[arc[s]]
                arc[s] += 1
                if found[after] < 0:
                    found[after] = low[after] = visited
                    visited += 1
                    stack[top] = after
                    top += 1
                    arc[after] = begin[after]
                    depth += 1
                    path[depth] = after
                elif label[after] < 0:
                    low[s] = min(low[s], found[after])
                continue
            if low[s] == found[s]:
                while True:
                    top -= 1
                    label[stack[top]] = count
                    if stack[top] == s:
                        break
                count += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[s])
    return count


@kernel
def depths(order, before, depth):  # type: ignore[no-untyped-def]
    """Count the arcs from the root of a tree to each node; `order` lists every node after the one `before` it."""
    for s in order:
        if before[s] >= 0:
            depth[s] = depth[before[s]] + 1
