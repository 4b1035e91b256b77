r"""P_C(b), the benchmark of a control problem with budgets (appendix "Supplements ... MDPwK").

    max  sum of r(s,a) x(s,a)   over the occupancies x with   sum of c_k(s,a) x(s,a) <= b_k   for every resource k.

Outcome 0 is the reward r, outcomes 1 ... K-1 are the consumptions c_k. (In the paper the sum over states is
missing in the constraint, and k runs one too far.)

Certificate. For prices lambda >= 0 and any bias gamma, with
phi = max over (s,a) of r - lambda.c + sum p gamma - gamma(s):

    opt(P_C(b)) <= b.lambda + phi,

because r.x <= (r - lambda.c).x + lambda.b for every x within the budgets. As in `certificate`, no solver is
needed to check this.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, hstack, vstack

from equipoise._progress import progress_display
from equipoise._types import Vector
from equipoise.errors import ModelError, ParameterError, SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.benchmark import check_call
from equipoise.offline.occupancy import named_outcomes, occupancy_frame
from equipoise.offline.policies import policy_of
from equipoise.offline.program import flow_matrix, linear_program

if TYPE_CHECKING:
    import polars


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KnapsackBenchmark:
    """The optimum of P_C(b), and the proof of it.

    Attributes
    ----------
    value : float
        The average reward of `occupancy`, recomputed.
    occupancy, outcomes : numpy.ndarray
        x*, one number a pair, and the averages: reward, then consumptions.
    budget, prices : numpy.ndarray
        b and lambda, one number a resource.
    theta : numpy.ndarray
        (-1, prices), the direction in which the scalar problem is solved.
    gain, bias : float, numpy.ndarray
        phi and gamma of the scalar problem with rewards r - prices.c.
    dual_value, gap : float
        budget.prices + gain, an upper bound; and dual_value - value.
    excess : float
        By how much a budget is exceeded, at most (rounding).
    status, residual, residual_l1, tolerance, solver, seconds
        As in `Benchmark`.
    model : Model
        What it is the optimum of.

    Examples
    --------
    An action that earns 1 and consumes 1, another that does nothing, and a quarter of a unit a step to consume.

    >>> from equipoise.models import Model
    >>> model = Model.from_arrays([[[1.0], [1.0]]], [[[1.0, 1.0], [0.0, 0.0]]], noise="none")
    >>> best = solve_knapsack(model, budget=0.25)
    >>> best.policy().round(9).tolist(), best.theta.round(9).tolist()
    ([0.25, 0.75], [-1.0, 1.0])
    """

    value: float
    occupancy: Vector
    outcomes: Vector
    budget: Vector
    prices: Vector
    theta: Vector
    gain: float
    bias: Vector
    dual_value: float
    gap: float
    excess: float
    status: str
    residual: float
    residual_l1: float
    tolerance: float
    solver: str
    seconds: float
    model: Model

    def policy(self) -> Vector:
        """Return the randomised stationary policy of the occupancy; see `Benchmark.policy`."""
        return policy_of(self.model, self.occupancy)

    def frame(self) -> polars.DataFrame:
        """Return the optimum as a table, one row a pair; see `Benchmark.frame`."""
        return occupancy_frame(self.model, self.occupancy)

    def __repr__(self) -> str:
        return (
            f"KnapsackBenchmark({self.status}: value={self.value:.9g}, dual_value={self.dual_value:.9g}, "
            f"gap={self.gap:.1e}, prices={self.prices.round(6).tolist()}, "
            f"{named_outcomes(self.model, self.outcomes)}{self.seconds:.2f} s)"
        )


def solve_knapsack(
    model: Model, budget: ArrayLike, tolerance: float = 1e-6, *, progress: bool | None = None
) -> KnapsackBenchmark:
    """Maximise the average of outcome 0 with the averages of the other outcomes within a budget.

    Parameters
    ----------
    model : Model
        A communicating one with at least 2 outcomes.
    budget : float or array
        b, strictly between 0 and 1: one for all resources, or one for each.
    tolerance : float
        The gap up to which the status is "optimal".
    progress : bool, optional
        As in `solve`.

    Raises
    ------
    ModelError
        When the model is not communicating, or has no resources.
    SolverError
        When no policy keeps within the budgets; the message says what they lack. With an action in every
        state that consumes nothing this cannot happen.

    Examples
    --------
    Two arms: one pays 1 and consumes 1, the other pays and consumes nothing.

    >>> model = Model.from_arrays([[[1.0], [1.0]]], [[[1.0, 1.0], [0.0, 0.0]]], noise="none")
    >>> best = solve_knapsack(model, budget=0.25)
    >>> best.status, round(best.value, 9), best.prices.round(9).tolist()
    ('optimal', 0.25, [1.0])
    """
    began = time.perf_counter()
    tolerance = check_call(model, tolerance)
    b = _checked_budget(budget, model)
    P, S = model.n_pairs, model.n_states
    use = csr_array(model.means[:, 1:].T)
    equal = csr_array(vstack([flow_matrix(model), csr_array(np.ones((1, P)))]))
    right = np.append(np.zeros(S), 1.0)
    with progress_display("solving P_C(b)", wanted=progress) as display:
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        solution = linear_program(-model.means[:, 0], use, b, equal, right, options=tight)
        if solution.status == 2:
            raise SolverError(_infeasible(use, b, equal, right))
        if solution.status != 0:
            raise SolverError(f"HiGHS: no solution of P_C(b) ({solution.message})")
        display.tell("checking the answer of HiGHS")
        prices = np.maximum(-np.array(solution.ineqlin.marginals), 0.0)
        return _checked(model, b, solution.x, prices, -np.array(solution.eqlin.marginals[:S]), tolerance, began)


def _checked(
    model: Model, b: Vector, occupancy: Vector, prices: Vector, bias: Vector, tolerance: float, began: float
) -> KnapsackBenchmark:
    """Recompute both bounds, whoever made the claim."""
    x, w, residual, residual_l1 = certificate.measure(model, occupancy)
    theta = np.concatenate([[-1.0], prices])
    scores = np.ascontiguousarray(-(model.means @ theta))
    gain, gamma, _ = certificate.optimal_gain(model, scores, bias, float(scores @ x) + 0.01 * tolerance)
    value, dual_value = float(w[0]), float(b @ prices) + gain
    gap = dual_value - value
    excess = float(max(0.0, (w[1:] - b).max()))
    # Within the budgets r.x <= dual; an excess e of every budget may add sum(prices) e to that.
    extra = certificate.slack(gamma, residual_l1) + excess * float(prices.sum())
    status = certificate.verdict(gap, extra, residual_l1, tolerance)
    if excess > tolerance:
        status = f"a budget is exceeded by {excess:.2g}: above tolerance {tolerance:.2g}"
    return KnapsackBenchmark(
        value=value,
        occupancy=x,
        outcomes=w,
        budget=b,
        prices=prices,
        theta=theta,
        gain=gain,
        bias=gamma,
        dual_value=dual_value,
        gap=gap,
        excess=excess,
        status=status,
        residual=residual,
        residual_l1=residual_l1,
        tolerance=tolerance,
        solver="HIGHS",
        seconds=time.perf_counter() - began,
        model=model,
    )


def _checked_budget(budget: ArrayLike, model: Model) -> Vector:
    resources = model.n_outcomes - 1
    if resources < 1:
        raise ModelError("the model has 1 outcome; the reward and at least one resource are needed")
    try:
        given = np.array(budget, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"budget: got {budget!r}; a number, or one for each resource, is needed") from None
    if given.shape not in ((), (resources,)):
        raise ParameterError(f"budget: got shape {given.shape}; a number or {resources} numbers are needed")
    b = np.array(np.broadcast_to(given, (resources,)))
    if not np.all((b > 0.0) & (b < 1.0)):
        raise ParameterError(f"budget: got {given.tolist()}; it must lie strictly between 0 and 1")
    return b


def _infeasible(use: csr_array, b: Vector, equal: csr_array, right: Vector) -> str:
    """Say by how much all budgets must rise at least."""
    more = hstack([use, csr_array(-np.ones((b.size, 1)))])
    same = hstack([equal, csr_array((equal.shape[0], 1))])
    cost = np.append(np.zeros(use.shape[1]), 1.0)
    rise = linear_program(cost, csr_array(more), b, csr_array(same), right)
    least = f"; all of them must rise by {rise.fun:.4g} at least" if rise.status == 0 else ""
    return f"budget: no policy keeps within {b.tolist()}{least}"
