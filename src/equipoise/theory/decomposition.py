r"""What each step of a run loses against the benchmark, in five parts, and whether its regions hold: measured.

**Lemma 4.4.** With m the episode of time t, tau = tau(m), v* the benchmark's outcomes and (gain, bias) the certificate
of the plan,

    (-theta_t).(v* - V_t)  <=  club + diamond + heart + spade + P,            (4.13) to (4.15)

    club    = (theta_t - theta_tau).V_t                          the delay of theta, on what was seen
    diamond = r~_m(s_t, a_t) - (-theta_tau).V_t                  optimism about outcomes, and noise
    heart   = (theta_tau - theta_t).v*                           the delay of theta, on what is aimed at
    spade   = max over p in H^p_m(s_t,a_t) of p.bias - bias(s_t)   optimism about transitions, and motion
    P       = 1/sqrt(tau), or the agent's own tolerance          the planner's

whenever v and p lie in the regions of episode m. The left side summed and divided by T is the regret but for the
oracle's own term (`bounds`); the sums of the five are bounded in `sums`.

The plan's last sweep gives gain - P <= r~ + spade at every state, for the action of the policy, and
gain >= r~(s,a) + p.bias - bias(s) for all pairs, so gain is at least the average of r~ under any occupancy x of the
true model, hence >= (-theta_tau).v*. Both use the sweep Tu - u alone, so the lemma also holds for warm starts and for
relaxed iterations, such as those of `Known`. An x that misses the flow constraints by a vector of l1 length rho, as a
solver's does, moves it by at most rho span(bias) / 2. Under `Doubling` with fresh counts tau is counted from the start
of the mega-episode, and the regions have delta / 2^h.

**The events E^v and E^p** of eqs. (4.1) and (4.2): the regions of every episode contain the true model. Lemma 4.1 gives
each a probability of at least 1 - delta/2. The slack is 1 - d/rad, with d the distance of the estimate from the true
value and rad the radius: the least over all pairs, outcomes and successors whose bound binds (a bound at 0 or at 1 does
not). A slack of .6 says that 40 % of the radius would have been enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._types import Index, Vector
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.models.world import Seed
from equipoise.offline.benchmark import Benchmark, solve
from equipoise.rewards.constrained import Constrained
from equipoise.theory.recording import check_run, record_run
from equipoise.theory.sums import Errors

if TYPE_CHECKING:
    import polars


Flags = NDArray[np.bool_]

_ROWS_AT_A_TIME: Final = 1 << 12  # steps of `coverage` that are kept
_ROUNDING: Final = 1e-11  # of the numbers added up; the planner's ties alone are worth 1e-12 of them


class EpisodeTerms(NamedTuple):
    """One row per episode."""

    number: Index
    start: Index
    tau: Index
    gain: Vector
    span: Vector
    P: Vector
    theta: Vector
    v_held: Flags
    p_held: Flags
    v_slack: Vector
    p_slack: Vector


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Decomposition:
    """The five terms of every step; each array has one row per step.

    Attributes
    ----------
    t, row, state, action, pair : int arrays
        The time, from 1; the row of `episodes` that it belongs to; s_t, a_t and their number.
    outcomes, theta, optimistic, left : float arrays
        V_t, theta_t, r~_m(s_t, a_t), and (-theta_t).(v* - V_t).
    club, diamond, heart, spade, P : float arrays
        The terms.
    episodes : EpisodeTerms
        What belongs to an episode.
    best : Benchmark
        Its outcomes are v*.

    Examples
    --------
    Where nothing has to be learnt and theta never moves, the loss is motion and the planner's tolerance.

    >>> from equipoise.confidence import Known
    >>> from equipoise.models import ring
    >>> from equipoise.rewards import Linear
    >>> model = ring(4)
    >>> agent = TocUCRL2(model.space, Linear([1.0]), confidence=Known(model), tolerance=1e-9)
    >>> terms = decompose(model, agent, 100)
    >>> terms.holds, terms.club.any(), terms.heart.any(), terms.P[0]
    (True, np.False_, np.False_, np.float64(1e-09))
    """

    t: Index
    row: Index
    state: Index
    action: Index
    pair: Index
    outcomes: Vector
    theta: Vector
    optimistic: Vector
    left: Vector
    club: Vector
    diamond: Vector
    heart: Vector
    spade: Vector
    P: Vector
    episodes: EpisodeTerms
    best: Benchmark

    @property
    def right(self) -> Vector:
        """Club + diamond + heart + spade + P."""
        return self.club + self.diamond + self.heart + self.spade + self.P

    @property
    def gap(self) -> Vector:
        """Right side minus left side: not negative, up to `allowance`, where the regions contain the true model."""
        return self.right - self.left

    @property
    def held(self) -> Flags:
        """Whether v and p lay in the regions of the step's episode."""
        return (self.episodes.v_held & self.episodes.p_held)[self.row]

    @property
    def allowance(self) -> Vector:
        """The numerical error of the lemma: the residual of the benchmark's flow, and rounding."""
        span = self.episodes.span[self.row]
        size: Vector = 1.0 + span + np.abs(self.episodes.theta).sum(axis=1)[self.row]
        return 0.5 * self.best.residual_l1 * span + _ROUNDING * size

    @property
    def holds(self) -> bool:
        """Whether Lemma 4.4 is true at every step whose regions contain the true model."""
        return bool(np.all(self.gap[self.held] >= -self.allowance[self.held]))

    @property
    def sums(self) -> Errors:
        """The five terms added up over all steps, to be compared with `bounds.errors`."""
        return Errors._make(float(column.sum()) for column in self._terms())

    @property
    def total(self) -> Vector:
        """Their running sums: five columns, in the order club, diamond, heart, spade, P."""
        return np.cumsum(np.column_stack(self._terms()), axis=0)

    def frame(self) -> polars.DataFrame:
        """One row per step, for plotting."""
        import polars

        columns = {"t": self.t, "episode": self.episodes.number[self.row], "state": self.state, "action": self.action}
        terms = dict(zip(Errors._fields, self._terms(), strict=True))
        return polars.DataFrame({**columns, "left": self.left, **terms, "gap": self.gap, "held": self.held})

    def _terms(self) -> tuple[Vector, ...]:
        return self.club, self.diamond, self.heart, self.spade, self.P

    def __repr__(self) -> str:
        sums = ", ".join(f"{name}={value:.6g}" for name, value in zip(Errors._fields, self.sums, strict=True))
        count = f"{self.t.size} steps, {self.episodes.number.size} episodes"
        return f"Decomposition({count}; left={self.left.sum():.6g}, {sums})"


