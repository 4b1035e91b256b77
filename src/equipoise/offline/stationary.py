r"""What stationary policies reach: the supremum, when it is attained, and the best deterministic one.

The setting is the claim that stationary policies fall short (Claim cont_small_eg of the paper). A stationary
policy, randomised or not, started at s_1 ends in one of its recurrent classes C_1, C_2, ..., and the average
outcomes then tend to w_i, those of C_i. So lim E[g(average)] = sum_i P(end in C_i) g(w_i): a mixture of the
values of the classes, and not the value of the mixture.

**The supremum over stationary policies is opt(P_M), in every communicating model.** Let x* be optimal, and u
the occupancy of the policy that chooses uniformly; u is positive everywhere. For 0 < epsilon <= 1 the mixture
x = (1 - epsilon) x* + epsilon u is an occupancy, positive everywhere, so the policy x(s,a) / x(s) has a single
recurrent class, and its stationary occupancy is x itself. The averages tend to Vx, and g(Vx) tends to opt(P_M)
as epsilon goes to 0. No policy does better, by theorem benchmark.

**It need not be attained.** Since every g(w_i) is at most opt(P_M), a stationary policy attains it only if
some single class does, that is, if some optimal x has a strongly connected support. Conversely such a class can
be reached from anywhere with probability 1. On the star no optimal x is connected, and every stationary policy
has a regret that tends to a positive constant: this is the paper's Omega(1), whose constant depends on the
policy and can be made as small as one likes. What is paid for a small epsilon is time: the policy alternates
every 1/epsilon steps or so, and its average needs many alternations to settle. At a horizon T the best
epsilon is a compromise; simulate a few with `StationaryAgent`.

**Deterministic stationary policies** are finitely many. From s_1 a deterministic policy can be led to any
class with probability 1, so the best of them has the value of the best class: the maximum of g(w) over all
recurrent classes of all deterministic policies. They are all enumerated if they are few; else a local search looks for
a good one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from equipoise._checks import check_count
from equipoise._runtime.compiler import call_entry, kernel
from equipoise._types import Index, Vector
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.offline.benchmark import Benchmark, solve
from equipoise.offline.certificate import SPAN
from equipoise.offline.chains import (
    eliminate,
    greedy,
    lead_to,
    long_run,
    occupancy_policy,
    occupancy_value,
    policy_chain,
    policy_ends,
    recurrent_classes,
)
from equipoise.offline.gains import GainSearch
from equipoise.rewards.base import FOREVER, Reward
from equipoise.rewards.constrained import Constrained

_ROUNDING_SHARES: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)  # relative to the largest entry of x*
_HUGE: Final = 600.0  # logarithm of a number of policies that no float would hold for long
_WORK: Final = 4e9  # policies times states cubed: what an enumeration may cost
_LINEARISATIONS: Final = 30  # plans of the local search
_TRIALS: Final = 3000  # random changes that it tries, at most
_SEARCH: Final = 3e6  # and changes times states
_EXPLORE: Final = 0.05  # standard deviation of what is added to theta between two plans
_LEAST: Final = 1e-9  # outcomes at which a gradient is asked for; some are steep at 0
_TIE: Final = 1e-12  # relative: a policy replaces the best so far if it is better by more than that


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
    One of two arms indefinitely: the average is (1, 0) or (0, 1), and `1 - |w - c|^2 / 2` is 0.75 either way.

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


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Stationary:
    """What stationary policies reach in a communicating model; made by `best_stationary`.

    Attributes
    ----------
    supremum : float
        Of lim E[g(average)] over all stationary policies: opt(P_M), see the module's text.
    attained : bool
        Whether the optimum found attains it with a single recurrent class, up to the tolerance. The
        optimum may not be unique: False is about this one.
    classes : int
        How many recurrent classes the support of this optimum has.
    deterministic : Deterministic
        The best deterministic stationary policy.
    benchmark : Benchmark
        The offline optimum, with its certificate.
    mixing : numpy.ndarray
        The occupancy of the uniformly random policy, positive everywhere.
    model, reward : Model, Reward
        What it is about.

    Examples
    --------
    One state, two arms: chance alone reaches the balance that no deterministic policy has.

    >>> from equipoise.models import bandit
    >>> from equipoise.rewards import Quadratic
    >>> best = best_stationary(bandit(2), Quadratic([0.5, 0.5]))
    >>> round(best.supremum, 6), best.attained, best.deterministic.value
    (1.0, True, 0.75)
    >>> best.policy(epsilon=1.0).tolist()
    [0.5, 0.5]
    """

    model: Model
    reward: Reward
    supremum: float
    attained: bool
    classes: int
    deterministic: Deterministic
    benchmark: Benchmark
    mixing: Vector

    def occupancy_at(self, epsilon: float) -> Vector:
        """Return (1 - epsilon) x* + epsilon u, the stationary occupancy of ``policy(epsilon)``.

        Parameters
        ----------
        epsilon : float
            The share of the uniformly random policy, in (0, 1].
        """
        if not 0.0 < epsilon <= 1.0:
            raise ParameterError(f"epsilon: got {epsilon}; it must lie in (0, 1]")
        return (1.0 - epsilon) * self.benchmark.occupancy + epsilon * self.mixing

    def policy(self, epsilon: float) -> Vector:
        """Return the randomised stationary policy, one probability a pair, that has this occupancy.

        Parameters
        ----------
        epsilon : float
            The share of the uniformly random policy, in (0, 1].
        """
        return occupancy_policy(self.model, self.occupancy_at(epsilon))

    def outcomes_at(self, epsilon: float) -> Vector:
        """Return what the average outcomes tend to under ``policy(epsilon)``.

        Parameters
        ----------
        epsilon : float
            The share of the uniformly random policy, in (0, 1].
        """
        outcomes: Vector = np.clip(self.model.mean_rows.T @ self.occupancy_at(epsilon), 0.0, 1.0)
        return outcomes

    def value_at(self, epsilon: float) -> float:
        """Return what g(average outcomes) tends to under ``policy(epsilon)``; the horizon is infinite.

        Parameters
        ----------
        epsilon : float
            The share of the uniformly random policy, in (0, 1].
        """
        return self.reward.value(self.outcomes_at(epsilon))

    def __repr__(self) -> str:
        how = "attained" if self.attained else f"not attained by this optimum: {self.classes} recurrent classes"
        return f"Stationary(supremum={self.supremum:.9g}, {how}; {self.deterministic!r})"


def best_stationary(
    model: Model, reward: Reward, tolerance: float = 1e-6, *, limit: int = 200_000, benchmark: Benchmark | None = None
) -> Stationary:
    """Find what stationary policies reach, for comparison with opt(P_M) and with what a learner does.

    Parameters
    ----------
    model : Model
        A communicating one.
    reward : Reward
        For as many outcomes as the model has.
    tolerance : float
        As for `solve`.
    limit : int
        Deterministic policies are enumerated if there are no more than this (and if the chains are
        small enough for it to end soon); else a local search gives a value that may not be the best.
    benchmark : Benchmark, optional
        The result of `solve`, if it is at hand.

    Returns
    -------
    Stationary
        The supremum over stationary policies, whether it is attained, and the best deterministic policy.

    See Also
    --------
    equipoise.solve : The best achievable value of any policy.
    equipoise.agents.baselines.StationaryAgent : An agent that follows such a policy.

    Examples
    --------
    On the star the optimum is to spend a third of the time on each loop. A deterministic policy can stay on
    one of them only (value 2/3), or wander between them and earn nothing, which is nearer to balance:

    >>> from equipoise.models import star
    >>> from equipoise.rewards import Quadratic
    >>> best = best_stationary(star(branches=3, diameter=4), Quadratic([1 / 3, 1 / 3, 1 / 3]))
    >>> round(best.supremum, 6), best.attained, best.classes
    (1.0, False, 3)
    >>> round(best.deterministic.value, 6), best.deterministic.exact
    (0.833333, True)
    >>> [round(best.value_at(epsilon), 3) for epsilon in (1.0, 0.1, 0.01)]
    [0.893, 0.999, 1.0]
    """
    limit = check_count(limit, "limit", 0, error=ParameterError)
    if isinstance(reward, Constrained):
        raise ParameterError(
            "reward: it has constraints; give its .penalised, or follow the policy of solve's occupancy"
        )
    best = solve(model, reward, tolerance) if benchmark is None else benchmark
    if best.model is not model:
        raise ParameterError("benchmark: it was made for another model")
    (_, mixing), *_ = long_run(model, occupancy_policy(model, np.zeros(model.n_pairs)))
    classes, attained = _support(model, reward, best, tolerance)
    return Stationary(
        model=model,
        reward=reward,
        supremum=best.value,
        attained=attained,
        classes=classes,
        deterministic=best_deterministic(model, reward, best, limit),
        benchmark=best,
        mixing=mixing,
    )


def _support(model: Model, reward: Reward, best: Benchmark, tolerance: float) -> tuple[int, bool]:
    """Count the recurrent classes of an optimum, and tell whether one of them alone is as good."""
    for dust in _ROUNDING_SHARES:
        visited = np.where(best.occupancy > dust * best.occupancy.max(), best.occupancy, 0.0)
        mass = np.add.reduceat(visited, model.first_pair[:-1])
        policy = occupancy_policy(model, visited)
        outside = np.flatnonzero(mass == 0.0)  # in these states the policy is to lead to those that are visited
        policy[mass[model.state_of] == 0.0] = 0.0
        policy[lead_to(model, model.first_pair[:-1], np.flatnonzero(mass))[outside]] = 1.0
        if dust > 0.0:
            ends = [(mass[states].sum(), x) for states, x in long_run(model, policy)]
        else:
            ends = [_within(model, best.occupancy, states) for states in recurrent_classes(policy_chain(model, policy))]
        ends = [end for end in ends if end[0] > 0.0]
        if not ends:
            continue
        total = math.fsum(weight for weight, _ in ends)
        together = sum((weight / total * x for weight, x in ends), np.zeros(model.n_pairs))
        if occupancy_value(model, reward, together) >= best.value - tolerance:
            return len(ends), any(occupancy_value(model, reward, x) >= best.value - tolerance for _, x in ends)
    return 0, False


def _within(model: Model, occupancy: Vector, states: Index) -> tuple[float, Vector]:
    """How much of an occupancy is in a class, and what it is there."""
    inside = np.zeros(model.n_states, np.bool_)
    inside[states] = True
    x = np.where(inside[model.state_of], occupancy, 0.0)
    mass = float(x.sum())
    return mass, x / mass if mass > 0.0 else x


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
    states, x = next(end for end in policy_ends(model, pairs) if root in end[0])
    pairs = lead_to(model, pairs, states)
    value = occupancy_value(model, reward, x)
    return Deterministic(
        value=value,
        upper=value if exact else best.dual_value,
        exact=exact,
        actions=pairs - model.first_pair[:-1],
        states=states,
        outcomes=np.clip(model.mean_rows.T @ x, 0.0, 1.0),
    )


def best_by_search(model: Model, reward: Reward, best: Benchmark) -> tuple[Index, int]:
    """Search for a good deterministic policy: linearise and plan, then change a few actions at random."""
    rng = np.random.default_rng(0)
    S, first = model.n_states, model.first_pair
    top, pairs, root = -np.inf, first[:-1].copy(), 0

    def consider(trial: Index) -> Vector:
        nonlocal top, pairs, root
        ends = [(occupancy_value(model, reward, x), int(states[0]), x) for states, x in policy_ends(model, trial)]
        value, state, x = max(ends, key=lambda end: end[0])
        if top == -np.inf or value > top + _TIE * max(1.0, abs(top)):
            top, pairs, root = value, trial.copy(), state
        return np.clip(model.mean_rows.T @ x, 0.0, 1.0)

    likeliest = greedy(model, best.occupancy)
    mass = np.add.reduceat(best.occupancy, first[:-1])
    for dust in _ROUNDING_SHARES:  # in states that x* visits rarely or never, lead to those that it visits
        consider(lead_to(model, likeliest, np.flatnonzero(mass > dust * mass.max())))
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
            if top == -np.inf or number[0] > top + _TIE * max(1.0, abs(top)):
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
