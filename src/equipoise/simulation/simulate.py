"""An agent in a sampled world: the call that most programs make.

The world is sampled, the agent updated and its episodes planned inside one kernel, a stretch at a time (`stretches`).
The faithful agent draws no random number, and the world's randomness at time t is a function of the seed and t alone.
So one seed gives one trajectory: in one call or in several, through a saved file, or stepped by hand with `act`,
`observe` and `model.world(seed)`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import SEEDS, counted, whole
from equipoise._progress import progress_display
from equipoise.agents.base import Agent
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.laws.observing import cases_of
from equipoise.models.model import Model
from equipoise.models.world import Seed
from equipoise.simulation.checkpoints import checked_marks
from equipoise.simulation.interrupting import interruptible
from equipoise.simulation.keeping import Keeping
from equipoise.simulation.run import Run, violations_at
from equipoise.simulation.stretches import stretches
from equipoise.simulation.trace import Trace
from equipoise.simulation.until import Certified

_MOST_STEPS: Final = 10**18
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
    """Run an agent in a world for so many steps; call it again to go on.

    Parameters
    ----------
    model : Model
        The world. It must be communicating, and its space that of the agent.
    agent : Agent
        Changed in place.
    steps : int
        How many steps to take from where the agent is.
    seed : int or SeedSequence
        Seeds the world. To go on with a run, give the same seed again.
    checkpoints : increasing ints, optional
        Times t at which to record; by default ten a decade, log-spaced, and the last.
    trace : bool
        Whether to keep every step, in `Run.trace`; it is then stepped one by one, some ten microseconds each.
    until : Certified, optional
        Stop before all steps are taken, once it is certified that little is lost; the status is then "certified".
    interrupt : {"raise", "return"}
        What Ctrl-C does: raise `SimulationInterrupted`, a KeyboardInterrupt that has the run so far, or return that run
        with the status "interrupted".
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when the run takes longer than a second.
    save : path, optional
        A file to which the agent is saved on the way, once a minute, and when the run ends, however it does. From there
        it goes on: ``simulate(model, Agent.load(path), steps, seed)``, with the same seed.

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
    marks = looks = checked_marks(checkpoints, done, last)
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
    traced = Trace(agent, steps) if trace else None
    walk = stretches(model, agent, last, seed, looks, None if traced is None else traced.advance)
    shown = progress_display("simulating", steps, wanted=progress, unit="steps")
    keeping = None if save is None else Keeping(agent, save)
    with interruptible() as stop, shown as display, contextlib.closing(walk):
        for mark in walk:
            if mark in recorded:
                times.append(agent.t - 1)
                rows.append(agent.average)
                proven.append(agent.best_possible)
            display.done(agent.t - 1 - done)
            if keeping is not None:
                keeping.look()
            certified = until is not None and mark is not None and until.reached(agent)
            if certified or stop.is_set():
                break
    if keeping is not None:
        keeping.save()
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
        trace=None if traced is None else traced.frame(),
        violations=violations_at(agent.reward, outcomes),
    )
    if run.status == "interrupted" and interrupt == "raise":
        raise SimulationInterrupted(run)
    return run


def check_simulation(model: Model, agent: Agent, steps: int, seed: Seed) -> int:
    """Refuse what cannot be simulated, before anything changes; returns the number of steps.

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
    steps = counted(steps, "steps", 1, _MOST_STEPS, error=ParameterError)
    if not isinstance(seed, np.random.SeedSequence):
        whole(seed, "seed", 0, SEEDS, error=ParameterError)
    if model.space != agent.space.table:
        raise ParameterError(f"agent: it was not made for this model: {agent.space.table.difference(model.space)}")
    cases_of(model, agent.space)
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