def decompose(
    model: Model, agent: TocUCRL2, steps: int, seed: Seed = 0, best: Benchmark | None = None
) -> Decomposition:
    """Run an agent as `simulate` would, and split what every step loses into its five parts.

    Parameters
    ----------
    model : Model
        The true model.
    agent : TocUCRL2
        Changed in place, exactly as by `simulate` with that seed. It may have taken steps before, unless it was loaded
        or copied in the midst of an episode.
    steps, seed : int, int or SeedSequence
        How many steps to take, and the seed of the model. Memory grows with steps times K.
    best : Benchmark, optional
        Of the model; None: it is solved for.

    Examples
    --------
    >>> from equipoise.models import garnet
    >>> from equipoise.rewards import Quadratic
    >>> model = garnet(4, 2, 3, n_outcomes=2, seed=1)
    >>> terms = decompose(model, TocUCRL2(model.space, Quadratic([0.7, 0.7])), 1000)
    >>> terms.holds, bool(terms.held.all()), terms.total.shape
    (True, True, (1000, 5))
    """
    check_run(model, agent, steps, seed)
    pursued = agent.reward.penalised if isinstance(agent.reward, Constrained) else agent.reward
    best = solve(model, pursued) if best is None else best
    if not isinstance(best, Benchmark):
        raise ParameterError(f"best: got {type(best).__name__}; a Benchmark is needed")
    if best.model != model:
        raise ParameterError("best: it is the benchmark of another model")
    first = agent.t
    ((trace, looks),) = record_run(model, agent, int(steps), seed, int(steps))
    row = np.searchsorted(looks.number, trace.episode)
    theta, reference, V, target = trace.theta, looks.theta[row], trace.outcome, best.outcomes
    record = agent.episode_record
    chosen = looks.number - 1
    return Decomposition(
        t=first + np.arange(trace.pair.size),
        row=row,
        state=trace.state,
        action=trace.pair - model.first_pair[trace.state],
        pair=trace.pair,
        outcomes=V,
        theta=theta,
        optimistic=trace.reward,
        left=_dot(-theta, target - V),
        club=_dot(theta - reference, V),
        diamond=trace.reward + _dot(reference, V),
        heart=(reference - theta) @ target,
        spade=trace.spade,
        P=looks.tolerance[row],
        episodes=EpisodeTerms(
            number=looks.number,
            start=record.start[chosen],
            tau=looks.tau,
            gain=record.gain[chosen],
            span=record.span[chosen],
            P=looks.tolerance,
            theta=looks.theta,
            v_held=looks.v_held,
            p_held=looks.p_held,
            v_slack=1.0 - looks.v_used,
            p_slack=1.0 - looks.p_used,
        ),
        best=best,
    )


