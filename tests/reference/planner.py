"""Extended value iteration over dense boxes of transition probabilities, and independent checks on it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-12
"""An action replaces the best so far only if better by more than TIE * max(1, |best|)."""


@dataclass(frozen=True)
class Plan:
    """EVI's answer: policy, gain = largest last difference, bias = penultimate u, sweeps done."""

    policy: Ints
    gain: float
    bias: Array
    span: float
    sweeps: int

    @property
    def bias_span(self) -> float:
        return float(np.ptp(self.bias))


# --- the inner maximum: max p.u over {p in the simplex, lo <= p <= hi} ---


def best_distribution(u: Array, lo: Array, hi: Array) -> Array:
    """Start from lo, then give the remaining mass to the best states as far as hi allows."""
    p = lo.copy()
    remaining = 1 - lo.sum()
    for state in np.argsort(-u, kind="stable"):
        extra = max(0.0, min(hi[state] - lo[state], remaining))
        p[state] += extra
        remaining -= extra
    return p


def best_distributions(order: Ints, lo: Array, hi: Array) -> Array:
    """Do the same for all pairs (rows) at once, the states being ranked by ``order``, best first."""
    room = (hi - lo)[:, order]
    given_before = np.cumsum(room, axis=1) - room
    remaining = 1 - lo.sum(axis=1, keepdims=True)
    p = lo.copy()
    p[:, order] += np.clip(remaining - given_before, 0, room)
    return p


def inner_maximum_by_duality(u: Array, lo: Array, hi: Array, together: tuple[Ints, float] | None = None) -> float:
    """max p.u over lo <= p <= hi, in exact arithmetic; some states ``together`` may have a bound on their sum.

    With a price x on the sum of all and y >= 0 on the sum of the group, c(s) = x, or x + y within the group, the
    maximum is at most

        x + y bound + sum of lo(s) (u(s) - c(s)) + (hi(s) - lo(s)) max(0, u(s) - c(s)),

    and it is the least of these. They are convex and linear between the points where c(s) = u(s), so one where x and
    x + y are entries of u is the least.
    """
    group, bound = (set(), Fraction(1)) if together is None else (set(together[0].tolist()), Fraction(together[1]))
    values, low, high = ([Fraction(x) for x in part.tolist()] for part in (u, lo, hi))

    def upper(alone: Fraction, grouped: Fraction) -> Fraction:
        gains = [value - (grouped if s in group else alone) for s, value in enumerate(values)]
        total = alone + (grouped - alone) * bound
        return total + sum(gain * (h if gain > 0 else l) for gain, l, h in zip(gains, low, high, strict=True))

    prices = sorted(set(values))
    return float(min(upper(x, z) for x in prices for z in (prices if group else [x]) if z >= x))


def maximum_over_ball_by_duality(u: Array, centre: Array, radius: float) -> float:
    """max p.u over the distributions p with |p - centre|_1 <= radius, in exact arithmetic.

    With p = centre + more - less, less <= centre, a price x on the sum of p and y >= 0 on the distance, the maximum is
    at most

        centre.u + x (1 - sum of centre) + y radius + sum of centre(s) max(0, x - y - u(s)),   x + y >= max u,

    and it is the least of these. At the least x + y = max u; what is left is convex in z = x - y, and linear between
    the entries of u, so one of them is the least.
    """
    values, middle, reach = [Fraction(x) for x in u.tolist()], [Fraction(x) for x in centre.tolist()], Fraction(radius)
    top, lacking = max(values), 1 - sum(middle)

    def upper(z: Fraction) -> Fraction:
        moved = sum(mass * max(value, z) for mass, value in zip(middle, values, strict=True))
        return moved + (top + z) / 2 * lacking + (top - z) / 2 * reach

    return float(min(upper(z) for z in values))


# --- extended value iteration ---


def pairs_by_state(n_actions: Sequence[int]) -> list[range]:
    """List the pairs of each state."""
    ends = np.cumsum(n_actions)
    return [range(int(end) - n, int(end)) for end, n in zip(ends, n_actions, strict=True)]


def argmax_with_ties(values: Array) -> int:
    """Return the first index that no later one beats by more than the tie tolerance."""
    best = 0
    for a in range(1, len(values)):
        if values[a] > values[best] + TIE * max(1.0, abs(values[best])):
            best = a
    return best


