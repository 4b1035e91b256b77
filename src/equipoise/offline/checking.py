r"""Checked answers to the offline program with constraints: both bounds recomputed from what a solver says.

For multipliers lambda_j >= 0, any vectors theta_0, theta_j and any bias gamma, every feasible x has

    g(Vx)  <=  g(Vx) + sum_j lambda_j (h_j(Vx) - level_j)
           <=  g*(theta_0) + sum_j lambda_j (h_j*(theta_j) - level_j) + phi,

phi the bound on the gain of the scores -(theta_0 + sum_j lambda_j theta_j).v that gamma proves, as computed by
`certificate.split_bound`. No solver is needed to check it. An occupancy that violates the constraints by s_j may have a
value above this, by sum_j lambda_j s_j at most. Without an objective the same holds of the least h_j(Vx) - level_j, for
multipliers of sum 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from equipoise.errors import SolverError
from equipoise.models.model import Model
from equipoise.offline import certificate
from equipoise.offline.certificate import Dual, Primal, Term
from equipoise.offline.choosing import order
from equipoise.offline.columns import COLUMNS, Pool
from equipoise.offline.problem import Problem, SplitClaim, terms_of
from equipoise.offline.split_columns import split_by_columns
from equipoise.offline.split_program import split_methods


class Answer(NamedTuple):
    """A claim that was checked.

    Attributes
    ----------
    primal : Primal
        The occupancy and its value.
    dual : Dual
        The bound.
    terms : tuple of Term
        Its proof.
    solver : str
        Who made the claim.
    """

    primal: Primal
    dual: Dual
    terms: tuple[Term, ...]
    solver: str

    @property
    def gap(self) -> float:
        """Between the bounds."""
        return self.dual.value - self.primal.value


def answers(
    pool: Pool,
    problem: Problem,
    tolerance: float,
    method: str | None,
    lower: float = 0.0,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Answer | SolverError]:
    """Yield checked answers, or what went wrong, one way after the other, the best first.

    Parameters
    ----------
    pool : Pool
        Of the model: columns that were found for another problem serve again.
    problem : Problem
        What is maximised and met.
    tolerance : float
        Of the gap.
    method : {"columns", "program"} or None
        As for `solve`.
    lower : float
        By how much the levels are lowered for the solvers; the check has them as they are.
    tell : callable, optional
        Told what is being done.
    """
    model, eased, finer = pool.model, problem.eased(lower), max(tolerance / 10.0, certificate.FINEST)
    for name in order(model, problem.piecewise_linear, method):
        ways: list[Callable[[], SplitClaim]]
        if name == COLUMNS:
            ways = [lambda: split_by_columns(pool, eased, finer)]
        else:
            ways = [lambda way=way: way(model, eased, finer) for way in split_methods(problem)]  # type: ignore[misc]
        for way in ways:
            if tell is not None:
                tell(f"solving the constrained program ({name})")
            try:
                claim = way()
            except SolverError as error:
                yield error
                continue
            if tell is not None:
                tell(f"checking the answer of {claim.solver}")
            yield checked(model, problem, claim, tolerance)


def checked(model: Model, problem: Problem, claim: SplitClaim, tolerance: float) -> Answer:
    """Recompute both bounds from a claim: the value of the occupancy, and the best of the bounds that it points to.

    Parameters
    ----------
    model : Model
        The world.
    problem : Problem
        What is maximised and met.
    claim : SplitClaim
        Whoever made it.
    tolerance : float
        A gap well below it is not improved.
    """
    margin = tolerance * (certificate.COLUMN_MARGIN if claim.solver == COLUMNS else certificate.MARGIN)
    x, w, largest, total = certificate.measure(model, claim.occupancy)
    primal = Primal(x, w, problem.value(w), largest, total)
    best: tuple[Dual, tuple[Term, ...]] | None = None
    for smooth_at in (None, w):
        terms = terms_of(problem, claim.multipliers, claim.slopes, smooth_at)
        bound = certificate.split_bound(model, terms, claim.bias, primal, margin)
        if best is None or bound.value < best[0].value:
            best = bound, terms
        if best[0].value - primal.value <= 2.0 * margin:
            break
    assert best is not None
    return Answer(primal, best[0], best[1], claim.solver)
