r"""Tables of which something is known: some transitions in full, some that have a law in common.

Every pair of a plain space has an unknown law of its own over all states, and unknown mean outcomes. Here

* the transition probabilities of some pairs are a given law;
* the next states of a group of pairs are drawn from one law: it draws a place i, and the next state is the i-th of the
  pair's own list. A list may name a state twice; then the next state tells the place only in part (`identifiability`).

All other pairs keep laws of their own, which are planned densely over all states: for tables of some hundred states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.errors import ModelError
from equipoise.models.checks import check_distribution, check_integer, check_list, check_pair
from equipoise.models.laws.build import LawBuilder, SeenValues
from equipoise.models.laws.identifiability import ValueTree, build_tree, build_trees, distinct_trees, find_partition
from equipoise.models.laws.laws import Laws

if TYPE_CHECKING:
    from equipoise.models.space import Space


class TableFacts(NamedTuple):
    """What is known of a table."""

    given: dict[int, tuple[Index, Vector]]
    groups: list[dict[int, Index]]


def check_table_facts(space: Space, known_transitions: Any, same_law: Any) -> TableFacts:
    """What is known of the transitions of a space, or an error that names the pair."""
    first_pair, labels, S = space.first_pair, space.labels, space.n_states
    if not isinstance(known_transitions, Mapping):
        raise ModelError(f"known_transitions: got {known_transitions!r}; a mapping from (state, action) is needed")
    given = {
        check_pair(key, first_pair, "known_transitions", labels): _distribution(content, S, f"known_transitions, {key}")
        for key, content in known_transitions.items()
    }
    groups: list[dict[int, Index]] = []
    taken = set(given)
    for g, content in enumerate(check_list(same_law, "same_law")):
        if not isinstance(content, Mapping) or not content:
            raise ModelError(f"same_law[{g}]: got {content!r}; a mapping from (state, action) to states is needed")
        group: dict[int, Index] = {}
        for key, states in content.items():
            pair, name = check_pair(key, first_pair, f"same_law[{g}]", labels), f"same_law[{g}], {key}"
            if pair in taken:
                raise ModelError(f"{name}: something else is given for {space.name_pair(pair)} already")
            taken.add(pair)
            places = check_list(states, name)
            group[pair] = np.array([check_integer(s, name, 0, S - 1) for s in places], dtype=np.int64)
        sizes = {places.size for places in group.values()}
        if len(sizes) > 1 or 0 in sizes:
            raise ModelError(f"same_law[{g}]: its lists have {sorted(sizes)} places; all must have the same number")
        groups.append(group)
    return TableFacts(given, groups)


def _distribution(content: Any, S: int, name: str) -> tuple[Index, Vector]:
    """The next states of positive probability, and their probabilities."""
    if isinstance(content, Mapping):
        states = np.array([check_integer(s, name, 0, S - 1) for s in content], dtype=np.int64)
        return states, check_distribution(list(content.values()), name, labels=states.tolist())
    chances = check_distribution(content, name, S, "state")
    states = np.flatnonzero(chances != 0.0)
    return states, chances[states]


def build_table_laws(space: Space, facts: TableFacts) -> Laws:
    """The laws of a table of which something is known; `key` is a group, or a pair counted after the groups."""
    P, S, builder = space.n_pairs, space.n_states, LawBuilder()
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
    flat, labels = build_tree(S, ()), [space.labels.state(s) for s in range(S)]
    for pair in range(P):
        key = key_of.setdefault(pair, len(facts.groups) + pair)
        if pair in facts.given:
            states_of[pair], probabilities = facts.given[pair]
            builder.add_given(key, probabilities)
        elif pair not in states_of:
            states_of[pair], tree_of[pair] = np.arange(S), flat
            builder.add_unknown(key, f"transitions of {space.name_pair(pair)}", labels, [flat])
    learnt, unknown = len(builder.names), np.flatnonzero(~space.known_mask)
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
    rows = np.where(space.known_mask[:, None], space.known_outcomes, 0.0)
    sight = SeenValues(seen, np.array(seen_first, dtype=np.int64), tested)
    return builder.build(roots, rows, row_unit, sight, cases)
