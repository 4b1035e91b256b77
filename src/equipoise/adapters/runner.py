"""An environment that can be put back to where it was, and run one step at a time.

- An end (`terminated`) leads to the start: the next state is drawn as `reset` draws it.
- Truncations are ignored, and TimeLimit is left out, as are OrderEnforcing and PassiveEnvChecker.
- Both flags at once may mean either: `ends` decides.

**Snapshots.** The state of an environment and its wrappers is in their attributes. A snapshot keeps those of each, and
restoring it puts copies of them in place: the environment itself is not copied, since many copies lose their state
(Gymnasium's EzPickle). Attributes that never change in place are shared; a trial walk finds them, and `changed` checks
them again and again. What cannot be copied (windows, fonts) is shared too; the checks in `search` find environments
whose state is in such an object, or outside of their attributes. `release` restores everything.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import pickle
import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import gymnasium
import numpy as np
from gymnasium import wrappers

from equipoise.adapters.forks import Forks, GlobalDraws, Replaced, UnlistedDrawError, install, remove
from equipoise.adapters.gym_api import (
    Ends,
    Event,
    has_ended,
    is_continuous,
    list_actions,
    reset_env,
    take_step,
    to_label,
)
from equipoise.errors import AdapterError

SEED: Final = 0  # of all walks
_LEFT_OUT: Final = (wrappers.TimeLimit, wrappers.OrderEnforcing, wrappers.PassiveEnvChecker)
_ATOMS: Final = (int, float, complex, str, bytes, bool, type(None), np.generic, type)
NOT_FINITE: Final = (
    "the observations are not finite, so there is no exact model: run an agent in the environment itself with "
    "eq.adapters.drive(..., state=...), a function that makes them finite, or steer a learner that takes them as they "
    "are with eq.adapters.GradientThreshold"
)

Snapshot = tuple[dict[str, Any], ...]
State = Callable[[Any, Any], Any]


class Step(NamedTuple):
    """One run of an action."""

    event: Event
    both: bool
    stopped: bool
    after: Snapshot


class Runner:
    """An environment in use; `release` gives it back."""

    def __init__(self, env: gymnasium.Env, state: State | None, ends: Ends | None) -> None:
        self._env, self._state, self._ends = env, state, ends
        self.actions, self.action_labels = list_actions(env.action_space)
        self.rewindable = Rewindable(env)
        self.finite = state is not None or not is_continuous(env.observation_space)
        self._whole = self.rewindable.snapshot()
        self._global_states = random.getstate(), np.random.get_state()  # noqa: NPY002
        self._forks = Forks()
        self.globals = GlobalDraws(self._forks)

    def release(self) -> None:
        """Leave the environment as it was found, and the global generators with it."""
        self.rewindable.release()
        random.setstate(self._global_states[0])
        np.random.set_state(self._global_states[1])  # noqa: NPY002

    def seed(self) -> Hashable:
        """Begin with random generators of a fixed seed, at a start; returns the state."""
        self.rewindable.unfork()
        self.rewindable.restore(self._whole)
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002
        return self._label(reset_env(self.rewindable.top, SEED))

    def settle(self) -> None:
        """Begin from here in future: with all that the environment makes when it first needs it, such as generators."""
        self._whole = self.rewindable.snapshot()

    def reset(self) -> Hashable:
        """Begin an episode; returns the state."""
        return self._label(reset_env(self.rewindable.top))

    def step(self, state: Hashable, number: int) -> Step:
        """Take an action where the environment is."""
        where = self.where(state, number)
        observation, reward, terminated, truncated, _ = take_step(self.rewindable.top, self.actions[number], where)
        both = bool(terminated and truncated) and self._ends is None
        ended = has_ended(terminated, truncated, self._ends)
        vector = tuple(float(r) for r in np.ravel(reward))
        if not all(map(math.isfinite, vector)):
            raise AdapterError(f"{where}: the reward is {reward}; finite numbers are needed")
        event = Event(None if ended else self._label(observation), vector, ended)
        return Step(event, both, bool(terminated or truncated), self.rewindable.snapshot())

    def fork(self) -> Snapshot:
        """Have draws that fork from now on; returns where the environment is before its first reset."""
        self.seed()
        self.rewindable.replaced += install(self.rewindable.layers, self._forks)
        self.globals = GlobalDraws(self._forks)
        return self.rewindable.snapshot()

    def resets(self, home: Snapshot) -> Iterator[tuple[float, Hashable, Snapshot]]:
        """All starts: their probabilities, their states, and where the environment is then."""

        def run() -> tuple[Hashable, Snapshot]:
            self.rewindable.restore(home)
            return self.reset(), self.rewindable.snapshot()

        yield from ((p, *found) for p, found in self._follow("reset", run))

    def runs(self, state: Hashable, number: int, here: Snapshot) -> Iterator[tuple[float, Step]]:
        """All that may follow an action, and the probabilities."""

        def run() -> Step:
            self.rewindable.restore(here)
            return self.step(state, number)

        yield from self._follow(self.where(state, number), run)

    def where(self, state: Hashable, number: int) -> str:
        """A state and an action, for messages."""
        return f"state {state!r}, action {self.action_labels[number]!r}"

    def _follow(self, where: str, run: Callable[[], Any]) -> Iterator[tuple[float, Any]]:
        def followed() -> Any:
            with self.globals:
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
            return to_label(self._state(observation, self._env))
        space = self._env.observation_space
        if not space.contains(observation):
            parts, wrong = getattr(space, "spaces", None), []
            if isinstance(parts, Mapping) and isinstance(observation, Mapping):
                wrong = [key for key, part in parts.items() if not part.contains(observation.get(key))]
            outside = f" ({wrong[0]!r} is not)" if wrong else ""
            raise AdapterError(
                f"the observation {to_label(observation)!r} is not in the environment's own observation_space{outside};"
                " give state=, a function of the observation and the environment that returns the state, such as one "
                "that clips it to the space"
            )
        return to_label(observation)


_Place = tuple[int, str]  # an attribute of one of the layers


class Rewindable:
    """An environment with its wrappers, that can be put back."""

    def __init__(self, env: gymnasium.Env) -> None:
        chain = _chain(env)
        self._found = [(layer, dict(vars(layer))) for layer in chain]
        self.layers = _link(chain)
        self.top: gymnasium.Env = self.layers[0]
        self.is_wrapped = len(self.layers) > 1
        self._shared: set[_Place] = set()
        self._first: dict[_Place, bytes | None] = {}
        self.replaced: list[Replaced] = []
        self.restore(self.snapshot())  # copies are used, so that nothing that was found changes in place

    def release(self) -> None:
        """Leave the environment as it was found."""
        self.unfork()
        for layer, attributes in self._found:
            vars(layer).clear()
            vars(layer).update(attributes)

    def unfork(self) -> None:
        """Put the random generators back where `fork` replaced them."""
        remove(self.replaced)
        self.replaced = []

    def share(self) -> None:
        """Share all attributes rather than copy them, until `changed` finds that they change."""
        self._first = {place: _fingerprint(value) for place, value in self._attributes()}
        self._shared = set(self._first)

    def changed(self) -> list[str]:
        """The names of shared attributes that are not what they were; from now on they are copied."""
        held, first = dict(self._attributes()), self._first
        known = [place for place in self._shared if first[place] is not None]
        wrong = [place for place in known if _fingerprint(held.get(place)) != first[place]]
        self._shared.difference_update(wrong)
        return sorted(name for _, name in wrong)

    def snapshot(self) -> Snapshot:
        """What it is in now. It must be restored, or left alone, before it is stepped again."""
        return tuple(dict(vars(layer)) for layer in self.layers)

    def restore(self, snapshot: Snapshot) -> None:
        """Put it back."""
        memo: dict[int, Any] = {id(layer): layer for layer in self.layers}
        for number, (layer, attributes) in enumerate(zip(self.layers, snapshot, strict=True)):
            held = vars(layer)
            held.clear()
            for name, value in attributes.items():
                if isinstance(value, _ATOMS) or name == "env" or (number, name) in self._shared:
                    held[name] = value
                else:
                    held[name] = _copy(value, memo)

    def _attributes(self) -> list[tuple[_Place, Any]]:
        return [((i, name), value) for i, layer in enumerate(self.layers) for name, value in vars(layer).items()]


@contextlib.contextmanager
def limits_left_out(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """While the block lasts, an environment without the wrappers that only count or check."""
    chain = _chain(env)
    links = [(wrapper, wrapper.env) for wrapper in chain[:-1]]
    try:
        yield _link(chain)[0]
    finally:
        for wrapper, inner in links:
            wrapper.env = inner


def _chain(env: gymnasium.Env) -> list[gymnasium.Env]:
    """An environment: its wrappers from the outside, and what they wrap."""
    chain = [env]
    while isinstance(chain[-1], gymnasium.Wrapper):
        chain.append(chain[-1].env)
    return chain


def _link(chain: list[gymnasium.Env]) -> list[gymnasium.Env]:
    """Those that matter, each made to wrap the next of them."""
    kept = [layer for layer in chain if not isinstance(layer, _LEFT_OUT)]
    for outer, inner in itertools.pairwise(kept):
        outer.env = inner
    return kept


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    if type(value) is np.ndarray and value.dtype != np.object_:
        return value.copy()
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # what cannot be copied raises anything; it is shared
        return value


def _fingerprint(value: Any) -> bytes | None:
    """Bytes that tell whether a value has changed; None if that cannot be told."""
    if isinstance(value, gymnasium.Env):
        return None
    try:
        return pickle.dumps(value)
    except Exception:
        return None
