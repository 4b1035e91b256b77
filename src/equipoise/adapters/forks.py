"""Random draws that fork: every answer is followed, with its exact probability.

To enumerate what a step can do, it is run again and again: the first run gets the first answer to every draw, and each
further one differs from the run before in the last draw that has another answer left. A run has the product of the
probabilities of its answers; it stops when no draw has another answer left.

A uniform number is answered by a `Uniform`, which is undecided until it is compared: ``random() < p`` forks into True
with probability p and False, a second comparison of the same number into what is still open. A draw with infinitely
many answers of which the step uses more than comparisons is rejected by its name.

`install` replaces the random generators that an environment holds: as its attributes, in lists and dictionaries, or in
other objects that it holds. Any other method of the original raises an error with its name. `remove` puts them back.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, Final, TypeVar

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


_NOT_HELD: Final = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)  # shared by all, or no container
_NO_DRAWS: Final = ("getstate", "setstate", "get_state", "set_state")


class _Forking:
    """What the three have in common: draws by `Forks`, and refusals by name."""

    original: ClassVar[type]
    called: ClassVar[str]

    def __init__(self, forks: Forks) -> None:
        self._forks = forks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self.original, name):
            raise AttributeError(name)

        def refuse(*_: object, **__: object) -> None:
            self._refuse_unless(False, name, "this draw")

        return refuse

    def __copy__(self) -> _Forking:
        return self

    def __deepcopy__(self, memo: object) -> _Forking:
        return self

    def seed(self, *_: object) -> None:
        """Accept a seed: there is nothing to seed."""

    def _refuse_unless(self, fine: bool, name: str, what: str) -> None:
        if not fine:
            raise UnlistedDrawError(f"{self.called}.{name}", f"{what} cannot be enumerated; {WAY_OUT}")

    def _uniform(self, name: str, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        draw = f"{self.called}.{name}"
        return _filled(size, lambda: low + (high - low) * Uniform(self._forks, draw))

    def _whole(self, low: int, high: int) -> int:
        """One of low ... high - 1."""
        if high <= low:
            raise ValueError("low >= high")
        return int(low) + self._forks.choose([1.0] * int(high - low))

    def _element(self, values: Sequence[Any], weights: Any = None) -> Any:
        """One of several values; equal ones are one answer."""
        odds = [1.0] * len(values) if weights is None else [float(w) for w in weights]
        if not values:
            raise ValueError("nothing to choose from")
        try:
            total: dict[Any, float] = {}
            for value, odd in zip(values, odds, strict=True):
                total[value] = total.get(value, 0.0) + odd
        except TypeError:  # not hashable: each is an answer of its own
            return values[self._forks.choose(odds)]
        return list(total)[self._forks.choose(list(total.values()))]

    def _binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """How many of n tries succeed, by the law of that number."""
        self._refuse_unless(np.ndim(n) == 0 and np.ndim(p) == 0, "binomial", "with several n or p")
        if not (n >= 0 and 0.0 <= p <= 1.0):
            raise ValueError("n < 0, or p not in [0, 1]")
        law = [math.comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in range(int(n) + 1)]
        return _filled(size, lambda: self._forks.choose(law), np.int64)

    def _drawn(self, left: list[Any], count: int) -> list[Any]:
        """So many of several things, without replacement; they are taken out of the list."""
        return [left.pop(self._forks.choose([1.0] * len(left))) for _ in range(count)]

    def _choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        pool = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        if pool.ndim != 1:
            self._refuse_unless(size is None and p is None, "choice", "several rows of an array")
            return pool[self._forks.choose([1.0] * len(pool))]
        if size is None or replace:
            values = pool.tolist()
            return _filled(size, lambda: pool.dtype.type(self._element(values, p)), pool.dtype)
        self._refuse_unless(p is None, "choice", "with p and without replacement")
        return np.array(self._drawn(pool.tolist(), int(np.prod(size))), pool.dtype).reshape(size)

    def _permutation(self, x: Any) -> Any:
        pool = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        return pool[self._drawn(list(range(len(pool))), len(pool))]

    def shuffle(self, x: Any) -> None:
        order = self._drawn(list(range(len(x))), len(x))
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]


class ForkingGenerator(_Forking):
    """In the place of a ``numpy.random.Generator``."""

    original = np.random.Generator
    called = "np_random"

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        self._refuse_unless(dtype is np.float64 and out is None, "random", "into an array, or of another type,")
        return self._uniform("random", size=size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._uniform("uniform", low, high, size)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        first, end = (0, low) if high is None else (low, high)
        return _filled(size, lambda: np.dtype(dtype).type(self._whole(first, end + bool(endpoint))), dtype)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        self._refuse_unless(axis == 0 and shuffle is True, "choice", "with axis or shuffle")
        return self._choice(a, size, replace, p)

    binomial = _Forking._binomial

    def permutation(self, x: Any, axis: int = 0) -> Any:
        self._refuse_unless(axis == 0, "permutation", "with axis")
        return self._permutation(x)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        self._refuse_unless(axis == 0, "shuffle", "with axis")
        super().shuffle(x)


class ForkingState(_Forking):
    """In the place of a ``numpy.random.RandomState``, or of the functions of ``numpy.random``."""

    original = np.random.RandomState
    called = "numpy.random"

    def random(self, size: Any = None) -> Any:
        return self._uniform("random", size=size)

    random_sample = random

    def rand(self, *shape: int) -> Any:
        return self._uniform("rand", size=shape or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._uniform("uniform", low, high, size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        first, end = (0, low) if high is None else (low, high)
        return _filled(size, lambda: self._whole(first, end), dtype)

    choice = _Forking._choice
    binomial = _Forking._binomial
    permutation = _Forking._permutation


class ForkingRandom(_Forking):
    """In the place of a ``random.Random``, or of the functions of ``random``."""

    original = random.Random
    called = "random"

    def random(self) -> Any:
        return self._uniform("random")

    def uniform(self, a: float, b: float) -> Any:
        return self._uniform("uniform", a, b)

    def randint(self, a: int, b: int) -> int:
        return self._whole(a, b + 1)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return int(values[self._whole(0, len(values))])

    def choice(self, seq: Sequence[Any]) -> Any:
        return self._element(list(seq))

    def choices(self, population: Sequence[Any], weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        if cum_weights is not None:
            weights = np.diff(cum_weights, prepend=0.0)
        return [self._element(list(population), weights) for _ in range(k)]

    def sample(self, population: Sequence[Any], k: int) -> list[Any]:
        return self._drawn(list(population), k)


def make_fork(generator: Any, forks: Forks) -> Any:
    """A forking generator instead of a random one; None if it is not a random one."""
    kinds: tuple[type[_Forking], ...] = (ForkingGenerator, ForkingState, ForkingRandom)
    for kind in kinds:
        if isinstance(generator, kind.original):
            return kind(forks)
    return None


class GlobalDraws:
    """The functions of ``random`` and of ``numpy.random``: they fork while a block lasts, for all threads."""

    def __init__(self, forks: Forks) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        for module, fork in ((random, ForkingRandom(forks)), (np.random, ForkingState(forks))):
            names = [name for name in dir(fork.original) if not name.startswith("_") and name not in _NO_DRAWS]
            self._replaced += [(module, name, getattr(module, name, None), getattr(fork, name)) for name in names]
        self._replaced = [one for one in self._replaced if one[2] is not None]
        self._states = _global_states()

    def __enter__(self) -> None:
        for module, name, _, forking in self._replaced:
            setattr(module, name, forking)

    def __exit__(self, *_: object) -> None:
        for module, name, original, _ in self._replaced:
            setattr(module, name, original)

    def check(self) -> None:
        """Raise an error if the global generators were drawn from all the same, since this was made."""
        if _global_states() != self._states:
            raise AdapterError(
                "the environment draws from a global generator in a way that cannot be followed, such as a function "
                f"that it imported by name; {WAY_OUT}"
            )


def _global_states() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, np.asarray(keys).tobytes(), *rest


def _filled(size: Any, draw: Callable[[], Any], dtype: Any = object) -> Any:
    """One draw, or an array of draws one after the other."""
    if size is None:
        return draw()
    shape = (size,) if np.ndim(size) == 0 else tuple(size)
    drawn = np.empty(shape, dtype)
    for place in itertools.product(*map(range, shape)):
        drawn[place] = draw()
    return drawn


Replaced = tuple[Any, Any, Any]  # a generator that was replaced: its holder, its place there, and the original


def install(roots: Iterable[Any], forks: Forks) -> list[Replaced]:
    """Replace all generators that some objects hold; returns what was replaced, for `remove`."""
    replaced: list[Replaced] = []
    waiting, containers = list(roots), (dict, list, tuple)
    seen: set[int] = set()
    while waiting:
        held = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        holder = held if isinstance(held, containers) else vars(held)
        places = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for place, value in places:
            forking = make_fork(value, forks)
            if forking is not None and not isinstance(holder, tuple):
                holder[place] = forking
                replaced.append((holder, place, value))
            elif not isinstance(value, _NOT_HELD) and (isinstance(value, containers) or hasattr(value, "__dict__")):
                waiting.append(value)
    return replaced


def remove(replaced: list[Replaced]) -> None:
    """Put the generators back."""
    for holder, place, original in replaced:
        holder[place] = original
