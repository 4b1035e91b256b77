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
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import once
from equipoise._numbers import real
from equipoise.agents.attending import attended, with_room
from equipoise.agents.base import Agent, check_kind
from equipoise.agents.bounding import largest_value
from equipoise.agents.certificate import Certificate, certificate_of
from equipoise.agents.episodes import Episodes, no_episodes
from equipoise.agents.keeping import Kept, restored, stored
from equipoise.agents.kernels import observe_once, ready, run
from equipoise.agents.machine import BUDGET_GONE, DONE, PAUSED, Machine, Rules, StepMachine
from equipoise.agents.memory import Memory, new_buffers, new_memory
from equipoise.agents.parts import asking, check_rule, check_theory, first_theta_of, kernel_of, phase_of, remembered
from equipoise.agents.proof import NOT_AT_ALL, Proof, no_proof
from equipoise.agents.rules import rules_of
from equipoise.agents.schedules import Power, Schedule, checked_threshold, checked_tolerance
from equipoise.confidence.absorbing import absorbed
from equipoise.confidence.base import Confidence
from equipoise.confidence.bernstein import Bernstein
from equipoise.confidence.counts import Counts, forget
from equipoise.confidence.fill import region_of
from equipoise.confidence.law_counts import nothing_counted, units_of
from equipoise.confidence.law_intervals import law_table
from equipoise.confidence.region import empty_region
from equipoise.errors import ContractError, OracleError, ParameterError, ProtocolError
from equipoise.models.bandit import bandit
from equipoise.models.laws.laws import LawArrays
from equipoise.models.laws.observing import cases_of
from equipoise.models.log import Source
from equipoise.models.model import Model, Space
from equipoise.models.world import sampling_arrays, stream
from equipoise.oracles.base import Oracle, Phase
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.evi import workspace
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.quadratic import Quadratic

if TYPE_CHECKING:
    import polars

