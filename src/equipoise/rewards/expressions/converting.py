"""From CVXPY to a reward: `from_cvxpy`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.base import Reward
from equipoise.rewards.custom import Custom
from equipoise.rewards.expressions.compiling import compiled, shown
from equipoise.rewards.expressions.expression import Expression
from equipoise.rewards.expressions.printing import printed
from equipoise.rewards.expressions.rules import demand_concave, substituted

if TYPE_CHECKING:
    import cvxpy

_FREE: Final = ("nonneg", "pos")  # attributes that outcomes have anyway


def from_cvxpy(
    maximise: cvxpy.Expression,
    variable: cvxpy.Variable,
    *,
    norm: float = 2.0,
    lipschitz: float | None = None,
    smoothness: float | None = None,
    compile: bool = True,
) -> Reward:
    """The reward that a concave CVXPY expression describes."""
    expression, w = _checked(maximise, variable)
    if not compile:
        return _evaluated(expression, w, norm, lipschitz, smoothness)
    formula = printed(compiled(expression, w))
    return Expression(formula, int(w.size), norm, lipschitz, smoothness)


def _checked(maximise: Any, variable: Any) -> tuple[Any, Any]:
    """The expression of a fresh variable that is not negative, and that variable."""
    import cvxpy

    if not isinstance(variable, cvxpy.Variable):
        raise RewardError(f"variable: got {variable!r}; the cvxpy.Variable that stands for the average outcomes is needed")
    if variable.ndim > 1 and variable.size != variable.shape[0]:
        raise RewardError(f"variable: got the shape {variable.shape}; a vector is needed, an entry for each outcome")
    wrong = [name for name, value in variable.attributes.items() if value and name not in (*_FREE, "bounds")]
    if wrong:
        raise RewardError(f"variable: it is declared {wrong[0]}; average outcomes are any numbers in [0, 1]")
    if isinstance(maximise, cvxpy.Maximize):
        maximise = maximise.args[0]
    if not isinstance(maximise, cvxpy.Expression):
        raise RewardError(f"maximise: got {maximise!r}; a cvxpy expression is needed")
    others = [one for one in maximise.variables() if one is not variable]
    if others:
        raise RewardError(f"maximise: there is another variable in it, {others[0].name()}; it may depend on {variable.name()} alone")
    w = cvxpy.Variable(variable.shape, name=variable.name(), nonneg=True)
    expression = substituted(maximise, variable, w)
    demand_concave(expression)
    return expression, w
