"""The laws of a world, as it was made: to compare with what an agent has learnt of them, or was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.models.laws.flow import flow
from equipoise.models.laws.laws import Laws

if TYPE_CHECKING:
    from equipoise.models.model import Model
    from equipoise.models.space import Space

_CLOSE: Final = 1e-9  # probabilities are compared to within that


def true_laws(model: Model) -> list[Vector]:
    """The probabilities of the values of each law to be learnt; NaN for a conditional law that never comes into play.

    They are read off the branches: a law has, in a pair where it is seen, the probabilities of the branches in which
    each of its values is, relative to those in which it is seen at all. Every such pair gives the same.

    Parameters
    ----------
    model : Model
        Made by a `Mechanics`.

    Examples
    --------
    >>> import equipoise as eq
    >>> [law.tolist() for law in true_laws(eq.mechanics.inventory().model(demand=[0.5, 0.25, 0.25, 0.0]))]
    [[0.5, 0.25, 0.25, 0.0]]
    """
    if model.laws is None or model.branch_case is None:
        return []
    return _laws_in(model, model.laws, model.branch_case)


def contradiction(model: Model, space: Space, cases: Index) -> str:
    """What an agent was told that is not so in a world, in words; nothing if all is as it was told.

    The world may have any values of the laws that are to be learnt, the same in all pairs. With these, and with the
    laws that are given, next states and outcomes of all pairs must have the probabilities that they have.

    Parameters
    ----------
    model : Model
        The world.
    space : Space
        What the agent was told, with laws.
    cases : int array, one entry a branch of the model
        The case of each.

    Examples
    --------
    >>> import equipoise as eq
    >>> coin = eq.Mechanics(lambda s, a, w: (s, [w]), 0, [0], ["x"], {"w": [0, 1]}, given={"w": [0.5, 0.5]})
    >>> contradiction(coin.model(), coin.space, coin.model().branch_case)
    ''
    >>> contradiction(coin.model(w=[0.3, 0.7]), coin.space, coin.model().branch_case)
    'state 0 (0), action 0 (0): it leads to state 0 (0) with the outcomes [0.0] with probability 0.3, and by what the \
agent was told 0.5'
    """
    laws = space.laws
    assert laws is not None
    arrays = laws.arrays
    found = [np.nan_to_num(law, nan=1.0 / law.size) for law in _laws_in(model, laws, cases)]
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


def _laws_in(model: Model, laws: Laws, cases: Index) -> list[Vector]:
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
            for i in range(int(arrays.seen_first[cases[j]]), int(arrays.seen_first[cases[j] + 1])):
                unit = int(arrays.seen_unit[i])
                if unit in missing:
                    weight[unit][arrays.seen_value[i]] += model.branch_probability[j]
        for unit, mass in weight.items():
            if mass.sum() > 0.0:
                known[unit] = mass / mass.sum()
                missing.discard(unit)
    return known