_MADE_ANEW: Final = ("_machine", "_rules", "_phase", "_lock", "_clock", "_total", "_cases_in")


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

    See Also
    --------
    equipoise.recommended : The agent to start with.
    equipoise.KnapsackAgent : Under budgets.
    equipoise.agents.Steering : The gradient threshold alone, for another learner.

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

    _machine: Machine
    _rules: Rules
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
        planner: Planner | None = None,
    ) -> None:
        super().__init__(space, reward)
        self.oracle = fitting_oracle(reward) if oracle is None else oracle
        check_kind(self.oracle, Oracle, "oracle", "eq.oracles.FrankWolfe()")
        with asking(self.oracle, "check", OracleError):
            self.oracle.check(reward)
        check_theory(self.oracle)
        self.confidence = Bernstein() if confidence is None else confidence
        check_kind(self.confidence, Confidence, "confidence", "eq.confidence.Bernstein()")
        with asking(self.confidence, "check", ContractError):
            self.confidence.check(space)
        check_rule(self.confidence)
        self.threshold = checked_threshold(threshold, reward)
        self.delta = real(delta, "delta", error=ParameterError)
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
        self.tolerance = checked_tolerance(tolerance)
        self.planner = Planner() if planner is None else planner
        check_kind(self.planner, Planner, "planner", "eq.planning.Planner(warm_start=True)")

        counts = nothing_counted(space, self.confidence)
        remembers = remembered(kernel_of(self.oracle, reward), reward)
        learning = bool(self.confidence.learning)
        with asking(self.confidence, "first_stream", ContractError):
            random = np.asarray(self.confidence.first_stream(), dtype=np.uint64)
        memory = new_memory(space.n_states, space.n_outcomes, remembers, space.start, learning, random)
        memory.theta[:] = first_theta_of(self.oracle, reward)
        self._absorbed = 0
        self._ceiling: float | None = None
        self.adopt(counts, memory, no_episodes(), no_proof(space.n_outcomes))

    # -- what a user may look at ---------------------------------------------------------------------

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it is good for any."""
        return self.oracle.horizon

    @property
    def caveat(self) -> str:
        """That of its confidence; or that nothing is proven of its oracle, or of laws that are not seen."""
        known = (self.oracle.theory.regret_term, self.oracle.phase(1).oracle.theory.gradient_episodes)
        unknown = None in known  # a bound on the regret needs both
        unseen = self.space.laws is not None and not self.space.laws.revealing
        return (
            self.confidence.caveat
            or ("no bound is known for its oracle" if unknown else "")
            or ("no bound: a law is not seen where it matters" if unseen else "")
        )

    @property
    def theta(self) -> NDArray[np.float64]:
        """theta_t: minus a supergradient of g."""
        return self._machine.memory.theta.copy()

    @property
    def policy(self) -> NDArray[np.int64]:
        """The action of each state in the present episode."""
        self._require_plan("policy")
        return self._machine.memory.policy.copy()

    @property
    def gain(self) -> float:
        """The planner's optimistic average reward in the present episode."""
        self._require_plan("gain")
        return float(self._machine.records.gain[self._now["episodes"] - 1])

    @property
    def bias(self) -> NDArray[np.float64]:
        """The planner's bias of each state in the present episode; its least entry is zero."""
        self._require_plan("bias")
        return self._machine.memory.bias.copy()

    @property
    def drift(self) -> float:
        """Psi: how far theta has moved in the present episode, summed over its steps."""
        return float(self._machine.memory.gauge["drift"][0])

    @property
    def episode_starts(self) -> NDArray[np.int64]:
        """tau(1), tau(2), ..."""
        return self.episode_record.start

    @property
    def episode_record(self) -> Episodes:
        """The record of all episodes so far, column by column."""
        return self._machine.records.first(int(self._now["episodes"]))

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each pair was visited (since the last restart, under `Doubling` with fresh counts).

        With known mechanics, how often each law was seen, in the order of ``space.laws.names``.
        """
        return self._machine.counts.visits + self._machine.counts.fresh

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and "_rules" in self.__dict__:
            raise AttributeError(f"{name}: what an agent is made of cannot be changed; make another agent")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, object]:
        # without the rules, as compiled code has another address in another process, and without scratch
        parts = {name: part for name, part in self.__dict__.items() if name not in _MADE_ANEW}
        return parts | {
            "_kept": (self._machine.counts, self._machine.memory, self._machine.records, self._machine.proof)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        kept = state.pop("_kept")
        self.__dict__.update(state)
        self.adopt(*kept)

    # -- proving --------------------------------------------------------------------------------------

    @property
    def proves(self) -> bool:
        """Whether its regions are proven to hold the truth."""
        return self._rules.proving != NOT_AT_ALL

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum that its plans have proven so far; infinity if it proves nothing.

        It is never more than the largest value of g, for which nothing need be known.
        """
        if not self.proves:
            return math.inf
        if self._ceiling is None:  # not before it is asked for: it may have to be compiled, or iterated for
            self._ceiling = largest_value(self.reward)
        return min(float(self._machine.proof.bound[0]), self._ceiling)

    def certificate(self, effort: int = 0) -> Certificate:
        """What the data prove: how good any policy could be at most, and so how much is lost at most.

        It plans once with the present regions and theta, and takes the least of that bound and of those of all plans
        before. All certificates of an agent hold together, at all times, with the probability that its regions do:
        1 - delta. Under `Doubling` the mega-episodes share delta. Of a reward that changes with time the limit is
        meant, as it is in `solve` and in the values of a run.

        Parameters
        ----------
        effort : int
            How many plans more to spend on it. Each moves theta to where the bound is lower.

        Returns
        -------
        Certificate
            With `best_possible`, `achieved`, `regret_at_most`, `probability`, and where the slack comes from.

        Raises
        ------
        ProtocolError
            When the regions of the agent's confidence are not proven to hold the truth.

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
        with self.exclusive():
            return certificate_of(self, effort)

    def laws(self) -> polars.DataFrame:
        """What it knows of each law of its mechanics: estimates, and the intervals of its regions.

        Returns
        -------
        polars.DataFrame
            One row a value of each law: law, value, visits of the law, seen, estimate, low, high.

        Raises
        ------
        ProtocolError
            When the agent was told no mechanics.

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
        with self.exclusive():
            tau = self.t - self._rules.tau_origin
            region = region_of(self.confidence, self.space, self._machine.counts, tau, self._rules.delta)
            return law_table(self.space.laws, self._machine.counts, region)

    # -- what happened elsewhere ----------------------------------------------------------------------

    def absorb(self, log: Source) -> int:
        """Learn from a log: transitions that were observed under any policy; returns the number of rows.

        The rows count as visits; the average, theta and the time of the agent stay its own. Regions hold the truth as
        before, because each rests on the visits of its own pair; those that grow with time count the rows as time. The
        next step is planned anew.

        Parameters
        ----------
        log : frame or path
            A polars or pandas frame, or the path of a Parquet or CSV file, with the columns state, action, one for
            each outcome, and next_state; labels or numbers. A file is read piece by piece.

        Raises
        ------
        LogError
            When rows cannot have happened; then none is taken in.
        ProtocolError
            When the agent forgets what it has seen, as `Doubling` does unless it inherits.

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
        with self.exclusive():
            return self.absorb_checked(log, lambda _: None)

    def absorb_checked(self, log: Source, check: Callable[[Counts], None]) -> int:
        """As `absorb`, for agents made of this one; `check` may refuse the counts before they are taken.

        Parameters
        ----------
        log : frame or path
            As for `absorb`.
        check : callable
            Called with the counts as they would be.
        """
        if not phase_of(self.oracle, 1).inherit:
            raise ProtocolError(
                f"absorb: {self.oracle!r} forgets everything at each of its restarts, and the log with it; "
                "eq.oracles.Doubling(..., inherit=True) does not"
            )
        counts, rows, _ = absorbed(self._machine.counts, log, self.space)
        check(counts)
        self._machine = with_room(self._machine._replace(counts=counts))
        self._absorbed += rows
        self._now["planned"] = 0
        self._set_up_phase()
        return rows

    # -- acting ---------------------------------------------------------------------------------------

    def choose(self, state: int) -> int:
        """The policy's action, planning anew if the episode is over."""
        self._be_ready()
        return int(self._machine.memory.policy[state])

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:  # noqa: ARG002
        """Lines 13 to 16: count, average, theta_{t+1}, the drift; moves the clock too."""
        self._machine.buffers.outcome[:] = outcomes
        while reason := observe_once(self._step_machine(), self._rules, next_state, self._case):
            self.attend_to(reason)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled, the planning included."""
        self._run(model, rng, steps)

    def _account(self, outcomes: NDArray[np.float64], after: int) -> None:
        """Done in `learn`."""

    # -- keeping --------------------------------------------------------------------------------------

    def memory(self) -> dict[str, dict[str, NDArray[Any]]]:
        """All arrays: counts, memory, and the record of episodes; records as plain vectors."""
        machine = self._machine
        return stored(Kept(machine.counts, machine.memory, self.episode_record, machine.proof, self._absorbed))

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these arrays."""
        kept = restored(self, memory)
        self._absorbed = kept.absorbed
        self.adopt(kept.counts, kept.memory, kept.records, kept.proof)

    # -- episodes -------------------------------------------------------------------------------------

    def _be_ready(self, wait: bool = True) -> bool:
        """Lines 4 to 10: make sure that the policy is one to follow at the present time.

        With `wait` off it may come back before, to be called again: then the answer is False.
        """
        self.begin_phase_if_due()
        while reason := ready(self._machine, self._rules):
            self.attend_to(reason)
            if reason == PAUSED and not wait:
                return False
        return True

    def _run(self, model: Model, rng: np.random.Generator, steps: int, budget: float = math.inf) -> None:
        """Take up to `steps` steps in `model`, planning on the way; it may stop before that to be called again."""
        if not self._be_ready(wait=False):
            return
        left = self.steps_left_in_phase()
        count = steps if left is None else min(steps, left)
        cases = self._cases(model)
        self.attend_to(run(self._machine, self._rules, count, budget, rng, sampling_arrays(model), cases))

    # -- for loops written elsewhere ------------------------------------------------------------------

    @property
    def machine(self) -> Machine:
        """The arrays that kernels work on. Ask again after `attend_to`, which may replace some by larger ones."""
        return self._machine

    @property
    def rules(self) -> Rules:
        """The constants and addresses of the present phase. Ask again after `begin_phase_if_due`."""
        return self._rules

    @property
    def phase(self) -> Phase:
        """The oracle's present phase, the first before anything was planned."""
        return self._phase

    def steps_left_in_phase(self) -> int | None:
        """How many steps may be taken until the oracle starts anew; None if it never does."""
        if self._phase.length is None:
            return None
        clock = self._now
        return int(clock["origin"] + self._phase.length - (clock["time"] - 1))

    def begin_phase_if_due(self) -> None:
        """Start the oracle, and under `Doubling` with fresh counts everything, anew, if its phase is over."""
        clock, memory = self._now, self._machine.memory
        if clock["phase"] > 0 and self.steps_left_in_phase() != 0:
            return
        phase = phase_of(self.oracle, int(clock["phase"]) + 1)
        clock["planned"] = 0
        memory.theta[:] = first_theta_of(phase.oracle, self.reward)
        memory.oracle[:] = 0.0
        if not phase.inherit:
            forget(self._machine.counts, nothing_counted(self.space, self.confidence))
        clock["origin"] = clock["time"] - 1
        clock["phase"] += 1
        self._set_up_phase()

    def attend_to(self, reason: int) -> None:
        """Do what a kernel came back for: make an array larger, go on with a plan, or raise the error that stopped it.

        Parameters
        ----------
        reason : int
            What the kernel returned; see `agents.machine`. Nothing is done if it was `DONE` or `BUDGET_GONE`.

        Raises
        ------
        ConvergenceError
            When the planner did not reach its tolerance.
        ContractError
            When the bounds of the confidence are not numbers.
        RewardError, OracleError
            When theta is not a number: because the reward's gradient or conjugate is none, or the oracle's step.
        """
        if reason not in (DONE, BUDGET_GONE):
            self._machine = attended(self, reason)

    def adopt(self, counts: Counts, memory: Memory, records: Episodes, proof: Proof) -> None:
        """Go on from these arrays, with new scratch; they must be those of an agent made of the same parts.

        Parameters
        ----------
        counts : Counts
            What was observed.
        memory : Memory
            What else decides what comes next.
        records : Episodes
            The episodes so far.
        proof : Proof
            What they have proven.
        """
        once("agent", _small_run)
        self._lock = threading.Lock()
        self._cases_in: tuple[Model, NDArray[np.int64] | None] | None = None
        self._clock, self._total = memory.clock, memory.total  # `Agent` reads the arrays that the kernels write
        space, laws = self.space, self._law_arrays
        units = units_of(space, counts.nonzero is not None)
        capacity = max(self.confidence.listed, counts.seen)
        n_rewards = space.n_pairs if laws is None else laws.rows.shape[0]
        self._machine = Machine(
            counts=counts,
            memory=memory,
            records=records,
            region=empty_region(units.n_units, units.n_outcomes, capacity, counts.nonzero),
            buffers=new_buffers(space.n_states, n_rewards, space.n_outcomes, 0, memory.stream.size),
            work=workspace(space.n_states, space.n_pairs, laws),
            proof=proof,
        )
        self._set_up_phase()

    # -- inside ---------------------------------------------------------------------------------------

    def _step_machine(self) -> StepMachine:
        return StepMachine(self._machine.counts, self._machine.memory, self._machine.buffers)

    @property
    def _law_arrays(self) -> LawArrays | None:
        return None if self.space.laws is None else self.space.laws.arrays

    def _cases(self, model: Model) -> NDArray[np.int64] | None:
        """The case of each branch of a world; worked out once for each world."""
        if self._cases_in is None or self._cases_in[0] is not model:
            self._cases_in = (model, cases_of(model, self.space))
        return self._cases_in[1]

    @property
    def _now(self) -> Any:
        """The one record of `memory.clock`; its fields are read and written by name."""
        return self._machine.memory.clock[0]

    def _set_up_phase(self) -> None:
        """The rules of the present phase, and scratch for its oracle."""
        number = max(1, int(self._now["phase"]))
        self._phase = phase_of(self.oracle, number)
        step = kernel_of(self._phase.oracle, self.reward)
        memory, buffers = self._machine.memory, self._machine.buffers
        if remembered(step, self.reward) > memory.oracle.size:
            raise OracleError(
                f"oracle: {self.oracle!r} remembers {memory.oracle.size} numbers, and {remembered(step, self.reward)} "
                f"in phase {number}; its `kernel` must ask for the most that any phase needs"
            )
        if buffers.oracle.size != step.scratch:
            self._machine = self._machine._replace(buffers=buffers._replace(oracle=np.zeros(step.scratch)))
        self._machine.buffers.filled[0] = 0
        self._machine.work.progress["time"] = 0
        origin = (0 if self._phase.inherit else int(self._now["origin"])) - self._absorbed
        self._rules = rules_of(self, self._phase, step, origin)

    def _require_plan(self, what: str) -> None:
        if self._now["episodes"] == 0:
            raise ProtocolError(f"{what}: nothing has been planned yet; it is there after the first act or simulate")


def _small_run() -> None:
    """Run every kernel once, so that all of them are compiled and cached."""
    model = bandit(2)
    agent = TocUCRL2(model.space, Quadratic([0.5, 0.5]))
    agent.observe([1.0, 0.0], 0 * agent.act(0))
    while agent.t < 16:
        agent.advance(model, stream(model, 0, agent.t), 8)
