r"""Kelley's cutting planes: concave functions over a hull of outcomes, each replaced by the least of its tangents.

    max  tau - price t   over   w = sum of shares_i outcomes_i,   shares >= 0,   equal shares = right,
         f(w) - level >= tau    for every function f with share 1,
         f(w) - level >= -t     for every function f with share 0,   t >= 0.

The hull is that of all occupancies of a model, or of a few outcome vectors. With no price the functions with share 0
are constraints, and t is 0. It is the way for functions that have no cvxpy expression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from equipoise._types import Vector
from equipoise.errors import SolverError
from equipoise.rewards.base import Reward

TIGHT: Final[dict[str, Any]] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
ROUNDS: Final = 400  # cuts of each function, at most


class Hull(NamedTuple):
    """What can be mixed, and how.

    Attributes
    ----------
    outcomes : float array
        One vector a row.
    equal, right : sparse array, float array
        The equations that shares meet.
    """

    outcomes: Vector
    equal: csr_array
    right: Vector


class Planes(NamedTuple):
    """A concave function that is replaced by the least of its tangents.

    Attributes
    ----------
    reward : Reward
        The function.
    level : float
        What is subtracted from it.
    share : float
        1 if it bounds tau, 0 if it is a constraint.
    """

    reward: Reward
    level: float
    share: float


class Cut(NamedTuple):
    """A tangent: no function is above height + slope.w.

    Attributes
    ----------
    function : int
        Of which.
    slope : float array
        A supergradient.
    height : float
        Its value at 0.
    """

    function: int
    slope: Vector
    height: float


class PlanesClaim(NamedTuple):
    """What cutting planes say.

    Attributes
    ----------
    shares : float array
        Of the vectors of the hull.
    multipliers : float array
        One a function.
    slopes : list of float array
        For each function its multiplier times a supergradient.
    duals : float array
        Multipliers of the hull's equations.
    """

    shares: Vector
    multipliers: Vector
    slopes: list[Vector]
    duals: Vector


def linear_program(*data: Any, **more: Any) -> Any:
    """Call `scipy.optimize.linprog` with HiGHS; here because its types do not know sparse arrays."""
    from scipy.optimize import linprog

    run: Any = linprog
    return run(*data, **more, method="highs")


def gradient_at(reward: Reward, w: Vector) -> Vector:
    """A supergradient at outcomes that rounding may have put a little outside of the box."""
    return reward.gradient(np.clip(w, 0.0, 1.0))


def hull_of(points: Vector) -> Hull:
    """The hull of a few vectors, one a row."""
    return Hull(points, csr_array(np.ones((1, points.shape[0]))), np.ones(1))


def cutting_planes(
    hull: Hull,
    functions: Sequence[Planes],
    start: Vector,
    tolerance: float,
    price: float = math.inf,
    cuts: list[Cut] | None = None,
) -> PlanesClaim:
    """Maximise tau - price t, by tangents at the solutions so far.

    Parameters
    ----------
    hull : Hull
        What is mixed.
    functions : sequence of Planes
        At least one with share 1.
    start : float array
        Outcomes at which the first tangents are taken.
    tolerance : float
        It ends when the tangents promise no more than that above the best mixture found, and no constraint is violated
        by more.
    price : float
        What a unit of the largest violation costs; infinite: none is allowed.
    cuts : list of Cut, optional
        Those that are known already, of the same functions over another hull; the new ones are added to it.

    Raises
    ------
    SolverError
        When the linear program of the tangents has no solution: without a price, when constraints cannot be met.

    Examples
    --------
    >>> from equipoise.rewards import BottomSum
    >>> found = cutting_planes(hull_of(np.eye(2)), [Planes(BottomSum(2, 1), 0.0, 1.0)], np.array([1.0, 0.0]), 1e-9)
    >>> found.shares.round(6).tolist(), found.slopes[0].round(6).tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    n = hull.outcomes.shape[0]
    equal = csr_array(hstack([hull.equal, csr_array((hull.right.size, 2))]))
    priced = price < math.inf
    cost = np.concatenate([np.zeros(n), [-1.0, price if priced else 0.0]])
    bounds = [(0, None)] * n + [(None, None), (0, None if priced else 0)]
    cuts = [] if cuts is None else cuts
    rows = [_row(hull, functions, cut) for cut in cuts]
    w = start
    best, kept, multipliers, duals = (-np.inf, -np.inf), None, np.zeros(0), np.zeros(0)
    for _ in range(ROUNDS):
        for i, one in enumerate(functions):
            slope = gradient_at(one.reward, w)
            cuts.append(Cut(i, slope, one.reward.value(w) - float(slope @ w)))
            rows.append(_row(hull, functions, cuts[-1]))
        levels = [cut.height - functions[cut.function].level for cut in cuts]
        relaxed = linear_program(cost, np.array(rows), np.array(levels), equal, hull.right, bounds, options=TIGHT)
        if relaxed.status != 0:
            raise SolverError(f"HiGHS: the cutting-plane program was not solved ({relaxed.message})")
        x = np.maximum(relaxed.x[:n], 0.0)
        w = np.clip(hull.outcomes.T @ x / x.sum(), 0.0, 1.0)
        multipliers = -np.array(relaxed.ineqlin.marginals)
        duals = -np.array(relaxed.eqlin.marginals)
        left = [(one.reward.value(w) - one.level, one.share) for one in functions]
        value = min(value for value, share in left if share > 0.0)
        lacking = min(0.0, min((value for value, share in left if share == 0.0), default=0.0))
        merit = (0.0, value + price * lacking) if priced else (min(0.0, lacking + tolerance), value)
        if merit > best:
            best, kept = merit, x
        if best[0] == 0.0 and -float(relaxed.fun) - best[1] <= tolerance:
            break
    assert kept is not None
    place, weighted = np.array([cut.function for cut in cuts]), multipliers[:, None] * np.array([c.slope for c in cuts])
    sums = [weighted[place == i].sum(axis=0) for i in range(len(functions))]
    totals = np.array([multipliers[place == i].sum() for i in range(len(functions))])
    return PlanesClaim(kept, totals, sums, duals)


def _row(hull: Hull, functions: Sequence[Planes], cut: Cut) -> Vector:
    """A cut as a row of the linear program, whose last two columns are tau and t."""
    share = functions[cut.function].share
    return np.concatenate([-(hull.outcomes @ cut.slope), [share, share - 1.0]])
