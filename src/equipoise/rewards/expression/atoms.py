r"""How large, how steep and how curved an atom is when each of its arguments lies between two limits.

An `Atom` knows, for groups of arguments with limits low and high (a row each):

    spans     between which numbers its value lies
    slopes    between which numbers its partial derivatives lie, one-sided ones at kinks among them
    curves    numbers D with |u.Hu| <= sum_i D_i u_i^2 for its Hessian H; infinite at a kink

All atoms are convex or concave, so that a derivative in one argument alone is largest and smallest at its limits.
Values and slopes are computed by the kernels themselves (`tried`), at the arguments where they are extreme. Curvatures:

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
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from equipoise._types import Vector
from equipoise.rewards.expression.kernels import evaluate_atom
from equipoise.rewards.expression.program import Code, Node

Limits = tuple[Vector, Vector]


class Arguments(NamedTuple):
    """Groups of arguments between limits, and the node that they are for."""

    node: Node
    low: Vector
    high: Vector


class Atom(NamedTuple):
    """What is known of an atom; `domain` is the least that its arguments may be, and whether that itself is allowed."""

    name: str
    domain: Callable[[Node], Limits]
    spans: Callable[[Arguments], Limits]
    slopes: Callable[[Arguments], Limits]
    curves: Callable[[Arguments], Vector]


def at(node: Node, x: Vector) -> tuple[Vector, Vector]:
    """What an atom makes of each row of x, and its slopes there."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    size, width = x.shape
    made, slopes = np.empty(size), np.empty(size * width)
    weights = np.array(node.weights or (0.0,))
    evaluate_atom(int(node.code), node.number, weights, width, x.reshape(-1), made, slopes, np.empty(width))
    return made, slopes.reshape(size, width)


def is_full(p: float) -> bool:
    """Whether x^p is defined for negative x too, by the rules of convex programming: p = 2, 4, 8, ..."""
    return p >= 2.0 and math.log2(p) % 1.0 == 0.0


# -- where an atom is defined -----------------------------------------------------------------------------------------


def _anywhere(node: Node) -> Limits:
    return np.full(node.width, -np.inf), np.ones(node.width, dtype=bool)


def _above(least: float, itself: bool) -> Callable[[Node], Limits]:
    def domain(node: Node) -> Limits:
        return np.full(node.width, least), np.full(node.width, itself)

    return domain


def _of_power(node: Node) -> Limits:
    return _anywhere(node) if is_full(node.number) else _above(0.0, node.number > 0.0)(node)


def _of_norm(node: Node) -> Limits:
    return _anywhere(node) if node.number > 1.0 else _above(0.0, True)(node)


def _of_ratio(node: Node) -> Limits:  # noqa: ARG001
    return np.zeros(2), np.array([True, False])


def _of_quotient(node: Node) -> Limits:
    least = np.full(node.width, -np.inf)
    least[-1] = 0.0
    return least, np.isinf(least)


# -- values -----------------------------------------------------------------------------------------------------------


def _between(turning: float | None = None) -> Callable[[Arguments], Limits]:
    """Of one argument, monotone on both sides of a turning point."""

    def spans(given: Arguments) -> Limits:
        points = [given.low, given.high]
        if turning is not None:
            points.append(np.clip(turning, given.low, given.high))
        values = np.array([at(given.node, x)[0] for x in points])
        return values.min(axis=0), values.max(axis=0)

    return spans


def _increasing(given: Arguments) -> Limits:
    return at(given.node, given.low)[0], at(given.node, given.high)[0]


def _of_sizes(given: Arguments) -> Limits:
    if given.node.number < 1.0:
        return _increasing(given)
    small, large = _sizes(given.low, given.high)
    return at(given.node, small)[0], at(given.node, large)[0]


def _sizes(low: Vector, high: Vector) -> Limits:
    """The least and the largest of |x|."""
    return np.maximum(0.0, np.maximum(low, -high)), np.maximum(np.abs(low), np.abs(high))


def _ratio_spans(given: Arguments) -> Limits:
    """Of x log(x/y), which falls with y; in x it is least at y/e, and less x it is least at y."""
    (x0, y0), (x1, y1) = given.low.T, given.high.T
    if given.node.code is Code.REL_ENTR:
        points = [(x0, y0), (x1, y0), (np.clip(y1 / math.e, x0, x1), y1)]
    else:
        points = [(x0, y0), (x0, y1), (x1, y0), (x1, y1), (np.clip(y0, x0, x1), np.clip(x0, y0, y1))]
    values = np.array([at(given.node, np.stack(point, axis=1))[0] for point in points])
    return values.min(axis=0), values.max(axis=0)


