"""Observations and actions of Gymnasium as labels: plain, hashable, and the same for what is the same."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from equipoise.errors import AdapterError

_MOST_ACTIONS: Final = 10_000


def plain(x: Any) -> Hashable:
    """An observation as a label: numbers as they are, arrays and lists as tuples, mappings as tuples of pairs.

    Parameters
    ----------
    x : object
        The observation.

    Examples
    --------
    >>> plain(np.array([[1, 2]])), plain({"place": np.int64(3), "full": [True]})
    (((1, 2),), (('place', 3), ('full', (True,))))
    """
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, Mapping):
        return tuple((key, plain(value)) for key, value in x.items())
    if isinstance(x, list | tuple):
        return tuple(plain(one) for one in x)
    if not isinstance(x, Hashable):
        raise AdapterError(
            f"an observation has a {type(x).__name__}, which cannot be a label; give state=, a function of the "
            "observation and the environment that returns one"
        )
    return x


def continuous(space: Any) -> bool:
    """Whether a space has real numbers in it, which no table can list.

    Parameters
    ----------
    space : gymnasium.spaces.Space
        The space of observations.

    Examples
    --------
    >>> grid, plane = spaces.Box(0, 9, (2,), np.int64), spaces.Box(0, 9, (2,), np.float64)
    >>> continuous(grid), continuous(plane), continuous(spaces.Dict(place=plane, full=spaces.Discrete(2)))
    (False, True, True)
    """
    if isinstance(space, spaces.Dict):
        return any(map(continuous, space.values()))
    if isinstance(space, spaces.Tuple):
        return any(map(continuous, space))
    return isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)


def actions_of(space: Any) -> tuple[list[Any], list[Hashable]]:
    """All actions of a finite space: as an environment takes them, and as labels.

    Parameters
    ----------
    space : gymnasium.spaces.Space
        The space of actions.

    Raises
    ------
    AdapterError
        When the space is not finite.

    Examples
    --------
    >>> actions_of(spaces.Discrete(3, start=1))
    ([1, 2, 3], [1, 2, 3])
    >>> actions_of(spaces.MultiDiscrete([1, 2]))[1]
    [(0, 0), (0, 1)]
    """
    values = _values(space)
    return values, [plain(value) for value in values]


def _values(space: Any) -> list[Any]:
    if isinstance(space, spaces.Discrete):
        size, parts = int(space.n), None
    elif isinstance(space, spaces.MultiBinary):
        size, parts = 2 ** int(np.prod(space.shape)), None
    elif isinstance(space, spaces.MultiDiscrete):
        size, parts = int(np.prod(space.nvec)), None
    elif isinstance(space, spaces.Tuple):
        parts = [_values(part) for part in space]
        size = int(np.prod([len(part) for part in parts]))
    else:
        raise AdapterError(
            f"the actions are {space}; a finite space is needed: Discrete, MultiDiscrete, MultiBinary, or a Tuple of "
            "these. Wrap the environment with gymnasium.wrappers.TransformAction, or DiscretizeAction"
        )
    if size > _MOST_ACTIONS:
        raise AdapterError(f"the actions are {space}, which are {size}; at most {_MOST_ACTIONS} can be listed")
    if parts is not None:
        return list(itertools.product(*parts))
    if isinstance(space, spaces.Discrete):
        return list(range(int(space.start), int(space.start) + size))
    if isinstance(space, spaces.MultiBinary):
        digits = itertools.product((0, 1), repeat=int(np.prod(space.shape)))
        return [np.array(row, space.dtype).reshape(space.shape) for row in digits]
    starts, counts = np.ravel(space.start), np.ravel(space.nvec)
    ranges = [range(int(low), int(low) + int(n)) for low, n in zip(starts, counts, strict=True)]
    return [np.array(row, space.dtype).reshape(space.shape) for row in itertools.product(*ranges)]
