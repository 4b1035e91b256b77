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
from typing import final

import numpy as np

from equipoise._numbers import counted
from equipoise._types import Index, Vector
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.offline.benchmark import Benchmark, solve
from equipoise.offline.chains import chain_of, long_run, recurrent_classes
from equipoise.offline.deterministic import DUST, Deterministic, best_deterministic
from equipoise.offline.policies import led_to, policy_of, value_of
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained


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
        return policy_of(self.model, self.occupancy_at(epsilon))

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
    equipoise.solve : What can be had with any policy.
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
    limit = counted(limit, "limit", 0, error=ParameterError)
    if isinstance(reward, Constrained):
        raise ParameterError(
            "reward: it has constraints; give its .penalised, or follow the policy of solve's occupancy"
        )
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
        deterministic=best_deterministic(model, reward, best, limit),
        benchmark=best,
        mixing=mixing,
    )


def _support(model: Model, reward: Reward, best: Benchmark, tolerance: float) -> tuple[int, bool]:
    """Count the recurrent classes of an optimum, and tell whether one of them alone is as good.

    Where g is flat, a solver's x* has dust in it that is worth nothing and connects what is not connected.
    So the smallest support is taken that still explains the value: entries below a share of the largest are
    dropped, from a large share to none, until the classes that are left, weighted as in x*, reach the value. With none
    dropped x* is what its own policy settles to, and need not be computed, which is hard where classes are all but cut
    off from each other.
    """
    for dust in DUST:
        visited = np.where(best.occupancy > dust * best.occupancy.max(), best.occupancy, 0.0)
        mass = np.add.reduceat(visited, model.first_pair[:-1])
        policy = policy_of(model, visited)
        outside = np.flatnonzero(mass == 0.0)  # in these states the policy is to lead to those that are visited
        policy[mass[model.state_of] == 0.0] = 0.0
        policy[led_to(model, model.first_pair[:-1], np.flatnonzero(mass))[outside]] = 1.0
        if dust > 0.0:
            ends = [(mass[states].sum(), x) for states, x in long_run(model, policy)]
        else:
            ends = [_within(model, best.occupancy, states) for states in recurrent_classes(chain_of(model, policy))]
        ends = [end for end in ends if end[0] > 0.0]
        if not ends:
            continue
        total = sum(weight for weight, _ in ends)
        together = sum((weight / total * x for weight, x in ends), np.zeros(model.n_pairs))
        if value_of(model, reward, together) >= best.value - tolerance:
            return len(ends), any(value_of(model, reward, x) >= best.value - tolerance for _, x in ends)
    return 0, False


def _within(model: Model, occupancy: Vector, states: Index) -> tuple[float, Vector]:
    """How much of an occupancy is in a class, and what it is there."""
    inside = np.zeros(model.n_states, np.bool_)
    inside[states] = True
    x = np.where(inside[model.state_of], occupancy, 0.0)
    mass = float(x.sum())
    return mass, x / mass if mass > 0.0 else x
