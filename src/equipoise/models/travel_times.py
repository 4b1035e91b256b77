"""How fast one state can be reached from another: hitting times and the diameter.

The optimal expected time to reach a target z, from s and after at least one step, is

    h(s) = 1 + min_a sum_{s' != z} p(s'|s,a) h(s'),

and the diameter is D = max over z and s of h(s) (section 2 of the paper). As in the paper s = z is included: **the time
of return to a state counts.** So a directed cycle of n states has D = n, and a single state has D = 1.

`hitting_times` is Howard's policy iteration with a sparse LU solve for each policy: exact up to rounding. It starts
from the policy that is greedy after a few sweeps of value iteration, with a step along a shortest path wherever that
would miss the target. `diameter` needs the largest entry only: most targets are dismissed by bounds, the hardest coming
first, and `hitting_times` settles the rest, to a relative 1e-10. Above a size it raises an error, and `diameter_bounds`
has what a few searches prove.

The bounds. For a target z let T be the operator on positive vectors u over the states other than z,

    (Tu)(s) = 1 + min_a sum_{s' != z} p(s'|s,a) u(s'),

whose only fixed point is h. With r = Tu - u, and because T(cu) = 1 - c + c(u + r),

    c (1 - max r) >= 1  implies  T(cu) <= cu, hence  h <= cu;
    c (1 - min r) <= 1  implies  T(cu) >= cu, hence  h >= cu.

So any u gives u / (1 - min r) <= h <= u / (1 - max r), and `bound_hitting` improves u by sweeps in place (in order of
distance from z), rescaled between them, until the bounds settle what was asked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csc_array, csr_array

from equipoise._runtime.compiler import inlined, kernel
from equipoise._runtime.progress import progress_display
from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models.checks import check_integer
from equipoise.models.communication import missing_states, require_communicating, state_graph

if TYPE_CHECKING:
    from equipoise.models.model import Model

_TOLERANCE: Final = 1e-10  # of the diameter, relative
_IMPROVEMENT: Final = 1e-13  # below it, relative, a better action is taken for rounding
_SWEEPS: Final = 200  # of value iteration, before policy iteration takes over
_WARM_SWEEPS: Final = 40
_NEAR: Final = 1e-2  # relative: how near the bounds on the time to one target come
_PER_STEP: Final = 1e-9  # of two paths as likely as each other the shorter one is preferred
_FEW_SWEEPS: Final = 60
_HEIGHTS: Final = np.array([10.0, 1e3, 1e6])  # from which to come down, in units of the mean time between two visits
WORK: Final = 5e9  # states times transitions up to which the diameter is computed: minutes
_CHECK_EVERY: Final = 4  # sweeps between two looks at the bounds


class _Search:
    """Searches for targets in a model, with arrays that they share."""

    def __init__(self, model: Model) -> None:
        reverse = csr_array(state_graph(model).T)
        self._reverse = reverse.indptr.astype(np.int64), reverse.indices.astype(np.int64)
        self._model = model
        self.order, self.distance = np.empty(model.n_states, np.int64), np.empty(model.n_states, np.int64)

    def begin(self, target: int) -> Vector:
        """Fill `order` and `distance` for a target, and return the distances as numbers to begin with."""
        breadth_first(*self._reverse, target, self.order, self.distance)
        return self.distance.astype(np.float64)

    def bound(self, target: int, enough: float, tolerance: float, sweeps: int, u: Vector) -> tuple[float, float]:
        """Improve `u`, and bound the largest optimal time to reach the target; see `bound_hitting`."""
        model = self._model
        arrays = model.first_pair, model.transition_first, model.transition_state, model.transition_probability
        below, above = bound_hitting(*arrays, target, self.order, enough, tolerance, sweeps, u)
        return below, above


def hitting_times(model: Model, target: int) -> Vector:
    """Return the optimal expected time to reach `target` from every state; at `target`, to come back to it.

    Parameters
    ----------
    model : Model
        A communicating one.
    target : int
        The state to reach.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> hitting_times(ring(4), 0).tolist()
    [4.0, 3.0, 2.0, 1.0]
    """
    target = check_integer(target, "target", 0, model.n_states - 1)
    require_communicating(model)
    search = _Search(model)
    u = search.begin(target)
    search.bound(target, np.inf, _TOLERANCE, _WARM_SWEEPS, u)
    return _policy_iteration(model, target, u, search)


def diameter(model: Model, progress: bool | None = None, *, limit: float = WORK) -> float:
    """Return D, the largest optimal expected travel time, times of return included; to a relative 1e-10.

    Parameters
    ----------
    model : Model
        A communicating one.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, when it takes longer than a second.
    limit : float
        The largest number of states times transitions that is tried; ``math.inf`` tries anything. A `ModelError` says
        when there are more, and that `equipoise.models.diameter_bounds` is for those.

    Examples
    --------
    >>> from equipoise.models import star
    >>> diameter(star(branches=3, diameter=4))
    4.0
    """
    require_communicating(model)
    work = float(model.n_states) * model.transition_state.size
    if work > limit:
        raise ModelError(
            f"diameter: {model.n_states} states with {model.transition_state.size} transitions would take very long; "
            "eq.models.diameter_bounds(model) bounds it from both sides, and limit=math.inf computes it all the same"
        )
    search = _Search(model)
    # A state that little leads to is far from somewhere: with the hardest targets first, most others are
    # dismissed after a few sweeps.
    inflow = np.bincount(model.transition_state, model.transition_probability, minlength=model.n_states)
    targets = np.argsort(inflow, kind="stable")
    longest = 0.0
    with progress_display("diameter", targets.size, wanted=progress) as display:
        for done, target in enumerate(targets.tolist(), start=1):
            u = search.begin(target)
            enough = longest * (1.0 + _TOLERANCE)
            _, above = search.bound(target, enough, _TOLERANCE, _SWEEPS, u)
            if above > enough:
                longest = max(longest, float(_policy_iteration(model, target, u, search).max()))
            display.done(done)
    return longest


def diameter_bounds(model: Model, targets: int = 3, *, progress: bool | None = None) -> tuple[float, float]:
    """Bound D from both sides, in time linear in the size of the model.

    From below: D is at least the largest optimal time to reach any one target. From above: let H be that time for a
    hub, and let the most likely path from the hub to z have l steps and probability rho. To try that path, and to come
    back to the hub after every failure, takes at most (l + (1 - rho) H) / rho steps on average; so

        D  <=  H + max over z of (l + (1 - rho) H) / rho,

    for each z with the best of the targets as its hub. In a deterministic world that is at most 2 D.

    Parameters
    ----------
    model : Model
        A communicating one.
    targets : int
        How many states to travel to: the one with the largest inflow, and those with the least.
    progress : bool, optional
        As in `diameter`.

    Examples
    --------
    >>> from equipoise.models import garnet, ring
    >>> diameter_bounds(ring(4))
    (4.0, 5.0)
    >>> world = garnet(100, 3, 3, seed=1)
    >>> lower, upper = diameter_bounds(world)
    >>> lower <= world.diameter() <= upper
    True
    """
    count = check_integer(targets, "targets", 1)
    require_communicating(model)
    search = _Search(model)
    inflow = np.bincount(model.transition_state, model.transition_probability, minlength=model.n_states)
    order = np.argsort(inflow, kind="stable")
    hubs = np.unique(np.concatenate([order[-1:], order[: count - 1]]))
    graph = _dislikes(model)
    lower, further = 0.0, np.full(model.n_states, np.inf)
    with progress_display("bounds on the diameter", hubs.size, wanted=progress) as display:
        for done, hub in enumerate(hubs.tolist(), start=1):
            distance = search.begin(hub)
            # The bounds exist once the times are of the right shape, to which they come soon from far above them.
            for height in (0.0, *(model.n_states / inflow[hub] * _HEIGHTS)):
                u = height + distance
                u[hub] = 0.0
                below, above = search.bound(hub, np.inf, _NEAR, _FEW_SWEEPS, u)
                lower = max(lower, below)
                if above < np.inf:
                    length, chance = _likeliest_paths(graph, hub)
                    further = np.minimum(further, above + (length + (1.0 - chance) * above) / chance)
                    break
            display.done(done)
    return lower, float(further.max())


def _dislikes(model: Model) -> csr_array:
    """The graph of the states; the length of an arc is minus the logarithm of its largest probability."""
    n, pointers = model.n_states, model.transition_first[model.first_pair]
    length = _PER_STEP - np.log(np.minimum(model.transition_probability, 1.0))
    source = np.repeat(np.arange(n), np.diff(pointers))
    order = np.lexsort((length, model.transition_state, source))
    row, column = source[order], model.transition_state[order]
    first = np.concatenate([[True], (np.diff(row) != 0) | (np.diff(column) != 0)])  # of several actions the likeliest
    return csr_array((length[order][first], (row[first], column[first])), shape=(n, n))


def _likeliest_paths(graph: csr_array, source: int) -> tuple[Vector, Vector]:
    """The number of steps and the probability of the most likely path from a state to each."""
    from scipy.sparse.csgraph import dijkstra  # takes long to import

    search: Any = dijkstra  # its types do not know sparse arrays
    total, before = search(graph, indices=source, return_predecessors=True)
    steps = np.zeros(total.size, np.int64)
    depths(np.argsort(total, kind="stable"), before.astype(np.int64), steps)
    return steps.astype(np.float64), np.exp(_PER_STEP * steps - total)


def _policy_iteration(model: Model, target: int, u: Vector, search: _Search) -> Vector:
    """Howard's iteration from the policy greedy for `u`, repaired to be a proper one."""
    transitions = model.transitions()
    state_of = model.state_of
    _, policy = _greedy(model, transitions, state_of, u)
    lost = missing_states(csr_array(transitions[policy].T), target)
    toward = np.empty(model.n_states, np.int64)
    approach(model.first_pair, model.transition_first, model.transition_state, search.distance, toward)
    policy[lost] = toward[lost]
    h, total = u, np.inf
    while True:
        solved = _evaluate(transitions[policy], target)
        if not solved.sum() < total:  # no progress beyond rounding
            return h
        h, total = solved, solved.sum()
        u = h.copy()
        u[target] = 0.0
        least, best = _greedy(model, transitions, state_of, u)
        better = least < h * (1.0 - _IMPROVEMENT)
        if not better.any():
            return h
        policy = np.where(better, best, policy)


