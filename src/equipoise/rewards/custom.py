"""Your own concave g, from plain functions of an array; checked, compiled, and as good as any other.

`value(w)` returns a number and `gradient(w)` a supergradient, an array of K numbers; either may take the
parameters as a second argument, ``value(w, params)``. They are compiled by numba, so they may use numpy and
loops, and no Python objects.

What is declared is checked, on random points of [0,1]^K among which are faces, vertices and close
neighbours; see `_audit`. A check on samples cannot prove concavity, but it finds the usual slips: a sign, a
factor, a constant that belongs to another norm.

`conjugate_argmax(theta)` may be left out. Then it is computed, see `_ascent`: for smooth g up to a gap of
1e-10 max(1, L), with at most 20,000 iterations; for g that is not smooth by the ellipsoid method, up to 1e-10
in value, with at most 80 K (K + 1) + 200 iterations and at about 1 ms a call for ten outcomes. At the limit
the best point found is the answer. `FrankWolfe` never asks for it, the descent oracles do at every step: give
a closed form if there is one.

`expression(w)` takes and gives a cvxpy expression; only the offline program needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._compile import Entry, entry_from_arrays, invoke
from equipoise._numbers import SEEDS
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._ascent import cutting_ascent, smooth_ascent
from equipoise.rewards._audit import audit, audit_conjugate
from equipoise.rewards._checks import checked_count
from equipoise.rewards.base import Reward, RewardKernels, checked_number, checked_vector
from equipoise.rewards.norms import check_norm

if TYPE_CHECKING:
    import cvxpy

_ITERATIONS = 20_000
_TOLERANCE = 1e-10


@final
class Custom(Reward):
    """A concave reward made of your functions.

    Parameters ---------- n_outcomes : int
        K.
    value, gradient : callable
        ``value(w)`` or ``value(w, params)`` gives a number, ``gradient`` alike a supergradient of K
        numbers. Plain Python functions or numba's; they are compiled here.
    norm : float
        1, 2 or infinity: the norm of the two constants.
    lipschitz : float
        L: ``|g(u) - g(w)| <= L ||u - w||``, and no supergradient is longer than L in the dual norm.
    smoothness : float, optional
        beta; None if g is not smooth.
    conjugate_argmax : callable, optional
        ``conjugate_argmax(theta)`` maximises g(w) + theta.w over the box; without it the maximiser is
        iterated for.
    expression : callable, optional
        g as a function from a cvxpy expression to a concave one, for `solve`.
    params : array_like, optional
        Numbers given to the functions that take a second argument.
    samples : int
        How many random points the checks use; 0 for none.
    seed : int
        Where these points come from.

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
    ) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.norm = check_norm(norm)
        self.lipschitz = checked_number(lipschitz, "lipschitz", 0.0)
        self.smoothness = None if smoothness is None else checked_number(smoothness, "smoothness", -1e-300)
        self.params = np.zeros(0) if params is None else checked_vector(params, "params")
        checked_count(samples, "samples", 0)
        checked_count(seed, "seed", 0, SEEDS)
        self._expression = expression
        value_entry = _compiled(value, "value", self.n_outcomes, self.params, scalar=True)
        gradient_entry = _compiled(gradient, "gradient", self.n_outcomes, self.params, scalar=False)
        points = audit(self, value_entry, gradient_entry, samples, seed) if samples else None
        if conjugate_argmax is None:
            argmax_entry = self._iterated(value_entry, gradient_entry)
        else:
            argmax_entry = _compiled(conjugate_argmax, "conjugate_argmax", self.n_outcomes, self.params, scalar=False)
        self._kernels = RewardKernels(value_entry, gradient_entry, argmax_entry)
        if conjugate_argmax is not None and points is not None:
            audit_conjugate(self, argmax_entry, points, seed)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return self._kernels

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
        raise RewardError("Custom: functions cannot be saved; keep the code that builds this reward instead")

    def __repr__(self) -> str:
        return (
            f"Custom(n_outcomes={self.n_outcomes}, norm={self.norm}, lipschitz={self.lipschitz}, "
            f"smoothness={self.smoothness})"
        )

    def _iterated(self, value: Entry, gradient: Entry) -> Entry:
        """The maximiser by iteration, as an entry with the addresses of the user's functions built in."""
        value_address, gradient_address, n_params = value.address, gradient.address, self.params.size
        limit = _ITERATIONS
        if self.smoothness is None:
            limit = 80 * self.n_outcomes * (self.n_outcomes + 1) + 200
            tolerance = _TOLERANCE

            def wrapped(t, n, theta, params, out):  # type: ignore[no-untyped-def]
                work = np.empty((4, n))
                cutting_ascent(
                    value_address,
                    gradient_address,
                    t,
                    carray(theta, n),
                    carray(params, n_params),
                    carray(out, n),
                    tolerance,
                    limit,
                    np.empty((n, n)),
                    work[0],
                    work[1],
                    work[2],
                    work[3],
                    np.empty(1),
                )
        else:
            # u.Hu <= beta ||u||^2 for the Hessian -H, and ||u||_1^2 <= K ||u||_2^2, ||u||_inf <= ||u||_2.
            beta = self.smoothness * (self.n_outcomes if self.norm == 1.0 else 1.0)
            tolerance = _TOLERANCE * max(1.0, self.lipschitz)

            def wrapped(t, n, theta, params, out):  # type: ignore[no-untyped-def]
                work = np.empty((3, n))
                smooth_ascent(
                    gradient_address,
                    t,
                    carray(theta, n),
                    carray(params, n_params),
                    carray(out, n),
                    beta,
                    tolerance,
                    limit,
                    work[0],
                    work[1],
                    work[2],
                )

        return Entry(wrapped, cached=False)


def _compiled(function: Callable[..., Any], name: str, size: int, params: Vector, *, scalar: bool) -> Entry:
    """Compile a user's function and try it once, on the middle of the box."""
    if not callable(function):
        raise RewardError(f"{name}: got {function!r}; a function is needed")
    try:
        compiled = entry_from_arrays(function, params.size, scalar=scalar)
        address = compiled.address
    except Exception as error:
        raise RewardError(f"{name}: numba cannot compile it: {_reason(error)}") from error
    middle = np.full(size, 0.5)
    _check_shape(function, name, middle, params, () if scalar else middle.shape)
    before = params.copy()
    invoke(address, 0, middle, params, np.empty(1 if scalar else size))
    if np.any(middle != 0.5) or not np.array_equal(before, params):
        raise RewardError(f"{name}: it changes its arguments; it must leave them as they are")
    return compiled


def _check_shape(
    function: Callable[..., Any], name: str, middle: Vector, params: Vector, shape: tuple[int, ...]
) -> None:
    """Run the Python function itself, for what the compiled one cannot say: the shape of its answer."""
    plain = getattr(function, "py_func", function)
    both = plain.__code__.co_argcount > 1
    try:
        answer = np.shape(plain(middle.copy(), params.copy()) if both else plain(middle.copy()))
    except Exception as error:
        raise RewardError(f"{name}: it fails at {middle.tolist()}: {_reason(error)}") from error
    if answer != shape:
        raise RewardError(f"{name}: it gives an array of shape {answer}; {shape or 'a number'} is needed")


def _reason(error: Exception) -> str:
    """The line of numba's long message that says what is wrong, or the first one."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Failed in", "During:", "-", "File"))]
    return lines[0] if lines else type(error).__name__
