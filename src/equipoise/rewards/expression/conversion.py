"""From CVXPY to a reward: `from_cvxpy`.

Constraints on the average outcomes become constraints h(w) >= level with a concave h:

    a <= b            b - a >= 0               a == b     both b - a >= 0 and a - b >= 0
    |X| <= t (SOC)    t - |X| >= 0             entries    one constraint each

Constants in h go to the level. A constraint that holds for all outcomes in [0, 1] is left out, and one that holds for
none is an error. An affine h is a `Linear`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained, Constraint
from equipoise.rewards.custom import Custom
from equipoise.rewards.expression.bounds import bound_program
from equipoise.rewards.expression.compiler import compile_program, require_concave, shorten, substitute
from equipoise.rewards.expression.formula import format_comparison
from equipoise.rewards.expression.program import OUTCOMES, Form
from equipoise.rewards.expression.reward import expression_from_program
from equipoise.rewards.separable import Linear

if TYPE_CHECKING:
    import cvxpy


def convert_constraints(subject_to: Sequence[Any], variable: Any, norm: float) -> list[Constraint]:
    """The constraints that some outcomes in [0, 1] violate."""
    import cvxpy

    if isinstance(subject_to, cvxpy.Constraint) or not isinstance(subject_to, Sequence):
        raise RewardError(f"subject_to: got {subject_to!r}; a list of cvxpy constraints is needed")
    found: dict[str, Constraint] = {}
    for place, constraint in enumerate(subject_to):
        where = f"subject_to[{place}]"
        if not isinstance(constraint, cvxpy.Constraint):
            raise RewardError(f"{where}: got {constraint!r}; a cvxpy constraint is needed")
        others = [one for one in constraint.variables() if one is not variable]
        if others:
            raise RewardError(f"{where}: there is another variable in it, {others[0].name()}")
        for side in _sides(constraint, where):
            w = cvxpy.Variable(variable.shape, name="w", nonneg=True)
            entries = cvxpy.vec(substitute(side, variable, w), order="C")
            if not entries.is_concave():
                raise RewardError(
                    f"{where}: {shorten(constraint)} is not convex by the rules of disciplined convex programming: a "
                    "convex expression may be at most, a concave one at least, and an affine one equal to something"
                )
            for one in _entries(entries, w, where, norm):
                found.setdefault(str(one.name), one)
    return list(found.values())


def _sides(constraint: Any, where: str) -> list[Any]:
    """Expressions that must not be negative."""
    import cvxpy

    kind, args = type(constraint).__name__, constraint.args
    if kind == "Inequality":
        return [args[1] - args[0]]
    if kind == "Equality":
        return [args[1] - args[0], args[0] - args[1]]
    if kind == "NonNeg":
        return [args[0]]
    if kind == "NonPos":
        return [-args[0]]
    if kind == "SOC" and args[0].size == 1:
        return [args[0] - cvxpy.norm(cvxpy.vec(args[1], order="C"), 2)]
    raise RewardError(f"{where}: {kind} is not converted, in {shorten(constraint)}; write it with <=, >= and ==")


def _entries(entries: Any, w: Any, where: str, norm: float) -> Iterator[Constraint]:
    """That each entry of a concave vector is not negative."""
    for place in range(entries.size):
        try:
            require_concave(entries[place])
            program = compile_program(entries[place], w)
            level = 0.0 - float(program.result.offset[0])
            program = program._replace(result=Form(program.result.terms, np.zeros(1)))
            bounds = bound_program(program, norm)
            if bounds.low >= level:
                continue
            text = format_comparison(program, level)
            if bounds.high < level:
                raise RewardError(f"maximise: {text} holds for no outcomes in [0, 1]")
            function: Reward
            if program.nodes:
                function = expression_from_program(program, norm)
            else:
                function = Linear(program.result.terms[OUTCOMES].toarray().reshape(-1), norm)
            yield Constraint(function, level, text)
        except RewardError as error:
            raise RewardError(f"{where}: {str(error).removeprefix('maximise: ')}") from error


_HARMLESS: Final = ("nonneg", "pos", "bounds")  # what a variable for outcomes may be declared


def from_cvxpy(
    maximise: cvxpy.Expression,
    variable: cvxpy.Variable,
    subject_to: Sequence[cvxpy.Constraint] = (),
    *,
    price: ArrayLike | None = None,
    smoothing: float | None = None,
    norm: float = 2.0,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    compiled: bool = True,
) -> Reward:
    """The reward that a concave CVXPY expression of the average outcomes describes.

    CVXPY's rules of disciplined convex programming must prove the expression concave for w >= 0. It becomes a formula,
    see `Expression`: CVXPY is not needed while an agent runs, and the reward can be saved. Parameters are read once,
    now.

    Parameters
    ----------
    maximise : cvxpy.Expression
        A real number, concave; or `cvxpy.Maximize` of one.
    variable : cvxpy.Variable
        The average outcomes in it, a vector of K.
    subject_to : sequence of cvxpy.Constraint
        Comparisons and second-order cones that the average outcomes must meet. Those that all outcomes in [0, 1] meet
        are left out. With any other, the reward is `Constrained`.
    price, smoothing : float, optional
        Those of `Constrained`, which needs no price.
    norm, lipschitz, smoothness : float
        Those of `Expression`.
    compiled : bool
        False: CVXPY evaluates the expression and its gradient at every call, for atoms that are not compiled. A
        gradient then takes milliseconds, `lipschitz` must be given, and the reward is not saved with an agent.

    Returns
    -------
    Reward
        An `Expression`; `Constrained`, if there are constraints; with ``compiled=False`` a `Custom`.

    Examples
    --------
    >>> import cvxpy as cp
    >>> w = cp.Variable(3)
    >>> g = from_cvxpy(cp.min(w) - 0.5 * cp.sum_squares(w - 0.25), w)
    >>> g.maximise
    'min(w) - 0.5 * sum(square(w - 0.25))'
    >>> g.value([0.25, 0.5, 0.75]), g.gradient([0.25, 0.5, 0.75]).tolist()
    (0.09375, [1.0, -0.25, -0.5])

    With constraints:

    >>> goal = from_cvxpy(cp.min(w), w, [cp.norm(w - 0.25) <= 0.5, w[0] >= 0.25])
    >>> goal.names
    ('pnorm(w - 0.25, 2.0) <= 0.5', 'w[0] >= 0.25')
    """
    expression, w = _check_objective(maximise, variable)
    reward: Reward
    if compiled:
        reward = expression_from_program(compile_program(expression, w), norm, lipschitz, smoothness)
    elif lipschitz is None:
        raise RewardError(
            "lipschitz: nothing is derived with compiled=False; give L in the norm, and beta if g is smooth"
        )
    else:
        by = _Evaluated(expression, w)
        K, in_cvxpy = int(w.size), by.expression
        reward = Custom(K, by.value, by.gradient, norm, lipschitz, smoothness, expression=in_cvxpy, compiled=False)
    constraints = convert_constraints(subject_to, variable, norm)
    return Constrained(reward, constraints, price, smoothing) if constraints else reward


def _check_objective(maximise: Any, variable: Any) -> tuple[Any, Any]:
    """The expression of a fresh variable that is not negative, and that variable."""
    import cvxpy

    if not isinstance(variable, cvxpy.Variable):
        raise RewardError(f"variable: got {variable!r}; the cvxpy.Variable for the average outcomes is needed")
    if variable.size != max(variable.shape, default=1):
        raise RewardError(f"variable: got the shape {variable.shape}; a vector is needed, an entry for each outcome")
    wrong = [name for name, value in variable.attributes.items() if value and name not in _HARMLESS]
    if wrong:
        raise RewardError(f"variable: it is declared {wrong[0]}; average outcomes are any numbers in [0, 1]")
    low, high = variable.attributes.get("bounds") or (None, None)
    if (low is not None and np.any(np.asarray(low) > 0.0)) or (high is not None and np.any(np.asarray(high) < 1.0)):
        raise RewardError(
            "variable: its bounds leave out averages in [0, 1], which is a constraint; put it into subject_to, such as "
            f"{variable.name()} <= 0.5"
        )
    if isinstance(maximise, cvxpy.Maximize):
        maximise = maximise.args[0]
    if not isinstance(maximise, cvxpy.Expression):
        advice = ""
        if isinstance(maximise, cvxpy.Minimize):
            advice = "; to minimise, give minus it"
        if isinstance(maximise, cvxpy.Problem):
            advice = "; give that of its objective, and subject_to=problem.constraints"
        raise RewardError(f"maximise: got {maximise!r}; a cvxpy expression is needed{advice}")
    others = [one for one in maximise.variables() if one is not variable]
    if others:
        raise RewardError(
            f"maximise: there is another variable in it, {others[0].name()}; it may depend on {variable.name()} alone"
        )
    w = cvxpy.Variable(variable.shape, name="w", nonneg=True)
    expression = substitute(maximise, variable, w)
    require_concave(expression)
    return expression, w


# -- by CVXPY itself --------------------------------------------------------------------------------------------------


class _Evaluated:
    """An expression as functions of an array; CVXPY computes them."""

    def __init__(self, expression: Any, variable: Any) -> None:
        self._expression, self._variable = expression, variable
        self._turn = threading.Lock()  # the value of a variable is shared

    def value(self, w: Vector) -> float:
        with self._turn:
            self._variable.save_value(w.reshape(self._variable.shape))
            return float(np.asarray(self._expression.value).reshape(()))

    def gradient(self, w: Vector) -> Vector:
        with self._turn:
            self._variable.save_value(w.reshape(self._variable.shape))
            slope = self._expression.grad[self._variable]
        if slope is None:
            raise ValueError(f"{shorten(self._expression)} has no gradient there")
        return np.asarray(slope.toarray() if hasattr(slope, "toarray") else slope, dtype=np.float64).reshape(-1)

    def expression(self, w: Any) -> Any:
        return substitute(self._expression, self._variable, w)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_turn": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_turn": threading.Lock()})
