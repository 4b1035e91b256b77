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
recurrent classes of all deterministic policies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from equipoise._compile import call_entry, kernel
from equipoise._types import Index, Vector
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.offline.benchmark import Benchmark, policy_of, solve
from equipoise.offline.certificate import optimal_gain
from equipoise.offline.chains import long_run
from equipoise.rewards.base import Reward

_FOREVER: Final = 2**62  # the time shown to rewards that change with it: their limit
_WORK: Final = 4e9  # policies times states cubed: what an enumeration may cost
_DUST: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)  # relative to the largest entry of x*
_LINEARISATIONS: Final = 30
_TRIALS: Final = 3000
_PER_DECADE: Final = 10


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
        """Return (1 - epsilon) x* + epsilon u, the stationary occupancy of ``policy(epsilon)``."""
        if not 0.0 < epsilon <= 1.0:
            raise ParameterError(f"epsilon: got {epsilon}; it must lie in (0, 1]")
        return (1.0 - epsilon) * self.benchmark.occupancy + epsilon * self.mixing

    def policy(self, epsilon: float) -> Vector:
        """Return the randomised stationary policy, one probability a pair, that has this occupancy."""
        return policy_of(self.model, self.occupancy_at(epsilon))

    def outcomes_at(self, epsilon: float) -> Vector:
        """Return what the average outcomes tend to under ``policy(epsilon)``."""
        outcomes: Vector = np.clip(self.model.means.T @ self.occupancy_at(epsilon), 0.0, 1.0)
        return outcomes

    def value_at(self, epsilon: float) -> float:
        """Return what g(average outcomes) tends to under ``policy(epsilon)``; the horizon is infinite."""
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
    model, reward, tolerance
        As for `solve`.
    limit : int
        Deterministic policies are enumerated if there are no more than this (and if the chains are
        small enough for it to end soon); else a local search gives a value that may not be the best.
    benchmark : Benchmark, optional
        The result of `solve`, if it is at hand.

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
    best = solve(model, reward, tolerance) if benchmark is None else benchmark
    if best.model is not model:
        raise ParameterError("benchmark: it was made for another model")
    (_, mixing), *_ = long_run(model, policy_of(model, np.zeros(model.n_pairs)))
    classes, attained = _support(model, reward, best, tolerance)
    return Stationary(
        model=model,
        reward=reward,
        supremum=best.value,
        attained=attained,
        classes=classes,
        deterministic=_best_deterministic(model, reward, best, limit),
        benchmark=best,
        mixing=mixing,
    )


def _support(model: Model, reward: Reward, best: Benchmark, tolerance: float) -> tuple[int, bool]:
    """Count the recurrent classes of an optimum, and tell whether one of them alone is as good.

    Where g is flat, a solver's x* has dust in it that is worth nothing and connects what is not connected.
    So the smallest support is taken that still explains the value: entries below a share of the largest are
    dropped, from a large share to none, until the classes that are left, weighted as in x*, reach the value.
    """
    for dust in _DUST:
        visited = np.where(best.occupancy > dust * best.occupancy.max(), best.occupancy, 0.0)
        mass = np.add.reduceat(visited, model.first_pair[:-1])
        policy = policy_of(model, visited)
        outside = np.flatnonzero(mass == 0.0)  # from there, back to what is visited
        policy[mass[model.state_of] == 0.0] = 0.0
        policy[_led_to(model, model.first_pair[:-1], np.flatnonzero(mass))[outside]] = 1.0
        ends = [(mass[states].sum(), x) for states, x in long_run(model, policy)]
        ends = [end for end in ends if end[0] > 0.0]
        if not ends:
            continue
        total = sum(weight for weight, _ in ends)
        together = sum((weight / total * x for weight, x in ends), np.zeros(model.n_pairs))
        if _value(model, reward, together) >= best.value - tolerance:
            return len(ends), any(_value(model, reward, x) >= best.value - tolerance for _, x in ends)
    return 0, False


def _value(model: Model, reward: Reward, x: Vector) -> float:
    return reward.value(np.clip(model.means.T @ x, 0.0, 1.0))


def _best_deterministic(model: Model, reward: Reward, best: Benchmark, limit: int) -> Deterministic:
    S = model.n_states
    n_actions = np.diff(model.first_pair)
    policies = float(np.prod(n_actions.astype(np.float64)))
    exact = policies <= limit and policies * float(S) ** 3 <= _WORK
    if exact:
        pairs, root = _enumerated(model, reward)
    else:
        pairs, root = _searched(model, reward, best)
    states, x = next(end for end in _ends(model, pairs) if root in end[0])
    pairs = _led_to(model, pairs, states)
    value = _value(model, reward, x)
    return Deterministic(
        value=value,
        upper=value if exact else best.dual_value,
        exact=exact,
        actions=pairs - model.first_pair[:-1],
        states=states,
        outcomes=np.clip(model.means.T @ x, 0.0, 1.0),
    )


def _ends(model: Model, pairs: Index) -> list[tuple[Index, Vector]]:
    """List the recurrent classes of a deterministic policy, given as one pair a state."""
    policy = np.zeros(model.n_pairs)
    policy[pairs] = 1.0
    return long_run(model, policy)


