"""The result of a simulation: average outcomes and values at its checkpoints, episodes, and a trace if requested.

Checkpoints are the times at which a run is recorded: those given, or ten per decade, evenly spaced on a log scale.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count, check_float
from equipoise.agents.constraints import ConstraintStatus
from equipoise.errors import ParameterError
from equipoise.models.communication import departures
from equipoise.models.model import Model
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained

if TYPE_CHECKING:
    import polars

_PER_DECADE: Final = 10


class HasValue(Protocol):
    """Anything with a value to compare with, such as a `Benchmark`."""

    @property
    def value(self) -> float:
        """The optimum."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation did, at its checkpoints.

    Attributes
    ----------
    t : int array
        The checkpoints, and where it was stopped: numbers of steps taken since the agent began.
    outcomes : float array, one row per checkpoint
        The average outcome vector of the first t steps.
    values : float array
        g of these averages; without the penalty, if the reward has constraints.
    certified : float array
        The certified regret, from the agent's observations alone (see `Certificate`): the least bound of its plans so
        far, less the value. NaN if the agent proves nothing.
    episodes : polars.DataFrame
        All episodes of the agent so far: start, length, trigger, gain, span, sweeps.
    status : str
        "done"; "interrupted" if Ctrl-C came first; "certified" if the condition `until` was met.
    steps : int
        Steps taken by this call.
    seconds : float
        Time taken by this call.
    model : Model
        The world.
    reward : Reward
        What the outcomes are judged by.
    violations : dict
        For a `Constrained` reward, by the names of the constraints: the violation of each, at each checkpoint.
    constraints : tuple of ConstraintStatus
        For a `Constrained` reward, after the last step: name, level, reached and violation of each constraint, and
        whether certificates of the agent have proven that no policy meets it.
    stopping_time : int or None
        That of a `KnapsackAgent`: the steps taken before some resource could run out, or its horizon. None for other
        agents, and while it continues.
    trace : polars.DataFrame or None
        Every step, if requested: t, state, action, one column per outcome, next_state.

    Examples
    --------
    Two arms in turn: after an even number of steps both outcomes have the average 1/2.

    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> run = eq.simulate(model, agent, 100, checkpoints=[1, 100])
    >>> run.t.tolist(), run.outcomes.tolist(), run.values.tolist()
    ([1, 100], [[1.0, 0.0], [0.5, 0.5]], [0.75, 1.0])
    >>> run.status, run.steps, run.regret(1.0).tolist()
    ('done', 100, [0.25, 0.0])
    """

    t: NDArray[np.int64]
    outcomes: NDArray[np.float64]
    values: NDArray[np.float64]
    certified: NDArray[np.float64]
    episodes: polars.DataFrame
    status: str
    steps: int
    seconds: float
    model: Model = field(repr=False)
    reward: Reward
    trace: polars.DataFrame | None = field(default=None, repr=False)
    stopping_time: int | None = None
    violations: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    constraints: tuple[ConstraintStatus, ...] = field(default=(), repr=False)

    def regret(self, best: HasValue | float) -> NDArray[np.float64]:
        """Reg(t) = opt - g(average of the first t outcomes), at each checkpoint.

        Parameters
        ----------
        best : Benchmark or float
            What `solve` gives for the same world and reward, or its value.

        Raises
        ------
        ParameterError
            When it is the optimum of another problem, or of one whose constraints cannot be met.

        Notes
        -----
        With constraints, g is the reward without the penalty, and an average that violates them may well have a
        negative regret: look at `violations` too.
        """
        conflict = getattr(best, "conflict", None)
        if conflict is not None:
            raise ParameterError(f"best: {conflict}; there is no optimum to compare with")
        optimum = best if isinstance(best, numbers.Real) else getattr(best, "value", None)
        value = check_float(optimum, "best", error=ParameterError)
        self._check_problem(best)
        return value - self.values

    def frame(self, best: HasValue | float | None = None) -> polars.DataFrame:
        """One row per checkpoint: t, value, certified, one column per outcome; and the regret, if the optimum is given.

        With constraints there is a column for the violation of each, such as "violation of fill at least 0.9".

        Parameters
        ----------
        best : Benchmark or float, optional
            As for `regret`.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.bandit(2)
        >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
        >>> eq.simulate(model, agent, 100, checkpoints=[10, 100]).frame(best=1.0).select("t", "value", "regret").rows()
        [(10, 1.0, 0.0), (100, 1.0, 0.0)]
        """
        import polars

        columns: dict[str, Any] = {"t": self.t, "value": self.values, "certified": self.certified}
        if best is not None:
            columns["regret"] = self.regret(best)
        columns |= {f"violation of {name}": violation for name, violation in self.violations.items()}
        columns |= dict(zip(self.model.space.outcome_names(columns), self.outcomes.T, strict=True))
        return polars.DataFrame(columns)

    def alternations(self) -> int:
        """N_alt: how often a state was left in which the agent could have stayed, in the steps of this call.

        On the worlds of Claim 3.1 (`models.hub`, `models.star`) it counts departures from a loop; see
        `models.departures`.

        Raises
        ------
        ParameterError
            When the run has no trace.

        Examples
        --------
        >>> import equipoise as eq
        >>> model = eq.models.star(branches=2, diameter=2)
        >>> agent = eq.TocUCRL2(model.space, eq.rewards.Balance([0.5, 0.5]))
        >>> 0 < eq.simulate(model, agent, 1000, trace=True).alternations() < 500
        True
        """
        if self.trace is None:
            raise ParameterError("alternations: the run has no trace; simulate(..., trace=True) keeps one")
        pairs = self.model.first_pair[self.trace["state"].to_numpy()] + self.trace["action"].to_numpy()
        return int(np.isin(pairs, departures(self.model)).sum())

    def _check_problem(self, best: object) -> None:
        """An optimum that names its model and reward must be that of this run."""
        model, reward = getattr(best, "model", None), getattr(best, "reward", None)
        if isinstance(model, Model) and model != self.model:
            raise ParameterError("best: it is the optimum of another world than that of this run")
        if isinstance(reward, Reward) and not _is_judged_alike(reward, self.reward):
            raise ParameterError(f"best: it is the optimum for {reward!r}; the run was judged by {self.reward!r}")

    def __repr__(self) -> str:
        last = f"t={self.t[-1]}, value={self.values[-1]:.6g}" if self.t.size else "no checkpoint"
        return f"Run({self.status}, {last}, {len(self.episodes)} episodes, {self.seconds:.2f} s)"


def violations_at(reward: Reward, outcomes: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The violation of each constraint of a reward at each of these averages; empty if it has none."""
    if not isinstance(reward, Constrained):
        return {}
    rows = np.array([reward.violations(w) for w in outcomes]).reshape(len(outcomes), len(reward.names))
    return dict(zip(reward.names, rows.T, strict=True))


