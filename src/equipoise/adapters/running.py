"""One step of an environment at a time, as the search and the checks need them.

Three rules say what a step means to a world that goes on for ever.

- An end (`terminated`) leads to the start: the next state is drawn as `reset` draws it.
- A truncation is no event of the world: the flag is not looked at, and TimeLimit is left out.
- Both flags at once may mean either, and some environments set both when their time is up. Who steps is told so,
  unless `ends` decides.

A step is run as it is, or from a snapshot once for all that its random draws can be (`forks`). What the environment
raises is told with the place where it happened.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple, final

import gymnasium
import numpy as np

from equipoise.adapters.asking import answer, first_observation
from equipoise.adapters.draws import GlobalDraws
from equipoise.adapters.forks import Forks, UnlistedDrawError
from equipoise.adapters.labelling import actions_of, continuous, plain
from equipoise.adapters.laws import Ends, Event, has_ended
from equipoise.adapters.snapshots import Rewindable, Snapshot
from equipoise.errors import AdapterError

SEED: Final = 0  # of all walks
NOT_FINITE: Final = (
    "the observations are not finite, so there is no exact model: run an agent in the environment itself with "
    "eq.adapters.drive(..., state=...), a function that makes them finite, or steer a learner that takes them as they "
    "are with eq.adapters.GradientThreshold"
)

State = Callable[[Any, Any], Any]


class Step(NamedTuple):
    """One run of an action.

    Attributes
    ----------
    event : Event
        What followed.
    both : bool
        Whether both flags were set, and nobody said what that means; the event is then one that goes on.
    stopped : bool
        Whether the environment asks to be reset.
    after : Snapshot
        Where the environment was then.
    """

    event: Event
    both: bool
    stopped: bool
    after: Snapshot


@final
class Runner:
    """An environment in use; `release` gives it back.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.
    state : callable, optional
        ``state(observation, env)`` returns the state; None: the observation is the state.
    ends : callable, optional
        ``ends(terminated, truncated)`` says whether the episode has ended.

    Attributes
    ----------
    actions : list
        As the environment takes them.
    action_labels : list
        As labels.
    rewindable : Rewindable
        The environment, which can be put back.
    finite : bool
        Whether states can be listed: the observations have no real numbers, or `state` makes something of them.
    """

    def __init__(self, env: gymnasium.Env, state: State | None, ends: Ends | None) -> None:
        self._env, self._state, self._ends = env, state, ends
        self.actions, self.action_labels = actions_of(env.action_space)
        self.rewindable = Rewindable(env)
        self.finite = state is not None or not continuous(env.observation_space)
        self._whole = self.rewindable.snapshot()
        self._global_states = random.getstate(), np.random.get_state()  # noqa: NPY002
        self._forks = Forks()
        self._globals = GlobalDraws(self._forks)

    def release(self) -> None:
        """Leave the environment as it was found, and the global generators with it."""
        self.rewindable.release()
        random.setstate(self._global_states[0])
        np.random.set_state(self._global_states[1])  # noqa: NPY002

    # -- as it is ----------------------------------------------------------------------------------------------

    def seed(self) -> Hashable:
        """Begin with random generators of a fixed seed, at a start; returns the state."""
        self.rewindable.unfork()
        self.rewindable.restore(self._whole)
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002
        return self._label(first_observation(self.rewindable.top, SEED))

    def settle(self) -> None:
        """Begin from here in future: with all that the environment makes when it first needs it, such as generators."""
        self._whole = self.rewindable.snapshot()

    def reset(self) -> Hashable:
        """Begin an episode; returns the state."""
        return self._label(first_observation(self.rewindable.top))

    def step(self, state: Hashable, number: int) -> Step:
        """Take an action where the environment is.

        Parameters
        ----------
        state : hashable
            The state, for messages.
        number : int
            Of the action.
        """
        where = self.where(state, number)
        observation, reward, terminated, truncated, _ = answer(self.rewindable.top, self.actions[number], where)
        both = bool(terminated and truncated) and self._ends is None
        ended = has_ended(terminated, truncated, self._ends)
        vector = tuple(float(r) for r in np.ravel(reward))
        if not all(map(math.isfinite, vector)):
            raise AdapterError(f"{where}: the reward is {reward}; finite numbers are needed")
        event = Event(None if ended else self._label(observation), vector, ended)
        return Step(event, both, bool(terminated or truncated), self.rewindable.snapshot())

    # -- for all that it draws -----------------------------------------------------------------------------------

    def fork(self) -> Snapshot:
        """Have draws that fork from now on; returns where the environment is before its first reset."""
        self.seed()
        self.rewindable.fork(self._forks)
        self._globals = GlobalDraws(self._forks)
        return self.rewindable.snapshot()

    def check_globals(self) -> None:
        """Raise an error if the environment drew from a global generator past the forks, since `fork`."""
        self._globals.check()

    def resets(self, home: Snapshot) -> Iterator[tuple[float, Hashable, Snapshot]]:
        """All starts: their probabilities, their states, and where the environment is then.

        Parameters
        ----------
        home : Snapshot
            What `fork` returned.
        """

        def run() -> tuple[Hashable, Snapshot]:
            self.rewindable.restore(home)
            return self.reset(), self.rewindable.snapshot()

        for p, (state, after) in self._followed("reset", run):
            yield p, state, after

    def runs(self, state: Hashable, number: int, here: Snapshot) -> Iterator[tuple[float, Step]]:
        """All that may follow an action, and the probabilities.

        Parameters
        ----------
        state : hashable
            The state, for messages.
        number : int
            Of the action.
        here : Snapshot
            Where the environment is.
        """

        def run() -> Step:
            self.rewindable.restore(here)
            return self.step(state, number)

        yield from self._followed(self.where(state, number), run)

    def where(self, state: Hashable, number: int) -> str:
        """A state and an action, for messages.

        Parameters
        ----------
        state : hashable
            The state.
        number : int
            Of the action.
        """
        return f"state {state!r}, action {self.action_labels[number]!r}"

    def _followed(self, where: str, run: Callable[[], Any]) -> Iterator[tuple[float, Any]]:
        def followed() -> Any:
            with self._globals:
                return run()

        try:
            yield from self._forks.each(followed)
        except UnlistedDrawError as error:
            said = f"{where}: {error}" if self.finite else f"{NOT_FINITE} ({where} draws {error.draw})"
            raise AdapterError(said) from error
        except AdapterError as error:
            if str(error).startswith(where):
                raise
            raise AdapterError(f"{where}: {error}") from error

    def _label(self, observation: Any) -> Hashable:
        if self._state is not None:
            return plain(self._state(observation, self._env))
        space = self._env.observation_space
        if not space.contains(observation):
            parts = getattr(space, "spaces", None)
            outside = ""
            if isinstance(parts, Mapping) and isinstance(observation, Mapping):
                wrong = [key for key, part in parts.items() if not part.contains(observation.get(key))]
                outside = f" ({wrong[0]!r} is not)" if wrong else ""
            raise AdapterError(
                f"the observation {plain(observation)!r} is not in the environment's own observation_space{outside}; "
                "give state=, a function of the observation and the environment that returns the state, such as one "
                "that clips it to the space"
            )
        return plain(observation)
