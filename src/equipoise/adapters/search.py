"""The exact model of a finite environment, by breadth-first search over its states, and checks of the result.

**Search.** From each state, each action is tried from a snapshot of the environment, once for each result of its random
draws (`runner`); each new observation is a new state. Starts that look alike are compared at once, since they often
hide something, such as a card.

**Checks.** The search assumes that an observation is the whole state, and a snapshot the whole environment. One walk is
taken without snapshots and with ordinary random generators: every step must have a positive probability, and come as
often as that says. Another goes from snapshot to snapshot, and compares all probabilities of every action it takes.

Of n draws of an event with probability p, c come with a probability of at most exp(-n kl(c/n, p)) on either side
(Chernoff), kl the relative entropy of two coins. Over all n up to the length of the walk, and all events, a true law is
rejected with a probability below `_FALSE_ALARM`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from scipy.special import rel_entr

from equipoise._runtime.progress import progress_display
from equipoise.adapters.laws import EnvironmentLaws, Event, Law
from equipoise.adapters.runner import NOT_FINITE, SEED, Runner, Snapshot, Step
from equipoise.errors import AdapterError

_TRIAL: Final = 200  # steps, to see which attributes change
_LOOK_EVERY: Final = 64  # states between two looks whether others do; the first so many are all looked at
_FALSE_ALARM: Final = 1e-9
_EQUAL: Final = 1e-9  # two probabilities of one event
_STATE: Final = "state=, a function of the observation and the environment that returns all that matters"
_BOTH: Final = (
    "the environment sets terminated and truncated at once; is that an end, or a limit of time? Say so: "
    "ends=lambda terminated, truncated: terminated, or ... terminated and not truncated"
)


def search_laws(runner: Runner, limit: int, progress: bool | None) -> EnvironmentLaws:
    """Find all states and the law of every action."""
    rng, state = np.random.default_rng(SEED), runner.seed()
    runner.rewindable.share()
    for _ in range(_TRIAL):  # to see which attributes of the environment change
        step = runner.step(state, int(rng.integers(len(runner.actions))))
        state = runner.reset() if step.stopped else step.event.state
        runner.rewindable.changed()
    runner.settle()
    with progress_display("exploring", wanted=progress) as display:
        laws = None
        while laws is None:
            laws = _search_once(runner, limit, display.tell)
    return laws


def _search_once(runner: Runner, limit: int, tell: Callable[[str], None]) -> EnvironmentLaws | None:
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
    runner.globals.check()  # that nothing was drawn past the forks
    return None if runner.rewindable.changed() else EnvironmentLaws(runner.action_labels, start, events)


def check_walk(runner: Runner, laws: EnvironmentLaws, steps: int) -> None:
    """Take a random walk in the environment itself, and raise an error at a step of no or another probability."""
    rng, state = np.random.default_rng(SEED), runner.seed()
    begins = True
    resets: Counter[Hashable] = Counter()
    taken: dict[tuple[Hashable, int], Counter[Event]] = {}
    for _ in range(steps):
        if begins:
            if state not in laws.start:
                raise AdapterError(f"reset: it led to {state!r}, which has no probability; {_advice(laws)}")
            resets[state] += 1
        number = int(rng.integers(len(runner.actions)))
        step = runner.step(state, number)
        law = laws.events[state][number]
        event = _as_found(step, law)
        if event not in law:
            raise AdapterError(
                f"{runner.where(state, number)}: it led to {event}, which has no probability; {_advice(laws)}"
            )
        taken.setdefault((state, number), Counter())[event] += 1
        begins = step.event.ended or step.both
        state = runner.reset() if begins else step.event.state
    many = steps * (len(laws.start) + sum(len(law) for row in laws.events.values() for law in row))
    for (s, a), counts in taken.items():
        _check_frequencies(counts, laws.events[s][a], many, runner.where(s, a), laws)
    _check_frequencies(resets, laws.start, many, "reset", laws)


def check_snapshots(runner: Runner, laws: EnvironmentLaws, steps: int) -> None:
    """Walk from snapshot to snapshot, and raise an error where the law of a step is not the one that was found."""
    rng = np.random.default_rng(SEED)
    starts = list(runner.resets(runner.fork()))
    here = None
    for _ in range(steps):
        if here is None:
            _, state, here = starts[_draw([p for p, *_ in starts], rng)]
        number = int(rng.integers(len(runner.actions)))
        runs = list(runner.runs(state, number, here))
        check_law(runner, laws.events[state][number], runs, state, number)
        _, step = runs[_draw([p for p, _ in runs], rng)]
        state, here = step.event.state, None if step.event.ended or step.both else step.after


def check_law(runner: Runner, law: Law, runs: Sequence[tuple[float, Step]], state: Hashable, number: int) -> None:
    """Raise an error unless what may follow an action has the law that was found."""
    found: dict[Event, float] = {}
    for p, step in runs:
        event = _as_found(step, law)
        found[event] = found.get(event, 0.0) + p
    for event in {**law, **found}:
        if abs(law.get(event, 0.0) - found.get(event, 0.0)) > _EQUAL:
            raise AdapterError(
                f"{runner.where(state, number)}: {event} has the probability {found.get(event, 0.0):g} after one "
                f"history and {law.get(event, 0.0):g} after another, so it has a hidden state. Give {_STATE}, or run "
                "the environment itself with eq.adapters.drive"
            )


def _as_found(step: Step, law: Law) -> Event:
    """What a step is in a law: with both flags set, that it went on, or else an end."""
    return Event(None, step.event.reward, True) if step.both and step.event not in law else step.event


def _check_frequencies(
    counts: Counter[Any], law: Mapping[Any, float], many: int, where: str, laws: EnvironmentLaws
) -> None:
    """Raise an error if something came more often, or less, than its probability has it; `many`: of how many looks."""
    n = counts.total()
    for event, p in law.items() if n else ():
        share = counts[event] / n
        apart = float(rel_entr(share, p) + rel_entr(1.0 - share, max(0.0, 1.0 - p)))
        if n * apart > math.log(2.0 * many / _FALSE_ALARM):
            raise AdapterError(
                f"{where}: {event} came {counts[event]} times of {n}, and its probability is {p:g}; {_advice(laws)}"
            )


def _draw(weights: Sequence[float], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _advice(laws: EnvironmentLaws) -> str:
    return (
        f"the law of {len(laws.events)} states that was found is not that of the environment. It may have a hidden "
        f"state: give {_STATE}. Or it has a state or a random generator that cannot be put back: run it with "
        "eq.adapters.drive"
    )
