"""opt(P_M), the benchmark that regret is measured against, with its dual certificate.

`solve` asks for a solution, by columns or by a program, and checks what it is told (see `methods`): value and
dual_value are recomputed from the occupancy and from a point of the dual. If they do not agree to the tolerance, other
methods are tried. If constraints may be in conflict, a proof of that is looked for (`conflict`). What is returned is
the best checked answer, and its `status` says whether it is good.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from equipoise._checks import check_count, check_float
from equipoise._runtime.progress import Progress, progress_display
from equipoise._types import Vector
from equipoise.errors import ParameterError, RewardError, SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.chains import occupancy_policy
from equipoise.offline.columns import Pool
from equipoise.offline.conflict import Conflict, find_conflict
from equipoise.offline.export import named_outcomes, occupancy_frame
from equipoise.offline.methods import Answer, method_name, try_methods
from equipoise.offline.problem import Problem
from equipoise.rewards.base import Reward, checked_number
from equipoise.rewards.constrained import Constrained, constraint_names

if TYPE_CHECKING:
    import polars

    from equipoise.agents.optimum import Optimum
    from equipoise.models.space import Space


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Benchmark:
    """The offline optimum of a model and a reward, and the proof of it.

    Attributes
    ----------
    value : float
        g(outcomes), recomputed: opt(P_M) from below, up to what `residual_l1` may add.
    occupancy : numpy.ndarray
        x*, one number per pair: non-negative, of sum 1.
    outcomes : numpy.ndarray
        The average outcomes under it.
    theta, gain, bias : numpy.ndarray, float, numpy.ndarray
        A feasible point (theta, phi, gamma) of the dual (D_M).
    dual_value : float
        g*(theta) + phi: opt(P_M) from above.
    gap : float
        dual_value - value.
    status : str
        "optimal" if the gap and the residual are within the tolerance; else what is wrong, in words.
    residual, residual_l1 : float
        Violation of the flow constraints by `occupancy`: the largest, and the sum of all.
    tolerance : float
        What `status` refers to.
    solver : str
        Who found the occupancy.
    method : str
        How: "columns", policies one by one, or "program", all pairs at once; see `solve`.
    seconds : float
        How long it all took.
    model, reward : Model, Reward
        What it is the optimum of.
    multipliers, violations : dict
        For a `Constrained` reward, by the names of the constraints: what easing each by a little is worth, and how much
        it is violated by `occupancy` (rounding, if the status is "optimal"). The value is then that of the reward
        without the penalty.
    terms : tuple of Term
        For a `Constrained` reward, the proof of `dual_value`: see `offline.certificate`.
    conflict : Conflict or None
        The proof that the constraints cannot be met, if they cannot: then the status is "infeasible", the value is NaN,
        and `occupancy` comes as close to meeting them as any.

    Examples
    --------
    >>> from equipoise.models import bandit
    >>> from equipoise.rewards import Linear
    >>> best = solve(bandit(2), Linear([0.25, 0.75]))
    >>> best.status, round(best.value, 6), best.occupancy.round(6).tolist(), best.policy().round(6).tolist()
    ('optimal', 0.75, [0.0, 1.0], [0.0, 1.0])
    >>> best.value <= best.dual_value, best.gap == best.dual_value - best.value
    (True, True)
    """

    value: float
    occupancy: Vector
    outcomes: Vector
    theta: Vector
    gain: float
    bias: Vector
    dual_value: float
    gap: float
    status: str
    residual: float
    residual_l1: float
    tolerance: float
    solver: str
    method: str
    seconds: float
    model: Model
    reward: Reward
    multipliers: dict[str, float] = field(default_factory=dict)
    violations: dict[str, float] = field(default_factory=dict)
    terms: tuple[certificate.Term, ...] = ()
    conflict: Conflict | None = None

    def policy(self) -> Vector:
        """Return x(s,a) / sum_a x(s,a) for every pair, uniform in states that are never visited.

        In a communicating model whose optimum splits into several recurrent classes, following this
        policy does *not* attain the value: it ends in one of the classes and stays there. And a solver
        leaves out what is visited less than once in 1e9 steps or so, where this policy then errs about.
        See `agent` and `best_stationary`.
        """
        return occupancy_policy(self.model, self.occupancy)

    def agent(self, space: Space) -> Optimum:
        """Make an agent that plays this optimum.

        Where the optimum has several recurrent classes, the agent plays them in turns, in rounds that grow with time,
        so that its averages approach `outcomes` in every communicating model. Its `save_policy` writes these turns as
        a table.

        Parameters
        ----------
        space : Space
            The space of the model, such as ``model.space``.

        Returns
        -------
        Optimum
            An agent that has taken no step.

        Raises
        ------
        EquipoiseError
            When the space is not that of the model, or no occupancy was found.

        Examples
        --------
        >>> import equipoise as eq
        >>> model, reward = eq.models.star(branches=3, diameter=4), eq.rewards.Balance([0.5, 0.25, 0.25])
        >>> best = eq.solve(model, reward)
        >>> run = eq.simulate(model, best.agent(model.space), 100_000)
        >>> bool(run.regret(best)[-1] < 0.02)
        True
        """
        from equipoise.agents.optimum import Optimum  # a higher layer: the only exception in pyproject.toml

        return Optimum(space, self.reward, self.model, self.occupancy, self.theta)

    def save_policy(self, path: str | os.PathLike[str]) -> Path:
        """Write `policy` as a table with labels, to be followed elsewhere: state, action, probability, visited.

        Parameters
        ----------
        path : path
            The file; its ending says what it is: .parquet, .csv or .json. The last also says why following one policy
            indefinitely does not attain the optimum, where that is so.

        Examples
        --------
        >>> import tempfile
        >>> from equipoise.models import riverswim
        >>> from equipoise.rewards import Linear
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = solve(riverswim(3), Linear([1.0])).save_policy(f"{folder}/policy.csv")
        ...     print(file.read_text().splitlines()[0])
        state,action,probability,visited
        """
        from equipoise.offline.export import write_policy

        return write_policy(path, self.model, self.policy(), self.occupancy)

    def surplus_at_most(self, steps: int, delta: float = 0.05) -> float:
        r"""By how much the average of a finite run may exceed the optimum, whatever its policy is.

        The optimum bounds averages in the long run. In a finite run luck, and the state in which it began, may be worth
        more. With probability 1 - delta, at all times T at once,

            g(w_T) - sum_j lambda_j max(0, level_j - h_j(w_T))  <=  optimum + surplus(T),

        w_T the average of the first T outcomes and lambda_j the `multipliers` (none without constraints).

        Parameters
        ----------
        steps : int
            T.
        delta : float
            The probability that it fails at some time.

        Raises
        ------
        ParameterError
            When the status is not "optimal".

        Notes
        -----
        With r = -theta.v, the proof of `dual_value` says that the left side is at most dual_value - gain - theta.w_T,
        and r(s,a) <= gain + gamma(s) - p.gamma at every pair. Summed over the steps,

            T (-theta.w_T - gain)  <=  gamma(s_1) - gamma(s_{T+1}) + M_T,

        M_T a martingale whose differences, gamma(s_{t+1}) - theta.V_t less its mean, lie in intervals of length
        c = span(gamma) + ||theta||_1. By the inequality of Azuma and Hoeffding, M_T exceeds c sqrt(T log(T (T + 1) /
        delta) / 2) with a probability of at most delta / (T (T + 1)), and these sum to delta. So

            surplus(T) = gap + span(gamma) / T + c sqrt(log(T (T + 1) / delta) / (2 T)),

        where the gap has what the violations of the occupancy cost.

        Examples
        --------
        >>> from equipoise.models import ring
        >>> from equipoise.rewards import Linear
        >>> best = solve(ring(4), Linear([1.0]))
        >>> best.surplus_at_most(100) > best.surplus_at_most(10_000) > 0.0
        True
        """
        if self.status != "optimal":
            raise ParameterError(f"surplus_at_most: nothing is proven of the optimum, as its status is {self.status!r}")
        T = check_count(steps, "steps", 1, error=ParameterError)
        level = check_float(delta, "delta", error=ParameterError)
        if not 0.0 < level < 1.0:
            raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
        gap = max(0.0, self.gap)
        if isinstance(self.reward, Constrained):
            gap += float(self.reward.price @ list(self.violations.values()))
        span = float(np.ptp(self.bias))
        width = span + float(np.abs(self.theta).sum())
        return gap + span / T + width * math.sqrt((math.log(T) + math.log1p(T) - math.log(level)) / (2.0 * T))

    @property
    def prices(self) -> dict[str, float]:
        """What a little more of each outcome is worth at the optimum: -theta, by the names of the outcomes."""
        return dict(zip(self.model.space.outcome_names(), (-self.theta).tolist(), strict=True))

    def frame(self) -> polars.DataFrame:
        """Return the optimum as a table, one row per pair in their order: what to do where, and how often.

        The columns are state, action (their labels, or else their numbers), occupancy, probability (of the action
        in its state: `policy`), and one per outcome with its mean for that pair.

        Examples
        --------
        >>> from equipoise.models import star
        >>> from equipoise.rewards import Balance
        >>> best = solve(star(branches=2, diameter=2), Balance([0.75, 0.25]))
        >>> best.frame().filter(best.frame()["occupancy"] > 0.01).select("state", "action", "loop 0").rows()
        [('end 0', 'loop', 1.0), ('end 1', 'loop', 0.0)]
        """
        return occupancy_frame(self.model, self.occupancy)

    def __repr__(self) -> str:
        if self.conflict is not None:
            return f"Benchmark(infeasible: {self.conflict})"
        return (
            f"Benchmark({self.status}: value={self.value:.9g}, dual_value={self.dual_value:.9g}, "
            f"gap={self.gap:.1e}, residual={self.residual:.1e}, {named_outcomes(self.model, self.outcomes)}"
            f"{self.solver}, {self.seconds:.2f} s)"
        )


def solve(
    model: Model,
    reward: Reward,
    tolerance: float = 1e-6,
    *,
    method: str | None = None,
    progress: bool | None = None,
) -> Benchmark:
    """Solve the offline program (P_M), and check the answer without the solver.

    Parameters
    ----------
    model : Model
        A communicating one.
    reward : Reward
        For as many outcomes as the model has. If it changes with time, the limit is solved for;
        ``reward.at(t)`` is the one of time t. For a `Constrained` one the constrained program is solved, whatever its
        prices are; that of the penalised reward is the program of its `penalised`.
    tolerance : float
        The gap, in units of g, up to which the status is "optimal"; and what a constraint may be violated by.
    method : {"columns", "program"}, optional
        "columns" finds policies one by one and mixes them, which is linear in the size of the model; "program" gives
        all pairs to a solver at once, as good for small models and better with about as many outcomes as states.
        None: whichever is expected to be faster, and the other one if its answer fails the check.
    progress : bool, optional
        A line on stderr that says what is being done; by default on a terminal, when it takes longer than a second.

    Returns
    -------
    Benchmark
        Look at its `status`: an answer that could not be certified is returned, and labelled so. Constraints that
        cannot be met give the status "infeasible", with a proof that names those in conflict.

    Raises
    ------
    ModelError
        When the model is not communicating.
    RewardError
        When the reward is for another number of outcomes.
    SolverError
        When no solver gave any point at all.

    See Also
    --------
    equipoise.solve_knapsack : The same under budgets.
    equipoise.best_stationary : What a single stationary policy reaches.
    equipoise.frontier : The best achievable trade-offs of two or three outcomes.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Quadratic
    >>> best = solve(star(branches=3, diameter=4), Quadratic([1 / 3, 1 / 3, 1 / 3]))
    >>> best.status, round(best.value, 6), best.outcomes.round(4).tolist()
    ('optimal', 1.0, [0.3333, 0.3333, 0.3333])
    """
    began = time.perf_counter()
    tolerance = check_call(model, tolerance)
    if not isinstance(reward, Reward):
        raise ParameterError(f"reward: got {type(reward).__name__}; a Reward is needed")
    if reward.n_outcomes != model.n_outcomes:
        raise RewardError(f"reward: it is for {reward.n_outcomes} outcomes; the model has {model.n_outcomes}")
    problem = Problem.of(reward)
    with progress_display("offline program", wanted=progress) as display:
        solution = find_solution(model, problem, tolerance, method, display)
    return make_benchmark(model, reward, solution, tolerance, began)


class Solution(NamedTuple):
    """The best checked answer to a problem, what is said of it, and the conflict if there is no feasible one."""

    answer: Answer
    status: str
    conflict: Conflict | None = None


def find_solution(model: Model, problem: Problem, tolerance: float, method: str | None, display: Progress) -> Solution:
    """Solve a problem, or prove that its constraints are in conflict; the best of all methods that are tried."""
    pool = Pool(model)
    best: Solution | None = None
    failures: list[str] = []
    sought = not problem.constraints
    # Where the constraints leave no room at all, solvers fail; lowered by part of the tolerance, they leave some.
    for lower in (0.0, 0.5 * tolerance) if problem.constraints else (0.0,):
        for answer in try_methods(pool, problem, tolerance, method, lower, display.tell):
            if isinstance(answer, SolverError):
                failures.append(str(answer))
            else:
                if best is None or _residual(answer, problem) < _residual(best.answer, problem):
                    best = Solution(answer, judge(answer, problem, tolerance))
                if best.status == "optimal":
                    return best
            if not sought:  # before a second method is tried, which may take far longer than the first
                sought = True
                display.tell("looking for constraints in conflict")
                found = find_conflict(pool, problem.constraints, tolerance, method)
                if found is not None:
                    conflict, closest = found
                    return Solution(closest, "infeasible", conflict)
    if best is None:
        raise SolverError("; ".join(failures))
    return best


def judge(answer: Answer, problem: Problem, tolerance: float) -> str:
    """Say in words whether an answer is optimal, or what is wrong with it."""
    primal, dual = answer.primal, answer.dual
    if problem.constraints:
        violations = problem.violations(primal.outcomes)
        worst = int(violations.argmax())
        if violations[worst] > tolerance:
            name = constraint_names(problem.constraints)[worst]
            return f"{name!r} is violated by {violations[worst]:.2g}: above tolerance {tolerance:.2g}"
        bought = float(np.array([term.weight for term in answer.terms[1:]]) @ violations)
        if bought > tolerance:
            return f"violations that may add {bought:.2g} to the value: above tolerance {tolerance:.2g}"
    extra = certificate.slack(dual.bias, primal.residual_l1)
    return certificate.verdict(answer.gap, extra, primal.residual_l1, tolerance)


def _residual(answer: Answer, problem: Problem) -> float:
    """How far an answer is from an optimum: the gap, the flow residual, and the violations."""
    primal = answer.primal
    off = primal.residual_l1 + certificate.slack(answer.dual.bias, primal.residual_l1)
    return abs(answer.gap) + off + float(problem.violations(primal.outcomes).sum())


def make_benchmark(model: Model, reward: Reward, solution: Solution, tolerance: float, began: float) -> Benchmark:
    """What is returned of a solution; of one that is infeasible, the occupancy closest to meeting the constraints."""
    answer, conflict, problem = solution.answer, solution.conflict, Problem.of(reward)
    primal, names = answer.primal, constraint_names(problem.constraints)
    if conflict is None:
        value, dual_value, theta = primal.value, answer.dual.value, answer.dual.theta
        gain, bias = answer.dual.gain, answer.dual.bias
        terms = answer.terms if names else ()
        multipliers = dict(zip(names, (term.weight for term in terms[1:]), strict=True))
    else:
        value = dual_value = math.nan
        theta, gain, bias = certificate.sum_thetas(conflict.terms, model.n_outcomes), conflict.gain, conflict.bias
        terms, multipliers = (), dict.fromkeys(names, 0.0) | conflict.multipliers
    return Benchmark(
        value=value,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        theta=theta,
        gain=gain,
        bias=bias,
        dual_value=dual_value,
        gap=dual_value - value,
        status=solution.status,
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=answer.solver,
        method=method_name(answer.solver),
        seconds=time.perf_counter() - began,
        model=model,
        reward=reward,
        multipliers=multipliers,
        violations=dict(zip(names, problem.violations(primal.outcomes).tolist(), strict=True)),
        terms=terms,
        conflict=conflict,
    )


def check_call(model: Model, tolerance: float) -> float:
    """Check what every offline program needs: a communicating model and a positive tolerance."""
    if not isinstance(model, Model):
        raise ParameterError(f"model: got {type(model).__name__}; a Model is needed")
    try:
        tolerance = checked_number(tolerance, "tolerance", 0.0)
    except RewardError as error:
        raise ParameterError(str(error)) from None
    model.require_communicating()
    return tolerance
