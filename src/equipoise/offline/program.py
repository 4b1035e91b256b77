r"""The offline program (P_M) as one program over all pairs (section "Offline Benchmark and Regret").

    max  g(w)   over x >= 0 on the pairs, with   h_j(w) >= level_j   for every constraint j,
         w = sum of v(s,a) x(s,a),
         sum_a x(s,a) = sum over (s',a') of p(s|s',a') x(s',a')   for every state s,
         sum of x = 1.

`by_highs`     As a linear program if all functions are linear; as cvxpy states it if they are piecewise linear.
`by_clarabel`  As cvxpy states it, with w written once for each function, so that the multipliers of these equations are
               lambda_j times the supergradients wanted.
`by_vertices`  For a smooth g alone that has no cvxpy expression: fully corrective Frank-Wolfe. A linear program gives
               the vertex best along the gradient; then g is maximised over the hull of all vertices found (`hull`).
`by_cuts`      For functions that are neither: Kelley's cutting planes, in which every function is replaced by the least
               of its tangents (`cutting_planes`).

What comes back are *claims*: an occupancy, points of the dual, and multipliers of the flow constraints. Nothing of them
is believed; `methods.check_claim` checks it all without a solver.

Signs. In cvxpy's Lagrangian of  min -g(w) + nu.(w - V'x) + gamma.(Bx) + phi (1.x - 1),  B being flow out less
flow in, stationarity gives nu in the superdifferential of g, so theta = -nu, and
phi + gamma(s) - sum p gamma >= -theta.v(s,a): the multipliers are the phi and gamma of (D_M) as they are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline.hull import SmoothMaster
from equipoise.offline.problem import Claim, DualPoint, Problem, expression_of, gradient_at

TIGHT: Final[dict[str, Any]] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_TIGHT: Final = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 400}
CLARABEL: Final[tuple[dict[str, Any], ...]] = (_TIGHT, {"max_iter": 400})
HIGHS: Final[tuple[dict[str, Any], ...]] = (TIGHT, {})
_ROUNDS: Final = 400  # vertices, or cuts of each function, at most

ProgramMethod = Callable[[Model, Problem, float], Claim]


def flow_matrix(model: Model) -> csr_array:
    """Flow out of each state less flow into it: one row per state, one column per pair; sparse."""
    P = model.n_pairs
    own = csr_array((np.ones(P), model.state_of, np.arange(P + 1)), shape=(P, model.n_states))
    return csr_array((own - model.transitions()).T)


class Hull(NamedTuple):
    """What can be mixed, and how: shares >= 0 of some outcomes, with equal shares = right."""

    outcomes: Any
    equal: csr_array
    right: Vector


def model_hull(model: Model) -> Hull:
    """The occupancies of a model as a hull: the last of its equations says that they sum to 1."""
    equal = csr_array(vstack([flow_matrix(model), csr_array(np.ones((1, model.n_pairs)))]))
    return Hull(model.mean_rows, equal, np.append(np.zeros(model.n_states), 1.0))


def points_hull(points: Vector) -> Hull:
    """The hull of a few vectors, one per row."""
    return Hull(points, csr_array(np.ones((1, points.shape[0]))), np.ones(1))


def program_methods(problem: Problem) -> list[ProgramMethod]:
    """Return what to try for a problem, best first; the later ones are for when the check fails."""
    iterative = by_vertices if problem.is_smooth else by_cuts
    if not (problem.is_linear or problem.is_expressible):
        return [iterative]
    return [by_highs, by_clarabel, iterative] if problem.piecewise_linear else [by_clarabel, iterative]


def by_highs(model: Model, problem: Problem, tolerance: float) -> Claim:  # noqa: ARG001
    """Solve by HiGHS, if all functions are piecewise linear."""
    return _by_linear_program(model, problem) if problem.is_linear else _by_cone(model, problem, "HIGHS", HIGHS)


def by_clarabel(model: Model, problem: Problem, tolerance: float) -> Claim:  # noqa: ARG001
    """Solve by Clarabel."""
    return _by_cone(model, problem, "CLARABEL", CLARABEL)


def _by_linear_program(model: Model, problem: Problem) -> Claim:
    hull, zero = model_hull(model), np.zeros(model.n_outcomes)
    slopes = np.array([function.gradient(zero) for function in problem.functions])
    scores = np.asarray(model.mean_rows @ slopes.T)
    room = np.array([one.function.value(zero) - one.at_least for one in problem.constraints])
    within = (csr_array(-scores[:, 1:].T), room) if problem.constraints else (None, None)
    solution = linear_program(-scores[:, 0], *within, hull.equal, hull.right, options=TIGHT)
    if solution.status != 0:
        raise SolverError(f"HiGHS: no solution of the offline program ({solution.message})")
    prices = np.maximum(-np.array(solution.ineqlin.marginals), 0.0)
    multipliers = np.append(1.0, prices)
    dual = DualPoint(multipliers, list(multipliers[:, None] * slopes))
    return Claim(solution.x, (dual,), -np.array(solution.eqlin.marginals[:-1]), "HIGHS")


def _by_cone(model: Model, problem: Problem, solver: str, settings: tuple[dict[str, Any], ...]) -> Claim:
    """Solve the program as cvxpy states it, with the first settings that the solver accepts."""
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
    occupancy, bias, *duals = solve_cone(program, solver, settings, [x, balance, *links, *met])
    dual = dual_point(problem, duals[: len(links)], duals[len(links) :])
    return Claim(occupancy, (dual,), bias, solver)


def dual_point(problem: Problem, slopes: list[Vector], prices: list[Vector]) -> DualPoint:
    """The point of the dual that cvxpy's multipliers are: of the equations for w, and of the constraints."""
    multipliers = np.maximum(np.concatenate([np.zeros(0), *prices]), 0.0)
    return DualPoint(multipliers if problem.objective is None else np.append(1.0, multipliers), slopes)


