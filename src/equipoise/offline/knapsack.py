r"""P_C(b), the benchmark of a control problem with budgets (appendix "Supplements ... MDPwK").

    max  sum of r(s,a) x(s,a)   over the occupancies x with   sum of c_k(s,a) x(s,a) <= b_k   for every resource k.

Outcome 0 is the reward r, outcomes 1 ... K-1 are the consumptions c_k. (In the paper the sum over states is
missing in the constraint, and k runs one too far.)

Certificate. For prices lambda >= 0 and any bias gamma, with
phi = max over (s,a) of r - lambda.c + sum p gamma - gamma(s):

    opt(P_C(b)) <= b.lambda + phi,

because r.x <= (r - lambda.c).x + lambda.b for every x within the budgets. As in `certificate`, no solver is
needed to check this.

It is a problem with linear constraints, solved like any other (`benchmark.find_solution`). Budgets that no policy keeps
are refuted as constraints are (`conflict`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.progress import progress_display
from equipoise._types import Vector
from equipoise.errors import ModelError, ParameterError, SolverError
from equipoise.models.model import Model
from equipoise.offline.benchmark import Solution, check_call, find_solution
from equipoise.offline.chains import occupancy_policy
from equipoise.offline.export import named_outcomes, occupancy_frame
from equipoise.offline.methods import method_name
from equipoise.offline.problem import Problem
from equipoise.rewards.constrained import at_most
from equipoise.rewards.separable import Linear

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
        x*, one number per pair, and the averages: reward, then consumptions.
    budget, prices : numpy.ndarray
        b and lambda, one number per resource.
    theta : numpy.ndarray
        (-1, prices), the direction in which the scalar problem is solved.
    gain, bias : float, numpy.ndarray
        phi and gamma of the scalar problem with rewards r - prices.c.
    dual_value, gap : float
        budget.prices + gain, an upper bound; and dual_value - value.
    excess : float
        By how much a budget is exceeded, at most (rounding).
    status, residual, residual_l1, tolerance, solver, method, seconds
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
    method: str
    seconds: float
    model: Model

    def policy(self) -> Vector:
        """Return the randomised stationary policy of the occupancy; see `Benchmark.policy`."""
        return occupancy_policy(self.model, self.occupancy)

    def frame(self) -> polars.DataFrame:
        """Return the optimum as a table, one row per pair; see `Benchmark.frame`."""
        return occupancy_frame(self.model, self.occupancy)

    def __repr__(self) -> str:
        return (
            f"KnapsackBenchmark({self.status}: value={self.value:.9g}, dual_value={self.dual_value:.9g}, "
            f"gap={self.gap:.1e}, prices={self.prices.round(6).tolist()}, "
            f"{named_outcomes(self.model, self.outcomes)}{self.seconds:.2f} s)"
        )


def solve_knapsack(
    model: Model,
    budget: ArrayLike,
    tolerance: float = 1e-6,
    *,
    method: str | None = None,
    progress: bool | None = None,
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
    method : {"columns", "program"}, optional
        As in `solve`.
    progress : bool, optional
        As in `solve`.

    Returns
    -------
    KnapsackBenchmark
        Look at its `status`: an answer that could not be certified is returned, and labelled so.

    Raises
    ------
    ModelError
        When the model is not communicating, or has no resources.
    SolverError
        When no policy keeps within the budgets; the message says which of them, and what they lack. With an action in
        every state that consumes nothing this cannot happen.

    See Also
    --------
    equipoise.solve : The optimum of any concave reward.
    equipoise.KnapsackAgent : The agent that earns under budgets.

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
    with progress_display("solving P_C(b)", wanted=progress) as display:
        solution = find_solution(model, budget_problem(model, b), tolerance, method, display)
    if solution.conflict is not None:
        raise SolverError(
            f"budget: no policy keeps within {b.tolist()}: {solution.conflict}; "
            f"all of them must rise by {-solution.answer.dual.value:.4g} at least"
        )
    return make_knapsack_benchmark(model, b, solution, tolerance, began)


def budget_problem(model: Model, budget: Vector) -> Problem:
    """P_C(b) as a problem with constraints, called by the labels of the resources."""
    within = tuple(at_most(k, float(limit), model) for k, limit in enumerate(budget.tolist(), 1))
    return Problem(Linear(np.eye(model.n_outcomes)[0]), within)


def make_knapsack_benchmark(
    model: Model, budget: Vector, solution: Solution, tolerance: float, began: float
) -> KnapsackBenchmark:
    """What is returned of a solution."""
    answer, status = solution.answer, solution.status
    primal, dual = answer.primal, answer.dual
    excess = float(max(0.0, (primal.outcomes[1:] - budget).max()))
    if excess > tolerance:
        status = f"a budget is exceeded by {excess:.2g}: above tolerance {tolerance:.2g}"
    return KnapsackBenchmark(
        value=primal.value,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        budget=budget,
        prices=np.array([term.weight for term in answer.terms[1:]]),
        theta=dual.theta,
        gain=dual.gain,
        bias=dual.bias,
        dual_value=dual.value,
        gap=answer.gap,
        excess=excess,
        status=status,
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=answer.solver,
        method=method_name(answer.solver),
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
