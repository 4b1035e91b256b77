r"""How large, how steep and how curved an atom is when each of its arguments lies between two limits.

For groups of arguments with limits low and high (a row each):

    spans     between which numbers its value lies
    slopes    between which numbers its partial derivatives lie, one-sided ones at kinks among them
    curves    numbers D with |u.Hu| <= sum_i D_i u_i^2 for its Hessian H; infinite at a kink

All atoms are convex or concave, so that a derivative in one argument alone is largest and smallest at its limits.
Values and slopes are computed by the kernels themselves (`at`), at the arguments where they are extreme. Curvatures:

    x^p                p (p-1) |x|^(p-2)                 max(x, 0)^p   the same, 0 below 0
    exp                exp(x)                            log           1 / x^2
    -x log x           1 / x                             logistic      s (1 - s), s the slope
    huber              2 within M, else 0                log-sum-exp   diag(s) - s s' <= diag(s)
    p-norm, p >= 2     (p-1) / norm                      p < 1         (1-p) diag(s / x)
    geometric mean     diag(s / x)                       x log(x / y)  (1/x) v v', v = (1, -x/y), v v' <= 2 diag(v^2)
    |x|^2 / y          (2/y) v v' for each entry, v = (1, -x/y)

s are the slopes. The largest of several, norms near 0 and |x| near 0 have a kink.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.rewards.expression.kernels import evaluate_atom
from equipoise.rewards.expression.program import Code, Node

Limits = tuple[Vector, Vector]

_RATIOS: Final = (Code.REL_ENTR, Code.KL_DIV)
_LEAST: Final = {Code.LOG1P: -1.0, **dict.fromkeys((Code.LOG, Code.ENTR, Code.GEO_MEAN, *_RATIOS), 0.0)}
_TURNING: Final = {Code.POWER: 0.0, Code.ABS: 0.0, Code.HUBER: 0.0, Code.ENTR: 1.0 / math.e}  # where the slope is 0
_CHOICES: Final = (Code.MAXIMUM, Code.MINIMUM, Code.SUM_LARGEST)


class Arguments(NamedTuple):
    """Groups of arguments between limits, and the node that they are for."""

    node: Node
    low: Vector
    high: Vector


def at(node: Node, x: Vector) -> tuple[Vector, Vector]:
    """What an atom makes of each row of x, and its slopes there."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    size, width = x.shape
    made, slopes = np.empty(size), np.empty(size * width)
    weights = np.array(node.weights or (0.0,))
    evaluate_atom(int(node.code), node.number, weights, width, x.reshape(-1), made, slopes, np.empty(width))
    return made, slopes.reshape(size, width)


def domain(node: Node) -> Limits:
    """The least that each argument may be, and whether that itself is allowed."""
    code, p = node.code, node.number
    least, itself = _LEAST.get(code, -np.inf), code not in (Code.LOG, Code.LOG1P)
    if code is Code.POWER and not (p >= 2.0 and math.log2(p) % 1.0 == 0.0):  # defined for x < 0 if p = 2, 4, 8, ...
        least, itself = 0.0, p > 0.0
    if code is Code.PNORM and p <= 1.0:
        least = 0.0
    lows, allowed = np.full(node.width, least), np.full(node.width, itself)
    if code in _RATIOS or code is Code.QUAD_OVER_LIN:
        lows[-1], allowed[-1] = 0.0, False
    return lows, allowed


def spans(given: Arguments) -> Limits:
    """Between which numbers the values lie."""
    node, low, high = given
    points = [low, high]
    if node.code in _TURNING:
        points.append(np.clip(_TURNING[node.code], low, high))
    elif node.code is Code.PNORM and node.number >= 1.0:
        points = [*_sizes(low, high)]
    elif node.code is Code.QUAD_OVER_LIN:
        small, large = _sizes(low[:, :-1], high[:, :-1])
        points = [np.column_stack((small, high[:, -1])), np.column_stack((large, low[:, -1]))]
    elif node.code in _RATIOS:  # x log(x/y) falls with y; in x it is least at y/e, and less x it is least at y
        (x0, y0), (x1, y1) = low.T, high.T
        pairs = [(x0, y0), (x1, y0), (np.clip(y1 / math.e, x0, x1), y1)]
        if node.code is Code.KL_DIV:
            pairs = [(x0, y0), (x0, y1), (x1, y0), (x1, y1), (np.clip(y0, x0, x1), np.clip(x0, y0, y1))]
        points = [np.stack(pair, axis=1) for pair in pairs]
    return _extremes([at(node, x)[0] for x in points])


