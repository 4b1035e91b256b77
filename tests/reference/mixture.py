"""The play rule of the mixture agent, line by line, and what each of its plans must be worth, by one linear program."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


class Play:
    """Turns, shares and ways of one plan; ``act(state, t)`` is the action, or None if the plan is over.

    Parameters
    ----------
    shares
        For each turn a list over states of the shares of the actions, or None where the turn has none of its own.
    ways
        For each turn the action in each state that leads there.
    lengths
        Steps of each turn.
    again, until
        The time before which turns begin from the first again, and that at which all is over.
    credit
        For each state how far each action is behind its share; kept from plan to plan.
    """

    def __init__(self, shares, ways, lengths, again, until, credit):
        self.shares, self.ways, self.lengths = shares, ways, lengths
        self.again, self.until, self.credit = again, until, credit
        self.turn, self.left = 0, lengths[0]

    def act(self, state, t):
        if t >= self.until:
            return None
        if self.left == 0:
            if self.turn + 1 < len(self.lengths):
                self.turn += 1
            elif t < self.again:
                self.turn = 0
            else:
                return None
            self.left = self.lengths[self.turn]
        share = self.shares[self.turn][state]
        if share is None:
            return self.ways[self.turn][state]
        behind = [c + x if x > 0 else -np.inf for c, x in zip(self.credit[state], share, strict=True)]
        best = 0
        for a, value in enumerate(behind):
            if value > behind[best] + 1e-9:
                best = a
        return best

    def took(self, state, action):
        """Take note of an action that was taken."""
        share = self.shares[self.turn][state]
        if share is None:
            if len(self.lengths) == 1:
                self.left -= 1
            return
        for a, x in enumerate(share):
            if x > 0:
                self.credit[state][a] = min(1.0, max(-1.0, self.credit[state][a] + x))
        self.credit[state][action] -= 1.0
        self.left -= 1


def best_ahead(transitions, means, tangents, average, ahead):
    """The largest g((1 - ahead) average + ahead z), z an outcome vector of a known model, g the least of tangents.

    Parameters
    ----------
    transitions, means
        By pair: (state, distribution) and mean outcomes.
    tangents
        Pairs (slope, height): g(w) = min of height + slope.w.
    average, ahead
        The past, and the share of what is to come.
    """
    pairs, states = len(transitions), len(transitions[0][1])
    balance = np.zeros((states + 1, pairs + 1))
    for i, (state, distribution) in enumerate(transitions):
        balance[state, i] += 1.0
        balance[:states, i] -= distribution
        balance[states, i] = 1.0
    rows, limits = [], []
    for slope, height in tangents:
        rows.append(np.append(-ahead * (means @ slope), 1.0))
        limits.append(height + (1.0 - ahead) * float(np.dot(slope, average)))
    cost = np.append(np.zeros(pairs), -1.0)
    right = np.append(np.zeros(states), 1.0)
    bounds = [(0, None)] * pairs + [(None, None)]
    found = linprog(cost, np.array(rows), limits, balance, right, bounds, method="highs")
    assert found.status == 0
    return -found.fun


def worse_average(errors, steps, ahead, g, average, leads_to):
    """The average that a plan is made for: worse than it is by what chance may add until that can be corrected.

    `errors` are the squared errors of past plans per step, one an outcome, and `leads_to` what the last plan leads to.
    """
    total = steps + ahead
    worse = []
    for k, error in enumerate(errors):
        margin = 1.2 * (min(error, 1.0) * ahead) ** 0.5 / total
        up, down = list(leads_to), list(leads_to)
        up[k], down[k] = min(up[k] + 3 * margin, 1.0), max(down[k] - 3 * margin, 0.0)
        above, below = g(leads_to) - g(up), g(leads_to) - g(down)
        lost = abs(above) + abs(below)
        shift = margin * (above - below) / lost if lost > 1e-12 else 0.0
        worse.append(min(1.0, max(0.0, average[k] + shift * total / steps)))
    return np.array(worse)


def average_to_expect(average, missed, share, t):
    """The average that leads, with a plan missed by that much per step, to where the plan alone should lead."""
    expected = []
    for w, per_step in zip(average, missed, strict=True):
        off = share * per_step
        off = max(0.0, off - 40 / t) if off > 0 else min(0.0, off + 40 / t)
        expected.append(min(1.0, max(0.0, w + off / (1 - share))))
    return np.array(expected)
