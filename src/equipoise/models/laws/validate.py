"""Observed steps and models checked against known mechanics.

`find_case` finds what was drawn at an observed step. Two cases that look the same prove the same, so any case that fits
will do; if those that fit differ in what they prove, a noise that was to be observed is missing. `find_conflict`
compares the probabilities of a model with those of the mechanics: `flow` sends a mass of one from each pair down the
graph, and every node shares out what reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._checks import suggest
from equipoise._types import Index, Vector
from equipoise.errors import ModelError, ParameterError, ProtocolError
from equipoise.models.labels import text
from equipoise.models.laws.laws import LawArrays, Laws

if TYPE_CHECKING:
    from equipoise.models.model import Model
    from equipoise.models.space import Space


_CLOSE: Final = 1e-9  # probabilities and outcomes are compared to within that: they may be computed in another order


def true_laws(model: Model) -> list[Vector]:
    """Probabilities of the values of each law to be learnt; NaN for a conditional law that never comes into play."""
    return [] if model.laws is None or model.branch_case is None else _get_laws(model, model.laws, model.branch_case)


def find_conflict(model: Model, space: Space, cases: Index) -> str:
    """How a model contradicts the mechanics that an agent knows, in words; empty if it does not."""
    laws = space.laws
    assert laws is not None
    arrays = laws.arrays
    found = [np.nan_to_num(law, nan=1.0 / law.size) for law in _get_laws(model, laws, cases)]
    given = np.split(arrays.probability, arrays.first_value[1:-1])[arrays.learnt :]
    every = [*found, *given]
    shares = np.concatenate([every[law] for law in arrays.node_law]) if arrays.node_law.size else np.zeros(0)
    told = flow(arrays, arrays.root, shares).leaves
    number = {leaf: i for i, leaf in enumerate(zip(arrays.leaf_next.tolist(), arrays.leaf_row.tolist(), strict=True))}
    followed = zip(laws.case_next[cases].tolist(), laws.case_row[cases].tolist(), strict=True)
    leaf = np.array([number[pair] for pair in followed], dtype=np.int64)
    pair = np.repeat(np.arange(model.n_pairs), np.diff(model.branch_first))
    true = csr_array((model.branch_probability, (pair, leaf)), shape=told.shape)
    apart = (true - told).tocoo()
    wrong = np.flatnonzero(np.abs(apart.data) > _CLOSE)
    if not wrong.size:
        return ""
    p, place = int(apart.row[wrong[0]]), int(apart.col[wrong[0]])
    where = space.name_state(int(arrays.leaf_next[place]))
    outcomes = f" with the outcomes {arrays.rows[arrays.leaf_row[place]].tolist()}" if laws.noises else ""
    return (
        f"{space.name_pair(p)}: it leads to {where}{outcomes} with probability {true[p, place]:.6g}, and by what the "
        f"agent was told {told[p, place]:.6g}"
    )


def _get_laws(model: Model, laws: Laws, cases: Index) -> list[Vector]:
    arrays = laws.arrays
    known: list[Vector] = [np.full(len(values), np.nan) for values in laws.values]
    missing = set(range(arrays.learnt))
    for pair in range(model.n_pairs):
        if not missing:
            break
        if not missing & set(arrays.tested[arrays.tested_first[pair] : arrays.tested_first[pair + 1]].tolist()):
            continue
        weight = {unit: np.zeros(known[unit].size) for unit in missing}
        for j in range(int(model.branch_first[pair]), int(model.branch_first[pair + 1])):
            for unit, value in laws.seen_in(int(cases[j])):
                if unit in missing:
                    weight[unit][value] += model.branch_probability[j]
        for unit, mass in weight.items():
            if mass.sum() > 0.0:
                known[unit] = mass / mass.sum()
                missing.discard(unit)
    return known


class Flow(NamedTuple):
    """Where a mass of one goes from each root."""

    leaves: csr_array
    nodes: csr_array


def flow(laws: LawArrays, roots: Index, shares: Vector) -> Flow:
    """Send a mass of one from each root down the graph."""
    n_leaves, n_nodes, n = laws.leaf_next.size, laws.node_law.size, roots.size
    places = n_leaves + n_nodes
    down = csr_array((shares, laws.child, laws.node_first), shape=(n_nodes, places))
    here = csr_array((np.ones(n), (np.arange(n), roots)), shape=(n, places))
    leaves, nodes = csr_array((n, n_leaves)), csr_array((n, n_nodes))
    while here.nnz:
        leaves = leaves + here[:, :n_leaves]
        passing = csr_array(here[:, n_leaves:])
        nodes = nodes + passing
        here = csr_array(passing @ down)
        here.eliminate_zeros()
    return Flow(csr_array(leaves), csr_array(nodes))


def find_case(space: Space, pair: int, outcomes: Vector, next_state: int, noise: Mapping[str, Any] | None) -> int:
    """The case of a step that was observed."""
    laws = space.laws
    assert laws is not None
    cases = np.arange(laws.first_case[pair], laws.first_case[pair + 1])
    fits = laws.case_next[cases] == next_state
    if laws.noises:
        rows = laws.arrays.rows[laws.case_row[cases]]
        fits &= np.all(np.abs(rows - outcomes) <= _CLOSE, axis=1)
    cases = cases[fits]
    if noise is not None:
        cases = cases[_match_noise(laws, space.name_pair(pair), cases - int(laws.first_case[pair]), noise)]
    if not cases.size:
        drawn = " and " + ", ".join(f"{name}={value!r}" for name, value in noise.items()) if noise else ""
        raise ProtocolError(
            f"observe: {space.name_pair(pair)} cannot lead to {space.name_state(next_state)} with the outcomes "
            f"{outcomes.tolist()}{drawn}, by the mechanics that the agent was told"
        )
    _require_one(laws, space.name_pair(pair), cases, cases - int(laws.first_case[pair]))
    return int(cases[0])


def find_branch_cases(model: Model, space: Space) -> Index | None:
    """The case of each branch of a model; None if the space has no laws."""
    laws = space.laws
    if laws is None:
        return None
    if model.laws is not None and (model.laws is laws or model.laws == laws):
        _raise_conflict(model.mechanics_conflict)
        return model.branch_case
    cases = np.empty(model.branch_next.size, dtype=np.int64)
    outcomes = model.rows[model.branch_row]
    if laws.noises and model.noise != "none":
        raise ParameterError("model: its outcomes are drawn, and the agent was told mechanics in which they are not")
    try:
        for pair in range(model.n_pairs):
            for j in range(int(model.branch_first[pair]), int(model.branch_first[pair + 1])):
                cases[j] = find_case(space, pair, outcomes[j], int(model.branch_next[j]), None)
    except ProtocolError as error:
        raise ParameterError(f"model: it is not of the mechanics that the agent was told ({error})") from None
    _raise_conflict(find_conflict(model, space, cases))
    cases.setflags(write=False)  # as those of a model of mechanics are: of one type for the kernels
    return cases


def _raise_conflict(wrong: str) -> None:
    if wrong:
        raise ParameterError(f"model: it is not of the mechanics that the agent was told: {wrong}")


def _match_noise(laws: Laws, pair: str, places: Index, noise: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which cases, counted from the first of their pair, have these values."""
    if not isinstance(noise, Mapping):
        raise ProtocolError(f"noise, {pair}: got {noise!r}; a mapping from names to values is needed")
    drawn = laws.values_of(places)
    fits = np.ones(places.size, dtype=np.bool_)
    for name, value in noise.items():
        if name not in laws.noises:
            raise ProtocolError(
                f"noise, {pair}: there is no {name!r}{suggest(str(name), laws.noises)}; they are "
                f"{', '.join(laws.noises) or 'none'}"
            )
        j = laws.noises.index(name)
        if value not in laws.supports[j]:
            listed = ", ".join(text(one) for one in laws.supports[j])
            raise ProtocolError(f"noise, {pair}, {name}: {value!r} is not one of its values, {listed}")
        if name in laws.hidden:
            continue  # what is hidden by declaration is not used, or it would be seen in some steps only
        fits &= drawn[j] == laws.supports[j].index(value)
    return fits


def _require_one(laws: Laws, pair: str, cases: Index, places: Index) -> None:
    """Raise an error for cases that prove different things."""
    if len({tuple(laws.seen_in(case)) for case in cases.tolist()}) == 1:
        return
    drawn = laws.values_of(places)
    for name, support, values in zip(laws.noises, laws.supports, drawn, strict=True):
        possible = np.unique(values).tolist()
        if name not in laws.hidden and len(possible) > 1:
            listed = ", ".join(text(support[i]) for i in possible)
            raise ProtocolError(
                f"noise, {pair}: {name} may have been {listed}; give it, as in "
                f"observe(outcomes, next_state, noise={{{name!r}: ...}}), or make the mechanics with "
                f"hidden=[{name!r}]"
            )
    raise ModelError("laws: cases that look the same prove different things")  # `identifiability` excludes it