def slopes(given: Arguments) -> Limits:
    """Between which numbers the partial derivatives lie."""
    node, low, high = given
    if node.code <= Code.HUBER:
        return _extremes([at(node, low)[1], at(node, high)[1]])
    if node.code in _CHOICES or (node.code is Code.PNORM and node.number < 0.0 and np.any(low <= 0.0)):
        return np.zeros_like(low), np.ones_like(low)  # such a norm is at most every entry
    if node.code in _RATIOS:  # those of x log(x/y) grow with x/y and fall with it
        least, most = np.column_stack((low[:, 0], high[:, 1])), np.column_stack((high[:, 0], low[:, 1]))
        return _extremes([at(node, least)[1], at(node, most)[1]])
    if node.code is Code.PNORM and node.number >= 1.0:
        return np.where(low < 0.0, -1.0, 0.0), np.where(high > 0.0, 1.0, 0.0)
    if node.code is Code.QUAD_OVER_LIN:
        steep = 2.0 * _sizes(low[:, :-1], high[:, :-1])[1] / low[:, -1:]
        down = -np.sum((0.5 * steep) ** 2, axis=1, keepdims=True)
        signed_low, signed_high = np.where(low[:, :-1] < 0.0, -steep, 0.0), np.where(high[:, :-1] > 0.0, steep, 0.0)
        return np.column_stack((signed_low, down)), np.column_stack((signed_high, np.zeros_like(down)))
    # The slope in one argument falls with it and grows with the others; or, for log-sum-exp, the other way.
    bottom, top = np.empty_like(low), np.empty_like(high)
    for i in range(node.width):
        mostly_low, mostly_high = low.copy(), high.copy()
        mostly_low[:, i], mostly_high[:, i] = high[:, i], low[:, i]
        bottom[:, i], top[:, i] = _extremes([at(node, mostly_low)[1][:, i], at(node, mostly_high)[1][:, i]])
    return bottom, top


def curves(given: Arguments) -> Vector:
    """Numbers D with |u.Hu| <= sum_i D_i u_i^2."""
    node, low, high = given
    code, p = node.code, node.number
    small, large = _sizes(low, high)
    if code is Code.EXP:
        return np.asarray(np.exp(high))
    if code in (Code.LOG, Code.LOG1P):
        return np.asarray((low + (1.0 if code is Code.LOG1P else 0.0)) ** -2.0)
    if code is Code.ENTR:
        return 1.0 / low
    if code is Code.ABS:
        return np.where((low > 0.0) | (high < 0.0), 0.0, np.inf)
    if code is Code.LOGISTIC:
        s = at(node, np.clip(0.0, low, high))[1]
        return s * (1.0 - s)
    if code is Code.HUBER:
        return np.where(small < p, 2.0, 0.0)
    if code in (Code.POWER, Code.POS):
        if p == 1.0:  # max(x, 0), whose slope at 0 is 0
            return np.where((low > 0.0) | (high <= 0.0), 0.0, np.inf)
        if code is Code.POS:
            small, large = np.maximum(low, 0.0), np.maximum(high, 0.0)
        return np.asarray(abs(p * (p - 1.0)) * (small if p < 2.0 else large) ** (p - 2.0))
    if code in _CHOICES:
        return np.broadcast_to(np.where(_is_settled(given), 0.0, np.inf)[:, None], low.shape)
    if code is Code.PNORM and p >= 1.0:
        return np.broadcast_to((np.inf if p < 2.0 else p - 1.0) / at(node, small)[0][:, None], low.shape)
    if code in _RATIOS:
        shared = np.where(np.any(low == high, axis=1), 1.0, 2.0)  # one of them is a constant, or none
        return np.column_stack((shared / low[:, 0], shared * high[:, 0] / low[:, 1] ** 2))
    if code is Code.QUAD_OVER_LIN:
        least = low[:, -1:]
        shared = np.where(least == high[:, -1:], 1.0, 2.0)
        down = shared * 2.0 * np.sum(large[:, :-1] ** 2, axis=1, keepdims=True) / least**3
        return np.column_stack((np.broadcast_to(shared * 2.0 / least, (len(low), node.width - 1)), down))
    if code is Code.PNORM:
        return (1.0 - p) * slopes(given)[1] / low
    return slopes(given)[1] / (low if code is Code.GEO_MEAN else 1.0)


def _extremes(values: list[Vector]) -> Limits:
    return np.min(values, axis=0), np.max(values, axis=0)


def _sizes(low: Vector, high: Vector) -> Limits:
    """The least and the largest of |x|."""
    return np.maximum(0.0, np.maximum(low, -high)), np.maximum(np.abs(low), np.abs(high))


def _is_settled(given: Arguments) -> Vector:
    """Whether one argument is always the chosen one, or all are."""
    node, low, high = given
    if node.code is Code.SUM_LARGEST:
        return np.full(len(low), node.number >= node.width)
    low, high = (-high, -low) if node.code is Code.MINIMUM else (low, high)
    others = high.copy()
    others[np.arange(len(low)), np.argmax(low, axis=1)] = -np.inf
    return np.asarray(low.max(axis=1) > others.max(axis=1))
