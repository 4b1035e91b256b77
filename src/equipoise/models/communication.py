"""Who can reach whom: communication, the part of a model that matters from its start, departures.

A model is *communicating* when some policy leads from any state to any other: strong connection of the graph with an
arc s -> s' wherever some action has p(s'|s,a) > 0.

`restricted` leaves out what changes nothing that is achievable: states that no policy reaches from the start, and those
in which no policy can stay indefinitely, if the process always ends up in one class of states that no action leads out
of. No policy can stay in a set T if nothing is left of T when states without an action that surely stays in T are
removed from it repeatedly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
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
        Any.

    Examples
    --------
    >>> from equipoise.models import Model, ring
    >>> is_communicating(ring(3))
    True
    >>> is_communicating(Model.from_arrays([[[0, 1]], [[0, 1]]], [[[0]], [[0]]]))
    False
    """
    return _model_components(model)[0] == 1


def _model_components(model: Model) -> tuple[int, Index]:
    pointers = model.transition_first[model.first_pair]
    return components(pointers[:-1], pointers[1:], model.transition_state)


def components(begin: Index, end: Index, successor: Index) -> tuple[int, Index]:
    """Count and label the strong components of a graph, in time and memory linear in its size."""
    n = begin.size
    label, found = np.full(n, -1), np.full(n, -1)
    scratch = [np.empty(n, np.int64) for _ in range(4)]
    return int(strong_components(begin, end, successor, label, found, *scratch)), label


def unreachable(model: Model) -> tuple[int, list[int]] | None:
    """Find a state that cannot reach all others, and those that it cannot; None if there is none.

    Parameters
    ----------
    model : Model
        Any. The start is named if it is such a state, otherwise the lowest one.

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
    """Raise a `ModelError` that says who cannot reach whom, unless the model is communicating.

    Parameters
    ----------
    model : Model
        Any.

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
    way_out = (
        f"; model.restricted() leaves out what does not matter from the start, and keeps {part.n_states} of "
        f"{model.n_states} states"
    )
    hint = way_out if part.n_states < model.n_states and is_communicating(part) else ""
    raise ModelError(f"not communicating: from {name(source)} no policy reaches {named}{more}{hint}")


def restricted(model: Model) -> Model:
    """Return the part of a model that matters from its start; see `Model.restricted`."""
    from scipy.sparse.csgraph import breadth_first_order  # takes long to import

    graph = state_graph(model)
    order = breadth_first_order(graph, model.start, return_predecessors=False)
    mask = _states_that_matter(model, graph, order)
    if mask.all():
        return model
    law, known, labels = _restrict_branches(model, np.flatnonzero(mask))
    first_met = order[np.argmax(mask[order])]
    return type(model).from_parts(law, np.count_nonzero(mask[:first_met]), model.noise, known, labels)


def _states_that_matter(model: Model, graph: csr_array, reached: NDArray[Any]) -> Mask:
    """The states that `Model.restricted` keeps."""
    within = np.zeros(model.n_states, np.bool_)
    within[reached] = True
    _, label = _model_components(model)
    rows = np.repeat(np.arange(model.n_states), np.diff(graph.indptr))
    leaving = label[rows] != label[graph.indices]
    closed = np.setdiff1d(label[within], label[rows[leaving]])
    if closed.size == 1:
        last: Mask = label == closed[0]
        if not _may_stay(model, within & ~last):
            return last
    return within


def _restrict_branches(model: Model, kept: Index) -> tuple[Branches, Mask, Labels]:
    """The branches, the mask of known pairs and the labels of a part of a model that no action leads out of."""
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
    """Return the pairs, ascending, that leave a state in which another action would have stayed for certain.

    In `star`, and in `hub` around a centre without loops of its own, these are the arcs from s^k to the centre:
    N_alt(T) of Claim 3.1, the number of alternations, is how often they were taken in the first T steps.

    Parameters
    ----------
    model : Model
        Any.

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
    return np.flatnonzero(can_stay[model.state_of] & (staying < 1.0))


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
