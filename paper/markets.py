"""Worlds with budgets for the statements of section 6: outcome 0 is the reward, the others what it consumes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.models.model import Model
from equipoise.models.standard import garnet


def arms() -> Model:
    """One state: do nothing, or earn 1/2 for a unit, or 1 for a unit half of the time; opt(P_C(b)) = b for b <= 1/2."""
    nothing = [0.0, 0.0]
    fair = [(0.5, 0, [1.0, 1.0]), (0.5, 0, nothing)]
    return Model.from_branches([[[(1.0, 0, nothing)], [(1.0, 0, [0.5, 1.0])], fair]], known=[(0, 0)])


def stall(uses: ArrayLike) -> Model:
    """One state: do nothing, or earn 1 for a unit of each resource in a row of `uses`; nothing is random.

    With n resources, one a row, opt(P_C(b)) = min(1, nb), with price 1 for each if nb < 1.
    """
    rows = np.atleast_2d(np.asarray(uses, dtype=np.float64))
    nothing = np.zeros(rows.shape[1] + 1)
    paid = [[(1.0, 0, np.append(1.0, row))] for row in rows]
    return Model.from_branches([[[(1.0, 0, nothing)], *paid]], known=[(0, 0)])


def towns() -> Model:
    """Two states: in each wait, earn 1 for a unit of its own resource, or try to leave, which works every other time.

    D = 2; opt(P_C(b)) = 2b for 2b < 1, with price 1 for both.
    """
    nothing, units = np.zeros(3), np.eye(3)
    states = [
        [[(1.0, s, nothing)], [(1.0, s, units[0] + units[1 + s])], [(0.5, s, nothing), (0.5, 1 - s, nothing)]]
        for s in (0, 1)
    ]
    return Model.from_branches(states, known=[(0, 0), (1, 0)])


def raffle(others: int) -> Model:
    """One state: do nothing, or earn 1 for a unit of resource 1 half of the time, else of one of so many others.

    opt(P_C(b)) = min(2b, 1) if there are enough others, each of which takes part in 1/(2 others) of the steps.
    """
    units = np.eye(others + 2)
    play = [(0.5, 0, units[0] + units[1])]
    play += [(0.5 / others, 0, units[0] + units[2 + k]) for k in range(others)]
    return Model.from_branches([[[(1.0, 0, np.zeros(others + 2))], play]], known=[(0, 0)])


def random_market(n_states: int, resources: int, seed: int) -> Model:
    """A Garnet with a null action in every state and two others.

    Each of the two, with some probability, pays something and takes a unit of one or more resources; else neither.
    """
    rng = np.random.default_rng([seed, n_states, resources])
    moves = garnet(n_states, 3, 2, seed=seed).transitions()
    nothing = np.zeros(resources + 1)
    states: list[list[list[tuple[float, int, NDArray[np.float64]]]]] = []
    for pair in range(3 * n_states):
        chance = 0.0 if pair % 3 == 0 else rng.uniform(0.2, 1.0)
        uses = rng.random(resources) < 0.5
        uses[rng.integers(resources)] = True
        something = np.append(rng.random(), uses)
        steps = range(moves.indptr[pair], moves.indptr[pair + 1])
        branches = [(chance * moves.data[i], int(moves.indices[i]), something) for i in steps]
        branches += [((1.0 - chance) * moves.data[i], int(moves.indices[i]), nothing) for i in steps]
        states += [[]] if pair % 3 == 0 else []
        states[-1].append(branches)
    return Model.from_branches(states, known=[(s, 0) for s in range(n_states)])
