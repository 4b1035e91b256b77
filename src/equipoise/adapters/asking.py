"""A reset and a step of an environment, as Gymnasium has them; what goes wrong is told with the place where it did."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from equipoise.errors import AdapterError, EquipoiseError


class Answer(NamedTuple):
    """What a step of an environment returns."""

    observation: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: Any


def first_observation(env: Any, seed: int | None = None) -> Any:
    """What is seen after a reset.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.
    seed : int, optional
        Of its generator; None: it goes on.

    Raises
    ------
    AdapterError
        When the environment raises anything, or does not answer as Gymnasium asks it to.
    """
    found = _asked("reset", partial(env.reset, seed=seed) if seed is not None else env.reset)
    if not isinstance(found, tuple) or len(found) != 2:
        raise AdapterError(f"reset: got {found!r}; Gymnasium asks for two things, observation and info")
    return found[0]


def answer(env: Any, action: Any, where: str) -> Answer:
    """What follows an action.

    Parameters
    ----------
    env : gymnasium.Env
        The environment.
    action : object
        As the environment takes it.
    where : str
        The state and the action, for messages.

    Raises
    ------
    AdapterError
        When the environment raises anything, or does not answer as Gymnasium asks it to.
    """
    found = _asked(where, partial(env.step, action))
    if not isinstance(found, tuple) or len(found) != len(Answer._fields):
        asked = ", ".join(Answer._fields)
        raise AdapterError(f"{where}: the step returned {found!r}; Gymnasium asks for five things, {asked}")
    return Answer(*found)


def _asked(where: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except EquipoiseError:
        raise
    except Exception as error:
        raise AdapterError(f"{where}: the environment raised {type(error).__name__}: {error}") from error
