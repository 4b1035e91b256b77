"""The base of rewards: a concave g on [0,1]^K with its supergradient, its conjugate and its constants.

Notation (section 2 of the paper). g is L-Lipschitz with respect to a norm, and its Fenchel dual is

    g*(theta) = max over w in [0,1]^K of g(w) + theta.w,      g(w) = min over theta of g*(theta) - theta.w.

The minimum is attained at theta = -grad g(w). The maximiser on the left is `conjugate_argmax`, a gradient of g* at
theta. beta-smooth means ||grad g(u) - grad g(w)||_* <= beta ||u - w||.

A reward is three compiled entries with the signature ``(t, n, x, params, out)`` and the vector of parameters that they
read. The compiled loops and the methods of the class call the same entries. For one program, give functions to
`Custom`. For a family with parameters, write one file:

    from equipoise.rewards.base import Reward, RewardKernels, checked_vector, entry

    @entry
    def _value(t, n, w, params, out):  # w, params, out: raw pointers, read and written by index
        out[0] = 0.0
        for k in range(n):
            out[0] += params[k] * w[k]

    ...  # in the same way `_gradient`, which writes n numbers, and `_conjugate_argmax`, a maximiser of g(w) + theta.w

    class Weighted(Reward):
        norm, smoothness, piecewise_linear = 1.0, 0.0, True
        kernels = RewardKernels(_value, _gradient, _conjugate_argmax)

        def __init__(self, weights):
            self.weights = self.params = checked_vector(weights, "weights")  # every argument is an attribute
            self.n_outcomes = self.params.size
            self.lipschitz = float(abs(self.params).max())

        def concave_expression(self, w):
            return self.params @ w

Entries are compiled on first use and cached on disk. numba looks for changes in the entry's own file only, so keep the
helpers of an entry in that file. `equipoise.testing.check_reward(Weighted([1.0, 2.0]))` checks what is declared.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._checks import check_float, check_int
from equipoise._runtime.compiler import Entry, invoke
from equipoise._runtime.compiler import entry as entry
from equipoise._spec import Component
from equipoise._types import Vector
from equipoise.errors import EquipoiseError, RewardError

if TYPE_CHECKING:
    import cvxpy


FOREVER: Final = 2**62  # the time given to kernels when there is none: a reward that changes is at its limit then
_FINGERPRINT_POINTS = 4
_FINGERPRINT_TIME = 1000  # at which a reward that changes with time is evaluated
_GOLDEN = 0.6180339887498949  # multiples of it, without their whole part, spread evenly over [0, 1]


class RewardKernels(NamedTuple):
    """The compiled entries of a reward; `value` writes one number, `gradient` and `conjugate_argmax` K."""

    value: Entry
    gradient: Entry
    conjugate_argmax: Entry
    lipschitz: Entry | None = None


class Vertices(NamedTuple):
    """A simplex that holds all supergradients of a reward: base + sum_j lambda_j scale_j e_{coordinate_j}."""

    base: Vector
    coordinate: NDArray[np.int64]
    scale: Vector


class Reward(Component, abc.ABC):
    """A concave function of the average outcome vector, to be maximised.

    `equipoise.testing.check_reward` checks a reward of your own.

    Attributes
    ----------
    n_outcomes : int
        K, the length of the outcome vector.
    norm : float
        1, 2 or infinity: the norm that the two constants refer to.
    lipschitz : float
        L: `|g(u) - g(w)| <= L ||u - w||` on [0,1]^K.
    smoothness : float or None
        beta, or None when g is not smooth.
    params : numpy.ndarray
        The numbers that the kernels read.
    piecewise_linear : bool
        Whether the offline program is a linear one.
    vertices : Vertices or None
        A simplex that holds every supergradient, where one is known.
    exact_conjugate : bool
        Whether `conjugate_argmax` is a maximiser to rounding; False where it is found by iteration.
    separable : bool
        Whether g is a sum of functions of one outcome each.
    """

    n_outcomes: int
    norm: float
    lipschitz: float
    smoothness: float | None
    params: Vector
    piecewise_linear: bool = False
    vertices: Vertices | None = None
    exact_conjugate: bool = True
    separable: bool = False

    @property
    @abc.abstractmethod
    def kernels(self) -> RewardKernels:
        """The compiled entries; a class attribute will do."""

    @abc.abstractmethod
    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """g(w) as a concave cvxpy expression, for the offline program.

        Parameters
        ----------
        w : cvxpy.Expression
            A vector of K.
        """

    def at(self, t: int) -> Reward:  # noqa: ARG002
        """Return the reward in force at one time; itself, unless the reward changes with time.

        Parameters
        ----------
        t : int
            The time, from 1.
        """
        return self

    @property
    def objective(self) -> Reward:
        """The reward in which values and regrets are reported: itself, or without its penalty if it has constraints."""
        return self

    def value(self, w: ArrayLike) -> float:
        """g(w).

        Parameters
        ----------
        w : array-like
            A point of [0,1]^K.
        """
        return float(self._call(self.kernels.value, w, "w", 1)[0])

    def gradient(self, w: ArrayLike) -> Vector:
        """A supergradient of g at w.

        Parameters
        ----------
        w : array-like
            A point of [0,1]^K.
        """
        return self._call(self.kernels.gradient, w, "w", self.n_outcomes)

    def conjugate_argmax(self, theta: ArrayLike) -> Vector:
        """A maximiser of g(w) + theta.w over [0,1]^K, which is a gradient of g* at theta.

        Parameters
        ----------
        theta : array-like
            K numbers.
        """
        return self._call(self.kernels.conjugate_argmax, theta, "theta", self.n_outcomes)

    def conjugate(self, theta: ArrayLike) -> float:
        """g*(theta), the maximum of g(w) + theta.w over [0,1]^K.

        Parameters
        ----------
        theta : array-like
            K numbers.
        """
        theta = self._vector(theta, "theta")
        w = self.conjugate_argmax(theta)
        return self.value(w) + float(theta @ w)

    def conjugate_bound(self, theta: ArrayLike, *near: ArrayLike) -> float:
        """An upper bound on g*(theta); g*(theta) itself if the conjugate is exact.

        A maximiser found by iteration makes `conjugate` slightly too small. This bound is made of tangents and is
        never too small: with a supergradient q at any w, g(x) + theta.x <= g(w) - q.w + (q + theta).x on all the box.

        Parameters
        ----------
        theta : array-like
            K numbers.
        *near : array-like
            Points of the box at which to try tangents, such as the outcomes that theta was computed from.

        Examples
        --------
        >>> from equipoise.rewards import Linear, Minimum
        >>> g = Minimum([Linear([1.0, 0.0]), Linear([0.0, 1.0])])
        >>> g.exact_conjugate, round(g.conjugate_bound([-0.25, -0.5]), 9)
        (False, 0.25)
        """
        theta = self._vector(theta, "theta")
        if self.exact_conjugate:
            return self.conjugate(theta)
        from equipoise.rewards.conjugate import tangent_bound

        return tangent_bound(self, theta, [self._vector(w, "near") for w in near])

    def tangents(self, w: ArrayLike) -> list[tuple[float, Vector]]:
        """Affine functions that are never below g and touch it at or near w: heights at 0, and slopes.

        By default the tangent of `gradient`; a reward made of others has those of its parts, all sides of a kink.

        Parameters
        ----------
        w : array-like
            A point of [0,1]^K.

        Examples
        --------
        >>> from equipoise.rewards import Linear, Minimum
        >>> [(height, slope.tolist()) for height, slope in Minimum([Linear([1.0]), Linear([0.5])]).tangents([0.0])]
        [(0.0, [1.0]), (0.0, [0.5])]
        """
        point = self._vector(w, "w")
        slope = self.gradient(point)
        return [(self.value(point) - float(slope @ point), slope)]

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:  # noqa: ARG002
        """A Lipschitz constant of g on another box than [0,1]^K; None if its formula holds on [0,1]^K alone.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return None

    def smoothness_on(self, low: Vector, high: Vector) -> float | None:  # noqa: ARG002
        """The value of `smoothness` on a box where g is defined; by default that on all of [0,1]^K.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self.smoothness

    def of(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> Reward:
        """The same reward of an affine image of the outcomes: g(A w + b), an `Affine`.

        Use it for goals on a sum, a difference or a share: the share x / y is at least z if x - z y >= 0.

        Parameters
        ----------
        matrix : array_like
            A: a row for each outcome of this reward, a column for each of the model's.
        offset : array_like, optional
            b; by default zero. A w + b must lie in [0,1]^M for all w, unless this reward is defined elsewhere too
            (`lipschitz_on`). If L becomes large, the default threshold never ends an episode: give the agent a
            threshold of the size of the gradients that occur.

        Examples
        --------
        Half of all patients seen in time, if 0.25 are seen on average:

        >>> from equipoise.rewards import TargetSquared
        >>> g = TargetSquared([0.5]).of([[-2.0, 4.0]], [0.5])
        >>> g.value([0.25, 0.125]), g.value([0.25, 0.0625]), g.image([0.25, 0.0625]).tolist()
        (1.0, 0.9375, [0.25])
        """
        from equipoise.rewards.images import Affine

        return Affine(self, matrix, offset)

    def within(self, low: ArrayLike, high: ArrayLike) -> Reward:
        """The same reward on a box that is known to hold the average outcomes, with the Lipschitz constant there.

        If a reward is steep in a corner of [0,1]^K that never occurs, L is large and the default threshold never ends
        an episode. A `separable` reward becomes a `Within`, with the sharp constant of the box. A reward made of others
        passes the box to its parts. Any other reward is returned unchanged: it is steepest nearly everywhere.

        Parameters
        ----------
        low, high : array_like
            The corners of the box: K numbers in [0, 1] each, low <= high.

        Examples
        --------
        >>> from equipoise.rewards import CrossEntropy
        >>> g = CrossEntropy([0.5, 0.5], mu=0.001)
        >>> round(g.lipschitz, 2), round(g.within([0.25, 0.25], [0.75, 0.75]).lipschitz, 2)
        (72.37, 0.29)
        """
        low, high = checked_box(low, high, self.n_outcomes)
        if not self.separable:
            return self
        from equipoise.rewards.images import Within

        return Within(self, low, high)

    def fingerprint(self) -> list[float]:
        """K, the norm, L, beta (-1 if not smooth), then g and a supergradient at four fixed points inside the box.

        A saved agent holds these numbers, so that it is not loaded with another `Custom` reward. Compare them with a
        relative tolerance such as 1e-9. A reward that changes with time is evaluated at time 1000.

        Examples
        --------
        >>> from equipoise.rewards import Linear
        >>> Linear([3.0, -4.0]).fingerprint()[:4]
        [2.0, 2.0, 5.0, 0.0]
        """
        fixed = self.at(_FINGERPRINT_TIME)
        beta = -1.0 if fixed.smoothness is None else fixed.smoothness
        numbers = [float(self.n_outcomes), fixed.norm, fixed.lipschitz, beta]
        for i in range(_FINGERPRINT_POINTS):
            w = (np.arange(1.0, self.n_outcomes + 1.0) * (i + 1.0) * _GOLDEN) % 1.0
            numbers += [fixed.value(w), *fixed.gradient(w).tolist()]
        return [float(number) for number in numbers]

    def failure(self) -> RewardError | None:
        """The error that a function of a `Custom` reward raised inside a kernel; None if none is known."""
        return None

    def _call(self, kernel: Entry, x: ArrayLike, name: str, size: int) -> Vector:
        out = np.empty(size)
        invoke(kernel.address, FOREVER, self._vector(x, name), self.params, out)
        return out

    def _vector(self, x: ArrayLike, name: str) -> Vector:
        return checked_vector(x, name, self.n_outcomes)


def checked_vector(
    x: ArrayLike,
    name: str,
    size: int | None = None,
    *,
    each: str = "outcome",
    error: type[EquipoiseError] = RewardError,
) -> Vector:
    """A finite, contiguous float64 vector with one number for `each` of so many, or an error that names it."""
    vector = _checked_array(x, name, 1, error)
    if size is not None and vector.size != size:
        raise error(f"{name}: got {vector.size} entries; {size} are needed, one for each {each}")
    return vector


def checked_matrix(x: ArrayLike, name: str) -> Vector:
    """A finite matrix with at least one entry, or an error that names it."""
    return _checked_array(x, name, 2, RewardError)


def _checked_array(x: ArrayLike, name: str, ndim: int, error: type[EquipoiseError]) -> Vector:
    what = "vector" if ndim == 1 else "matrix"
    try:
        array = np.array(x, dtype=np.float64, order="C", ndmin=1)
    except (TypeError, ValueError, OverflowError) as cause:
        raise error(f"{name}: got {x!r}; a {what} of numbers is needed ({cause})") from None
    if array.ndim != ndim or array.size == 0:
        raise error(f"{name}: got an array of shape {array.shape}; a non-empty {what} is needed")
    require(np.isfinite(array), array, name, "a finite number is needed", error)
    return array


def require(
    valid: NDArray[np.bool_], x: Vector, name: str, needed: str, error: type[EquipoiseError] = RewardError
) -> None:
    """Raise an error that names the first entry of an array that is not valid."""
    wrong = np.argwhere(~valid)
    if wrong.size:
        place = tuple(wrong[0])
        raise error(f"{name}{''.join(f'[{i}]' for i in place)}: got {x[place]}; {needed}")


def checked_box(low: ArrayLike, high: ArrayLike, size: int | None = None) -> tuple[Vector, Vector]:
    """The corners of a box, or an error that names the entry."""
    bottom = checked_vector(low, "low", size)
    top = checked_vector(high, "high", bottom.size)
    for k in np.flatnonzero(bottom > top):
        raise RewardError(f"high[{k}]: got {top[k]:g}; it must not be below low[{k}], {bottom[k]:g}")
    return bottom, top


def read_only(x: Vector) -> Vector:
    """A view of a vector through which it cannot be changed."""
    view = x.view()
    view.flags.writeable = False
    return view


def checked_unit_vector(x: ArrayLike, name: str, size: int | None = None) -> Vector:
    """A vector with all entries in [0,1], or an error that names the entry."""
    vector = checked_vector(x, name, size)
    require((vector >= 0.0) & (vector <= 1.0), vector, name, "it must lie in [0, 1]")
    return vector


def checked_positive(x: ArrayLike | None, name: str, size: int, each: str = "outcome") -> Vector:
    """So many positive numbers; all 1 if None is given."""
    vector = np.ones(size) if x is None else checked_vector(x, name, size, each=each)
    require(vector > 0.0, vector, name, "a positive number is needed")
    return vector


def checked_number(x: float, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number strictly between two limits, or an error that names it."""
    number = check_float(x, name, error=RewardError)
    if not (low < number < high):
        raise RewardError(f"{name}: got {number}; it must lie strictly between {low} and {high}")
    return number


def checked_unit_number(x: float, name: str) -> float:
    """A number in [0, 1], or an error that names it."""
    number = check_float(x, name, error=RewardError)
    if not 0.0 <= number <= 1.0:
        raise RewardError(f"{name}: got {number}; it must lie in [0, 1]")
    return number


def checked_count(x: int, name: str, low: int, high: int | None = None) -> int:
    """A whole number between two limits, both allowed."""
    return check_int(x, name, low, 10**9 if high is None else high, error=RewardError)


def checked_smoothing(mu: float) -> float:
    """A number with 0 < mu <= 1."""
    number = checked_number(mu, "mu")
    if not 0.0 < number <= 1.0:
        raise RewardError(f"mu: got {number}; it must be above 0 and at most 1")
    return number


def checked_distribution(x: ArrayLike, name: str) -> Vector:
    """A vector of probabilities that sum to 1, up to 1e-9."""
    vector = checked_unit_vector(x, name)
    total = float(vector.sum())
    if abs(total - 1.0) > 1e-9:
        raise RewardError(f"{name}: the entries sum to {total!r}; a distribution, which sums to 1, is needed")
    return vector
