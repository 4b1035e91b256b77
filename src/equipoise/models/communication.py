"""Who can reach whom: communication, the part of a model that matters from its start, departures.

A model is *communicating* when some policy leads from any state to any other, which is strong connection
of the graph with an arc s -> s' wherever some action has p(s'|s,a) > 0.

States that no policy reaches from the start make a model non-communicating and change nothing that is achievable. Nor
do states that are passed at the beginning and in which no policy can stay indefinitely: whatever is done, the process
ends up in one class of states that it never leaves, and averages are those of that class. `restricted` leaves both
out. A class of states is closed if no action leads out of it. No policy can stay in a set T indefinitely if nothing
is left of T when states without an action that surely stays in T are removed from it repeatedly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csr_array

from equipoise._runtime.compiler import kernel
from equipoise._types import Index, Mask
from equipoise.errors import ModelError
from equipoise.models.branches import Branches
from equipoise.models.labels import Labels
from equipoise.models.space import count_pairs

if TYPE_CHECKING:
    from equipoise.models.model import Model

_LISTED: Final = 5  # states that a message lists


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
    """Count and label the strong components of a graph, in time and memory linear in its size."""
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
    graph = state_graph(model)
    missing = missing_states(graph, model.start)
    if missing.size:
        return model.start, missing.tolist()
    stuck = missing_states(csr_array(graph.T), model.start)
    if not stuck.size:
        return None
    culprit = int(stuck[0])
    return culprit, missing_states(graph, culprit).tolist()


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
    """Return the part of a world that matters from its start; see `Model.restricted`."""
    graph = state_graph(model)
    kept = _states_that_matter(model, graph)
    if kept.size == model.n_states:
        return model
    law, known, labels = _restrict_branches(model, kept)
    return type(model).from_parts(law, _first_met(model, graph, kept), model.noise, known, labels)


def _states_that_matter(model: Model, graph: csr_array) -> Index:
    """The states that `Model.restricted` keeps, in increasing order."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components  # takes long to import

    reached = breadth_first_order(graph, model.start, return_predecessors=False)
    within = np.zeros(model.n_states, np.bool_)
    within[reached] = True
    _, label = connected_components(graph, connection="strong")
    rows = np.repeat(np.arange(model.n_states), np.diff(graph.indptr))
    leaving = label[rows] != label[graph.indices]
    closed = np.setdiff1d(label[within], label[rows[leaving]])
    if closed.size == 1:
        last = label == closed[0]
        if not _may_stay(model, within & ~last):
            return np.flatnonzero(last)
    return np.flatnonzero(within)


def _restrict_branches(model: Model, kept: Index) -> tuple[Branches, Mask, Labels]:
    """The law, the mask of known pairs and the labels of a part of a world that no action leads out of."""
    number = np.full(model.n_states, -1, np.int64)
    number[kept] = np.arange(kept.size)
    pairs = number[model.state_of] >= 0
    counts = np.diff(model.branch_first)
    branches = np.repeat(pairs, counts)
    n_actions = np.diff(model.first_pair)[kept]
    law = Branches(
        first_pair=count_pairs(n_actions),
        first=count_pairs(counts[pairs]),
        probability=model.branch_probability[branches],
        next=number[model.branch_next[branches]],
        row=model.branch_row[branches],
        rows=model.outcome_rows,
    )
    labels = model.labels
    states = None if labels.states is None else [labels.states[s] for s in kept.tolist()]
    actions = labels.actions
    if isinstance(actions, list):
        actions = [actions[s] for s in kept.tolist()]
    elif actions is not None:
        actions = actions[: int(n_actions.max())]
    return law, model.known_mask[pairs], Labels(states, actions, labels.outcomes)


def _first_met(model: Model, graph: csr_array, kept: Index) -> int:
    """The number, among the states that are kept, of the start or of the first of them on the way from it."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(graph, model.start, return_predecessors=False)
    number = np.searchsorted(kept, order)
    inside = kept[np.minimum(number, kept.size - 1)] == order
    return int(number[np.argmax(inside)])


def _may_stay(model: Model, within: Mask) -> bool:
    """Whether some policy stays in a set of states indefinitely."""
    while within.any():
        stays = np.logical_and.reduceat(within[model.transition_state], model.transition_first[:-1])
        left = within & np.logical_or.reduceat(stays, model.first_pair[:-1])
        if (left == within).all():
            return True
        within = left
    return False


def departures(model: Model) -> Index:
    """The pairs that leave a state in which another action would have stayed for certain.

    In `star`, and in `hub` around a centre without loops of its own, these are the arcs from s^k to the centre:
    N_alt(T) of Claim 3.1, the number of alternations, is how often they were taken in the first T steps.
    `Run.alternations` and `TocUCRL2.alternations` count them.

    Parameters
    ----------
    model : Model
        Any.

    Returns
    -------
    int array
        Pairs, ascending.

    Examples
    --------
    >>> from equipoise.models import hub
    >>> world = hub(branches=2)
    >>> [divmod(int(pair), 2) for pair in departures(world)]  # two actions per state: the second leaves each spoke
    [(2, 1), (3, 1)]
    """
    p = model.transitions()
    staying = np.asarray(p[np.arange(model.n_pairs), model.state_of]).reshape(-1)
    can_stay = np.zeros(model.n_states, dtype=np.bool_)
    can_stay[model.state_of[staying == 1.0]] = True
    found: Index = np.flatnonzero(can_stay[model.state_of] & (staying < 1.0))
    return found


def state_graph(model: Model) -> csr_array:
    """Adjacency of the states: an arc wherever some action may lead."""
    pointers = model.transition_first[model.first_pair]
    graph = csr_array(
        (np.ones(model.transition_state.size), model.transition_state.copy(), pointers),
        shape=(model.n_states, model.n_states),
    )
    graph.sum_duplicates()  # scipy's search for strong components does not end when an arc is listed twice
    return graph


def missing_states(graph: csr_array, source: int) -> Index:
    """States that cannot be reached from `source`."""
    from scipy.sparse.csgraph import breadth_first_order

    reached = breadth_first_order(graph, source, return_predecessors=False)
    absent = np.ones(graph.shape[0], np.bool_)
    absent[reached] = False
    return np.flatnonzero(absent).astype(np.int64)


@kernel
def strong_components(begin, end, successor, label, found, low, stack, path, arc):  # type: ignore[no-untyped-def]
    """Label the strong components of a graph (Tarjan), in linear time; return how many there are."""
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
