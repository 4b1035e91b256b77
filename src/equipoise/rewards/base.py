"""What a reward is: a concave g on [0,1]^K with its supergradient, its conjugate and its constants.

Notation (section 2 of the paper). g is L-Lipschitz with respect to a norm, and its Fenchel dual is

    g*(theta) = max over w in [0,1]^K of g(w) + theta.w,      g(w) = min over theta of g*(theta) - theta.w,

the minimum being attained at theta = -grad g(w). The maximiser on the left is `conjugate_argmax`, and it
is also a gradient of g* at theta. beta-smooth means ||grad g(u) - grad g(w)||_* <= beta ||u - w||.

A reward is three compiled entries, ``value``, ``gradient`` and ``conjugate_argmax``, all of the signature
``(t, n, x, params, out)``, and a vector of parameters that they read. The loops call these entries; the
methods of the class call the same ones, so there is one piece of code for each formula.

A reward of your own. For one program, `Custom` takes plain functions. For a family with parameters, write one file,
inside or outside of this package:

    from equipoise.rewards.base import Reward, RewardKernels, checked_vector, entry

    @entry
    def _value(t, n, w, params, out):  # w, params, out: raw pointers, read and written by index
        out[0] = 0.0
        for k in range(n):
            out[0] += params[k] * w[k]

    ...  # in the same way `_gradient`, which writes n numbers, and `_conjugate_argmax`, a maximiser of g(w) + theta.w

    _KERNELS = RewardKernels(_value, _gradient, _conjugate_argmax)

    class Weighted(Reward):
        norm, smoothness, piecewise_linear = 1.0, 0.0, True

        def __init__(self, weights):
            self.params = checked_vector(weights, "weights")
            self.n_outcomes = self.params.size
            self.lipschitz = float(abs(self.params).max())

        @property
        def weights(self):  # every argument of the constructor is an attribute
            return self.params

        @property
        def kernels(self):
            return _KERNELS

        def concave_expression(self, w):
            return self.params @ w

Its entries are compiled on first use and kept on disk, like those of the package. numba looks at the entry's own file
for changes: a helper that an entry calls should stand in the same file. Then
`equipoise.testing.check_reward(Weighted([1.0, 2.0]))` tells whether all that is declared holds.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._compile import Entry, entry, invoke
from equipoise._component import Component
from equipoise._numbers import real
from equipoise._types import Vector
from equipoise.errors import RewardError

if TYPE_CHECKING:
    import cvxpy

    from equipoise.rewards.affine import Affine

__all__ = [
    "FOREVER",
    "Reward",
    "RewardKernels",
    "Vertices",
    "checked_box",
    "checked_number",
    "checked_unit_vector",
    "checked_vector",
    "entry",
    "read_only",
]

_FINGERPRINT_POINTS = 4
_FINGERPRINT_TIME = 1000  # at which a reward that changes with time is looked at
_GOLDEN = 0.6180339887498949  # multiples of it, without their whole part, spread evenly over [0, 1]


class RewardKernels(NamedTuple):
    """The compiled entries of a reward; `value` writes one number, `gradient` and `conjugate_argmax` K.

    A reward that changes with time also has an entry that writes its Lipschitz constant at time t.
    """

    value: Entry
    gradient: Entry
    conjugate_argmax: Entry
    lipschitz: Entry | None = None


class Vertices(NamedTuple):
    """Where all supergradients of a reward lie: base + sum_j lambda_j scale_j e_{coordinate_j}.

    The weights lambda are a point of the simplex; a vertex of scale zero is slack. Entropic mirror maps
    (multiplicative weights) work on these weights.
    """

    base: Vector
    coordinate: NDArray[np.int64]
    scale: Vector


class Reward(Component, abc.ABC):
    """A concave function of the average outcome vector, to be maximised.

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
        What the kernels read.
    piecewise_linear : bool
        Whether the offline program is a linear one.
    vertices : Vertices or None
        A simplex that holds every supergradient, where one is known.
    exact_conjugate : bool
        Whether `conjugate_argmax` is a maximiser to rounding; False where it is found by iteration.
    separable : bool
        Whether g is a sum of functions of one outcome each.

    See Also
    --------
    equipoise.rewards.Custom : From plain functions.
    equipoise.testing.check_reward : The contract of a reward of your own.
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
        """The compiled entries."""

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
        """What values and regrets are told in: the reward itself; without its penalty, if it has constraints."""
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

    def conjugate_bound(self, theta: ArrayLike) -> float:
        """An upper bound on g*(theta); g*(theta) itself if the conjugate is exact.

        Where the maximiser w is found by iteration, a supergradient q there gives, for all points of the box,
        g(x) + theta.x <= g(w) - q.w + (q + theta).x.

        Parameters
        ----------
        theta : array-like
            K numbers.
        """
        theta = self._vector(theta, "theta")
        if self.exact_conjugate:
            return self.conjugate(theta)
        w = self.conjugate_argmax(theta)
        slope = self.gradient(w)
        return self.value(w) - float(slope @ w) + float(np.maximum(0.0, slope + theta).sum())

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:  # noqa: ARG002
        """A Lipschitz constant of g on another box than [0,1]^K; None if its formula holds on that alone.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return None

    def smoothness_on(self, low: Vector, high: Vector) -> float | None:  # noqa: ARG002
        """What `smoothness` is on a box where g is defined; by default that of all of [0,1]^K.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        return self.smoothness

    def of(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> Affine:
        """The same reward of an affine image of the outcomes: g(A w + b).

        Its outcomes are then those that A takes. With it a goal may be for a sum, a difference or a share: that at
        least z of all patients are seen in time is in_time - z seen >= 0.

        Parameters
        ----------
        matrix : array_like
            A: a row for each outcome of this reward, a column for each of the world's.
        offset : array_like, optional
            b; by default zero. All of [0,1]^K must be mapped into [0,1]^M, unless this reward is defined elsewhere
            too (`lipschitz_on`). A reward in units of its own may have a large Lipschitz constant, and so a threshold
            that never ends an episode: give the agent one of the size of the gradients that occur.

        Raises
        ------
        RewardError
            Naming the row that leaves [0, 1], or the argument.

        Examples
        --------
        Half of all patients seen in time, where 0.25 are seen on average: 0.5 + (in_time - 0.5 seen) / 0.25 is to reach
        0.5, and is the share itself if that many are seen.

        >>> from equipoise.rewards import TargetSquared
        >>> g = TargetSquared([0.5]).of([[-2.0, 4.0]], [0.5])
        >>> g.value([0.25, 0.125]), g.value([0.25, 0.0625]), g.image([0.25, 0.0625]).tolist()
        (1.0, 0.9375, [0.25])
        """
        from equipoise.rewards.affine import Affine

        return Affine(self, matrix, offset)

    def within(self, low: ArrayLike, high: ArrayLike) -> Reward:
        """The same reward on a box that is known to hold the average outcomes, with the Lipschitz constant there.

        A reward that is steep in a corner of [0,1]^K which never occurs has a large L, and so a default threshold that
        never ends an episode. What comes back is the same on the box, concave everywhere, and beyond the box no
        steeper than within it (see `Within`): averages that leave it early on are judged by tangents.

        A reward that is a sum of functions of one outcome each is taken at its sharp constant on the box; one that is
        made of others has its parts taken. Any other comes back as it is: `BottomSum`, `GeneralisedGini`, `Knapsack`
        and the Euclidean distance are steepest nearly everywhere, and of a `Custom` one nothing is known but what it
        says.

        Parameters
        ----------
        low, high : array_like
            The corners of the box: K numbers in [0, 1] each, low <= high.

        Raises
        ------
        RewardError
            Naming the entry that will not do.

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
        from equipoise.rewards.within import Within

        return Within(self, low, high)

    def fingerprint(self) -> list[float]:
        """Numbers that tell this reward from others: its constants, and g and a supergradient at a few fixed points.

        A saved agent keeps them, so that one with a `Custom` reward is not loaded with another. Compare with a
        tolerance (a relative 1e-9 is good): on another machine a logarithm may differ in its last bit.

        Returns
        -------
        list of float
            K, the norm, L, beta (-1 if not smooth), then g and its supergradient at four points inside the box, the
            same for every reward of K outcomes. A reward that changes with time is the one in force at time 1000.

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
        """What went wrong inside a kernel, where it could not be raised; None if nothing is known.

        A loop only sees that theta is not finite. An agent that comes back with that asks here for the reason: the
        function of a `Custom` reward that raised, its exception and the point.
        """
        return None

    def _call(self, kernel: Entry, x: ArrayLike, name: str, size: int) -> Vector:
        out = np.empty(size)
        invoke(kernel.address, FOREVER, self._vector(x, name), self.params, out)
        return out

    def _vector(self, x: ArrayLike, name: str) -> Vector:
        return checked_vector(x, name, self.n_outcomes)


FOREVER: Final = 2**62
"""The time shown to kernels when there is none: a reward that changes with time is its limit then."""


def checked_vector(x: ArrayLike, name: str, size: int | None = None) -> Vector:
    """A finite, contiguous float64 vector of the given length, or an error that names it.

    >>> checked_vector([1, 2], "target", 2)
    array([1., 2.])
    """
    try:
        vector = np.array(x, dtype=np.float64, order="C", ndmin=1)
    except (TypeError, ValueError, OverflowError) as error:
        raise RewardError(f"{name}: not a vector of numbers ({error})") from None
    if vector.ndim != 1 or vector.size == 0:
        raise RewardError(f"{name}: got an array of shape {vector.shape}; a non-empty vector is needed")
    if size is not None and vector.size != size:
        raise RewardError(f"{name}: got {vector.size} entries; {size} are needed, one for each outcome")
    wrong = np.flatnonzero(~np.isfinite(vector))
    if wrong.size:
        raise RewardError(f"{name}[{wrong[0]}]: got {vector[wrong[0]]}; a finite number is needed")
    return vector


def checked_box(low: ArrayLike, high: ArrayLike, size: int) -> tuple[Vector, Vector]:
    """The corners of a box, or an error that names the entry.

    >>> checked_box([0.0, 0.5], [1.0, 0.75], 2)
    (array([0. , 0.5]), array([1.  , 0.75]))
    """
    corners = checked_vector(low, "low", size), checked_vector(high, "high", size)
    wrong = np.flatnonzero(corners[0] > corners[1])
    if wrong.size:
        k = wrong[0]
        raise RewardError(f"high[{k}]: got {corners[1][k]:g}; it must not be below low[{k}], {corners[0][k]:g}")
    return corners


def read_only(x: Vector) -> Vector:
    """A view of a vector through which it cannot be changed.

    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    view = x.view()
    view.flags.writeable = False
    return view


def checked_unit_vector(x: ArrayLike, name: str, size: int | None = None) -> Vector:
    """A vector with all entries in [0,1], or an error that names the entry."""
    vector = checked_vector(x, name, size)
    wrong = np.flatnonzero((vector < 0) | (vector > 1))
    if wrong.size:
        raise RewardError(f"{name}[{wrong[0]}]: got {vector[wrong[0]]}; it must lie in [0, 1]")
    return vector


def checked_number(x: float, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number strictly between two limits, or an error that names it."""
    number = real(x, name, error=RewardError)
    if not (low < number < high):
        raise RewardError(f"{name}: got {number}; it must lie strictly between {low} and {high}")
    return number
