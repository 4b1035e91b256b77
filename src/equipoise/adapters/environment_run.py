"""An agent in an environment of Gymnasium, step by step: for environments that cannot be turned into a model.

States are numbered as they are met. A function makes an agent over exactly the states met so far; when a new one is
met, a new agent is made with one state more and absorbs the log, and its average begins again. By concavity g(average
of all steps) is at least the mean of g(average of each stretch), weighted by their lengths. What such an agent proves
does not hold for the environment, so no certificate is reported; an agent with a space of its own has them.

An end leads to the next start, and TimeLimit is left out. After a truncation by the environment itself it is reset,
which is no transition: `Agent.resume` tells the agent its state.
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
from equipoise.adapters.gym_api import Ends, has_ended, list_actions, reset_env, take_step, to_label
from equipoise.adapters.runner import limits_left_out
from equipoise.adapters.scaling import Ranges, Request, Scaling, declared_ranges
from equipoise.agents.base import Agent
from equipoise.agents.constraints import ConstraintStatus, constraint_statuses, no_bounds
from equipoise.errors import AdapterError, EquipoiseError
from equipoise.models.labels import Labels, texts
from equipoise.models.space import Space
from equipoise.simulation.run import resolve_checkpoints, violations_at
from equipoise.simulation.simulate import interruptible

if TYPE_CHECKING:
    import polars

_MOST_STEPS: Final = 10**12
_INTERRUPTS: Final = ("raise", "return")
_FIRST_ROOM: Final = 1024  # steps of a log, before it grows

MakesAgent = Callable[[Space], Agent]


class StepLog:
    """The steps taken so far, in arrays that grow."""

    def __init__(self, n_outcomes: int) -> None:
        self.steps = 0
        self._places = np.zeros((_FIRST_ROOM, 3), np.int64)
        self._outcomes = np.zeros((_FIRST_ROOM, n_outcomes))
        self._total = np.zeros(n_outcomes)

    def add(self, state: int, action: int, outcomes: Sequence[float], after: int) -> None:
        """Note a step."""
        if self.steps == len(self._places):
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
            self._outcomes = np.concatenate([self._outcomes, np.zeros_like(self._outcomes)])
        self._places[self.steps] = state, action, after
        self._outcomes[self.steps] = outcomes
        self._total += outcomes
        self.steps += 1

    @property
    def average(self) -> NDArray[np.float64]:
        """Of all outcomes so far."""
        return self._total / max(1, self.steps)

    def frame(self, names: Sequence[str], states: Sequence[Hashable], actions: Sequence[Hashable]) -> polars.DataFrame:
        """One row a step, by number and by label."""
        import polars

        state, action, after = self._places[: self.steps].T
        state_texts, action_texts = np.array(texts(states), np.object_), np.array(texts(actions), np.object_)
        numbers = {"state": state, "action": action}
        numbers |= dict(zip(names, self._outcomes[: self.steps].T, strict=True)) | {"next_state": after}
        labels = {"state_label": state_texts[state], "action_label": action_texts[action]}
        labels |= {"next_state_label": state_texts[after]}
        return polars.DataFrame(numbers | {name: column.tolist() for name, column in labels.items()})


class Driver:
    """An agent in an environment, the states that it has met, and the log."""

    def __init__(
        self, env: gymnasium.Env[Any, Any], agent: Any, scaling: Scaling, state: Any, ends: Ends | None, limit: int
    ) -> None:
        self._state, self._ends, self.scaling = state, ends, scaling
        self._actions, self._action_labels = list_actions(env.action_space)
        self.numbers: dict[Hashable, int] = {}
        self._labels: list[Hashable] = []
        self.log, self.resets = StepLog(len(scaling.names)), 0
        self._env: Any = None
        self._made: Agent | None = None
        self._maker: MakesAgent | None = None
        if isinstance(agent, Agent):
            self._require_fit(agent)
            self._made, self._limit = agent, agent.space.n_states
            self._labels = list(agent.space.labels.states or ())
            self.numbers = {label: s for s, label in enumerate(self._labels)}
        elif callable(agent):
            self._maker, self._limit = agent, limit
        else:
            raise AdapterError(
                f"agent: got {type(agent).__name__}; an agent is needed, or a function that makes one for a space: "
                "lambda space: eq.recommended(space, reward)"
            )

    @property
    def agent(self) -> Agent:
        """The agent, as it is now."""
        assert self._made is not None
        return self._made

    @property
    def best_possible(self) -> float:
        """What the agent proves of the environment; NaN if nothing."""
        bound = self.agent.best_possible
        return bound if self._maker is None and np.isfinite(bound) else np.nan

    def frame(self) -> polars.DataFrame:
        """The log, with labels."""
        return self.log.frame(self.scaling.names, self._labels, self._action_labels)

    def begin(self, env: gymnasium.Env[Any, Any], seed: int) -> None:
        """Reset the environment, unless it is the one that was driven before."""
        if self._env is not env:
            self._env = env
            self._here = self._number(reset_env(env, seed))
            self._place()

    def step(self) -> None:
        """Take a step."""
        agent, state = self.agent, self._here
        action = agent.act(state)
        where = f"state {self._labels[state]!r}, action {self._action_labels[action]!r}"
        observation, reward, terminated, truncated, _ = take_step(self._env, self._actions[action], where)
        ended = has_ended(terminated, truncated, self._ends)
        outcomes = self.scaling.outcomes([float(r) for r in np.ravel(reward)], ended)
        self.resets += ended
        self._here = after = self._number(reset_env(self._env) if ended else observation)
        self.log.add(state, action, outcomes, after)
        if after < agent.space.n_states:
            agent.observe(outcomes, after)
        if (truncated or terminated) and not ended:
            self._here = self._number(reset_env(self._env))
        self._place()

    def _place(self) -> None:
        if self._made is None or self._here >= self._made.space.n_states:
            assert self._maker is not None
            count = len(self.numbers)
            labels = Labels(self._labels, self._action_labels, self.scaling.names)
            space = Space([len(self._actions)] * count, len(self.scaling.names), start=self._here, labels=labels)
            try:
                self._made = self._maker(space)
            except EquipoiseError:
                raise
            except Exception as error:
                said = f"agent: the function, which is given a space, raised {type(error).__name__}: {error}"
                raise AdapterError(said) from error
            if not isinstance(self._made, Agent) or self._made.space != space:
                raise AdapterError("agent: the function must return an agent that is made for the space it is given")
            if self.log.steps:
                self._made.absorb(self.frame())
        if self._made.state != self._here:
            self._made.resume(self._here)

    def _number(self, observation: Any) -> int:
        label = to_label(observation if self._state is None else self._state(observation, self._env))
        if label not in self.numbers:
            if self._maker is None and self.agent.space.labels.states is not None:
                raise AdapterError(f"state {label!r}: the agent's space has labels for its states, and this is none")
            if len(self.numbers) == self._limit:
                grows = "a function that makes agents grows with the states"
                way_out = grows if self._maker is None else "give limit=, or state="
                raise AdapterError(f"state {label!r}: there is room for {self._limit} states only; {way_out}")
            self.numbers[label] = len(self.numbers)
            self._labels.append(label)
        return self.numbers[label]

    def _require_fit(self, agent: Agent) -> None:
        space, names = agent.space, self.scaling.names
        wrong = [s for s, n in enumerate(space.n_actions) if n != len(self._actions)]
        if wrong:
            found = f"{space.n_actions[wrong[0]]} actions in {space.labels.name_state(wrong[0])}"
            raise AdapterError(f"agent: its space has {found}; the environment has {len(self._actions)}")
        if space.n_outcomes != len(names):
            found = f"{space.n_outcomes} outcomes; the environment has {len(names)}: {', '.join(names)}"
            raise AdapterError(f"agent: its space has {found}")
        if agent.pending:
            raise AdapterError(f"agent: its action of time {agent.t} has not been observed yet; call observe first")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Drive:
    """What an agent did in an environment.

    Attributes
    ----------
    t : int array
        The checkpoints, and where it was stopped: numbers of steps taken.
    outcomes : float array, one row per checkpoint
        The average outcome vector of the first t steps.
    values : float array
        g of these averages; without the penalty, if the reward has constraints.
    certified : float array
        Upper bounds on the regret, proven by an agent that was told the number of states; else NaN.
    states : tuple
        The labels of the states, in the order in which they were met.
    resets : int
        How many episodes ended.
    status : str
        "done", or "interrupted" if Ctrl-C came first.
    steps, seconds : int, float
        Steps and time taken by this call.
    agent : Agent
        As it is now.
    scaling : Scaling
        How the outcomes stand for the environment's rewards.
    driver : object
        What `drive` continues with, if it is given this run.
    violations : dict
        For a `Constrained` reward, by the names of the constraints: the violation at each checkpoint.
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

    For environments with finitely many states that cannot be turned into a model; where they can, `model_from` and
    `simulate` are a thousand times faster. Neither the draws of the environment nor hidden state matter here.

    Parameters
    ----------
    env : gymnasium.Env
        With finitely many actions.
    agent : callable, Agent or Drive
        A function that makes an agent for a space, such as ``lambda space: eq.recommended(space, reward)``: it is
        called again whenever a new state is met, and the agent absorbs what was seen. Or an agent, whose space then has
        room for all states, and labels for them if the model has. Or what an earlier call returned, to continue it.
    steps : int
        How many steps to take.
    seed : int
        Of the environment, at its first reset.
    outcomes, ranges, drop, episodes, state : optional
        As for `explore`; a range that the environment does not declare must be given.
    ends : callable, optional
        As for `explore`. Both flags at once are a truncation, unless it says otherwise.
    limit : int
        How many states may be met, with a function that makes agents.
    checkpoints : increasing ints, optional
        Times t at which to record; by default ten per decade, log-spaced, and the last.
    interrupt : {"raise", "return"}
        What Ctrl-C does: raise `DriveInterrupted`, a KeyboardInterrupt that has the run so far, or return that run.
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when the run takes longer than a second.

    Returns
    -------
    Drive
        What was done.

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
            own = "outcomes, ranges, drop, episodes, state and ends are its"
            raise AdapterError(f"agent: a run goes on as it began; {own}")
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
