"""The laws of a world, as it was made: to compare with what an agent has learnt of them."""

from __future__ import annotations

import numpy as np

from equipoise._types import Vector
from equipoise.models.model import Model


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
    laws, cases = model.laws, model.branch_case
    if laws is None or cases is None:
        return []
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
