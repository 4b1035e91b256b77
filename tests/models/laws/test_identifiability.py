"""What observations of a hidden noise prove: exact enumerations, on small supports, of everything that can be drawn."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.errors import ModelError
from equipoise.models.laws.identifiability import (
    ValueTree,
    build_tree,
    build_trees,
    distinct_trees,
    find_partition,
    walk,
)

SIZES = st.integers(2, 6)


def partitions(size: int):
    """Of 0 to size - 1, from labels for the values."""
    labels = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    return labels.map(lambda row: find_partition(row, range(size), size))


families = SIZES.flatmap(lambda size: st.tuples(st.just(size), st.lists(partitions(size), min_size=1, max_size=6)))


def nodes(tree: ValueTree) -> list[ValueTree]:
    return [tree, *(node for child in tree.children for node in nodes(child))]


def crossing(cells) -> bool:
    return any(a & b and not a <= b and not b <= a for a, b in itertools.combinations(cells, 2))


# --- cells ---


@settings(max_examples=300, deadline=None)
@given(
    cases=SIZES.flatmap(
        lambda size: st.tuples(
            st.just(size), st.lists(st.tuples(st.integers(0, 5), st.integers(0, size - 1)), min_size=1, max_size=12)
        )
    )
)
def test_cells_are_the_closure_of_looking_alike(cases):
    size, seen = cases
    alike = np.eye(size, dtype=int)
    for (one, a), (other, b) in itertools.product(seen, repeat=2):
        alike[a, b] |= one == other
    alike = np.linalg.matrix_power(alike, size) > 0
    cells = find_partition([o for o, _ in seen], [v for _, v in seen], size)
    assert sorted(v for cell in cells for v in cell) == list(range(size))
    assert [min(cell) for cell in cells] == sorted(min(cell) for cell in cells)
    for cell in cells:
        for value in range(size):
            assert alike[min(cell), value] == (value in cell)


# --- trees ---


@settings(max_examples=300, deadline=None)
@given(family=families)
def test_a_tree_of_sets(family):
    size, parts = family
    tree = build_tree(size, parts)
    assert tree.cell == frozenset(range(size))
    cells = {cell for partition in parts for cell in partition}
    for node in nodes(tree):
        if node.children:
            assert len(node.children) >= 2
            assert sorted(v for child in node.children for v in child.cell) == sorted(node.cell)
            assert [min(child.cell) for child in node.children] == sorted(min(c.cell) for c in node.children)
        else:
            assert len(node.cell) == 1
        assert len(node.cell) in (1, size) or node.cell in cells
    inside = {node.cell for node in nodes(tree)}
    assert not crossing(inside)
    if not crossing(cells):
        assert cells <= inside
    for cell in cells - inside:  # left out only if it crosses one that is there
        assert crossing([cell, *inside])
    assert [node.cell for node in tree.inner()] == [node.cell for node in nodes(tree) if node.children]


@settings(max_examples=100, deadline=None)
@given(family=families, seed=st.integers(0, 2**32))
def test_the_order_of_the_pairs_does_not_matter(family, seed):
    size, parts = family
    order = np.random.default_rng(seed).permutation(len(parts))
    assert build_tree(size, [parts[i] for i in order]) == build_tree(size, parts)


@settings(max_examples=200, deadline=None)
@given(family=families, weights=st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_the_product_of_conditional_laws_is_the_law(family, weights):
    """In whole numbers; a conditional law is any where the set has no chance."""
    size, parts = family
    weights = weights[:size]
    assume(sum(weights) > 0)
    law = [Fraction(weight, sum(weights)) for weight in weights]

    def chance(cell) -> Fraction:
        return sum((law[value] for value in cell), Fraction(0))

    def path(node: ValueTree, value: int) -> Fraction:
        if not node.children:
            return Fraction(1)
        child = next(child for child in node.children if value in child.cell)
        given_node = chance(child.cell) / chance(node.cell) if chance(node.cell) else Fraction(1, len(node.children))
        return given_node * path(child, value)

    tree = build_tree(size, parts)
    assert [path(tree, value) for value in range(size)] == law


# --- walks ---


@settings(max_examples=300, deadline=None)
@given(family=families)
def test_what_is_seen_is_a_sample_of_the_conditional_law(family):
    """Exactly if a node is seen in a pair either never, or whenever the value lies in it: then given that it is seen,
    and given all that was seen before on the way, the value has its law within the node, and the child is told.
    Also for pairs whose cells are crossed by others, and are not in the tree."""
    size, parts = family
    tree = build_tree(size, parts)
    for partition in parts:
        walks = [walk(tree, partition, value) for value in range(size)]
        for node in tree.inner():
            when = {value for value in range(size) if any(step is node for step, _ in walks[value])}
            assert when in (set(), set(node.cell))
            for value in when:
                number = next(child for step, child in walks[value] if step is node)
                assert value in node.children[number].cell
        for cell in partition:  # what looks alike proves the same
            first, *others = ([(node.cell, child) for node, child in walks[value]] for value in sorted(cell))
            assert all(other == first for other in others)


@settings(max_examples=300, deadline=None)
@given(family=families)
def test_nothing_is_lost_where_no_cells_cross(family):
    size, parts = family
    assume(not crossing({cell for partition in parts for cell in partition}))
    tree = build_tree(size, parts)
    for partition, value in itertools.product(parts, range(size)):
        steps = walk(tree, partition, value)
        proven = steps[-1][0].children[steps[-1][1]].cell if steps else tree.cell
        assert value in proven
        assert proven in partition


def test_crossing_cells_by_hand():
    """{1, 2} is in two pairs and {0, 1} in one: the pair of the latter shows nothing but that there is a third set."""
    single = frozenset
    twice = (single([0]), single([1, 2]), single([3]))
    once = (single([0, 1]), single([2]), single([3]))
    tree = build_tree(4, [twice, twice, once])
    assert [sorted(node.cell) for node in tree.inner()] == [[0, 1, 2, 3], [1, 2]]
    assert [(sorted(n.cell), c) for n, c in walk(tree, twice, 2)] == [([0, 1, 2, 3], 1)]
    assert walk(tree, once, 2) == []
    whole = tuple(single([v]) for v in range(4))
    assert [(sorted(n.cell), c) for n, c in walk(tree, whole, 2)] == [([0, 1, 2, 3], 1), ([1, 2], 1)]


@settings(max_examples=300, deadline=None)
@given(family=families, seed=st.integers(0, 2**32))
def test_in_its_own_tree_a_pair_shows_all_that_it_can(family, seed):
    """Whatever crosses: the walk ends in the cell of the pair. And there is one tree if nothing crosses."""
    size, parts = family
    trees = build_trees(size, [(part,) for part in parts])
    for partition, value in itertools.product(parts, range(size)):
        tree = trees[partition,]
        steps = walk(tree, partition, value)
        proven = steps[-1][0].children[steps[-1][1]].cell if steps else tree.cell
        assert value in proven
        assert proven in partition
    if not crossing({cell for partition in parts for cell in partition}):
        assert distinct_trees(trees) == [build_tree(size, parts)]
    order = np.random.default_rng(seed).permutation(len(parts))
    assert build_trees(size, [(parts[i],) for i in order]) == trees


def two_ways(state, action, w):
    """A tells 2 from the others, B tells 0 from the others: the cells {0, 1} and {1, 2} cross. C tells all."""
    return 0, [{"A": float(w == 2), "B": float(w == 0), "C": w / 2}[action]]


@pytest.mark.parametrize("actions", [["A", "B"], ["A", "B", "C"]])
def test_with_one_noise_every_law_is_seen_where_it_matters(actions):
    mechanics = eq.Mechanics(two_ways, 0, actions, ["x"], {"w": [0, 1, 2]}, hidden=["w"])
    laws = mechanics.space.laws
    assert laws.revealing
    assert not eq.recommended(mechanics.space, eq.rewards.Linear([1.0])).caveat
    assert {(0, (1, 2)), ((0, 1), 2)} <= set(laws.values)
    assert len(set(laws.names)) == len(laws.names)
    agent = eq.recommended(mechanics.space, eq.rewards.Linear([1.0]))
    world = mechanics.model(w=[0.1, 0.2, 0.7])
    eq.simulate(world, agent, 300, seed=1, progress=False)
    assert agent.policy.tolist() == [actions.index("C") if "C" in actions else 0]  # A pays .7, B .1 and C .8
    if len(actions) == 2:
        return
    pairs = {name: int(mechanics.space.first_pair[0]) + i for i, name in enumerate(actions)}
    tested = {name: laws.arrays.tested_first[pair + 1] - laws.arrays.tested_first[pair] for name, pair in pairs.items()}
    assert tested == {"A": 1, "B": 1, "C": len(laws.names)}  # what C shows counts in every tree


def test_places_of_a_common_law_that_cross():
    """Of three places one pair tells the last apart, the other the first."""
    space = eq.Space([2, 1], 1).knowing(
        same_law=[{(0, 0): [0, 0, 1], (0, 1): [0, 1, 1]}], known_transitions={(1, 0): {0: 1}}
    )
    assert space.laws.revealing
    agent = eq.TocUCRL2(space, eq.rewards.Linear([1.0]), confidence=eq.confidence.Adaptive())
    world = eq.Model.from_arrays([[[0.5, 0.5], [0.3, 0.7]], [[1, 0]]], [[[0.5], [0.2]], [[0.9]]])
    eq.simulate(world, agent, 200, progress=False)
    assert agent.certificate().best_possible >= eq.solve(world, agent.reward).value


# --- whole mechanics ---


def random_mechanics(seed: int) -> eq.Mechanics:
    """Two or three noises, some hidden; what follows is any function of the state, the action and them."""
    rng = np.random.default_rng(seed)
    sizes = {f"n{j}": int(rng.integers(2, 4)) for j in range(rng.integers(1, 4))}
    n_states, levels = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    following = rng.integers(0, n_states, size=(n_states, 2, *sizes.values()))
    outcomes = rng.integers(0, levels, size=(n_states, 2, *sizes.values())) / levels
    hidden = [name for name in sizes if rng.random() < 0.6]
    given = {name: rng.dirichlet(np.ones(size)) for name, size in sizes.items() if rng.random() < 0.2}

    def step(state, action, **noise):
        place = (state, action, *noise.values())
        return int(following[place]), [float(outcomes[place])]

    return eq.Mechanics(
        step, 0, [0, 1], ["x"], {name: range(size) for name, size in sizes.items()},
        (lambda noise, s, a: s % 2) if rng.random() < 0.4 and not given else None,
        given=given, hidden=hidden, states=range(n_states), progress=False,
    )  # fmt: skip


def found_mechanics(seed: int) -> eq.Mechanics | None:
    try:
        return random_mechanics(seed)
    except ModelError as error:
        if "can never be learnt" not in str(error):
            raise
        return None


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_unit_is_drawn_from_one_law_whatever_else_is_seen(seed):
    """By the joint law of all noises: given what is seen of others in a step, a unit has the same law in every pair.

    What is seen of a hidden noise may depend on those that are shown, so that a shown one is looked at given the others
    that are shown.
    """
    mechanics = found_mechanics(seed)
    assume(mechanics is not None)
    space, laws = mechanics.space, mechanics.space.laws
    arrays, rng = laws.arrays, np.random.default_rng(seed)
    sizes = tuple(len(support) for support in laws.supports)
    chances = {
        (name, label): rng.dirichlet(np.ones(size))
        for name, size in zip(laws.noises, sizes, strict=True)
        for label in (0, 1, None)
    }
    by_state = any(label != [None] for label in mechanics.laws.values())
    laws_of: dict[int, np.ndarray] = {}
    for pair in range(space.n_pairs):
        label = int(space.state_of[pair]) % 2 if by_state else None
        groups: dict[tuple, np.ndarray] = {}
        alike: dict[tuple, set] = {}
        for case in range(laws.first_case[pair], laws.first_case[pair + 1]):
            drawn = laws.noise_of(case, pair)
            chance = math.prod(chances[name, label][value] for name, value in drawn.items())
            seen = [
                (int(arrays.seen_unit[i]), int(arrays.seen_value[i]))
                for i in range(arrays.seen_first[case], arrays.seen_first[case + 1])
            ]
            assert len({unit for unit, _ in seen}) == len(seen)
            shown = tuple(value for name, value in drawn.items() if name not in laws.hidden)
            looks = (int(laws.case_next[case]), int(laws.case_row[case]), shown)
            alike.setdefault(looks, set()).add(tuple(seen))
            for i, (unit, value) in enumerate(seen):
                known = (
                    seen
                    if base(laws, unit) in laws.hidden
                    else [x for x in seen if base(laws, x[0]) not in laws.hidden]
                )
                others = tuple(x for x in known if base(laws, x[0]) != base(laws, unit))
                before = tuple((u, v) for u, v in seen[:i] if is_above(laws, u, v, unit))
                group = groups.setdefault((unit, before, others), np.zeros(len(laws.values[unit])))
                group[value] += chance
        assert all(len(proofs) == 1 for proofs in alike.values())
        tested = set(arrays.tested[arrays.tested_first[pair] : arrays.tested_first[pair + 1]].tolist())
        assert tested == {unit for unit, _, _ in groups}
        for (unit, _, _), weights in groups.items():
            found = weights / weights.sum()
            np.testing.assert_allclose(found, laws_of.setdefault(unit, found), rtol=0, atol=1e-12)


def base(laws, unit: int) -> str:
    """The noise of a unit: its name up to what it is among, or chooses from."""
    return re.split("[ ,]", laws.names[unit])[0]


def cell(value) -> set:
    return set(value) if isinstance(value, tuple) else {value}


def is_above(laws, other: int, value: int, unit: int) -> bool:
    """Whether a unit comes into play within that value of the other; units of other trees are no part of the walk."""
    chosen = set().union(*map(cell, laws.values[unit]))
    return base(laws, other) == base(laws, unit) and chosen <= cell(laws.values[other][value])


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_graph_gives_back_the_model(seed):
    """With the true laws in it, the graph of a pair has the transitions and the mean outcomes of the model."""
    mechanics = found_mechanics(seed)
    assume(mechanics is not None)
    space, laws = mechanics.space, mechanics.space.laws
    arrays, rng = laws.arrays, np.random.default_rng(seed)
    sizes = {name: len(support) for name, support in zip(laws.noises, laws.supports, strict=True)}
    chances = {}
    for name, labels in mechanics.laws.items():
        given = mechanics._given.get((name, None))
        told = {label: rng.dirichlet(np.ones(sizes[name])) if given is None else given for label in labels}
        chances[name] = told[None] if labels == [None] else told
    model = mechanics.model(**chances)
    conditional = [conditional_law(laws, unit, chances) for unit in range(arrays.learnt)]
    leaves = arrays.leaf_next.size
    following = np.zeros((leaves + arrays.node_law.size, space.n_states))
    paid = np.zeros(leaves + arrays.node_law.size)
    following[np.arange(leaves), arrays.leaf_next] = 1.0
    paid[:leaves] = arrays.rows[arrays.leaf_row, 0]
    for node, law in enumerate(arrays.node_law):
        children = arrays.child[arrays.node_first[node] : arrays.node_first[node + 1]]
        first = slice(arrays.first_value[law], arrays.first_value[law + 1])
        q = conditional[law] if law < arrays.learnt else arrays.probability[first]
        following[leaves + node] = q @ following[children]
        paid[leaves + node] = q @ paid[children]
    np.testing.assert_allclose(following[arrays.root], model.transitions().toarray(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(paid[arrays.root], model.means[:, 0], rtol=0, atol=1e-12)


def conditional_law(laws, unit: int, chances) -> np.ndarray:
    """Of the values of a unit: sets of values of its noise, by their labels."""
    noise = base(laws, unit)
    law = chances[noise]
    if isinstance(law, dict):
        law = law[int(laws.names[unit].split("(")[1].split(")")[0])]
    weights = np.array([
        sum(law[v] for v in (value if isinstance(value, tuple) else (value,))) for value in laws.values[unit]
    ])  # fmt: skip
    return weights / weights.sum()


@pytest.mark.parametrize("most", [2, 4])
def test_lost_sales_are_hazards(most):
    def step(stock, order, demand):
        sold = min(stock, demand)
        return min(most, stock - sold + order), [sold / most]

    mechanics = eq.Mechanics(step, most, [0, 1], ["sold"], {"demand": range(most + 1)}, hidden=["demand"])
    laws = mechanics.space.laws
    rest = [tuple(range(d, most + 1)) for d in range(most + 1)]
    assert laws.values == tuple((d, rest[d + 1] if d + 1 < most else most) for d in range(most))
    assert laws.names[0] == "demand"
    assert laws.names[1:] == tuple(f"demand among {', '.join(map(str, rest[d]))}" for d in range(1, most))


def test_rounding_tells_nothing_apart():
    """0.1 + 0.2 is not 0.3, and nobody can see that."""
    mechanics = eq.Mechanics(
        lambda s, a, w: ((s + w // 2) % 2, [0.3 if w % 2 else 0.1 + 0.2]), 0, [0], ["x"], {"w": range(4)}, hidden=["w"]
    )
    agent = eq.TocUCRL2(mechanics.space, eq.rewards.TargetSquared([0.5]))
    world = mechanics.model(w=[0.25] * 4).world(0)
    for _ in range(20):
        outcomes, state = world.step(agent.act(world.state))
        agent.observe(outcomes, state)
