"""Algorithm TOC-UCRL2, line by line, and its anytime form by doubling."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.reference.confidence import Box, optimistic_rewards, outcome_region, transition_region
from tests.reference.oracles import Doubling, Oracle
from tests.reference.planner import Plan, extended_value_iteration
from tests.reference.rewards import dual_norm

Array = NDArray[np.float64]


class Reference:
    """The agent: ``act(state)``, then ``observe(outcomes, next_state)``, in turns.

    Parameters
    ----------
    n_actions, n_outcomes, start
        What the agent knows of the world.
    reward
        Only its ``norm`` is used: the drift is measured in the dual norm.
    oracle
        An oracle of this package, or Doubling.
    Q
        The gradient threshold; a function of t for the anytime entropy.
    Q_of_episode
        In the place of Q: a function of tau(m) and of the span of the bias, asked once an episode.
    delta, tolerance
        The paper's delta; EVI stops at 1/sqrt(tau(m)) for None, else at the number given, or that function of tau(m).
    known
        ``{(state, action): mean outcomes}`` told in advance.
    known_model
        ``(transitions, means)`` by pair: all regions are single points and nothing is to be learned.
    warm_after
        The triggers after which a plan starts from the bias of the last one.
    growth
        The factor by which the visits of a pair grow until an episode ends; 1 in Algorithm 1.
    visit_rule
        Whether the second half of the while condition, nu < N+, may end an episode. None: it may unless the
        model is known, for it is there to renew the estimates. True: it always may (Algorithm 1).

    Attributes
    ----------
    episode_starts, triggers, gains, bias_spans, plans, tolerances
        One entry an episode; ``triggers[m]`` says why episode m began: "start", "gradient", "visits",
        "both", or "restart" for a new mega-episode. Times are counted from 1 and global.
    thetas
        theta_t in use at time t = 1, 2, ...
    """

    def __init__(
        self,
        n_actions: Sequence[int],
        n_outcomes: int,
        start: int,
        reward: object,
        oracle: Oracle | Doubling,
        Q: float | Callable[[int], float],
        delta: float = 0.05,
        tolerance: float | Callable[[int], float] | None = None,
        known: Mapping[tuple[int, int], ArrayLike] | None = None,
        known_model: tuple[ArrayLike, ArrayLike] | None = None,
        visit_rule: bool | None = None,
        Q_of_episode: Callable[[int, float], float] | None = None,
        warm_after: tuple[str, ...] = (),
        growth: float = 1.0,
    ) -> None:
        self.n_actions = tuple(n_actions)
        self.n_outcomes = n_outcomes
        self.norm = float(reward.norm) if hasattr(reward, "norm") else 1.0  # an anytime entropy: the 1-norm
        self.reward = reward
        self.Q = Q
        self.Q_of_episode = Q_of_episode
        self.warm_after = warm_after
        self.growth = growth
        self.tolerance = tolerance
        self.known = {self._pair(s, a): mean for (s, a), mean in (known or {}).items()}
        self.visit_rule = known_model is None if visit_rule is None else visit_rule
        self.known_model = None
        if known_model is not None:
            transitions, means = (np.asarray(x, dtype=float) for x in known_model)
            self.known_model = (Box(transitions, transitions), Box(means, means))

        self.state = start
        self.t = 1  # the global clock
        self.episode_starts: list[int] = []
        self.triggers: list[str] = []
        self.gains: list[float] = []
        self.bias_spans: list[float] = []
        self.plans: list[Plan] = []
        self.tolerances: list[float] = []
        self.thetas: list[Array] = []
        self.total = np.zeros(n_outcomes)  # of all outcomes, for the records only
        self._forget()

        self._full_delta = self.delta = delta
        self.doubling = oracle if isinstance(oracle, Doubling) else None
        self.mega_episode = 0
        self.mega_end = math.inf  # the last time of the mega-episode
        self._due: str | None = "start"  # a reason, other than the while condition, to begin an episode
        if isinstance(oracle, Doubling):
            self._begin_mega_episode()
            self._due = "start"
        else:
            self.oracle = oracle
        self.action: int | None = None

    @property
    def average(self) -> Array:
        return self.total / max(1, self.t - 1)

    @property
    def theta(self) -> Array:
        return self.oracle.theta

    # --- the algorithm ---

    def act(self, state: int) -> int:
        if self.action is not None or state != self.state:
            raise ValueError("act and observe out of turn")
        if self.t > self.mega_end:
            self._begin_mega_episode()
        reason = self._due or self._why_the_loop_ends()
        if reason is not None:
            self._begin_episode(reason)
        self._due = None
        self.thetas.append(self.oracle.theta.copy())
        self.action = int(self.plan.policy[state])
        return self.action

    def observe(self, outcomes: ArrayLike, next_state: int) -> None:
        if self.action is None:
            raise ValueError("act and observe out of turn")
        v = np.asarray(outcomes, dtype=float)
        pair = self._pair(self.state, self.action)
        theta = self.oracle.update(v)
        self.drift += dual_norm(theta - self.theta_ref, self.norm)
        self.nu[pair] += 1
        # the history from which the next N_m, v-hat and p-hat are made
        self.visits[pair] += 1
        self.outcome_sums[pair] += v
        self.successor_counts[pair, next_state] += 1
        self.total += v
        self.t += 1
        self.clock += 1
        self.state = next_state
        self.action = None

    def _why_the_loop_ends(self) -> str | None:
        """Evaluate the while condition: Psi <= Q and nu(s_t, pi(s_t)) < N+(s_t, pi(s_t))."""
        threshold = self.Q(self.clock) if callable(self.Q) else self.Q
        pair = self._pair(self.state, int(self.plan.policy[self.state]))
        drifted = not self.drift <= threshold
        doubled = self.visit_rule and not self.nu[pair] < max(1, self.growth * self.n_plus[pair])
        if drifted:
            return "both" if doubled else "gradient"
        return "visits" if doubled else None

    def _begin_episode(self, reason: str) -> None:
        tau = self.clock
        self.n_plus = np.maximum(1, self.visits)
        h_p, h_v = self._regions(tau)
        rewards = optimistic_rewards(self.oracle.theta, h_v)
        tolerance = self.tolerance(tau) if callable(self.tolerance) else self.tolerance
        epsilon = 1 / math.sqrt(tau) if tolerance is None else tolerance
        start = self.plan.bias if reason in self.warm_after else None
        self.plan = extended_value_iteration(rewards, h_p.lo, h_p.hi, self.n_actions, epsilon, start=start)
        if self.Q_of_episode is not None:
            self.Q = self.Q_of_episode(tau, self.plan.bias_span)
        self.nu = np.zeros_like(self.visits)
        self.theta_ref = self.oracle.theta.copy()
        self.drift = 0.0

        self.episode_starts.append(self.t)
        self.triggers.append(reason)
        self.gains.append(self.plan.gain)
        self.bias_spans.append(self.plan.bias_span)
        self.plans.append(self.plan)
        self.tolerances.append(epsilon)

    def _regions(self, tau: int) -> tuple[Box, Box]:
        if self.known_model is not None:
            return self.known_model
        return (
            transition_region(self.successor_counts, self.visits, tau, self.delta),
            outcome_region(self.outcome_sums, self.visits, tau, self.delta, self.known),
        )

    # --- doubling ---

    def _begin_mega_episode(self) -> None:
        assert self.doubling is not None
        self.mega_episode += 1
        length = 2**self.mega_episode
        self.mega_end = self.t + length - 1
        self.oracle = self.doubling.make(length)
        self._due = "restart"
        if not self.doubling.inherit:
            self.delta = self._full_delta / 2**self.mega_episode
            self._forget()

    # --- bookkeeping ---

    def _forget(self) -> None:
        """Empty the counts and set the clock of the regions to 1."""
        n_pairs, n_states = sum(self.n_actions), len(self.n_actions)
        self.clock = 1
        self.visits = np.zeros(n_pairs)
        self.outcome_sums = np.zeros((n_pairs, self.n_outcomes))
        self.successor_counts = np.zeros((n_pairs, n_states))

    def _pair(self, state: int, action: int) -> int:
        return sum(self.n_actions[:state]) + action
