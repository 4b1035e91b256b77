"""Every step of a run: state, action, outcomes, next state; kept when asked for, since a long run has many.

A traced run is stepped one by one, through the same pieces as `act` and `observe`: the trajectory is the same to the
last bit, and a step takes some ten microseconds.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, final

import numpy as np

from equipoise.agents.base import Agent
from equipoise.models.labels import as_column
from equipoise.models.laws.laws import Laws
from equipoise.models.laws.observing import cases_of
from equipoise.models.model import Model
from equipoise.models.world import drawn_branch, sampling_arrays

if TYPE_CHECKING:
    import polars

_PATIENCE: Final = 0.1  # seconds before it comes back, so that Ctrl-C is heard


@final
class Trace:
    """The steps of a run, in arrays that are filled as they are taken.

    Parameters
    ----------
    agent : Agent
        Whose steps.
    steps : int
        How many at the most.
    """

    def __init__(self, agent: Agent, steps: int) -> None:
        self._agent = agent
        self._first = agent.t
        self._states = np.zeros(steps, dtype=np.int64)
        self._actions = np.zeros(steps, dtype=np.int64)
        self._after = np.zeros(steps, dtype=np.int64)
        self._outcomes = np.zeros((steps, agent.space.n_outcomes))
        self._cases = np.zeros(steps, dtype=np.int64)
        self._laws: Laws | None = None

    def advance(self, model: Model, rng: np.random.Generator, steps: int) -> None:
        """Take up to `steps` steps one by one, and note them.

        Parameters
        ----------
        model : Model
            The world.
        rng : numpy.random.Generator
            Its stream.
        steps : int
            How many at the most.
        """
        agent, world = self._agent, sampling_arrays(model)
        cases = cases_of(model, agent.space)
        self._laws = model.laws
        enough = time.perf_counter() + _PATIENCE
        for _ in range(steps):
            row, state = agent.t - self._first, agent.state
            action = agent.take_action()
            branch = drawn_branch(world, rng, agent.space.pair(state, action), self._outcomes[row])
            after = int(model.branch_next[branch])
            if model.branch_case is not None:
                self._cases[row] = model.branch_case[branch]
            agent.take_in(self._outcomes[row], after, 0 if cases is None else int(cases[branch]))
            self._states[row], self._actions[row], self._after[row] = state, action, after
            if time.perf_counter() > enough:
                return

    def frame(self) -> polars.DataFrame:
        """One row a step: t, state, action, the outcomes, next_state; labels beside the numbers where there are any.

        In a world made by a `Mechanics` there is a column for each noise that is seen.
        """
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
