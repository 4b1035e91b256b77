r"""Constraints that cannot be met together: how many of them, by how much, and the proof.

For multipliers lambda of sum 1, any vectors theta_j and any bias,

    min over j of h_j(Vx) - level_j  <=  sum_j lambda_j (h_j*(theta_j) - level_j) + phi      for every occupancy x,

(see `certificate`), and where the right side is negative, no policy meets all constraints: each of those with
lambda_j > 0 would have to give by that much at least, if all gave alike. From these, one after the other is left out as
long as the others cannot be met either: what remains is a conflict from which none can be left out. If one alone gave,
it would have to fall to the largest h_j that the others allow, which is a constrained program of its own, and is
bounded by its certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.offline.certificate import Term
from equipoise.offline.columns import Pool
from equipoise.offline.methods import Answer, try_methods
from equipoise.offline.problem import Problem
from equipoise.rewards.constrained import Constraint, constraint_names

_ROUNDING: Final = 1e-12  # of a bound, relative: one that is not further below zero proves nothing


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
        The proof: multipliers (of sum 1), functions, vectors and levels, for `certificate.dual_bound`, which makes
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


def find_conflict(
    pool: Pool, constraints: Sequence[Constraint], tolerance: float, method: str | None = None
) -> tuple[Conflict, Answer] | None:
    """Find constraints that cannot be met together and of which none can be left out; None if nothing is proven."""
    named = list(zip(constraint_names(constraints), constraints, strict=True))
    everything = _closest(pool, constraints, tolerance, method)
    if everything is None or not _cannot_be_met(everything):
        return None
    kept = [one for one, term in zip(named, everything.terms, strict=True) if term.weight > 0.0]
    answer = everything._replace(terms=tuple(term for term in everything.terms if term.weight > 0.0))
    for one in list(kept):
        others = [other for other in kept if other is not one]
        fewer = _closest(pool, [other for _, other in others], tolerance, method) if others else None
        if fewer is not None and _cannot_be_met(fewer):
            answer, kept = fewer, others
    short_by = -answer.dual.value
    conflict = Conflict(
        names=tuple(name for name, _ in kept),
        short_by=short_by,
        each_alone={
            name: max(short_by, _gives_alone(pool, one, kept, tolerance, method)) if len(kept) > 1 else short_by
            for name, one in kept
        },
        terms=answer.terms,
        gain=answer.dual.gain,
        bias=answer.dual.bias,
    )
    return conflict, everything


def _closest(pool: Pool, constraints: Sequence[Constraint], tolerance: float, method: str | None) -> Answer | None:
    """How close a policy comes to meeting all constraints, with the proof that none comes closer."""
    return _tightest(pool, Problem(None, tuple(constraints)), tolerance, method)


def _gives_alone(
    pool: Pool, one: Constraint, kept: Sequence[tuple[str, Constraint]], tolerance: float, method: str | None
) -> float:
    """By how much a constraint must give at least if it alone gives: its level less the best that the others allow."""
    others = tuple(other for _, other in kept if other is not one)
    answer = _tightest(pool, Problem(one.function, others), tolerance, method)
    return 0.0 if answer is None else one.at_least - answer.dual.value


def _tightest(pool: Pool, problem: Problem, tolerance: float, method: str | None) -> Answer | None:
    """The answer with the least bound; the first whose gap is within the tolerance will do."""
    best: Answer | None = None
    for answer in try_methods(pool, problem, tolerance, method):
        if isinstance(answer, SolverError):
            continue
        if best is None or answer.dual.value < best.dual.value:
            best = answer
        if best.gap <= tolerance:
            break
    return best


def _cannot_be_met(answer: Answer) -> bool:
    """Whether the bound is below zero by more than the rounding of what it is the sum of."""
    size = float(np.ptp(answer.dual.bias))
    for term in answer.terms:
        size += term.weight * (abs(term.level) + term.reward.lipschitz + float(np.abs(term.theta).sum()))
    return answer.dual.value < -_ROUNDING * size
