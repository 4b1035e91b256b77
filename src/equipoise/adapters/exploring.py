"""The exact law of a finite environment, by breadth-first search over its states.

From each state that was found, each action is tried from a snapshot of the environment, once for all that its random
draws can be (`running`); each new observation is a new state. Starts that look alike are compared at once, since they
often hide something, such as a card. All else that is taken for granted is checked afterwards, see `checking`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from equipoise._progress import progress_display
from equipoise.adapters.checking import check_law
from equipoise.adapters.laws import Event, Law, Laws
from equipoise.adapters.running import NOT_FINITE, SEED, Runner
from equipoise.adapters.snapshots import Snapshot
from equipoise.errors import AdapterError

_TRIAL: Final = 200  # steps, to see which attributes change
_LOOK_EVERY: Final = 64  # states between two looks whether others do; the first so many are all looked at
_BOTH: Final = (
    "the environment sets terminated and truncated at once; is that an end, or a limit of time? Say so: "
    "ends=lambda terminated, truncated: terminated, or ... terminated and not truncated"
)


def search(runner: Runner, limit: int, progress: bool | None) -> Laws:
    """Find all states and the law of every action.

    Parameters
    ----------
    runner : Runner
        Of the environment.
    limit : int
        How many states may be found.
    progress : bool, optional
        Whether to show how far it is.
    """
    _try(runner)
    with progress_display("exploring", wanted=progress) as display:
        laws = None
        while laws is None:
            laws = _searched(runner, limit, display.tell)
    return laws


def _try(runner: Runner) -> None:
    """Walk a little, to see which attributes of the environment change."""
    rng = np.random.default_rng(SEED)
    state = runner.seed()
    runner.rewindable.share()
    for _ in range(_TRIAL):
        step = runner.step(state, int(rng.integers(len(runner.actions))))
        state = runner.reset() if step.stopped else step.event.state
        runner.rewindable.changed()
    runner.settle()


def _searched(runner: Runner, limit: int, tell: Callable[[str], None]) -> Laws | None:
    """The law; None if an attribute changed in place that was thought not to, and is now copied."""
    home = runner.fork()
    start: dict[Hashable, float] = {}
    waiting: dict[Hashable, Snapshot] = {}
    others: dict[Hashable, Snapshot] = {}  # of starts that look alike
    for p, state, after in runner.resets(home):
        start[state] = start.get(state, 0.0) + p
        if waiting.setdefault(state, after) is not after:
            others[state] = after
    events: dict[Hashable, list[Law]] = {}
    known = set(waiting)
    while waiting:
        state, here = next(iter(waiting.items()))
        del waiting[state]
        events[state] = []
        for number in range(len(runner.actions)):
            law: dict[Event, float] = {}
            for p, step in runner.runs(state, number, here):
                if step.both:
                    raise AdapterError(f"{runner.where(state, number)}: {_BOTH}")
                law[step.event] = law.get(step.event, 0.0) + p
                if not step.event.ended and step.event.state not in known:
                    known.add(step.event.state)
                    waiting[step.event.state] = step.after
            events[state].append(law)
            if state in others:
                check_law(runner, law, list(runner.runs(state, number, others[state])), state, number)
        if len(known) > limit:
            found = f"more than {limit} states were found, such as {list(waiting)[-1]!r}"
            if not runner.finite:
                raise AdapterError(f"{NOT_FINITE} ({found})")
            raise AdapterError(
                f"{found}; give a larger limit=, or state=, a function of the observation and the environment that "
                "returns what matters"
            )
        if (len(events) <= _LOOK_EVERY or len(events) % _LOOK_EVERY == 0) and runner.rewindable.changed():
            return None
        tell(f"exploring, {len(known)} states")
    runner.check_globals()
    return None if runner.rewindable.changed() else Laws(runner.action_labels, start, events)
