"""Random worlds: the Garnet family (Generic Average Reward Non-stationary Environment Test-bench).

Every pair leads to the same number of distinct successors, a uniformly random set of states, with
probabilities uniform on the simplex (Dirichlet with all parameters 1) and mean outcomes uniform on [0,1].
So that the world is communicating, action 0 of every state has among its successors the next state of a
random cycle through all states; where chance left that one out, it replaces one of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._numbers import SEEDS
from equipoise.errors import ModelError
from equipoise.models._checks import checked_integer, checked_noise
from equipoise.models.model import Model

_KEYS_AT_ONCE = 2**22  # random keys held in memory together


def garnet(
    n_states: int,
    n_actions: int,
    n_successors: int,
    n_outcomes: int = 1,
    seed: int = 0,
    noise: str = "bernoulli",
) -> Model:
    """Build a random communicating world; the same numbers give the same world.

    Parameters
    ----------
    n_states, n_actions : int
        How many states, and how many actions in each of them.
    n_successors : int
        How many next states every pair has, at most `n_states`.
    n_outcomes : int
        K.
    seed : int
        Of all the randomness.
    noise : {"bernoulli", "none"}
        As in `Model.from_arrays`.

    Examples
    --------
    >>> world = garnet(n_states=50, n_actions=3, n_successors=4, n_outcomes=2, seed=1)
    >>> world.n_pairs, world.max_successors, world.is_communicating()
    (150, 4, True)
    """
    S = checked_integer(n_states, "n_states", 1)
    A = checked_integer(n_actions, "n_actions", 1)
    m = checked_integer(n_successors, "n_successors", 1)
    if m > S:
        raise ModelError(f"n_successors: got {m}; there are only {S} states")
    K = checked_integer(n_outcomes, "n_outcomes", 1)
    rng = np.random.default_rng(checked_integer(seed, "seed", 0, SEEDS))
    noise = checked_noise(noise)

    successors = _subsets(rng, S * A, S, m)
    cycle = rng.permutation(S)
    following = np.empty(S, np.int64)
    following[cycle] = np.roll(cycle, -1)
    leading = successors[::A]  # action 0 of every state; a view
    without = np.flatnonzero((leading != following[:, None]).all(axis=1))
    leading[without, rng.integers(m, size=without.size)] = following[without]

    weights = np.maximum(rng.standard_exponential((S * A, m)), np.finfo(np.float64).tiny)
    weights /= weights.sum(axis=1, keepdims=True)
    pointers = m * np.arange(S * A + 1)
    transitions = csr_array((weights.ravel(), successors.ravel(), pointers), shape=(S * A, S))
    return Model.from_sparse(A * np.arange(S + 1), transitions, rng.random((S * A, K)), 0, noise)


def _subsets(rng: np.random.Generator, count: int, n: int, m: int) -> NDArray[np.int64]:
    """Draw `count` uniformly random subsets of m of the numbers 0 ... n - 1, one a row."""
    chosen = np.empty((count, m), np.int64)
    if m * m <= 2 * n:
        # Floyd: at j = n-m ... n-1 take a number up to j, or j itself if that one has been taken.
        for i in range(m):
            j = n - m + i
            drawn = rng.integers(j + 1, size=count)
            taken = (chosen[:, :i] == drawn[:, None]).any(axis=1)
            chosen[:, i] = np.where(taken, j, drawn)
        return chosen
    step = max(1, _KEYS_AT_ONCE // n)
    for begin in range(0, count, step):
        keys = rng.random((min(step, count - begin), n))
        chosen[begin : begin + step] = np.argpartition(keys, m - 1, axis=1)[:, :m]
    return chosen
