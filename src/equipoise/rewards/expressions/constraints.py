"""CVXPY's constraints on the average outcomes as constraints h(w) >= level with a concave h.

    a <= b            b - a >= 0               a == b     both b - a >= 0 and a - b >= 0
    |X| <= t (SOC)    t - |X| >= 0             entries    one constraint each

What is constant in h goes to the level. A constraint that holds for all outcomes in [0, 1] is left out, and one that
holds for none is an error. An affine h is a `Linear`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from equipoise.errors import RewardError
from equipoise.rewards.base import Reward
from equipoise.rewards.constraint import Constraint
from equipoise.rewards.expressions.bounds import bounded
from equipoise.rewards.expressions.compiling import compiled_program, shown
from equipoise.rewards.expressions.expression import Expression
from equipoise.rewards.expressions.printing import printed, printed_comparison
from equipoise.rewards.expressions.program import OUTCOMES, Form, Program
from equipoise.rewards.expressions.rules import demand_concave, substituted
from equipoise.rewards.linear import Linear


def constraints_of(subject_to: Sequence[Any], variable: Any, norm: float) -> list[Constraint]:
    """The constraints that are no matter of course.

    Parameters
    ----------
    subject_to : sequence of cvxpy.Constraint
        The constraints.
    variable : cvxpy.Variable
        The average outcomes in them.
    norm : float
        Of the constants of each function.

    Raises
    ------
    RewardError
        Naming the constraint that is not convex, of a kind that is not known, or that no outcomes meet.
    """
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
            entries = cvxpy.vec(substituted(side, variable, w), order="C")
            if not entries.is_concave():
                raise RewardError(
                    f"{where}: {shown(constraint)} is not convex by the rules of disciplined convex programming: a "
                    "convex expression may be at most, a concave one at least, and an affine one equal to something"
                )
            for one in _entries(entries, w, where, norm):
                found.setdefault(str(one.name), one)
    return list(found.values())


def _sides(constraint: Any, where: str) -> list[Any]:
    """Expressions that must not be negative."""
    import cvxpy

    kind = type(constraint).__name__
    if kind == "Inequality":
        return [constraint.args[1] - constraint.args[0]]
    if kind == "Equality":
        return [constraint.args[1] - constraint.args[0], constraint.args[0] - constraint.args[1]]
    if kind == "NonNeg":
        return [constraint.args[0]]
    if kind == "NonPos":
        return [-constraint.args[0]]
    if kind == "SOC" and constraint.args[0].size == 1:
        return [constraint.args[0] - cvxpy.norm(cvxpy.vec(constraint.args[1], order="C"), 2)]
    raise RewardError(f"{where}: {kind} is not converted, in {shown(constraint)}; write it with <=, >= and ==")


def _entries(entries: Any, w: Any, where: str, norm: float) -> Iterator[Constraint]:
    """That each entry of a concave vector is not negative."""
    for place in range(entries.size):
        try:
            demand_concave(entries[place])
            program = compiled_program(entries[place], w)
            level = 0.0 - float(program.result.offset[0])
            program = program._replace(result=Form(program.result.terms, np.zeros(1)))
            bounds = bounded(program, norm)
            if bounds.low >= level:
                continue
            if bounds.high < level:
                raise RewardError(f"maximise: {printed_comparison(program, level)} holds for no outcomes in [0, 1]")
            yield Constraint(_function(program, norm), level, printed_comparison(program, level))
        except RewardError as error:
            raise RewardError(f"{where}: {str(error).removeprefix('maximise: ')}") from error


def _function(program: Program, norm: float) -> Reward:
    if program.nodes:
        return Expression(printed(program), program.n_outcomes, norm)
    weights = program.result.terms[OUTCOMES].toarray().reshape(-1)
    return Linear(weights, norm)
