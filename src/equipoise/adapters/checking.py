"""What was found of an environment, held against the environment itself.

That an observation is all there is to the state is an assumption, and so is that a snapshot is all there is to the
environment. One walk is taken without snapshots, with random generators of its own: every step must have a positive
probability. Another goes from snapshot to snapshot, and compares the whole law of every action it takes with the one
that was found, at whatever hidden state it has come to.

Both flags at once, where the law that was found goes on, are taken for a limit of time: the walk begins again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from equipoise.adapters.laws import Event, Law, Laws
from equipoise.adapters.running import SEED, Runner, Step
from equipoise.errors import AdapterError

_EQUAL: Final = 1e-9  # two probabilities of one event
_STATE: Final = "state=, a function of the observation and the environment that returns all that matters"


def walk(runner: Runner, laws: Laws, steps: int) -> None:
    """Take a random walk in the environment itself, and raise an error at a step that has no probability.

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
    for _ in range(steps):
        if begins and state not in laws.start:
            raise AdapterError(f"reset: it led to {state!r}, which has no probability; {_lost(laws)}")
        number = int(rng.integers(len(runner.actions)))
        step = runner.step(state, number)
        law = laws.events[state][number]
        if step.event not in law and not (step.both and _as_an_end(step) in law):
            raise AdapterError(
                f"{runner.where(state, number)}: it led to {step.event}, which has no probability; {_lost(laws)}"
            )
        begins = step.event.ended or step.both
        state = runner.reset() if begins else step.event.state


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
        event = _as_an_end(step) if step.both and step.event not in law else step.event
        found[event] = found.get(event, 0.0) + p
    for event in {**law, **found}:
        if abs(law.get(event, 0.0) - found.get(event, 0.0)) > _EQUAL:
            raise AdapterError(
                f"{runner.where(state, number)}: {event} has the probability {found.get(event, 0.0):g} after one "
                f"history and {law.get(event, 0.0):g} after another, so it has a hidden state. Give {_STATE}, or run "
                "the environment itself with eq.adapters.drive"
            )


def _as_an_end(step: Step) -> Event:
    return Event(None, step.event.reward, True)


def _drawn(weights: Sequence[float], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _lost(laws: Laws) -> str:
    return (
        f"the law of {len(laws.events)} states that was found is not that of the environment. It may have a hidden "
        f"state: give {_STATE}. Or it has a state or a random generator that cannot be put back: run it with "
        "eq.adapters.drive"
    )
