"""The compiled loop: an agent in a sampled world, and the record of what came of it.

The world is sampled, the agent updated and its episodes planned inside one kernel, a stretch at a time; between
two of them Python keeps the records, moves the progress bar and hears Ctrl-C. The faithful agent draws no random
number, and the world's randomness at time t is a function of the seed and t alone. So one seed gives one trajectory:
in one call or in several, through a saved file, or stepped by hand with `act`, `observe` and `model.world(seed)`.
"""

from __future__ import annotations

import contextlib
import numbers
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import SEEDS, real, whole
from equipoise._progress import progress_display
from equipoise.agents.base import Agent
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.model import Model
from equipoise.models.world import Seed, stream

if TYPE_CHECKING:
    import polars

_FIRST_STRETCH: Final = 1 << 12  # steps before the first look at Ctrl-C; then as many as take a tenth of a second
_STRETCH: Final = 0.1
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
        The checkpoints, and where it was interrupted: numbers of steps taken since the agent began.
    outcomes : float array, one row a checkpoint
        The average outcome vector of the first t steps.
    values : float array
        g of these averages.
    episodes : polars.DataFrame
        All episodes of the agent so far: start, length, trigger, gain, span, sweeps.
    status : str
        "done", or "interrupted" if Ctrl-C came first.
    steps : int
        Steps taken by this call.
    seconds : float
        Time taken by this call.
    """

    t: NDArray[np.int64]
    outcomes: NDArray[np.float64]
    values: NDArray[np.float64]
    episodes: polars.DataFrame
    status: str
    steps: int
    seconds: float

    def regret(self, best: HasValue | float) -> NDArray[np.float64]:
        """Reg(t) = opt - g(average of the first t outcomes), at each checkpoint."""
        optimum = best if isinstance(best, numbers.Real) else getattr(best, "value", None)
        return real(optimum, "best", error=ParameterError) - self.values

    def __repr__(self) -> str:
        last = f"t={self.t[-1]}, value={self.values[-1]:.6g}" if self.t.size else "no checkpoint"
        return f"Run({self.status}, {last}, {len(self.episodes)} episodes, {self.seconds:.2f} s)"


def log_spaced(first: int, last: int, per_decade: int = _PER_DECADE) -> NDArray[np.int64]:
    """Whole numbers from `first` to `last`, evenly spaced on a log scale, powers of ten and `last` among them.

    >>> log_spaced(1, 100, per_decade=3).tolist()
    [1, 2, 5, 10, 22, 46, 100]
    """
    decades = int(np.ceil(np.log10(last))) + 1
    grid = np.unique(np.rint(10 ** (np.arange(decades * per_decade + 1) / per_decade)).astype(np.int64))
    return np.unique(np.append(grid[(grid >= first) & (grid <= last)], last))


def simulate(
    model: Model,
    agent: Agent,
    steps: int,
    seed: Seed = 0,
    *,
    checkpoints: Sequence[int] | NDArray[np.int64] | None = None,
    progress: bool | None = None,
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
    progress : bool, optional
        A progress bar on stderr; by default on a terminal, when the run takes longer than a second.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> run = simulate(model, agent, steps=1000, seed=7)
    >>> run.t[-1], float(run.values[-1]) > 0.99
    (np.int64(1000), True)
    """
    _check_call(model, agent, steps, seed)
    done = agent.t - 1
    last = done + int(steps)
    marks = _checked_marks(checkpoints, done, last)
    times: list[int] = []
    rows: list[NDArray[np.float64]] = []
    began = time.perf_counter()
    walk = stretches(model, agent, last, seed, marks)
    with _interruptible() as stop, _progress(steps, progress) as show, contextlib.closing(walk):
        for mark in walk:
            if mark is not None:
                times.append(mark)
                rows.append(agent.average)
            show(agent.t - 1 - done)
            if stop.is_set():
                break
    if agent.t <= last and agent.t - 1 > max([done, *times[-1:]]):
        times.append(agent.t - 1)
        rows.append(agent.average)
    outcomes = np.array(rows).reshape(len(rows), model.n_outcomes)
    return Run(
        t=np.array(times, dtype=np.int64),
        outcomes=outcomes,
        values=np.array([agent.reward.value(w) for w in outcomes], dtype=np.float64),
        episodes=agent.episodes.frame(agent.t),
        status="done" if agent.t > last else "interrupted",
        steps=agent.t - 1 - done,
        seconds=time.perf_counter() - began,
    )


def stretches(
    model: Model, agent: Agent, last: int, seed: Seed, marks: NDArray[np.int64]
) -> Generator[int | None, None, None]:
    """Take steps until `last` of them are taken, about a tenth of a second at a time; nothing is checked here.

    After each stretch the agent is whole, and may be looked at or saved. Yields the mark that was reached, or None. The
    `marks` are increasing times, none of them behind the agent.
    """
    rng = stream(model, seed, agent.t)
    stretch = _FIRST_STRETCH
    passed = 0
    with agent._alone():
        while agent.t <= last:
            target = int(marks[passed]) if passed < marks.size else last
            asked = min(target - agent.t + 1, stretch)
            started = time.perf_counter()
            agent._run(model, rng, asked)
            if time.perf_counter() - started > _STRETCH:
                stretch = max(1, asked // 2)
            elif asked == stretch:  # a call cut short by a checkpoint says nothing of longer ones
                stretch *= 2
            reached = passed < marks.size and agent.t - 1 == target
            passed += reached
            yield target if reached else None


def _check_call(model: Model, agent: Agent, steps: int, seed: Seed) -> None:
    for value, kind, name in ((model, Model, "model"), (agent, Agent, "agent")):
        if not isinstance(value, kind):
            raise ParameterError(f"{name}: got {type(value).__name__}; a {kind.__name__} is needed")
    whole(steps, "steps", 1, 10**18, error=ParameterError)
    if not isinstance(seed, np.random.SeedSequence):
        whole(seed, "seed", 0, SEEDS, error=ParameterError)
    if model.space != agent.space:
        raise ParameterError(f"agent: it was not made for this model: {agent.space.difference(model.space)}")
    model.require_communicating()
    if agent.pending:
        raise ProtocolError(f"simulate: the action of time {agent.t} has not been observed yet; call observe first")
    horizon = agent.horizon
    if horizon is not None and agent.t - 1 + steps > horizon:
        raise ParameterError(
            f"steps: {agent.t - 1} taken and {steps} asked for, but the agent is made for {horizon}; "
            "give it the full horizon, or use Doubling"
        )


def _checked_marks(checkpoints: Sequence[int] | NDArray[np.int64] | None, done: int, last: int) -> NDArray[np.int64]:
    if checkpoints is None:
        return log_spaced(done + 1, last)
    try:
        marks = np.array([whole(mark, "checkpoints", 0, error=ParameterError) for mark in checkpoints], dtype=np.int64)
    except TypeError:
        raise ParameterError(f"checkpoints: got {checkpoints!r}; a sequence of whole numbers is needed") from None
    if marks.size and (np.any(np.diff(marks) <= 0) or marks[0] <= done or marks[-1] > last):
        raise ParameterError(f"checkpoints: they must increase and lie in {done + 1} to {last}")
    return marks


@contextlib.contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event while it lasts, so that it can only stop a run between two kernels."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():  # the second time in earnest
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextlib.contextmanager
def _progress(steps: int, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """A bar on stderr that appears once the run has lasted a second."""
    with progress_display("simulating", steps, wanted=wanted, unit="steps") as display:
        yield display.done
