"""What an agent is: it acts, it observes, and `simulate` can run it compiled.

`act` and `observe` alternate, and what cannot have happened is refused before anything changes. `arguments` says how
an agent was made, and `save` and `load` keep it: any agent can be described, stopped and gone on with.
"""

from __future__ import annotations

import abc
import contextlib
import copy
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._numbers import whole
from equipoise.agents.episodes import Episodes, no_episodes
from equipoise.errors import ProtocolError
from equipoise.models.model import Model, Space
from equipoise.rewards.base import Reward


class Agent(abc.ABC):
    """Anything that can be put in charge of a system.

    Attributes
    ----------
    space : Space
        What it knows of the world.
    reward : Reward
        What its outcomes are judged by.
    """

    space: Space
    reward: Reward
    _guard: threading.Lock

    @property
    @abc.abstractmethod
    def t(self) -> int:
        """The time of the next step, from 1."""

    @property
    @abc.abstractmethod
    def state(self) -> int:
        """The state in which the next step will be taken."""

    @property
    @abc.abstractmethod
    def average(self) -> NDArray[np.float64]:
        """The average outcome vector so far; zero before the first step."""

    @property
    @abc.abstractmethod
    def pending(self) -> bool:
        """Whether an action waits to be observed."""

    @property
    def episodes(self) -> Episodes:
        """The record of episodes; empty for an agent without any."""
        return no_episodes(0)

    @property
    def horizon(self) -> int | None:
        """The number of steps that it is made for; None if any."""
        return None

    @property
    def caveat(self) -> str:
        """What is to be said wherever its results are shown, such as that no guarantee covers it; empty if nothing."""
        return ""

    @abc.abstractmethod
    def act(self, state: int) -> int:
        """Choose the action of time t in `state`."""

    @abc.abstractmethod
    def observe(self, outcomes: ArrayLike, next_state: int) -> None:
        """Take in the outcomes of the last action and the state it led to."""

    @abc.abstractmethod
    def arguments(self) -> Mapping[str, Any]:
        """The constructor's arguments but for the space and the reward: numbers, lists, None or components.

        >>> import equipoise as eq
        >>> agent = eq.agents.baselines.FrankWolfeUCB(eq.models.bandit(2).space, eq.rewards.Quadratic([0.5, 0.5]))
        >>> agent.arguments()
        {'delta': 0.05}
        >>> twin = type(agent)(agent.space, agent.reward, **agent.arguments())
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, atomically; `load` gives back an agent that goes on bit for bit."""
        from equipoise.agents.checkpoint import save_agent

        save_agent(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, reward: Reward | None = None) -> Self:
        """Read an agent of this class written by `save`.

        Parameters
        ----------
        path : path
            The file.
        reward : Reward, optional
            Needed only if the agent's reward was a `Custom` one, whose functions are not saved.

        Raises
        ------
        FileError
            When the file is missing, damaged, or holds something else.

        Examples
        --------
        >>> import tempfile
        >>> import equipoise as eq
        >>> model = eq.models.bandit(2)
        >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
        >>> run = eq.simulate(model, agent, 100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     agent.save(f"{folder}/agent.npz")
        ...     eq.agents.baselines.RoundRobin.load(f"{folder}/agent.npz").t
        101
        """
        from equipoise.agents.checkpoint import load_agent

        return load_agent(cls, path, reward)

    @abc.abstractmethod
    def _run(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Take up to `steps` steps in `model`, compiled; it will be called again for the rest."""

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse to be used by two threads at once; kernels would write over each other."""
        if not self._guard.acquire(blocking=False):
            raise ProtocolError("this agent is in use by another thread; give each thread an agent of its own")
        try:
            yield
        finally:
            self._guard.release()

    def _check_act(self, state: int) -> None:
        if self.horizon is not None and self.t > self.horizon:
            raise ProtocolError(f"act: the horizon of {self.horizon} steps that the agent is made for is over")
        if self.pending:
            raise ProtocolError(f"act: the action of time {self.t} has not been observed yet; call observe first")
        whole(state, "state", 0, self.space.n_states - 1, error=ProtocolError)
        if state != self.state:
            came = "the start" if self.t == 1 else "the next state of the last observe"
            raise ProtocolError(f"act: got state {state!r}; {came} was {self.state}")

    def _checked_observation(self, outcomes: ArrayLike, next_state: int) -> tuple[NDArray[np.float64], int]:
        if not self.pending:
            raise ProtocolError(f"observe: no action is waiting at time {self.t}; call act first")
        try:
            vector = np.atleast_1d(np.asarray(outcomes, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise ProtocolError(f"outcomes: got {outcomes!r}; a vector of numbers is needed") from None
        if vector.shape != (self.space.n_outcomes,):
            raise ProtocolError(f"outcomes: got shape {vector.shape}; {self.space.n_outcomes} numbers are needed")
        wrong = np.flatnonzero(~((vector >= 0) & (vector <= 1)))
        if wrong.size:
            raise ProtocolError(f"outcomes[{wrong[0]}]: got {vector[wrong[0]]}; it must lie in [0, 1]")
        return vector, whole(next_state, "next_state", 0, self.space.n_states - 1, error=ProtocolError)


# Positions in the clock of a `ClockedAgent`.
TIME, STATE, PENDING = 0, 1, 2


class ClockedAgent(Agent):
    """An agent that keeps the time, its state and the pair that waits to be observed in an array of three."""

    _clock: NDArray[np.int64]

    @property
    def t(self) -> int:
        """The time of the next step, from 1."""
        return int(self._clock[TIME])

    @property
    def state(self) -> int:
        """The state in which the next step will be taken."""
        return int(self._clock[STATE])

    @property
    def pending(self) -> bool:
        """Whether an action waits to be observed."""
        return bool(self._clock[PENDING] >= 0)

    def __getstate__(self) -> dict[str, object]:
        return {name: part for name, part in self.__dict__.items() if name != "_guard"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._guard = threading.Lock()

    def __copy__(self) -> ClockedAgent:
        return copy.deepcopy(self)

    def _start_clock(self) -> None:
        self._clock = np.array([1, self.space.start, -1])
        self._guard = threading.Lock()
