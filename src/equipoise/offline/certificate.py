r"""A check of an offline solution that asks no solver: any theta and any bias give an upper bound.

Upper bound. Take any theta and any gamma, write r(s,a) = -theta.v(s,a) and

    phi = max over (s,a) of  r(s,a) + sum_s' p(s'|s,a) gamma(s') - gamma(s).

Then (theta, phi, gamma) satisfies the constraints of the dual (D_M), and for every occupancy x

    g(Vx) <= g*(theta) - theta.Vx <= g*(theta) + phi,                                   (weak duality)

so ``dual_value = g*(theta) + phi`` is at least opt(P_M), whatever theta and gamma are. The best gamma for a
theta comes from value iteration on the scalar rewards r, with half steps because the model may be periodic:
each sweep can only lower phi, and it may be stopped anywhere. (theta need not have dual norm at most L: the
conjugate is over the box and always finite.)

Lower bound. The occupancy is clipped at zero and scaled to sum 1, and its outcomes, its value and its
flow residual rho(s) = flow out - flow in are computed again. If rho is not zero, x is no true occupancy, and

    g(Vx) <= dual_value + gamma.rho <= dual_value + span(gamma) |rho|_1 / 2             (rho sums to zero)

bounds what the residual may add to the value: that is `slack`. The other way round, the flow that is missing
can be carried from where there is too much to where there is too little in D steps on average, so there is
a true occupancy whose value is at least g(Vx) - L |1_K| D |rho|_1 / 2.

Several rewards at once. For weights c_i >= 0 and any theta_i, theta = sum_i c_i theta_i, adding up weak duality gives

    sum_i c_i (g_i(Vx) - level_i) <= sum_i c_i (g_i*(theta_i) - level_i) + phi      for every occupancy x,

each conjugate by itself: `dual_bound`. So every constraint adds a term: for multipliers lambda_j >= 0, any vectors
theta_0, theta_j and any bias gamma, every occupancy that meets the constraints has

    g(Vx)  <=  g(Vx) + sum_j lambda_j (h_j(Vx) - level_j)
           <=  g*(theta_0) + sum_j lambda_j (h_j*(theta_j) - level_j) + phi.

An occupancy that violates the constraints by s_j may have a value above this, by sum_j lambda_j s_j at most. Without an
objective the same holds of the least h_j(Vx) - level_j, for multipliers of sum 1.

"optimal" therefore means: dual_value - value is at most the tolerance, and neither the slack nor |rho|_1 is
above it. All of this is floating-point arithmetic: it is exact up to rounding, about 1e-15 of what is added up, the
values of g and of theta.v and span(gamma).

Where the maximiser of a conjugate is found by iteration, its value is too small by what the iteration lacks. Then g* is
bounded by tangents (`Reward.conjugate_bound`): never too small, and where it is too large the gap stays open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from equipoise._runtime.compiler import kernel
from equipoise._types import Vector
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.rewards.base import Reward

MARGIN: Final = 1e-2  # part of the tolerance: a gap below it is small enough to stop improving the bounds
COLUMN_MARGIN: Final = 0.2  # the same, for an answer that was found by columns
FINEST: Final = 1e-10  # the smallest tolerance that iterative methods are given; rounding stops them at finer ones
SPAN: Final = 1e-9  # value iteration stops at this span
_WORK: Final = 2e8  # sweeps times successors that one bound may cost
_FIRST_CHUNK: Final = 64


class Primal(NamedTuple):
    """An occupancy, made non-negative and of sum 1, and what follows from it."""

    occupancy: Vector
    outcomes: Vector
    value: float
    residual: float
    residual_l1: float


class Dual(NamedTuple):
    """An upper bound on opt(P_M) with its proof: (theta, gain, bias) is feasible for (D_M)."""

    theta: Vector
    gain: float
    bias: Vector
    value: float
    sweeps: int


class Term(NamedTuple):
    """One of the rewards that a bound adds up."""

    weight: float
    reward: Reward
    theta: Vector
    level: float = 0.0


def measure(model: Model, occupancy: ArrayLike) -> tuple[Vector, Vector, float, float]:
    """Clip and scale an occupancy; return it, its outcomes, and its residual's largest entry and l1 norm."""
    x = np.array(occupancy, dtype=np.float64)
    if x.shape != (model.n_pairs,) or not np.isfinite(x).all():
        raise ParameterError(f"occupancy: got shape {x.shape}; {model.n_pairs} finite numbers are needed, one a pair")
    x = np.maximum(x, 0.0)
    if not x.sum() > 0.0:
        raise ParameterError("occupancy: no entry is positive")
    x /= x.sum()
    # not by the matrix of the flow constraints, which a large model has no room for beside its own
    rho = np.abs(np.bincount(model.state_of, x, minlength=model.n_states) - model.transitions().T @ x)
    return x, np.clip(model.mean_rows.T @ x, 0.0, 1.0), float(rho.max()), float(rho.sum())


