"""The kernels of a program: one pass forward for the value, one back for a supergradient; see `program` for the tape.

Forward, each row is its offset plus its terms, and each node computes its numbers from its rows. Backward, each number
has the derivative of g in it; times the slope of the atom in a row, that is the derivative in the row, and times the
coefficient of a term, it is added to that of the number there. At a kink the slope is between those left and right, and
respects the monotonicity that the rules of convex programming need: at 0 that of abs is 0, and among equals the first
is the largest. So the sum is a supergradient.

Working memory is on the stack of the entry: nothing is allocated, and the tape is only read.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from equipoise._runtime.compiler import Entry, inlined, kernel, stack_floats
from equipoise._types import Vector
from equipoise.rewards.base import RewardKernels
from equipoise.rewards.composed import iterated_argmax, separable_argmax
from equipoise.rewards.expression.program import Code, Head

# Plain numbers, which numba takes as constants.
_POWER, _POS, _ABS, _EXP, _LOG, _LOG1P, _ENTR, _LOGISTIC, _LAST_OF_ONE = (
    int(code) for code in Code if code <= Code.HUBER
)
_MAXIMUM, _MINIMUM, _SUM_LARGEST, _LOG_SUM_EXP, _PNORM, _GEO_MEAN, _REL_ENTR, _KL_DIV, _QUAD_OVER_LIN = (
    int(code) for code in Code if code > Code.HUBER
)
_OWN_GRADIENT, _NODES, _ROOM, _WIDTH, _RESULT, _STARTS = (
    int(place) for place in (Head.GRADIENT, Head.NODES, Head.ROOM, Head.WIDTH, Head.RESULT, Head.STARTS)
)
_NODE_HEAD: Final = 5


@inlined
def _power(x: float, p: float) -> Any:
    """x^p, with the exponents that occur most without a logarithm."""
    if p == 2.0:
        return x * x
    if p == 1.0:
        return x
    if p == 0.5:
        return np.sqrt(x)
    if p == -1.0:
        return 1.0 / x
    return x**p


@inlined
def _base(x: float, p: float) -> Any:
    """What a power is taken of: not less than 0, where rounding may lead, unless p is 2, 4, 8, ... and it may be."""
    return 0.0 if x < 0.0 and p > 1.0 and p != 2.0 and np.log2(p) % 1.0 != 0.0 else x


@inlined
def _largest(x: Any, first: int, width: int, sign: float) -> int:
    """Where sign * x is largest; the first of equals."""
    best = first
    for i in range(first + 1, first + width):
        if sign * x[i] > sign * x[best]:
            best = i
    return best


@kernel
def _share(x: Any, first: int, width: int, i: int, number: float) -> Any:
    """How much of entry i is among the `number` largest, from 0 to 1; `number` may be a fraction."""
    before = 0
    for j in range(first, first + width):
        if x[j] > x[i] or (x[j] == x[i] and j < i):
            before += 1
    return min(1.0, max(0.0, number - before))


@kernel
def _norm(x: Any, first: int, width: int, p: float) -> Any:
    """(sum of |x|^p)^(1/p), relative to the entry that matters most; for p < 0 it is 0 where an entry is."""
    scale = abs(x[first])
    for i in range(first + 1, first + width):
        scale = min(scale, abs(x[i])) if p < 0.0 else max(scale, abs(x[i]))
    if scale == 0.0:
        return 0.0
    total = 0.0
    for i in range(first, first + width):
        total += _power(abs(x[i]) / scale, p)
    return scale * (np.sqrt(total) if p == 2.0 else total ** (1.0 / p))


@inlined
def _of_one(code: int, number: float, x: float) -> Any:
    """The value of an atom of one argument."""
    if code == _POWER:
        return _power(_base(x, number), number)
    if code == _POS:
        return _power(x, number) if x > 0.0 else 0.0
    if code == _ABS:
        return abs(x)
    if code == _EXP:
        return np.exp(x)
    if code == _LOG:
        return np.log(x)
    if code == _LOG1P:
        return np.log1p(x)
    if code == _ENTR:
        return -x * np.log(x) if x > 0.0 else 0.0
    if code == _LOGISTIC:
        return max(x, 0.0) + np.log1p(np.exp(-abs(x)))
    return x * x if abs(x) <= number else number * (2.0 * abs(x) - number)  # huber


@inlined
def _slope_of_one(code: int, number: float, x: float, made: float) -> Any:
    """The derivative of an atom of one argument, with its value `made`."""
    if code == _POWER:
        return number * _power(_base(x, number), number - 1.0)
    if code == _POS:
        return number * _power(x, number - 1.0) if x > 0.0 else 0.0
    if code == _ABS:
        return np.sign(x)
    if code == _EXP:
        return made
    if code == _LOG:
        return 1.0 / x
    if code == _LOG1P:
        return 1.0 / (1.0 + x)
    if code == _ENTR:
        return -np.log(x) - 1.0
    if code == _LOGISTIC:
        return 1.0 / (1.0 + np.exp(-x))
    return 2.0 * min(number, max(-number, x))


@inlined
def _of_many(code: int, number: float, width: int, x: Any, first: int, params: Any, weights: int) -> Any:
    """The value of an atom at x[first], ..., x[first + width - 1]."""
    if code == _MAXIMUM:
        return x[_largest(x, first, width, 1.0)]
    if code == _MINIMUM:
        return x[_largest(x, first, width, -1.0)]
    total = 0.0
    if code == _SUM_LARGEST:
        for i in range(first, first + width):
            total += _share(x, first, width, i, number) * x[i]
        return total
    if code == _LOG_SUM_EXP:
        top = x[_largest(x, first, width, 1.0)]
        for i in range(first, first + width):
            total += np.exp(x[i] - top)
        return top + np.log(total)
    if code == _PNORM:
        return _norm(x, first, width, number)
    if code == _GEO_MEAN:
        for i in range(width):
            if x[first + i] <= 0.0:
                return 0.0
            total += params[weights + i] * np.log(x[first + i])
        return np.exp(total)
    if code == _QUAD_OVER_LIN:
        for i in range(first, first + width - 1):
            total += x[i] * x[i]
        return total / x[first + width - 1]
    a, b = x[first], x[first + 1]
    total = a * np.log(a / b) if a > 0.0 else 0.0
    return total if code == _REL_ENTR else total - a + b


@inlined
def _slopes_of_many(
    code: int, number: float, width: int, x: Any, first: int, params: Any, weights: int, made: float, slope: Any
) -> None:
    """Write the partial derivatives of an atom, with its value `made`."""
    if code == _MAXIMUM or code == _MINIMUM:  # noqa: SIM109
        best = _largest(x, first, width, 1.0 if code == _MAXIMUM else -1.0)
        for i in range(width):
            slope[i] = 1.0 if first + i == best else 0.0
    elif code == _SUM_LARGEST:
        for i in range(width):
            slope[i] = _share(x, first, width, first + i, number)
    elif code == _LOG_SUM_EXP:
        for i in range(width):
            slope[i] = np.exp(x[first + i] - made)
    elif code == _PNORM:
        # A norm with p < 0 is at most its smallest entry, and equal to that where that is 0; others have a kink there.
        best = _largest(x, first, width, -1.0) if number < 0.0 else first - 1
        for i in range(width):
            if made > 0.0:
                slope[i] = np.sign(x[first + i]) * _power(abs(x[first + i]) / made, number - 1.0)
            else:
                slope[i] = 1.0 if first + i == best else 0.0
    elif code == _GEO_MEAN:
        for i in range(width):
            slope[i] = params[weights + i] * made / x[first + i]
    elif code == _QUAD_OVER_LIN:
        last = x[first + width - 1]
        for i in range(width - 1):
            slope[i] = 2.0 * x[first + i] / last
        slope[width - 1] = -made / last
    else:
        ratio = x[first] / x[first + 1]
        slope[0] = np.log(ratio) + (1.0 if code == _REL_ENTR else 0.0)
        slope[1] = (0.0 if code == _REL_ENTR else 1.0) - ratio


@inlined
def _forward(n: int, w: Any, params: Any, held: Any) -> Any:
    """Fill the working memory, and return g."""
    for k in range(n):
        held[k] = w[k]
    for node in range(int(params[_NODES])):
        at = int(params[_STARTS + node])
        code, number, width, row = int(params[at]), params[at + 1], int(params[at + 3]), int(params[at + 4])
        size = int(params[at + 2])
        weights = at + _NODE_HEAD
        made = row + size * width
        at = weights + (width if code == _GEO_MEAN else 0)
        for group in range(size):
            for _ in range(width):
                terms = int(params[at])
                total = params[at + 1]
                at += 2
                for _ in range(terms):
                    total += params[at + 1] * held[int(params[at])]
                    at += 2
                held[row] = total
                row += 1
            if code <= _LAST_OF_ONE:
                held[made + group] = _of_one(code, number, held[row - 1])
            else:
                held[made + group] = _of_many(code, number, width, held, row - width, params, weights)
    at = int(params[_RESULT])
    total = params[at + 1]
    for term in range(int(params[at])):
        total += params[at + 3 + 2 * term] * held[int(params[at + 2 + 2 * term])]
    return total


@inlined
def _backward(params: Any, held: Any, gain: Any, slope: Any) -> None:
    """Fill `gain`: the derivative of g in each number of the working memory."""
    for place in range(int(params[_ROOM])):
        gain[place] = 0.0
    at = int(params[_RESULT])
    for term in range(int(params[at])):
        gain[int(params[at + 2 + 2 * term])] = params[at + 3 + 2 * term]
    for node in range(int(params[_NODES]) - 1, -1, -1):
        at = int(params[_STARTS + node])
        code, number, width, row = int(params[at]), params[at + 1], int(params[at + 3]), int(params[at + 4])
        size = int(params[at + 2])
        weights = at + _NODE_HEAD
        made = row + size * width
        at = weights + (width if code == _GEO_MEAN else 0)
        for group in range(size):
            if code <= _LAST_OF_ONE:
                slope[0] = _slope_of_one(code, number, held[row], held[made + group])
            else:
                _slopes_of_many(code, number, width, held, row, params, weights, held[made + group], slope)
            row += width
            for i in range(width):
                passed = gain[made + group] * slope[i]
                terms = int(params[at])
                at += 2
                for _ in range(terms):
                    gain[int(params[at])] += passed * params[at + 1]
                    at += 2


@kernel
def evaluate_atom(
    code: int, number: float, weights: Vector, width: int, x: Vector, made: Vector, slopes: Vector, slope: Vector
) -> None:
    """Write the value of an atom at each `width` numbers of x, and its slopes; for `bounds`. The last is scratch."""
    for group in range(made.shape[0]):
        first = group * width
        if code <= _LAST_OF_ONE:
            made[group] = _of_one(code, number, x[first])
            slope[0] = _slope_of_one(code, number, x[first], made[group])
        else:
            made[group] = _of_many(code, number, width, x, first, weights, 0)
            _slopes_of_many(code, number, width, x, first, weights, 0, made[group], slope)
        for i in range(width):
            slopes[first + i] = slope[i]


_quick_entry: Final = functools.partial(Entry, allocates=False)


@_quick_entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    out[0] = _forward(n, w, params, stack_floats(int(params[_ROOM])))


@_quick_entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    room = int(params[_ROOM])
    held, gain, slope = stack_floats(room), stack_floats(room), stack_floats(int(params[_WIDTH]))
    _forward(n, w, params, held)
    _backward(params, held, gain, slope)
    for k in range(n):
        out[k] = gain[k]


@_quick_entry
def _ordered_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    """Of no outcomes, the best, the two best ...: see `reward`. A larger set must be better by more than rounding."""
    held, worth, place = stack_floats(int(params[_ROOM])), stack_floats(n), stack_floats(n)
    for k in range(n):
        out[k] = 0.0
    best = _forward(n, out, params, held)
    for k in range(n):
        out[k] = 1.0
        worth[k] = _forward(n, out, params, held) + theta[k]
        out[k] = 0.0
    for k in range(n):
        place[k] = 0.0
        for j in range(n):
            place[k] += worth[j] > worth[k] or (worth[j] == worth[k] and j < k)
    extra = 0.0
    size = 0
    for m in range(n):
        for k in range(n):
            if place[k] == m:
                out[k] = 1.0
                extra += theta[k]
        total = _forward(n, out, params, held) + extra
        if total > best + 1e-12 * max(1.0, abs(best)):
            best = total
            size = m + 1
    for k in range(n):
        out[k] = 1.0 if place[k] < size else 0.0


KERNELS: Final = RewardKernels(_value, _gradient, iterated_argmax)
ORDERED_KERNELS: Final = RewardKernels(_value, _gradient, _ordered_argmax)
SEPARABLE_KERNELS: Final = RewardKernels(_value, _gradient, separable_argmax)
