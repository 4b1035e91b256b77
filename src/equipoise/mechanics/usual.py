"""Usual laws for supports of any size: those of the named tables at their sizes, and the same shapes at others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise._numbers import whole
from equipoise.errors import ModelError

_LARGEST: Final = 1_000  # of anything that is counted by a noise
Chances = list[float]


def size(x: Any, name: str, low: int = 1) -> int:
    """A whole number of at least `low`, or an error that names it.

    >>> size(3, "room")
    3
    """
    return whole(x, name, low, _LARGEST, error=ModelError)


def coin(chance: float) -> Chances:
    """The law of something that happens or not: of False, then of True.

    >>> coin(0.25)
    [0.75, 0.25]
    """
    return [1.0 - float(chance), float(chance)]


def triangle(n: int) -> Chances:
    """Weights 2, 3, 4, ... that rise to the middle of n values and fall again.

    >>> triangle(4), triangle(2)
    ([0.2, 0.3, 0.3, 0.2], [0.5, 0.5])
    """
    weights = [2 + min(i, n - 1 - i) for i in range(n)]
    return [weight / sum(weights) for weight in weights]


def binomial(n: int, chance: float) -> Chances:
    """The law of how many of n happen, each by itself with that chance.

    >>> binomial(2, 0.5)
    [0.25, 0.5, 0.25]
    """
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, coin(chance))
    return [float(x) for x in law / law.sum()]


def along(ends: Sequence[float], n: int) -> list[float]:
    """What is known at evenly spaced places, at n such places, linearly in between.

    >>> along([0.5, 0.4], 3), along([0.5, 0.6, 0.8], 3)
    ([0.5, 0.45, 0.4], [0.5, 0.6, 0.8])
    """
    places = np.linspace(0.0, 1.0, n)
    return [float(x) for x in np.interp(places, np.linspace(0.0, 1.0, len(ends)), ends)]


def walk(n: int, chance: float = 0.1) -> list[Chances]:
    """A chain over n places that goes to each neighbour with that chance, and else stays.

    >>> walk(2)
    [[0.9, 0.1], [0.1, 0.9]]
    """
    chain = np.diag(np.full(n - 1, chance), 1) + np.diag(np.full(n - 1, chance), -1)
    chain += np.diag(1.0 - chain.sum(axis=1))
    return [[float(x) for x in row] for row in chain]
