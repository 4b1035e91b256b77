"""A concave g from plain functions of an array, checked and compiled.

`value(w)` returns a number and `gradient(w)` a supergradient, an array of K numbers; either may take the parameters as
a second argument, ``value(w, params)``. numba compiles them, so they may use numpy and loops, but no Python objects.
Functions that numba cannot compile run with ``compiled=False``, in plain Python.

The declarations are checked on random points of [0,1]^K, see `audit`. That proves nothing, but finds the usual
mistakes: a sign, a factor, a constant for another norm.

Without `conjugate_argmax(theta)` the maximiser is found by iteration, see `conjugate`: for smooth g up to a gap of
1e-10 max(1, L), with at most 20,000 iterations; else by the ellipsoid method, up to 1e-10 in value, with at most
80 K (K + 1) + 200 iterations and at about 1 ms per call for ten outcomes. `FrankWolfe` never calls it, the descent
oracles do at every step: give a closed form if there is one.

Where a function raises, or is not finite, inside a loop, theta becomes NaN and the loop ends; `failure` then tells
which function it was, at which point, and what it raised.

The parameters of the entries are the head that `composed.iterated_argmax` reads, and then the user's `params`.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import SEED_LIMIT
from equipoise._runtime.compiler import Entry
from equipoise._runtime.user_functions import CannotCompileError, UserFunction
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards import audit
from equipoise.rewards.base import RewardKernels, Vertices, checked_count, checked_number, checked_vector, require
from equipoise.rewards.composed import ITERATION, Packed, iterated_argmax, iteration
from equipoise.rewards.norms import check_norm

if TYPE_CHECKING:
    import cvxpy


@final
class Custom(Packed):
    """A concave reward made of your functions.

    `copy.copy` and `copy.deepcopy` share the compiled code. `pickle` keeps the functions, which must then be defined at
    the top level of a module, and compiles them again where they are loaded.

    Parameters
    ----------
    n_outcomes : int
        K.
    value, gradient : callable
        ``value(w)`` or ``value(w, params)`` gives a number, ``gradient`` alike a supergradient of K numbers. Plain
        Python functions or numba's. The second argument is given to functions that have one without a default.
    norm : float
        1, 2 or infinity: the norm of the two constants.
    lipschitz : float
        L: ``|g(u) - g(w)| <= L ||u - w||``, and no supergradient is longer than L in the dual norm.
    smoothness : float, optional
        beta; None if g is not smooth.
    conjugate_argmax : callable, optional
        ``conjugate_argmax(theta)`` maximises g(w) + theta.w over the box; by default found by iteration.
    expression : callable, optional
        g as a function from a cvxpy expression to a concave one, for `solve`.
    params : array_like, optional
        Numbers given to the functions that take a second argument.
    samples : int
        How many random points the checks use; 0 for none.
    seed : int
        Where these points come from.
    vertices : Vertices or (base, coordinate, scale), optional
        A simplex that holds every supergradient, see `equipoise.rewards.base.Vertices`: for the entropic mirror maps.
    compiled : bool
        False: the functions run in plain Python and may do anything. Each call then costs about 4 microseconds more,
        and a simulation some 15 to 20 times as long.

    Examples
    --------
    >>> import numpy as np
    >>> g = Custom(
    ...     2,
    ...     value=lambda w: 1.0 - 0.5 * np.sum((w - 0.5) ** 2),
    ...     gradient=lambda w: 0.5 - w,
    ...     norm=2,
    ...     lipschitz=0.5**0.5,
    ...     smoothness=1.0,
    ... )
    >>> g.value([0.5, 0.0]), g.gradient([0.5, 0.0]).tolist()
    (0.875, [0.0, 0.5])
    >>> g.conjugate_argmax([0.25, -1.0]).round(6).tolist()
    [0.75, 0.0]
    """

    def __init__(
        self,
        n_outcomes: int,
        value: Callable[..., Any],
        gradient: Callable[..., Any],
        norm: float,
        lipschitz: float,
        smoothness: float | None = None,
        conjugate_argmax: Callable[..., Any] | None = None,
        expression: Callable[[cvxpy.Expression], cvxpy.Expression] | None = None,
        params: ArrayLike | None = None,
        samples: int = 200,
        seed: int = 0,
        vertices: Vertices | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        compiled: bool = True,
    ) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.norm = check_norm(norm)
        self.lipschitz = checked_number(lipschitz, "lipschitz", 0.0)
        self.smoothness = None if smoothness is None else checked_number(smoothness, "smoothness", -1e-300)
        self._numbers = np.zeros(0) if params is None else checked_vector(params, "params")
        self.samples = checked_count(samples, "samples", 0)
        self.seed = checked_count(seed, "seed", 0, SEED_LIMIT)
        self.vertices = None if vertices is None else _checked_vertices(vertices, self.n_outcomes)
        if not isinstance(compiled, bool):
            raise RewardError(f"compiled: got {compiled!r}; True or False is needed")
        self.compiled = compiled
        self.exact_conjugate = conjugate_argmax is not None
        self._sources = {"value": value, "gradient": gradient}
        if conjugate_argmax is not None:
            self._sources["conjugate_argmax"] = conjugate_argmax
        self._expression = expression
        self._functions: tuple[UserFunction, ...] = ()
        self._kernels: RewardKernels | None = None
        for name, function in self._sources.items():
            _check_shape(function, name, self.n_outcomes, self._numbers)
        self._build()
        if self.samples:
            self._check()

    @property
    def kernels(self) -> RewardKernels:
        """The entries of the functions."""
        if self._kernels is None:  # loaded from a pickle
            self._build()
        assert self._kernels is not None
        return self._kernels

    def failure(self) -> RewardError | None:
        """What a function raised inside a loop, or where it was not finite; None if it did neither."""
        for name, function in zip(self._sources, self._functions, strict=False):
            failure = function.failure()
            if failure is not None:
                return _function_error(name, *failure)
        return None

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The user's expression of `w`."""
        if self._expression is None:
            raise RewardError(
                "expression: this Custom reward has none; the convex program of solve needs expression=, "
                "a function from a cvxpy vector expression to a concave cvxpy expression"
            )
        return self._expression(w)

    __eq__ = object.__eq__  # functions cannot be compared
    __hash__ = object.__hash__

    def arguments(self) -> dict[str, Any]:
        """Not available: functions cannot be saved."""
        raise RewardError("a Custom reward is made of functions, which cannot be saved: keep the code that builds it")

    def __repr__(self) -> str:
        return (
            f"Custom(n_outcomes={self.n_outcomes}, norm={self.norm}, lipschitz={self.lipschitz}, "
            f"smoothness={self.smoothness}{'' if self.compiled else ', compiled=False'})"
        )

    def __copy__(self) -> Custom:
        twin = object.__new__(Custom)
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Custom:
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        for name, function in {**self._sources, "expression": self._expression}.items():
            _check_pickling(name, function)
        return self.__dict__ | {"_functions": (), "_kernels": None, "_params": None}

    def _call(self, kernel: Entry, x: ArrayLike, name: str, size: int) -> Vector:
        """Call an entry, and raise what a function raised."""
        for function in self._functions:
            function.forget()
        out = super()._call(kernel, x, name, size)
        if not np.all(np.isfinite(out)):
            failure = self.failure()
            if failure is not None and failure.__cause__ is not None:
                raise failure
        return out

    def _build(self) -> None:
        """Make the entries; compile the functions, if they are to be."""
        functions, K = [], self.n_outcomes
        for name, source in self._sources.items():
            scalar = name == "value"
            try:
                functions.append(
                    UserFunction(source, K, self._numbers, scalar=scalar, compiled=self.compiled, start=ITERATION)
                )
            except CannotCompileError as error:
                raise RewardError(
                    f"{name}: numba cannot compile it, {error}; rewrite it, or pass compiled=False, "
                    "which runs it in plain Python"
                ) from error
        value, gradient, *argmax = (function.entry for function in functions)
        self._functions = tuple(functions)
        self._kernels = RewardKernels(value, gradient, argmax[0] if argmax else iterated_argmax)

    def _pack(self) -> Vector:
        return np.concatenate([iteration(self, few=0), self._numbers])

    def _check(self) -> None:
        """Check the functions against what was declared."""
        points = audit.sample_points(self, self.samples, self.seed)
        thetas = audit.sample_thetas(self, points, self.seed) if len(self._functions) > 2 else points.w[:0]
        fault = (
            audit.not_a_function(self, points, thetas)
            or audit.not_finite(points)
            or audit.not_concave(self, points)
            or audit.not_a_supergradient(self, points, points.w[:0])
            or audit.too_steep(self, points)
            or audit.too_curved(self, points)
            or audit.outside_the_simplex(self.vertices, points)
            or audit.not_the_argmax(self, points, thetas)
        )
        if fault is not None:
            raise RewardError(fault)


