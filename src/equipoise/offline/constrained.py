r"""The offline program with constraints, its multipliers, and the proof that it cannot be met where it cannot.

    max  g(Vx)   over the occupancies x with   h_j(Vx) >= level_j   for every constraint j.

Certificate. For multipliers lambda_j >= 0, any vectors theta_0, theta_j and any bias gamma, every feasible x has

    g(Vx)  <=  g(Vx) + sum_j lambda_j (h_j(Vx) - level_j)
           <=  g*(theta_0) + sum_j lambda_j (h_j*(theta_j) - level_j) + phi,

phi the bound on the gain of the scores -(theta_0 + sum_j lambda_j theta_j).v that gamma proves, as computed by
`certificate.split_bound`. No solver is needed to check it. An occupancy that violates the constraints by s_j may have a
value above this, by sum_j lambda_j s_j at most.

If it cannot be met. The same without g, for lambda of sum 1:

    min over j of h_j(Vx) - level_j  <=  sum_j lambda_j (h_j*(theta_j) - level_j) + phi      for every occupancy x,

and where the right side is negative, no policy meets all constraints: each of those with lambda_j > 0 would have to
give by that much at least, if all gave alike. From these, one after the other is left out as long as the others cannot
be met either: what remains is a conflict from which none can be left out. If one of them alone gave, it would have to
fall to the largest h_j that the others allow, which is a constrained program of its own, and is bounded by its
certificate.

The multipliers and the vectors are claims of a solver: of HiGHS if all functions are piecewise linear, else of
Clarabel, with w = Vx written once for each function, so that the multipliers of these equations are lambda_j times the
supergradients wanted; or of cutting planes, where a function has no cvxpy expression.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._progress import Progress
from equipoise._types import Vector
from equipoise.errors import RewardError, SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.benchmark import Benchmark
from equipoise.offline.certificate import Dual, Primal, Term
from equipoise.offline.choosing import PROGRAM
from equipoise.offline.program import (
    CLARABEL,
    HIGHS,
    Planes,
    cutting_planes,
    expression_of,
    flow_matrix,
    solved,
)
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained, names_of
from equipoise.rewards.constraint import Constraint

_NOTHING: Final = 1e-9  # a multiplier below it is a solver's rounding
_MARGIN: Final = 1e-2  # part of the tolerance: a gap below it is small enough to stop improving the bounds
_FINEST: Final = 1e-10
_ROUNDING: Final = 1e-12  # of a bound: one that is not further below zero proves nothing


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Conflict:
    """Constraints that cannot be met together, none of which can be left out, and the proof.

    Attributes
    ----------
    names : tuple of str
        The constraints.
    short_by : float
        No policy is closer to meeting all of them: one at least is missed by this much. If all gave alike, each would
        have to give as much.
    each_alone : dict
        By name: how much it would have to give at least, if it alone gave.
    terms : tuple of Term
        The proof: multipliers (of sum 1), functions, vectors and levels, for `certificate.split_bound`, which makes
        -short_by of them.
    gain, bias : float, numpy.ndarray
        Of the scalar problem in it.

    Examples
    --------
    Three shares of one day that sum to more than it has: a twelfth too much for each.

    >>> import equipoise as eq
    >>> from equipoise.rewards import Constrained, Linear, at_least
    >>> model = eq.models.bandit(3)
    >>> wishes = [at_least(0, 0.5, model), at_least(1, 0.25, model), at_least(2, 0.5, model)]
    >>> best = eq.solve(model, Constrained(Linear([1.0, 0.0, 0.0]), wishes, price=1.0))
    >>> best.status, best.conflict.names, round(best.conflict.short_by, 6)
    ('infeasible', ('arm 0 at least 0.5', 'arm 1 at least 0.25', 'arm 2 at least 0.5'), 0.083333)
    """

    names: tuple[str, ...]
    short_by: float
    each_alone: dict[str, float]
    terms: tuple[Term, ...]
    gain: float
    bias: Vector

    @property
    def multipliers(self) -> dict[str, float]:
        """The weights of the proof, by the names of the constraints; they sum to 1."""
        return {name: term.weight for name, term in zip(self.names, self.terms, strict=True)}

    def __str__(self) -> str:
        if len(self.names) == 1:
            return f"{self.names[0]!r} cannot be met: it is missed by {self.short_by:.4g} at least"
        listed = " and ".join(repr(name) for name in self.names)
        alone = ", ".join(f"{name!r} by {much:.4g}" for name, much in self.each_alone.items())
        return (
            f"{listed} cannot be met together: one of them is missed by {self.short_by:.4g} at least; alone, it would "
            f"have to give: {alone}"
        )


class _Problem(NamedTuple):
    """What is to be maximised, if anything, and what is to be met."""

    model: Model
    objective: Reward | None  # None: the least of h_j - level_j is
    constraints: tuple[Constraint, ...]

    @property
    def functions(self) -> list[Reward]:
        """The objective, if there is one, and the functions of the constraints."""
        first = [] if self.objective is None else [self.objective]
        return [*first, *(one.function for one in self.constraints)]


class _Claim(NamedTuple):
    """What a solver says: an occupancy, a weight and a vector for each function, and the flow's multipliers."""

    occupancy: Vector
    weights: Vector
    slopes: list[Vector]  # each of them weight times a supergradient
    bias: Vector
    solver: str


