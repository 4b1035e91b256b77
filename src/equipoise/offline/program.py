r"""The offline program (P_M) and three ways to a solution of it (section "Offline Benchmark and Regret").

    max  g(w)   over x >= 0 on the pairs, with
         w = sum of v(s,a) x(s,a),
         sum_a x(s,a) = sum over (s',a') of p(s|s',a') x(s',a')   for every state s,
         sum of x = 1.

`by_cone`      The program as it stands, by cvxpy: HiGHS if g is piecewise linear, else Clarabel.
`by_vertices`  For a smooth g that has no cvxpy expression: fully corrective Frank-Wolfe. A linear program
               gives the vertex best along the gradient; then g is maximised over the hull of all vertices
               found, by pairwise steps.
`by_cuts`      For a g that is neither: Kelley's cutting planes. g is replaced by the least of its tangents.

What comes back are *claims*: an occupancy x, candidates for theta, and multipliers of the flow constraints.
Nothing here is believed; `certificate` checks it all without a solver.

Signs. In cvxpy's Lagrangian of  min -g(w) + nu.(w - V'x) + gamma.(Bx) + phi (1.x - 1),  B being flow out less
flow in, stationarity gives nu in the superdifferential of g, so theta = -nu, and
phi + gamma(s) - sum p gamma >= -theta.v(s,a): the multipliers are the phi and gamma of (D_M) as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from equipoise._types import Vector
from equipoise.errors import RewardError, SolverError
from equipoise.models.model import Model
from equipoise.rewards.base import Reward

_TIGHT: Final = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 400}
CLARABEL: Final[tuple[dict[str, Any], ...]] = (_TIGHT, {"max_iter": 400})
HIGHS: Final[tuple[dict[str, Any], ...]] = (
    {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    {},
)
_ROUNDS: Final = 400  # vertices or cuts, at most
_INNER_STEPS: Final = 4000
_BISECTIONS: Final = 45
_TINY: Final = 1e-14  # a step that rounding could have made


class Claim(NamedTuple):
    """What a solver says: an occupancy, candidates for theta, and the flow constraints' multipliers."""

    occupancy: Vector
    thetas: tuple[Vector, ...]
    bias: Vector | None
    solver: str


Method = Callable[[Model, Reward, float], Claim]