def _function_error(name: str, point: Vector, exception: Exception | None) -> RewardError:
    """The error that says where and how a function failed."""
    symbol = "theta" if name == "conjugate_argmax" else "w"
    if exception is None:
        return RewardError(f"{name}: at {symbol} = {audit.show(point)} it is not finite")
    error = RewardError(f"{name}: at {symbol} = {audit.show(point)} it raises {type(exception).__name__}: {exception}")
    error.__cause__ = exception
    return error


def _check_shape(function: Callable[..., Any], name: str, size: int, params: Vector) -> None:
    """Run the Python function at the centre of the box, for faults that the compiled one cannot report."""
    if not callable(function):
        raise RewardError(f"{name}: got {function!r}; a function is needed")
    middle, scalar = np.full(size, 0.5), name == "value"
    shape = () if scalar else (size,)
    plain = UserFunction(function, size, params, scalar=scalar, compiled=False)
    try:
        answer = np.asarray(plain(middle))
    except Exception as error:
        raise _function_error(name, middle, error) from error
    if answer.shape != shape:
        raise RewardError(f"{name}: it gives an array of shape {answer.shape}; {shape or 'a number'} is needed")
    if not np.issubdtype(answer.dtype, np.number) or np.issubdtype(answer.dtype, np.complexfloating):
        needed = "a number is" if scalar else "real numbers are"
        raise RewardError(f"{name}: it gives {answer.tolist()!r}; {needed} needed")


def _checked_vertices(vertices: Any, size: int) -> Vertices:
    """A simplex with K numbers for its base, and as many coordinates as scales."""
    try:
        base, coordinate, scale = vertices
    except (TypeError, ValueError):
        raise RewardError(f"vertices: got {vertices!r}; base, coordinate and scale are needed") from None
    base, scale = checked_vector(base, "vertices.base", size), checked_vector(scale, "vertices.scale")
    where = checked_vector(coordinate, "vertices.coordinate", scale.size, each="scale")
    valid = (where == np.round(where)) & (where >= 0) & (where < size)
    require(valid, where, "vertices.coordinate", f"a whole number from 0 to {size - 1} is needed")
    return Vertices(base, where.astype(np.int64), scale)


def _check_pickling(name: str, function: Callable[..., Any] | None) -> None:
    """Say which function cannot be pickled; cloudpickle, where it is in use, can do more and says so itself."""
    try:
        pickle.dumps(function)
    except Exception as error:
        if "cloudpickle" not in sys.modules:
            raise RewardError(
                f"{name}: {function!r} cannot be pickled ({error}); define it with def at the top level of a module "
                "that the other process can import"
            ) from error
