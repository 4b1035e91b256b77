"""The kernels of extended value iteration: one sweep in O(S log S + listed successors).

The inner maximum of a sweep is, for each pair,

    max { sum over s' of p(s') u(s') : lo <= p <= hi, sum of p = 1 },

solved by starting from p = lo and giving the mass that is left to the best states first. Every state
that a region does not list has the interval [0, rest]. So the states are put in order of u once a
sweep, with prefix sums of u over that order; a pair then walks its listed successors by rank, and the
run of unlisted states between two of them takes `rest` each, as far as `rest_sum` goes, and costs O(1).
The bounds on single states and the one on those not listed are nested, so best first is the maximum.

Over a ball of radius r in the 1-norm the maximum gives r/2 to the best state and takes it from the worst.

Indices that are read from arrays are made unsigned where time counts: numba then leaves out the code for negative ones.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._runtime.compiler import inlined, kernel
from equipoise.planning.laws import evaluate, row_rewards, spread_bounds
from equipoise.planning.order import put_in_order

# How an iteration ended, or that it did not.
GAVE_UP: Final = 0  # the sweeps ran out, or some number is not finite
CONVERGED: Final = 1
PAUSED: Final = 2  # as many sweeps as may be made in one call are made: call it again to go on

_SWEEPS_UNDAMPED: Final = 1_000  # sweeps with known mechanics, which may be periodic, before they are damped
_DAMPED_STEP: Final = 0.5
_TIE = 1e-12
_SLACK = 1e-9  # relative to the largest |u| and to the value: far more than rounding, or a chain of ties, can amount to
_SHORT_LIST = 16
_MIN_SUCCESS = 3  # one bound in so many must rule an action out, or no more are worked out in the sweep
_FREE_TRIALS = 32  # after so many


@inlined
def rank_states(u, work):
    """Put the states in decreasing order of u, with their ranks and the sums of u over that order."""
    order, prefix = work.order, work.prefix
    n = order.shape[0]
    put_in_order(u, order, work.sorting)
    total = 0.0
    for i in range(n):
        state = np.uint64(order[i])
        work.rank[state] = i
        prefix[i] = total
        total += u[state]
    prefix[n] = total


@kernel
def _sort_by_rank(begin, end, successor, lo, hi, rank):
    """Shell sort of a pair's listed successors by rank, in place; one plain insertion pass if short."""
    gap = 1
    if end - begin > _SHORT_LIST:
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
def _from_below(begin, end, successor, lo, u, rank):
    """What the lower bounds give, and the mass that they leave, and whether the successors are in order of rank."""
    value = 0.0
    free = 1.0
    before = np.int64(-1)
    for i in range(np.uint64(begin), np.uint64(end)):
        state = np.uint64(successor[i])
        place = rank[state]
        if place < before:
            return value, free, False
        before = place
        value += lo[i] * u[state]
        free -= lo[i]
    return value, free, True


@inlined
def _bound(begin, end, successor, lo, rest_sum, u, highest):
    """An upper bound on the maximum over a box, found without sorting; `highest` is at least 0 and all of u."""
    value = 0.0
    free = 1.0
    largest = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        height = u[np.uint64(successor[i])]
        value += lo[i] * height
        free -= lo[i]
        largest = max(largest, height)
    free = max(0.0, free)
    elsewhere = min(free, rest_sum)
    return value + elsewhere * highest + (free - elsewhere) * largest


@inlined
def _over_box(begin, end, successor, lo, hi, rest, rest_sum, u, order, rank, prefix):
    n_states = order.shape[0]
    value, free, in_order = _from_below(begin, end, successor, lo, u, rank)
    if not in_order:
        _sort_by_rank(begin, end, successor, lo, hi, rank)
        value, free, _ = _from_below(begin, end, successor, lo, u, rank)
    unlisted = rest_sum
    position = 0
    i = begin
    while free > 0.0:
        listed = np.uint64(i)
        stop = rank[np.uint64(successor[listed])] if i < end else n_states
        run = stop - position
        if run > 0 and rest > 0.0 and unlisted > 0.0:
            most = min(free, unlisted)
            if run * rest <= most:
                given = run * rest
                value += rest * (prefix[np.uint64(stop)] - prefix[np.uint64(position)])
            else:
                given = most
                whole = min(int(most / rest), run - 1)
                reached = np.uint64(position + whole)
                value += rest * (prefix[reached] - prefix[np.uint64(position)])
                value += (most - whole * rest) * u[np.uint64(order[reached])]
            free -= given
            unlisted -= given
            if free <= 0.0:
                break
        if i >= end:
            break
        given = min(hi[listed] - lo[listed], free)
        value += given * u[np.uint64(successor[listed])]
        free -= given
        position = stop + 1
        i += 1
    return value