def flow_matrix(model: Model) -> csr_array:
    """Flow out of each state less flow into it: one row a state, one column a pair; sparse.

    >>> from equipoise.models import ring
    >>> flow_matrix(ring(2)).toarray().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    P = model.n_pairs
    own = csr_array((np.ones(P), model.state_of, np.arange(P + 1)), shape=(P, model.n_states))
    return csr_array((own - model.transitions()).T)


def linear_program(*data: Any, **more: Any) -> Any:
    """Call `scipy.optimize.linprog` with HiGHS; here because its types do not know sparse arrays."""
    from scipy.optimize import linprog

    run: Any = linprog
    return run(*data, **more, method="highs")


def methods(reward: Reward) -> list[Method]:
    """Return what to try for a reward, best first; the later ones are for when the check fails."""
    iterative = by_vertices if reward.smoothness is not None else by_cuts
    try:
        expression_of(reward)
    except RewardError:
        return [iterative]
    if reward.piecewise_linear:
        return [by_highs, by_clarabel, iterative]
    return [by_clarabel, iterative]


def by_highs(model: Model, reward: Reward, tolerance: float) -> Claim:  # noqa: ARG001
    """Solve by HiGHS, for a piecewise linear reward."""
    return by_cone(model, reward, "HIGHS", HIGHS)


def by_clarabel(model: Model, reward: Reward, tolerance: float) -> Claim:  # noqa: ARG001
    """Solve by Clarabel."""
    return by_cone(model, reward, "CLARABEL", CLARABEL)


def by_cone(model: Model, reward: Reward, solver: str, settings: tuple[dict[str, Any], ...]) -> Claim:
    """Solve the program as cvxpy states it, with the first settings that the solver accepts.

    Raises
    ------
    RewardError
        When the reward has no concave cvxpy expression.
    SolverError
        When the solver gives no point under any of the settings.
    """
    import cvxpy as cp

    x = cp.Variable(model.n_pairs, nonneg=True)
    w, g = expression_of(reward)
    outcome = w == csr_array(model.means.T) @ x
    balance = flow_matrix(model) @ x == 0
    problem = cp.Problem(cp.Maximize(g), [outcome, balance, cp.sum(x) == 1])
    occupancy, nu, gamma = solved(problem, solver, settings, (x, outcome, balance))
    return Claim(occupancy, (-nu,), gamma, solver)


def solved(problem: Any, solver: str, settings: tuple[dict[str, Any], ...], wanted: Sequence[Any]) -> list[Vector]:
    """Solve a cvxpy problem with the first settings that the solver accepts.

    Parameters
    ----------
    problem : cvxpy.Problem
        The problem.
    solver : str
        Its name for cvxpy.
    settings : tuple of dict
        To be tried in turn.
    wanted : sequence of cvxpy variables and constraints
        Whose values and multipliers are returned, as vectors.

    Raises
    ------
    SolverError
        When the solver gives no point under any of the settings.
    """
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


def by_vertices(model: Model, reward: Reward, tolerance: float) -> Claim:
    """Fully corrective Frank-Wolfe, until the linear program finds nothing better by more than the tolerance."""
    polytope = _Polytope(model)
    xs: list[Vector] = []
    points = np.empty((0, model.n_outcomes))
    weights = np.empty(0)
    w = _middle(model)
    bias = np.zeros(model.n_states)
    for _ in range(_ROUNDS):
        slope = gradient_at(reward, w)
        x, bias, gain = polytope.best(model.means @ slope)
        if xs and gain - float(slope @ w) <= tolerance:
            break
        xs.append(x)
        points = np.vstack([points, model.means.T @ x])
        weights = np.append(weights, 0.0 if weights.size else 1.0)
        weights = pairwise(reward, points, weights, tolerance / 10.0)
        keep = np.flatnonzero(weights > 0.0)
        xs, points, weights = [xs[i] for i in keep], points[keep], weights[keep]
        w = weights @ points
    occupancy = weights @ np.array(xs)
    return Claim(occupancy, (-gradient_at(reward, w),), bias, "Frank-Wolfe")


def by_cuts(model: Model, reward: Reward, tolerance: float) -> Claim:
    """Kelley's cutting planes, until the least tangent is within the tolerance of the best point found."""
    planes = cutting_planes(model, [Planes(reward, 0.0, 1.0)], tolerance)
    return Claim(planes.occupancy, (-planes.slopes[0],), planes.bias, "cutting planes")


class Planes(NamedTuple):
    """A concave function that is replaced by the least of its tangents: reward(w) - level >= share tau.

    The number tau is what is maximised. With share 1 it is bounded by the function; with share 0 the function is a
    constraint, and does not bound it.
    """

    reward: Reward
    level: float
    share: float


class PlanesClaim(NamedTuple):
    """What cutting planes say: an occupancy, a bias, and for each function a multiplier and that times a slope."""

    occupancy: Vector
    multipliers: Vector
    slopes: list[Vector]
    bias: Vector


def cutting_planes(model: Model, functions: Sequence[Planes], tolerance: float) -> PlanesClaim:
    """Maximise tau subject to concave functions of the average outcomes, by tangents at the solutions so far.

    Parameters
    ----------
    model : Model
        The world.
    functions : sequence of Planes
        At least one with share 1.
    tolerance : float
        It ends when tau exceeds the functions with share 1 by no more, and no constraint is violated by more.

    Raises
    ------
    SolverError
        When the linear program of the tangents has no solution: the constraints cannot be met.
    """
    P, S = model.n_pairs, model.n_states
    equal = csr_array(vstack([_with_zeros(flow_matrix(model)), csr_array([[1.0] * P + [0.0]])]))
    right = np.append(np.zeros(S), 1.0)
    cost = np.append(np.zeros(P), -1.0)
    of: list[int] = []
    slopes: list[Vector] = []
    rows: list[Vector] = []
    levels: list[float] = []
    w = _middle(model)
    best, occupancy, multipliers, bias = (-np.inf, -np.inf), None, np.zeros(0), np.zeros(S)
    for _ in range(_ROUNDS):
        for i, one in enumerate(functions):
            slope = gradient_at(one.reward, w)
            of.append(i)
            slopes.append(slope)
            rows.append(np.append(-(model.means @ slope), one.share))
            levels.append(one.reward.value(w) - float(slope @ w) - one.level)
        relaxed = linear_program(cost, np.array(rows), np.array(levels), equal, right, [(0, None)] * P + [(None, None)])
        if relaxed.status != 0:
            raise SolverError(f"HiGHS: the cutting-plane program was not solved ({relaxed.message})")
        x = np.maximum(relaxed.x[:P], 0.0)
        w = np.clip(model.means.T @ x / x.sum(), 0.0, 1.0)
        multipliers = -np.array(relaxed.ineqlin.marginals)
        bias = -np.array(relaxed.eqlin.marginals[:S])
        left = [(one.reward.value(w) - one.level, one.share) for one in functions]
        lacking = min((value for value, share in left if share == 0.0), default=0.0)
        merit = (min(0.0, lacking + tolerance), min(value for value, share in left if share > 0.0))
        if merit > best:
            best, occupancy = merit, x
        if best[0] == 0.0 and float(relaxed.x[P]) - best[1] <= tolerance:
            break
    assert occupancy is not None
    place, weighted = np.array(of), multipliers[:, None] * np.array(slopes)
    sums = [weighted[place == i].sum(axis=0) for i in range(len(functions))]
    totals = np.array([multipliers[place == i].sum() for i in range(len(functions))])
    return PlanesClaim(occupancy, totals, sums, bias)


