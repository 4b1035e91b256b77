"""An environment whose episodes follow one another without an end, for goals on averages over all steps.

Where an episode ends, the next one begins at once: the observation of the last step is the first of the next episode,
and nothing is said to terminate. A learner that values the future then sees what follows, as `model_from` does: after
the end of an episode comes the start. Otherwise it would take the end for a place where nothing is earned any more.

A truncation is no event of the world. It is passed on, and the learner's library deals with it as it always does. One
that comes together with a termination is a limit of time, as in MO-Gymnasium's fishwood.
"""

from __future__ import annotations

from typing import Any, Final, final

import gymnasium

ENDED: Final = "episode_ended"
LAST: Final = "final_observation"


@final
class Continuing(gymnasium.Wrapper):  # type: ignore[misc]
    """The same environment, with the start of the next episode in the place of the end of one.

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
            return observation, reward, False, bool(truncated), {**info, ENDED: False}
        first, more = self.env.reset()
        return first, reward, False, False, {**info, **more, ENDED: True, LAST: observation}