def _is_judged_alike(one: Reward, other: Reward) -> bool:
    """Whether two rewards are the same, up to prices of constraints; or of a family where one changes with time."""
    if isinstance(one, Constrained):
        return one.is_same_problem(other)
    moving = any(reward.kernels.lipschitz is not None for reward in (one, other))
    return one == other or (moving and type(one) is type(other))


def log_spaced(first: int, last: int, per_decade: int = _PER_DECADE) -> NDArray[np.int64]:
    """Whole numbers evenly spaced on a log scale, powers of ten and `last` among them.

    Parameters
    ----------
    first, last : int
        The range, both ends included.
    per_decade : int
        How many from one power of ten to the next.

    Returns
    -------
    numpy.ndarray
        Increasing, without repetition.

    Examples
    --------
    >>> log_spaced(1, 100, per_decade=3).tolist()
    [1, 2, 5, 10, 22, 46, 100]
    """
    decades = int(np.ceil(np.log10(last))) + 1
    grid = np.unique(np.rint(10 ** (np.arange(decades * per_decade + 1) / per_decade)).astype(np.int64))
    return np.unique(np.append(grid[(grid >= first) & (grid <= last)], last))


def resolve_checkpoints(
    checkpoints: Sequence[int] | NDArray[np.int64] | None, done: int, last: int
) -> NDArray[np.int64]:
    """The times at which to record: those given, if they are possible, or ten per decade."""
    if checkpoints is None:
        return log_spaced(done + 1, last)
    try:
        marks = np.array(
            [check_count(mark, "checkpoints", 0, error=ParameterError) for mark in checkpoints], dtype=np.int64
        )
    except TypeError:
        raise ParameterError(f"checkpoints: got {checkpoints!r}; a sequence of whole numbers is needed") from None
    if marks.size and (np.any(np.diff(marks) <= 0) or marks[0] <= done or marks[-1] > last):
        raise ParameterError(f"checkpoints: they must increase and lie in {done + 1} to {last}")
    return marks
