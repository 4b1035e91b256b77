r"""Budgets that hold with certainty, whatever learns within them: when to stop, and what to do then.

Outcome 0 is the reward, outcomes 1 to K-1 are the consumption of as many resources. Each resource has a budget of bT
units for a horizon of T steps. An agent within it chooses the actions and learns, until some resource could run out:
with I_k = bT minus what was consumed, it stops as soon as some I_k < 1, because the next action may take a unit. (The
paper stops at I_k < 0, which may overdraw.) From then on only null actions are taken. Every state has one, which
consumes nothing.

The regret is  T opt(P_C(b)) - total reward,  with `solve_knapsack` for the optimum.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count
from equipoise._files import ensure, load_array
from equipoise._runtime.compiler import kernel
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate
from equipoise.agents.episodes import Episodes
from equipoise.agents.phase import check_kind
from equipoise.agents.state import clock_fits, clock_numbers, set_clock
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.errors import LogError, ParameterError, ProtocolError
from equipoise.models.log import Source
from equipoise.models.model import Model, Space
from equipoise.models.outcome_rows import dense_row
from equipoise.models.world import get_sampling, sample
from equipoise.rewards.penalties import Knapsack

if TYPE_CHECKING:
    from equipoise.agents.mixture import MixtureUCRL2


@kernel
def _idle(steps, first_pair, null_actions, clock, total, outcome, rng, world):
    """Take null actions."""
    now = clock[0]
    for _ in range(steps):
        state = now.state
        now.state = sample(rng, first_pair[state] + null_actions[state], world, outcome)
        now.time += 1
        for k in range(outcome.shape[0]):
            total[k] += outcome[k]


class BudgetedAgent(Agent):
    """The part that `KnapsackAgent` and `KnapsackTocUCRL2` share: inventory, stopping, null actions.

    A subclass sets `_inner`, the agent that acts and learns until the budgets are nearly gone.

    Parameters
    ----------
    space : Space
        The world's; outcome 0 is the reward, the others are consumptions.
    budget : float in (0, 1)
        b: each resource has b times `horizon` units.
    horizon : int
        T.
    null_actions : int or sequence of int
        The null action of every state, or one for all states.
    """

    _inner: TocUCRL2 | MixtureUCRL2
    _first_zero: ClassVar[int]  # outcomes of null actions from this one on are zero
    _null_rule: ClassVar[str]  # the same in words, for messages

    def __init__(self, space: Space, budget: float, horizon: int, null_actions: int | Sequence[int]) -> None:
        check_kind(space, Space, "space", "model.space")
        if space.n_outcomes < 2:
            raise ParameterError("space: it has one outcome; a reward and at least one consumption are needed")
        surrogate = Knapsack(space.n_outcomes, budget)
        super().__init__(space, surrogate)
        self.budget = surrogate.budget
        self._horizon = check_count(horizon, "horizon", 1, error=ParameterError)
        self.null_actions = self._checked_nulls(null_actions)
        self._checked: Model | None = None  # a model whose null actions are such

    # -- what a user may look at ---------------------------------------------------------------------

    @property
    def horizon(self) -> int:
        """T."""
        return self._horizon

    @property
    def delta(self) -> float:
        """The level of the confidence regions."""
        return self._inner.delta

    @property
    def confidence(self) -> Confidence:
        """The rule for the regions."""
        return self._inner.confidence

    @property
    def earned(self) -> float:
        """The total reward so far."""
        return float(self._total[0])

    @property
    def inventory(self) -> NDArray[np.float64]:
        """I_k: what is left of each resource."""
        return self._units - self._total[1:]

    @property
    def stopped(self) -> bool:
        """Whether some resource could run out at the next step, so that only null actions remain."""
        return bool(np.any(self._total[1:] + 1.0 > self._units))

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
    def visits(self) -> NDArray[np.int64]:
        """How often each pair was visited until it stopped; with known mechanics, how often each law was seen."""
        return self._inner.visits

    @property
    def proves(self) -> bool:
        """Whether its regions are proven to contain the true model."""
        return self._inner.proves

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum of g_C, and so on opt(P_C(b)), that its plans have proven so far."""
        return self._inner.best_possible

    def certificate(self, effort: int = 0) -> Certificate:
        """What the data prove about g_C, the reward less the penalty for what exceeds the budgets.

        No policy within the budgets earns more than `best_possible` per step, in the long run.

        Parameters
        ----------
        effort : int
            How many more plans to make for it.
        """
        proven = self._inner.certificate(effort)
        achieved = self.reward.value(self.average) if self.t > 1 else proven.achieved
        return dataclasses.replace(proven, achieved=achieved, t=self.t - 1)

    def absorb(self, log: Source, again: bool = False) -> int:
        """Learn from a log, in which null actions must have consumed nothing.

        Parameters
        ----------
        log : frame or path
            As for `TocUCRL2.absorb`.
        again : bool
            As for `TocUCRL2.absorb`.
        """

        def check(counts: Counts) -> None:
            if self.space.laws is not None:
                return  # a row that the mechanics do not allow is rejected before
            for pair in self._null_pairs.tolist():
                if _was_seen(counts, pair, self._first_zero):
                    raise LogError(f"log: {self.space.name_pair(pair)} is a null action, and {self._null_rule}")

        with self._lock.use(), self._inner.loop.exclusive():
            return self._inner._absorb_checked(log, again, check)

    def resume(self, state: int) -> None:
        """Set the state after a gap.

        Parameters
        ----------
        state : int
            The present state.
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
        """The inner agent's action, or the null action once it has stopped."""
        return int(self.null_actions[state]) if self.stopped else self._inner.act(state)

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """What the inner agent learns; a null action that consumes something is rejected."""
        if action == self.null_actions[state] and outcomes[self._first_zero :].any():
            pair = self.space.pair(state, action)
            raise ProtocolError(
                f"null_actions: {self.space.name_pair(pair)} gave {outcomes.tolist()}; {self._null_rule}"
            )
        if self._inner.pending:
            with self._inner.loop.exclusive():
                self._inner.loop.take_in(outcomes, next_state, self._case)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled."""
        self._check_model(model)
        inner = self._inner
        if not self.stopped:
            inner._run(model, rng, steps, self._units)
            self._total[:] = inner._total
            set_clock(self._clock, inner.t, inner.state)
            return
        outcome = np.zeros(self.space.n_outcomes)
        nulls = (self.space.first_pair, self.null_actions)
        _idle(steps, *nulls, self._clock, self._total, outcome, rng, get_sampling(model))

    # -- keeping --------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, object]:
        return super()._parts() | {"_checked": None}

    def memory(self) -> dict[str, Any]:
        """The memory of the inner agent, with its clock and its total."""
        inner = self._inner
        return {**inner.memory(), "inner": {"clock": clock_numbers(inner._clock), "total": inner._total}}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Continue from there. The clock of the inner agent equals its own until it stops; then it stands still."""
        inner, saved = self._inner, memory["inner"]
        clock = load_array(saved, "clock", clock_numbers(inner._clock))
        total = load_array(saved, "total", inner._total)
        possible = clock_fits(clock, self.space) and np.all((total >= 0.0) & (total <= clock[0] - 1))
        ensure(possible, "the array 'clock' or 'total' of its memory is impossible")
        set_clock(inner._clock, *clock.tolist())
        inner._total[:] = total
        inner.restore({name: part for name, part in memory.items() if name != "inner"})
        kept = np.array_equal(clock_numbers(inner._clock), clock) and np.array_equal(inner._total, total)
        ensure(kept and self._fits_inner(), "the array 'clock' is not that of its memory and its budget")

    def _fits_inner(self) -> bool:
        """Whether its clock and total are those of the inner agent, or some null actions later."""
        inner, own = self._inner, clock_numbers(self._clock)
        if not (self.t <= self.horizon + 1 and np.all(self.inventory >= 0.0)):
            return False
        if not self.stopped:
            return np.array_equal(own, clock_numbers(inner._clock)) and np.array_equal(self._total, inner._total)
        idle, earned = self.t - inner.t, self._total - inner._total
        return bool(
            idle >= 0
            and not inner.pending
            and own[2] in (-1, self._null_pairs[self.state])
            and not earned[self._first_zero :].any()
            and np.all((earned >= 0.0) & (earned <= idle))
        )

    # -- inside ---------------------------------------------------------------------------------------

    @property
    def _units(self) -> float:
        return self.budget * self.horizon

    @property
    def _null_pairs(self) -> NDArray[np.int64]:
        return np.asarray(self.space.first_pair[:-1] + self.null_actions)

    def _check_model(self, model: Model) -> None:
        """Reject a model in which null actions do what they must not."""
        if model is self._checked:
            return
        for pair in self._null_pairs.tolist():
            mean = dense_row(model.mean_rows, pair)
            if mean[self._first_zero :].any():
                raise ProtocolError(
                    f"null_actions: {self.space.name_pair(pair)} has the mean outcomes {mean.tolist()} in this model; "
                    f"{self._null_rule}"
                )
        self._checked = model

    def _checked_nulls(self, null_actions: int | Sequence[int]) -> NDArray[np.int64]:
        """The null actions as an array, if there are such actions and nothing that is known speaks against them."""
        space, first = self.space, self._first_zero
        given = _one_per_state(space, null_actions)
        for state, action in enumerate(given):
            whole = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
            if not whole or not 0 <= action < space.n_actions[state]:
                raise ParameterError(
                    f"null_actions: {space.name_state(state)} has no action {action!r}; its actions are 0 to "
                    f"{space.n_actions[state] - 1}"
                )
            pair = space.pair(state, int(action))
            known = dense_row(space.known_rows, pair)
            if space.known_mask[pair] and known[first:].any():
                raise ParameterError(
                    f"null_actions: {space.name_pair(pair)} is known to have the outcomes {known.tolist()}; "
                    f"{self._null_rule}"
                )
            if space.laws is not None and space.laws.noises:
                cases = slice(space.laws.first_case[pair], space.laws.first_case[pair + 1])
                if space.laws.arrays.rows[space.laws.case_row[cases], first:].any():
                    raise ParameterError(
                        f"null_actions: {space.name_pair(pair)} does otherwise by its mechanics; {self._null_rule}"
                    )
        return np.array(given, dtype=np.int64)


def _was_seen(counts: Counts, pair: int, first: int) -> bool:
    """Whether an outcome of a pair, from number `first` on, was ever other than zero."""
    sums = counts.nonzero
    if sums is None:
        return bool(counts.sums[pair, first:].any())
    block = slice(sums.block_first[pair], sums.block_first[pair] + sums.block_used[pair])
    return bool(sums.pool_sum[block][sums.pool_outcome[block] >= first].any())


def _one_per_state(space: Space, null_actions: int | Sequence[int]) -> list[Any]:
    one = isinstance(null_actions, (int, np.integer)) and not isinstance(null_actions, bool)
    try:
        given: list[Any] = [null_actions] * space.n_states if one else list(cast(Sequence[int], null_actions))
    except TypeError:
        raise ParameterError(
            f"null_actions: got {null_actions!r}; an action, or one for each of the {space.n_states} states, is needed"
        ) from None
    if len(given) != space.n_states:
        raise ParameterError(f"null_actions: got {len(given)}; each of the {space.n_states} states needs one")
    return given
