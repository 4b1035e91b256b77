r"""Algorithm TOC-UCRL2 (section 3 of the paper): optimistic planning with prices theta, and a threshold for replanning.

Episode m starts at time tau(m) and

1. computes the regions H^v_m, H^p_m from all observations before tau(m)          -> `confidence`,
2. the optimistic rewards  r(s,a) = max over v in H^v_m(s,a) of (-theta_tau(m)).v  -> `planning`,
3. a 1/sqrt(tau(m))-optimal optimistic policy with its certificate (gain, bias)    -> `planning`,
4. sets theta_ref = theta_tau(m), Psi = 0, nu = 0, and follows the policy

while  Psi <= Q  and  nu(s_t, pi(s_t)) < max(1, N_m(s_t, pi(s_t))); after each step the oracle makes
theta_{t+1} and Psi grows by ||theta_{t+1} - theta_ref||_*.

At Q = infinity only the doubling of visits ends an episode, which is UCRL2's schedule. At Q = 0 any change of theta
does. A plan is made when the next action is requested, never after the last step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._runtime.compiler import compile_once
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate, agent_certificate
from equipoise.agents.checkpoint import AgentState, pack_state, unpack_state
from equipoise.agents.dual_bound import NOT_AT_ALL, Proof, empty_proof, largest_value
from equipoise.agents.episodes import Episodes, empty_episodes
from equipoise.agents.growth import grow_region, handle_return_code
from equipoise.agents.kernels import observe_once, ready, run
from equipoise.agents.loop import CompiledLoop
from equipoise.agents.phase import (
    begin_phase,
    check_confidence,
    check_delta,
    check_kind,
    check_oracle,
    get_oracle_kernel,
    get_phase,
    initial_theta,
    is_phase_due,
    memory_size,
    oracle_constants,
    phase_constants,
    reraise_as,
    set_up_phase,
    steps_left,
)
from equipoise.agents.schedules import Power, Schedule, check_growth, check_threshold, check_tolerance, with_growth
from equipoise.agents.state import (
    BUDGET_GONE,
    DONE,
    PAUSED,
    AgentArrays,
    Memory,
    PhaseConstants,
    StepArrays,
    new_buffers,
    new_memory,
)
from equipoise.confidence.base import Confidence, build_region
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.counts import Counts, count_layout, empty_counts, forget
from equipoise.confidence.intervals import absorb_log, law_table
from equipoise.confidence.region import Region, empty_region
from equipoise.errors import ContractError, ParameterError, ProtocolError
from equipoise.models.communication import departures
from equipoise.models.laws.laws import LawArrays
from equipoise.models.laws.validate import find_branch_cases
from equipoise.models.log import Source
from equipoise.models.model import Model, Space
from equipoise.models.paper_instances import bandit
from equipoise.models.world import get_sampling, stream
from equipoise.oracles.base import Oracle, Phase
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.evi import workspace
from equipoise.planning.options import Planner, PlanningOracle
from equipoise.rewards.base import Reward
from equipoise.rewards.separable import Linear, Quadratic

if TYPE_CHECKING:
    import polars

_REBUILT: Final = ("_arrays", "_constants", "_phase", "_lock", "_clock", "_total", "_cases_in")


@final
class TocUCRL2(Agent):
    """An agent that learns an unknown Markov system while balancing its outcomes.

    Parameters
    ----------
    space : Space
        What the agent knows of the world: states, actions, number of outcomes, start.
    reward : Reward
        The concave g, to be maximised at the average outcome vector.
    oracle : Oracle, optional
        None: `FrankWolfe` if g is smooth, else the tuned descent that fits its norm.
    threshold : float or Schedule, optional
        Q. None: the Lipschitz constant of g; `math.inf`: UCRL2's schedule; 0: replan whenever theta moves. `Power` and
        `Span` change it from episode to episode.
    delta : float
        Failure probability: the confidence regions hold with probability 1 - delta.
    confidence : Confidence, optional
        None: `Bernstein()`, the paper's; `Known(model)`: nothing to learn.
    tolerance : float or Power, optional
        Tolerance of the planner. None: 1/sqrt(tau(m)), the paper's, which is `Power(-0.5)`.
    planner : PlanningOracle, optional
        `Planner`, the options of the built-in one; or a planner of your own. None: the paper's.
    visits : float
        An episode ends when the visits of a pair have grown by this factor since the last plan, in (0, 1]: 1 for the
        paper's doubling; 0.25 plans up to three times as often, and learns faster. The attribute is `visit_growth`.

    See Also
    --------
    equipoise.recommended : The agent to start with.
    equipoise.KnapsackAgent : Under budgets.
    equipoise.agents.Steering : Only the gradient threshold, for another learner.

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

    _arrays: AgentArrays
    _constants: PhaseConstants
    _phase: Phase

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
        planner: PlanningOracle | None = None,
        visits: float = 1.0,
    ) -> None:
        super().__init__(space, reward)
        self.oracle = fitting_oracle(reward) if oracle is None else oracle
        check_oracle(self.oracle, reward)
        self.confidence = Bernstein() if confidence is None else confidence
        check_confidence(self.confidence, space)
        self.threshold = check_threshold(threshold, reward)
        self.delta = check_delta(delta)
        self.tolerance = check_tolerance(tolerance)
        self.planner = Planner() if planner is None else planner
        check_kind(self.planner, PlanningOracle, "planner", "eq.planning.Planner(warm_start=True)")
        if space.laws is not None and not isinstance(self.planner, Planner):
            raise ParameterError(
                f"planner: {self.planner!r} plans over a table, and this space has known mechanics; use "
                "eq.planning.Planner(), or the space of a model without them"
            )

        self.visit_growth = check_growth(visits)
        counts = empty_counts(space, self.confidence)
        remembers = memory_size(get_oracle_kernel(self.oracle, reward), reward)
        learning = bool(self.confidence.learning)
        with reraise_as(self.confidence, "first_stream", ContractError):
            random = np.asarray(self.confidence.first_stream(), dtype=np.uint64)
        memory = new_memory(space.n_states, space.n_outcomes, remembers, space.start, learning, random)
        memory.theta[:] = initial_theta(self.oracle, reward)
        self._absorbed = 0
        self._logs = np.zeros(0, dtype=np.uint64)
        self._ceiling: float | None = None
        self._adopt(counts, memory, empty_episodes(), empty_proof(space.n_outcomes))

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments; `visits` is `visit_growth`, and is left out at 1."""
        return with_growth(super().arguments(), self.visit_growth)

    # -- what a user may look at ---------------------------------------------------------------------

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it has no limit."""
        return self.oracle.horizon

    @property
    def caveat(self) -> str:
        """Why the agent has no guarantee (confidence, oracle, planner, unobserved laws); empty if it has one."""
        known = (self.oracle.theory.regret_term, self.oracle.phase(1).oracle.theory.gradient_episodes)
        unknown = None in known  # a bound on the regret needs both
        unseen = self.space.laws is not None and not self.space.laws.revealing
        elsewhere = not isinstance(self.planner, Planner)
        return (
            self.confidence.caveat
            or ("no bound is known for its oracle" if unknown else "")
            or ("no bound: a law is not seen where it matters" if unseen else "")
            or ("no bound is known for its planner" if elsewhere else "")
        )

    @property
    def theta(self) -> NDArray[np.float64]:
        """theta_t: minus a supergradient of g."""
        return self._arrays.memory.theta.copy()

    @property
    def policy(self) -> NDArray[np.int64]:
        """The action of each state in the present episode."""
        self._require_plan("policy")
        return self._arrays.memory.policy.copy()

    @property
    def gain(self) -> float:
        """The planner's optimistic average reward in the present episode."""
        self._require_plan("gain")
        return float(self._arrays.records.gain[self._now["episodes"] - 1])

    @property
    def bias(self) -> NDArray[np.float64]:
        """The planner's bias of each state in the present episode; its least entry is zero."""
        self._require_plan("bias")
        return self._arrays.memory.bias.copy()

    @property
    def drift(self) -> float:
        """Psi: how far theta has moved in the present episode, summed over its steps."""
        return float(self._arrays.memory.drift_state["drift"][0])

    @property
    def episode_starts(self) -> NDArray[np.int64]:
        """tau(1), tau(2), ..."""
        return self.episode_record.start

    @property
    def episode_record(self) -> Episodes:
        """The record of all episodes so far, column by column."""
        return self._arrays.records.first(int(self._now["episodes"]))

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each pair was visited (since the last restart, under `Doubling` with fresh counts).

        With known mechanics, how often each law was observed, in the order of ``space.laws.names``.
        """
        return self._arrays.counts.visits + self._arrays.counts.fresh

    @property
    def absorbed(self) -> int:
        """How many rows of logs it has learnt from; see `absorb`."""
        return self._absorbed

    def alternations(self, model: Model) -> int:
        """N_alt: how often the agent left a state in which it could have stayed; see `models.departures`.

        Rows of absorbed logs count as well, and under `Doubling` with fresh counts only steps since the last restart.

        Parameters
        ----------
        model : Model
            The world, which the agent itself does not know.

        Raises
        ------
        ParameterError
            If the agent's space is not that of the model.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.star(branches=3, diameter=4)
        >>> agent = eq.TocUCRL2(model.space, eq.rewards.Balance([1 / 3] * 3))
        >>> run = eq.simulate(model, agent, 5000, trace=True)
        >>> agent.alternations(model) == run.alternations() > 0
        True
        """
        if self.space != model.space:
            raise ParameterError("model: its space is not the agent's; give the world that the agent was in")
        if self.space.laws is not None:
            raise ParameterError(
                "alternations: with known mechanics laws are counted, not pairs; run.alternations() has it"
            )
        return int(self.visits[departures(model)].sum())

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and "_constants" in self.__dict__:
            raise AttributeError(f"{name}: what an agent is made of cannot be changed; make another agent")
        super().__setattr__(name, value)

    def _parts(self) -> dict[str, object]:
        # without the rules, as compiled code has another address in another process, and without scratch
        parts = {name: part for name, part in self.__dict__.items() if name not in _REBUILT}
        return parts | {"_kept": (self._arrays.counts, self._arrays.memory, self._arrays.records, self._arrays.proof)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        kept = state.pop("_kept")
        super().__setstate__(state)
        self._adopt(*kept)

    # -- proving --------------------------------------------------------------------------------------

    @property
    def proves(self) -> bool:
        """Whether its regions are proven to contain the true model."""
        return self._constants.proving != NOT_AT_ALL

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum that its plans have proven so far; infinity if they prove nothing.

        It is never above the largest value of g, which is a bound without any data.
        """
        if not self.proves:
            return math.inf
        if self._ceiling is None:  # on first use: it may have to be compiled, or found by iteration
            self._ceiling = largest_value(self.reward)
        return min(float(self._arrays.proof.bound[0]), self._ceiling)

    def certificate(self, effort: int = 0) -> Certificate:
        """An upper bound on the optimum, and so on the regret, from the agent's data alone.

        It plans once with the present regions and theta, and takes the least of that bound and of those of all earlier
        plans. All certificates of an agent hold simultaneously, with the probability that its regions do: 1 - delta.
        Under `Doubling` the mega-episodes share delta. For a reward that changes with time, the bound is on the optimum
        of its limit, as in `solve` and in the values of a run.

        Parameters
        ----------
        effort : int
            How many more plans to make. Each moves theta to where the bound is lower.

        Returns
        -------
        Certificate
            With `best_possible`, `achieved`, `regret_at_most`, `probability`, and the sources of the slack.

        Raises
        ------
        ProtocolError
            If the regions of the agent's confidence are not proven to contain the true model.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.riverswim(3)
        >>> agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
        >>> run = eq.simulate(model, agent, 10_000)
        >>> certificate = agent.certificate()
        >>> bool(run.regret(eq.solve(model, agent.reward))[-1] < certificate.regret_at_most < 0.1)
        True
        >>> certificate.slack.columns
        ['state', 'action', 'source', 'visits', 'adds']
        """
        with self._lock.use():
            certificate = agent_certificate(self, effort)
            self._remember_constraints(certificate)
            return certificate

    def laws(self) -> polars.DataFrame:
        """Estimates of each law of its mechanics, and their confidence intervals.

        Returns
        -------
        polars.DataFrame
            One row per value of each law: law, value, visits of the law, seen, estimate, low, high.

        Raises
        ------
        ProtocolError
            If the agent's space has no mechanics.

        Examples
        --------
        >>> import equipoise as eq
        >>> coin = eq.Mechanics(lambda s, a, toss: (s, [toss]), 0, ["toss"], ["heads"], {"toss": [0, 1]})
        >>> agent = eq.recommended(coin.space, eq.rewards.Linear([1.0]))
        >>> run = eq.simulate(coin.model(toss=[0.25, 0.75]), agent, 1000, seed=1)
        >>> table = agent.laws()
        >>> table["value"].to_list(), table["seen"].sum(), table["low"][1] < 0.75 < table["high"][1]
        (['0', '1'], 1000, True)
        """
        if self.space.laws is None:
            raise ProtocolError("laws: the agent was told no mechanics; make it with the space of an eq.Mechanics")
        with self._lock.use():
            return law_table(self.space.laws, self._arrays.counts, self._present_region())

    # -- what happened elsewhere ----------------------------------------------------------------------

    def absorb(self, log: Source, again: bool = False) -> int:
        """Learn from a log: transitions that were observed under any policy; returns the number of rows.

        The rows count as visits, in whatever order they are. The average, theta, its threshold and the time of the
        agent stay its own. Regions contain the true model as before, because each rests on the visits of its own pair;
        those that grow with time, and the planner's tolerance, count the rows as time. The next step is planned again.

        Parameters
        ----------
        log : frame or path
            A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for
            each outcome, and next_state; labels or numbers. A file is read piece by piece.
        again : bool
            Use it even if a log of the same rows, in any order, was absorbed before. Rows that are counted twice make
            regions too small; but different logs of a short or nearly deterministic process may be equal.

        Raises
        ------
        LogError
            If rows cannot have happened, or a log of the same rows was absorbed before; then none is used.
        ProtocolError
            If the agent forgets its counts at restarts, as with `Doubling` unless it inherits.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.riverswim(3)
        >>> old = eq.agents.baselines.StationaryAgent(model.space, eq.rewards.Linear([1.0]))
        >>> log = eq.simulate(model, old, 20_000, trace=True).trace
        >>> agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
        >>> before = agent.certificate().best_possible
        >>> agent.absorb(log), agent.t, agent.certificate().best_possible < before
        (20000, 1, True)
        """
        with self._lock.use():
            return self._absorb_checked(log, again, lambda _: None)

    def _absorb_checked(self, log: Source, again: bool, check: Callable[[Counts], None]) -> int:
        """As `absorb`, for agents made of this one; `check` may raise before the counts are taken."""
        if not get_phase(self.oracle, 1).inherit:
            raise ProtocolError(
                f"absorb: {self.oracle!r} forgets everything at each of its restarts, and the log with it; "
                "eq.oracles.Doubling(..., inherit=True) does not"
            )
        counts, rows, logs = absorb_log(self._arrays.counts, log, self.space, self._logs, again)
        check(counts)
        self._arrays = grow_region(self._arrays._replace(counts=counts))
        self._absorbed += rows
        self._logs = logs
        self._now["planned"] = 0
        self._set_up_phase()
        return rows

    # -- acting ---------------------------------------------------------------------------------------

    def choose(self, state: int) -> int:
        """The policy's action, after a new plan if the episode is over."""
        self._be_ready()
        return int(self._arrays.memory.policy[state])

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:  # noqa: ARG002
        """Lines 13 to 16: count, average, theta_{t+1}, the drift; moves the clock too."""
        self._arrays.buffers.outcome[:] = outcomes
        while reason := observe_once(self._step_arrays(), self._constants, next_state, self._case):
            self._handle_return_code(reason)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled, the planning included."""
        self._run(model, rng, steps)

    def _account(self, outcomes: NDArray[np.float64], after: int) -> None:
        """Done in `learn`."""

    # -- keeping --------------------------------------------------------------------------------------

    def memory(self) -> dict[str, dict[str, NDArray[Any]]]:
        """All arrays: counts, memory, and the record of episodes; records as plain vectors."""
        arrays = self._arrays
        state = AgentState(arrays.counts, arrays.memory, self.episode_record, arrays.proof, self._absorbed, self._logs)
        return pack_state(state)

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Continue from these arrays."""
        state = unpack_state(self, memory)
        self._absorbed, self._logs = state.absorbed, state.logs
        self._adopt(state.counts, state.memory, state.records, state.proof)

    # -- episodes -------------------------------------------------------------------------------------

    def _be_ready(self, wait: bool = True) -> bool:
        """Lines 4 to 10: plan if the policy cannot be followed at the present time."""
        self._begin_phase_if_due()
        while reason := ready(self._arrays, self._constants):
            self._handle_return_code(reason)
            if reason == PAUSED and not wait:
                return False
        return True

    def _run(self, model: Model, rng: np.random.Generator, steps: int, budget: float = math.inf) -> None:
        """Take up to `steps` steps in `model`, with plans in between; it may return earlier, to be called again."""
        if not self._be_ready(wait=False):
            return
        left = self._steps_left_in_phase()
        count = steps if left is None else min(steps, left)
        cases = self._cases(model)
        self._handle_return_code(run(self._arrays, self._constants, count, budget, rng, get_sampling(model), cases))

    @property
    def loop(self) -> CompiledLoop:
        """For loops of your own: the lock, steps without checks, and what its kernels work on."""
        return CompiledLoop(self)

    # -- inside ---------------------------------------------------------------------------------------

    def _steps_left_in_phase(self) -> int | None:
        return steps_left(self._phase, self._now)

    def _begin_phase_if_due(self) -> None:
        """Restart the oracle, and under `Doubling` with fresh counts everything else, if its phase is over."""
        if not is_phase_due(self._phase, self._now):
            return
        phase = begin_phase(self.oracle, self.reward, self._arrays.memory)
        self._now["planned"] = 0
        if not phase.inherit:
            forget(self._arrays.counts, empty_counts(self.space, self.confidence))
        self._set_up_phase()

    def _handle_return_code(self, code: int) -> None:
        if code not in (DONE, BUDGET_GONE):
            self._arrays = handle_return_code(self, code)

    def _adopt(self, counts: Counts, memory: Memory, records: Episodes, proof: Proof) -> None:
        """Continue from these arrays, with new scratch; they must be those of an agent made of the same parts."""
        compile_once("agent", _small_run)
        self._cases_in: tuple[Model, NDArray[np.int64] | None] | None = None
        self._clock, self._total = memory.clock, memory.total  # `Agent` reads the arrays that the kernels write
        space, laws = self.space, self._law_arrays
        units = count_layout(space, counts.nonzero is not None)
        capacity = max(self.confidence.listed, counts.seen)
        n_rewards = space.n_pairs if laws is None else laws.rows.shape[0]
        self._arrays = AgentArrays(
            counts=counts,
            memory=memory,
            records=records,
            region=empty_region(units.n_units, units.n_outcomes, capacity, counts.nonzero),
            buffers=new_buffers(space.n_states, n_rewards, space.n_outcomes, 0, memory.stream.size),
            work=workspace(space.n_states, space.n_pairs, laws),
            proof=proof,
        )
        self._set_up_phase()

    def _step_arrays(self) -> StepArrays:
        return StepArrays(self._arrays.counts, self._arrays.memory, self._arrays.buffers)

    @property
    def _law_arrays(self) -> LawArrays | None:
        return None if self.space.laws is None else self.space.laws.arrays

    def _cases(self, model: Model) -> NDArray[np.int64] | None:
        """The case of each branch of a world; computed once for each world."""
        if self._cases_in is None or self._cases_in[0] is not model:
            self._cases_in = (model, find_branch_cases(model, self.space))
        return self._cases_in[1]

    @property
    def _now(self) -> Any:
        """The one record of `memory.clock`; its fields are read and written by name."""
        return self._arrays.memory.clock[0]

    def _set_up_phase(self) -> None:
        """The constants of the present phase, and scratch for its oracle."""
        arrays, reward = self._arrays, self.reward
        self._phase, step, scratch = set_up_phase(self.oracle, reward, arrays.memory, arrays.buffers.oracle)
        self._arrays = arrays._replace(buffers=arrays.buffers._replace(oracle=scratch))
        self._arrays.buffers.filled[0] = 0
        self._arrays.work.progress["time"] = 0
        forgotten = 0 if self._phase.inherit else int(self._now["origin"])
        oracle = oracle_constants(reward, self._phase, step, self.threshold, forgotten - self._absorbed)
        sparse, delta = arrays.counts.nonzero is not None, self.delta * self._phase.share
        self._constants = phase_constants(self, oracle, delta, self._absorbed, sparse)

    def _present_region(self) -> Region:
        """The confidence region from all observations so far; that of the last plan is in the arrays."""
        constants = self._constants
        tau, logged = self.t - constants.tau_offset, constants.rows > 0
        return build_region(self.confidence, self.space, self._arrays.counts, tau, constants.delta, logged)

    def _require_plan(self, what: str) -> None:
        if self._now["episodes"] == 0:
            raise ProtocolError(f"{what}: nothing has been planned yet; it is there after the first act or simulate")


def ucrl2(space: Space, weights: ArrayLike, delta: float = 0.05) -> TocUCRL2:
    """UCRL2 (Jaksch et al., 2010) for a weighted sum of the average outcomes: TOC-UCRL2 with a linear g.

    theta never moves, so episodes end by the doubling of visits alone.

    Parameters
    ----------
    space : Space
        What the agent knows of the world.
    weights : array-like
        One number for each outcome.
    delta : float
        Failure probability of the confidence regions, strictly between 0 and 1.

    Returns
    -------
    TocUCRL2
        An agent that has taken no step.

    See Also
    --------
    equipoise.TocUCRL2 : For concave rewards.

    Examples
    --------
    >>> import equipoise as eq
    >>> ucrl2(eq.models.riverswim(6).space, [1.0]).threshold
    inf
    """
    return TocUCRL2(space, Linear(weights), threshold=math.inf, delta=delta)


def _small_run() -> None:
    """Run the loop once, so that it is compiled and cached; `observe` compiles its kernel when it is used."""
    model = bandit(2)
    agent = TocUCRL2(model.space, Quadratic([0.5, 0.5]))
    while agent.t < 16:
        agent.advance(model, stream(model, 0, agent.t), 8)
