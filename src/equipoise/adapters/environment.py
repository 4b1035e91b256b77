"""A world as a Gymnasium environment with vector rewards, as MO-Gymnasium's environments are.

The observation is the number of the state, the reward is the vector of outcomes. A step takes the same draws of the
same stream as `World.step` does: ``reset(seed=7)`` begins the trajectory of ``model.world(seed=7)``, to the last bit.

Every state has as many actions here as the state with the most of them: in a state that has fewer, a number beyond
its last action stands for the last. What can be done is the same as in the world, and so is the optimum; a learner
that knows nothing of masks runs. ``info["action_mask"]`` says which numbers are actions of the state themselves.

A world goes on for ever: nothing terminates, nothing is truncated.
"""

from __future__ import annotations

from typing import Any, Final, final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from equipoise.errors import ProtocolError
from equipoise.models.model import Model
from equipoise.models.world import drawn_branch, sampling_arrays

MASK: Final = "action_mask"  # the key that Gymnasium's own environments have it under


@final
class ModelEnvironment(gymnasium.Env):  # type: ignore[misc]
    """A world as an environment; made by `to_gymnasium`.

    Parameters
    ----------
    model : Model
        The world.

    Attributes
    ----------
    model : Model
        The world.
    observation_space, action_space : gymnasium.spaces.Discrete
        The states, and as many actions as the state with the most of them has.
    reward_space : gymnasium.spaces.Box
        [0, 1]^K, of float64.
    reward_dim : int
        K.

    Examples
    --------
    >>> from equipoise.models import riverswim
    >>> env = ModelEnvironment(riverswim(3))
    >>> observation, info = env.reset(seed=7)
    >>> observation, info["action_mask"].tolist()
    (0, [1, 1])
    """

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
        """Go to the start of the world.

        Parameters
        ----------
        seed : int, optional
            Begins the world's random stream anew; None: it goes on.
        options : dict, optional
            Not used; every environment takes it.

        Returns
        -------
        observation : int
            The start.
        info : dict
            The mask of its actions.
        """
        super().reset(seed=seed)
        self._state = self.model.start
        return self._state, self._info(self._state)

    def step(self, action: int) -> tuple[int, NDArray[np.float64], bool, bool, dict[str, Any]]:
        """Take an action.

        Parameters
        ----------
        action : int
            Of `action_space`; beyond the last action of the state it stands for the last.

        Returns
        -------
        observation : int
            The next state.
        reward : numpy.ndarray
            The K outcomes.
        terminated, truncated : bool
            False.
        info : dict
            The mask of the actions of the next state.

        Raises
        ------
        ProtocolError
            Before the first `reset`, or when the action is not in `action_space`.
        """
        if self._state is None:
            raise ProtocolError("step: call reset first; an environment has no state before")
        if not self.action_space.contains(action):
            raise ProtocolError(
                f"step: got the action {action!r}; an integer from 0 to {self.action_space.n - 1} is needed"
            )
        first, end = self.model.first_pair[self._state : self._state + 2].tolist()
        outcomes = np.empty(self.model.n_outcomes)
        pair = min(first + int(action), end - 1)
        branch = drawn_branch(sampling_arrays(self.model), self.np_random, pair, outcomes)
        self._state = int(self.model.branch_next[branch])
        return self._state, outcomes, False, False, self._info(self._state)

    def _info(self, state: int) -> dict[str, Any]:
        mask = np.zeros(self.action_space.n, np.int8)
        mask[: self.model.n_actions[state]] = 1
        return {MASK: mask}

    def __repr__(self) -> str:
        return f"ModelEnvironment({self.model!r})"
