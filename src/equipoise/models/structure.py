"""Who can reach whom, and how fast: communication, hitting times, the diameter.

A model is *communicating* when some policy leads from any state to any other, which is strong connection
of the graph with an arc s -> s' wherever some action has p(s'|s,a) > 0.

The optimal expected time to reach a target z, from s and after at least one step, is

    h(s) = 1 + min_a sum_{s' != z} p(s'|s,a) h(s'),

and the diameter is D = max over z and s of h(s) (section 2 of the paper). The paper's travel time is the
least t >= 1 with s_{t+1} = z, and its maximum runs over all s and z, s = z included: **the time of return
to a state counts.** So a directed cycle of n states has D = n, and a single state has D = 1.

`hitting_times` is Howard's policy iteration with a sparse LU solve for each policy: exact up to rounding.
It starts from a policy that reaches the target (greedy for a few sweeps of value iteration, and a step
along a shortest path wherever that one would miss the target). `diameter` needs the largest entry only:
most targets are dismissed by the rigorous bounds of `kernels.bound_hitting`, the hardest coming first,
and `hitting_times` settles the rest. The result is good to a relative 1e-10. That is S searches, at least: above a
size `diameter` refuses, and `diameter_bounds` has what a few of them prove.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra
from scipy.sparse.linalg import splu

from equipoise._progress import progress_display
from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer
from equipoise.models.kernels import approach, bound_hitting, breadth_first, depths, strong_components
from equipoise.models.restriction import first_met, restricted_branches, states_that_matter

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
_LISTED: Final = 5  # states that a message lists


class _Search(NamedTuple):
    """Arrays shared by the searches for every target."""

    reverse_first: Index
    reverse_state: Index
    order: Index
    distance: Index


def is_communicating(model: Model) -> bool:
    """Whether every state can be reached from every other.

    Parameters
    ----------
    model : Model
        The world.

    Returns
    -------
    bool
        True if it is.

    See Also
    --------
    equipoise.models.require_communicating : Raise an error otherwise.
    equipoise.models.unreachable : Which states are cut off.

    Examples
    --------
    >>> from equipoise.models import Model, ring
    >>> is_communicating(ring(3))
    True
    >>> is_communicating(Model.from_arrays([[[0, 1]], [[0, 1]]], [[[0]], [[0]]]))
    False
    """
    pointers = model.transition_first[model.first_pair]
    count, _ = components(pointers[:-1], pointers[1:], model.transition_state)
    return count == 1


def components(begin: Index, end: Index, successor: Index) -> tuple[int, Index]:
    """Count and label the strong components of a graph, in time and memory linear in its size.

    Parameters
    ----------
    begin, end : int arrays
        One entry a node: its arcs lead to ``successor[begin[s] : end[s]]``.
    successor : int array
        Where the arcs lead.

    Examples
    --------
    >>> components(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1, 0, 0]))
    (2, array([0, 0, 1]))
    """
    n = begin.size
    label, found = np.full(n, -1), np.full(n, -1)
    scratch = [np.empty(n, np.int64) for _ in range(4)]
    return int(strong_components(begin, end, successor, label, found, *scratch)), label


def unreachable(model: Model) -> tuple[int, list[int]] | None:
    """Find a state that cannot reach all others, and those that it cannot; None if there is none.

    The start is named if it is such a state, otherwise the lowest one.

    Parameters
    ----------
    model : Model
        The world.

    Returns
    -------
    tuple of int and list of int, or None
        The state, and those that it cannot reach.

    Examples
    --------
    >>> from equipoise.models import Model
    >>> unreachable(Model.from_arrays([[[0, 1]], [[0, 1]]], [[[0]], [[0]]]))
    (1, [0])
    """
    graph = _graph(model)
    missing = _missing(graph, model.start)
    if missing.size:
        return model.start, missing.tolist()
    stuck = _missing(csr_array(graph.T), model.start)
    if not stuck.size:
        return None
    culprit = int(stuck[0])
    return culprit, _missing(graph, culprit).tolist()


def require_communicating(model: Model) -> None:
    """Raise an error that says who cannot reach whom, unless the model is communicating.

    Parameters
    ----------
    model : Model
        The world.

    Raises
    ------
    ModelError
        When some state cannot reach another.

    Examples
    --------
    >>> from equipoise.models import Model, ring
    >>> require_communicating(ring(3))
    >>> require_communicating(Model.from_arrays([[[0, 1]], [[0, 1]]], [[[0]], [[0]]]))
    Traceback (most recent call last):
    ...
    equipoise.errors.ModelError: not communicating: from state 1 no policy reaches state 0; ...
    """
    if is_communicating(model):
        return
    split = unreachable(model)
    assert split is not None
    source, missing = split
    name = model.labels.name_state
    named = ", ".join(name(state) for state in missing[:_LISTED])
    more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
    part = restricted(model)
    way_out = ""
    if part.n_states < model.n_states and is_communicating(part):
        way_out = f"; model.restricted() leaves out what does not matter from the start, and keeps {part.n_states} of "
        way_out += f"{model.n_states} states"
    raise ModelError(f"not communicating: from {name(source)} no policy reaches {named}{more}{way_out}")


def restricted(model: Model) -> Model:
    """Return the part of a world that matters from its start; see `Model.restricted`.

    Parameters
    ----------
    model : Model
        The world.

    Examples
    --------
    >>> from equipoise.models import Model, ring
    >>> restricted(Model.from_arrays([[[1, 0]], [[0, 1]]], [[[0]], [[0]]])).n_states
    1
    >>> world = ring(3)
    >>> restricted(world) is world
    True
    """
    graph = _graph(model)
    kept = states_that_matter(model, graph)
    if kept.size == model.n_states:
        return model
    law, known, labels = restricted_branches(model, kept)
    return type(model).from_parts(law, first_met(model, graph, kept), model.noise, known, labels)


def hitting_times(model: Model, target: int) -> Vector:
    """Optimal expected times to reach `target` from every state; at `target`, to come back to it.

    Parameters
    ----------
    model : Model
        A communicating one.
    target : int
        The state to reach.

    Returns
    -------
    numpy.ndarray
        One time a state.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> hitting_times(ring(4), 0).tolist()
    [4.0, 3.0, 2.0, 1.0]
    """
    target = checked_integer(target, "target", 0, model.n_states - 1)
    require_communicating(model)
    search = _search(model)
    breadth_first(search.reverse_first, search.reverse_state, target, search.order, search.distance)
    u = search.distance.astype(np.float64)
    bound_hitting(*_dynamics(model), target, search.order, np.inf, _TOLERANCE, _WARM_SWEEPS, u)
    return _policy_iteration(model, target, u, search)


def diameter(model: Model, progress: bool | None = None, *, limit: float = WORK) -> float:
    """Return D, the largest optimal expected travel time, times of return included.

    Parameters
    ----------
    model : Model
        A communicating one.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, when it takes longer than a second.
    limit : float
        The largest number of states times transitions that is still tried; ``math.inf`` tries anything.

    Returns
    -------
    float
        D, to a relative 1e-10.

    Raises
    ------
    ModelError
        When the model is not communicating, or too large; `diameter_bounds` is for those.

    See Also
    --------
    equipoise.models.diameter_bounds : For large models.
    equipoise.models.hitting_times : To one state.

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
    search = _search(model)
    arrays = _dynamics(model)
    # A state that little leads to is far from somewhere: with the hardest targets first, most others are
    # dismissed after a few sweeps.
    inflow = np.bincount(model.transition_state, model.transition_probability, minlength=model.n_states)
    targets = np.argsort(inflow, kind="stable")
    longest = 0.0
    with progress_display("diameter", targets.size, wanted=progress) as display:
        for done, target in enumerate(targets.tolist(), start=1):
            breadth_first(search.reverse_first, search.reverse_state, target, search.order, search.distance)
            u = search.distance.astype(np.float64)
            enough = longest * (1.0 + _TOLERANCE)
            _, above = bound_hitting(*arrays, target, search.order, enough, _TOLERANCE, _SWEEPS, u)
            if above > enough:
                longest = max(longest, float(_policy_iteration(model, target, u, search).max()))
            display.done(done)
    return longest