def _quotient_spans(given: Arguments) -> Limits:
    small, large = _sizes(given.low[:, :-1], given.high[:, :-1])
    low = np.column_stack((small, given.high[:, -1]))
    return at(given.node, low)[0], at(given.node, np.column_stack((large, given.low[:, -1])))[0]


# -- slopes -----------------------------------------------------------------------------------------------------------


def _at_limits(given: Arguments) -> Limits:
    """Of one argument: the derivative is monotone."""
    one, two = at(given.node, given.low)[1], at(given.node, given.high)[1]
    return np.minimum(one, two), np.maximum(one, two)


def _share(given: Arguments) -> Limits:
    return np.zeros_like(given.low), np.ones_like(given.low)


def _one_against_others(given: Arguments) -> Limits:
    """The slope in one argument, which falls with it and grows with the others; or for log-sum-exp the other way."""
    width = given.node.width
    low, high = np.empty_like(given.low), np.empty_like(given.high)
    for i in range(width):
        mostly_low, mostly_high = given.low.copy(), given.high.copy()
        mostly_low[:, i], mostly_high[:, i] = given.high[:, i], given.low[:, i]
        one, two = at(given.node, mostly_low)[1][:, i], at(given.node, mostly_high)[1][:, i]
        low[:, i], high[:, i] = np.minimum(one, two), np.maximum(one, two)
    return low, high


def _norm_slopes(given: Arguments) -> Limits:
    if given.node.number < 0.0 and np.any(given.low <= 0.0):
        return _share(given)  # at most 1, since the norm is at most every entry
    if given.node.number < 1.0:
        return _one_against_others(given)
    return np.where(given.low < 0.0, -1.0, 0.0), np.where(given.high > 0.0, 1.0, 0.0)


def _ratio_slopes(given: Arguments) -> Limits:
    """Those of x log(x/y) grow with x/y and fall with it."""
    least = np.column_stack((given.low[:, 0], given.high[:, 1]))
    most = np.column_stack((given.high[:, 0], given.low[:, 1]))
    one, two = at(given.node, least)[1], at(given.node, most)[1]
    return np.minimum(one, two), np.maximum(one, two)


def _quotient_slopes(given: Arguments) -> Limits:
    least = given.low[:, -1:]
    slopes = 2.0 * _sizes(given.low[:, :-1], given.high[:, :-1])[1] / least
    down = -np.sum((0.5 * slopes) ** 2, axis=1, keepdims=True)
    signed_low = np.where(given.low[:, :-1] < 0.0, -slopes, 0.0)
    signed_high = np.where(given.high[:, :-1] > 0.0, slopes, 0.0)
    return np.column_stack((signed_low, down)), np.column_stack((signed_high, np.zeros_like(down)))


# -- curvatures -------------------------------------------------------------------------------------------------------


def _power_curves(given: Arguments) -> Vector:
    p = given.node.number
    small, large = _sizes(given.low, given.high)
    if given.node.code is Code.POS:
        small, large = np.maximum(given.low, 0.0), np.maximum(given.high, 0.0)
    if p == 1.0:  # max(x, 0), whose slope at 0 is 0
        return np.where((given.low > 0.0) | (given.high <= 0.0), 0.0, np.inf)
    base = small if p < 2.0 else large
    return np.asarray(abs(p * (p - 1.0)) * base ** (p - 2.0))


def _abs_curves(given: Arguments) -> Vector:
    return np.where((given.low > 0.0) | (given.high < 0.0), 0.0, np.inf)


def _exp_curves(given: Arguments) -> Vector:
    return np.asarray(np.exp(given.high))


def _log_curves(given: Arguments) -> Vector:
    shift = 1.0 if given.node.code is Code.LOG1P else 0.0
    return np.asarray((given.low + shift) ** -2.0)


def _entr_curves(given: Arguments) -> Vector:
    return 1.0 / given.low


def _logistic_curves(given: Arguments) -> Vector:
    s = at(given.node, np.clip(0.0, given.low, given.high))[1]
    return s * (1.0 - s)


