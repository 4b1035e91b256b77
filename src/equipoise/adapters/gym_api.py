"""Gymnasium's interface: reset and step, with errors that name the place, and observations and actions as labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from equipoise.errors import AdapterError, EquipoiseError

_MOST_ACTIONS: Final = 10_000


class StepResult(NamedTuple):
    """What a step of an environment returns."""

    observation: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: Any


def reset_env(env: Any, seed: int | None = None) -> Any:
    """What is seen after a reset."""
    found = _call("reset", partial(env.reset, seed=seed) if seed is not None else env.reset)
    if not isinstance(found, tuple) or len(found) != 2:
        raise AdapterError(f"reset: got {found!r}; Gymnasium asks for two things, observation and info")
    return found[0]


def take_step(env: Any, action: Any, where: str) -> StepResult:
    """What follows an action."""
    found = _call(where, partial(env.step, action))
    if not isinstance(found, tuple) or len(found) != len(StepResult._fields):
        asked = ", ".join(StepResult._fields)
        raise AdapterError(f"{where}: the step returned {found!r}; Gymnasium asks for five things, {asked}")
    return StepResult(*found)


def _call(where: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except EquipoiseError:
        raise
    except Exception as error:
        raise AdapterError(f"{where}: the environment raised {type(error).__name__}: {error}") from error


def to_label(x: Any) -> Hashable:
    """An observation as a label: numbers as they are, arrays and lists as tuples, mappings as tuples of pairs."""
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, Mapping):
        return tuple((key, to_label(value)) for key, value in x.items())
    if isinstance(x, list | tuple):
        return tuple(to_label(one) for one in x)
    if not isinstance(x, Hashable):
        raise AdapterError(
            f"an observation has a {type(x).__name__}, which cannot be a label; give state=, a function of the "
            "observation and the environment that returns one"
        )
    return x


def is_continuous(space: Any) -> bool:
    """Whether a space has real numbers in it, which no table can list."""
    if isinstance(space, spaces.Dict):
        return any(map(is_continuous, space.values()))
    if isinstance(space, spaces.Tuple):
        return any(map(is_continuous, space))
    return isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)


def list_actions(space: Any) -> tuple[list[Any], list[Hashable]]:
    """All actions of a finite space: as an environment takes them, and as labels."""
    values = _values(space)
    return values, [to_label(value) for value in values]


def _values(space: Any) -> list[Any]:
    factors: list[Any]
    if isinstance(space, spaces.Discrete):
        factors = [range(int(space.start), int(space.start) + int(space.n))]
    elif isinstance(space, spaces.MultiBinary):
        factors = [(0, 1)] * int(np.prod(space.shape))
    elif isinstance(space, spaces.MultiDiscrete):
        starts, counts = np.ravel(space.start), np.ravel(space.nvec)
        factors = [range(int(low), int(low) + int(n)) for low, n in zip(starts, counts, strict=True)]
    elif isinstance(space, spaces.Tuple):
        factors = [_values(part) for part in space]
    else:
        raise AdapterError(
            f"the actions are {space}; a finite space is needed: Discrete, MultiDiscrete, MultiBinary, or a Tuple of "
            "these. Wrap the environment with gymnasium.wrappers.TransformAction, or DiscretizeAction"
        )
    size = math.prod(map(len, factors))
    if size > _MOST_ACTIONS:
        raise AdapterError(f"the actions are {space}, which are {size}; at most {_MOST_ACTIONS} can be listed")
    rows = list(itertools.product(*factors))
    if isinstance(space, spaces.Discrete):
        return [number for (number,) in rows]
    return rows if isinstance(space, spaces.Tuple) else [np.array(x, space.dtype).reshape(space.shape) for x in rows]
