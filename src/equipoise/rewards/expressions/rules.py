"""Whether CVXPY's rules prove an expression concave, and if not, which part of it is at fault."""

from __future__ import annotations

from typing import Any

from equipoise.errors import RewardError
from equipoise.rewards.expressions.compiling import shown


def substituted(expression: Any, old: Any, new: Any) -> Any:
    """The same expression of something else.

    Parameters
    ----------
    expression : cvxpy.Expression
        What to rewrite.
    old : cvxpy.Variable
        What stands in it.
    new : cvxpy.Expression
        What shall stand there, of the same shape.
    """
    if expression is old:
        return new
    if not expression.args:
        return expression
    return expression.copy([substituted(one, old, new) for one in expression.args])


def demand_concave(expression: Any) -> None:
    """Raise an error unless an expression is a real number that is concave by the rules of disciplined programming.

    Parameters
    ----------
    expression : cvxpy.Expression
        What is to be maximised.

    Raises
    ------
    RewardError
        Naming the part that the rules do not cover.
    """
    if expression.is_complex():
        raise RewardError(f"maximise: {shown(expression)} is complex; a real expression is needed")
    if expression.size != 1:
        raise RewardError(
            f"maximise: {shown(expression)} has the shape {expression.shape}; a number is needed, such as its sum or "
            "its smallest entry"
        )
    if expression.is_concave():
        return
    if expression.is_convex():
        raise RewardError(f"maximise: {shown(expression)} is convex, not concave; to minimise it, maximise minus it")
    culprit = _culprit(expression)
    raise RewardError(
        f"maximise: it is not concave by the rules of disciplined convex programming, because of {shown(culprit)}, "
        f"which is {_known_of(culprit)}"
    )


def _culprit(expression: Any) -> Any:
    """The innermost part that is neither convex nor concave by the rules."""
    for one in expression.args:
        if not one.is_dcp():
            return _culprit(one)
    return expression


def _known_of(expression: Any) -> str:
    curvatures = [f"{shown(one)} ({one.curvature.lower()})" for one in expression.args if not one.is_constant()]
    return f"neither convex nor concave by them; it is made of {', '.join(curvatures)}"
