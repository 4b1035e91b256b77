"""How often things happened in a simulation of another kind, against what a model says of them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

import equipoise as eq

ERRORS = 5.0  # standard errors


def check_frequencies(model: eq.Model, log, least: int) -> int:
    """Compare next states and outcomes of all pairs that were taken at least so often; returns how many these are.

    A row of the log is state, action, next state (by label) and outcomes. Nothing may have happened that the model
    rules out, in any pair.
    """
    taken = defaultdict(list)
    for state, action, after, outcomes in log:
        s = model.labels.state_index(state)
        taken[model.pair(s, model.labels.action_index(s, action))].append((model.labels.state_index(after), outcomes))
    chances = model.transitions().toarray()
    checked = 0
    for pair, rows in taken.items():
        n = len(rows)
        counts = np.bincount([after for after, _ in rows], minlength=model.n_states)
        assert not counts[chances[pair] == 0.0].any(), pair
        branches = slice(model.branch_first[pair], model.branch_first[pair + 1])
        possible = model.rows[model.branch_row[branches]]
        observed = np.array([outcomes for _, outcomes in rows])
        for row in np.unique(observed.round(9), axis=0):
            assert np.abs(possible - row).max(axis=1).min() < 1e-8, (pair, row)
        if n < least:
            continue
        checked += 1
        p = chances[pair]
        assert np.all(np.abs(counts / n - p) <= ERRORS * np.sqrt(p * (1 - p) / n) + ERRORS / n), pair
        second = model.branch_probability[branches] @ possible**2
        spread = np.sqrt(np.maximum(second - model.means[pair] ** 2, 0.0) / n)
        assert np.all(np.abs(observed.mean(axis=0) - model.means[pair]) <= ERRORS * spread + ERRORS / n), pair
    return checked
