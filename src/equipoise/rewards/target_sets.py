"""Convex target sets Z in [0,1]^K, given by their support points, and the distance to such a set in any p-norm.

The support point for y is the z of Z where y.z is largest. The support function sigma(y) = max over z in Z of y.z is
all that a distance needs:

    min over z in Z of ||w - z||  =  max over ||y||_* <= 1 of y.w - sigma(y).

    TargetBox       low_k <= z_k <= high_k
    TargetBall      |z - centre|_2 <= radius
    TargetHull      mixtures of given points
    TargetPolytope  A z <= b within the box; its vertices are computed, so it is a hull for the kernels

A set of your own is a subclass with one entry; see `TargetSet`.

`NEAREST` are the kernels of 1 - min over z in Z of ||w - z||. With ||x|| = |d x|_p, the dual ball is |y / d|_q <= 1
(1/p + 1/q = 1). With C above every distance a penalty may replace it,

    maximise  y.w - sigma(y) - C max(0, |y / d|_q - 1)   over the cube |y_k| <= d_k,

which `cutting_ascent` does until rounding stops it. The y that it finds is scaled into the ball. Every y of the ball
has 1 - y.u + sigma(y) >= g(u) for all u, so the value is an upper bound on g, with the supergradient -y, however far
the iteration came.

Conjugate. For theta in the dual ball, g*(theta) = 1 + sigma(theta), at the support point of theta: exact. Descents
never leave the ball. Beyond it the maximiser over the cube is found by iteration.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import abc
import itertools
import math
from typing import Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import Entry, call_address, entry, inlined, invoke, pointer_at
from equipoise._spec import Component
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import (
    FOREVER,
    Reward,
    RewardKernels,
    checked_box,
    checked_matrix,
    checked_number,
    checked_unit_vector,
    checked_vector,
    read_only,
    require,
)
from equipoise.rewards.conjugate import cut_limit, cutting_ascent

_MOST_CORNERS: Final = 300_000  # choices of K planes that are looked at for the vertices of a polytope
_NEAR: Final = 1e-9  # how far a vertex may be beyond a plane, for rounding


@entry
def _box_support(t, n, y, params, out):  # noqa: ARG001
    for k in range(n):
        out[k] = params[n + k] if y[k] > 0.0 else params[k]


@entry
def _ball_support(t, n, y, params, out):  # noqa: ARG001
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(y[k]))
    total = 0.0
    for k in range(n):
        out[k] = y[k] / largest if largest > 0.0 else 0.0
        total += out[k] * out[k]
    for k in range(n):
        step = params[n] * out[k] / np.sqrt(total) if total > 0.0 else 0.0
        out[k] = min(1.0, max(0.0, params[k] + step))


@entry
def _hull_support(t, n, y, params, out):  # noqa: ARG001
    best, where = -np.inf, 0
    for i in range(int(params[0])):
        total = 0.0
        for k in range(n):
            total += y[k] * params[1 + i * n + k]
        if total > best:
            best, where = total, i
    for k in range(n):
        out[k] = params[1 + where * n + k]


class TargetSet(Component, abc.ABC):
    """A closed convex set of outcome vectors, within [0,1]^K.

    Your own set has these attributes. The entry has the signature of a reward's, ``(t, n, y, params, out)``, and
    writes a point z of the set where y.z is largest; it must lie in [0,1]^K.

    Attributes
    ----------
    n_outcomes : int
        K.
    params : float array
        What the entry reads.
    support : Entry
        The support point, declared by `equipoise.rewards.base.entry`.

    Examples
    --------
    >>> TargetHull([[0.5, 0.0], [0.0, 0.5]]).support_point([1.0, -1.0]).tolist()
    [0.5, 0.0]
    """

    n_outcomes: int
    params: Vector

    @property
    @abc.abstractmethod
    def support(self) -> Entry:
        """The entry; a class attribute will do."""

    def support_point(self, y: ArrayLike) -> Vector:
        """The point z of the set where y.z is largest; one of them, if there are several.

        Parameters
        ----------
        y : array_like
            K numbers.
        """
        out = np.empty(self.n_outcomes)
        invoke(self.support.address, FOREVER, checked_vector(y, "y", self.n_outcomes), self.params, out)
        return out


@final
class TargetBox(TargetSet):
    """Outcomes between two limits each.

    Parameters
    ----------
    low, high : array_like
        The limits, in [0, 1].

    Examples
    --------
    >>> TargetBox([0.25, 0.0], [0.5, 1.0]).support_point([1.0, -1.0]).tolist()
    [0.5, 0.0]
    """

    support = _box_support

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        bottom, top = checked_box(checked_unit_vector(low, "low"), checked_unit_vector(high, "high"))
        self.low, self.high = read_only(bottom), read_only(top)
        self.n_outcomes = bottom.size
        self.params = np.concatenate([bottom, top])


@final
class TargetBall(TargetSet):
    """Outcomes near a point, in the Euclidean norm.

    Parameters
    ----------
    centre : array_like
        K numbers.
    radius : float
        Such that the ball lies within [0,1]^K.

    Examples
    --------
    >>> TargetBall([0.5, 0.5], 0.25).support_point([0.0, 2.0]).tolist()
    [0.5, 0.75]
    """

    support = _ball_support

    def __init__(self, centre: ArrayLike, radius: float) -> None:
        self.centre = read_only(checked_unit_vector(centre, "centre"))
        self.radius = checked_number(radius, "radius", 0.0)
        room = np.minimum(self.centre, 1.0 - self.centre)
        k = int(room.argmin())
        if room[k] < self.radius:
            raise RewardError(
                f"radius: got {self.radius:g}; the ball must lie within [0, 1], and centre[{k}] = {self.centre[k]:g} "
                f"leaves {room[k]:g}"
            )
        self.n_outcomes = self.centre.size
        self.params = np.append(self.centre, self.radius)


@final
class TargetHull(TargetSet):
    """The mixtures of given outcome vectors.

    Parameters
    ----------
    points : array_like
        A row of K numbers in [0, 1] for each.

    Examples
    --------
    >>> TargetHull([[0.0, 0.0], [1.0, 1.0]]).n_outcomes
    2
    """

    support = _hull_support

    def __init__(self, points: ArrayLike) -> None:
        self.points = read_only(checked_matrix(points, "points"))
        require((self.points >= 0.0) & (self.points <= 1.0), self.points, "points", "it must lie in [0, 1]")
        self.n_outcomes = self.points.shape[1]
        self.params = np.append(float(len(self.points)), self.points)


@final
class TargetPolytope(TargetSet):
    """Outcomes in [0,1]^K that meet linear inequalities A z <= b; an equation is two of them.

    Its vertices are computed by trying every K of all planes, so it is for few outcomes and inequalities.

    Parameters
    ----------
    matrix : array_like
        A: a row of K numbers for each inequality.
    bound : array_like
        b.

    Examples
    --------
    The second outcome at least as large as the first, and both together at most 1:

    >>> target = TargetPolytope([[1.0, -1.0], [1.0, 1.0]], [0.0, 1.0])
    >>> target.vertices.tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    """

    support = _hull_support

    def __init__(self, matrix: ArrayLike, bound: ArrayLike) -> None:
        self.matrix = read_only(checked_matrix(matrix, "matrix"))
        self.bound = read_only(checked_vector(bound, "bound", self.matrix.shape[0], each="row of matrix"))
        self.n_outcomes = self.matrix.shape[1]
        self.vertices = read_only(_vertices(self.matrix, self.bound))
        self.params = np.append(float(len(self.vertices)), self.vertices)


def check_set(target: TargetSet) -> None:
    """Raise an error for a user-defined set whose entry cannot be called, or which leaves [0,1]^K."""
    if isinstance(target, TargetBox | TargetBall | TargetHull | TargetPolytope):
        return  # checked when they were made
    name = type(target).__name__
    size, params = getattr(target, "n_outcomes", None), getattr(target, "params", None)
    if not isinstance(size, int) or size < 1:
        raise RewardError(f"kpi: {name}.n_outcomes: got {size!r}; a whole number >= 1 is needed")
    if not isinstance(params, np.ndarray) or params.dtype != np.float64 or params.ndim != 1:
        raise RewardError(f"kpi: {name}.params: got {params!r}; a float64 vector is needed")
    if not isinstance(target.support, Entry):
        raise RewardError(f"kpi: {name}.support: got {target.support!r}; declare it with @entry")
    for y in (*np.eye(size), *-np.eye(size)):
        z = target.support_point(y)
        for k in np.flatnonzero(~((z >= 0.0) & (z <= 1.0))):
            where = f"its support point for y = {y.tolist()} is {z.tolist()}"
            raise RewardError(f"kpi: {name}: {where}; entry {k} must lie in [0, 1]")


def _vertices(matrix: Vector, bound: Vector) -> Vector:
    """All points of the box where K of the planes meet and no inequality is broken, in ascending order."""
    size = matrix.shape[1]
    lengths = np.linalg.norm(matrix, axis=1)
    require((lengths > 0.0) | (bound >= 0.0), bound, "bound", "0 <= b has no solution")
    used = lengths > 0.0
    rows, limits = matrix[used] / lengths[used, None], bound[used] / lengths[used]
    A = np.concatenate([rows, np.eye(size), -np.eye(size)])
    b = np.concatenate([limits, np.ones(size), np.zeros(size)])
    choices = math.comb(len(b), size)
    if choices > _MOST_CORNERS:
        raise RewardError(
            f"matrix: {len(rows)} inequalities for {size} outcomes have {choices:,} possible vertices, and "
            f"{_MOST_CORNERS:,} are looked at; give the vertices to TargetHull instead"
        )
    chosen = np.array(list(itertools.combinations(range(len(b)), size)))
    systems = A[chosen]
    regular = np.abs(np.linalg.det(systems)) > _NEAR
    points = np.linalg.solve(systems[regular], b[chosen[regular]][..., None])[..., 0]
    inside = np.all(points @ A.T <= b + _NEAR, axis=1)
    if not inside.any():
        raise RewardError("bound: no point of [0, 1]^K meets all inequalities")
    found = np.clip(points[inside], 0.0, 1.0)
    _, first = np.unique(np.round(found / _NEAR) * _NEAR, axis=0, return_index=True)
    kept: Vector = found[first] + 0.0
    return kept


EDGE: Final = 1.0 + 1e-12
_ACCURACY: Final = 1e-15  # rounding stops it before
_VALUE, _GRADIENT, _PENALISED, _PENALISED_GRADIENT, _SUPPORT, _DUAL, _PENALTY, _CUTS, _SIZE, _FIXED = range(10)
# then d and a place for w, K numbers each; then what the set's entry reads


@inlined
def dual_length(n, y, d, q):
    """|y / d|_q; y and d are pointers."""
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(y[k]) / d[k])
    if q == np.inf or not largest > 0.0:
        return largest + 0.0 * y[0]
    total = 0.0
    for k in range(n):
        share = abs(y[k]) / d[k] / largest
        total += share if q == 1.0 else share**q
    return largest * total ** (1.0 / q)


@inlined
def _support_point(t, n, y, params, out):
    call_address(int(params[_SUPPORT]), (t, n, y, pointer_at(params, _FIXED + 2 * n), out))


@entry
def _penalised(t, n, u, params, out):
    """The concave function of the cube [0,1]^K: y = (2u - 1) d."""
    y, z = np.empty(n), np.empty(n)
    d, w = pointer_at(params, _FIXED), pointer_at(params, _FIXED + n)
    for k in range(n):
        y[k] = (2.0 * u[k] - 1.0) * d[k]
    _support_point(t, n, y, params, z)
    total = 0.0
    for k in range(n):
        total += y[k] * (w[k] - z[k])
    out[0] = total - params[_PENALTY] * max(0.0, dual_length(n, y, d, params[_DUAL]) - 1.0)


@entry
def _penalised_gradient(t, n, u, params, out):
    y, z = np.empty(n), np.empty(n)
    d, w = pointer_at(params, _FIXED), pointer_at(params, _FIXED + n)
    q = params[_DUAL]
    for k in range(n):
        y[k] = (2.0 * u[k] - 1.0) * d[k]
    _support_point(t, n, y, params, z)
    far = dual_length(n, y, d, q)
    reached = False
    for k in range(n):
        out[k] = 2.0 * d[k] * (w[k] - z[k])
        if far > 1.0:
            share = abs(y[k]) / d[k] / far
            slope = share ** (q - 1.0) if q < np.inf else 0.0
            if q == np.inf and not reached and share == 1.0:
                slope = 1.0
                reached = True
            out[k] -= 2.0 * params[_PENALTY] * (slope if y[k] > 0.0 else -slope if y[k] < 0.0 else 0.0)


@inlined
def _own_size(n, params):
    return _FIXED + 2 * n + int(params[_SIZE])


@inlined
def _farthest(t, n, w, params, own, B, work, number):
    """Make work[5] the y of the dual ball that is best for w; returns y.w - sigma(y), at least 0."""
    for i in range(own.shape[0]):
        own[i] = params[i]
    for k in range(n):
        own[_FIXED + n + k] = w[k]
        work[6][k] = 0.0
    cutting_ascent(
        int(params[_PENALISED]), int(params[_PENALISED_GRADIENT]), t, work[6], own, work[4], _ACCURACY,
        int(params[_CUTS]), B, work[0], work[1], work[2], work[3], number,
    )  # fmt: skip
    d, y, z = pointer_at(params, _FIXED), work[5], work[6]
    for k in range(n):
        y[k] = (2.0 * work[4][k] - 1.0) * d[k]
    far = dual_length(n, y, d, params[_DUAL])
    for k in range(n):
        y[k] = y[k] / far if far > 0.0 else y[k]
    _support_point(t, n, y, params, z)
    total = 0.0
    for k in range(n):
        total += y[k] * (w[k] - z[k])
    if total <= 0.0:
        for k in range(n):
            y[k] = 0.0
        total = 0.0
    return total


@entry
def _nearest_value(t, n, w, params, out):
    own, B, work, number = np.empty(_own_size(n, params)), np.empty((n, n)), np.empty((7, n)), np.empty(1)
    out[0] = 1.0 - _farthest(t, n, w, params, own, B, work, number)


@entry
def _nearest_gradient(t, n, w, params, out):
    own, B, work, number = np.empty(_own_size(n, params)), np.empty((n, n)), np.empty((7, n)), np.empty(1)
    _farthest(t, n, w, params, own, B, work, number)
    for k in range(n):
        out[k] = -work[5][k] + 0.0


@entry
def _nearest_argmax(t, n, theta, params, out):
    if dual_length(n, theta, pointer_at(params, _FIXED), params[_DUAL]) <= EDGE:
        _support_point(t, n, theta, params, out)
        return
    work = np.empty((4, n))
    own = carray(params, _own_size(n, params))
    cutting_ascent(
        int(params[_VALUE]), int(params[_GRADIENT]), t, carray(theta, n), own, carray(out, n), _ACCURACY,
        int(params[_CUTS]), np.empty((n, n)), work[0], work[1], work[2], work[3], np.empty(1),
    )  # fmt: skip


NEAREST: Final = RewardKernels(_nearest_value, _nearest_gradient, _nearest_argmax)


def pack_nearest(target: TargetSet, p: float, weights: Vector) -> Vector:
    """What the kernels read: addresses of this process, the norm, and what the set's entry reads."""
    n, q = target.n_outcomes, dual_exponent(p)
    penalty = 2.0 * float(np.linalg.norm(weights, p))
    addresses = [
        one.address for one in (_nearest_value, _nearest_gradient, _penalised, _penalised_gradient, target.support)
    ]
    head = [*addresses, q, penalty, cut_limit(n), float(target.params.size)]
    return np.concatenate([np.array(head, dtype=np.float64), weights, np.zeros(n), target.params])


def dual_exponent(p: float) -> float:
    """Q with 1/p + 1/q = 1."""
    if p == 1.0:
        return np.inf
    return 1.0 if p == np.inf else p / (p - 1.0)


def conjugate_above(reward: Reward, target: TargetSet, p: float, weights: Vector, theta: Vector) -> float:
    """An upper bound on g*(theta): 1 + sigma(y) + sum of (theta - y)^+ for a y of the dual ball near theta."""
    far = float(np.linalg.norm(theta / weights, dual_exponent(p)))
    y = theta / max(1.0, far)
    along = 1.0 + float(y @ target.support_point(y)) + float(np.maximum(0.0, theta - y).sum())
    if far <= EDGE:
        return along
    w = reward.conjugate_argmax(theta)  # by its tangent: g(u) <= g(w) + s.(u - w), so all of the box is bounded
    slope = reward.gradient(w)
    return min(along, reward.value(w) - float(slope @ w) + float(np.maximum(0.0, slope + theta).sum()))
