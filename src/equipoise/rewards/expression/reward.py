"""`Expression`: a reward from a formula, a concave expression of the average outcomes.

The formula is written with CVXPY's words (`formula`), and CVXPY's rules of disciplined convex programming must prove
it concave, for w >= 0. Its atoms become a tape that one kernel runs (`program`, `kernels`): a call costs some tens of
nanoseconds. The formula is all that a reward holds, so it can be saved, and `solve` maximises it in CVXPY.

L and beta are bounds by interval arithmetic over the box (`bounds`), and may be larger than necessary. An expression
that is infinitely steep somewhere in the box, such as a logarithm at 0, raises an error. Constants from the user that
are smaller than what is proven are checked at random points.

The conjugate's maximiser is found by bisection for a sum of functions of one outcome each, and among the corners for
order statistics; both are exact to rounding. Else it is found by iteration, and `exact_conjugate` is False.

Order statistics: g(w) = c.w + sum_k a_k w_(k) + a constant, w_(1) <= ... <= w_(K), such as min(w), -max(w),
sum_smallest(w, k) and their sums. As in `rewards.ordered`, g(w) - g(0) is the integral over levels s of g(1_A) - g(0),
A the outcomes of at least s, so g + theta.w is largest at some 1_A. Of all A of n outcomes, the best has those with the
largest c_k + theta_k, and g(e_k) differs from c_k by the same for all k.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards import audit
from equipoise.rewards.base import RewardKernels, checked_count, checked_number
from equipoise.rewards.composed import Packed, iteration
from equipoise.rewards.expression.bounds import Bounds, Trouble, bound_program
from equipoise.rewards.expression.compiler import compile_program, require_concave
from equipoise.rewards.expression.formula import NAME, format_node, format_program, read_formula
from equipoise.rewards.expression.kernels import KERNELS, ORDERED_KERNELS, SEPARABLE_KERNELS
from equipoise.rewards.expression.program import OUTCOMES, Code, Program, write_tape
from equipoise.rewards.norms import check_norm

if TYPE_CHECKING:
    import cvxpy

_IN_ORDER: Final = (Code.MINIMUM, Code.MAXIMUM, Code.SUM_LARGEST)


def is_of_order_statistics(program: Program) -> bool:
    """Whether each atom of a program is an order statistic of all outcomes, in any order, times one number plus one."""
    K = program.n_outcomes
    for node in program.nodes:
        rows = node.rows
        if node.code not in _IN_ORDER or not node.width == rows.size == K or list(rows.terms) != [OUTCOMES]:
            return False
        matrix = rows.terms[OUTCOMES]
        each_once = np.all(np.diff(matrix.indptr) == 1) and np.unique(matrix.indices).size == K
        if not (each_once and np.all(matrix.data == matrix.data[0]) and np.all(rows.offset == rows.offset[0])):
            return False
    return bool(program.nodes)


_SAMPLES: Final = 400  # points at which constants given by the user are tried
_OFFSET: Final = 0.01  # an example for a message
_MOST_ROOM: Final = 8192  # numbers that a kernel keeps on the stack, twice


@final
class Expression(Packed):
    """A concave formula of the average outcomes w; `from_cvxpy` makes one of a CVXPY expression.

    Parameters
    ----------
    maximise : str
        The formula, such as "min(w) + 0.1 * sum(sqrt(w + 0.01))": functions by CVXPY's names, w for the outcomes.
    n_outcomes : int
        K.
    norm : float
        1, 2 or infinity: the norm of the two constants.
    lipschitz : float, optional
        L; by default a bound that is proven. A smaller one is held against random points.
    smoothness : float, optional
        beta; by default a bound that is proven, or None where there is a kink. A smaller one is checked likewise.

    Examples
    --------
    >>> g = Expression("1 - 0.5 * sum_squares(w - [0.5, 0.5])", 2)
    >>> g.value([0.5, 0.0]), g.gradient([0.5, 0.0]).tolist(), g.smoothness
    (0.875, [0.0, 0.5], 1.0)
    >>> Expression("sum(log(w))", 2)
    Traceback (most recent call last):
    ...
    equipoise.errors.RewardError: maximise: log(w): its argument reaches 0 for outcomes in [0, 1], where it is
    infinitely steep. Add an offset to it, such as 0.01
    """

    def __init__(
        self,
        maximise: str,
        n_outcomes: int,
        norm: float = 2.0,
        lipschitz: float | None = None,
        smoothness: float | None = None,
    ) -> None:
        self.n_outcomes = checked_count(n_outcomes, "n_outcomes", 1)
        self.norm = check_norm(norm)
        self.maximise = maximise
        self._needs_sign, self.piecewise_linear, self._program = _prove(maximise, self.n_outcomes)
        given = None if lipschitz is None else checked_number(lipschitz, "lipschitz", 0.0)
        bounds = bound_program(self._program, self.norm)
        if bounds.trouble is not None and given is None:
            raise _steepness_error(self._program, bounds.trouble)
        self.lipschitz = bounds.lipschitz if given is None else given
        self.smoothness = bounds.smoothness
        if smoothness is not None:
            self.smoothness = checked_number(smoothness, "smoothness", -math.ulp(0.0))
        if self.lipschitz == 0.0:
            raise RewardError(f"maximise: {maximise!r} does not depend on the outcomes")
        self.separable = bounds.separable
        self._in_order = is_of_order_statistics(self._program)
        self.exact_conjugate = self.separable or self._in_order
        self._check(bounds)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries, the same for every formula but for the conjugate."""
        if self.separable:
            return SEPARABLE_KERNELS
        return ORDERED_KERNELS if self._in_order else KERNELS

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The formula, of `w`."""
        from cvxpy.atoms.affine.wraps import nonneg_wrap

        return read_formula(self.maximise, nonneg_wrap(w) if self._needs_sign else w)

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """A bound on another box; None if the formula is not concave there, or not as smooth as on [0,1]^K."""
        low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if self._needs_sign and np.any(low < 0.0):
            return None
        inside = bool(np.all(low >= 0.0) and np.all(high <= 1.0))
        bounds = bound_program(self._program, self.norm, low, high)
        if inside:
            return min(self.lipschitz, bounds.lipschitz)
        smooth = bounds.smoothness is not None and bounds.smoothness <= (self.smoothness or 0.0)
        return bounds.lipschitz if bounds.trouble is None and (smooth or self.smoothness is None) else None

    def smoothness_on(self, low: Vector, high: Vector) -> float | None:
        """A bound on another box, where that is known to be less than on [0,1]^K."""
        there = bound_program(self._program, self.norm, low, high).smoothness
        return self.smoothness if self.smoothness is None or there is None else min(self.smoothness, there)

    def _pack(self) -> Vector:
        params, head = write_tape(self._program), iteration(self)
        params[: len(head)] = head
        return params

    def _check(self, bounds: Bounds) -> None:
        """Check given constants that are less than what is proven at random points."""
        beta = math.inf if self.smoothness is None else self.smoothness
        proven = math.inf if bounds.smoothness is None else bounds.smoothness
        if self.lipschitz >= bounds.lipschitz and beta >= proven:
            return
        points = audit.sample_points(self, _SAMPLES, 0)
        fault = audit.not_finite(points) or audit.too_steep(self, points) or audit.too_curved(self, points)
        if fault is not None:
            raise RewardError(fault)


def expression_from_program(
    program: Program, norm: float, lipschitz: float | None = None, smoothness: float | None = None
) -> Expression:
    """The reward of a program."""
    return Expression(format_program(program), program.n_outcomes, norm, lipschitz, smoothness)


def _prove(maximise: str, n_outcomes: int) -> tuple[bool, bool, Program]:
    """Whether the proof that a formula is concave needs w >= 0, whether it is piecewise linear, and its program."""
    import cvxpy

    w = cvxpy.Variable(n_outcomes, name=NAME)
    expression = read_formula(maximise, w)
    needs_sign = not (expression.size == 1 and expression.is_concave())
    if needs_sign:
        w = cvxpy.Variable(n_outcomes, name=NAME, nonneg=True)
        expression = read_formula(maximise, w)
        require_concave(expression)
    program = compile_program(expression, w)
    if program.room() > _MOST_ROOM:
        raise RewardError(
            f"maximise: it needs {program.room()} numbers at once, and {_MOST_ROOM} is the most that is compiled; "
            "write it with fewer rows"
        )
    return needs_sign, bool((-expression).is_pwl()), program


def _steepness_error(program: Program, trouble: Trouble) -> RewardError:
    """The error that names the part without a finite slope, and the way out."""
    node = program.nodes[trouble.node]
    part = format_node(node, program)
    why = f"its argument reaches {trouble.low:g} for outcomes in [0, 1], where it is"
    why += " not defined." if trouble.low < trouble.least else " infinitely steep."
    way_out = f"Add an offset to it, such as {trouble.least - trouble.low + _OFFSET:g}"
    if set(node.rows.terms) - {OUTCOMES}:
        way_out += "; or give lipschitz=, if you know that it stays away from there"
    return RewardError(f"maximise: {part}: {why} {way_out}")
