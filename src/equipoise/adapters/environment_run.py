"""An agent in an environment of Gymnasium, step by step: for environments of which no model can be had.

States are numbered as they are met. An agent plans over a fixed number of states, and to one with room for states that
were never met they are the most promising of all, so that it looks for them for a long time. So an agent is made of a
function of the space, over exactly the states met so far. When a new one is met, the agent is made anew with one state
more and absorbs the log: it keeps all that was learnt of the world, and its average begins again. By concavity,
g(average of all steps) is at least the mean of g(average of each stretch), weighted by their lengths: nothing is lost
but what the agent needs to begin with. Most states are met early.

What an agent proves holds for as many states as it was told. Over the states met so far that proves nothing of the
environment, and no certificate is reported; an agent that is given as such, with a space of its own, is told them all.

An end leads to the next start, as in `explore`, and TimeLimit is left out as there. After a truncation by the
environment itself it is reset as well, but that is no transition: the agent is told where it is (`Agent.resume`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from equipoise._checks import SEED_LIMIT, check_count, check_int
from equipoise._runtime.progress import progress_display
from equipoise.adapters.driver import Driver
from equipoise.adapters.runner import limits_left_out
from equipoise.adapters.scaling import Ranges, Request, Scaling, declared_ranges
from equipoise.agents.base import Agent
from equipoise.agents.constraints import ConstraintStatus, constraint_statuses, no_bounds
from equipoise.errors import AdapterError
from equipoise.models.space import Space
from equipoise.simulation.run import resolve_checkpoints, violations_at
from equipoise.simulation.simulate import interruptible

if TYPE_CHECKING:
    import polars

_MOST_STEPS: Final = 10**12
_INTERRUPTS: Final = ("raise", "return")

MakesAgent = Callable[[Space], Agent]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Drive:
    """What an agent did in an environment.

    Attributes
    ----------
    t : int array
        The checkpoints, and where it was stopped: numbers of steps taken.
    outcomes : float array, one row a checkpoint
        The average outcome vector of the first t steps.
    values : float array
        g of these averages; without the penalty, if the reward has constraints.
    certified : float array
        What is lost at most, proven by an agent that was told the number of states; else NaN.
    states : tuple
        The labels of the states, in the order in which they were met.
    resets : int
        How many episodes ended.
    status : str
        "done", or "interrupted" if Ctrl-C came first.
    steps : int
        Steps taken by this call.
    seconds : float
        Time taken by this call.
    agent : Agent
        As it is now.
    scaling : Scaling
        How the outcomes stand for the environment's rewards.
    driver : object
        What `drive` goes on with, if it is given this run.
    violations : dict
        For a `Constrained` reward, by the names of the constraints: what each lacks, at each checkpoint.
    constraints : tuple of ConstraintStatus
        For a `Constrained` reward, after the last step: name, level, reached and violation of each constraint.

    Examples
    --------
    >>> import gymnasium, equipoise as eq
    >>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> reward = eq.rewards.Linear([1.0])
    >>> run = eq.adapters.drive(env, lambda space: eq.recommended(space, reward), 500, ranges=[(0, 1)])
    >>> run.t[-1], len(run.states), run.frame().columns
    (np.int64(500), 11, ['t', 'value', 'certified', 'reward'])
    """

    t: NDArray[np.int64]
    outcomes: NDArray[np.float64]
    values: NDArray[np.float64]
    certified: NDArray[np.float64]
    states: tuple[Hashable, ...]
    resets: int
    status: str
    steps: int
    seconds: float
    agent: Agent
    scaling: Scaling
    driver: Driver
    violations: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    constraints: tuple[ConstraintStatus, ...] = ()

    @property
    def log(self) -> polars.DataFrame:
        """Every step: state, action, the outcomes, next_state, and their labels; for `Model.estimate` and `absorb`."""
        return self.driver.frame()

    def frame(self) -> polars.DataFrame:
        """One row per checkpoint: t, value, certified, one column per violation and per outcome; as `Run.frame`."""
        import polars

        columns: dict[str, Any] = {"t": self.t, "value": self.values, "certified": self.certified}
        columns |= {f"violation of {name}": violation for name, violation in self.violations.items()}
        names = [f'outcome "{name}"' if name in columns else name for name in self.scaling.names]
        columns |= dict(zip(names, self.outcomes.T, strict=True))
        return polars.DataFrame(columns)

    def __repr__(self) -> str:
        last = f"t={self.t[-1]}, value={self.values[-1]:.6g}" if self.t.size else "no checkpoint"
        return f"Drive({self.status}, {last}, {len(self.states)} states, {self.resets} resets, {self.seconds:.2f} s)"


@final
class DriveInterrupted(KeyboardInterrupt):
    """Ctrl-C during `drive`: the agent is whole, and what was done so far is in `run`.

    Attributes
    ----------
    run : Drive
        As `drive` would have returned it, with the status "interrupted"; `drive` takes it to go on.
    """

    def __init__(self, run: Drive) -> None:
        super().__init__(f"interrupted after {run.steps} steps; what was done is in the `run` of this exception")
        self.run = run


def drive(
    env: gymnasium.Env[Any, Any],
    agent: MakesAgent | Agent | Drive,
    steps: int,
    seed: int = 0,
    *,
    outcomes: Sequence[str] | None = None,
    ranges: Ranges | None = None,
    drop: Sequence[int | str] = (),
    episodes: bool = False,
    state: Callable[[Any, Any], Any] | None = None,
    ends: Callable[[bool, bool], bool] | None = None,
    limit: int = 10_000,
    checkpoints: Sequence[int] | NDArray[np.int64] | None = None,
    interrupt: str = "raise",
    progress: bool | None = None,
) -> Drive:
    """Run an agent in an environment itself, numbering its states as they are met.

    For environments with finitely many states of which no model can be had; `model_from` and `simulate` are a thousand
    times faster where it can. What is drawn, and whether an observation is the whole state, does not matter here.

    Parameters
    ----------
    env : gymnasium.Env
        With finitely many actions.
    agent : callable, Agent or Drive
        A function that makes an agent for a space, such as ``lambda space: eq.recommended(space, reward)``: it is
        called anew whenever a new state is met, and the agent absorbs what was seen. Or an agent, whose space then has
        room for all states, and labels for them if the model has. Or what an earlier call returned, to go on with it as
        it began.
    steps : int
        How many steps to take.
    seed : int
        Of the environment, at its first reset.
    outcomes : sequence of str, optional
        As for `explore`.
    ranges : mapping or sequence, optional
        As for `explore`; a range that the environment does not declare must be given.
    drop : sequence
        As for `explore`.
    episodes : bool
        As for `explore`.
    state : callable, optional
        As for `explore`.
    ends : callable, optional
        As for `explore`. Both flags at once are a truncation, unless it says otherwise.
    limit : int
        How many states may be met, with a function that makes agents.
    checkpoints : increasing ints, optional
        Times t at which to record; by default ten a decade, log-spaced, and the last.
    interrupt : {"raise", "return"}
        What Ctrl-C does: raise `DriveInterrupted`, a KeyboardInterrupt that has the run so far, or return that run.
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when the run takes longer than a second.

    Returns
    -------
    Drive
        What was done.

    Raises
    ------
    AdapterError
        When more states are met than there is room for, or something about the environment does not fit the agent.

    See Also
    --------
    equipoise.simulate : With a model, a thousand times faster.

    Examples
    --------
    >>> import gymnasium, equipoise as eq
    >>> reward = eq.rewards.Linear([1.0])
    >>> env = gymnasium.make("CliffWalking-v1")
    >>> run = eq.adapters.drive(env, lambda space: eq.recommended(space, reward), 2_000, ranges=[(-100, 0)])
    >>> run.status, run.states[:3], run.scaling.original(run.outcomes[-1]).tolist()[0] > -10
    ('done', (36, 24, 12), True)
    """
    if not isinstance(env, gymnasium.Env):
        raise AdapterError(f"env: got {type(env).__name__}; a gymnasium.Env is needed, as gymnasium.make returns")
    steps = check_count(steps, "steps", 1, _MOST_STEPS, error=AdapterError)
    seed = check_int(seed, "seed", 0, SEED_LIMIT, error=AdapterError)
    if interrupt not in _INTERRUPTS:
        raise AdapterError(f"interrupt: got {interrupt!r}; 'raise' or 'return' is needed")
    if isinstance(agent, Drive):
        if (outcomes, ranges, state, ends) != (None,) * 4 or tuple(drop) or episodes:
            raise AdapterError(
                "agent: a run goes on as it began; outcomes, ranges, drop, episodes, state and ends are its"
            )
        driver = agent.driver
    else:
        scaling = Request(outcomes, ranges, tuple(drop), bool(episodes), declared_ranges(env)).scaling(None, None)
        driver = Driver(env, agent, scaling, state, ends, check_count(limit, "limit", 1, error=AdapterError))
    done = driver.log.steps
    marks = set(resolve_checkpoints(checkpoints, done, done + steps).tolist())
    began = time.perf_counter()
    times: list[int] = []
    rows: list[NDArray[np.float64]] = []
    proven: list[float] = []

    def record() -> None:
        times.append(driver.log.steps)
        rows.append(driver.log.average)
        proven.append(driver.best_possible)

    shown = progress_display("driving", steps, wanted=progress, unit="steps")
    with limits_left_out(env) as unlimited, interruptible() as stop, shown as display:
        driver.begin(unlimited, seed)
        while driver.log.steps < done + steps and not stop.is_set():
            driver.step()
            if driver.log.steps in marks:
                record()
            display.done(driver.log.steps - done)
    if driver.log.steps > max([done, *times[-1:]]):
        record()
    averages = np.array(rows).reshape(len(rows), len(driver.scaling.names))
    reward = driver.agent.reward
    pursued = np.array([reward.value(w) for w in averages], np.float64)
    run = Drive(
        t=np.array(times, np.int64),
        outcomes=averages,
        values=np.array([reward.objective.value(w) for w in averages], np.float64),
        certified=np.array(proven, np.float64) - pursued,
        states=tuple(driver.numbers),
        resets=driver.resets,
        status="done" if driver.log.steps == done + steps else "interrupted",
        steps=driver.log.steps - done,
        seconds=time.perf_counter() - began,
        agent=driver.agent,
        scaling=driver.scaling,
        driver=driver,
        violations=violations_at(reward, averages),
        constraints=constraint_statuses(reward, driver.log.average, no_bounds(reward)),
    )
    if run.status == "interrupted" and interrupt == "raise":
        raise DriveInterrupted(run)
    return run
