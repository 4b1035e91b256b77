"""The kernels of extended value iteration: one sweep in O(S log S + listed successors).

The inner maximum of a sweep is, for each pair,

    max { sum over s' of p(s') u(s') : lo <= p <= hi, sum of p = 1 },

solved by starting from p = lo and giving the mass that is left to the best states first. Every state
that a region does not list has the interval [0, rest]. So the states are put in order of u once a
sweep, with prefix sums of u over that order; a pair then walks its listed successors by rank, and the
run of unlisted states between two of them takes `rest` each, as far as `rest_sum` goes, and costs O(1).
The bounds on single states and the one on those not listed are nested, so best first is the maximum.

Over a ball of radius r in the 1-norm the maximum gives r/2 to the best state and takes it from the worst.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._compile import inlined, kernel
from equipoise.planning.laws import evaluate, row_rewards, spread_bounds

_TIE = 1e-12
_SHORT = 16


@kernel
def _insert(u, order, limit):
    """Insertion sort of `order` by decreasing u; gives up (False) after `limit` shifts."""
    shifts = 0
    for i in range(1, order.shape[0]):
        state = order[i]
        key = u[state]
        j = i
        while j > 0 and u[order[j - 1]] < key:
            order[j] = order[j - 1]
            j -= 1
        order[j] = state
        shifts += i - j
        if shifts > limit:
            return False
    return True


@kernel
def _merge_sort(u, order, scratch):
    """Bottom-up stable merge sort of `order` by decreasing u."""
    n = order.shape[0]
    width = 1
    while width < n:
        for left in range(0, n, 2 * width):
            middle = min(left + width, n)
            right = min(left + 2 * width, n)
            i = left
            j = middle
            for k in range(left, right):
                if i < middle and (j >= right or u[order[i]] >= u[order[j]]):
                    scratch[k] = order[i]
                    i += 1
                else:
                    scratch[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = scratch[k]
        width *= 2


@inlined
def rank_states(u, work):
    """Put the states in decreasing order of u; from one sweep to the next the order hardly changes."""
    order, prefix = work.order, work.prefix
    n = order.shape[0]
    if not _insert(u, order, 4 * n + 64):
        _merge_sort(u, order, work.sorting)
    total = 0.0
    for i in range(n):
        work.rank[order[i]] = i
        prefix[i] = total
        total += u[order[i]]
    prefix[n] = total


@kernel
def _sort_by_rank(begin, end, successor, lo, hi, rank):
    """Shell sort of a pair's listed successors by rank, in place; one plain insertion pass if short."""
    gap = 1
    if end - begin > _SHORT:
        while gap < (end - begin) // 9:
            gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            state = successor[i]
            key = rank[state]
            if rank[successor[i - gap]] > key:
                low = lo[i]
                high = hi[i]
                j = i
                while j >= begin + gap and rank[successor[j - gap]] > key:
                    successor[j] = successor[j - gap]
                    lo[j] = lo[j - gap]
                    hi[j] = hi[j - gap]
                    j -= gap
                successor[j] = state
                lo[j] = low
                hi[j] = high
        gap //= 3


@inlined
def _over_box(begin, end, successor, lo, hi, rest, rest_sum, u, order, rank, prefix):
    n_states = order.shape[0]
    value = 0.0
    free = 1.0
    for i in range(begin, end):
        value += lo[i] * u[successor[i]]
        free -= lo[i]
    unlisted = rest_sum
    position = 0
    i = begin
    while free > 0.0:
        stop = rank[successor[i]] if i < end else n_states
        run = stop - position
        if run > 0 and rest > 0.0 and unlisted > 0.0:
            most = min(free, unlisted)
            if run * rest <= most:
                given = run * rest
                value += rest * (prefix[stop] - prefix[position])
            else:
                given = most
                whole = min(int(most / rest), run - 1)
                reached = position + whole
                value += rest * (prefix[reached] - prefix[position])
                value += (most - whole * rest) * u[order[reached]]
            free -= given
            unlisted -= given
            if free <= 0.0:
                break
        if i >= end:
            break
        given = min(hi[i] - lo[i], free)
        value += given * u[successor[i]]
        free -= given
        position = stop + 1
        i += 1
    return value


@inlined
def _over_ball(begin, end, successor, centre, radius, u, order):
    """Half the radius more for the best state, taken from the worst (Jaksch et al. 2010, figure 2).

    What the centre lacks to one comes on top: with p = centre + more - less, more exceeds less by that.
    """
    best = order[0]
    value = 0.0
    excess = -1.0
    most = 1.0  # the probability that the best state can still be given
    for i in range(begin, end):
        value += centre[i] * u[successor[i]]
        excess += centre[i]
        if successor[i] == best:
            most -= centre[i]
    more = min(most, 0.5 * (radius - excess))
    value += more * u[best]
    excess += more
    i = end - 1
    while excess > 0.0 and i >= begin:
        less = min(centre[i], excess)
        value -= less * u[successor[i]]
        excess -= less
        i -= 1
    return value


