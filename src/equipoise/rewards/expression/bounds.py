"""How steep and how curved a program is over a box: bounds that hold, by intervals and by norms.

Forward, every number of a program gets an interval that holds its value, a box that holds its gradient in w, and a
length that no gradient of it exceeds, in the dual norm: the least of what its box and its parts allow.

An affine row adds intervals and boxes. Its length is at most the sum over blocks of the longest gradient in the box of
their part, or of the lengths in it times their coefficients. An atom with slopes s_i has the gradient
sum_i s_i grad x_i: the product of the intervals of its slopes and of the boxes, and the length sum_i |s_i| length_i.
The slopes of `maximum`, `minimum` and `log_sum_exp` are a point of the simplex, so the hull of the boxes holds the
gradient and the longest length bounds it; those of `sum_largest` sum to k, so the k longest count; those of a p-norm
lie in the ball of the dual norm (p > 1), so the p-norm of the lengths bounds it, or sum to at most 1 (p < 0). For the
Euclidean norm of w, the length is also at most r ||J||, with the largest Euclidean norm r of the slopes and the
Jacobian J of the rows. L is the length of the last row.

Backward, every number gets the most by which g changes with it. The Hessian of g is the sum over all nodes of that
times J' H J, with the Hessian H of the atom; |u.Hu| <= sum_i D_i u_i^2 (`atoms`). Where the rows are A w + b,
A' diag(D) A is added to a matrix M; where they are not, sum_i D_i length_i^2 is added to a number. beta is that number
and

    norm 2: the largest eigenvalue of M;   norm 1: its largest entry;   norm inf: the sum of its |entries|,

or K times the largest eigenvalue if that is less. A kink has D infinite, and the reward counts as not smooth.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._types import Vector
from equipoise.rewards.expression.atoms import Arguments, curves, domain, slopes, spans
from equipoise.rewards.expression.program import OUTCOMES, Code, Form, Node, Program
from equipoise.rewards.norms import dual

_HULL: Final = (Code.MAXIMUM, Code.MINIMUM, Code.LOG_SUM_EXP)
_LARGE: Final = 128  # a matrix whose singular values are not computed
_ROUNDING: Final = 1e-9  # how far below its least an argument may seem to lie


class Trouble(NamedTuple):
    """A node that has no finite slope on the box: which, how low its argument gets, and how low it may."""

    node: int
    low: float
    least: float


class Bounds(NamedTuple):
    """What is proven of a program on a box."""

    lipschitz: float
    smoothness: float | None
    trouble: Trouble | None
    separable: bool
    low: float
    high: float


class _Known(NamedTuple):
    """What is known of a vector of numbers; the boxes of gradients have a row for each number."""

    low: Vector
    high: Vector
    steep_low: Vector
    steep_high: Vector
    length: Vector
    touches: NDArray[np.bool_]  # which outcomes it depends on
    whole: float  # the Euclidean norm of the Jacobian


def bound_program(program: Program, norm: float, low: Vector | None = None, high: Vector | None = None) -> Bounds:
    """Bounds on [0,1]^K, or on another box."""
    K = program.n_outcomes
    with np.errstate(all="ignore"):
        eye = np.eye(K)
        low = np.zeros(K) if low is None else low
        high = np.ones(K) if high is None else high
        blocks = [_Known(low, high, eye, eye, np.ones(K), eye > 0.0, 1.0)]
        rows: list[_Known] = []
        for place, node in enumerate(program.nodes):
            rows.append(_rows(node.rows, blocks, norm))
            wrong = _unbounded_rows(node, rows[-1])
            if wrong.size:
                low, least = rows[-1].low[wrong[0]], np.tile(domain(node)[0], node.size)[wrong[0]]
                trouble = Trouble(place, float(low), float(least))
                return Bounds(math.inf, None, trouble, separable=False, low=-math.inf, high=math.inf)
            blocks.append(_node(node, rows[-1], norm))
        last = _rows(program.result, blocks, norm)
        smoothness = _smoothness(program, rows, norm)
        separable = all(bool((block.touches.sum(axis=1) <= 1).all()) for block in blocks[1:])
        return Bounds(float(last.length[0]), smoothness, None, separable, float(last.low[0]), float(last.high[0]))


# -- forward ----------------------------------------------------------------------------------------------------------


def _rows(form: Form, blocks: list[_Known], norm: float) -> _Known:
    K = blocks[OUTCOMES].length.size
    low, high = form.offset.copy(), form.offset.copy()
    steep_low, steep_high = np.zeros((form.size, K)), np.zeros((form.size, K))
    length = np.zeros(form.size)
    touches = np.zeros((form.size, K), dtype=bool)
    whole = 0.0
    for block, matrix in form.terms.items():
        known = blocks[block]
        up, down = matrix.maximum(0.0), matrix.minimum(0.0)
        low += up @ known.low + down @ known.high
        high += up @ known.high + down @ known.low
        steepest = up @ known.steep_low + down @ known.steep_high, up @ known.steep_high + down @ known.steep_low
        steep_low += steepest[0]
        steep_high += steepest[1]
        length += np.minimum(abs(matrix) @ known.length, _longest(steepest, norm))
        touches |= abs(matrix) @ known.touches.astype(np.float64) > 0.0
        whole += _spectral(matrix) * known.whole
    return _tightened(_Known(low, high, steep_low, steep_high, length, touches, whole), norm)


def _node(node: Node, rows: _Known, norm: float) -> _Known:
    """What a node makes of its rows."""
    given = _arguments(node, rows)
    low, high = spans(given)
    shape = (node.size, node.width)
    boxes = [one.reshape(*shape, -1) for one in (rows.steep_low, rows.steep_high)]
    lengths = rows.length.reshape(shape)
    touches = np.asarray(rows.touches.reshape(*shape, -1).any(axis=1))
    whole = math.inf
    if node.code in _HULL:
        steep_low, steep_high, length = _hull(node, given, boxes, lengths)
    elif node.code is Code.SUM_LARGEST:
        k = node.number
        steep_low, steep_high = -_top(-boxes[0], k), _top(boxes[1], k)
        length = _top(lengths, k)
        length = np.minimum(length, _by_whole(node, rows, norm, math.sqrt(math.floor(k) + (k % 1.0) ** 2)))
    else:
        steep = [np.where(rows.length.reshape(shape) > 0.0, one, 0.0)[:, :, None] for one in slopes(given)]
        products = np.array([s * b for s in steep for b in boxes])
        steep_low, steep_high = products.min(axis=0).sum(axis=1), products.max(axis=0).sum(axis=1)
        largest = np.maximum(np.abs(steep[0]), np.abs(steep[1]))[:, :, 0]
        length = np.sum(largest * lengths, axis=1)
        whole = float(largest.max()) * rows.whole if node.width == 1 else math.inf
        if node.code is Code.PNORM and node.number > 1.0:
            p = node.number
            length = np.minimum(length, np.linalg.norm(lengths, p, axis=1))
            radius = 1.0 if p >= 2.0 else node.width ** (1.0 / p - 0.5)
            length = np.minimum(length, _by_whole(node, rows, norm, radius))
        if node.code is Code.PNORM and node.number < 0.0:
            length = np.minimum(length, lengths.max(axis=1))
    return _tightened(_Known(low, high, steep_low, steep_high, length, touches, whole), norm)


def _hull(node: Node, given: Arguments, boxes: list[Vector], lengths: Vector) -> tuple[Vector, Vector, Vector]:
    """Of slopes on the simplex: over the arguments that may be chosen."""
    possible = np.ones(lengths.shape, dtype=bool)
    if node.code is Code.MAXIMUM:
        possible = given.high >= given.low.max(axis=1, keepdims=True)
    elif node.code is Code.MINIMUM:
        possible = given.low <= given.high.min(axis=1, keepdims=True)
    low = np.where(possible[:, :, None], boxes[0], np.inf).min(axis=1)
    high = np.where(possible[:, :, None], boxes[1], -np.inf).max(axis=1)
    return low, high, np.where(possible, lengths, 0.0).max(axis=1)


def _top(x: Vector, k: float) -> Vector:
    """The sum of the k largest along the second axis, in part if k is no whole number."""
    ordered = -np.sort(-x, axis=1)
    share = np.clip(k - np.arange(x.shape[1]), 0.0, 1.0)
    return np.asarray(np.tensordot(ordered, share, axes=(1, 0)))


def _by_whole(node: Node, rows: _Known, norm: float, radius: float) -> float:
    """The bound r ||J||, J the Jacobian of the rows of a single group, if the norm is Euclidean; else no bound."""
    return radius * rows.whole if norm == 2.0 and node.size == 1 else math.inf


def _spectral(matrix: csr_array) -> float:
    """The largest singular value; of a large matrix, a bound on it."""
    if max(matrix.shape) <= _LARGE:
        return float(np.linalg.norm(matrix.toarray(), 2))
    sizes = abs(matrix)
    return math.sqrt(float(sizes.sum(axis=0).max()) * float(sizes.sum(axis=1).max()))


def _tightened(known: _Known, norm: float) -> _Known:
    """The lesser of the length and that of the largest gradient in the box; and the same of all numbers together."""
    steepest = known.steep_low, known.steep_high
    length = np.minimum(known.length, _longest(steepest, norm))
    return known._replace(length=length, whole=min(known.whole, float(np.linalg.norm(_longest(steepest, 2.0)))))


def _longest(steepest: tuple[Vector, Vector], norm: float) -> Vector:
    """The length of the longest gradient in each box."""
    return np.asarray(np.linalg.norm(np.maximum(np.abs(steepest[0]), np.abs(steepest[1])), dual(norm), axis=1))


def _arguments(node: Node, rows: _Known) -> Arguments:
    least = np.tile(domain(node)[0], node.size)
    shape = (node.size, node.width)
    return Arguments(node, np.maximum(rows.low, least).reshape(shape), np.maximum(rows.high, least).reshape(shape))


def _unbounded_rows(node: Node, rows: _Known) -> NDArray[np.intp]:
    """The rows that leave the atom's domain; if none does, those that depend on w where it has no finite slope."""
    least, itself = (np.tile(one, node.size) for one in domain(node))
    slack = _ROUNDING * np.maximum(1.0, np.abs(rows.high))
    outside = np.flatnonzero(~((rows.low >= least - slack) & np.where(itself, True, rows.low > least)))
    if outside.size:
        return outside
    low, high = slopes(_arguments(node, rows))
    return np.flatnonzero(~(np.isfinite(low) & np.isfinite(high)).reshape(-1) & rows.touches.any(axis=1))


