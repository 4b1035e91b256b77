"""The best deterministic stationary policy: all are enumerated if they are few, else a local search looks for it.

From s_1 a deterministic policy can be led to any recurrent class with probability 1, so the best of them has the
value of the best class: the maximum of g(w) over all recurrent classes of all deterministic policies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from equipoise._types import Index, Vector
from equipoise.models.model import Model
from equipoise.offline.benchmark import Benchmark
from equipoise.offline.certificate import SPAN
from equipoise.offline.enumeration import TIE, best_by_enumeration
from equipoise.offline.gains import GainSearch
from equipoise.offline.policies import ends_of, greedy, led_to, value_of
from equipoise.rewards.base import Reward

DUST: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)  # relative to the largest entry of x*
_HUGE: Final = 600.0  # logarithm of a number of policies that no float would hold for long
_WORK: Final = 4e9  # policies times states cubed: what an enumeration may cost
_LINEARISATIONS: Final = 30  # plans of the local search
_TRIALS: Final = 3000  # random changes that it tries, at most
_SEARCH: Final = 3e6  # and changes times states
_EXPLORE: Final = 0.05  # standard deviation of what is added to theta between two plans
_LEAST: Final = 1e-9  # outcomes at which a gradient is asked for; some are steep at 0


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Deterministic:
    """The best deterministic stationary policy, or the best one found.

    Attributes
    ----------
    value : float
        lim g(average outcomes) under `actions`, with probability 1.
    upper : float
        No deterministic stationary policy exceeds this; `value` itself if `exact`.
    exact : bool
        True: all policies were enumerated. False: `value` is that of the best policy a local search
        found, and `upper` is the dual bound on opt(P_M).
    actions : numpy.ndarray
        The action in each state; outside of `states` it leads there.
    states : numpy.ndarray
        The recurrent class.
    outcomes : numpy.ndarray
        The average outcomes.

    Examples
    --------
    One of two arms for ever: the average is (1, 0) or (0, 1), and `1 - |w - c|^2 / 2` is 0.75 either way.

    >>> from equipoise.models import bandit
    >>> from equipoise.offline import best_stationary
    >>> from equipoise.rewards import Quadratic
    >>> best_stationary(bandit(2), Quadratic([0.5, 0.5])).deterministic
    Deterministic(value=0.75, exact, 1 recurrent states)
    """

    value: float
    upper: float
    exact: bool
    actions: Index
    states: Index
    outcomes: Vector

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"found by search, at most {self.upper:.9g}"
        return f"Deterministic(value={self.value:.9g}, {how}, {self.states.size} recurrent states)"


def best_deterministic(model: Model, reward: Reward, best: Benchmark, limit: int) -> Deterministic:
    """Find the best deterministic stationary policy: of all, or with more of them than `limit` by a local search."""
    S = model.n_states
    n_actions = np.diff(model.first_pair)
    many = float(np.log(n_actions).sum()) > _HUGE
    policies = math.inf if many else float(np.prod(n_actions.astype(np.float64)))
    exact = policies <= limit and policies * float(S) ** 3 <= _WORK
    if exact:
        pairs, root = best_by_enumeration(model, reward)
    else:
        pairs, root = best_by_search(model, reward, best)
    states, x = next(end for end in ends_of(model, pairs) if root in end[0])
    pairs = led_to(model, pairs, states)
    value = value_of(model, reward, x)
    return Deterministic(
        value=value,
        upper=value if exact else best.dual_value,
        exact=exact,
        actions=pairs - model.first_pair[:-1],
        states=states,
        outcomes=np.clip(model.mean_rows.T @ x, 0.0, 1.0),
    )


def best_by_search(model: Model, reward: Reward, best: Benchmark) -> tuple[Index, int]:
    """Search for a good deterministic policy: linearise and plan, then change a few actions at random.

    The value of a policy is that of its best recurrent class, wherever it starts.
    """
    rng = np.random.default_rng(0)
    S, first = model.n_states, model.first_pair
    top, pairs, root = -np.inf, first[:-1].copy(), 0

    def consider(trial: Index) -> Vector:
        nonlocal top, pairs, root
        ends = [(value_of(model, reward, x), int(states[0]), x) for states, x in ends_of(model, trial)]
        value, state, x = max(ends, key=lambda end: end[0])
        if top == -np.inf or value > top + TIE * max(1.0, abs(top)):
            top, pairs, root = value, trial.copy(), state
        return np.clip(model.mean_rows.T @ x, 0.0, 1.0)

    likeliest = greedy(model, best.occupancy)
    mass = np.add.reduceat(best.occupancy, first[:-1])
    for dust in DUST:  # in states that x* visits rarely or never, lead to those that it visits
        consider(led_to(model, likeliest, np.flatnonzero(mass > dust * mass.max())))
    theta, search, found = best.theta, GainSearch(model), None
    for _ in range(_LINEARISATIONS):
        scores = np.ascontiguousarray(-(model.mean_rows @ theta))
        found = search.best(scores, SPAN, found)
        w = consider(greedy(model, scores + model.transitions() @ found.bias))
        theta = -reward.gradient(np.clip(w, _LEAST, 1.0)) + _EXPLORE * rng.standard_normal(theta.size)
    free = np.flatnonzero(np.diff(first) > 1)
    trials = int(min(_TRIALS, _SEARCH / S))
    for _ in range(trials if free.size else 0):
        trial = pairs.copy()
        for s in rng.choice(free, size=rng.integers(1, 4)):
            trial[s] = rng.integers(first[s], first[s + 1])
        if not np.array_equal(trial, pairs):
            consider(trial)
    return pairs, root