def _greedy(model: Model, transitions: csr_array, state_of: Index, u: Vector) -> tuple[Vector, Index]:
    """Return min_a 1 + sum p u for every state, and the first pair that attains it."""
    q = 1.0 + transitions @ u
    least = np.minimum.reduceat(q, model.first_pair[:-1])
    attained = np.flatnonzero(q == least[state_of])[::-1]
    policy = np.empty(model.n_states, np.int64)
    policy[state_of[attained]] = attained  # of several the lowest, which is written last
    return least, policy


def _evaluate(chain: csr_array, target: int) -> Vector:
    """Solve h = 1 + P h with the target's column of P struck out."""
    from scipy.sparse.linalg import splu

    n = chain.shape[0]
    coo = chain.tocoo()
    keep = coo.col != target
    loop = np.arange(n)
    row, column = np.concatenate([loop, coo.row[keep]]), np.concatenate([loop, coo.col[keep]])
    system = csc_array((np.concatenate([np.ones(n), -coo.data[keep]]), (row, column)), shape=(n, n))
    solution: Vector = splu(system).solve(np.ones(n))
    return solution


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
    """Improve `u` (positive, zero at `target`) and bound the largest optimal time to reach `target`."""
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
def depths(order, before, depth):  # type: ignore[no-untyped-def]
    """Count the arcs from the root of a tree to each node; `order` lists every node after the one `before` it."""
    for s in order:
        if before[s] >= 0:
            depth[s] = depth[before[s]] + 1
