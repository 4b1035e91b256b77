r"""Algorithm MDPwK (appendix A.5.2): earn as much as possible within budgets, over a known horizon T.

Outcome 0 is the reward, outcomes 1 to K-1 are the consumption of as many resources, each with a budget of bT
units. TOC-UCRL2 runs on the surrogate

    g_C(r, c) = r - (2/b) max_k (c_k - b)^+,        Q = L = 1 + 2/b,        TMD with slack, for T steps,

until some resource could run out: with I_k = bT minus what was consumed, it stops as soon as some I_k < 1, as the
next action may take a unit. (The paper stops at I_k < 0, which may overdraw.) From then on only null actions are
taken: in every state there is one, known to yield nothing and to consume nothing.

The regret is  T opt(P_C(b)) - total reward,  with `solve_knapsack` for the optimum.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from equipoise._files import ensure
from equipoise._runtime.compiler import kernel
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate
from equipoise.agents.episodes import Episodes
from equipoise.agents.phase import check_kind
from equipoise.agents.schedules import Power
from equipoise.agents.state import clock_numbers, set_clock
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.errors import LogError, ParameterError, ProtocolError
from equipoise.models.log import Source
from equipoise.models.model import Model, Space
from equipoise.models.outcome_rows import dense_row
from equipoise.models.world import get_sampling, sample
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import SlackSimplex
from equipoise.rewards.penalties import Knapsack


@kernel
def _idle(steps, first_pair, null_actions, clock, outcome, rng, world):
    """Take null actions; stops before time moves on if one of them yields something."""
    now = clock[0]
    for _ in range(steps):
        state = now.state
        after = sample(rng, first_pair[state] + null_actions[state], world, outcome)
        for k in range(outcome.shape[0]):
            if outcome[k] != 0.0:
                return False
        now.state = after
        now.time += 1
    return True


@final
class KnapsackAgent(Agent):
    """Earn under budgets that are never exceeded.

    Parameters
    ----------
    space : Space
        The world's; outcome 0 is the reward, the others are consumptions.
    budget : float in (0, 1)
        b: each resource has b times `horizon` units.
    horizon : int
        T.
    null_actions : int or sequence of int
        The null action of every state, or one for all states. It is known to have outcomes of zero.
    delta : float
        As for `TocUCRL2`.
    confidence : Confidence, optional
        As for `TocUCRL2`.
    tolerance : float or Power, optional
        As for `TocUCRL2`.

    See Also
    --------
    equipoise.solve_knapsack : What could be had within the budgets.
    equipoise.rewards.Knapsack : The reward that it maximises.

    Examples
    --------
    >>> import equipoise as eq
    >>> arms = eq.Model.from_branches([[  # one state: do nothing, or earn .5 for a unit, or 1 for a unit half the time
    ...     [(1.0, 0, [0.0, 0.0])], [(1.0, 0, [0.5, 1.0])], [(0.5, 0, [1.0, 1.0]), (0.5, 0, [0.0, 0.0])]]])
    >>> agent = KnapsackAgent(arms.space, budget=0.25, horizon=1000, null_actions=0)
    >>> run = eq.simulate(arms, agent, 1000, seed=0)
    >>> agent.stopped, float(agent.inventory[0]) >= 0
    (True, True)
    """

    def __init__(
        self,
        space: Space,
        budget: float,
        horizon: int,
        null_actions: int | Sequence[int],
        delta: float = 0.05,
        confidence: Confidence | None = None,
        tolerance: float | Power | None = None,
    ) -> None:
        check_kind(space, Space, "space", "model.space")
        if space.n_outcomes < 2:
            raise ParameterError("space: it has one outcome; a reward and at least one consumption are needed")
        surrogate = Knapsack(space.n_outcomes, budget)
        super().__init__(space, surrogate)
        self.budget = surrogate.budget
        self.null_actions = _checked_nulls(space, null_actions)
        oracle = TunedMirrorDescent(SlackSimplex(), horizon)
        threshold = self.reward.lipschitz
        informed = _with_known_nulls(space, self.null_actions)
        self._inner = TocUCRL2(informed, self.reward, oracle, threshold, delta, confidence, tolerance)
        self._total = self._inner._total

    # -- what a user may look at ---------------------------------------------------------------------

    @property
    def horizon(self) -> int:
        """T."""
        horizon = self._inner.oracle.horizon
        assert horizon is not None
        return horizon

    @property
    def delta(self) -> float:
        """The level of the confidence regions."""
        return self._inner.delta

    @property
    def confidence(self) -> Confidence:
        """The rule for the regions."""
        return self._inner.confidence

    @property
    def tolerance(self) -> float | Power | None:
        """At which the planner stops; None: 1/sqrt(tau(m))."""
        return self._inner.tolerance

    @property
    def caveat(self) -> str:
        """That of its confidence."""
        return self._inner.caveat

    @property
    def earned(self) -> float:
        """The total reward so far."""
        return float(self._inner._arrays.memory.total[0])

    @property
    def inventory(self) -> NDArray[np.float64]:
        """I_k: what is left of each resource."""
        return self._units - self._inner._arrays.memory.total[1:]

    @property
    def stopped(self) -> bool:
        """Whether some resource could run out at the next step, so that only null actions remain."""
        return bool(np.any(self._inner._arrays.memory.total[1:] + 1.0 > self._units))

    @property
    def stopping_time(self) -> int | None:
        """The paper's tau: how many steps were taken before it stopped, or T if it never did; None before that."""
        if self.stopped:
            return self._inner.t - 1
        return self.horizon if self.t > self.horizon else None

    @property
    def episode_record(self) -> Episodes:
        """The record of all episodes so far, column by column."""
        return self._inner.episode_record

    @property
    def theta(self) -> NDArray[np.float64]:
        """(-1, prices): what a unit of each resource is held to be worth."""
        return self._inner.theta

    @property
    def proves(self) -> bool:
        """Whether its regions are proven to hold the truth."""
        return self._inner.proves

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum of g_C, and so on opt(P_C(b)), that its plans have proven so far."""
        return self._inner.best_possible

    def certificate(self, effort: int = 0) -> Certificate:
        """What the data prove about g_C, the reward less the penalty for what exceeds the budgets.

        No policy within the budgets earns more than `best_possible` a step, in the long run.

        Parameters
        ----------
        effort : int
            How many plans more than one to spend on it.
        """
        proven = self._inner.certificate(effort)
        achieved = self.reward.value(self.average) if self.t > 1 else proven.achieved
        return dataclasses.replace(proven, achieved=achieved, t=self.t - 1)

    def absorb(self, log: Source, again: bool = False) -> int:
        """Learn from a log, in which null actions must have yielded and consumed nothing.

        Parameters
        ----------
        log : frame or path
            As for `TocUCRL2.absorb`.
        again : bool
            As for `TocUCRL2.absorb`.
        """

        def check(counts: Counts) -> None:
            if self.space.laws is not None:
                return  # a row in which a null action does something is refused by the mechanics
            for state, action in enumerate(self.null_actions.tolist()):
                pair = self.space.pair(state, action)
                if counts.sums[pair].any():
                    raise LogError(
                        f"log: {self.space.name_pair(pair)} is a null action, and yields or consumes something in it"
                    )

        with self._lock.use(), self._inner.loop.exclusive():
            return self._inner._absorb_checked(log, again, check)

    def resume(self, state: int) -> None:
        """Say where the system is, after a gap.

        Parameters
        ----------
        state : int
            Where the system is now.
        """
        super().resume(state)
        if not self.stopped:
            self._inner.resume(state)

    def regret(self, best: object) -> float:
        """T opt(P_C(b)) minus what was earned.

        Parameters
        ----------
        best : KnapsackBenchmark or float
            What `solve_knapsack` gives for the same world and budget, or its value.
        """
        optimum = best if isinstance(best, (int, float)) else getattr(best, "value", None)
        if not isinstance(optimum, (int, float)):
            raise ParameterError(f"best: got {type(best).__name__}; the result of solve_knapsack is needed")
        return self.horizon * float(optimum) - self.earned

    # -- acting ---------------------------------------------------------------------------------------

    def choose(self, state: int) -> int:
        """The algorithm's action, or the null action once it has stopped."""
        return int(self.null_actions[state]) if self.stopped else self._inner.act(state)

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """What the algorithm learns; a null action must yield and consume nothing."""
        if action == self.null_actions[state] and outcomes.any():
            raise self._not_null(state, outcomes)
        if self._inner.pending:
            with self._inner.loop.exclusive():
                self._inner.loop.take_in(outcomes, next_state, self._case)

    def _account(self, outcomes: NDArray[np.float64], after: int) -> None:  # noqa: ARG002
        """Move the clock; the inner agent keeps the sums, to which null actions add nothing."""
        set_clock(self._clock, self.t + 1, after)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        if not self.stopped:
            self._inner._run(model, rng, steps, self._units)
            set_clock(self._clock, self._inner.t, self._inner.state)
            return
        outcome = np.zeros(self.space.n_outcomes)
        nulls = (self.space.first_pair, self.null_actions, self._clock, outcome)
        if not _idle(steps, *nulls, rng, get_sampling(model)):
            raise self._not_null(self.state, outcome)

    # -- keeping --------------------------------------------------------------------------------------

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self._total = self._inner._total

    def memory(self) -> dict[str, Any]:
        """The memory of the inner agent."""
        return self._inner.memory()

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on from there. The clock of the inner agent equals its own until it stops, and stands still afterwards."""
        self._inner.restore(memory)
        self._total = self._inner._total
        clock, inner = self._clock, self._inner
        fits = self.t <= self.horizon + 1 and bool(np.all(self.inventory >= 0.0))
        if fits and self.stopped:
            null = self.space.first_pair[self.state] + self.null_actions[self.state]
            fits = inner.t <= self.t and not inner.pending and int(clock["pending"][0]) in (-1, int(null))
        elif fits:
            fits = np.array_equal(clock_numbers(clock), clock_numbers(inner._clock))
        ensure(fits, "the array 'clock' is not that of its memory and its budget")

    # -- inside ---------------------------------------------------------------------------------------

    @property
    def _units(self) -> float:
        return self.budget * self.horizon

    def _not_null(self, state: int, outcome: NDArray[np.float64]) -> ProtocolError:
        pair = self.space.pair(state, int(self.null_actions[state]))
        return ProtocolError(
            f"null_actions: {self.space.name_pair(pair)} gave {outcome.tolist()}; "
            "a null action must yield and consume nothing"
        )


def _checked_nulls(space: Space, null_actions: int | Sequence[int]) -> NDArray[np.int64]:
    one = isinstance(null_actions, (int, np.integer)) and not isinstance(null_actions, bool)
    try:
        given: list[Any] = [null_actions] * space.n_states if one else list(cast(Sequence[int], null_actions))
    except TypeError:
        raise ParameterError(
            f"null_actions: got {null_actions!r}; an action, or one for each of the {space.n_states} states, is needed"
        ) from None
    if len(given) != space.n_states:
        raise ParameterError(f"null_actions: got {len(given)}; each of the {space.n_states} states needs one")
    for state, action in enumerate(given):
        whole = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        if not whole or not 0 <= action < space.n_actions[state]:
            raise ParameterError(
                f"null_actions: {space.name_state(state)} has no action {action!r}; its actions are 0 to "
                f"{space.n_actions[state] - 1}"
            )
        pair = space.pair(state, int(action))
        if space.known_mask[pair] and dense_row(space.known_rows, pair).any():
            raise ParameterError(
                f"null_actions: {space.name_pair(pair)} is known to have the outcomes "
                f"{dense_row(space.known_rows, pair).tolist()}; a null action must yield and consume nothing"
            )
        if space.laws is not None and space.laws.noises:
            cases = slice(space.laws.first_case[pair], space.laws.first_case[pair + 1])
            if space.laws.arrays.rows[space.laws.case_row[cases]].any():
                raise ParameterError(
                    f"null_actions: {space.name_pair(pair)} yields or consumes something by its mechanics; a null "
                    "action must do neither"
                )
    return np.array(given, dtype=np.int64)


def _with_known_nulls(space: Space, null_actions: NDArray[np.int64]) -> Space:
    """The same space, in which the outcomes of null actions are known to be zero."""
    if space.laws is not None:
        return space  # its mechanics say so
    mask = space.known_mask.copy()
    mask[space.first_pair[:-1] + null_actions] = True
    return Space.from_arrays(space.first_pair, space.start, mask, space.known_rows, space.labels)
