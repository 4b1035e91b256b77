r"""Tables of which something is known: some transitions in full, some that have a law in common.

Every pair of a plain space has an unknown law of its own over all states, and unknown mean outcomes. Here it is said

* of some pairs, what their transition probabilities are: a given law, of which nothing is learnt;
* of groups of pairs, that their next states are drawn from one law, up to a known relabelling. Each pair of a group
  has a list of states; the law draws a place i, and the next state is the i-th of the pair's own list. A robot that
  moves as told, stays, or slips does so everywhere by the same law. A list may name a state twice (at a wall, to stay
  and to bump into it lead to the same place): then the next state tells the place only in part (`identifiability`).

All other pairs keep laws of their own. These are planned densely, over all states: meant for tables of some hundred
states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from equipoise._types import Index, Mask, Vector
from equipoise.errors import ModelError
from equipoise.models.checks import SUM_TOLERANCE, check_integer, check_list, check_numbers
from equipoise.models.labels import Labels
from equipoise.models.laws.build import LawBuilder
from equipoise.models.laws.identifiability import (
    ValueTree,
    build_tree,
    build_trees,
    distinct_trees,
    find_partition,
)
from equipoise.models.laws.laws import Laws


class TableFacts(NamedTuple):
    """What is known of a table."""

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


def check_table_facts(shape: TableShape, known_transitions: Any, same_law: Any, pair_of: Any) -> TableFacts:
    """What was said of a table, or an error that names the pair."""
    if not isinstance(known_transitions, Mapping):
        raise ModelError(f"known_transitions: got {known_transitions!r}; a mapping from (state, action) is needed")
    given = {
        pair_of(key, "known_transitions"): _distribution(content, shape, f"known_transitions, {key}")
        for key, content in known_transitions.items()
    }
    groups: list[dict[int, Index]] = []
    taken = set(given)
    for g, content in enumerate(check_list(same_law, "same_law")):
        if not isinstance(content, Mapping) or not content:
            raise ModelError(f"same_law[{g}]: got {content!r}; a mapping from (state, action) to states is needed")
        group: dict[int, Index] = {}
        for key, states in content.items():
            pair, name = pair_of(key, f"same_law[{g}]"), f"same_law[{g}], {key}"
            if pair in taken:
                raise ModelError(f"{name}: something else is given for {shape.name(pair)} already")
            taken.add(pair)
            places = check_list(states, name)
            group[pair] = np.array([check_integer(s, name, 0, shape.n_states - 1) for s in places], dtype=np.int64)
        sizes = {places.size for places in group.values()}
        if len(sizes) > 1 or 0 in sizes:
            raise ModelError(f"same_law[{g}]: its lists have {sorted(sizes)} places; all must have the same number")
        groups.append(group)
    return TableFacts(given, groups)


def _distribution(content: Any, shape: TableShape, name: str) -> tuple[Index, Vector]:
    S = shape.n_states
    if isinstance(content, Mapping):
        states = np.array([check_integer(s, name, 0, S - 1) for s in content], dtype=np.int64)
        chances = check_numbers(list(content.values()), name)
    else:
        chances = check_numbers(content, name, S, "state")
        states = np.flatnonzero(chances != 0.0)
        chances = chances[states]
    if not np.all((chances >= 0.0) & (chances <= 1.0)):
        raise ModelError(f"{name}: the probabilities are {chances.tolist()}; they must lie in [0, 1]")
    if abs(chances.sum() - 1.0) > SUM_TOLERANCE:
        raise ModelError(f"{name}: the probabilities sum to {chances.sum()}; they must sum to 1")
    return states, chances


def build_table_laws(shape: TableShape, facts: TableFacts) -> Laws:
    """The laws of a table of which something is known; `key` is a group, or a pair counted after the groups."""
    P, S, builder = int(shape.first_pair[-1]), shape.n_states, LawBuilder()
    states_of: dict[int, Index] = {}
    tree_of: dict[int, ValueTree] = {}  # of pairs with a law to be learnt
    key_of: dict[int, int] = {}
    for g, group in enumerate(facts.groups):
        size = next(iter(group.values())).size
        shown = {pair: (find_partition(states.tolist(), range(size), size),) for pair, states in group.items()}
        trees = build_trees(size, shown.values())
        builder.add_unknown(g, f"common law {g}", range(size), distinct_trees(trees))
        states_of |= group
        key_of |= dict.fromkeys(group, g)
        tree_of |= {pair: trees[shown[pair]] for pair in group}
    flat, labels = build_tree(S, ()), [shape.labels.state(s) for s in range(S)]
    for pair in range(P):
        key = key_of.setdefault(pair, len(facts.groups) + pair)
        if pair in facts.given:
            states_of[pair], probabilities = facts.given[pair]
            builder.add_given(key, probabilities)
        elif pair not in states_of:
            states_of[pair], tree_of[pair] = np.arange(S), flat
            builder.add_unknown(key, f"transitions of {shape.name(pair)}", labels, [flat])
    learnt, unknown = len(builder.names), np.flatnonzero(~shape.known_mask)
    row_unit = np.full(P, -1, dtype=np.int64)
    row_unit[unknown] = learnt + np.arange(unknown.size)
    roots, seen, seen_first, tested = list[int](), list[tuple[int, int]](), [0], list[list[int]]()
    for pair in range(P):
        states, key = states_of[pair].tolist(), key_of[pair]
        roots.append(builder.draw(key, tree_of.get(pair), [builder.graph.leaf(state, pair) for state in states]))
        units = set() if row_unit[pair] < 0 else {int(row_unit[pair])}
        cells = find_partition(states, range(len(states)), len(states))
        for value in range(len(states)):
            steps = builder.find_seen(key, cells, value)
            units |= {unit for unit, _ in steps}
            seen += steps
            seen_first.append(len(seen))
        tested.append(sorted(units))
    builder.require_learnable(tested, "same_law: {} can never be learnt: next states never tell its places apart")
    sizes = [states_of[pair].size for pair in range(P)]
    cases = (
        np.cumsum([0, *sizes], dtype=np.int64),
        np.concatenate([states_of[pair] for pair in range(P)]).astype(np.int64),
        np.repeat(np.arange(P), sizes),
    )
    rows = np.where(shape.known_mask[:, None], shape.known_outcomes, 0.0)
    return builder.build(roots, rows, row_unit, seen, np.array(seen_first, dtype=np.int64), tested, cases)