# -- backward ---------------------------------------------------------------------------------------------------------


def _smoothness(program: Program, rows: list[_Known], norm: float) -> float | None:
    K = program.n_outcomes
    gains = [np.zeros(size) for size in program.sizes()]
    _spread(program.result, np.ones(1), gains)
    M, rest = np.zeros((K, K)), 0.0
    for place in range(len(program.nodes) - 1, -1, -1):
        node, known, gain = program.nodes[place], rows[place], gains[place + 1]
        given = _arguments(node, known)
        moving = known.touches.any(axis=1).reshape(node.size, node.width)
        steepest = np.maximum(*(np.abs(one) for one in slopes(given)))
        curved = np.where(moving & (gain[:, None] > 0.0), curves(given), 0.0)
        weights = (curved * gain[:, None]).reshape(-1)
        if not np.isfinite(weights).all():
            return None
        if set(node.rows.terms) <= {OUTCOMES}:
            A = node.rows.terms[OUTCOMES].toarray() if node.rows.terms else np.zeros((node.rows.size, K))
            M += A.T @ (weights[:, None] * A)
        elif node.code is Code.LOG_SUM_EXP:  # the variance of the rows along u, under the slopes as probabilities
            rest += float(np.sum(gain * (known.length.reshape(node.size, -1) ** 2).max(axis=1)))
        else:
            rest += float(np.sum(weights * known.length**2))
        _spread(node.rows, (np.where(moving, steepest, 0.0) * gain[:, None]).reshape(-1), gains)
    if norm == 1.0:
        beta = float(np.abs(M).max()) + rest
    else:
        largest = max(0.0, float(np.linalg.eigvalsh(M)[-1]))
        beta = (largest if norm == 2.0 else min(float(np.abs(M).sum()), K * largest)) + rest
    return beta if math.isfinite(beta) else None


def _spread(form: Form, gain: Vector, gains: list[Vector]) -> None:
    """Add what rows pass on to the blocks that they are made of."""
    for block, matrix in form.terms.items():
        gains[block] += abs(matrix).T @ gain