def _dot(x: Vector, y: Vector) -> Vector:
    """Row by row."""
    return np.asarray(np.einsum("tk,tk->t", x, y))


@final
@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Whether the regions contained the true model.

    Attributes
    ----------
    steps, episodes : int
        Steps taken, and episodes looked at.
    v_held, p_held : bool
        E^v and E^p, up to then.
    v_slack, p_slack : float
        The least slack of any episode: negative exactly if the true model was missed, 1 if no bound was ever binding.
    missed : int or None
        When the first episode whose regions missed the true model began.

    Examples
    --------
    >>> Coverage(steps=1000, episodes=20, v_held=True, p_held=False, v_slack=0.6, p_slack=-0.1, missed=17).held
    False
    """

    steps: int
    episodes: int
    v_held: bool
    p_held: bool
    v_slack: float
    p_slack: float
    missed: int | None

    @property
    def held(self) -> bool:
        """Both events."""
        return self.v_held and self.p_held


def coverage(model: Model, agent: TocUCRL2, steps: int, seed: Seed = 0) -> Coverage:
    """Run an agent as `simulate` would, and check the regions of every episode.

    Parameters
    ----------
    model : Model
        As for `decompose`.
    agent : TocUCRL2
        Changed in place, as by `simulate`. Of an episode under way only the two events are known, not the slack.
    steps, seed
        As for `decompose`.

    Examples
    --------
    >>> from equipoise.models import garnet
    >>> from equipoise.rewards import Linear
    >>> model = garnet(4, 2, 3, n_outcomes=2, seed=1)
    >>> record = coverage(model, TocUCRL2(model.space, Linear([1.0, 0.5])), 1000)
    >>> record.held, record.missed, 0 < record.p_slack < 1
    (True, None, True)
    """
    check_run(model, agent, steps, seed)
    episodes, v_held, p_held, v_used, p_used = 0, True, True, 0.0, 0.0
    missed: int | None = None
    for _, looks in record_run(model, agent, int(steps), seed, _ROWS_AT_A_TIME):
        held = looks.v_held & looks.p_held
        if missed is None and not held.all():
            missed = int(agent.episode_starts[looks.number[np.argmin(held)] - 1])
        episodes += held.size
        v_held &= bool(looks.v_held.all())
        p_held &= bool(looks.p_held.all())
        v_used = float(np.fmax.reduce(looks.v_used, initial=v_used))
        p_used = float(np.fmax.reduce(looks.p_used, initial=p_used))
    return Coverage(
        steps=int(steps),
        episodes=episodes,
        v_held=v_held,
        p_held=p_held,
        v_slack=1.0 - v_used,
        p_slack=1.0 - p_used,
        missed=missed,
    )
