"""An agent in a sampled world: `simulate`, its checks, when it stops, and how it saves.

The world is sampled, the agent updated and its episodes planned inside one kernel, a stretch at a time (`stretches`).
The faithful agent draws no random number, and the world's randomness at time t is a function of the seed and t alone.
So one seed gives one trajectory: in one call or in several, through a saved file, or stepped by hand with `act`,
`observe` and `model.world(seed)`.

With `Certified`, the certified regret is checked at fixed times, each one percent after the one before, and at the
checkpoints. So where a run stops depends on its seed, and not on the speed of the machine.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import SEED_LIMIT, check_count, check_float, check_int
from equipoise._runtime.progress import progress_display
from equipoise.agents.base import Agent
from equipoise.agents.budgets import BudgetedAgent
from equipoise.errors import FileError, ParameterError, ProtocolError
from equipoise.models.laws.validate import find_branch_cases
from equipoise.models.model import Model
from equipoise.models.world import Seed
from equipoise.simulation.run import Run, log_spaced, resolve_checkpoints, violations_at
from equipoise.simulation.stretches import StepRecord, stretches

_MAX_STEPS: Final = 10**18
_LOOKS_PER_DECADE: Final = 231  # of the certified regret: one percent apart
_SAVE_SECONDS: Final = 60.0  # between two saves
_SAVE_SPACING: Final = 20.0  # and at least so many times as long as a save takes
_INTERRUPTS: Final = ("raise", "return")


@final
class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `simulate`: the agent is whole, and what was done so far is in `run`.

    Attributes
    ----------
    run : Run
        As `simulate` would have returned it, with the status "interrupted".
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted after {run.steps} steps; what was done is in the `run` of this exception")
        self.run = run


@final
@dataclass(frozen=True)
class Certified:
    """Stopping rule: stop once the certified regret is at most `regret`.

    Parameters
    ----------
    regret : float
        The certified regret: `best_possible` less the value of the average, see `Certificate`.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.star(branches=3, diameter=4)
    >>> agent = eq.recommended(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    >>> run = eq.simulate(model, agent, 10**6, until=Certified(regret=0.01))
    >>> run.status, run.steps < 10_000, float(run.certified[-1]) <= 0.01
    ('certified', True, True)
    """

    regret: float

    def __post_init__(self) -> None:
        amount = check_float(self.regret, "regret", error=ParameterError)
        if not amount > 0.0:
            raise ParameterError(f"regret: got {self.regret}; it must be above 0")

    def check(self, agent: Agent) -> None:
        """Reject an agent that proves nothing, before anything runs.

        Parameters
        ----------
        agent : Agent
            The one to be run.
        """
        if not agent.proves:
            raise ParameterError(
                f"until: {type(agent).__name__} proves nothing about the optimum, so it would never stop; "
                "see agent.certificate()"
            )

    def looks(self, done: int, last: int) -> NDArray[np.int64]:
        """The times at which to look.

        Parameters
        ----------
        done, last : int
            Steps taken before, and in the end.
        """
        return log_spaced(done + 1, last, _LOOKS_PER_DECADE)

    def reached(self, agent: Agent) -> bool:
        """Whether it may stop.

        Parameters
        ----------
        agent : Agent
            Between two steps.
        """
        return agent.best_possible - agent.reward.value(agent.average) <= self.regret


def simulate(
    model: Model,
    agent: Agent,
    steps: int,
    seed: Seed = 0,
    *,
    checkpoints: Sequence[int] | NDArray[np.int64] | None = None,
    trace: bool = False,
    until: Certified | None = None,
    interrupt: str = "raise",
    progress: bool | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Run:
    """Simulate an agent for a number of steps; call again to continue the same run.

    Parameters
    ----------
    model : Model
        The world. It must be communicating, and its space that of the agent.
    agent : Agent
        Changed in place.
    steps : int
        How many steps to take from where the agent is.
    seed : int or SeedSequence
        Seeds the world. To continue a run, give the same seed again.
    checkpoints : increasing ints, optional
        Times t at which to record; by default ten per decade, log-spaced, and the last.
    trace : bool
        Whether to keep every step, in `Run.trace`; steps are then taken one by one, about ten microseconds each.
    until : Certified, optional
        Stop early, once the certified regret is small enough; the status is then "certified".
    interrupt : {"raise", "return"}
        What Ctrl-C does: raise `SimulationInterrupted`, a KeyboardInterrupt that has the run so far, or return that run
        with the status "interrupted".
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when the run takes longer than a second.
    save : path, optional
        A file to which the agent is saved once a minute, and when the run ends, however it does. To continue:
        ``simulate(model, Agent.load(path), steps, seed)``, with the same seed.

    Returns
    -------
    Run
        What was done.

    See Also
    --------
    equipoise.adapters.drive : The same in an environment of Gymnasium.
    equipoise.studies.run_study : Many agents on many problems with many seeds.
    equipoise.Certified : Stop when enough is proven.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> run = simulate(model, agent, steps=1000, seed=7)
    >>> run.t[-1], float(run.values[-1]) > 0.99
    (np.int64(1000), True)
    """
    steps = check_simulation(model, agent, steps, seed)
    if interrupt not in _INTERRUPTS:
        raise ParameterError(f"interrupt: got {interrupt!r}; 'raise' or 'return' is needed")
    done = agent.t - 1
    last = done + steps
    marks = looks = resolve_checkpoints(checkpoints, done, last)
    if until is not None:
        if not isinstance(until, Certified):
            raise ParameterError(f"until: got {until!r}; eq.Certified(regret=0.01) is such a condition")
        until.check(agent)
        looks = np.union1d(marks, until.looks(done, last))
    recorded, certified = set(marks.tolist()), False
    times: list[int] = []
    rows: list[NDArray[np.float64]] = []
    proven: list[float] = []
    began = time.perf_counter()
    record = StepRecord(model, agent, steps) if trace else None
    walk = stretches(model, agent, last, seed, looks, None if record is None else record.advance)
    shown = progress_display("simulating", steps, wanted=progress, unit="steps")
    saver = None if save is None else Autosaver(agent, save)
    with interruptible() as stop, shown as display, contextlib.closing(walk):
        for mark in walk:
            if mark in recorded:
                times.append(agent.t - 1)
                rows.append(agent.average)
                proven.append(agent.best_possible)
            display.done(agent.t - 1 - done)
            if saver is not None:
                saver.maybe_save()
            certified = until is not None and mark is not None and until.reached(agent)
            if certified or stop.is_set():
                break
    if saver is not None:
        saver.save()
    if agent.t <= last and agent.t - 1 > max([done, *times[-1:]]):
        times.append(agent.t - 1)
        rows.append(agent.average)
        proven.append(agent.best_possible)
    outcomes = np.array(rows).reshape(len(rows), model.n_outcomes)
    pursued = np.array([agent.reward.value(w) for w in outcomes], dtype=np.float64)
    ceilings = np.array(proven, dtype=np.float64)
    run = Run(
        t=np.array(times, dtype=np.int64),
        outcomes=outcomes,
        values=np.array([agent.reward.objective.value(w) for w in outcomes], dtype=np.float64),
        certified=np.where(np.isfinite(ceilings), ceilings, np.nan) - pursued,
        episodes=agent.episodes,
        status="certified" if certified else "done" if agent.t > last else "interrupted",
        steps=agent.t - 1 - done,
        seconds=time.perf_counter() - began,
        model=model,
        reward=agent.reward,
        trace=None if record is None else record.frame(),
        stopping_time=agent.stopping_time if isinstance(agent, BudgetedAgent) else None,
        violations=violations_at(agent.reward, outcomes),
        constraints=agent.constraints,
    )
    if run.status == "interrupted" and interrupt == "raise":
        raise SimulationInterrupted(run)
    return run


def check_simulation(model: Model, agent: Agent, steps: int, seed: Seed) -> int:
    """Reject what cannot be simulated, before anything changes; returns the number of steps.

    Parameters
    ----------
    model : Model
        As for `simulate`.
    agent : Agent
        As for `simulate`.
    steps : int
        As for `simulate`.
    seed : int or SeedSequence
        As for `simulate`.

    Returns
    -------
    int
        The number of steps.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> check_simulation(model, agent, 1e5, seed=0)
    100000
    >>> check_simulation(eq.models.bandit(3), agent, 1e5, seed=0)
    Traceback (most recent call last):
    ...
    equipoise.errors.ParameterError: agent: it was not made for this model: ...
    """
    for value, kind, name in ((model, Model, "model"), (agent, Agent, "agent")):
        if not isinstance(value, kind):
            raise ParameterError(f"{name}: got {type(value).__name__}; a {kind.__name__} is needed")
    steps = check_count(steps, "steps", 1, _MAX_STEPS, error=ParameterError)
    if not isinstance(seed, np.random.SeedSequence):
        check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError)
    if model.space != agent.space.table:
        raise ParameterError(f"agent: it was not made for this model: {agent.space.table.difference(model.space)}")
    find_branch_cases(model, agent.space)
    model.require_communicating()
    if agent.pending:
        raise ProtocolError(f"simulate: the action of time {agent.t} has not been observed yet; call observe first")
    horizon = agent.horizon
    if horizon is not None and agent.t - 1 + steps > horizon:
        raise ParameterError(
            f"steps: {agent.t - 1} taken and {steps} asked for, but the agent is made for {horizon}; "
            "give it the full horizon, or use Doubling"
        )
    return steps


@final
class Autosaver:
    """Saves an agent once a minute, and less often if saving takes more than a twentieth of the time.

    The first save is made at once, so that a path that cannot be written is an error before the first step.
    """

    def __init__(self, agent: Agent, path: str | os.PathLike[str]) -> None:
        self._agent = agent
        self._path = path
        self._next = 0.0
        self.save()

    def maybe_save(self) -> None:
        """Save, if it is time to. If that fails, say on a full disk, the run continues: the next save may succeed."""
        if time.perf_counter() >= self._next:
            self._next = time.perf_counter() + _SAVE_SECONDS
            with contextlib.suppress(FileError):
                self.save()

    def save(self) -> None:
        """Save now."""
        began = time.perf_counter()
        self._agent.save(self._path)
        now = time.perf_counter()
        self._next = now + max(_SAVE_SECONDS, _SAVE_SPACING * (now - began))


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event while it lasts, so that it stops a run only between two steps."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
