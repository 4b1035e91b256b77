"""Taking steps a stretch at a time, about a tenth of a second each: the one loop that simulations and studies share.

Within a stretch everything is compiled, if the agent is. Between two of them Python keeps the records, moves a progress
bar, saves, and hears Ctrl-C.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.base import Agent
from equipoise.models.model import Model
from equipoise.models.world import Seed, stream

_FIRST_STRETCH: Final = 1 << 12  # steps before the first look at Ctrl-C; then as many as take a tenth of a second
_SECONDS: Final = 0.1

Advance = Callable[[Model, np.random.Generator, int], None]


def stretches(
    model: Model, agent: Agent, last: int, seed: Seed, marks: NDArray[np.int64], advance: Advance | None = None
) -> Generator[int | None, None, None]:
    """Take steps until `last` of them are taken; nothing is checked here.

    After each stretch the agent is whole, and may be looked at or saved. Yields the mark that was reached, or None.

    Parameters
    ----------
    model : Model
        The world.
    agent : Agent
        Changed in place.
    last : int
        How many steps the agent will have taken in the end.
    seed : int or SeedSequence
        Of the world.
    marks : array of int
        Increasing times to stop at, none of them behind the agent.
    advance : callable, optional
        What takes the steps; None: `Agent.advance`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> agent = eq.agents.baselines.RoundRobin(model.space, eq.rewards.Quadratic([0.5, 0.5]))
    >>> list(stretches(model, agent, last=10, seed=0, marks=np.array([4, 10]))), agent.t
    ([4, 10], 11)
    """
    rng = stream(model, seed, agent.t)
    steps = _FIRST_STRETCH
    passed = 0
    take = agent.advance if advance is None else advance
    with agent.exclusive():
        while agent.t <= last:
            target = int(marks[passed]) if passed < marks.size else last
            count = min(target - agent.t + 1, steps)
            started = time.perf_counter()
            take(model, rng, count)
            if time.perf_counter() - started > _SECONDS:
                steps = max(1, count // 2)
            elif count == steps:  # a call cut short by a checkpoint says nothing of longer ones
                steps *= 2
            reached = passed < marks.size and agent.t - 1 == target
            passed += reached
            yield target if reached else None