def extended_value_iteration(
    rewards: Array,
    lo: Array,
    hi: Array,
    n_actions: Sequence[int],
    epsilon: float,
    *,
    renormalise: bool = True,
    max_sweeps: int = 1_000_000,
    start: Array | None = None,
) -> Plan:
    """Run Algorithm EVI from u = 0, or from another ``start``, until the span of u_{i+1} - u_i is at most epsilon.

    With ``renormalise`` the smallest entry of u is subtracted after each sweep: no difference nor span
    changes, but the entries of u stay as small as the span, which sharpens the relative tie rule.
    """
    pairs = pairs_by_state(n_actions)
    first = [r.start for r in pairs]
    u = np.zeros(len(n_actions)) if start is None else start.copy()
    order: Ints | None = None
    p = lo
    span = np.inf
    for sweep in range(1, max_sweeps + 1):
        ranking = np.argsort(-u, kind="stable")
        if order is None or not np.array_equal(order, ranking):  # p depends on u through the ranking only
            order = ranking
            p = best_distributions(order, lo, hi)
        upsilon = rewards + p @ u
        following = np.maximum.reduceat(upsilon, first)
        difference = following - u
        span = float(difference.max() - difference.min())
        if span <= epsilon:
            policy = np.array([argmax_with_ties(upsilon[r.start : r.stop]) for r in pairs])
            return Plan(policy, float(difference.max()), u, span, sweep)
        u = following - following.min() if renormalise else following
    raise ArithmeticError(f"no convergence in {max_sweeps} sweeps: span {span} > {epsilon}")


# --- independent answers for a known model and scalar rewards ---


def optimum_by_lp(rewards: Array, transitions: Array, n_actions: Sequence[int]) -> tuple[float, Array]:
    """Solve (P_M) for a linear g: the optimal average reward and an optimal occupancy x(s, a)."""
    n_states, n_pairs = len(n_actions), len(rewards)
    flow = -transitions.T.copy()
    for state, pairs in enumerate(pairs_by_state(n_actions)):
        flow[state, pairs.start : pairs.stop] += 1
    answer = linprog(
        -rewards,
        A_eq=np.vstack([flow, np.ones(n_pairs)]),
        b_eq=np.append(np.zeros(n_states), 1.0),
        bounds=(0, None),
        method="highs",
    )
    if not answer.success or answer.fun is None:
        raise ArithmeticError(answer.message)
    return -float(answer.fun), np.asarray(answer.x)


def cesaro_limit(chain: Array) -> Array:
    """Return lim (1/n) sum_{i<n} P^i: stationary laws of the closed classes, mixed by absorption."""
    n = len(chain)
    reach = np.eye(n, dtype=bool) | (chain > 0)
    for via in range(n):
        reach |= np.outer(reach[:, via], reach[via])
    recurrent = np.array([all(reach[j, i] for j in range(n) if reach[i, j]) for i in range(n)])
    transient = np.flatnonzero(~recurrent)
    limit = np.zeros((n, n))
    left = set(np.flatnonzero(recurrent).tolist())
    while left:
        members = np.flatnonzero(reach[min(left)])
        left -= set(members.tolist())
        inside = chain[np.ix_(members, members)]
        system = np.vstack([inside.T - np.eye(len(members)), np.ones(len(members))])
        law = np.linalg.lstsq(system, np.append(np.zeros(len(members)), 1.0), rcond=None)[0]
        limit[np.ix_(members, members)] = law
        if transient.size:
            stay = chain[np.ix_(transient, transient)]
            enter = chain[np.ix_(transient, members)].sum(axis=1)
            absorbed = np.linalg.solve(np.eye(len(transient)) - stay, enter)
            limit[np.ix_(transient, members)] = np.outer(absorbed, law)
    return limit


def optimum_by_enumeration(rewards: Array, transitions: Array, n_actions: Sequence[int], start: int) -> float:
    """Try every deterministic stationary policy; return the best long-run average reward from ``start``."""
    gains = []
    for choice in itertools.product(*pairs_by_state(n_actions)):
        rows = list(choice)
        gains.append(float(cesaro_limit(transitions[rows])[start] @ rewards[rows]))
    return max(gains)
