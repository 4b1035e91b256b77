"""The best of all deterministic stationary policies, by going through every one of them."""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._compile import call_entry, kernel
from equipoise._types import Index
from equipoise.models.model import Model
from equipoise.offline.elimination import eliminate
from equipoise.rewards.base import FOREVER, Reward

TIE: Final = 1e-12  # relative: a policy replaces the best so far if it is better by more than that


def best_by_enumeration(model: Model, reward: Reward) -> tuple[Index, int]:
    """Return the best of all deterministic policies, as pairs, and a state of its best class."""
    S = model.n_states
    pairs, best = np.array(model.first_pair[:-1]), np.empty(S, np.int64)
    root = enumerate_policies(
        model.first_pair, model.transition_first, model.transition_state, model.transition_probability, model.means,
        reward.kernels.value.address, reward.params, FOREVER, pairs, best,
        np.empty((S, S), np.bool_), np.empty((S, S)), np.empty(S), np.empty(S, np.int64), np.empty(S, np.bool_),
        np.empty(model.n_outcomes), np.empty(1),
    )  # fmt: skip
    return best, int(root)


@kernel
def enumerate_policies(  # type: ignore[no-untyped-def]
    first_pair, first, successor, probability, means, address, params, time, pairs, best,
    reach, matrix, weight, members, seen, w, number,
):  # fmt: skip
    """Go through all policies like an odometer; keep the best class of any of them."""
    S = pairs.shape[0]
    top = -np.inf
    top_root = 0
    while True:
        for s in range(S):
            seen[s] = False
            for q in range(S):
                reach[s, q] = False
            for i in range(first[pairs[s]], first[pairs[s] + 1]):
                if probability[i] > 0.0:
                    reach[s, successor[i]] = True
        for via in range(S):
            for s in range(S):
                if reach[s, via]:
                    for q in range(S):
                        if reach[via, q]:
                            reach[s, q] = True
        for root in range(S):
            if seen[root]:
                continue
            n = 0
            recurrent = True
            for q in range(S):
                if reach[root, q]:
                    if not reach[q, root]:
                        recurrent = False
                        break
                    members[n] = q
                    n += 1
            if not recurrent:
                continue
            for i in range(n):
                for j in range(n):
                    matrix[i, j] = 0.0
                pair = pairs[members[i]]
                for e in range(first[pair], first[pair + 1]):
                    for j in range(n):
                        if members[j] == successor[e]:
                            matrix[i, j] += probability[e]
                            break
            eliminate(n, matrix, weight)
            for k in range(w.shape[0]):
                w[k] = 0.0
            for j in range(n):
                seen[members[j]] = True
                for k in range(w.shape[0]):
                    w[k] += weight[j] * means[pairs[members[j]], k]
            for k in range(w.shape[0]):
                w[k] = min(1.0, w[k])
            call_entry(address, time, w, params, number)
            if top == -np.inf or number[0] > top + TIE * max(1.0, abs(top)):
                top = number[0]
                top_root = root
                for s in range(S):
                    best[s] = pairs[s]
        s = 0
        while s < S:
            pairs[s] += 1
            if pairs[s] < first_pair[s + 1]:
                break
            pairs[s] = first_pair[s]
            s += 1
        if s == S:
            return top_root
