"""What a loop of your own needs of an agent: its lock, steps without checks, and the arrays of the compiled kernels.

`simulation` and `theory.recording` are such loops. A loop holds the agent for its whole length and pauses between two
steps or stretches, so that other threads can save or copy it:

    loop = agent.loop
    with loop.exclusive():
        while agent.t <= last:
            action = loop.take_action()
            ...
            loop.take_in(outcomes, next_state)
            loop.pause()

A loop that calls the kernels of `TocUCRL2` itself passes them the agent's arrays and constants, and lets Python do what
they returned for (`state`, `growth`):

            loop.begin_phase_if_due()
            loop.handle_return_code(some_kernel(loop.arrays, loop.constants, ...))
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.state import AgentArrays, PhaseConstants
from equipoise.errors import ProtocolError
from equipoise.oracles.base import Phase

if TYPE_CHECKING:
    from equipoise.agents.base import Agent
    from equipoise.agents.toc_ucrl2 import TocUCRL2


@final
class AgentLock:
    """Lets one thread use an agent, and others save or copy it between two of its steps or stretches."""

    def __init__(self) -> None:
        self._in_use, self._queue, self._whole = (threading.Lock() for _ in range(3))
        self._holder = 0  # the thread that holds `_whole`

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Hold the agent; a second thread that tries, or the same one again, raises `ProtocolError`."""
        if self._holder == threading.get_ident() or not self._in_use.acquire(blocking=False):
            raise ProtocolError("this agent is in use by another thread; give each thread an agent of its own")
        try:
            with self.settle():
                yield
        finally:
            self._in_use.release()

    @contextlib.contextmanager
    def settle(self) -> Iterator[None]:
        """Wait until no step is under way, and hold all others up; at once in the thread that holds the agent."""
        here = threading.get_ident()
        if self._holder == here:
            yield
            return
        self._acquire(here)
        try:
            yield
        finally:
            if self._holder == here:  # not if Ctrl-C came during a pause
                self._release()

    def pause(self) -> None:
        """Let threads in that wait to save or copy; called by the thread that uses the agent, between two stretches."""
        self._release()
        self._acquire(threading.get_ident())

    def _acquire(self, thread: int) -> None:
        with self._queue:
            self._whole.acquire()
        self._holder = thread

    def _release(self) -> None:
        self._holder = 0
        self._whole.release()


class Loop:
    """For loops of your own around any agent: its lock, and steps without checks. `Agent.loop` makes one.

    Parameters
    ----------
    agent : Agent
        The agent.

    Examples
    --------
    >>> import equipoise as eq
    >>> import numpy as np
    >>> model = eq.models.bandit(2)
    >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> with agent.loop.exclusive():
    ...     for _ in range(10):
    ...         action = agent.loop.take_action()
    ...         agent.loop.take_in(np.eye(2)[action], 0)
    >>> agent.average.tolist()
    [0.5, 0.5]
    """

    def __init__(self, agent: Agent) -> None:
        self._any = agent

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the agent; while it lasts, a second thread that uses it gets an error.

        Yields
        ------
        None
            While it holds the lock.
        """
        with self._any._lock.use():
            yield

    @contextlib.contextmanager
    def settled(self) -> Iterator[None]:
        """Wait until no step is under way in another thread, and hold up the next one while it lasts.

        `save`, `copy` and `pickle` do so: while another thread simulates, they wait for the end of its stretch of
        steps, about a tenth of a second.

        Yields
        ------
        None
            While nothing of the agent changes.
        """
        with self._any._lock.settle():
            yield

    def pause(self) -> None:
        """Let threads in that wait to save or copy the agent; called within `exclusive`, between two steps."""
        self._any._lock.pause()

    def take_action(self) -> int:
        """As `act` in the present state; only the answer is checked."""
        return self._any._take_action()

    def take_in(self, outcomes: NDArray[np.float64], next_state: int, case: int = 0) -> None:
        """As `observe`; nothing is checked.

        Parameters
        ----------
        outcomes : numpy.ndarray
            The K outcomes of the pending action.
        next_state : int
            The state that it led to.
        case : int
            What was seen of known mechanics, see `Laws`; it is ignored if there are none.
        """
        self._any._take_in(outcomes, next_state, case)


@final
class CompiledLoop(Loop):
    """For loops that call the kernels of `TocUCRL2` themselves. `TocUCRL2.loop` makes one.

    Parameters
    ----------
    agent : TocUCRL2
        The agent.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> run = eq.simulate(model, agent, 100)
    >>> agent.loop.arrays.memory.total.sum(), agent.loop.steps_left_in_phase() is None
    (np.float64(100.0), True)
    """

    def __init__(self, agent: TocUCRL2) -> None:
        super().__init__(agent)
        self._agent = agent

    @property
    def arrays(self) -> AgentArrays:
        """The arrays that kernels work on. Ask again after `handle_return_code`, which may replace some."""
        return self._agent._arrays

    @property
    def constants(self) -> PhaseConstants:
        """The constants and addresses of the present phase. Ask again after `begin_phase_if_due`."""
        return self._agent._constants

    @property
    def phase(self) -> Phase:
        """The oracle's present phase; the first before anything was planned."""
        return self._agent._phase

    def steps_left_in_phase(self) -> int | None:
        """How many steps may be taken until the oracle restarts; None if it never does."""
        return self._agent._steps_left_in_phase()

    def begin_phase_if_due(self) -> None:
        """Restart the oracle, and under `Doubling` with fresh counts everything else, if its phase is over."""
        self._agent._begin_phase_if_due()

    def handle_return_code(self, code: int) -> None:
        """Do what a kernel returned for: enlarge an array, continue a plan, or raise the error that stopped it.

        Parameters
        ----------
        code : int
            What the kernel returned, see `agents.state`; nothing is done for `DONE` and `BUDGET_GONE`.

        Raises
        ------
        ConvergenceError
            If the planner did not reach its tolerance.
        ContractError
            If the bounds of the confidence are not numbers.
        RewardError, OracleError
            If theta is not a number, because of the reward's gradient or conjugate, or of the oracle's step.
        """
        self._agent._handle_return_code(code)
