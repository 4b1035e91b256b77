"""opt(P_M), the benchmark that regret is measured against, with its dual certificate.

`solve` asks for a solution, by columns or by a program (see `choosing`), and then checks what it is told (see
`certificate`): value and dual_value are recomputed from the occupancy and from theta. If they do not agree to the
tolerance, other ways are tried; what is returned is the best checked answer, and its `status` says whether it is good.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from equipoise._progress import progress_display
from equipoise._types import Vector
from equipoise.errors import ParameterError, RewardError, SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.choosing import method_of, ways
from equipoise.offline.columns import COLUMNS
from equipoise.offline.occupancy import named_outcomes, occupancy_frame
from equipoise.offline.policies import policy_of
from equipoise.offline.program import Claim
from equipoise.rewards.base import Reward, checked_number
from equipoise.rewards.constrained import Constrained

if TYPE_CHECKING:
    import polars

    from equipoise.offline.conflict import Conflict


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Benchmark:
    """The offline optimum of a model and a reward, and the proof of it.

    Attributes
    ----------
    value : float
        g(outcomes), recomputed: opt(P_M) from below, up to what `residual_l1` may add.
    occupancy : numpy.ndarray
        x*, one number a pair: non-negative, of sum 1.
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
        For a `Constrained` reward, the proof of `dual_value`: see `offline.constrained`.
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
        See `best_stationary`.
        """
        return policy_of(self.model, self.occupancy)

    def save_policy(self, path: str | os.PathLike[str]) -> Path:
        """Write `policy` as a table with labels, to be followed elsewhere: state, action, probability, visited.

        Parameters
        ----------
        path : path
            The file; its ending says what it is: .parquet, .csv or .json. The last also says why following one policy
            for ever may not do, where that is so.

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
        from equipoise.offline.deploying import write_policy

        return write_policy(path, self.model, self.policy(), self.occupancy)

    @property
    def prices(self) -> dict[str, float]:
        """What a little more of each outcome is worth at the optimum: -theta, by the names of the outcomes."""
        return dict(zip(self.model.space.outcome_names(), (-self.theta).tolist(), strict=True))

    def frame(self) -> polars.DataFrame:
        """Return the optimum as a table, one row a pair in their order: what to do where, and how often.

        The columns are state, action (their labels, or else their numbers), occupancy, probability (of the action
        in its state: `policy`), and one an outcome with its mean for that pair.

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
    equipoise.frontier : What can be had of two or three outcomes at once.

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
    best: Benchmark | None = None
    failures: list[str] = []
    with progress_display("offline program", wanted=progress) as display:
        if isinstance(reward, Constrained):
            from equipoise.offline.constrained import solve_constrained

            return solve_constrained(model, reward, tolerance, method, began, display)
        for way in ways(model, reward, method):
            display.tell(f"solving the offline program ({way.__name__.removeprefix('by_')})")
            try:
                claim = way(model, reward, max(tolerance / 10.0, certificate.FINEST))
            except SolverError as error:
                failures.append(str(error))
                continue
            display.tell(f"checking the answer of {claim.solver}")
            answer = check(model, reward, claim, tolerance, began)
            if best is None or (_badness(answer) < _badness(best)):
                best = answer
            if best.status == "optimal":
                break
    if best is None:
        raise SolverError("; ".join(failures))
    return best


def check(model: Model, reward: Reward, claim: Claim, tolerance: float, began: float | None = None) -> Benchmark:
    """Recompute both bounds from what a solver claims, and say in the status whether they meet."""
    began = time.perf_counter() if began is None else began
    # Columns are added until the gap is a tenth of the tolerance; a sweep of a large model is too dear for a nicer one.
    margin = tolerance * (certificate.COLUMN_MARGIN if claim.solver == COLUMNS else certificate.MARGIN)
    primal = certificate.primal_point(model, reward, claim.occupancy)
    dual: certificate.Dual | None = None
    for theta in certificate.candidates(reward, primal, claim.thetas):
        bound = certificate.dual_bound(model, reward, theta, claim.bias, primal, margin)
        if dual is None or bound.value < dual.value:
            dual = bound
        if dual.value - primal.value <= 2.0 * margin:
            break
    assert dual is not None
    gap = dual.value - primal.value
    extra = certificate.slack(dual.bias, primal.residual_l1)
    return Benchmark(
        value=primal.value,
        occupancy=primal.occupancy,
        outcomes=primal.outcomes,
        theta=dual.theta,
        gain=dual.gain,
        bias=dual.bias,
        dual_value=dual.value,
        gap=gap,
        status=certificate.verdict(gap, extra, primal.residual_l1, tolerance),
        residual=primal.residual,
        residual_l1=primal.residual_l1,
        tolerance=tolerance,
        solver=claim.solver,
        method=method_of(claim.solver),
        seconds=time.perf_counter() - began,
        model=model,
        reward=reward,
    )


def _badness(answer: Benchmark) -> float:
    return abs(answer.gap) + answer.residual_l1 + certificate.slack(answer.bias, answer.residual_l1)


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
