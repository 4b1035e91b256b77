"""Forking generators in the place of random ones, wherever an environment holds them.

Some environments draw from a generator of their own, others from one that is in a list, in a dictionary or in another
object that they hold, such as a simulator. All of these are followed down from the attributes of the environment, and
what was replaced is kept, so that it can be put back.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

from equipoise.adapters.draws import stand_in
from equipoise.adapters.forks import Forks

_NOT_HELD: Final = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)  # shared by all, or no container


class Planted(NamedTuple):
    """A generator that was replaced.

    Attributes
    ----------
    holder : dict or list
        What it was in: a dictionary, such as that of an object's attributes, or a list.
    place : object
        Its key or its number there.
    original : object
        The generator.
    """

    holder: Any
    place: Any
    original: Any


def plant(roots: Iterable[Any], forks: Forks) -> list[Planted]:
    """Replace all generators that some objects hold; returns what was replaced, for `uproot`.

    Parameters
    ----------
    roots : iterable
        The objects.
    forks : Forks
        What answers the draws.

    Examples
    --------
    >>> import random
    >>> desk = {"dice": [random.Random(1)]}
    >>> replaced = plant([desk], Forks())
    >>> type(desk["dice"][0]).__name__
    'ForkingRandom'
    >>> uproot(replaced)
    >>> type(desk["dice"][0]).__name__
    'Random'
    """
    replaced: list[Planted] = []
    waiting = list(roots)
    seen: set[int] = set()
    while waiting:
        held = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        holder = held if isinstance(held, dict | list | tuple) else vars(held)
        places = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for place, value in places:
            forking = stand_in(value, forks)
            if forking is not None and not isinstance(holder, tuple):
                holder[place] = forking
                replaced.append(Planted(holder, place, value))
            elif _holds(value):
                waiting.append(value)
    return replaced


def uproot(replaced: list[Planted]) -> None:
    """Put the generators back.

    Parameters
    ----------
    replaced : list of Planted
        What `plant` returned.
    """
    for holder, place, original in replaced:
        holder[place] = original


def _holds(value: Any) -> bool:
    """Whether something may hold a generator: a container, or an object with attributes."""
    if isinstance(value, _NOT_HELD):
        return False
    return isinstance(value, dict | list | tuple) or hasattr(value, "__dict__")
