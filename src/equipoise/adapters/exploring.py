"""The exact law of a finite environment, by breadth-first search over its states.

From each state that was found, each action is tried from a snapshot of the environment, once for all that its random
draws can be (`forks`); each new observation is a new state. Three rules say what a step means to a world that goes on
for ever.

- An end (`terminated`) leads to the start: the next state is drawn as `reset` draws it.
- A truncation is no event of the world: the flag is not looked at, and TimeLimit is left out.
- Both flags at once may mean either, and some environments set both when their time is up. Met in the search it is
  refused, unless `ends` decides; met later, where the law that was found goes on, it is taken for a time limit.

That an observation is all there is to the state is an assumption, and so is that a snapshot is all there is to the
environment. Both are checked on the environment itself. One walk is taken without snapshots, with a random generator
of its own: every step must have a positive probability. Another compares the whole law of every step it takes with
the one that was found, at whatever hidden state the walk has come to.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

import gymnasium
import numpy as np

from equipoise._progress import progress_display
from equipoise.adapters.draws import GlobalDraws
from equipoise.adapters.forks import Forks
from equipoise.adapters.labelling import actions_of, plain
from equipoise.adapters.snapshots import Rewindable, Snapshot
from equipoise.errors import AdapterError, EquipoiseError

_TRIAL: Final = 200  # steps, to see which attributes change
_SEED: Final = 0  # of the walks
_EQUAL: Final = 1e-9  # two probabilities of one event
_LAWS_PER_STEP: Final = 20  # of so many steps of a check, one is of the whole law, which takes longer
_BOTH: Final = (
    "the environment sets terminated and truncated at once; is that an end, or a limit of time? Say so: "
    "ends=lambda terminated, truncated: terminated, or ... terminated and not truncated"
)
_HIDDEN: Final = (
    "so it has a hidden state. Give state=, a function of the observation and the environment that returns all that "
    "matters, or run the environment itself with eq.adapters.drive"
)

State = Callable[[Any, Any], Any]
Ends = Callable[[bool, bool], bool]


class Event(NamedTuple):
    """What may follow an action."""

    state: Hashable  # None after an end, where the next state is a start
    reward: tuple[float, ...]
    ended: bool


class _Step(NamedTuple):
    """One run of an action: what followed, whether by both flags, and where the environment was then."""

    event: Event
    both: bool
    after: Snapshot


Law = Mapping[Event, float]


class Laws(NamedTuple):
    """All that can happen in an environment.

    Attributes
    ----------
    actions : list
        The labels of the actions.
    start : dict
        The states after a reset and their probabilities.
    events : dict
        For each state, in the order in which they were found, the law of each action.
    """

    actions: list[Hashable]
    start: dict[Hashable, float]
    events: dict[Hashable, list[Law]]


@final
class Explorer:
    """Runs an environment for the search and for the checks.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.
    state : callable, optional
        ``state(observation, env)`` returns the label of the state; None: the observation is the state.
    ends : callable, optional
        ``ends(terminated, truncated)`` says whether the episode has ended.
    limit : int
        How many states may be found.
    """

    def __init__(self, env: gymnasium.Env, state: State | None, ends: Ends | None, limit: int) -> None:
        self._state, self._ends, self._limit = state, ends, limit
        self._env = env
        self.actions, self.action_labels = actions_of(env.action_space)
        self.rewindable = Rewindable(env)
        self._global_states = random.getstate(), np.random.get_state()  # noqa: NPY002
        self._forks = Forks()
        self._globals = GlobalDraws(self._forks)

    def reward_size(self) -> int:
        """How many components the reward of a first step has."""
        self._asked("reset", partial(self.rewindable.top.reset, seed=_SEED))
        return int(np.size(self._asked("step", partial(self.rewindable.top.step, self.actions[0]))[1]))

    def search(self, progress: bool | None) -> Laws:
        """Find all states and the law of every action.

        Parameters
        ----------
        progress : bool, optional
            Whether to show how far it is.
        """
        self._try()
        with progress_display("exploring", wanted=progress) as display:
            self._globals = GlobalDraws(self._forks)  # here, since a display may draw while it is made
            laws = self._searched(display.tell)
            while self.rewindable.changed():
                laws = self._searched(display.tell)
        self._globals.check()
        return laws

    def walk(self, laws: Laws, steps: int) -> None:
        """Take a random walk in the environment itself, and raise an error at a step that has no probability.

        Parameters
        ----------
        laws : Laws
            What was found.
        steps : int
            How many to take.
        """
        env, rng = self.rewindable.top, np.random.default_rng(_SEED)
        random.seed(_SEED)
        np.random.seed(_SEED)  # noqa: NPY002
        begun = self._asked("reset", partial(env.reset, seed=_SEED))
        state = None
        for _ in range(steps):
            if state is None:
                state = self._label(begun[0])
                if state not in laws.start:
                    raise AdapterError(f"reset: it led to {state!r}, which has no probability; {_lost(laws)}")
            number = int(rng.integers(len(self.actions)))
            step = self._stepped(state, number)
            fits = [step.event] if not step.both else [step.event, self._event_of_both(step)]
            if not any(event in laws.events[state][number] for event in fits):
                raise AdapterError(
                    f"{self._where(state, number)}: it led to {_shown(step.event)}, which has no probability; "
                    f"{_lost(laws)}"
                )
            state = step.event.state
            if step.event.ended or step.both:
                begun, state = self._asked("reset", env.reset), None

    def compare(self, laws: Laws, steps: int) -> None:
        """Walk from snapshot to snapshot, and raise an error where the law of a step is not the one that was found.

        Parameters
        ----------
        laws : Laws
            What was found.
        steps : int
            How many to take.
        """
        rng = np.random.default_rng(_SEED)
        self.rewindable.seed(_SEED)
        self.rewindable.fork(self._forks)
        home = self.rewindable.snapshot()
        starts = list(self._resets(home))
        here = None
        for _ in range(steps):
            if here is None:
                _, state, here = starts[_drawn([p for p, *_ in starts], rng)]
            number = int(rng.integers(len(self.actions)))
            runs = list(self._runs(state, number, here))
            self._check_law(laws.events[state][number], runs, state, number)
            _, step = runs[_drawn([p for p, _ in runs], rng)]
            stop = step.event.ended or step.both
            state, here = step.event.state, None if stop else step.after

    def release(self) -> None:
        """Leave the environment as it was found, and the global generators with it."""
        self.rewindable.release()
        random.setstate(self._global_states[0])
        np.random.set_state(self._global_states[1])  # noqa: NPY002

    def _try(self) -> None:
        """Walk a little, to see which attributes change."""
        env, rng = self.rewindable.top, np.random.default_rng(_SEED)
        self._asked("reset", partial(env.reset, seed=_SEED))
        self.rewindable.share()
        for _ in range(_TRIAL):
            action = self.actions[int(rng.integers(len(self.actions)))]
            _, _, terminated, truncated, _ = self._asked(f"step({action!r})", partial(env.step, action))
            if terminated or truncated:
                self._asked("reset", env.reset)
            self.rewindable.changed()
        self.rewindable.seed(_SEED)
        self.rewindable.fork(self._forks)

    def _searched(self, tell: Callable[[str], None]) -> Laws:
        home = self.rewindable.snapshot()
        start: dict[Hashable, float] = {}
        waiting: dict[Hashable, Snapshot] = {}
        others: dict[Hashable, Snapshot] = {}  # of starts that look alike, which are often not: hidden cards
        for p, state, after in self._resets(home):
            start[state] = start.get(state, 0.0) + p
            if waiting.setdefault(state, after) is not after:
                others[state] = after
        events: dict[Hashable, list[Law]] = {}
        known = set(waiting)
        while waiting:
            state, here = next(iter(waiting.items()))
            del waiting[state]
            events[state] = []
            for number in range(len(self.actions)):
                law: dict[Event, float] = {}
                for p, step in self._runs(state, number, here):
                    if step.both and self._ends is None:
                        raise AdapterError(f"{self._where(state, number)}: {_BOTH}")
                    law[step.event] = law.get(step.event, 0.0) + p
                    if not step.event.ended and step.event.state not in known:
                        known.add(step.event.state)
                        waiting[step.event.state] = step.after
                events[state].append(law)
                if state in others:
                    self._check_law(law, list(self._runs(state, number, others[state])), state, number)
            if len(known) > self._limit:
                raise AdapterError(
                    f"more than {self._limit} states were found, {_shown_states(list(known))} among them; give a "
                    "larger limit=, or state=, a function of the observation and the environment that returns what "
                    "matters"
                )
            tell(f"exploring, {len(known)} states")
        return Laws(self.action_labels, start, events)

    def _resets(self, home: Snapshot) -> Iterator[tuple[float, Hashable, Snapshot]]:
        def run() -> tuple[Hashable, Snapshot]:
            self.rewindable.restore(home)
            observation, _ = self._asked("reset", self.rewindable.top.reset)
            return self._label(observation), self.rewindable.snapshot()

        for p, (state, after) in self._followed("reset", run):
            yield p, state, after

    def _runs(self, state: Hashable, number: int, here: Snapshot) -> Iterator[tuple[float, _Step]]:
        def run() -> _Step:
            self.rewindable.restore(here)
            return self._stepped(state, number)

        yield from self._followed(self._where(state, number), run)

    def _followed(self, where: str, run: Callable[[], Any]) -> Iterator[tuple[float, Any]]:
        def followed() -> Any:
            with self._globals:
                return run()

        try:
            yield from self._forks.each(followed)
        except AdapterError as error:
            if str(error).startswith(where):
                raise
            raise AdapterError(f"{where}: {error}") from error

    def _stepped(self, state: Hashable, number: int) -> _Step:
        where, action = self._where(state, number), self.actions[number]
        observation, reward, terminated, truncated, _ = self._asked(where, lambda: self.rewindable.top.step(action))
        both = bool(terminated and truncated)
        ended = bool(terminated) and not both if self._ends is None else bool(self._ends(terminated, truncated))
        vector = tuple(float(r) for r in np.ravel(reward))
        if not all(map(math.isfinite, vector)):
            raise AdapterError(f"{where}: the reward is {reward}; finite numbers are needed")
        event = Event(None if ended else self._label(observation), vector, ended)
        return _Step(event, both and self._ends is None, self.rewindable.snapshot())

    def _event_of_both(self, step: _Step) -> Event:
        return Event(None, step.event.reward, True)

    def _check_law(self, law: Law, runs: Sequence[tuple[float, _Step]], state: Hashable, number: int) -> None:
        found: dict[Event, float] = {}
        for p, step in runs:
            event = step.event
            if step.both and event not in law:
                event = self._event_of_both(step)
            found[event] = found.get(event, 0.0) + p
        for event in {**law, **found}:
            if abs(law.get(event, 0.0) - found.get(event, 0.0)) > _EQUAL:
                raise AdapterError(
                    f"{self._where(state, number)}: {_shown(event)} has the probability {found.get(event, 0.0):g} "
                    f"after one history and {law.get(event, 0.0):g} after another, {_HIDDEN}"
                )

    def _label(self, observation: Any) -> Hashable:
        if self._state is not None:
            return plain(self._state(observation, self._env))
        space = self._env.observation_space
        if not space.contains(observation):
            part = [key for key, one in getattr(space, "spaces", {}).items() if not one.contains(observation[key])] if (
                isinstance(observation, Mapping)
            ) else []  # fmt: skip
            raise AdapterError(
                f"the observation {plain(observation)!r} is not in the environment's own observation_space"
                f"{f' ({part[0]!r} is not)' if part else ''}; give state=, a function of the observation and the "
                "environment that returns the state, such as one that clips it to the space"
            )
        return plain(observation)

    def _where(self, state: Hashable, number: int) -> str:
        return f"state {state!r}, action {self.action_labels[number]!r}"

    def _asked(self, where: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except EquipoiseError:
            raise
        except Exception as error:
            raise AdapterError(f"{where}: the environment raised {type(error).__name__}: {error}") from error


def explored(explorer: Explorer, check: int, progress: bool | None) -> Laws:
    """Search an environment, and check what was found on the environment itself.

    Parameters
    ----------
    explorer : Explorer
        Of the environment.
    check : int
        Steps of the walk that checks; of every twentieth the whole law is compared.
    progress : bool, optional
        Whether to show how far the search is.
    """
    laws = explorer.search(progress)
    explorer.compare(laws, check // _LAWS_PER_STEP)
    explorer.walk(laws, check)
    return laws


def _drawn(weights: Sequence[float], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _lost(laws: Laws) -> str:
    return (
        f"the law of {len(laws.events)} states that was found is not that of the environment. It may have a hidden "
        "state: give state=, a function of the observation and the environment that returns all that matters. Or it "
        "has a state or a random generator that cannot be put back: run it with eq.adapters.drive"
    )


def _shown(event: Event) -> str:
    return f"{'an end' if event.ended else f'the state {event.state!r}'} with the reward {list(event.reward)}"


def _shown_states(states: Sequence[Hashable]) -> str:
    return " and ".join(repr(state) for state in states[-2:])
