"""Environments made here: a model as a Gymnasium environment, and an environment without ends.

Where an episode ends, `Continuing` begins the next at once, as `model_from` does. A truncation is passed on; one that
comes together with a termination is a time limit, as in MO-Gymnasium's fishwood.
"""

from __future__ import annotations

from typing import Any, Final, final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from equipoise.errors import AdapterError, ProtocolError
from equipoise.models.model import Model
from equipoise.models.world import draw_branch, get_sampling

EPISODE_ENDED: Final = "episode_ended"  # keys of `info`
FINAL_OBSERVATION: Final = "final_observation"
ACTION_MASK: Final = "action_mask"  # the key that Gymnasium's own environments have it under


class ModelEnvironment(gymnasium.Env):  # type: ignore[misc]
    """A world as an environment; made by `to_gymnasium`."""

    metadata: Final[dict[str, Any]] = {"render_modes": []}
    render_mode: Final = None

    def __init__(self, model: Model) -> None:
        self.model = model
        self.observation_space = spaces.Discrete(model.n_states)
        self.action_space = spaces.Discrete(max(model.n_actions))
        self.reward_space = spaces.Box(0.0, 1.0, (model.n_outcomes,), np.float64)
        self.reward_dim = model.n_outcomes
        self._state: int | None = None  # before the first reset

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:  # noqa: ARG002
        """Go to the start of the world."""
        super().reset(seed=seed)
        self._state = self.model.start
        return self._state, self._info(self._state)

    def step(self, action: int) -> tuple[int, NDArray[np.float64], bool, bool, dict[str, Any]]:
        """Take an action."""
        if self._state is None:
            raise ProtocolError("step: call reset first; an environment has no state before")
        if not self.action_space.contains(action):
            needed = f"an integer from 0 to {self.action_space.n - 1} is needed"
            raise ProtocolError(f"step: got the action {action!r}; {needed}")
        first, end = self.model.first_pair[self._state : self._state + 2].tolist()
        outcomes = np.empty(self.model.n_outcomes)
        pair = min(first + int(action), end - 1)
        branch = draw_branch(get_sampling(self.model), self.np_random, pair, outcomes)
        self._state = int(self.model.branch_next[branch])
        return self._state, outcomes, False, False, self._info(self._state)

    def _info(self, state: int) -> dict[str, Any]:
        mask = np.zeros(self.action_space.n, np.int8)
        mask[: self.model.n_actions[state]] = 1
        return {ACTION_MASK: mask}

    def __repr__(self) -> str:
        return f"ModelEnvironment({self.model!r})"


def to_gymnasium(model: Model) -> ModelEnvironment:
    """Return a model as a Gymnasium environment with vector rewards, as MO-Gymnasium's environments are.

    Observations are the numbers of the states, rewards the vectors of outcomes (float64 arrays, within `reward_space`).
    ``reset(seed=7)`` begins the trajectory of ``model.world(seed=7)``, bit for bit. The wrappers of MO-Gymnasium work
    on it; ``mo_gymnasium.wrappers.LinearReward`` gives an environment with a scalar reward, for any learner.

    Nothing terminates or is truncated. Where a learner needs episodes, wrap it in ``gymnasium.wrappers.TimeLimit``,
    whose truncations are not steps of the model.

    States may differ in their actions. The action space has the numbers of the state with the most; in other states a
    number beyond the last action stands for the last, so the optimum is that of the model. ``info["action_mask"]``
    marks the actions of the state, and ``env.action_space.sample(mask=info["action_mask"])`` draws one of them.

    Parameters
    ----------
    model : Model
        The model; `model_from` of the environment gives it back.

    Returns
    -------
    gymnasium.Env
        With `reward_space`, `reward_dim` and `model`.

    Examples
    --------
    >>> import equipoise as eq
    >>> env = eq.adapters.to_gymnasium(eq.models.star(branches=3, diameter=4))
    >>> env.observation_space, env.action_space, env.reward_space.shape
    (Discrete(7), Discrete(3), (3,))
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(2)
    >>> observation, reward.tolist(), terminated, truncated, info["action_mask"].tolist()
    (5, [0.0, 0.0, 0.0], False, False, [1, 1, 0])
    """
    if not isinstance(model, Model):
        raise AdapterError(f"model: got {type(model).__name__}; a Model is needed")
    return ModelEnvironment(model)


@final
class Continuing(gymnasium.Wrapper):  # type: ignore[misc]
    """The same environment, with the start of the next episode instead of the end of one.

    ``info["episode_ended"]`` says where that happened, and ``info["final_observation"]`` is what was seen there.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.

    Examples
    --------
    >>> import gymnasium
    >>> env = Continuing(gymnasium.make("FrozenLake-v1", is_slippery=False))
    >>> observation, info = env.reset(seed=0)
    >>> for action in (2, 1):  # to the right, and down into a hole
    ...     observation, reward, terminated, truncated, info = env.step(action)
    >>> observation, terminated, info["episode_ended"], info["final_observation"]
    (0, False, True, 5)
    """

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, and begin the next episode if that ends the present one.

        Parameters
        ----------
        action : object
            For the environment.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        if truncated or not terminated:
            return observation, reward, False, bool(truncated), {**info, EPISODE_ENDED: False}
        first, more = self.env.reset()
        return first, reward, False, False, {**info, **more, EPISODE_ENDED: True, FINAL_OBSERVATION: observation}
