"""The part of a world that matters from its start.

States that no policy reaches from the start make a world non-communicating and change nothing that can be had. So do
states that are passed at the beginning and that no policy can stay in for ever: whatever is done, the world ends up in
one class of states that it never leaves, and averages are those of that class.

A class of states is closed if no action leads out of it. No policy can stay in a set T for ever if nothing is left of T
after states without an action that surely stays in T are taken out of it, again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from equipoise._types import Index, Mask
from equipoise.models.branches import Branches
from equipoise.models.labels import Labels
from equipoise.models.space import pairs_of

if TYPE_CHECKING:
    from equipoise.models.model import Model


def states_that_matter(model: Model, graph: csr_array) -> Index:
    """The states that `Model.restricted` keeps, in increasing order.

    Parameters
    ----------
    model : Model
        The world.
    graph : csr_array
        Its states, with an arc wherever some action may lead.
    """
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


def restricted_branches(model: Model, kept: Index) -> tuple[Branches, Mask, Labels]:
    """The law, the mask of known pairs and the labels of a part of a world that no action leads out of.

    Parameters
    ----------
    model : Model
        The world.
    kept : int array
        The states of the part, in increasing order.
    """
    number = np.full(model.n_states, -1, np.int64)
    number[kept] = np.arange(kept.size)
    pairs = number[model.state_of] >= 0
    counts = np.diff(model.branch_first)
    branches = np.repeat(pairs, counts)
    n_actions = np.diff(model.first_pair)[kept]
    law = Branches(
        first_pair=pairs_of(n_actions),
        first=pairs_of(counts[pairs]),
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


def first_met(model: Model, graph: csr_array, kept: Index) -> int:
    """The number, among the states that are kept, of the start or of the first of them on the way from it.

    Parameters
    ----------
    model, graph
        As for `states_that_matter`.
    kept : int array
        The states that are kept, in increasing order.
    """
    order = breadth_first_order(graph, model.start, return_predecessors=False)
    number = np.searchsorted(kept, order)
    inside = kept[np.minimum(number, kept.size - 1)] == order
    return int(number[np.argmax(inside)])


def _may_stay(model: Model, within: Mask) -> bool:
    """Whether some policy stays in a set of states for ever."""
    while within.any():
        stays = np.logical_and.reduceat(within[model.transition_state], model.transition_first[:-1])
        left = within & np.logical_or.reduceat(stays, model.first_pair[:-1])
        if (left == within).all():
            return True
        within = left
    return False