def _huber_curves(given: Arguments) -> Vector:
    return np.where(_sizes(given.low, given.high)[0] < given.node.number, 2.0, 0.0)


def _chosen_curves(given: Arguments) -> Vector:
    """0 where one argument is always the chosen one, or all are."""
    low, high = (-given.high, -given.low) if given.node.code is Code.MINIMUM else (given.low, given.high)
    if given.node.code is Code.SUM_LARGEST:
        settled = np.full(len(low), given.node.number >= given.node.width)
    else:
        best = np.argmax(low, axis=1)
        others = high.copy()
        others[np.arange(len(low)), best] = -np.inf
        settled = low.max(axis=1) > others.max(axis=1)
    return np.broadcast_to(np.where(settled, 0.0, np.inf)[:, None], low.shape)


def _mixture_curves(given: Arguments) -> Vector:
    return _one_against_others(given)[1]


def _norm_curves(given: Arguments) -> Vector:
    p = given.node.number
    if p < 1.0:
        return (1.0 - p) * _norm_slopes(given)[1] / given.low
    small = at(given.node, _sizes(given.low, given.high)[0])[0][:, None]
    steep = np.inf if p < 2.0 else p - 1.0
    return np.broadcast_to(steep / small, given.low.shape)


def _mean_curves(given: Arguments) -> Vector:
    return _one_against_others(given)[1] / given.low


def _ratio_curves(given: Arguments) -> Vector:
    shared = np.where(np.any(given.low == given.high, axis=1), 1.0, 2.0)  # one of them is a constant, or none
    x = shared / given.low[:, 0]
    return np.column_stack((x, shared * given.high[:, 0] / given.low[:, 1] ** 2))


def _quotient_curves(given: Arguments) -> Vector:
    least = given.low[:, -1:]
    shared = np.where(least == given.high[:, -1:], 1.0, 2.0)
    large = _sizes(given.low[:, :-1], given.high[:, :-1])[1]
    down = shared * 2.0 * np.sum(large**2, axis=1, keepdims=True) / least**3
    return np.column_stack((np.broadcast_to(shared * 2.0 / least, large.shape), down))


_POSITIVE: Final = _above(0.0, False)
_NONNEGATIVE: Final = _above(0.0, True)

ATOMS: Final[dict[Code, Atom]] = {
    Code.POWER: Atom("power", _of_power, _between(0.0), _at_limits, _power_curves),
    Code.POS: Atom("pos", _anywhere, _between(), _at_limits, _power_curves),
    Code.ABS: Atom("abs", _anywhere, _between(0.0), _at_limits, _abs_curves),
    Code.EXP: Atom("exp", _anywhere, _between(), _at_limits, _exp_curves),
    Code.LOG: Atom("log", _POSITIVE, _between(), _at_limits, _log_curves),
    Code.LOG1P: Atom("log1p", _above(-1.0, False), _between(), _at_limits, _log_curves),
    Code.ENTR: Atom("entr", _NONNEGATIVE, _between(1.0 / math.e), _at_limits, _entr_curves),
    Code.LOGISTIC: Atom("logistic", _anywhere, _between(), _at_limits, _logistic_curves),
    Code.HUBER: Atom("huber", _anywhere, _between(0.0), _at_limits, _huber_curves),
    Code.MAXIMUM: Atom("maximum", _anywhere, _increasing, _share, _chosen_curves),
    Code.MINIMUM: Atom("minimum", _anywhere, _increasing, _share, _chosen_curves),
    Code.SUM_LARGEST: Atom("sum_largest", _anywhere, _increasing, _share, _chosen_curves),
    Code.LOG_SUM_EXP: Atom("log_sum_exp", _anywhere, _increasing, _one_against_others, _mixture_curves),
    Code.PNORM: Atom("pnorm", _of_norm, _of_sizes, _norm_slopes, _norm_curves),
    Code.GEO_MEAN: Atom("geo_mean", _NONNEGATIVE, _increasing, _one_against_others, _mean_curves),
    Code.REL_ENTR: Atom("rel_entr", _of_ratio, _ratio_spans, _ratio_slopes, _ratio_curves),
    Code.KL_DIV: Atom("kl_div", _of_ratio, _ratio_spans, _ratio_slopes, _ratio_curves),
    Code.QUAD_OVER_LIN: Atom("quad_over_lin", _of_quotient, _quotient_spans, _quotient_slopes, _quotient_curves),
}