@inlined
def _over_ball(begin, end, successor, centre, radius, u, order):
    """Half the radius more for the best state, taken from the worst (Jaksch et al. 2010, figure 2)."""
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
    place = np.uint64(pair)
    begin = region.first[place]
    end = region.first[np.uint64(pair + 1)]
    if region.radius[place] > 0.0:
        _sort_by_rank(begin, end, successor, lo, hi, work.rank)
        return _over_ball(begin, end, successor, lo, region.radius[place], u, work.order)
    return _over_box(
        begin, end, successor, lo, hi, region.rest[place], region.rest_sum[place], u, work.order, work.rank, work.prefix
    )


@inlined
def _inner_bound(pair, region, u, highest):
    """What that is at most, at a third of the cost; infinite over a ball, where nothing is gained."""
    place = np.uint64(pair)
    if region.radius[place] > 0.0:
        return np.inf
    begin, end = region.first[place], region.first[np.uint64(pair + 1)]
    return _bound(begin, end, region.successor, region.lo, region.rest_sum[place], u, highest)


@inlined
def _better(value, best):
    """Whether an action replaces the best so far: by more than 1e-12 max(1, |best|), so ties go to the lowest index."""
    return best == -np.inf or value > best + _TIE * max(1.0, abs(best))


@inlined
def _sweep_laws(laws, first_pair, region, reward, u, policy, work):
    """A sweep with known mechanics: the graph is evaluated once, and every pair is a node of it."""
    evaluate(laws, region, reward, u, work.laws)
    for s in range(u.shape[0]):
        top = -np.inf
        best = -np.inf
        choice = 0
        for pair in range(first_pair[s], first_pair[s + 1]):
            value = work.laws.value[laws.root[pair]]
            top = max(top, value)
            if _better(value, best):
                best = value
                choice = pair - first_pair[s]
        work.u_next[s] = top
        policy[s] = choice


@inlined
def sweep_states(first_pair, region, reward, u, policy, work, risen, begin, end):
    """A sweep over some states of a table, which are ranked."""
    ceiling = work.ceiling
    tried = 0
    shown = 0
    highest = max(0.0, u[work.order[0]])
    slack = _SLACK * max(1.0, highest, -u[work.order[u.shape[0] - 1]])
    for s in range(np.uint64(begin), np.uint64(end)):
        first = first_pair[s]
        before = first + policy[s]
        known = reward[np.uint64(before)] + inner_maximum(before, region, u, work)
        ceiling[np.uint64(before)] = known - risen
        floor = known - max(slack, _SLACK * abs(known))
        top = -np.inf
        best = -np.inf
        choice = 0
        for pair in range(first, first_pair[s + np.uint64(1)]):
            value = known
            if pair != before:
                place = np.uint64(pair)
                if ceiling[place] + risen < floor:
                    continue
                value = np.inf
                if _MIN_SUCCESS * shown + _FREE_TRIALS >= tried:
                    value = reward[place] + _inner_bound(pair, region, u, highest)
                    tried += 1
                    shown += value < floor
                if not value < floor:
                    value = reward[place] + inner_maximum(pair, region, u, work)
                ceiling[place] = value - risen
                if value < floor:
                    continue
            top = max(top, value)
            if _better(value, best):
                best = value
                choice = pair - first
        work.u_next[s] = top
        policy[s] = choice


@inlined
def _first_sweep(first_pair, reward, policy, work):
    """A sweep over a table from u = 0: the value of a pair is its reward, whatever follows."""
    for s in range(policy.shape[0]):
        top = -np.inf
        best = -np.inf
        choice = 0
        for pair in range(first_pair[s], first_pair[s + 1]):
            value = reward[pair] + 0.0
            work.ceiling[pair] = value
            top = max(top, value)
            if _better(value, best):
                best = value
                choice = pair - first_pair[s]
        work.u_next[s] = top
        policy[s] = choice


