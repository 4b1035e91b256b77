"""-phi(level - h(w)): minus what is missing until a concave h reaches a level; 0 from there on.

phi(s) = max(0, s) is not smooth where the level is just reached. Smoothed over a width mu it is the one-sided Huber
function, from below within mu/2:

    phi(s) = 0  for s <= 0,      s^2 / (2 mu)  for 0 <= s <= mu,      s - mu/2  for s >= mu.

It is convex and does not decrease, so -phi(level - h) is concave. With phi' = min(1, max(0, s) / mu), a supergradient
is phi'(level - h(w)) times that of h. L is that of h; the gradient changes by at most beta_h + L_h^2 / mu, as phi' lies
in [0, 1] and changes by 1/mu. It states a simplex of supergradients if h does, with a slack vertex more.

This is the penalty for a constraint h(w) >= level, see `Constrained`. The conjugate is iterated for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry, stack_floats
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards._composed import (
    Composed,
    fixed_reward,
    iterated_argmax,
    merged,
    own_numbers,
    part_gradient,
    part_value,
    simplex_from_zero,
)
from equipoise.rewards.base import Reward, RewardKernels, Vertices, checked_number

if TYPE_CHECKING:
    import cvxpy

# The own numbers are the level and mu.


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own, number = own_numbers(params), stack_floats(1)
    part_value(0, t, n, w, params, number)
    short, mu = own[0] - number[0], own[1]
    if short <= 0.0:
        out[0] = 0.0
    elif short < mu:
        out[0] = -short * short / (2.0 * mu)
    else:
        out[0] = 0.5 * mu - short


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    own, number = own_numbers(params), stack_floats(1)
    part_value(0, t, n, w, params, number)
    short, mu = own[0] - number[0], own[1]
    if short <= 0.0:
        for k in range(n):
            out[k] = 0.0
        return
    part_gradient(0, t, n, w, params, out)
    if short < mu:
        for k in range(n):
            out[k] *= short / mu


_KERNELS: Final = RewardKernels(_value, _gradient, iterated_argmax)


@final
class Shortfall(Composed):
    """Minus what a concave function lacks to reach a level.

    Parameters
    ----------
    function : Reward
        h; it may not change with time.
    at_least : float
        The level.
    smoothing : float
        mu: shortfalls below it count less, by their square; 0 for the plain shortfall.

    Raises
    ------
    RewardError
        Naming the argument that will not do.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> g = Shortfall(Linear([1.0, 1.0]), at_least=1.0)
    >>> g.value([0.5, 0.25]), g.value([0.75, 0.5]), g.gradient([0.5, 0.25]).tolist()
    (-0.25, 0.0, [1.0, 1.0])
    >>> smooth = Shortfall(Linear([1.0, 1.0]), at_least=1.0, smoothing=0.5)
    >>> smooth.value([0.5, 0.25]), smooth.gradient([0.5, 0.25]).tolist(), round(smooth.smoothness, 9)
    (-0.0625, [0.5, 0.5], 4.0)
    """

    def __init__(self, function: Reward, at_least: float, smoothing: float = 0.0) -> None:
        self.function = fixed_reward(function, "function")
        self.at_least = checked_number(at_least, "at_least")
        self.smoothing = checked_number(smoothing, "smoothing")
        if self.smoothing < 0.0:
            raise RewardError(f"smoothing: got {self.smoothing:g}; a number >= 0 is needed")
        self.n_outcomes = function.n_outcomes
        self.norm = function.norm
        self.lipschitz = function.lipschitz
        self.smoothness = None
        if self.smoothing > 0.0 and function.smoothness is not None:
            self.smoothness = function.smoothness + function.lipschitz**2 / self.smoothing
        self.piecewise_linear = function.piecewise_linear and self.smoothing == 0.0
        self.vertices = self._simplex()

    @property
    def parts(self) -> tuple[Reward, ...]:
        """The function."""
        return (self.function,)

    @property
    def numbers(self) -> Vector:
        """The level and the smoothing."""
        return np.array([self.at_least, self.smoothing])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """That of the function.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self.function.lipschitz_on(low, high)

    def within(self, low: ArrayLike, high: ArrayLike) -> Shortfall:
        """The shortfall of the function within the box; see `Reward.within`.

        Parameters
        ----------
        low, high : array_like
            The corners of the box.
        """
        return Shortfall(self.function.within(low, high), self.at_least, self.smoothing)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """Minus the positive part, or Huber's function of it."""
        import cvxpy

        short = cvxpy.pos(self.at_least - self.function.concave_expression(w))
        return -short if self.smoothing == 0.0 else -cvxpy.huber(short, self.smoothing) / (2.0 * self.smoothing)

    def _simplex(self) -> Vertices | None:
        simplex = simplex_from_zero(self.function)
        if simplex is None or not simplex.scale.any():
            return None
        slack = (np.zeros(1, dtype=np.int64), np.zeros(1))
        return merged(simplex.base, [simplex.coordinate, slack[0]], [simplex.scale, slack[1]])


def smoothed(short: float, smoothing: float) -> float:
    """The function phi of a shortfall.

    >>> smoothed(0.25, 0.0), smoothed(0.25, 0.5), smoothed(1.0, 0.5), smoothed(-1.0, 0.5)
    (0.25, 0.0625, 0.75, 0.0)
    """
    if short <= 0.0:
        return 0.0
    return short * short / (2.0 * smoothing) if short < smoothing else short - 0.5 * smoothing


def largest_shortfall(price: float, multiplier: float, smoothing: float, allowance: float) -> float:
    """The largest s with price phi(s) - multiplier s <= allowance; infinity if the price is not above the multiplier.

    >>> largest_shortfall(2.0, 1.0, 0.0, 0.25), round(largest_shortfall(2.0, 1.0, 0.5, 0.0), 9)
    (0.25, 0.5)
    >>> largest_shortfall(1.0, 1.0, 0.0, 0.25)
    inf
    """
    if not price > multiplier:
        return math.inf
    if smoothing > 0.0:
        root = multiplier * multiplier + 2.0 * price * allowance / smoothing
        curved = smoothing * (multiplier + math.sqrt(max(0.0, root))) / price
        if curved <= smoothing:
            return curved
    return (allowance + 0.5 * smoothing * price) / (price - multiplier)
