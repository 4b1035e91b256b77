r"""The offline program with constraints as one program: all pairs at once.

By HiGHS if all functions are piecewise linear, else by Clarabel, with w = Vx written once for each function, so that
the multipliers of these equations are lambda_j times the supergradients wanted; or by cutting planes, where a function
has no cvxpy expression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from equipoise.models.model import Model
from equipoise.offline.cuts import cutting_planes
from equipoise.offline.problem import Problem, SplitClaim
from equipoise.offline.program import (
    CLARABEL,
    HIGHS,
    expression_of,
    flow_matrix,
    hull_of_model,
    middle,
    solved,
)

SplitMethod = Callable[[Model, Problem, float], SplitClaim]


def split_methods(problem: Problem) -> list[SplitMethod]:
    """Return what to try for a problem, best first.

    Parameters
    ----------
    problem : Problem
        What is maximised and met.
    """
    if not problem.expressible:
        return [split_by_cuts]
    if problem.piecewise_linear:
        return [split_by_highs, split_by_clarabel, split_by_cuts]
    return [split_by_clarabel, split_by_cuts]


def split_by_highs(model: Model, problem: Problem, tolerance: float) -> SplitClaim:  # noqa: ARG001
    """Solve by HiGHS, if all functions are piecewise linear."""
    return _by_cone(model, problem, "HIGHS", HIGHS)


def split_by_clarabel(model: Model, problem: Problem, tolerance: float) -> SplitClaim:  # noqa: ARG001
    """Solve by Clarabel."""
    return _by_cone(model, problem, "CLARABEL", CLARABEL)


def split_by_cuts(model: Model, problem: Problem, tolerance: float) -> SplitClaim:
    """Solve by cutting planes."""
    said = cutting_planes(hull_of_model(model), problem.planes(), middle(model), tolerance)
    return SplitClaim(said.shares, np.maximum(said.multipliers, 0.0), said.slopes, said.duals[:-1], "cutting planes")


def _by_cone(model: Model, problem: Problem, solver: str, settings: tuple[dict[str, Any], ...]) -> SplitClaim:
    import cvxpy as cp

    x, least = cp.Variable(model.n_pairs, nonneg=True), cp.Variable()
    means = csr_array(model.mean_rows.T)
    links, expressions = [], []
    for function in problem.functions:
        w, expression = expression_of(function)
        links.append(w == means @ x)
        expressions.append(expression)
    goal = least if problem.objective is None else expressions.pop(0)
    give = least if problem.objective is None else 0.0
    met = [one.at_least + give <= h for one, h in zip(problem.constraints, expressions, strict=True)]
    balance = flow_matrix(model) @ x == 0
    program = cp.Problem(cp.Maximize(goal), [*links, *met, balance, cp.sum(x) == 1])
    occupancy, bias, *duals = solved(program, solver, settings, [x, balance, *links, *met])
    multipliers = np.maximum(np.concatenate([np.zeros(0), *duals[len(links) :]]), 0.0)
    if problem.objective is not None:
        multipliers = np.append(1.0, multipliers)
    return SplitClaim(occupancy, multipliers, duals[: len(links)], bias, solver)
