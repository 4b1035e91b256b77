"""The state of a `drive`: the numbers of the states met, a log, and the agent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise.adapters.gym_api import list_actions, reset_env, take_step, to_label
from equipoise.adapters.laws import Ends, has_ended
from equipoise.adapters.scaling import Scaling
from equipoise.agents.base import Agent
from equipoise.errors import AdapterError, EquipoiseError
from equipoise.models.labels import Labels, texts
from equipoise.models.space import Space

if TYPE_CHECKING:
    import gymnasium
    import polars

_FIRST_ROOM: Final = 1024  # steps of a log, before it grows

MakesAgent = Callable[[Space], Agent]


@final
class StepLog:
    """The steps taken, in arrays that grow."""

    def __init__(self, n_outcomes: int) -> None:
        self.steps = 0
        self._places = np.zeros((_FIRST_ROOM, 3), np.int64)
        self._outcomes = np.zeros((_FIRST_ROOM, n_outcomes))
        self._total = np.zeros(n_outcomes)

    def add(self, state: int, action: int, outcomes: Sequence[float], after: int) -> None:
        """Note a step."""
        if self.steps == len(self._places):
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
            self._outcomes = np.concatenate([self._outcomes, np.zeros_like(self._outcomes)])
        self._places[self.steps] = state, action, after
        self._outcomes[self.steps] = outcomes
        self._total += outcomes
        self.steps += 1

    @property
    def average(self) -> NDArray[np.float64]:
        """Of all outcomes so far."""
        return self._total / max(1, self.steps)

    def frame(self, names: Sequence[str], states: Sequence[Hashable], actions: Sequence[Hashable]) -> polars.DataFrame:
        """One row a step, by number and by label."""
        import polars

        state, action, after = self._places[: self.steps].T
        state_texts, action_texts = np.array(texts(states), np.object_), np.array(texts(actions), np.object_)
        return polars.DataFrame(
            {
                "state": state,
                "action": action,
                **dict(zip(names, self._outcomes[: self.steps].T, strict=True)),
                "next_state": after,
                "state_label": state_texts[state].tolist(),
                "action_label": action_texts[action].tolist(),
                "next_state_label": state_texts[after].tolist(),
            }
        )


@final
class Driver:
    """An agent at the wheel."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        agent: Any,
        scaling: Scaling,
        state: Callable[[Any, Any], Any] | None,
        ends: Ends | None,
        limit: int,
    ) -> None:
        self._state, self._ends = state, ends
        self._actions, self._action_labels = list_actions(env.action_space)
        self.scaling = scaling
        self.numbers: dict[Hashable, int] = {}
        self._labels: list[Hashable] = []
        self.log = StepLog(len(scaling.names))
        self.resets = 0
        self._env: Any = None
        self._made: Agent | None = None
        self._maker: MakesAgent | None = None
        if isinstance(agent, Agent):
            self._check(agent)
            self._made, self._limit = agent, agent.space.n_states
            self._labels = list(agent.space.labels.states or ())
            self.numbers = {label: s for s, label in enumerate(self._labels)}
        elif callable(agent):
            self._maker, self._limit = agent, limit
        else:
            raise AdapterError(
                f"agent: got {type(agent).__name__}; an agent is needed, or a function that makes one for a space: "
                "lambda space: eq.recommended(space, reward)"
            )

    @property
    def agent(self) -> Agent:
        """The agent, as it is now."""
        assert self._made is not None
        return self._made

    @property
    def best_possible(self) -> float:
        """What the agent proves of the environment; NaN if nothing."""
        bound = self.agent.best_possible
        return bound if self._maker is None and np.isfinite(bound) else np.nan

    def frame(self) -> polars.DataFrame:
        """The log, with labels."""
        return self.log.frame(self.scaling.names, self._labels, self._action_labels)

    def begin(self, env: gymnasium.Env[Any, Any], seed: int) -> None:
        """Reset the environment, unless it is the one that was driven before."""
        if self._env is not env:
            self._env = env
            self._here = self._number(reset_env(env, seed))
            self._place()

    def step(self) -> None:
        """Take a step."""
        agent, state = self.agent, self._here
        action = agent.act(state)
        where = f"state {self._labels[state]!r}, action {self._action_labels[action]!r}"
        observation, reward, terminated, truncated, _ = take_step(self._env, self._actions[action], where)
        ended = has_ended(terminated, truncated, self._ends)
        outcomes = self.scaling.outcomes([float(r) for r in np.ravel(reward)], ended)
        if ended:
            self.resets += 1
            observation = reset_env(self._env)
        after = self._number(observation)
        self.log.add(state, action, outcomes, after)
        self._here = after
        if after < agent.space.n_states:
            agent.observe(outcomes, after)
        if (truncated or terminated) and not ended:
            self._here = self._number(reset_env(self._env))
        self._place()

    def _place(self) -> None:
        """Have an agent that knows the present state, and that knows that it is there."""
        if self._made is None or self._here >= self._made.space.n_states:
            assert self._maker is not None
            count = len(self.numbers)
            labels = Labels(self._labels, self._action_labels, self.scaling.names)
            space = Space([len(self._actions)] * count, len(self.scaling.names), start=self._here, labels=labels)
            try:
                self._made = self._maker(space)
            except EquipoiseError:
                raise
            except Exception as error:
                raise AdapterError(
                    f"agent: the function, which is given a space, raised {type(error).__name__}: {error}"
                ) from error
            if not isinstance(self._made, Agent) or self._made.space != space:
                raise AdapterError("agent: the function must return an agent that is made for the space it is given")
            if self.log.steps:
                self._made.absorb(self.frame())
        if self._made.state != self._here:
            self._made.resume(self._here)

    def _number(self, observation: Any) -> int:
        label = to_label(observation if self._state is None else self._state(observation, self._env))
        if label not in self.numbers:
            if self._maker is None and self.agent.space.labels.states is not None:
                raise AdapterError(f"state {label!r}: the agent's space has labels for its states, and this is none")
            if len(self.numbers) == self._limit:
                grows = "a function that makes agents grows with the states"
                way_out = grows if self._maker is None else "give limit=, or state="
                raise AdapterError(f"state {label!r}: there is room for {self._limit} states only; {way_out}")
            self.numbers[label] = len(self.numbers)
            self._labels.append(label)
        return self.numbers[label]

    def _check(self, agent: Agent) -> None:
        wrong = [s for s, n in enumerate(agent.space.n_actions) if n != len(self._actions)]
        if wrong:
            raise AdapterError(
                f"agent: its space has {agent.space.n_actions[wrong[0]]} actions in "
                f"{agent.space.labels.name_state(wrong[0])}; the environment has {len(self._actions)}"
            )
        if agent.space.n_outcomes != len(self.scaling.names):
            raise AdapterError(
                f"agent: its space has {agent.space.n_outcomes} outcomes; the environment has "
                f"{len(self.scaling.names)}: {', '.join(self.scaling.names)}"
            )
        if agent.pending:
            raise AdapterError(f"agent: its action of time {agent.t} has not been observed yet; call observe first")
