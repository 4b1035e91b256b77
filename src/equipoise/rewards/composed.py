"""The base of rewards made of rewards: how their compiled entries find those of the parts.

The entries of a part are called by their addresses, which are parameters of the whole: numbers below 2^53, which floats
hold exactly. They belong to this process, so pickles leave them out. The parameters are

    the addresses of the whole's own value and gradient, and how to iterate for its conjugate (`iterated_argmax`);
    the number of parts, and where the whole's own numbers begin;
    for each part the addresses of its value, gradient and conjugate_argmax, and where its parameters begin;
    the whole's own numbers; the parameters of the parts.

Scratch memory for up to 4096 outcomes is on the stack. The conjugate of a whole has in general no closed form; then its
maximiser is found by iteration, `exact_conjugate` is False, and bounds are proven by tangents
(`Reward.conjugate_bound`).
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import carray

from equipoise._runtime.compiler import call_address, entry, inlined, pointer_at
from equipoise._types import Index, Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward, Vertices
from equipoise.rewards.conjugate import FEW, ascend, ascent_options, separable_ascent
from equipoise.rewards.norms import check_norm, dual, length, stretch
from equipoise.rewards.separable import Linear

ON_STACK: Final = 4096  # the longest vector that is kept there

_OWN_VALUE, _OWN_GRADIENT, _BETA, _TOLERANCE, _LIMIT, _N_PARTS, _NUMBERS, _HEAD = range(8)
_VALUE, _GRADIENT, _ARGMAX, _PARAMS, _WIDTH = range(5)
ITERATION: Final = _N_PARTS  # the length of the head that `iteration` makes


@inlined
def n_parts(params):  # type: ignore[no-untyped-def]
    """How many parts there are."""
    return int(params[_N_PARTS])


@inlined
def own_numbers(params):  # type: ignore[no-untyped-def]
    """A pointer to the whole's own numbers."""
    return pointer_at(params, int(params[_NUMBERS]))


@inlined
def part_value(i, t, n, w, params, out):  # type: ignore[no-untyped-def]
    """Write the value of part i to `out`; vectors are raw pointers."""
    place = _HEAD + i * _WIDTH
    call_address(int(params[place + _VALUE]), (t, n, w, pointer_at(params, int(params[place + _PARAMS])), out))


@inlined
def part_gradient(i, t, n, w, params, out):  # type: ignore[no-untyped-def]
    """Write a supergradient of part i to `out`."""
    place = _HEAD + i * _WIDTH
    call_address(int(params[place + _GRADIENT]), (t, n, w, pointer_at(params, int(params[place + _PARAMS])), out))


@inlined
def part_argmax(i, t, n, theta, params, out):  # type: ignore[no-untyped-def]
    """Write the maximiser of the conjugate of part i to `out`."""
    place = _HEAD + i * _WIDTH
    call_address(int(params[place + _ARGMAX]), (t, n, theta, pointer_at(params, int(params[place + _PARAMS])), out))


@entry
def iterated_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    """The maximiser of the conjugate by the whole's own value and gradient, see `conjugate`."""
    ascend(
        int(params[_OWN_VALUE]), int(params[_OWN_GRADIENT]), t, carray(theta, n), carray(params, _LIMIT + 1),
        carray(out, n), params[_BETA], params[_TOLERANCE], int(params[_LIMIT]),
        np.empty((n, n)), np.empty((4, n)), np.empty(1),
    )  # fmt: skip


@entry
def separable_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    """The same where the whole is a sum of functions of one outcome each: exact to rounding."""
    work = np.empty((4, n))
    separable_ascent(
        int(params[_OWN_GRADIENT]), t, carray(theta, n), carray(params, _LIMIT + 1), carray(out, n),
        work[0], work[1], work[2], work[3],
    )  # fmt: skip