def _led_to(model: Model, pairs: Index, states: Index) -> Index:
    """Change a policy outside of `states` so that it leads there from everywhere."""
    pairs = pairs.copy()
    reached = np.zeros(model.n_states, np.bool_)
    reached[states] = True
    p = model.transitions()
    while not reached.all():
        able = np.flatnonzero((p @ reached.astype(np.float64) > 0.0) & ~reached[model.state_of])[::-1]
        pairs[model.state_of[able]] = able  # of several the lowest, which is written last
        reached[model.state_of[able]] = True
    return pairs


def _searched(model: Model, reward: Reward, best: Benchmark) -> tuple[Index, int]:
    """Search for a good deterministic policy: linearise and plan, then change a few actions at random.

    The value of a policy is that of its best recurrent class, wherever it starts.
    """
    rng = np.random.default_rng(0)
    S, first = model.n_states, model.first_pair
    top, pairs, root = -np.inf, first[:-1].copy(), 0

    def consider(trial: Index) -> Vector:
        nonlocal top, pairs, root
        ends = [(_value(model, reward, x), int(states[0]), x) for states, x in _ends(model, trial)]
        value, state, x = max(ends, key=lambda end: end[0])
        if top == -np.inf or value > top + 1e-12 * max(1.0, abs(top)):
            top, pairs, root = value, trial.copy(), state
        return np.clip(model.means.T @ x, 0.0, 1.0)

    likeliest = _greedy(model, best.occupancy)
    mass = np.add.reduceat(best.occupancy, first[:-1])
    for dust in _DUST:  # where x* does not go, or hardly, lead to where it does
        consider(_led_to(model, likeliest, np.flatnonzero(mass > dust * mass.max())))
    theta = best.theta
    for _ in range(_LINEARISATIONS):
        scores = np.ascontiguousarray(-(model.means @ theta))
        _, bias, _ = optimal_gain(model, scores, best.bias)
        w = consider(_greedy(model, scores + model.transitions() @ bias))
        theta = -reward.gradient(np.clip(w, 1e-9, 1.0)) + 0.05 * rng.standard_normal(theta.size)
    free = np.flatnonzero(np.diff(first) > 1)
    trials = int(min(_TRIALS, 3e6 / S))
    for _ in range(trials if free.size else 0):
        trial = pairs.copy()
        for s in rng.choice(free, size=rng.integers(1, 4)):
            trial[s] = rng.integers(first[s], first[s + 1])
        if not np.array_equal(trial, pairs):
            consider(trial)
    return pairs, root


def _greedy(model: Model, q: Vector) -> Index:
    """Return in every state the first pair with the largest entry of q."""
    most = np.maximum.reduceat(q, model.first_pair[:-1])
    attained = np.flatnonzero(q == most[model.state_of])[::-1]
    pairs = np.empty(model.n_states, np.int64)
    pairs[model.state_of[attained]] = attained
    return pairs


def _enumerated(model: Model, reward: Reward) -> tuple[Index, int]:
    """Return the best of all deterministic policies, as pairs, and a state of its best class."""
    S = model.n_states
    pairs, best = np.array(model.first_pair[:-1]), np.empty(S, np.int64)
    root = _enumerate(
        model.first_pair, model.transition_first, model.transition_state, model.transition_probability, model.means,
        reward.kernels.value.address, reward.params, _FOREVER, pairs, best,
        np.empty((S, S), np.bool_), np.empty((S, S)), np.empty(S), np.empty(S, np.int64), np.empty(S, np.bool_),
        np.empty(model.n_outcomes), np.empty(1),
    )  # fmt: skip
    return best, int(root)


@kernel
def _enumerate(  # type: ignore[no-untyped-def]
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
            _settle(n, members, pairs, first, successor, probability, matrix, weight)
            for k in range(w.shape[0]):
                w[k] = 0.0
            for j in range(n):
                seen[members[j]] = True
                for k in range(w.shape[0]):
                    w[k] += weight[j] * means[pairs[members[j]], k]
            for k in range(w.shape[0]):
                w[k] = min(1.0, w[k])
            call_entry(address, time, w, params, number)
            if top == -np.inf or number[0] > top + 1e-12 * max(1.0, abs(top)):
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


@kernel
def _settle(n, members, pairs, first, successor, probability, matrix, weight):  # type: ignore[no-untyped-def]
    """Stationary distribution of a recurrent class by elimination without subtractions (GTH)."""
    for i in range(n):
        for j in range(n):
            matrix[i, j] = 0.0
        pair = pairs[members[i]]
        for e in range(first[pair], first[pair + 1]):
            for j in range(n):
                if members[j] == successor[e]:
                    matrix[i, j] += probability[e]
                    break
    for k in range(n - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += matrix[k, j]
        for i in range(k):
            matrix[i, k] /= out
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    weight[0] = 1.0
    total = 1.0
    for k in range(1, n):
        weight[k] = 0.0
        for i in range(k):
            weight[k] += weight[i] * matrix[i, k]
        total += weight[k]
    for k in range(n):
        weight[k] /= total