class _Polytope:
    """The occupancies of a model, to be maximised over by HiGHS, one linear reward after another."""

    def __init__(self, model: Model) -> None:
        self._n = model.n_states
        self._equal = csr_array(vstack([flow_matrix(model), csr_array(np.ones((1, model.n_pairs)))]))
        self._right = np.append(np.zeros(model.n_states), 1.0)

    def best(self, scores: Vector) -> tuple[Vector, Vector, float]:
        """Return a vertex of the largest score, the bias and the gain."""
        vertex = linear_program(-scores, A_eq=self._equal, b_eq=self._right)
        if vertex.status != 0:
            raise SolverError(f"HiGHS: the linear subproblem was not solved ({vertex.message})")
        x = np.maximum(vertex.x, 0.0)
        return x / x.sum(), -np.array(vertex.eqlin.marginals[: self._n]), -float(vertex.fun)


def best_vertex(model: Model, scores: Vector) -> tuple[Vector, Vector]:
    """Return an occupancy of the largest expected score and the bias that HiGHS claims for it."""
    x, bias, _ = _Polytope(model).best(scores)
    return x, bias


def pairwise(reward: Reward, points: Vector, weights: Vector, tolerance: float) -> Vector:
    """Maximise g over the hull of `points`: move weight from the worst point in use to the best one."""
    weights = weights.copy()
    for _ in range(_INNER_STEPS):
        w = weights @ points
        scores = points @ gradient_at(reward, w)
        used = np.flatnonzero(weights > 0.0)
        to, away = int(np.argmax(scores)), int(used[np.argmin(scores[used])])
        if scores[to] - float(weights @ scores) <= tolerance or to == away:
            break
        step = _line_search(reward, w, points[to] - points[away], float(weights[away]))
        if step <= _TINY:
            break
        weights[to] += step
        weights[away] = 0.0 if step == weights[away] else weights[away] - step
    weights /= weights.sum()
    return weights


def _line_search(reward: Reward, w: Vector, direction: Vector, longest: float) -> float:
    if float(gradient_at(reward, w + longest * direction) @ direction) >= 0.0:
        return longest
    low, high = 0.0, longest
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if float(gradient_at(reward, w + middle * direction) @ direction) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def gradient_at(reward: Reward, w: Vector) -> Vector:
    """A supergradient at outcomes that rounding may have put a little outside of the box."""
    return reward.gradient(np.clip(w, 0.0, 1.0))


def _middle(model: Model) -> Vector:
    middle: Vector = np.clip(model.means.mean(axis=0), 0.0, 1.0)
    return middle


def _with_zeros(matrix: csr_array) -> csr_array:
    """Append one column of zeros."""
    rows, columns = matrix.shape
    return csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(rows, columns + 1))


def expression_of(reward: Reward) -> tuple[Any, Any]:
    """Return a cvxpy vector w and g(w), or raise a `RewardError`."""
    import cvxpy as cp

    w = cp.Variable(reward.n_outcomes)
    g = reward.concave_expression(w)
    if not isinstance(g, cp.Expression) or g.size != 1 or not g.is_concave():
        raise RewardError(f"{reward!r}: its cvxpy expression is not a concave scalar by cvxpy's rules: {g}")
    return w, g