def gain_bound(model: Model, scores: ArrayLike, bias: ArrayLike) -> float:
    """An upper bound on the average score of every policy: max of score + p.bias - bias, for any bias."""
    gamma = np.asarray(bias, dtype=np.float64)
    return float((np.asarray(scores) + model.transitions() @ gamma - gamma[model.state_of]).max())


def optimal_gain(
    model: Model, scores: Vector, bias: Vector | None = None, enough: float = -np.inf
) -> tuple[float, Vector, int]:
    """Bound the largest average score from above, by value iteration with relaxed steps."""
    zero = np.zeros(model.n_states)
    starts = [zero] if bias is None or not np.isfinite(bias).all() else [bias - bias.min(), zero]
    gain, best = min(((gain_bound(model, scores, start), start) for start in starts), key=lambda one: one[0])
    if gain <= enough:
        return gain, best, 0
    current, after = best.copy(), np.empty(model.n_states)
    limit = int(max(200, _WORK / model.transition_state.size))
    done, chunk, reached = 0, _FIRST_CHUNK, False
    while not reached and done < limit and gain > enough:
        reached = iterate(
            model.first_pair, model.transition_first, model.transition_state, model.transition_probability,
            scores, SPAN, chunk, current, after,
        )  # fmt: skip
        done += chunk
        chunk *= 2
        bound = gain_bound(model, scores, current)
        if bound < gain:
            gain, best = bound, current - current.min()
    return gain, best, done


def dual_bound(
    model: Model,
    terms: Sequence[Term],
    bias: ArrayLike | None = None,
    primal: Primal | None = None,
    margin: float = SPAN,
) -> Dual:
    """An upper bound on the sum of weight (reward - level) over all occupancies, from any thetas."""
    theta, total = (
        sum_thetas(terms, model.n_outcomes),
        sum_conjugates(terms, None if primal is None else primal.outcomes),
    )
    scores = np.ascontiguousarray(-(model.mean_rows @ theta))
    enough = -np.inf if primal is None else float(scores @ primal.occupancy) + margin
    start = None if bias is None else np.array(bias, dtype=np.float64)
    gain, gamma, sweeps = optimal_gain(model, scores, start, enough)
    return Dual(theta, gain, gamma, total + gain, sweeps)


def sum_thetas(terms: Sequence[Term], n_outcomes: int) -> Vector:
    """The theta of the scalar problem in a bound: the sum of weight times theta."""
    theta: Vector = sum((term.weight * term.theta for term in terms), np.zeros(n_outcomes))
    return theta


def sum_conjugates(terms: Sequence[Term], near: Vector | None = None) -> float:
    """What a bound adds to the gain: the sum of weight (g*(theta) - level), each g* bounded from above."""
    points = () if near is None else (near,)
    return math.fsum(t.weight * (t.reward.conjugate_bound(t.theta, *points) - t.level) for t in terms if t.weight)


def slack(bias: Vector, residual_l1: float) -> float:
    """What a flow residual may add to a value beyond the dual bound: span(bias) |rho|_1 / 2."""
    return float(np.ptp(bias)) * residual_l1 / 2.0


def verdict(gap: float, extra: float, residual_l1: float, tolerance: float) -> str:
    """Put the check in words: "optimal", or what is wrong."""
    if residual_l1 > tolerance or extra > tolerance:
        return (
            f"flow residual {residual_l1:.2g} (l1), which may add {extra:.2g} to the value: "
            f"above tolerance {tolerance:.2g}"
        )
    if gap > tolerance:
        return f"gap {gap:.2g} above tolerance {tolerance:.2g}"
    if gap < -tolerance or not np.isfinite(gap):
        return f"gap {gap:.2g}: the value exceeds its upper bound"
    return "optimal"


@kernel
def iterate(first_pair, first, successor, probability, scores, tolerance, limit, u, after):  # type: ignore[no-untyped-def]
    """Value iteration with half steps, in place; True if the span of Tu - u came down to the tolerance."""
    n_states = u.shape[0]
    for _ in range(limit):
        largest = -np.inf
        smallest = np.inf
        for s in range(n_states):
            best = -np.inf
            for pair in range(first_pair[s], first_pair[s + 1]):
                total = scores[pair]
                for i in range(first[pair], first[pair + 1]):
                    total += probability[i] * u[successor[i]]
                best = max(best, total)
            after[s] = best
            largest = max(largest, best - u[s])
            smallest = min(smallest, best - u[s])
        if largest - smallest <= tolerance:
            return True
        base = np.inf
        for s in range(n_states):
            u[s] = 0.5 * (u[s] + after[s])
            base = min(base, u[s])
        for s in range(n_states):
            u[s] -= base
    return False