def solve_cone(problem: Any, solver: str, settings: tuple[dict[str, Any], ...], wanted: Sequence[Any]) -> list[Vector]:
    """Solve a cvxpy problem with the first settings that the solver accepts."""
    import cvxpy as cp

    reason = ""
    for options in settings:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver=solver, **options)
        except (cp.error.SolverError, cp.error.DCPError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            continue
        reason = str(problem.status)
        values = [one.value if isinstance(one, cp.Variable) else one.dual_value for one in wanted]
        if all(value is not None and np.all(np.isfinite(value)) for value in values):
            return [np.array(value, dtype=np.float64).reshape(-1) for value in values]
    raise SolverError(f"{solver}: no solution of the offline program ({reason})")


def linear_program(*data: Any, **more: Any) -> Any:
    """Call `scipy.optimize.linprog` with HiGHS; here because its types do not know sparse arrays."""
    from scipy.optimize import linprog

    run: Any = linprog
    return run(*data, **more, method="highs")


def by_vertices(model: Model, problem: Problem, tolerance: float) -> Claim:
    """Fully corrective Frank-Wolfe, until the linear program finds nothing better by more than the tolerance."""
    reward = problem.functions[0]
    hull, master, origin = model_hull(model), SmoothMaster(reward), np.zeros(model.n_outcomes)
    xs: list[Vector] = []
    points = np.empty((0, model.n_outcomes))
    weights = np.empty(0)
    w = middle(model)
    bias = np.zeros(model.n_states)
    for _ in range(_ROUNDS):
        slope = gradient_at(reward, w)
        x, bias, gain = _best_vertex(hull, np.asarray(model.mean_rows @ slope))
        if xs and gain - float(slope @ w) <= tolerance:
            break
        xs.append(x)
        points = np.vstack([points, model.mean_rows.T @ x])
        weights = np.append(weights, 0.0 if weights.size else 1.0)
        weights = master.best(points, weights, 1.0, origin, tolerance / 10.0).weights
        keep = np.flatnonzero(weights > 0.0)
        xs, points, weights = [xs[i] for i in keep], points[keep], weights[keep]
        w = weights @ points
    dual = DualPoint(np.ones(1), [gradient_at(reward, w)])
    return Claim(weights @ np.array(xs), (dual,), bias, "Frank-Wolfe")


def _best_vertex(hull: Hull, scores: Vector) -> tuple[Vector, Vector, float]:
    """A vertex of the occupancies of the largest score, the bias and the gain."""
    vertex = linear_program(-scores, A_eq=hull.equal, b_eq=hull.right)
    if vertex.status != 0:
        raise SolverError(f"HiGHS: the linear subproblem was not solved ({vertex.message})")
    x = np.maximum(vertex.x, 0.0)
    return x / x.sum(), -np.array(vertex.eqlin.marginals[:-1]), -float(vertex.fun)


def middle(model: Model) -> Vector:
    """The outcomes where iterations begin: the means of all pairs."""
    mean: Vector = np.clip(model.mean_rows.mean(axis=0), 0.0, 1.0)
    return mean


def by_cuts(model: Model, problem: Problem, tolerance: float) -> Claim:
    """Kelley's cutting planes, until the least tangent is within the tolerance of the best point found."""
    found = cutting_planes(model_hull(model), problem, middle(model), tolerance)
    return Claim(found.shares, (found.dual,), found.duals[:-1], "cutting planes")


class Cut(NamedTuple):
    """A tangent: no function is above height + slope.w."""

    function: int
    slope: Vector
    height: float


class Planes(NamedTuple):
    """What cutting planes come to."""

    shares: Vector
    dual: DualPoint
    duals: Vector


def cutting_planes(
    hull: Hull,
    problem: Problem,
    start: Vector,
    tolerance: float,
    price: float = math.inf,
    cuts: list[Cut] | None = None,
) -> Planes:
    r"""Maximise tau - price t over a hull of outcomes, by tangents at the solutions so far.

    With an objective g it must be at least tau, and h_j - level_j at least -t, t >= 0; t is 0 if no price is given.
    Without one, every h_j - level_j must be at least tau.
    """
    functions, levels = problem.functions, problem.levels
    # what tau counts in the row of each function; in the others t does
    shares = [1.0] * len(functions) if problem.objective is None else [1.0, *[0.0] * len(problem.constraints)]
    n = hull.outcomes.shape[0]
    equal = csr_array(hstack([hull.equal, csr_array((hull.right.size, 2))]))
    priced = price < math.inf
    cost = np.concatenate([np.zeros(n), [-1.0, price if priced else 0.0]])
    bounds = [(0, None)] * n + [(None, None), (0, None if priced else 0)]
    cuts = [] if cuts is None else cuts

    def row(cut: Cut) -> Vector:
        share = shares[cut.function]
        return np.concatenate([-(hull.outcomes @ cut.slope), [share, share - 1.0]])

    rows = [row(cut) for cut in cuts]
    w = start
    best, kept, multipliers, duals = (-np.inf, -np.inf), None, np.zeros(0), np.zeros(0)
    for _ in range(_ROUNDS):
        for i, function in enumerate(functions):
            slope = gradient_at(function, w)
            cuts.append(Cut(i, slope, function.value(w) - float(slope @ w)))
            rows.append(row(cuts[-1]))
        heights = [cut.height - levels[cut.function] for cut in cuts]
        relaxed = linear_program(cost, np.array(rows), np.array(heights), equal, hull.right, bounds, options=TIGHT)
        if relaxed.status != 0:
            raise SolverError(f"HiGHS: the cutting-plane program was not solved ({relaxed.message})")
        x = np.maximum(relaxed.x[:n], 0.0)
        w = np.clip(hull.outcomes.T @ x / x.sum(), 0.0, 1.0)
        multipliers = -np.array(relaxed.ineqlin.marginals)
        duals = -np.array(relaxed.eqlin.marginals)
        left = [function.value(w) - level for function, level in zip(functions, levels, strict=True)]
        value = min(value for value, share in zip(left, shares, strict=True) if share > 0.0)
        lacking = min(0.0, min((value for value, share in zip(left, shares, strict=True) if share == 0.0), default=0.0))
        merit = (0.0, value + price * lacking) if priced else (min(0.0, lacking + tolerance), value)
        if merit > best:
            best, kept = merit, x
        if best[0] == 0.0 and -float(relaxed.fun) - best[1] <= tolerance:
            break
    assert kept is not None
    place, weighted = np.array([cut.function for cut in cuts]), multipliers[:, None] * np.array([c.slope for c in cuts])
    sums = [weighted[place == i].sum(axis=0) for i in range(len(functions))]
    totals = np.array([multipliers[place == i].sum() for i in range(len(functions))])
    return Planes(kept, DualPoint(np.maximum(totals, 0.0), sums), duals)
