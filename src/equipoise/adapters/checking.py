"""What was found of an environment, held against the environment itself.

That an observation is all there is to the state is an assumption, and so is that a snapshot is all there is to the
environment. One walk is taken without snapshots, with random generators of its own: every step must have a positive
probability, and come as often as that says. Another goes from snapshot to snapshot, and compares the whole law of every
action it takes with the one that was found, at whatever hidden state it has come to.

How often is often enough. Of n draws of an event with probability p, c come with a probability of at most
exp(-n kl(c/n, p)) on either side (Chernoff), kl the relative entropy of two coins. Over all n up to the length of the
walk, and all events, a law that is true is refused with a chance below `_FALSE_ALARM`.

Both flags at once, where the law that was found goes on, are taken for a limit of time: the walk begins again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from scipy.special import rel_entr

from equipoise.adapters.laws import Event, Law, Laws
from equipoise.adapters.running import SEED, Runner, Step
from equipoise.errors import AdapterError

_FALSE_ALARM: Final = 1e-9
_EQUAL: Final = 1e-9  # two probabilities of one event
_STATE: Final = "state=, a function of the observation and the environment that returns all that matters"


def walk(runner: Runner, laws: Laws, steps: int) -> None:
    """Take a random walk in the environment itself, and raise an error at a step that has no probability, or another.

    Parameters
    ----------
    runner : Runner
        Of the environment.
    laws : Laws
        What was found.
    steps : int
        How many to take.
    """
    rng, state = np.random.default_rng(SEED), runner.seed()
    begins = True
    resets: Counter[Hashable] = Counter()
    taken: dict[tuple[Hashable, int], Counter[Event]] = {}
    for _ in range(steps):
        if begins:
            if state not in laws.start:
                raise AdapterError(f"reset: it led to {state!r}, which has no probability; {_lost(laws)}")
            resets[state] += 1
        number = int(rng.integers(len(runner.actions)))
        step = runner.step(state, number)
        law = laws.events[state][number]
        event = _as_found(step, law)
        if event not in law:
            raise AdapterError(
                f"{runner.where(state, number)}: it led to {event}, which has no probability; {_lost(laws)}"
            )
        taken.setdefault((state, number), Counter())[event] += 1
        begins = step.event.ended or step.both
        state = runner.reset() if begins else step.event.state
    many = steps * (len(laws.start) + sum(len(law) for row in laws.events.values() for law in row))
    for (s, a), counts in taken.items():
        _check_frequencies(counts, laws.events[s][a], many, runner.where(s, a), laws)
    _check_frequencies(resets, laws.start, many, "reset", laws)


def compare(runner: Runner, laws: Laws, steps: int) -> None:
    """Walk from snapshot to snapshot, and raise an error where the law of a step is not the one that was found.

    Parameters
    ----------
    runner : Runner
        Of the environment.
    laws : Laws
        What was found.
    steps : int
        How many to take.
    """
    rng = np.random.default_rng(SEED)
    starts = list(runner.resets(runner.fork()))
    here = None
    for _ in range(steps):
        if here is None:
            _, state, here = starts[_drawn([p for p, *_ in starts], rng)]
        number = int(rng.integers(len(runner.actions)))
        runs = list(runner.runs(state, number, here))
        check_law(runner, laws.events[state][number], runs, state, number)
        _, step = runs[_drawn([p for p, _ in runs], rng)]
        state, here = step.event.state, None if step.event.ended or step.both else step.after


def check_law(runner: Runner, law: Law, runs: Sequence[tuple[float, Step]], state: Hashable, number: int) -> None:
    """Raise an error unless what may follow an action has the law that was found.

    Parameters
    ----------
    runner : Runner
        Of the environment.
    law : mapping
        The law that was found.
    runs : sequence
        What may follow, and the probabilities.
    state, number
        The state, and the number of the action.
    """
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


def _check_frequencies(counts: Counter[Any], law: Mapping[Any, float], many: int, where: str, laws: Laws) -> None:
    """Raise an error if something came more often, or less, than its probability has it; `many`: of how many looks."""
    n = counts.total()
    for event, p in law.items() if n else ():
        share = counts[event] / n
        apart = float(rel_entr(share, p) + rel_entr(1.0 - share, max(0.0, 1.0 - p)))
        if n * apart > math.log(2.0 * many / _FALSE_ALARM):
            raise AdapterError(
                f"{where}: {event} came {counts[event]} times of {n}, and its probability is {p:g}; {_lost(laws)}"
            )


def _drawn(weights: Sequence[float], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _lost(laws: Laws) -> str:
    return (
        f"the law of {len(laws.events)} states that was found is not that of the environment. It may have a hidden "
        f"state: give {_STATE}. Or it has a state or a random generator that cannot be put back: run it with "
        "eq.adapters.drive"
    )