@inlined
def sweep(laws, first_pair, region, reward, u, policy, work, risen):
    """One application of the optimistic Bellman operator, with the greedy policy; `policy` holds some policy before."""
    if laws is None:
        rank_states(u, work)
        sweep_states(first_pair, region, reward, u, policy, work, risen, 0, u.shape[0])
    else:
        _sweep_laws(laws, first_pair, region, reward, u, policy, work)


@inlined
def _all_zero(u):
    for s in range(u.shape[0]):
        if u[s] != 0.0:
            return False
    return True


@inlined
def _begin(laws, first_pair, region, reward, u, policy, work):
    """The first sweep of a plan, and what the sweeps after it start from."""
    for s in range(u.shape[0]):
        work.order[s] = s
    if laws is None:
        highest = -np.inf
        for s in range(u.shape[0]):
            highest = max(highest, u[s])
        if highest == 0.0 and _all_zero(u):
            _first_sweep(first_pair, reward, policy, work)
            return
        for pair in range(reward.shape[0]):
            work.ceiling[pair] = reward[pair] + highest  # whatever follows
    sweep(laws, first_pair, region, reward, u, policy, work, 0.0)


@inlined
def step_length(laws, relaxation, count):
    """The relaxation of a sweep: the paper's is damped over known mechanics that have not converged after so many."""
    return _DAMPED_STEP if laws is not None and relaxation == 1.0 and count > _SWEEPS_UNDAMPED else relaxation


@kernel
def iterate(laws, first_pair, region, reward, tolerance, limit, relaxation, u, policy, work, pause):
    """Value iteration from `u` until the span of the last difference is at most `tolerance`."""
    n_states = u.shape[0]
    u_next = work.u_next
    certificate = work.certificate[0]
    progress = work.progress[0]
    done = progress.sweeps
    risen = progress.risen
    progress.sweeps = 0
    progress.risen = 0.0
    for count in range(done + 1, limit + 1):
        if progress.swept != 0:
            progress.swept = 0  # this one was made already, see `parallel`
        elif count == 1:
            _begin(laws, first_pair, region, reward, u, policy, work)
        else:
            sweep(laws, first_pair, region, reward, u, policy, work, risen)
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
            return CONVERGED
        if not largest - smallest < np.inf or largest < smallest:
            return GAVE_UP  # a reward, a bound or a bias is not finite: more sweeps would not converge either
        if count == limit:
            return GAVE_UP
        base = np.inf
        length = step_length(laws, relaxation, count)
        for s in range(n_states):
            u[s] += length * (u_next[s] - u[s])
            base = min(base, u[s])
        for s in range(n_states):
            u[s] -= base
        risen += length * largest - base
        if count - done == pause:
            progress.sweeps = count
            progress.risen = risen
            return PAUSED
    return GAVE_UP


@inlined
def prepare_rewards(laws, told, nonzero, theta, region, work, out):
    """What a plan needs beyond a region: the optimistic reward of each pair, or each row of outcomes."""
    if laws is None:
        if told is not None:
            told_rewards(theta, told, out)
        elif nonzero is not None:
            nonzero_rewards(theta, nonzero, region.nonzero, out)
        else:
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


@kernel
def told_rewards(theta, told, out):
    """The same where all mean outcomes are told and sparse: r(s,a) = (-theta).v(s,a)."""
    for pair in range(out.shape[0]):
        total = 0.0
        for i in range(told.first[pair], told.first[pair + 1]):
            total += -theta[told.outcome[i]] * told.value[i]
        out[pair] = total


@kernel
def nonzero_rewards(theta, sums, bounds, out):
    """Eq. (opt_reward), from what is listed; see the head of `confidence.nonzero`."""
    positive = 0.0
    negative = 0.0
    for k in range(theta.shape[0]):
        positive += max(0.0, -theta[k])
        negative += min(0.0, -theta[k])
    for pair in range(out.shape[0]):
        total = 0.0
        up = positive
        down = negative
        begin = sums.block_first[pair]
        for i in range(begin, begin + sums.block_used[pair]):
            price = -theta[sums.pool_outcome[i]]
            total += max(price * bounds.lo[i], price * bounds.hi[i])
            up -= max(0.0, price)
            down -= min(0.0, price)
        out[pair] = total + max(0.0, up) * bounds.rest_hi[pair] + min(0.0, down) * bounds.rest_lo[pair]
