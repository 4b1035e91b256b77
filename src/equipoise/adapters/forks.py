"""Random draws that fork: every answer is followed, with its exact probability.

To enumerate what a step can do, it is run again and again: the first run gets the first answer to every draw, and each
further one differs from the run before in the last draw that has another answer left. A run has the product of the
probabilities of its answers; it stops when no draw has another answer left.

A uniform number is answered by a `Uniform`, which is undecided until it is compared: ``random() < p`` forks into True
with probability p and False, a second comparison of the same number into what is still open. A draw with infinitely
many answers of which the step uses more than comparisons is rejected by its name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from equipoise.errors import AdapterError

WAY_OUT: Final = "draw by random() < p, integers or choice, or run the environment itself with eq.adapters.drive"

_ROUNDING: Final = 1e-12  # a smaller probability is what rounding left between two cumulative sums
_RUNS: Final = 500_000  # of one step
_DRAWS: Final = 1_000  # in one run

T = TypeVar("T")


class UnlistedDrawError(AdapterError):
    """A draw whose answers cannot all be followed."""

    def __init__(self, draw: str, why: str) -> None:
        super().__init__(f"{draw}: {why}")
        self.draw = draw


class Forks:
    """The answers to the draws of a step, one run after the other."""

    def __init__(self) -> None:
        self._open: list[list[tuple[int, float]]] = []  # the answers left to each draw of the run, its own one first
        self._position = 0

    def choose(self, weights: Sequence[float]) -> int:
        """Answer a draw with finitely many answers: the number of one of them."""
        if self._position == len(self._open):
            if self._position == _DRAWS:
                raise AdapterError(f"it draws more than {_DRAWS} times, perhaps until something fits")
            total = math.fsum(weights)
            self._open.append([(i, w / total) for i, w in enumerate(weights) if w > _ROUNDING * total])
        answer = self._open[self._position][0][0]
        self._position += 1
        return answer

    def each(self, run: Callable[[], T]) -> Iterator[tuple[float, T]]:
        """Run a function once for all that its draws can be; yields the probabilities and what it returned."""
        self._open = []
        for _ in range(_RUNS):
            self._position = 0
            result = run()
            if self._position < len(self._open):
                raise AdapterError("what it draws is not the same when it is run again from the same state")
            yield math.prod(answers[0][1] for answers in self._open), result
            while self._open and len(self._open[-1]) == 1:
                self._open.pop()
            if not self._open:
                return
            self._open[-1].pop(0)
        raise AdapterError(f"its draws can come out in more than {_RUNS} ways")


class _Cell:
    """Where a uniform number of [0, 1) is known to lie."""

    def __init__(self, forks: Forks, name: str) -> None:
        self.forks, self.name = forks, name
        self.low, self.high = 0.0, 1.0

    def cut(self, points: Sequence[float]) -> int:
        """Decide between which of the increasing points it lies: how many of them are at or below it."""
        edges = [self.low, *(min(max(point, self.low), self.high) for point in points), self.high]
        between = self.forks.choose([after - before for before, after in itertools.pairwise(edges)])
        self.low, self.high = edges[between], edges[between + 1]
        return between


class Uniform:
    """A uniform number that is not decided before it is compared: ``offset + scale * u`` with u in [0, 1)."""

    __array_ufunc__ = None  # a comparison with an array is one of this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, forks: Forks, name: str) -> None:
        self._cell = _Cell(forks, name)
        self._offset, self._scale = 0.0, 1.0

    def _moved(self, offset: float, scale: float) -> Uniform:
        other = object.__new__(Uniform)
        other._cell, other._offset, other._scale = self._cell, offset, scale
        return other

    def _less(self, other: Any) -> Any:
        """Whether it is less than a number, or than each of an array."""
        bounds = (np.asarray(_numbers(other, self._cell.name), np.float64) - self._offset) / self._scale
        points = np.unique(bounds)
        between = self._cell.cut(points.tolist())
        at_most = np.searchsorted(points, bounds) >= between  # the points above the interval that was decided
        less = at_most if self._scale > 0.0 else ~at_most
        return bool(less) if less.ndim == 0 else less

    def __lt__(self, other: Any) -> Any:
        return self._less(other)

    def __le__(self, other: Any) -> Any:
        return self._less(other)

    def __gt__(self, other: Any) -> Any:
        return np.logical_not(self._less(other)) if isinstance(other, np.ndarray) else not self._less(other)

    def __ge__(self, other: Any) -> Any:
        return self.__gt__(other)

    def __add__(self, other: Any) -> Uniform:
        return self._moved(self._offset + _number(other, self._cell.name), self._scale)

    def __mul__(self, other: Any) -> Uniform:
        factor = _number(other, self._cell.name)
        if factor == 0.0:
            raise self._refusal("is multiplied by zero")
        return self._moved(self._offset * factor, self._scale * factor)

    def __sub__(self, other: Any) -> Uniform:
        return self + (-_number(other, self._cell.name))

    def __truediv__(self, other: Any) -> Uniform:
        return self * (1.0 / _number(other, self._cell.name))

    def __neg__(self) -> Uniform:
        return self * -1.0

    def __rsub__(self, other: Any) -> Uniform:
        return (-self).__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __floor__(self) -> int:
        ends = self._offset, self._offset + self._scale
        first, last = math.floor(min(ends)), math.ceil(max(ends))
        steps = list(range(first + 1, last))
        points = [(step - self._offset) / self._scale for step in steps]
        between = self._cell.cut(points if self._scale > 0.0 else points[::-1])
        return first + (between if self._scale > 0.0 else len(steps) - between)

    def __int__(self) -> int:
        floor = self.__floor__()
        return floor + (floor < 0)  # towards zero

    __trunc__ = __int__

    def __float__(self) -> float:
        raise self._refusal("is used as a number")

    def __bool__(self) -> bool:
        raise self._refusal("is used as a truth value")

    def __eq__(self, other: object) -> bool:
        raise self._refusal("is tested for equality")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._refusal(f"is used as a number (.{name})")

    def __repr__(self) -> str:
        return f"Uniform({self._cell.name})"

    def _refusal(self, how: str) -> UnlistedDrawError:
        ways = "a uniform number can be followed through comparisons, sums, products and int()"
        return UnlistedDrawError(self._cell.name, f"{ways}, and here it {how}; {WAY_OUT}")


def _number(x: Any, name: str) -> float:
    if isinstance(x, Uniform) or not np.isscalar(x):
        raise UnlistedDrawError(name, f"a uniform number is combined with {x!r}, which cannot be followed")
    return float(x)  # type: ignore[arg-type]


def _numbers(x: Any, name: str) -> Any:
    return x if isinstance(x, np.ndarray) and x.dtype != np.object_ else _number(x, name)
