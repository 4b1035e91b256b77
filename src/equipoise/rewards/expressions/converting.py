"""From CVXPY to a reward: `from_cvxpy`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained
from equipoise.rewards.custom import Custom
from equipoise.rewards.expressions.compiling import compiled_program, shown
from equipoise.rewards.expressions.constraints import constraints_of
from equipoise.rewards.expressions.expression import Expression
from equipoise.rewards.expressions.printing import printed
from equipoise.rewards.expressions.rules import demand_concave, substituted

if TYPE_CHECKING:
    import cvxpy

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

    CVXPY's rules of disciplined convex programming must prove the expression concave; that outcomes are not negative is
    taken into account. It becomes a formula, see `Expression`, so that nothing of CVXPY is needed while an agent runs,
    and the reward can be saved. Parameters are read once, now.

    Parameters
    ----------
    maximise : cvxpy.Expression
        A real number, concave; or `cvxpy.Maximize` of one.
    variable : cvxpy.Variable
        The average outcomes in it, a vector of K.
    subject_to : sequence of cvxpy.Constraint
        What the average outcomes must meet: comparisons and cones of second order. Those that all outcomes in [0, 1]
        meet are left out. With any other, the reward is a `Constrained` one.
    price, smoothing : float, optional
        Those of `Constrained`; for nothing else.
    norm, lipschitz, smoothness : float
        Those of `Expression`.
    compiled : bool
        False: CVXPY evaluates the expression and its gradient at every call, for atoms that are not compiled. A
        gradient then takes milliseconds, in the place of a fraction of a microsecond; `lipschitz` must be given; and
        the reward is a `Custom` one, which is not saved with an agent.

    Returns
    -------
    Reward
        An `Expression`; `Constrained`, if there are constraints; with ``compiled=False`` a `Custom`.

    Raises
    ------
    RewardError
        Naming the part that is not concave, not compiled, infinitely steep, or of another variable.

    See Also
    --------
    equipoise.rewards.Expression : From a formula.

    Examples
    --------
    >>> import cvxpy as cp
    >>> w = cp.Variable(3)
    >>> g = from_cvxpy(cp.min(w) - 0.5 * cp.sum_squares(w - 0.25), w)
    >>> g.maximise
    'min(w) - 0.5 * sum(square(w - 0.25))'
    >>> g.value([0.25, 0.5, 0.75]), g.gradient([0.25, 0.5, 0.75]).tolist()
    (0.09375, [1.0, -0.25, -0.5])

    With a constraint, and a price for what is missing:

    >>> goal = from_cvxpy(cp.min(w), w, [cp.norm(w - 0.25) <= 0.5, w[0] >= 0.25], price=2.0)
    >>> goal.names
    ('pnorm(w - 0.25, 2.0) <= 0.5', 'w[0] >= 0.25')
    """
    expression, w = _checked(maximise, variable)
    if compiled:
        reward: Reward = Expression(printed(compiled_program(expression, w)), int(w.size), norm, lipschitz, smoothness)
    else:
        reward = _evaluated(expression, w, norm, lipschitz, smoothness)
    constraints = constraints_of(subject_to, variable, norm)
    return Constrained(reward, constraints, price, smoothing) if constraints else reward


def _checked(maximise: Any, variable: Any) -> tuple[Any, Any]:
    """The expression of a fresh variable that is not negative, and that variable."""
    import cvxpy

    if not isinstance(variable, cvxpy.Variable):
        raise RewardError(f"variable: got {variable!r}; the cvxpy.Variable for the average outcomes is needed")
    if variable.size != max(variable.shape, default=1):
        raise RewardError(f"variable: got the shape {variable.shape}; a vector is needed, an entry for each outcome")
    wrong = [name for name, value in variable.attributes.items() if value and name not in _HARMLESS]
    if wrong:
        raise RewardError(f"variable: it is declared {wrong[0]}; average outcomes are any numbers in [0, 1]")
    _check_bounds(variable)
    if isinstance(maximise, cvxpy.Maximize):
        maximise = maximise.args[0]
    if not isinstance(maximise, cvxpy.Expression):
        raise RewardError(f"maximise: got {maximise!r}; a cvxpy expression is needed{_way_out(maximise)}")
    others = [one for one in maximise.variables() if one is not variable]
    if others:
        raise RewardError(
            f"maximise: there is another variable in it, {others[0].name()}; it may depend on {variable.name()} alone"
        )
    w = cvxpy.Variable(variable.shape, name="w", nonneg=True)
    expression = substituted(maximise, variable, w)
    demand_concave(expression)
    return expression, w


def _check_bounds(variable: Any) -> None:
    """Bounds that outcomes may leave are constraints, which would be lost."""
    bounds = variable.attributes.get("bounds")
    if bounds is None:
        return
    low, high = ((None if side is None else np.asarray(side, dtype=np.float64)) for side in bounds)
    if (low is not None and np.any(low > 0.0)) or (high is not None and np.any(high < 1.0)):
        raise RewardError(
            "variable: its bounds leave out averages in [0, 1], which is a constraint; put it into subject_to, such as "
            f"{variable.name()} <= 0.5"
        )


def _way_out(given: Any) -> str:
    """What to give in the place of a program, or of what is to be minimised."""
    import cvxpy

    if isinstance(given, cvxpy.Minimize):
        return "; to minimise, give minus it"
    if isinstance(given, cvxpy.Problem):
        return "; give that of its objective, and subject_to=problem.constraints"
    return ""


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
            raise ValueError(f"{shown(self._expression)} has no gradient there")
        return np.asarray(slope.toarray() if hasattr(slope, "toarray") else slope, dtype=np.float64).reshape(-1)

    def expression(self, w: Any) -> Any:
        return substituted(self._expression, self._variable, w)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_turn": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_turn": threading.Lock()})


def _evaluated(expression: Any, w: Any, norm: float, lipschitz: float | None, smoothness: float | None) -> Custom:
    if lipschitz is None:
        raise RewardError(
            "lipschitz: nothing is derived with compiled=False; give L in the norm, and beta if g is smooth"
        )
    by = _Evaluated(expression, w)
    return Custom(
        int(w.size), by.value, by.gradient, norm, lipschitz, smoothness, expression=by.expression, compiled=False
    )
