r"""An agent that plans a mixture of policies, and plans again as it goes.

At time t, with the average w of the t - 1 steps before, it solves

    max  g((t w + d z) / (t + d))    over the long-run averages z of mixtures that its region allows

by column generation (`planning.mixture`), for some d steps ahead, and plays the mixture (`rounds`). It plans again
after 2 % of the steps so far, and where policies take turns at the end of the round; and whenever the visits of a pair
have grown by the factor `visits` since the last plan.

TOC-UCRL2 finds theta* by a descent on observed outcomes, which takes some 10^5 steps for a g that is not smooth. Here
theta* is computed from the region, and the average so far takes part in it: what noise, ways between classes and wrong
estimates have cost is made up for.

Where policies took turns in at most a tenth of the steps, it plans for a worse average than the present one, by a
margin m_k in each outcome: chance and wrong estimates move the average until that can be corrected, and with a budget
or a limit a little too much costs more than a little too little. With e_k^2 the squared errors of past plans without
turns, per step,

    m_k = 1.2 e_k sqrt(d) / (t + d),   times  (D_k+ - D_k-) / (|D_k+| + |D_k-|),

D_k+ and D_k- what g loses where outcome k is larger or smaller by 3 m_k than the last plan leads to. So there is no
margin where chance does as little harm on either side.

Where the number of steps is known, as in `KnapsackAgent`, d is all that are left, and it plans again after 5 % of them
at the latest.

Plans over regions that are learnt are optimistic: the average ends up short of what they promise. So the agent expects
the next plan to be missed by as much as those before, and plans for

    g((t w + d (z + e)) / (t + d)),

with e the mean of observed outcomes minus planned ones over the last plans (a plan counts 0.8 times as much as the next
one). Of the shift of the average, d e / (t + d), 40 / t is not corrected in each outcome: this is noise, and while
little is known it costs too much to correct everything. With constraints, this replaces the margin.

What is proven. The regions hold whatever chooses the actions, so every plan proves g*(theta) + gain(theta) >= opt, and
certificates are those of any agent with these regions. For a known model the regret is O(sqrt(n D / t)) for every
Lipschitz g (docs/mixtures.md). No regret bound is proven for the agent while it learns.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import compile_once
from equipoise._types import Vector
from equipoise.agents.base import Agent
from equipoise.agents.certificate import Certificate, tightest_certificate
from equipoise.agents.checkpoint import verify_proof
from equipoise.agents.dual_bound import BoundOptions, Evidence, empty_proof, largest_value
from equipoise.agents.episodes import BY_RESTART, BY_VISITS, OPEN, Episodes, empty_episodes
from equipoise.agents.mixture_state import MOST_FACTOR, MixtureState, list_alike, restored, stored
from equipoise.agents.phase import check_confidence, check_delta, reraise_as
from equipoise.agents.rounds import (
    VISITED,
    Rounds,
    estimated_chain,
    learn_once,
    next_action,
    no_rounds,
    play,
    round_length,
    rounds_of,
    slots_of,
)
from equipoise.agents.schedules import check_growth, with_growth
from equipoise.agents.state import BUDGET_GONE, DONE, OUTCOMES_FULL, POOL_FULL
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.base import Confidence, build_region, fill_region, soften_region
from equipoise.confidence.counts import Counts, count_layout, empty_counts
from equipoise.confidence.intervals import absorb_log, law_table
from equipoise.confidence.nonzero import extend_pool
from equipoise.confidence.region import Region, empty_region
from equipoise.errors import ContractError, ParameterError, ProtocolError
from equipoise.models.laws.laws import LawArrays
from equipoise.models.laws.validate import find_branch_cases
from equipoise.models.log import Source
from equipoise.models.model import Model, Space
from equipoise.models.paper_instances import bandit
from equipoise.models.world import get_sampling, stream
from equipoise.planning.evi import SWEEP_LIMIT
from equipoise.planning.mixture import Mixture, MixturePlanner
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained
from equipoise.rewards.separable import Quadratic

if TYPE_CHECKING:
    import polars

_AHEAD: Final = 0.1  # of the steps so far are planned for,
_AHEAD_OPTIMISTIC: Final = 0.05  # or so much with regions that are optimistic
_LEAST_AHEAD: Final = 50
_EVERY: Final = 0.02  # of the steps so far pass between two plans
_LEAST_EVERY: Final = 10
_EVERY_LEFT: Final = 0.05  # of the steps that are left pass at most, if it is known how many
_TOLERANCE: Final = 0.01  # of a plan, over sqrt(t)
_CUT: Final = 0.5  # in a drawn model, transitions less likely than this per step ahead have no part in a plan
_SWEEPS: Final = (1_000, 10_000)  # of a plan over regions: as many as there are steps ahead, and within these limits
_DRAW: Final = 1.1  # a model is drawn again when some pair was visited that many times as often
_SECONDS: Final = 0.1  # after which `advance` returns, so that Ctrl-C is heard
_VIOLATED: Final = 1e-4  # a violation that makes the price rise,
_RAISE: Final = 10.0  # by this factor
_MARGIN: Final = 1.2  # standard errors that are planned for,
_WIDE: Final = 3.0  # and how many times as far g is looked at to find the worse side
_WITHOUT_TURNS: Final = 0.9  # of the steps were taken so, if there is to be a margin
_FADE: Final = 0.8  # weight of what a plan was missed by, relative to the next plan
_DEBT: Final = 40.0  # steps of violation that are not corrected in advance
_EVEN: Final = 1e-12  # losses that are rounding
_PROVE: Final = 1.25  # times as many steps pass between two proofs, where plans use other regions
_NO_SHARE: Final = 1e-6  # of a slot: pairs that are none of its own


class PolicyShare(NamedTuple):
    """One policy of a mixture."""

    weight: float
    policy: NDArray[np.int64]
    outcomes: Vector


@final
class MixtureUCRL2(Agent):
    """An agent that plans a mixture of policies for what is still to come, and plans again as it goes.

    It needs no oracle and no threshold, and is at its best where `TocUCRL2` is slowest: with rewards that are not
    smooth, such as budgets, limits and the worst-off class.

    Parameters
    ----------
    space : Space
        What the agent may know of the world: states, actions, number of outcomes, start.
    reward : Reward
        The concave g, to be maximised at the average outcome vector; one that changes with time is taken at its limit.
        The constraints of a `Constrained` one are met without a price: see Notes.
    confidence : Confidence, optional
        None: `Adaptive()`. `PosteriorSampling()` learns faster and proves nothing; `Known(model)`: nothing to learn.
    delta : float
        The level of the confidence regions.
    visits : float
        It plans again when the visits of a pair have grown by this factor since the last plan, in (0, 1]. The attribute
        is `visit_growth`.
    certified_by : Confidence, optional
        The regions that its certificates use. None: those of `confidence` if they are proven, and `Adaptive()` if not,
        as for `PosteriorSampling`. Observations prove the same, whatever chose the actions.

    See Also
    --------
    equipoise.TocUCRL2 : The paper's agent, with its regret bounds.

    Notes
    -----
    Constraints enter the plans as penalties without smoothing, at a price of the agent's own: it begins at ten times
    the largest difference of the reward per that of the constraint, and rises tenfold, up to 1,000 times, whenever a
    plan violates a constraint both in the average that it leads to and in its own long run. Where constraints cannot be
    met, the agent so minimises the violations. `certificate` says of each constraint what is reached and possible, and
    names those that are proven to be in conflict.

    Examples
    --------
    >>> import equipoise as eq
    >>> model, reward = eq.models.star(branches=3, diameter=4), eq.rewards.BottomSum(3, 1)
    >>> agent = eq.MixtureUCRL2(model.space, reward)
    >>> run = eq.simulate(model, agent, 10_000)
    >>> other = eq.simulate(model, eq.TocUCRL2(model.space, reward, confidence=eq.confidence.Adaptive()), 10_000)
    >>> bool(run.values[-1] > other.values[-1])
    True
    >>> 1 <= len(agent.mixture) <= 3, round(sum(one.weight for one in agent.mixture), 9)
    (True, 1.0)
    """

    def __init__(
        self,
        space: Space,
        reward: Reward,
        confidence: Confidence | None = None,
        delta: float = 0.05,
        *,
        visits: float = 1.0,
        certified_by: Confidence | None = None,
    ) -> None:
        super().__init__(space, reward)
        self.confidence = Adaptive() if confidence is None else confidence
        check_confidence(self.confidence, space)
        self.certified_by = certified_by
        self._regions = certified_by or (Adaptive() if self.confidence.caveat else self.confidence)
        check_confidence(self._regions, space)
        self.delta = check_delta(delta)
        with reraise_as(self.confidence, "first_stream", ContractError):
            random = np.asarray(self.confidence.first_stream(), dtype=np.uint64)
        self.visit_growth = check_growth(visits)
        self._factor = self._proof_factor = 1.0  # of the price of constraints, now and of the proof
        self._goal = _at_own_price(reward, self._factor)
        self._planner = MixturePlanner(space, self._goal, self.confidence.relaxation)
        self._counts = empty_counts(space, self.confidence)
        if self._counts.nonzero is not None and not self._regions.is_its_rule:
            raise ParameterError(
                f"certified_by: {self._regions!r} needs the sums of all outcomes, and {self.confidence!r} keeps only "
                "those that were not zero; use eq.confidence.Adaptive()"
            )
        self._region = self._empty_region()
        self._drawn_at = np.full(self._counts.visits.size, -1, dtype=np.int64)  # visits when it was filled
        self._stream = random
        self._rounds: Rounds = no_rounds(space.n_states, space.n_pairs)
        self._records = empty_episodes()
        self._n_plans = 0
        self._proof, self._proven_gain, self._looked = empty_proof(space.n_outcomes), math.nan, 0
        self._weights = np.zeros(0)
        self._policies = np.zeros((0, space.n_states), dtype=np.int64)
        self._outcomes = np.zeros((0, space.n_outcomes))
        self._errors, self._followed = np.zeros(space.n_outcomes), 0  # squares of what plans were off by, and steps
        self._missed, self._missed_steps = np.zeros(space.n_outcomes), 0.0  # what optimistic plans were off by, faded
        self._then = np.zeros(space.n_outcomes)  # all outcomes up to the last plan
        self._theta = -reward.gradient(
            np.full(space.n_outcomes, 0.5)
        )  # any theta proves a bound; this is not the worst
        self._bias = np.zeros(space.n_states)
        self._absorbed = 0
        self._logs = np.zeros(0, dtype=np.uint64)
        self._outcome = np.zeros(space.n_outcomes)
        self._ceiling: float | None = None
        self._horizon: int | None = None  # of agents made of this one
        compile_once("mixture agent", _small_run)

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments; `visits` is `visit_growth`, and is left out at 1."""
        return with_growth(super().arguments(), self.visit_growth)

    # -- what a user may look at ------------------------------------------------------------------------

    @property
    def mixture(self) -> list[PolicyShare]:
        """The policies that are being played, by decreasing weight; empty before the first plan."""
        order = np.argsort(-self._weights, kind="stable")
        return [PolicyShare(float(self._weights[i]), self._policies[i].copy(), self._outcomes[i].copy()) for i in order]

    @property
    def theta(self) -> Vector:
        """The dual of the last plan: minus a supergradient of g where the plan leads."""
        return self._theta.copy()

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each pair was visited; with known mechanics, how often each law was seen."""
        return self._counts.visits + self._counts.fresh

    @property
    def caveat(self) -> str:
        """That no regret bound is proven while it learns; or that of the regions of its certificates."""
        return self._regions.caveat or ("no regret bound is proven" if self.confidence.learning else "")

    @property
    def episode_record(self) -> Episodes:
        """The record of its plans: when, why the one before ended, the gain at theta, the span, sweeps of all plans."""
        return self._records.first(self._n_plans)

    # -- proving ----------------------------------------------------------------------------------------

    @property
    def proves(self) -> bool:
        """Whether the regions of its certificates are proven to contain the true model."""
        return not self._regions.caveat

    @property
    def best_possible(self) -> float:
        """The least upper bound on the optimum that it has proven so far; infinity if it proves nothing."""
        if not self.proves:
            return math.inf
        if self._ceiling is None:
            self._ceiling = largest_value(self._goal)
        return min(float(self._proof.bound[0]), self._ceiling)

    def certificate(self, effort: int = 0) -> Certificate:
        """What the data prove: how good any policy could be at most, and so how much is lost at most.

        It plans once with the present regions and theta, and takes the least of that bound and of those proven before:
        by every plan, or where plans use other regions, whenever the steps have grown by a quarter. All certificates of
        an agent hold together, at all times, with probability 1 - delta.

        Parameters
        ----------
        effort : int
            How many plans more to spend on it. Each moves theta to where the bound is lower.

        Raises
        ------
        ProtocolError
            When the regions of its certificates are not proven to contain the true model.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.star(branches=3, diameter=4)
        >>> agent = eq.MixtureUCRL2(model.space, eq.rewards.BottomSum(3, 1))
        >>> run = eq.simulate(model, agent, 10_000)
        >>> certificate = agent.certificate(effort=5)
        >>> bool(run.regret(eq.solve(model, agent.reward))[-1] < certificate.regret_at_most < 0.2)
        True
        """
        with self._lock.use():
            if not self.proves:
                raise ProtocolError(
                    f"certificate: the regions of {self._regions!r} are not proven to contain the true model "
                    f"({self._regions.guarantee}), so they prove nothing; eq.confidence.Adaptive() has some that are"
                )
            before = float(self._proof.bound[0])
            certificate = tightest_certificate(
                self._evidence(),
                self._bound_options(SWEEP_LIMIT, effort),
                self._proof,
                self._goal,
                average=self.average,
                probability=1.0 - self.delta if self._regions.learning else 1.0,
                t=self.t,
                earlier=self._constraint_bounds,
            )
            self._remember_constraints(certificate)
            if float(self._proof.bound[0]) < before:
                self._proof_factor, self._proven_gain = self._factor, math.nan
            if not isinstance(self.reward, Constrained):
                return certificate
            achieved = self.reward.objective.value(self.average) if self.t > 1 else math.nan
            return dataclasses.replace(certificate, achieved=achieved, reward=self.reward)

    def _evidence(self) -> Evidence:
        """What was observed, and the regions that it proves."""
        logged = self._absorbed > 0
        region = build_region(self._regions, self.space, self._counts, self._tau, self.delta, logged)
        return Evidence(self.space, self._counts, region)

    def _bound_options(self, limit: int, effort: int) -> BoundOptions:
        """A search for a bound that begins with the last plan."""
        tolerance = _TOLERANCE / math.sqrt(self._tau)
        return BoundOptions(self._theta.copy(), self._bias, tolerance, self._regions.relaxation, limit, effort)

    def _prove(self, mixture: Mixture, limit: int) -> None:
        """Keep the bound of a plan. Where plans use other regions, prove one whenever steps have grown by a quarter."""
        if not self.proves:
            return
        if self._regions is not self.confidence:
            if self.t < _PROVE * self._looked:
                return
            self._looked = self.t
            prover = MixturePlanner(self.space, self._goal, self._regions.relaxation)
            prover.restore(self._planner.memory())
            prover.enter(self._counts, self._evidence().region, 0.0, limit)
            mixture = prover.plan(np.zeros(self.space.n_outcomes), 1.0, _TOLERANCE)
        value, theta, gain = mixture.bound, mixture.bound_theta, mixture.bound_gain
        if value < self._proof.bound[0]:
            self._proof.bound[0], self._proof.time[0], self._proof.theta[:] = value, self.t, theta
            self._proof_factor, self._proven_gain = self._factor, gain

    def laws(self) -> polars.DataFrame:
        """Estimates of each law of its mechanics, and their confidence intervals, as `TocUCRL2.laws`.

        Returns
        -------
        polars.DataFrame
            One row per value of each law: law, value, visits of the law, seen, estimate, low, high.

        Examples
        --------
        >>> import equipoise as eq
        >>> coin = eq.Mechanics(lambda s, a, toss: (s, [toss]), 0, ["toss"], ["heads"], {"toss": [0, 1]})
        >>> agent = eq.MixtureUCRL2(coin.space, eq.rewards.Linear([1.0]))
        >>> run = eq.simulate(coin.model(toss=[0.25, 0.75]), agent, 1000, seed=1)
        >>> agent.laws()["seen"].sum()
        1000
        """
        if self.space.laws is None:
            raise ProtocolError("laws: the agent was told no mechanics; make it with the space of an eq.Mechanics")
        with self._lock.use():
            return law_table(self.space.laws, self._counts, self._evidence().region)

    # -- what happened elsewhere ------------------------------------------------------------------------

    def absorb(self, log: Source, again: bool = False) -> int:
        """Learn from a log: transitions that were observed under any policy; returns the number of rows.

        The rows count as visits; the average and the time of the agent stay its own. Its next step is planned again.

        Parameters
        ----------
        log : frame or path
            As for `TocUCRL2.absorb`.
        again : bool
            As for `TocUCRL2.absorb`.

        Raises
        ------
        LogError
            When rows cannot have happened, or a log of the same rows was absorbed before; then none is taken in.
        """
        with self._lock.use():
            return self._absorb_checked(log, again, lambda _: None)

    def _absorb_checked(self, log: Source, again: bool, check: Callable[[Counts], None]) -> int:
        """As `absorb`, for agents made of this one; `check` may raise before the counts are taken."""
        counts, rows, logs = absorb_log(self._counts, log, self.space, self._logs, again)
        check(counts)
        self._counts, self._logs = counts, logs
        self._region = self._empty_region()
        self._absorbed += rows
        self._rounds.play["until"] = 0
        self._drawn_at[:] = -1
        return rows

    # -- acting -----------------------------------------------------------------------------------------

    def choose(self, state: int) -> int:
        """The next action of the round, planning again if the round is over."""
        first_pair, learning, growth = self.space.first_pair, bool(self.confidence.learning), self.visit_growth
        while True:
            pair = int(next_action(self._laws, self._rounds, first_pair, self._counts, learning, growth, state, self.t))
            if pair >= 0:
                return pair - int(first_pair[state])
            self._plan(BY_VISITS if -pair == VISITED else BY_RESTART)

    def learn(self, state: int, action: int, outcomes: NDArray[np.float64], next_state: int) -> None:
        """Count what followed."""
        self._outcome[:] = outcomes
        pair = int(self.space.first_pair[state]) + action
        units = count_layout(self.space, self._counts.nonzero is not None)
        while reason := learn_once(
            self._laws, units.told, units.known_mask, self._counts, pair, self._outcome, next_state, self._case
        ):
            self._make_room(reason)

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Compiled between two plans."""
        self._run(model, rng, steps)

    def _run(self, model: Model, rng: np.random.Generator, steps: int, budget: float = math.inf) -> None:
        """Take up to `steps` steps in `model`; it may return earlier, to be called again, or if a budget is gone."""
        world, cases, learning = (
            get_sampling(model),
            find_branch_cases(model, self.space),
            bool(self.confidence.learning),
        )
        units = count_layout(self.space, self._counts.nonzero is not None)
        last, enough = self.t + steps, time.perf_counter() + _SECONDS
        while self.t < last and time.perf_counter() < enough:
            reason = play(
                self._laws, units.told, units.known_mask, self._rounds, self.space.first_pair, self._counts, learning,
                self.visit_growth, self._clock, self._total, self._outcome, last - self.t, budget, rng, world, cases,
            )  # fmt: skip
            if reason == BUDGET_GONE:
                return
            if reason in (POOL_FULL, OUTCOMES_FULL):
                self._make_room(reason)
            elif reason != DONE:
                self._plan(BY_VISITS if reason == VISITED else BY_RESTART)

    # -- keeping ----------------------------------------------------------------------------------------

    def memory(self) -> dict[str, dict[str, NDArray[Any]]]:
        """All arrays: counts, the region of the last plan, what is being played, and what the next plan begins with."""
        return stored(self._state())

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go on with these arrays."""
        state = restored(self._state(), memory, self.space, self.confidence, self.t)
        self._counts, self._region, self._rounds = state.counts, state.region, state.rounds
        self._records, self._n_plans = state.records, state.records.start.size
        self._factor, self._proof_factor = (float(factor) for factor in state.own["factors"])
        self._goal = _at_own_price(self.reward, self._factor)
        self._planner.follow(self._goal)
        proven_of = _at_own_price(self.reward, self._proof_factor)
        self._proven_gain, looked = state.own["proven"].tolist()
        self._looked = int(looked)
        self._proof = verify_proof(state.proof, state.records, proven_of, self.average, self._proven_gain)
        self._stream, self._drawn_at = state.own["stream"], state.own["drawn_at"]
        self._weights, self._policies = state.own["weights"], state.own["policies"]
        self._outcomes, self._theta, self._bias = state.own["outcomes"], state.own["theta"], state.own["bias"]
        self._absorbed, self._logs = int(state.own["absorbed"][0]), state.own["logs"]
        self._errors, self._followed = state.own["errors"], int(state.own["followed"][0])
        self._missed, self._missed_steps = state.own["missed"], float(state.own["missed_steps"][0])
        self._then = state.own["then"]
        if not self.confidence.learning and self._drawn_at.min() >= 0:  # no plan would fill it again
            logged = self._absorbed > 0
            own = build_region(self.confidence, self.space, self._counts, self._tau, self.delta, logged)
            self._region = list_alike(own, state.region)
        self._planner.restore(state.pool)

    def _state(self) -> MixtureState:
        return MixtureState(
            counts=self._counts,
            region=self._region,
            rounds=self._rounds,
            records=self.episode_record,
            proof=self._proof,
            pool=self._planner.memory(),
            own={
                "stream": self._stream,
                "drawn_at": self._drawn_at,
                "weights": self._weights,
                "policies": self._policies,
                "outcomes": self._outcomes,
                "theta": self._theta,
                "bias": self._bias,
                "absorbed": np.array([self._absorbed]),
                "errors": self._errors,
                "followed": np.array([self._followed]),
                "missed": self._missed,
                "missed_steps": np.array([self._missed_steps]),
                "then": self._then,
                "factors": np.array([self._factor, self._proof_factor]),
                "proven": np.array([self._proven_gain, self._looked]),
                "logs": self._logs,
            },
        )

    # -- planning ---------------------------------------------------------------------------------------

    @property
    def _laws(self) -> LawArrays | None:
        return None if self.space.laws is None else self.space.laws.arrays

    @property
    def _tau(self) -> int:
        """The time from which regions count: steps, and rows of logs."""
        return self.t + self._absorbed

    def _empty_region(self) -> Region:
        """A region with room for twice as much as was seen."""
        units = count_layout(self.space, self._counts.nonzero is not None)
        capacity = max(self.confidence.listed, 2 * self._counts.seen)
        return empty_region(units.n_units, units.n_outcomes, capacity, self._counts.nonzero)

    def _make_room(self, reason: int) -> None:
        """Enlarge the array that was too small."""
        if reason == POOL_FULL:
            self._counts = extend_pool(self._counts)
            return
        assert reason == OUTCOMES_FULL
        assert self._counts.nonzero is not None
        self._counts = self._counts._replace(nonzero=extend_pool(self._counts.nonzero))
        self._region = self._empty_region()

    def _plan(self, ended: int) -> None:
        """Plan, and only then close the episode that `ended` so and begin the next."""
        steps, drawn = self.t - 1, bool(self.confidence.drawn)
        ahead = self._steps_ahead()
        share = ahead / (steps + ahead)
        random = self._stream.copy()
        filled = self._fill(random)
        limit = int(min(max(ahead, _SWEEPS[0]), _SWEEPS[1])) if self.confidence.learning else SWEEP_LIMIT
        enter = self._planner.enter if filled else self._planner.stay
        enter(self._counts, self._region, _CUT / ahead if drawn else 0.0, limit)
        errors, followed = self._measured_errors()
        missed, missed_steps = self._measured_shortfall()
        average = self._average_with_margin(errors, followed, share)
        average = self._average_to_expect(average, missed, missed_steps, share)
        mixture = self._planner.plan(average, share, _TOLERANCE / math.sqrt(steps + 1.0))
        rounds = self._rounds_of(mixture)
        self._stream, self._rounds = random, rounds
        self._errors, self._followed, self._then = errors, followed, self._total.copy()
        self._missed, self._missed_steps = missed, missed_steps
        self._counts.visits[:] += self._counts.fresh
        self._counts.fresh[:] = 0
        if filled:
            self._drawn_at[:] = self._counts.visits
        self._weights, self._theta, self._bias = mixture.weights, mixture.best.theta, mixture.best.bias
        self._policies = np.array([one.policy for one in mixture.policies])
        self._outcomes = np.array([one.outcomes for one in mixture.policies])
        self._record(ended, mixture)
        self._prove(mixture, limit)
        self._raise_price(mixture, share)

    @property
    def _optimistic(self) -> bool:
        """Whether its regions are still learnt, and not drawn."""
        return bool(self.confidence.learning and not self.confidence.drawn)

    def _steps_ahead(self) -> float:
        """The steps that the next plan is for: those that are left, if it is known how many."""
        if self._horizon is not None:
            return float(max(1, self._horizon + 1 - self.t))
        part = _AHEAD_OPTIMISTIC if self._optimistic else _AHEAD
        return max(float(_LEAST_AHEAD), part * (self.t - 1))

    def _measured_errors(self) -> tuple[Vector, int]:
        """The squared errors of all plans without turns, the last included, and the steps that they were followed."""
        if not self._n_plans or self._rounds.length.size > 1:
            return self._errors, self._followed
        taken = self.t - int(self._records.start[self._n_plans - 1])
        error = self._total - self._then - taken * (self._weights @ self._outcomes)
        return self._errors + error**2, self._followed + taken

    def _average_with_margin(self, errors: Vector, followed: int, share: float) -> Vector:
        """The average to plan for: worse than it is by what chance may add until it can be corrected."""
        corrected = self._optimistic and isinstance(self.reward, Constrained)  # by `_average_to_expect`; that is enough
        if corrected or not followed or followed < _WITHOUT_TURNS * (self.t - 1):
            return self.average
        steps, g = self.t - 1, self._goal.value
        ahead = share * steps / (1.0 - share)
        margin = _MARGIN * np.sqrt(np.minimum(errors / followed, 1.0) * ahead) / (steps + ahead)
        leads_to = (1.0 - share) * self.average + share * (self._weights @ self._outcomes)
        w = np.clip(leads_to, 0.0, 1.0)
        here, shift = g(w), np.zeros(w.size)
        for k in np.flatnonzero(margin > 0.0).tolist():
            away = _WIDE * margin[k] * np.eye(1, w.size, k).ravel()
            above, below = here - g(np.minimum(w + away, 1.0)), here - g(np.maximum(w - away, 0.0))
            if abs(above) + abs(below) > _EVEN:
                shift[k] = margin[k] * (above - below) / (abs(above) + abs(below))
        return np.asarray(np.clip(self.average + shift / (1.0 - share), 0.0, 1.0))

    def _measured_shortfall(self) -> tuple[Vector, float]:
        """What optimistic plans were missed by: a faded sum, and over how many steps."""
        if not (self._optimistic and self._n_plans):
            return self._missed, self._missed_steps
        taken = self.t - int(self._records.start[self._n_plans - 1])
        error = self._total - self._then - taken * (self._weights @ self._outcomes)
        return _FADE * self._missed + error, _FADE * self._missed_steps + taken

    def _average_to_expect(self, average: Vector, missed: Vector, steps: float, share: float) -> Vector:
        """The average to plan for if the plan will be missed by as much as the last ones."""
        if not steps:
            return average
        shift = share * missed / steps
        shift = np.sign(shift) * np.maximum(np.abs(shift) - _DEBT / self.t, 0.0)
        return np.asarray(np.clip(average + shift / (1.0 - share), 0.0, 1.0))

    def _raise_price(self, mixture: Mixture, share: float) -> None:
        """Make violations dearer from the next plan on, if this one violates more than it leads to for a short time."""
        if not isinstance(self.reward, Constrained) or self._factor >= MOST_FACTOR:
            return
        z = mixture.outcomes
        lasting = np.minimum(
            self.reward.violations(z), self.reward.violations((1.0 - share) * self.average + share * z)
        )
        if float(lasting.max()) > _VIOLATED:
            self._factor *= _RAISE
            self._goal = _at_own_price(self.reward, self._factor)
            self._planner.follow(self._goal)

    def _fill(self, random: NDArray[np.uint64]) -> bool:
        """Fill the region by what was counted, if that is due; say whether it was."""
        counts, confidence = self._counts, self.confidence
        visits = counts.visits + counts.fresh
        first = bool(self._drawn_at.min() < 0)
        if not first and not confidence.learning:
            return False
        if not first and confidence.drawn and not np.any(visits > _DRAW * self._drawn_at):
            return False
        if counts.seen > self._region.successor.size:
            self._region = self._empty_region()
        fill_region(confidence, self.space, counts, self._tau, self.delta, random, self._region, self._absorbed > 0)
        if confidence.drawn:
            soften_region(self._laws, counts, self._region)
        return True

    def _rounds_of(self, mixture: Mixture) -> Rounds:
        """What to play: the policies of a mixture, put together where they can be played as one, and ways to them."""
        space, planner, best, first_pair = self.space, self._planner, mixture.best, self.space.first_pair
        steps, unit = self.t - 1, planner.unit(best)
        n = len(mixture.policies)
        length = max(_LEAST_EVERY, math.ceil(_EVERY * steps))
        if self._horizon is not None:
            length = min(length, max(1, math.ceil(_EVERY_LEFT * self._steps_ahead())))
        chains = []
        if n > 1:
            chains = [planner.chain(one) for one in mixture.policies]
            if self.confidence.learning and space.laws is None:
                chains = [
                    estimated_chain(first_pair, self._counts, one.policy, chain)
                    for one, chain in zip(mixture.policies, chains, strict=True)
                ]
            turn = round_length(n, float(np.ptp(best.bias)) / unit, self.t)
        else:
            turn = length
        slots = slots_of(first_pair, mixture.policies, chains, mixture.weights, turn)
        ways = [planner.way(np.flatnonzero(slot.occupancy > _NO_SHARE), best) for slot in slots]
        return rounds_of(first_pair, slots, ways, unit, (self.state, self.t), length, self._rounds.credit)

    def _record(self, ended: int, mixture: Mixture) -> None:
        """Close the last episode in the record, and open the next."""
        at = self._n_plans
        if at == self._records.start.size:
            self._records = self._records.enlarge()
        records = self._records
        if at:
            records.ended[at - 1] = ended
        records.start[at], records.ended[at] = self.t, OPEN
        records.gain[at], records.span[at] = mixture.best.gain, float(mixture.best.bias.max())
        records.sweeps[at] = mixture.sweeps
        self._n_plans = at + 1


def _at_own_price(reward: Reward, factor: float) -> Reward:
    """A reward as it is planned for: constraints at the agent's own price, and not smoothed."""
    if not isinstance(reward, Constrained):
        return reward
    own = Constrained(reward.reward, reward.constraints, None, 0.0, reward.norm)
    return own if factor == 1.0 else own.at_prices(factor * own.price)


def _small_run() -> None:
    """Run every kernel once, so that all of them are compiled and cached."""
    model = bandit(2)
    agent = MixtureUCRL2(model.space, Quadratic([0.5, 0.5]))
    agent.observe([1.0, 0.0], 0 * agent.act(0))
    while agent.t < 16:
        agent.advance(model, stream(model, 0, agent.t), 8)