@inlined
def inner_maximum(pair, region, u, work):
    """The largest expected u over one pair's region; sorts its listed successors by rank on the way."""
    successor, lo, hi = region.successor, region.lo, region.hi
    begin = region.first[pair]
    end = region.first[pair + 1]
    _sort_by_rank(begin, end, successor, lo, hi, work.rank)
    if region.radius[pair] > 0.0:
        return _over_ball(begin, end, successor, lo, region.radius[pair], u, work.order)
    return _over_box(
        begin, end, successor, lo, hi, region.rest[pair], region.rest_sum[pair], u, work.order, work.rank, work.prefix
    )


@inlined
def _prepare(laws, region, reward, u, work):
    """What is worked out once for all pairs of a sweep: the order of the states, or the values of the graph."""
    if laws is None:
        rank_states(u, work)
    else:
        evaluate(laws, region, reward, u, work.laws)


@inlined
def _backup(laws, pair, region, reward, u, work):
    """The optimistic value of a pair."""
    if laws is None:
        return reward[pair] + inner_maximum(pair, region, u, work)
    else:  # noqa: RET505 - numba leaves out one branch by the type of `laws`
        return work.laws.value[laws.root[pair]]


@inlined
def sweep(laws, first_pair, region, reward, u, policy, work):
    """One application of the optimistic Bellman operator, with the greedy policy.

    `laws` are the `LawArrays` of known mechanics, or None for a table; numba compiles one of the two.

    An action replaces the best so far only when it is better by more than 1e-12 max(1, |best|): ties go
    to the lowest index, on every machine.
    """
    _prepare(laws, region, reward, u, work)
    for s in range(u.shape[0]):
        top = -np.inf
        best = -np.inf
        choice = 0
        for pair in range(first_pair[s], first_pair[s + 1]):
            value = _backup(laws, pair, region, reward, u, work)
            top = max(top, value)
            if best == -np.inf or value > best + _TIE * max(1.0, abs(best)):
                best = value
                choice = pair - first_pair[s]
        work.u_next[s] = top
        policy[s] = choice


@kernel
def iterate(laws, first_pair, region, reward, tolerance, limit, relaxation, u, policy, work):
    """Value iteration from `u` until the span of the last difference is at most `tolerance`.

    `u` is left at the penultimate record, whose smallest entry is made zero at every sweep. `work.certificate`
    receives the gain (the largest entry of the last difference), the span, and the number of sweeps;
    the return value says whether the tolerance was reached.

    With `relaxation` below one the step is u + relaxation (Tu - u), which also converges on periodic
    models; what is certified, the difference Tu - u, is the same.
    """
    n_states = u.shape[0]
    u_next = work.u_next
    certificate = work.certificate[0]
    for s in range(n_states):
        work.order[s] = s
    for count in range(1, limit + 1):
        sweep(laws, first_pair, region, reward, u, policy, work)
        largest = -np.inf
        smallest = np.inf
        for s in range(n_states):
            difference = u_next[s] - u[s]
            largest = max(largest, difference)
            smallest = min(smallest, difference)
        certificate.gain = largest
        certificate.span = largest - smallest
        certificate.sweeps = count
        if 0.0 <= largest - smallest <= tolerance:
            return True
        if not largest - smallest < np.inf or largest < smallest:
            return False  # a reward, a bound or a bias is not finite: more sweeps would not converge either
        if count == limit:
            return False
        base = np.inf
        for s in range(n_states):
            u[s] += relaxation * (u_next[s] - u[s])
            base = min(base, u[s])
        for s in range(n_states):
            u[s] -= base
    return False


@inlined
def bounds_and_rewards(laws, theta, region, work, out):
    """What a plan needs of a region besides itself: the optimistic reward of each pair, or each row of outcomes."""
    if laws is None:
        optimistic_rewards(theta, region.v_lo, region.v_hi, out)
    else:
        row_rewards(laws, theta, region, out)
        spread_bounds(laws, region, work.laws)


@kernel
def optimistic_rewards(theta, v_lo, v_hi, out):
    """Eq. (opt_reward): r(s,a) = max over v in H^v(s,a) of (-theta).v, coordinate by coordinate."""
    for pair in range(v_lo.shape[0]):
        total = 0.0
        for k in range(theta.shape[0]):
            total += max(-theta[k] * v_lo[pair, k], -theta[k] * v_hi[pair, k])
        out[pair] = total
