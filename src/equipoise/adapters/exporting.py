"""From a world to Gymnasium: the door out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.adapters._extras import imported
from equipoise.errors import AdapterError
from equipoise.models.model import Model

if TYPE_CHECKING:
    from equipoise.adapters.environment import ModelEnvironment


def to_gymnasium(model: Model) -> ModelEnvironment:
    """Return a world as a Gymnasium environment with vector rewards, as MO-Gymnasium's environments are.

    Observations are the numbers of the states, rewards the vectors of outcomes (float64 arrays, within `reward_space`).
    ``reset(seed=7)`` begins the trajectory of ``model.world(seed=7)``. The wrappers of MO-Gymnasium work on it;
    ``mo_gymnasium.wrappers.LinearReward`` gives an environment with a scalar reward, for any learner.

    A world never ends: where a learner needs episodes, wrap it in ``gymnasium.wrappers.TimeLimit``. Its truncations are
    not steps of the world, which then begins again at its start.

    States may differ in their actions. The action space has the numbers of the state that has the most; in a state
    that has fewer, a number beyond its last action stands for the last: what can be done, and the optimum, are those
    of the world. ``info["action_mask"]`` marks the actions that the state has, as in Gymnasium's Taxi, and
    ``env.action_space.sample(mask=info["action_mask"])`` draws one of them.

    Parameters
    ----------
    model : Model
        The world; `model_from` of the environment gives it back.

    Returns
    -------
    gymnasium.Env
        With `reward_space`, `reward_dim` and `model`.

    Raises
    ------
    MissingExtraError
        When Gymnasium is not installed.

    See Also
    --------
    equipoise.adapters.model_from : The way back.

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
    imported("gymnasium", "gymnasium")
    from equipoise.adapters.environment import ModelEnvironment

    return ModelEnvironment(model)