def diameter_bounds(model: Model, targets: int = 3, *, progress: bool | None = None) -> tuple[float, float]:
    """Bound D from both sides, in time linear in the size of the model.

    From below: D is at least the largest optimal time to reach any one target. From above: let H be that time for a
    hub, and let some path of l steps lead from the hub to z with probability rho, the most likely one. Who tries that
    path, and comes back to the hub after every failure, needs (l + (1 - rho) H) / rho steps at most on average; so

        D  <=  H + max over z of (l + (1 - rho) H) / rho,

    for each z with the best of the targets as its hub. In a deterministic world that is at most 2 D.

    Parameters
    ----------
    model : Model
        A communicating one.
    targets : int
        How many states to travel to: the one that most leads to, and those that least does.
    progress : bool, optional
        As in `diameter`.

    Returns
    -------
    tuple of float
        A lower and an upper bound.

    See Also
    --------
    equipoise.models.diameter : The exact one.

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
    count = checked_integer(targets, "targets", 1)
    require_communicating(model)
    search, arrays = _search(model), _dynamics(model)
    inflow = np.bincount(model.transition_state, model.transition_probability, minlength=model.n_states)
    order = np.argsort(inflow, kind="stable")
    hubs = np.unique(np.concatenate([order[-1:], order[: count - 1]]))
    graph = _dislikes(model)
    lower, further = 0.0, np.full(model.n_states, np.inf)
    with progress_display("bounds on the diameter", hubs.size, wanted=progress) as display:
        for done, hub in enumerate(hubs.tolist(), start=1):
            breadth_first(search.reverse_first, search.reverse_state, hub, search.order, search.distance)
            # The bounds exist once the times are of the right shape, to which they come soon from far above them.
            for height in (0.0, *(model.n_states / inflow[hub] * _HEIGHTS)):
                u = height + search.distance
                u[hub] = 0.0
                below, above = bound_hitting(*arrays, hub, search.order, np.inf, _NEAR, _FEW_SWEEPS, u)
                lower = max(lower, below)
                if above < np.inf:
                    length, chance = _likeliest_paths(graph, hub)
                    further = np.minimum(further, above + (length + (1.0 - chance) * above) / chance)
                    break
            display.done(done)
    return lower, float(further.max())


def _dislikes(model: Model) -> csr_array:
    """The graph of the states; an arc is as long as the logarithm of its largest probability is negative."""
    n, pointers = model.n_states, model.transition_first[model.first_pair]
    length = _PER_STEP - np.log(np.minimum(model.transition_probability, 1.0))
    source = np.repeat(np.arange(n), np.diff(pointers))
    order = np.lexsort((length, model.transition_state, source))
    row, column = source[order], model.transition_state[order]
    first = np.concatenate([[True], (np.diff(row) != 0) | (np.diff(column) != 0)])  # of several actions the likeliest
    return csr_array((length[order][first], (row[first], column[first])), shape=(n, n))


def _likeliest_paths(graph: csr_array, source: int) -> tuple[Vector, Vector]:
    """The number of steps and the probability of the most likely path from a state to each."""
    search: Any = dijkstra  # its types do not know sparse arrays
    total, before = search(graph, indices=source, return_predecessors=True)
    steps = np.zeros(total.size, np.int64)
    depths(np.argsort(total, kind="stable"), before.astype(np.int64), steps)
    return steps.astype(np.float64), np.exp(_PER_STEP * steps - total)


def _policy_iteration(model: Model, target: int, u: Vector, search: _Search) -> Vector:
    """Howard's iteration from the policy greedy for `u`, repaired to be a proper one.

    `search` holds the breadth-first search for this target. A policy is proper when every state reaches
    the target under it; improvement keeps that, since h >= 1 + P h with h finite.
    """
    transitions = model.transitions()
    state_of = model.state_of
    _, policy = _greedy(model, transitions, state_of, u)
    lost = _missing(csr_array(transitions[policy].T), target)
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
    n = chain.shape[0]
    coo = chain.tocoo()
    keep = coo.col != target
    loop = np.arange(n)
    system = csc_array(
        (
            np.concatenate([np.ones(n), -coo.data[keep]]),
            (np.concatenate([loop, coo.row[keep]]), np.concatenate([loop, coo.col[keep]])),
        ),
        shape=(n, n),
    )
    solution: Vector = splu(system).solve(np.ones(n))
    return solution


def _graph(model: Model) -> csr_array:
    """Adjacency of the states: an arc wherever some action may lead."""
    pointers = model.transition_first[model.first_pair]
    graph = csr_array(
        (np.ones(model.transition_state.size), model.transition_state.copy(), pointers),
        shape=(model.n_states, model.n_states),
    )
    graph.sum_duplicates()  # scipy's search for strong components does not end when an arc is listed twice
    return graph


def _missing(graph: csr_array, source: int) -> Index:
    """States that cannot be reached from `source`."""
    reached = breadth_first_order(graph, source, return_predecessors=False)
    absent = np.ones(graph.shape[0], np.bool_)
    absent[reached] = False
    return np.flatnonzero(absent).astype(np.int64)


def _search(model: Model) -> _Search:
    reverse = csr_array(_graph(model).T)
    return _Search(
        reverse.indptr.astype(np.int64),
        reverse.indices.astype(np.int64),
        np.empty(model.n_states, np.int64),
        np.empty(model.n_states, np.int64),
    )


def _dynamics(model: Model) -> tuple[Index, Index, Index, Vector]:
    return model.first_pair, model.transition_first, model.transition_state, model.transition_probability
