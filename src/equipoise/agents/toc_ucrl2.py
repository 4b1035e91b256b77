r"""Algorithm TOC-UCRL2 (section 3 of the paper): optimism, steered by theta, replanned at a threshold.

Episode m starts at time tau(m) and

1. computes the regions H^v_m, H^p_m from all observations before tau(m)          -> `confidence`,
2. the optimistic rewards  r(s,a) = max over v in H^v_m(s,a) of (-theta_tau(m)).v  -> `planning`,
3. a 1/sqrt(tau(m))-optimal optimistic policy with its certificate (gain, bias)    -> `planning`,
4. sets theta_ref = theta_tau(m), Psi = 0, nu = 0, and follows the policy

while  Psi <= Q  and  nu(s_t, pi(s_t)) < max(1, N_m(s_t, pi(s_t))); after each step the oracle makes
theta_{t+1} and Psi grows by ||theta_{t+1} - theta_ref||_*.

Q = infinity leaves the doubling of visits alone, which is UCRL2's schedule. At Q = 0 any change of theta
ends the episode. Planning happens when the next action is asked for, never after the last step.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import once
from equipoise._numbers import MOST, real
from equipoise.agents._kernels import (
    BUDGET_GONE,
    DONE,
    ENOUGH,
    NOT_CONVERGED,
    NOT_FINITE,
    POOL_FULL,
    RECORDS_FULL,
    Rules,
    observe_once,
    ready,
    run,
)
from equipoise.agents.base import Agent, check_kind
from equipoise.agents.episodes import TRIGGERS, Episodes, no_episodes
from equipoise.agents.memory import (
    DRIFT,
    EPISODES,
    LEARNING,
    ORIGIN,
    PHASE,
    PLANNED,
    TIME,
    Memory,
    new_buffers,
    new_memory,
)
from equipoise.agents.restoring import array_in, clock_fits, require
from equipoise.agents.schedules import (
    Power,
    Schedule,
    checked_threshold,
    checked_tolerance,
    threshold_rule,
    tolerance_rule,
)
from equipoise.confidence.base import Confidence
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.counts import LARGEST, SEEN, USED, Counts, forget, no_counts, with_room
from equipoise.confidence.fill import numbers_of
from equipoise.confidence.region import empty_region
from equipoise.errors import ParameterError, ProtocolError, RewardError
from equipoise.models.bandit import bandit
from equipoise.models.model import Model, Space
from equipoise.models.world import sampling_arrays, stream
from equipoise.oracles.base import Oracle, Phase
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.evi import not_converged, workspace
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import dual
from equipoise.rewards.quadratic import Quadratic

_SCRATCH: Final = ("_buffers", "_work", "_region", "_phase", "_rules", "_lock", "_clock", "_total")


@final
class TocUCRL2(Agent):
    """An agent that learns an unknown Markov system while balancing its outcomes.

    Parameters
    ----------
    space : Space
        What the agent may know of the world: states, actions, number of outcomes, start.
    reward : Reward
        The concave g, to be maximised at the average outcome vector.
    oracle : Oracle, optional
        None: `FrankWolfe` if g is smooth, else the tuned descent that fits its norm.
    threshold : float or Schedule, optional
        Q. None: the Lipschitz constant of g; `math.inf`: UCRL2's schedule; 0: replan whenever theta moves. `Power` and
        `Span` change it from episode to episode.
    delta : float
        The level of the confidence regions.
    confidence : Confidence, optional
        None: `Bernstein()`, the paper's; `Known(model)`: nothing to learn.
    tolerance : float or Power, optional
        At which the planner stops. None: 1/sqrt(tau(m)), the paper's, which is `Power(-0.5)`.
    planner : Planner, optional
        Further options of the planner; None: the paper's.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Quadratic
    >>> model = star(branches=3, diameter=4)
    >>> agent = TocUCRL2(model.space, Quadratic([1 / 3, 1 / 3, 1 / 3]))
    >>> world = model.world(seed=7)
    >>> for _ in range(100):
    ...     action = agent.act(world.state)
    ...     agent.observe(*world.step(action))
    >>> agent.t
    101
    """

    def __init__(
        self,
        space: Space,
        reward: Reward,
        oracle: Oracle | None = None,
        threshold: float | Schedule | None = None,
        delta: float = 0.05,
        confidence: Confidence | None = None,
        tolerance: float | Power | None = None,
        *,
        planner: Planner | None = None,
    ) -> None:
        super().__init__(space, reward)
        self.oracle = fitting_oracle(reward) if oracle is None else oracle
        check_kind(self.oracle, Oracle, "oracle", "eq.oracles.FrankWolfe()")
        self.oracle.check(reward)
        self.confidence = Bernstein() if confidence is None else confidence
        check_kind(self.confidence, Confidence, "confidence", "eq.confidence.Bernstein()")
        self.confidence.check(space)
        self.threshold = checked_threshold(threshold, reward)
        self.delta = real(delta, "delta", error=ParameterError)
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
        self.tolerance = checked_tolerance(tolerance)
        self.planner = Planner() if planner is None else planner
        check_kind(self.planner, Planner, "planner", "eq.planning.Planner(warm_start=True)")

        self._counts = no_counts(space.n_pairs, space.n_outcomes)
        learning, random = self.confidence.learning, self.confidence.first_stream()
        self._memory = new_memory(space.n_states, space.n_outcomes, space.start, learning, random)
        self._memory.theta[:] = self.oracle.first_theta(reward)
        self._records = no_episodes()
        self._set_up_scratch()

    # -- what a user may look at ---------------------------------------------------------------------

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it is good for any."""
        return self.oracle.horizon

    @property
    def caveat(self) -> str:
        """That of its confidence."""
        return self.confidence.caveat

    @property
    def theta(self) -> NDArray[np.float64]:
        """theta_t: minus a supergradient of g."""
        return self._memory.theta.copy()

    @property
    def policy(self) -> NDArray[np.int64]:
        """The action of each state in the present episode."""
        self._require_plan("policy")
        return self._memory.policy.copy()

    @property
    def gain(self) -> float:
        """The planner's optimistic average reward in the present episode."""
        self._require_plan("gain")
        return float(self._records.gain[self._memory.clock[EPISODES] - 1])

    @property
    def bias(self) -> NDArray[np.float64]:
        """The planner's bias of each state in the present episode; its least entry is zero."""
        self._require_plan("bias")
        return self._memory.bias.copy()

    @property
    def drift(self) -> float:
        """Psi: how far theta has moved in the present episode, summed over its steps."""
        return float(self._memory.gauge[DRIFT])

    @property
    def episode_starts(self) -> NDArray[np.int64]:
        """tau(1), tau(2), ..."""
        return self.episode_record.start

    @property
    def episode_record(self) -> Episodes:
        """The record of all episodes so far, column by column."""
        return self._records.first(int(self._memory.clock[EPISODES]))

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each pair was visited (since the last restart, under `Doubling` with fresh counts)."""
        return self._counts.visits + self._counts.fresh

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and "_rules" in self.__dict__:
            raise AttributeError(f"{name}: what an agent is made of cannot be changed; make another agent")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, object]:
        # compiled code has another address in another process
        return {name: part for name, part in self.__dict__.items() if name not in _SCRATCH}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._set_up_scratch()

    # -- acting ---------------------------------------------------------------------------------------

    def choose(self, state: int) -> int:
        """The policy's action, planning anew if the episode is over."""
        self._be_ready()
        return int(self._memory.policy[state])

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:  # noqa: ARG002
        """Lines 13 to 16: count, average, theta_{t+1}, the drift; moves the clock too."""
        self._buffers.outcome[:] = outcomes
        while observe_once(self._counts, self._memory, self._buffers, self._rules, next_state) != DONE:
            self._make_room(POOL_FULL)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled, the planning included."""
        self._run(model, rng, steps)

    def _account(self, outcomes: NDArray[np.float64], after: int) -> None:
        """Done in `learn`."""

    # -- keeping --------------------------------------------------------------------------------------

    def memory(self) -> dict[str, dict[str, NDArray[Any]]]:
        """All arrays: counts, memory, and the record of episodes."""
        return {
            "counts": self._counts._asdict(),
            "memory": self._memory._asdict(),
            "episodes": self.episode_record._asdict(),
        }

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these arrays."""
        self._counts = _filled(self._counts, memory["counts"], lambda name: name.startswith("pool_"))
        self._memory = _filled(self._memory, memory["memory"], lambda name: False)  # noqa: ARG005
        self._records = _filled(self._records, memory["episodes"], lambda name: True)  # noqa: ARG005
        self._clock = self._memory.clock
        require(_fits_together(self), "its arrays do not fit together")
        self._set_up_scratch()

    # -- episodes -------------------------------------------------------------------------------------

    def _be_ready(self) -> None:
        """Lines 4 to 10: make sure that the policy is one to follow at the present time."""
        self._begin_phase_if_due()
        while reason := ready(
            self._counts, self._memory, self._records, self._buffers, self._region, self._work, self._rules
        ):
            self._make_room(reason)

    def _run(self, model: Model, rng: np.random.Generator, steps: int, budget: float = math.inf) -> None:
        """Take up to `steps` steps in `model`, planning on the way; it may stop before that to be called again."""
        self._be_ready()
        left = self._steps_left_in_phase()
        reason = run(
            self._counts, self._memory, self._records, self._buffers, self._region, self._work, self._rules,
            steps if left is None else min(steps, left), budget, rng, *sampling_arrays(model),
        )  # fmt: skip
        if reason not in (DONE, ENOUGH, BUDGET_GONE):
            self._make_room(reason)

    def _steps_left_in_phase(self) -> int | None:
        """Until the oracle starts anew; None if it never does."""
        if self._phase.length is None:
            return None
        clock = self._memory.clock
        return int(clock[ORIGIN] + self._phase.length - (clock[TIME] - 1))

    def _begin_phase_if_due(self) -> None:
        """Start the oracle, and under `Doubling` with fresh counts everything, anew."""
        clock = self._memory.clock
        if clock[PHASE] > 0 and self._steps_left_in_phase() != 0:
            return
        phase = self.oracle.phase(int(clock[PHASE]) + 1)
        clock[PLANNED] = 0
        self._memory.theta[:] = phase.oracle.first_theta(self.reward)
        self._memory.slope[:] = 0.0
        if not phase.inherit:
            forget(self._counts)
        clock[ORIGIN] = clock[TIME] - 1
        clock[PHASE] += 1
        self._set_up_phase()

    # -- scratch --------------------------------------------------------------------------------------

    def _set_up_scratch(self) -> None:
        """Everything that is not memory: made anew after loading."""
        once("agent", _small_run)
        self._lock = threading.Lock()
        self._clock, self._total = self._memory.clock, self._memory.total  # the base reads the kernels' own
        space = self.space
        self._buffers = new_buffers(space.n_states, space.n_pairs, space.n_outcomes, self._memory.stream.size)
        self._work = workspace(space.n_states)
        room = max(self.confidence.listed, int(self._counts.end[SEEN]))
        self._region = empty_region(space.n_pairs, space.n_outcomes, room)
        self._set_up_phase()

    def _set_up_phase(self) -> None:
        self._phase: Phase = self.oracle.phase(max(1, int(self._memory.clock[PHASE])))
        step = self._phase.oracle.kernel(self.reward)
        moving = self.reward.kernels.lipschitz
        threshold, threshold_power, threshold_floor = threshold_rule(self.threshold, self.reward.lipschitz)
        tolerance, tolerance_power, _ = tolerance_rule(self.tolerance)
        floats, ints = numbers_of(self.confidence)
        self._rules = Rules(
            first_pair=self.space.first_pair,
            known_mask=self.space.known_mask,
            known_outcomes=self.space.known_outcomes,
            confidence=self.confidence.kernel.address,
            floats=floats,
            ints=ints,
            oracle=step.code,
            entry=step.entry.address,
            oracle_params=step.params,
            reward_params=self.reward.params,
            dual_norm=dual(self.reward.norm),
            threshold=threshold,
            threshold_power=threshold_power,
            threshold_floor=threshold_floor,
            moving_threshold=moving.address if self.threshold is None and moving is not None else 0,
            delta=self.delta * self._phase.share,
            tau_origin=0 if self._phase.inherit else int(self._memory.clock[ORIGIN]),
            tolerance=tolerance,
            tolerance_power=tolerance_power,
            relaxation=self.planner.relaxation or self.confidence.relaxation,
            sweep_limit=self.planner.limit,
            warm_start=self.planner.warm_start,
        )

    def _make_room(self, reason: int) -> None:
        """Enlarge what a kernel found too small; or say that its planner did not converge."""
        if reason == NOT_CONVERGED:
            raise not_converged(self._work, self._rules.sweep_limit, self._rules.relaxation)
        if reason == NOT_FINITE:
            failure = self.reward.failure()
            raise RewardError(
                f"reward: at time {self.t}, with average outcomes {self.average.tolist()}, theta is "
                f"{self.theta.tolist()}; the gradient or the conjugate of {self.reward!r} is not finite"
                f"{'' if failure is None else f' ({failure})'}"
            ) from failure
        if reason == POOL_FULL:
            self._counts = with_room(self._counts)
        elif reason == RECORDS_FULL:
            self._records = self._records.with_room()
        else:
            size = 2 * int(self._counts.end[SEEN])
            self._region = self._region._replace(
                successor=np.zeros(size, dtype=np.int64), lo=np.zeros(size), hi=np.zeros(size)
            )

    def _require_plan(self, what: str) -> None:
        if self._memory.clock[EPISODES] == 0:
            raise ProtocolError(f"{what}: nothing has been planned yet; it is there after the first act or simulate")


