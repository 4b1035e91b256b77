r"""A base station: users on fading channels, of whom one is served at a time.

In the user's words: the radio can serve one of K users in a slot, at the rate that the user's channel has just
then. Serving whoever is best at the moment gives the most in total and starves those at the edge of the
cell; we want everybody to get a fair share, and still to catch each channel when it is good.

States.       (l_1, ..., l_K): the level of every channel, from 0 (the worst) to n_k - 1.
Actions.      In every state: k serves user k.
Transitions.  The same for all actions. The channels are independent of each other. Channel k goes up one level
              with probability up_k and down one with down_k, and else stays; at the ends, where it cannot go
              on, it stays as well. With two levels this is the Gilbert-Elliott channel.
Outcomes.     The rates got: rates[k][l_k] for the user k who is served, 0 for all others. With noise
              "bernoulli" the rate is the probability that the one packet sent gets through.

Communicating whenever up_k > 0, down_k > 0 and up_k + down_k <= 1: each channel is then irreducible and
aperiodic, so all of them together are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Vector
from equipoise.errors import ModelError
from equipoise.models._checks import checked_list
from equipoise.models.applied._checks import checked_chances, checked_probabilities
from equipoise.models.labels import Labels
from equipoise.models.model import Model


def scheduler(
    rates: Sequence[Sequence[float]] = ((0.3, 1.0), (0.2, 0.8), (0.1, 0.5)),
    up: Sequence[float] = (0.3, 0.2, 0.15),
    down: Sequence[float] = (0.15, 0.2, 0.3),
    noise: str = "none",
) -> Model:
    """Build the scheduler; all channels start at their worst; a state is labelled by their levels.

    Action k serves user k, and outcome k is the rate that user k gets. By default user 0 is near the
    station and user 2 at the edge of the cell.

    Parameters
    ----------
    rates : sequence of sequences of float
        The rate of each user at each level, in [0, 1]; users may differ in the number of levels.
    up, down : sequence of float
        The probabilities of each user's channel to go up and down by one level: above 0, with up + down <= 1.
    noise : {"none", "bernoulli"}
        The rate itself, or a packet that gets through with that probability.

    Returns
    -------
    Model
        Outcome k is the rate of user k.

    Raises
    ------
    ModelError
        Naming the parameter.

    See Also
    --------
    equipoise.mechanics.scheduler : The same, told as mechanics.

    Examples
    --------
    >>> cell = scheduler(rates=[[0.25, 1.0], [0.0, 0.5]], up=[0.5, 0.25], down=[0.5, 0.5])
    >>> good_bad = cell.labels.state_index((1, 0))
    >>> cell.means[cell.pair(good_bad, 0)].tolist(), cell.means[cell.pair(good_bad, 1)].tolist()
    ([1.0, 0.0], [0.0, 0.0])
    >>> cell.transitions()[[cell.pair(good_bad, 0)]].toarray().tolist()
    [[0.375, 0.125, 0.375, 0.125]]
    """
    table = [checked_probabilities(row, f"rates[{k}]") for k, row in enumerate(checked_list(rates, "rates"))]
    K = len(table)
    if not K:
        raise ModelError("rates: got no entries; at least one user is needed")
    better = checked_chances(up, "up", K, "user", sure=True)
    worse = checked_chances(down, "down", K, "user", sure=True)
    for k in range(K):
        if better[k] + worse[k] > 1.0:
            raise ModelError(f"up[{k}] and down[{k}]: they sum to {better[k] + worse[k]}; it must be at most 1")
    channels = tuple(itertools.product(*[range(row.size) for row in table]))
    S = len(channels)
    joint: Vector = np.ones((1, 1))
    for k in range(K):
        joint = np.asarray(np.kron(joint, _channel(table[k].size, better[k], worse[k])), np.float64)
    means = np.zeros((S, K, K))
    for k in range(K):
        means[:, k, k] = table[k][[levels[k] for levels in channels]]
    transitions = csr_array(np.repeat(joint, K, axis=0))
    users = [f"user {k}" for k in range(K)]
    labels = Labels(channels, [f"serve {user}" for user in users], [f"rate of {user}" for user in users])
    return Model.from_sparse(K * np.arange(S + 1), transitions, means.reshape(S * K, K), noise=noise, labels=labels)


def _channel(levels: int, up: float, down: float) -> Vector:
    """The transition matrix of one channel."""
    chain = np.diag(np.full(levels - 1, up), 1) + np.diag(np.full(levels - 1, down), -1)
    chain += np.diag(1.0 - chain.sum(axis=1))
    return chain