class _Answer(NamedTuple):
    """A claim that was checked."""

    primal: Primal
    dual: Dual
    terms: tuple[Term, ...]
    solver: str


def solve_constrained(model: Model, goal: Constrained, tolerance: float, began: float, display: Progress) -> Benchmark:
    """Solve the constrained program, or prove that its constraints are in conflict.

    Parameters
    ----------
    model : Model
        A communicating one.
    goal : Constrained
        Its prices are not used.
    tolerance : float
        Of the gap, and of each violation.
    began : float
        When.
    display : Progress
        Told what is being done.

    Raises
    ------
    SolverError
        When no method gave a point, and no conflict could be proven either.
    """
    problem = _Problem(model, goal.reward, goal.constraints)
    best: Benchmark | None = None
    failures: list[str] = []
    for lower in (0.0, 0.5 * tolerance):
        # Where the constraints leave no room at all, solvers fail; lowered by part of the tolerance, they leave some.
        eased = tuple(Constraint(one.function, one.at_least - lower, one.name) for one in goal.constraints)
        for method in _methods(problem.functions):
            display.tell(f"solving the constrained program ({method.__name__.removeprefix('_by_')})")
            try:
                claim = method(problem._replace(constraints=eased), max(tolerance / 10.0, _FINEST))
            except SolverError as error:
                failures.append(str(error))
                continue
            display.tell(f"checking the answer of {claim.solver}")
            benchmark = _benchmark(goal, model, _checked(problem, claim, tolerance), tolerance, began)
            if best is None or _badness(benchmark) < _badness(best):
                best = benchmark
            if best.status == "optimal":
                return best
        if lower == 0.0:
            display.tell("looking for constraints in conflict")
            conflict = _conflict(model, goal, tolerance)
            if conflict is not None:
                return _infeasible(goal, model, *conflict, tolerance, began)
    if best is None:
        raise SolverError("; ".join(failures))
    return best


# -- claims ------------------------------------------------------------------------------------------------------------


def _methods(functions: Sequence[Reward]) -> list[Callable[[_Problem, float], _Claim]]:
    try:
        for function in functions:
            expression_of(function)
    except RewardError:
        return [_by_cuts]
    if all(function.piecewise_linear for function in functions):
        return [_by_highs, _by_clarabel, _by_cuts]
    return [_by_clarabel, _by_cuts]


def _by_highs(problem: _Problem, tolerance: float) -> _Claim:  # noqa: ARG001
    return _by_cone(problem, "HIGHS", HIGHS)


def _by_clarabel(problem: _Problem, tolerance: float) -> _Claim:  # noqa: ARG001
    return _by_cone(problem, "CLARABEL", CLARABEL)


def _by_cone(problem: _Problem, solver: str, settings: tuple[dict[str, Any], ...]) -> _Claim:
    import cvxpy as cp

    model = problem.model
    x, least = cp.Variable(model.n_pairs, nonneg=True), cp.Variable()
    means = csr_array(model.means.T)
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
    weights = np.maximum(np.concatenate([np.zeros(0), *duals[len(links) :]]), 0.0)
    if problem.objective is not None:
        weights = np.append(1.0, weights)
    return _Claim(occupancy, weights, duals[: len(links)], bias, solver)


def _by_cuts(problem: _Problem, tolerance: float) -> _Claim:
    share = 1.0 if problem.objective is None else 0.0
    planes = [Planes(one.function, one.at_least, share) for one in problem.constraints]
    if problem.objective is not None:
        planes.insert(0, Planes(problem.objective, 0.0, 1.0))
    said = cutting_planes(problem.model, planes, tolerance)
    return _Claim(said.occupancy, np.maximum(said.multipliers, 0.0), said.slopes, said.bias, "cutting planes")


# -- checks ------------------------------------------------------------------------------------------------------------


def _checked(problem: _Problem, claim: _Claim, tolerance: float) -> _Answer:
    """Recompute both bounds from a claim: the value of the occupancy, and the best of the bounds that it points to."""
    x, w, largest, total = certificate.measure(problem.model, claim.occupancy)
    levels = [one.at_least for one in problem.constraints]
    if problem.objective is None:
        value = min(one.function.value(w) - one.at_least for one in problem.constraints)
        weights = claim.weights / max(claim.weights.sum(), _NOTHING)
    else:
        value, levels = problem.objective.value(w), [0.0, *levels]
        weights = np.append(1.0, claim.weights[1:])
    primal = Primal(x, w, value, largest, total)
    best: tuple[Dual, tuple[Term, ...]] | None = None
    for smooth in (False, True):
        terms = _terms(problem.functions, weights, claim, levels, w, smooth)
        bound = certificate.split_bound(problem.model, terms, claim.bias, primal, tolerance * _MARGIN)
        if best is None or bound.value < best[0].value:
            best = bound, terms
        if best[0].value - value <= 2.0 * tolerance * _MARGIN:
            break
    assert best is not None
    return _Answer(primal, best[0], best[1], claim.solver)