def _small_run() -> None:
    """Run every kernel once, so that all of them are compiled and cached."""
    model = bandit(2)
    agent = TocUCRL2(model.space, Quadratic([0.5, 0.5]))
    agent.observe([1.0, 0.0], 0 * agent.act(0))
    while agent.t < 16:
        agent.advance(model, stream(model, 0, agent.t), 8)


_T = TypeVar("_T", Counts, Memory, Episodes)


def _filled(fresh: _T, saved: Mapping[str, Any], grows: Callable[[str], bool]) -> _T:
    """The saved arrays of one tuple."""
    return fresh._replace(
        **{name: array_in(saved, name, part, grows=grows(name)) for name, part in fresh._asdict().items()}
    )


def _fits_together(agent: TocUCRL2) -> bool:
    """Kernels check nothing: every index that they will follow must be in range."""
    space, counts, memory = agent.space, agent._counts, agent._memory
    end, steps = counts.end, agent.t - 1
    phase, origin = int(memory.clock[PHASE]), int(memory.clock[ORIGIN])
    restarts = agent.oracle.phase(1).length is not None
    if not (clock_fits(memory.clock, space) and 0 <= phase <= (60 if restarts else 1)):
        return False
    present = agent.oracle.phase(max(1, phase))
    since = steps - (0 if present.inherit else origin)
    return bool(
        origin == (2 ** max(1, phase) - 2 if restarts else 0)
        and (present.length or since) >= steps - origin
        and steps <= (agent.horizon or MOST)
        and np.all((counts.visits >= 0) & (counts.fresh >= 0))
        and sum(counts.visits.tolist()) + sum(counts.fresh.tolist()) == since
        and np.all((counts.sums >= 0) & (counts.sums <= agent.visits[:, None]))
        and np.all((counts.squares >= 0) & (counts.squares <= agent.visits[:, None]))
        and np.all((counts.latest >= 0) & (counts.latest <= agent.visits))
        and np.all((memory.total >= 0) & (memory.total <= steps))
        and memory.clock[LEARNING] == agent.confidence.learning
        and np.all((memory.policy >= 0) & (memory.policy < space.n_actions))
        and 0 <= end[LARGEST] <= end[USED] <= counts.pool_state.size == counts.pool_count.size
        and np.all((counts.block_first >= 0) & (counts.block_used >= 0) & (counts.block_used <= counts.block_room))
        and np.all(counts.block_room <= end[LARGEST])
        and np.all(counts.block_first <= end[USED] - counts.block_room)
        and counts.block_used.sum() == end[SEEN]
        and np.all((counts.pool_state >= 0) & (counts.pool_state < space.n_states))
        and {column.size for column in agent._records} == {int(memory.clock[EPISODES])}
        and set(agent._records.ended.tolist()) <= set(TRIGGERS)
    )
