"""Algorithm TOC-UCRL2, compiled: one step, one plan, and the loop of both.

`step` takes in what was observed at time t (lines 13 to 16), `plan` opens an episode (lines 5 to 10), and `run`
samples a world and calls them in turn. `act` and `observe` call the same two, so both ways give the same
trajectory, to the last bit. Indices of the inner loop are unsigned: numba then leaves out the code for negative ones.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import call_entry, inlined, kernel
from equipoise.agents.episodes import BY_GRADIENT, BY_RESTART, BY_VISITS
from equipoise.agents.memory import (
    DRIFT,
    EPISODES,
    LEARNING,
    ORIGIN,
    PENDING,
    PLANNED,
    STATE,
    THRESHOLD,
    TIME,
)
from equipoise.confidence.counts import SEEN, count, lacks_room
from equipoise.confidence.fill import fill
from equipoise.models._kernels import sample
from equipoise.oracles._kernels import move_theta
from equipoise.planning._kernels import iterate, optimistic_rewards

# Why a kernel came back.
DONE: Final = 0
POOL_FULL: Final = 1  # no room for another successor
REGION_FULL: Final = 2  # no room in the region for all that was seen
RECORDS_FULL: Final = 3  # no room for another episode's record
NOT_CONVERGED: Final = 4  # the planner did not reach its tolerance
ENOUGH: Final = 5  # a plan is due, and Python has waited long enough
BUDGET_GONE: Final = 6  # some outcome after the first could exceed its budget at the next step
NOT_FINITE: Final = 7  # theta is not a number: the reward's gradient was not

_ENOUGH: Final = 20_000_000  # pairs swept in one call; then Python may look for Ctrl-C


class Rules(NamedTuple):
    """What does not change within a phase: the constants of the algorithm, and the addresses it calls."""

    first_pair: NDArray[np.int64]
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]
    confidence: int
    floats: NDArray[np.float64]
    ints: NDArray[np.int64]
    oracle: int
    entry: int
    oracle_params: NDArray[np.float64]
    reward_params: NDArray[np.float64]
    dual_norm: float
    threshold: float  # Q_m = threshold tau^threshold_power max(threshold_floor, span), the last if the floor is > 0
    threshold_power: float
    threshold_floor: float
    moving_threshold: int  # the entry that gives Q at time t in the place of Q_m, or 0
    delta: float
    tau_origin: int
    tolerance: float  # of a plan: tolerance tau^tolerance_power
    tolerance_power: float
    relaxation: float
    sweep_limit: int
    warm_start: bool


@inlined
def power(x, exponent):
    """X to a power, with the roots that the paper has to the last bit."""
    if exponent == 0.0:
        return 1.0
    if exponent == -0.5:
        return 1.0 / np.sqrt(x)
    return x**exponent


@inlined
def tolerance_at(rules, tau):
    """The tolerance of a plan made at time tau."""
    return rules.tolerance * power(float(tau), rules.tolerance_power)


@inlined
def threshold_of(rules, tau, span):
    """Q_m, for an episode that starts at time tau with a bias of that span."""
    q = rules.threshold * power(float(tau), rules.threshold_power)
    return q * max(rules.threshold_floor, span) if rules.threshold_floor > 0.0 else q


@inlined
def threshold_at(rules, t, memory, out):
    """Q at time t: that of the episode, or the Lipschitz constant of a reward that changes with time."""
    if rules.moving_threshold == 0:
        return memory.gauge[THRESHOLD]
    call_entry(rules.moving_threshold, t - rules.tau_origin, memory.average, rules.reward_params, out)
    return out[0]


@inlined
def verdict(visits, fresh, pair, drift, threshold, learning):
    """The while condition of line 11 for the next pair: 0 to go on, else what ended the episode."""
    ended = 0
    if not drift <= threshold:  # so that a drift that is not a number ends the episode, and its plan tells
        ended |= BY_GRADIENT
    if learning and fresh[pair] >= max(1, visits[pair]):
        ended |= BY_VISITS
    return ended


@inlined
def step(counts, memory, buffers, rules, t, local, pair, next_state):
    """Lines 13 to 16 but for the clock: count, average, theta_{t+1}; returns what is added to Psi."""
    outcome = buffers.outcome
    for k in range(outcome.shape[0]):
        counts.sums[pair, k] += outcome[k]
        counts.squares[pair, k] += outcome[k] * outcome[k]
        memory.total[k] += outcome[k]
        memory.average[k] = memory.total[k] / t
    count(
        counts.visits, counts.fresh, counts.latest, counts.block_first, counts.block_used, counts.block_room,
        counts.pool_state, counts.pool_count, counts.end, pair, next_state,
    )  # fmt: skip
    return move_theta(
        rules.oracle, rules.entry, rules.oracle_params, rules.reward_params, t, local, outcome,
        memory.average, memory.slope, buffers.response, buffers.weights, memory.theta, memory.reference,
        rules.dual_norm,
    )  # fmt: skip


@kernel
def plan(counts, memory, records, buffers, region, work, rules, ended):
    """Lines 5 to 10: plan, and only then close the episode that `ended` so and open the next."""
    t = memory.clock[TIME]
    tau = t - rules.tau_origin
    episode = memory.clock[EPISODES]
    if episode == records.start.shape[0]:
        return RECORDS_FULL
    if counts.end[SEEN] > region.successor.shape[0]:
        return REGION_FULL
    for k in range(memory.theta.shape[0]):
        if not abs(memory.theta[k]) < np.inf:
            return NOT_FINITE
    n_states = memory.policy.shape[0]
    for i in range(memory.stream.shape[0]):
        buffers.stream[i] = memory.stream[i]
    fill(
        rules.confidence, tau, rules.delta, n_states, rules.known_mask, rules.known_outcomes, counts, rules.floats,
        rules.ints, memory.stream, region,
    )  # fmt: skip
    optimistic_rewards(memory.theta, region.v_lo, region.v_hi, buffers.reward)
    for s in range(n_states):
        buffers.bias[s] = memory.bias[s] if rules.warm_start else 0.0
    if not iterate(
        rules.first_pair, region.first, region.successor, region.lo, region.hi, region.rest, region.rest_sum,
        region.radius, buffers.reward, tolerance_at(rules, tau), rules.sweep_limit, rules.relaxation, buffers.bias,
        work.order, work.rank, work.prefix, work.scratch, work.u_next, buffers.policy, work.found,
    ):  # fmt: skip
        for i in range(memory.stream.shape[0]):  # as if nothing had been drawn
            memory.stream[i] = buffers.stream[i]
        return NOT_CONVERGED
    for pair in range(counts.visits.shape[0]):
        counts.visits[pair] += counts.fresh[pair]
        counts.fresh[pair] = 0
    highest = 0.0
    for s in range(n_states):
        memory.policy[s] = buffers.policy[s]
        memory.bias[s] = buffers.bias[s]
        highest = max(highest, buffers.bias[s])
    for k in range(memory.theta.shape[0]):
        memory.reference[k] = memory.theta[k]
    memory.gauge[DRIFT] = 0.0
    memory.gauge[THRESHOLD] = threshold_of(rules, tau, highest)
    memory.clock[PLANNED] = 1
    if episode > 0:
        records.ended[episode - 1] = ended
    records.start[episode] = t
    records.ended[episode] = 0
    records.gain[episode] = work.found[0]
    records.span[episode] = highest  # the least entry of the bias is zero
    records.sweeps[episode] = int(work.found[2])
    memory.clock[EPISODES] = episode + 1
    return DONE


@kernel
def ready(counts, memory, records, buffers, region, work, rules):
    """Make sure that there is a policy to follow at the present time."""
    clock = memory.clock
    if clock[PLANNED] == 0:
        ended = BY_RESTART
    else:
        pair = rules.first_pair[clock[STATE]] + memory.policy[clock[STATE]]
        limit = threshold_at(rules, clock[TIME], memory, buffers.response)
        ended = verdict(counts.visits, counts.fresh, np.uint64(pair), memory.gauge[DRIFT], limit, clock[LEARNING] != 0)
    if ended == 0:
        return DONE
    return plan(counts, memory, records, buffers, region, work, rules, ended)


@kernel
def observe_once(counts, memory, buffers, rules, next_state):
    """Take in what followed the pending pair; the outcomes are in the buffer."""
    if lacks_room(counts.pool_state, counts.end):
        return POOL_FULL
    clock = memory.clock
    t = clock[TIME]
    memory.gauge[DRIFT] += step(
        counts, memory, buffers, rules, t, t - clock[ORIGIN], np.uint64(clock[PENDING]), next_state
    )
    clock[TIME] = t + 1
    clock[STATE] = next_state
    clock[PENDING] = -1
    return DONE


@inlined
def spent(total, budget):
    """Whether one more unit of some resource might exceed the budget; outcome 0 is no resource."""
    for k in range(1, total.shape[0]):
        if total[k] + 1.0 > budget:
            return True
    return False


@kernel
def run(
    counts, memory, records, buffers, region, work, rules, steps, budget,
    rng, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli,
):  # fmt: skip
    """Take up to `steps` steps in a sampled world, planning on the way; says why it came back.

    There must be a plan. With a finite `budget` it comes back as soon as the total of some outcome after the first
    is within one of it.
    """
    clock = memory.clock
    gauge = memory.gauge
    first_pair = rules.first_pair
    policy = memory.policy
    learning = clock[LEARNING] != 0
    t = clock[TIME]
    origin = clock[ORIGIN]
    state = clock[STATE]
    drift = gauge[DRIFT]
    limit = gauge[THRESHOLD]
    moving = rules.moving_threshold != 0
    last = t + steps
    swept = 0
    reason = DONE
    limited = budget < np.inf
    while t < last:
        if limited and spent(memory.total, budget):
            reason = BUDGET_GONE
            break
        pair = first_pair[np.uint64(state)] + policy[np.uint64(state)]
        if moving:
            limit = threshold_at(rules, t, memory, buffers.response)
        ended = verdict(counts.visits, counts.fresh, np.uint64(pair), drift, limit, learning)
        if ended != 0:
            if swept > _ENOUGH:
                reason = ENOUGH
                break
            clock[TIME] = t
            reason = plan(counts, memory, records, buffers, region, work, rules, ended)
            if reason != DONE:
                break
            swept += int(work.found[2]) * counts.visits.shape[0]
            drift = 0.0
            limit = gauge[THRESHOLD]
            pair = first_pair[state] + policy[state]
        if lacks_room(counts.pool_state, counts.end):
            reason = POOL_FULL
            break
        next_state = sample(
            rng, pair, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli, buffers.outcome
        )
        drift += step(counts, memory, buffers, rules, t, t - origin, np.uint64(pair), next_state)
        t += 1
        state = next_state
    clock[TIME] = t
    clock[STATE] = state
    gauge[DRIFT] = drift
    return reason
