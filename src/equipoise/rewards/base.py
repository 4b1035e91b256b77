"""What a reward is: a concave g on [0,1]^K with its supergradient, its conjugate and its constants.

Notation (section 2 of the paper). g is L-Lipschitz with respect to a norm, and its Fenchel dual is

    g*(theta) = max over w in [0,1]^K of g(w) + theta.w,      g(w) = min over theta of g*(theta) - theta.w,

the minimum being attained at theta = -grad g(w). The maximiser on the left is `conjugate_argmax`, and it
is also a gradient of g* at theta. beta-smooth means ||grad g(u) - grad g(w)||_* <= beta ||u - w||.

A reward is three compiled entries, ``value``, ``gradient`` and ``conjugate_argmax``, all of the signature
``(t, n, x, params, out)``, and a vector of parameters that they read. The loops call these entries; the
methods of the class call the same ones, so there is one piece of code for each formula.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._compile import Entry, invoke
from equipoise._component import Component
from equipoise._numbers import real
from equipoise._types import Vector
from equipoise.errors import RewardError

if TYPE_CHECKING:
    import cvxpy


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
        L: |g(u) - g(w)| <= L ||u - w|| on [0,1]^K.
    smoothness : float or None
        beta, or None when g is not smooth.
    params : numpy.ndarray
        What the kernels read.
    piecewise_linear : bool
        Whether the offline program is a linear one.
    vertices : Vertices or None
        A simplex that holds every supergradient, where one is known.
    """

    n_outcomes: int
    norm: float
    lipschitz: float
    smoothness: float | None
    params: Vector
    piecewise_linear: bool = False
    vertices: Vertices | None = None

    @property
    @abc.abstractmethod
    def kernels(self) -> RewardKernels:
        """The compiled entries."""

    @abc.abstractmethod
    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """g(w) as a concave cvxpy expression of a vector expression `w`, for the offline program."""

    def at(self, t: int) -> Reward:  # noqa: ARG002
        """Return the reward in force at time `t`; itself, unless the reward changes with time."""
        return self

    def value(self, w: ArrayLike) -> float:
        """g(w)."""
        return float(self._call(self.kernels.value, w, "w", 1)[0])

    def gradient(self, w: ArrayLike) -> Vector:
        """A supergradient of g at w."""
        return self._call(self.kernels.gradient, w, "w", self.n_outcomes)

    def conjugate_argmax(self, theta: ArrayLike) -> Vector:
        """A maximiser of g(w) + theta.w over [0,1]^K, which is a gradient of g* at theta."""
        return self._call(self.kernels.conjugate_argmax, theta, "theta", self.n_outcomes)

    def conjugate(self, theta: ArrayLike) -> float:
        """g*(theta), the maximum of g(w) + theta.w over [0,1]^K."""
        theta = self._vector(theta, "theta")
        w = self.conjugate_argmax(theta)
        return self.value(w) + float(theta @ w)

    def fingerprint(self) -> list[float]:
        """A few of its values and gradients, by which another reward can be told from it."""
        points = np.random.default_rng(self.n_outcomes).random((3, self.n_outcomes))
        reward = self.at(_FOREVER)
        return [number for w in points for number in (reward.value(w), *reward.gradient(w).tolist())]

    def _call(self, kernel: Entry, x: ArrayLike, name: str, size: int) -> Vector:
        out = np.empty(size)
        invoke(kernel.address, _FOREVER, self._vector(x, name), self.params, out)
        return out

    def _vector(self, x: ArrayLike, name: str) -> Vector:
        return checked_vector(x, name, self.n_outcomes)


# The time shown to kernels when there is none; a reward that changes with time is read through `at`.
_FOREVER = 2**62


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
