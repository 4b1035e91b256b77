r"""The offline program with constraints, its multipliers, and the proof that it cannot be met where it cannot.

    max  g(Vx)   over the occupancies x with   h_j(Vx) >= level_j   for every constraint j.

A solution is asked for by columns (`split_columns`) or as one program (`split_program`), chosen as in `choosing`, and
checked (`checking`). If no answer stands, constraints in conflict are looked for (`conflict`).
"""

from __future__ import annotations

import time

import numpy as np

from equipoise._progress import Progress
from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.benchmark import Benchmark
from equipoise.offline.checking import Answer, answers
from equipoise.offline.choosing import method_of
from equipoise.offline.columns import Pool
from equipoise.offline.conflict import Conflict, find_conflict
from equipoise.offline.problem import Problem, theta_of
from equipoise.rewards.constrained import Constrained


def solve_constrained(
    model: Model, goal: Constrained, tolerance: float, method: str | None, began: float, display: Progress
) -> Benchmark:
    """Solve the constrained program, or prove that its constraints are in conflict.

    Parameters
    ----------
    model : Model
        A communicating one.
    goal : Constrained
        Its prices are not used.
    tolerance : float
        Of the gap, and of each violation.
    method : {"columns", "program"} or None
        As for `solve`.
    began : float
        When.
    display : Progress
        Told what is being done.

    Raises
    ------
    SolverError
        When no method gave a point, and no conflict could be proven either.
    """
    pool, problem = Pool(model), Problem(goal.reward, goal.constraints)
    best: Benchmark | None = None
    failures: list[str] = []
    sought = False  # before a second way is tried, which may take far longer than the first
    for lower in (0.0, 0.5 * tolerance):
        # Where the constraints leave no room at all, solvers fail; lowered by part of the tolerance, they leave some.
        for answer in answers(pool, problem, tolerance, method, lower, display.tell):
            if isinstance(answer, SolverError):
                failures.append(str(answer))
            else:
                benchmark = _benchmark(goal, model, answer, tolerance, began)
                if best is None or _badness(benchmark) < _badness(best):
                    best = benchmark
                if best.status == "optimal":
                    return best
            if not sought:
                sought = True
                display.tell("looking for constraints in conflict")
                conflict = find_conflict(pool, goal.constraints, tolerance, method)
                if conflict is not None:
                    return _infeasible(goal, model, *conflict, tolerance, began)
    if best is None:
        raise SolverError("; ".join(failures))
    return best


def _benchmark(goal: Constrained, model: Model, answer: Answer, tolerance: float, began: float) -> Benchmark:
    primal, dual = answer.primal, answer.dual
    gap = dual.value - primal.value
    violations, multipliers = goal.violations(primal.outcomes), np.array([term.weight for term in answer.terms[1:]])
    status = certificate.verdict(gap, certificate.slack(dual.bias, primal.residual_l1), primal.residual_l1, tolerance)
    bought = float(multipliers @ violations)
    worst = int(violations.argmax())
    if bought > tolerance:
        status = f"violations that may add {bought:.2g} to the value: above tolerance {tolerance:.2g}"
    if violations[worst] > tolerance:
        status = f"{goal.names[worst]!r} is violated by {violations[worst]:.2g}: above tolerance {tolerance:.2g}"
    return Benchmark(
        value=primal.value,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        theta=dual.theta,
        gain=dual.gain,
        bias=dual.bias,
        dual_value=dual.value,
        gap=gap,
        status=status,
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=answer.solver,
        method=method_of(answer.solver),
        seconds=time.perf_counter() - began,
        model=model,
        reward=goal,
        multipliers=_by_name(goal, multipliers),
        violations=_by_name(goal, violations),
        terms=answer.terms,
    )


def _badness(benchmark: Benchmark) -> float:
    return abs(benchmark.gap) + benchmark.residual_l1 + sum(benchmark.violations.values())


def _by_name(goal: Constrained, numbers: Vector) -> dict[str, float]:
    return dict(zip(goal.names, numbers.tolist(), strict=True))


def _infeasible(
    goal: Constrained, model: Model, conflict: Conflict, closest: Answer, tolerance: float, began: float
) -> Benchmark:
    """What is returned where the constraints cannot be met: the occupancy closest to it, and the conflict."""
    nothing = float("nan")
    primal = closest.primal
    weights = dict.fromkeys(goal.names, 0.0) | conflict.multipliers
    return Benchmark(
        value=nothing,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        theta=theta_of(conflict.terms, goal.n_outcomes),
        gain=conflict.gain,
        bias=conflict.bias,
        dual_value=nothing,
        gap=nothing,
        status="infeasible",
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=closest.solver,
        method=method_of(closest.solver),
        seconds=time.perf_counter() - began,
        model=model,
        reward=goal,
        multipliers=weights,
        violations=_by_name(goal, goal.violations(primal.outcomes)),
        conflict=conflict,
    )
