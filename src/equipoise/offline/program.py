r"""The offline program (P_M) and three ways to a solution of it (section "Offline Benchmark and Regret").

    max  g(w)   over x >= 0 on the pairs, with
         w = sum of v(s,a) x(s,a),
         sum_a x(s,a) = sum over (s',a') of p(s|s',a') x(s',a')   for every state s,
         sum of x = 1.

`by_cone`      The program as it stands, by cvxpy: HiGHS if g is piecewise linear, else Clarabel.
`by_vertices`  For a smooth g that has no cvxpy expression: fully corrective Frank-Wolfe. A linear program
               gives the vertex best along the gradient; then g is maximised over the hull of all vertices
               found, by pairwise steps.
`by_cuts`      For a g that is neither: Kelley's cutting planes (`cuts`).

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
from equipoise.offline.cuts import TIGHT, Hull, Planes, cutting_planes, gradient_at, linear_program
from equipoise.rewards.base import Reward

_TIGHT: Final = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 400}
CLARABEL: Final[tuple[dict[str, Any], ...]] = (_TIGHT, {"max_iter": 400})
HIGHS: Final[tuple[dict[str, Any], ...]] = (TIGHT, {})
_ROUNDS: Final = 400  # vertices, at most
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


def hull_of_model(model: Model) -> Hull:
    """The occupancies of a model as a hull: the last of its equations says that they sum to 1."""
    equal = csr_array(vstack([flow_matrix(model), csr_array(np.ones((1, model.n_pairs)))]))
    return Hull(model.means, equal, np.append(np.zeros(model.n_states), 1.0))


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
    outcome = w == csr_array(model.mean_rows.T) @ x
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
    w = middle(model)
    bias = np.zeros(model.n_states)
    for _ in range(_ROUNDS):
        slope = gradient_at(reward, w)
        x, bias, gain = polytope.best(model.mean_rows @ slope)
        if xs and gain - float(slope @ w) <= tolerance:
            break
        xs.append(x)
        points = np.vstack([points, model.mean_rows.T @ x])
        weights = np.append(weights, 0.0 if weights.size else 1.0)
        weights = pairwise(reward, points, weights, tolerance / 10.0)
        keep = np.flatnonzero(weights > 0.0)
        xs, points, weights = [xs[i] for i in keep], points[keep], weights[keep]
        w = weights @ points
    occupancy = weights @ np.array(xs)
    return Claim(occupancy, (-gradient_at(reward, w),), bias, "Frank-Wolfe")


def by_cuts(model: Model, reward: Reward, tolerance: float) -> Claim:
    """Kelley's cutting planes, until the least tangent is within the tolerance of the best point found."""
    planes = cutting_planes(hull_of_model(model), [Planes(reward, 0.0, 1.0)], middle(model), tolerance)
    return Claim(planes.shares, (-planes.slopes[0],), planes.duals[:-1], "cutting planes")


class _Polytope:
    """The occupancies of a model, to be maximised over by HiGHS, one linear reward after another."""

    def __init__(self, model: Model) -> None:
        self._n = model.n_states
        _, self._equal, self._right = hull_of_model(model)

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


def middle(model: Model) -> Vector:
    """The outcomes where iterations begin: the means of all pairs."""
    mean: Vector = np.clip(model.mean_rows.mean(axis=0), 0.0, 1.0)
    return mean


def expression_of(reward: Reward) -> tuple[Any, Any]:
    """Return a cvxpy vector w and g(w), or raise a `RewardError`."""
    import cvxpy as cp

    w = cp.Variable(reward.n_outcomes)
    g = reward.concave_expression(w)
    if not isinstance(g, cp.Expression) or g.size != 1 or not g.is_concave():
        raise RewardError(f"{reward!r}: its cvxpy expression is not a concave scalar by cvxpy's rules: {g}")
    return w, g
