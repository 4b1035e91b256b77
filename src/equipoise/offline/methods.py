"""Which method solves an offline problem, in which order they are tried, and the check of what they claim.

Columns (see `columns`) cost some plans, each linear in the number of transitions, and a small problem in K numbers
after each. A program (see `program`) costs a factorisation of all flow constraints at each of some twenty iterations:
next to nothing for a small model, and on a random one about the square of S. So columns are chosen from `_PAIRS` pairs
on, with three exceptions, all measured by `benchmarks.solving`:

- *Thin worlds.* On a line, a star, a queue of one class, factorisations are linear in S, and news takes S sweeps to go
  from one end to the other. Where all functions are piecewise linear, that goes for somewhat wider worlds too.
- *A g with kinks* takes about 8 K plans instead of 6 to 20, so that it takes more pairs for columns to pay.
- *Many outcomes, most of them 0.* With one outcome per state, maximum entropy above all, every state needs columns of
  its own, and a program has few entries. With as many that are not 0 it is the other way round.

Whatever solver made a claim, both bounds are recomputed from it (`check_claim`, by `certificate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from equipoise.errors import ParameterError, SolverError
from equipoise.models.model import Model
from equipoise.models.outcome_rows import entries
from equipoise.models.travel_times import breadth_first
from equipoise.offline import certificate
from equipoise.offline.certificate import Dual, Primal, Term
from equipoise.offline.columns import COLUMNS, Pool, by_columns
from equipoise.offline.problem import Claim, DualPoint, Problem, bound_terms
from equipoise.offline.program import program_methods

PROGRAM: Final = "program"
_PAIRS: Final = 2000  # with fewer, a program
_PAIRS_PER_OUTCOME: Final = 250  # with fewer, a program, if all is piecewise linear
_OUTCOMES: Final = 40  # with more of them, if no more than
_SPARSE: Final = 0.1  # of their means are not 0, a program
_WIDTH: Final = 10.0  # states at one distance from the start: with no more on average, a program;
_WIDTH_WITH_KINKS: Final = 25.0  # the same, if all is piecewise linear: the simplex method is quick on grids
_TOO_LARGE: Final = 100_000  # pairs above which no program is tried unless the world is thin: it would take hours


class Answer(NamedTuple):
    """A claim that was checked."""

    primal: Primal
    dual: Dual
    terms: tuple[Term, ...]
    solver: str

    @property
    def gap(self) -> float:
        """Between the bounds."""
        return self.dual.value - self.primal.value


def rank_methods(model: Model, kinks: bool, method: str | None) -> list[str]:
    """List the kinds of methods to try, "columns" and "program", best first."""
    if method not in (None, COLUMNS, PROGRAM):
        raise ParameterError(f"method: got {method!r}; {COLUMNS!r}, {PROGRAM!r} or None is needed")
    if method is not None:
        return [method]
    few = model.n_pairs < max(_PAIRS, _PAIRS_PER_OUTCOME * model.n_outcomes if kinks else 0)
    large, width = model.n_pairs > _TOO_LARGE, _WIDTH_WITH_KINKS if kinks else _WIDTH
    if few or (not large and _is_sparse(model)) or mean_width(model) <= width:
        return [PROGRAM, COLUMNS]
    return [COLUMNS] if large else [COLUMNS, PROGRAM]


def method_name(solver: str) -> str:
    """Which of the two a solver is."""
    return COLUMNS if solver == COLUMNS else PROGRAM


def mean_width(model: Model) -> float:
    """How many states there are at the same distance from the start, on average."""
    n = model.n_states
    order, distance = np.empty(n, np.int64), np.empty(n, np.int64)
    pointers = model.transition_first[model.first_pair]
    breadth_first(pointers, model.transition_state, model.start, order, distance)
    return float(n / (1 + distance.max()))


def _is_sparse(model: Model) -> bool:
    """Whether there are many outcomes, and hardly any that a pair has."""
    size = model.n_pairs * model.n_outcomes
    return model.n_outcomes > _OUTCOMES and int(np.count_nonzero(entries(model.mean_rows))) <= _SPARSE * size


def try_methods(
    pool: Pool,
    problem: Problem,
    tolerance: float,
    method: str | None,
    lower: float = 0.0,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Answer | SolverError]:
    """Yield checked answers, or what went wrong, one method after the other, the best first."""
    model, eased, finer = pool.model, problem.eased(lower), max(tolerance / 10.0, certificate.FINEST)
    for name in rank_methods(model, problem.piecewise_linear, method):
        solvers: list[Callable[[], Claim]]
        if name == COLUMNS:
            solvers = [partial(by_columns, pool, eased, finer)]
        else:
            solvers = [partial(solver, model, eased, finer) for solver in program_methods(eased)]
        for solver in solvers:
            if tell is not None:
                tell(f"solving the offline program ({name})")
            try:
                claim = solver()
            except SolverError as error:
                yield error
                continue
            if tell is not None:
                tell(f"checking the answer of {claim.solver}")
            yield check_claim(model, problem, claim, tolerance)


def check_claim(model: Model, problem: Problem, claim: Claim, tolerance: float) -> Answer:
    """Recompute both bounds from a claim: the value of the occupancy, and the best of the bounds that it points to."""
    # Columns are added until the gap is a tenth of the tolerance; a sweep of a large model is too dear for a nicer one.
    margin = tolerance * (certificate.COLUMN_MARGIN if claim.solver == COLUMNS else certificate.MARGIN)
    x, w, largest, total = certificate.measure(model, claim.occupancy)
    primal = Primal(x, w, problem.value(w), largest, total)
    candidates = [] if problem.is_linear else [bound_terms(problem, dual) for dual in claim.duals]
    if any(function.smoothness is not None for function in problem.functions):
        candidates.append(bound_terms(problem, claim.duals[0], w))
    finite = [terms for terms in candidates if all(np.isfinite(term.theta).all() for term in terms)]
    best: tuple[Dual, tuple[Term, ...]] | None = None
    for terms in finite or [bound_terms(problem, _zero_dual(problem))]:
        bound = certificate.dual_bound(model, terms, claim.bias, primal, margin)
        if best is None or bound.value < best[0].value:
            best = bound, terms
        if best[0].value - primal.value <= 2.0 * margin:
            break
    assert best is not None
    return Answer(primal, best[0], best[1], claim.solver)


def _zero_dual(problem: Problem) -> DualPoint:
    """A point of the dual that bounds any problem, where a solver gave none."""
    functions = problem.functions
    return DualPoint(np.eye(1, len(functions)).ravel(), [np.zeros(function.n_outcomes) for function in functions])