class Packed(Reward, abc.ABC):
    """A reward whose parameters hold addresses of this process: they are packed when needed, and not pickled."""

    _params: Vector | None = None

    @property
    def params(self) -> Vector:  # type: ignore[override]
        """What the kernels read: addresses of this process, and numbers."""
        if self._params is None:
            self._params = self._pack()
        return self._params

    @abc.abstractmethod
    def _pack(self) -> Vector:
        """The parameters."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_params": None}


class Composed(Packed):
    """A reward whose entries call those of its parts."""

    exact_conjugate = False

    parts: tuple[Reward, ...]
    numbers: Vector = np.zeros(0)  # what the entries read in addition to the parts

    def failure(self) -> RewardError | None:
        """What went wrong inside a part."""
        failures = (part.failure() for part in self.parts)
        return next((failure for failure in failures if failure is not None), None)

    def _take_parts(self, parts: tuple[Reward, ...], norm: float | None = None) -> tuple[Reward, ...]:
        """Set what follows from the parts; the norm is theirs, or 2, in which no constant grows by over sqrt(K)."""
        norms = {part.norm for part in parts}
        common = norms.pop() if len(norms) == 1 else 2.0
        self.norm = common if norm is None else check_norm(norm)
        self.parts, self.n_outcomes = parts, parts[0].n_outcomes
        self.piecewise_linear = all(part.piecewise_linear for part in parts)
        return parts

    def _pack(self) -> Vector:
        numbers, parts = self.numbers, self.parts
        begin = _HEAD + _WIDTH * len(parts)
        head: list[float] = [*iteration(self), len(parts), begin]
        at = begin + numbers.size
        for part in parts:
            kernels = part.kernels
            head += [kernels.value.address, kernels.gradient.address, kernels.conjugate_argmax.address, at]
            at += part.params.size
        return np.concatenate([np.array(head, np.float64), numbers, *(part.params for part in parts)])


def iteration(whole: Reward, few: int = FEW) -> list[float]:
    """The head of the parameters, which `iterated_argmax` reads: addresses of this process, and how to iterate."""
    return [whole.kernels.value.address, whole.kernels.gradient.address, *ascent_options(whole, few)]


def fixed_reward(reward: object, name: str) -> Reward:
    """A reward that neither changes with time nor has constraints, or an error that names the argument."""
    if not isinstance(reward, Reward):
        raise RewardError(f"{name}: got {reward!r}; a reward is needed")
    if reward.at(1) is not reward:
        raise RewardError(f"{name}: {reward!r} changes with time; one that does not is needed, such as its .at(1000)")
    if reward.objective is not reward:
        raise RewardError(
            f"{name}: {reward!r} has constraints, which would become penalties here; give its .objective, and the "
            "constraints to Constrained outermost; or its .penalised, if penalties are what you want"
        )
    return reward


def fixed_rewards(rewards: object, name: str) -> tuple[Reward, ...]:
    """At least one reward, all of the same outcomes, or an error that names the culprit."""
    if isinstance(rewards, Reward | str) or not isinstance(rewards, Sequence) or not rewards:
        raise RewardError(f"{name}: got {rewards!r}; a list of rewards is needed")
    parts = tuple(fixed_reward(part, f"{name}[{i}]") for i, part in enumerate(rewards))
    for i, part in enumerate(parts):
        if part.n_outcomes != parts[0].n_outcomes:
            raise RewardError(
                f"{name}[{i}]: it is for {part.n_outcomes} outcomes, and {name}[0] for {parts[0].n_outcomes}; all must "
                "be of the same ones: reward.of(matrix) takes some of them"
            )
    return parts


def lipschitz_in(part: Reward, norm: float) -> float:
    """A Lipschitz constant of a reward in another norm than its own."""
    if isinstance(part, Linear):
        return length(part.weights, dual(norm))
    return part.lipschitz * stretch(part.norm, norm, part.n_outcomes)


def lipschitz_constants(parts: Sequence[Reward], norm: float, low: Vector, high: Vector) -> list[float] | None:
    """Lipschitz constants of rewards on another box, in one norm; None if one of them has none there."""
    each = [(part.lipschitz_on(low, high), stretch(part.norm, norm, part.n_outcomes)) for part in parts]
    known = [L * factor for L, factor in each if L is not None]
    return known if len(known) == len(each) else None


def smoothness_in(part: Reward, norm: float) -> float | None:
    """The smoothness of a reward in another norm than its own; None if it has none."""
    if part.smoothness is None:
        return None
    return part.smoothness * stretch(part.norm, norm, part.n_outcomes) ** 2


def gradient_simplex(part: Reward) -> Vertices | None:
    """A simplex that holds every supergradient of a part, if one is known; for a linear one it is a point."""
    if isinstance(part, Linear):
        return Vertices(part.weights, np.zeros(1, dtype=np.int64), np.zeros(1))
    return part.vertices


def simplex_from_zero(part: Reward) -> Vertices | None:
    """The same with the base zero, if one is known: weights w are a mixture of the vertices sign(w_k) |w|_1 e_k."""
    simplex = gradient_simplex(part)
    if simplex is None or not simplex.base.any():
        return simplex
    if simplex.scale.any():
        return None
    where = np.flatnonzero(simplex.base)
    total = float(np.abs(simplex.base).sum())
    return Vertices(np.zeros(part.n_outcomes), where, total * np.sign(simplex.base[where]))


def merge_vertices(base: Vector, coordinates: Sequence[Index], scales: Sequence[Vector]) -> Vertices:
    """A simplex with all these vertices, each of them once."""
    both = np.column_stack([np.concatenate(coordinates), np.concatenate(scales)]).astype(np.float64)
    both[both[:, 1] == 0.0, 0] = 0.0  # slack is slack, whatever its coordinate
    once = np.unique(both, axis=0)
    return Vertices(base, once[:, 0].astype(np.int64), np.ascontiguousarray(once[:, 1]))
