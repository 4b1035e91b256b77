"""The loop that simulations and studies share: it takes steps in stretches of about a tenth of a second.

Within a stretch everything is compiled, if the agent is. Between two of them Python keeps the records, updates a
progress bar, saves, and checks for Ctrl-C.

`StepRecord` takes the steps of a traced run instead, one by one, through the same code as `act` and `observe`: the
trajectory is bit-identical, and a step takes about ten microseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.base import Agent
from equipoise.errors import ParameterError
from equipoise.models.labels import as_column
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.validate import find_branch_cases
from equipoise.models.model import Model
from equipoise.models.world import Seed, draw_branch, get_sampling, stream

if TYPE_CHECKING:
    import polars

_FIRST_STRETCH: Final = 1 << 12  # steps of the first stretch; then as many as take a tenth of a second
_STRETCH_SECONDS: Final = 0.1

Advance = Callable[[Model, np.random.Generator, int], None]


def stretches(
    model: Model, agent: Agent, last: int, seed: Seed, marks: NDArray[np.int64], advance: Advance | None = None
) -> Generator[int | None, None, None]:
    """Take steps until `last` of them are taken; nothing is checked here.

    After each stretch the agent is whole, and may be looked at or saved, by another thread too. Yields the mark that
    was reached, or None.

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
    with agent.loop.exclusive():
        while agent.t <= last:
            target = int(marks[passed]) if passed < marks.size else last
            count = min(target - agent.t + 1, steps)
            started = time.perf_counter()
            take(model, rng, count)
            if time.perf_counter() - started > _STRETCH_SECONDS:
                steps = max(1, count // 2)
            elif count == steps:  # a call cut short by a checkpoint says nothing of longer ones
                steps *= 2
            reached = passed < marks.size and agent.t - 1 == target
            passed += reached
            agent.loop.pause()
            yield target if reached else None


@final
class StepRecord:
    """The steps of a run, in arrays that are filled as they are taken."""

    def __init__(self, model: Model, agent: Agent, steps: int) -> None:
        both = [] if model.laws is None else [name for name in agent.space.outcome_names() if name in model.laws.noises]
        if both:
            raise ParameterError(
                f"trace: {both[0]!r} is an outcome of the agent's space and a noise of the world, and a trace has one "
                "column for each; give the space other labels"
            )
        self._agent = agent
        self._first = agent.t
        self._states = np.zeros(steps, dtype=np.int64)
        self._actions = np.zeros(steps, dtype=np.int64)
        self._after = np.zeros(steps, dtype=np.int64)
        self._outcomes = np.zeros((steps, agent.space.n_outcomes))
        self._cases = np.zeros(steps, dtype=np.int64)
        self._laws: Laws | None = model.laws

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Take up to `steps` steps one by one, and note them."""
        agent, world = self._agent, get_sampling(model)
        cases = find_branch_cases(model, agent.space)
        enough = time.perf_counter() + _STRETCH_SECONDS
        for _ in range(steps):
            row, state = agent.t - self._first, agent.state
            action = agent.loop.take_action()
            branch = draw_branch(world, rng, agent.space.pair(state, action), self._outcomes[row])
            after = int(model.branch_next[branch])
            if model.branch_case is not None:
                self._cases[row] = model.branch_case[branch]
            agent.loop.take_in(self._outcomes[row], after, 0 if cases is None else int(cases[branch]))
            self._states[row], self._actions[row], self._after[row] = state, action, after
            if time.perf_counter() > enough:
                return

    def frame(self) -> polars.DataFrame:
        """One row a step: t, state, action, the outcomes, next_state; labels beside the numbers where there are any."""
        import polars

        done = self._agent.t - self._first
        labels = self._agent.space.labels
        columns: dict[str, object] = {
            "t": np.arange(self._first, self._first + done),
            "state": self._states[:done],
            "action": self._actions[:done],
            **dict(zip(self._agent.space.outcome_names(), self._outcomes[:done].T, strict=True)),
            "next_state": self._after[:done],
            **self._noises(done),
        }
        if labels.states is not None:
            columns["state_label"] = [str(labels.state(s)) for s in self._states[:done].tolist()]
            columns["next_state_label"] = [str(labels.state(s)) for s in self._after[:done].tolist()]
        if labels.actions is not None:
            pairs = zip(self._states[:done].tolist(), self._actions[:done].tolist(), strict=True)
            columns["action_label"] = [str(labels.action(s, a)) for s, a in pairs]
        return polars.DataFrame(columns)

    def _noises(self, done: int) -> dict[str, object]:
        """What was drawn, by the names of the noises that are seen."""
        laws = self._laws
        if laws is None or not laws.noises:
            return {}
        pairs = self._agent.space.first_pair[self._states[:done]] + self._actions[:done]
        sizes = tuple(len(support) for support in laws.supports)
        drawn = np.unravel_index(self._cases[:done] - laws.first_case[pairs], sizes)
        return {
            name: as_column([support[i] for i in values.tolist()])
            for name, support, values in zip(laws.noises, laws.supports, drawn, strict=True)
            if name not in laws.hidden
        }
