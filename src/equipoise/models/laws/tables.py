r"""Tables of which something is known: some transitions in full, some that have a law in common.

Every pair of a plain space has an unknown law of its own over all states, and unknown mean outcomes. Here it is said

* of some pairs, what their transition probabilities are: a given law, of which nothing is learnt;
* of groups of pairs, that their next states are drawn from one law, up to a known relabelling. Each pair of a group
  has a list of states; the law draws a place i, and the next state is the i-th of the pair's own list. A robot that
  moves as told, stays, or slips does so everywhere by the same law. A list may name a state twice (at a wall, to stay
  and to bump into it lead to the same place): then the next state tells the place only in part, as in `seeing`.

All other pairs keep laws of their own. These are planned densely, over all states: meant for tables of some hundred
states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from equipoise._types import Index, Mask, Vector
from equipoise.errors import ModelError
from equipoise.models._checks import SUM_TOLERANCE, checked_integer, checked_list, checked_numbers
from equipoise.models.labels import Labels
from equipoise.models.laws.graph import Graph
from equipoise.models.laws.laws import LawArrays, Laws
from equipoise.models.laws.seeing import ValueTree, partition_of, value_tree, walk


class TableFacts(NamedTuple):
    """What is known of a table.

    Attributes
    ----------
    given : dict
        By pair: the states that can follow, and their probabilities.
    groups : list of dicts
        Each by pair: the states that its places stand for.
    """

    given: dict[int, tuple[Index, Vector]]
    groups: list[dict[int, Index]]


class TableShape(NamedTuple):
    """The table itself, as its space has it."""

    first_pair: Index
    known_mask: Mask
    known_outcomes: Vector
    labels: Labels

    @property
    def n_states(self) -> int:
        """S."""
        return self.first_pair.size - 1

    def name(self, pair: int) -> str:
        """A pair, for a message."""
        state = int(np.searchsorted(self.first_pair, pair, side="right")) - 1
        return self.labels.name_pair(state, pair - int(self.first_pair[state]))


def checked_facts(shape: TableShape, known_transitions: Any, same_law: Any, pair_of: Any) -> TableFacts:
    """What was said of a table, or an error that names the pair.

    Parameters
    ----------
    shape : TableShape
        The table.
    known_transitions : mapping
        From (state, action) to a distribution: a mapping from next states to probabilities, or one entry a state.
    same_law : iterable of mappings
        Groups: from (state, action) to the list of states that the places of the common law stand for.
    pair_of : callable
        From (state, action) and the name of the parameter to the number of the pair, checked.
    """
    if not isinstance(known_transitions, Mapping):
        raise ModelError(f"known_transitions: got {known_transitions!r}; a mapping from (state, action) is needed")
    given = {
        pair_of(key, "known_transitions"): _distribution(content, shape, f"known_transitions, {key}")
        for key, content in known_transitions.items()
    }
    groups: list[dict[int, Index]] = []
    taken = set(given)
    for g, content in enumerate(checked_list(same_law, "same_law")):
        if not isinstance(content, Mapping) or not content:
            raise ModelError(f"same_law[{g}]: got {content!r}; a mapping from (state, action) to states is needed")
        group: dict[int, Index] = {}
        for key, states in content.items():
            pair, name = pair_of(key, f"same_law[{g}]"), f"same_law[{g}], {key}"
            if pair in taken:
                raise ModelError(f"{name}: something else is said of {shape.name(pair)} already")
            taken.add(pair)
            places = checked_list(states, name)
            group[pair] = np.array([checked_integer(s, name, 0, shape.n_states - 1) for s in places], dtype=np.int64)
        sizes = {places.size for places in group.values()}
        if len(sizes) > 1 or 0 in sizes:
            raise ModelError(f"same_law[{g}]: its lists have {sorted(sizes)} places; all must have the same number")
        groups.append(group)
    return TableFacts(given, groups)


def _distribution(content: Any, shape: TableShape, name: str) -> tuple[Index, Vector]:
    S = shape.n_states
    if isinstance(content, Mapping):
        states = np.array([checked_integer(s, name, 0, S - 1) for s in content], dtype=np.int64)
        chances = checked_numbers(list(content.values()), name)
    else:
        chances = checked_numbers(content, name, S, "state")
        states = np.flatnonzero(chances != 0.0)
        chances = chances[states]
    if not np.all((chances >= 0.0) & (chances <= 1.0)):
        raise ModelError(f"{name}: the probabilities are {chances.tolist()}; they must lie in [0, 1]")
    if abs(chances.sum() - 1.0) > SUM_TOLERANCE:
        raise ModelError(f"{name}: the probabilities sum to {chances.sum()}; they must sum to 1")
    return states, chances


class _Draw(NamedTuple):
    """How the next state of a pair is drawn: by which law, and what each value leads to."""

    law: int
    tree: ValueTree | None  # of a law to be learnt
    next: Index


def table_laws(shape: TableShape, facts: TableFacts) -> Laws:
    """The laws of a table of which something is known.

    Parameters
    ----------
    shape : TableShape
        The table.
    facts : TableFacts
        What is known of it.
    """
    P, S = int(shape.first_pair[-1]), shape.n_states
    names: list[str] = []
    values: list[tuple[Any, ...]] = []
    number: dict[tuple[int, frozenset[int]], int] = {}
    draws: dict[int, _Draw] = {}

    def add(key: int, tree: ValueTree, name: str, labels: Sequence[Any]) -> None:
        for node in tree.inner():
            number[key, node.cell] = len(names)
            names.append(name if node is tree else f"{name} among {sorted(node.cell)}")
            values.append(
                tuple(labels[min(c.cell)] if len(c.cell) == 1 else tuple(sorted(c.cell)) for c in node.children)
            )

    for g, group in enumerate(facts.groups):
        size = next(iter(group.values())).size
        tree = value_tree(size, (partition_of(states.tolist(), range(size), size) for states in group.values()))
        add(g, tree, f"common law {g}", range(size))
        draws |= {pair: _Draw(g, tree, states) for pair, states in group.items()}
    flat = value_tree(S, ())
    for pair in range(P):
        if pair not in draws and pair not in facts.given:
            key = len(facts.groups) + pair
            add(key, flat, f"transitions of {shape.name(pair)}", [shape.labels.state(s) for s in range(S)])
            draws[pair] = _Draw(key, flat, np.arange(S))
    learnt, given = len(names), list(facts.given.items())
    for i, (pair, (states, _)) in enumerate(given):
        draws[pair] = _Draw(learnt + i, None, states)
    sizes = [len(row) for row in values] + [chances.size for _, (_, chances) in given]

    unknown = np.flatnonzero(~shape.known_mask)
    row_unit = np.full(P, -1, dtype=np.int64)
    row_unit[unknown] = learnt + np.arange(unknown.size)
    graph, roots, seen = Graph(), list[int](), list[tuple[int, int]]()
    seen_first, tested = [0], list[list[int]]()
    case_next, case_row, first_case = list[int](), list[int](), [0]
    for pair in range(P):
        draw = draws[pair]
        leaves = [graph.leaf(int(s), pair) for s in draw.next]
        units = set() if row_unit[pair] < 0 else {int(row_unit[pair])}
        if draw.tree is None:
            roots.append(graph.node(draw.law, leaves))
            seen_first += [len(seen)] * draw.next.size
        else:
            roots.append(_root(graph, draw.tree, leaves, number, draw.law))
            cells = partition_of(draw.next.tolist(), range(draw.next.size), draw.next.size)
            for value in range(draw.next.size):
                steps = [(number[draw.law, node.cell], child) for node, child in walk(draw.tree, cells, value)]
                units |= {unit for unit, _ in steps}
                seen += steps
                seen_first.append(len(seen))
        tested.append(sorted(units))
        case_next += draw.next.tolist()
        case_row += [pair] * draw.next.size
        first_case.append(len(case_next))
    lost = sorted(law for law in graph.laws() if law < learnt and not any(law in units for units in tested))
    if lost:
        raise ModelError(f"same_law: {names[lost[0]]} can never be learnt: next states never tell its places apart")
    parts = graph.arrays(roots)
    pairs = np.array(seen, dtype=np.int64).reshape(-1, 2)
    arrays = LawArrays(
        learnt=learnt,
        n_values=max([1, *sizes[:learnt]]),
        first_value=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        probability=np.concatenate([np.zeros(sum(sizes[:learnt])), *(chances for _, (_, chances) in given)]),
        rows=np.where(shape.known_mask[:, None], shape.known_outcomes, 0.0),
        row_unit=row_unit,
        seen_first=np.array(seen_first, dtype=np.int64),
        seen_unit=pairs[:, 0],
        seen_value=pairs[:, 1],
        outcome_unit=row_unit[np.array(case_row, dtype=np.int64)],
        tested_first=np.concatenate([[0], np.cumsum([len(units) for units in tested])]).astype(np.int64),
        tested=np.array([unit for units in tested for unit in units], dtype=np.int64),
        leaf_next=parts.leaf_next,
        leaf_row=parts.leaf_row,
        node_law=parts.node_law,
        node_first=parts.node_first,
        child=parts.child,
        root=parts.root,
    )
    cases = (np.array(first_case), np.array(case_next, dtype=np.int64), np.array(case_row, dtype=np.int64))
    return Laws(tuple(names), tuple(values), (), (), (), True, arrays, cases)


def _root(
    graph: Graph,
    node: ValueTree,
    leaves: Sequence[int],
    number: Mapping[tuple[int, frozenset[int]], int],
    key: int,
) -> int:
    if not node.children:
        return leaves[min(node.cell)]
    return graph.node(number[key, node.cell], [_root(graph, child, leaves, number, key) for child in node.children])