def _terms(
    functions: Sequence[Reward], weights: Vector, claim: _Claim, levels: Sequence[float], w: Vector, smooth: bool
) -> tuple[Term, ...]:
    """The terms of a bound: minus the solver's supergradients, or for smooth functions the gradients themselves."""
    terms = []
    claimed = zip(claim.slopes, claim.weights, strict=True)
    for function, weight, (slope, scale), level in zip(functions, weights, claimed, levels, strict=True):
        if weight <= _NOTHING:
            weight, theta = 0.0, np.zeros(function.n_outcomes)
        elif smooth and function.smoothness is not None:
            theta = -function.gradient(w)
        else:
            theta = -slope / scale
        terms.append(Term(float(weight), function, theta, float(level)))
    return tuple(terms)


def _benchmark(goal: Constrained, model: Model, answer: _Answer, tolerance: float, began: float) -> Benchmark:
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
        method=PROGRAM,
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


# -- conflicts ---------------------------------------------------------------------------------------------------------


def _closest(model: Model, constraints: Sequence[Constraint], tolerance: float) -> _Answer | None:
    """How close a policy comes to meeting all constraints, with the proof that none comes closer."""
    problem = _Problem(model, None, tuple(constraints))
    best: _Answer | None = None
    for method in _methods(problem.functions):
        try:
            answer = _checked(problem, method(problem, max(tolerance / 10.0, _FINEST)), tolerance)
        except SolverError:
            continue
        if best is None or answer.dual.value < best.dual.value:
            best = answer
        if best.dual.value - best.primal.value <= tolerance:
            break
    return best


def _cannot_be_met(answer: _Answer) -> bool:
    return answer.dual.value < -_ROUNDING * (1.0 + float(np.ptp(answer.dual.bias)))


def _conflict(model: Model, goal: Constrained, tolerance: float) -> tuple[Conflict, _Answer] | None:
    """Constraints that cannot be met together and of which none can be left out; None if nothing is proven."""
    named = list(zip(names_of(goal.constraints), goal.constraints, strict=True))
    everything = _closest(model, goal.constraints, tolerance)
    if everything is None or not _cannot_be_met(everything):
        return None
    kept = [one for one, term in zip(named, everything.terms, strict=True) if term.weight > 0.0]
    answer = everything._replace(terms=tuple(term for term in everything.terms if term.weight > 0.0))
    for one in list(kept):
        others = [other for other in kept if other is not one]
        fewer = _closest(model, [other for _, other in others], tolerance) if others else None
        if fewer is not None and _cannot_be_met(fewer):
            answer, kept = fewer, others
    conflict = Conflict(
        names=tuple(name for name, _ in kept),
        short_by=-answer.dual.value,
        each_alone={name: _gives_alone(model, one, kept, tolerance, -answer.dual.value) for name, one in kept},
        terms=answer.terms,
        gain=answer.dual.gain,
        bias=answer.dual.bias,
    )
    return conflict, everything


def _gives_alone(
    model: Model, one: Constraint, kept: Sequence[tuple[str, Constraint]], tolerance: float, short_by: float
) -> float:
    """By how much a constraint must give at least if it alone gives: its level less the best that the others allow."""
    others = tuple(other for _, other in kept if other is not one)
    if not others:
        return short_by
    problem = _Problem(model, one.function, others)
    bounds = [short_by]
    for method in _methods(problem.functions):
        try:
            answer = _checked(problem, method(problem, max(tolerance / 10.0, _FINEST)), tolerance)
        except SolverError:
            continue
        bounds.append(one.at_least - answer.dual.value)
        if answer.dual.value - answer.primal.value <= tolerance:
            break
    return max(bounds)


def _infeasible(
    goal: Constrained, model: Model, conflict: Conflict, closest: _Answer, tolerance: float, began: float
) -> Benchmark:
    """What is returned where the constraints cannot be met: the occupancy closest to it, and the conflict."""
    nothing = float("nan")
    primal = closest.primal
    weights = dict.fromkeys(goal.names, 0.0) | conflict.multipliers
    return Benchmark(
        value=nothing,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        theta=sum((term.weight * term.theta for term in conflict.terms), np.zeros(goal.n_outcomes)),
        gain=conflict.gain,
        bias=conflict.bias,
        dual_value=nothing,
        gap=nothing,
        status="infeasible",
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=closest.solver,
        method=PROGRAM,
        seconds=time.perf_counter() - began,
        model=model,
        reward=goal,
        multipliers=weights,
        violations=_by_name(goal, goal.violations(primal.outcomes)),
        conflict=conflict,
    )
