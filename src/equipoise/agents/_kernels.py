"""The inner loop of Algorithm TOC-UCRL2, lines 11 to 16: one step, and many.

`step` takes in what was observed at time t; `advance` samples a world and calls `step` until the episode
is over. `act`/`observe` call the same `step`, so both give the same trajectory, to the last bit.
The kernels take the arrays of `Counts`, `Memory` and `Buffers` one by one, in their order.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

from equipoise._compile import inlined, kernel
from equipoise.agents.memory import DRIFT, LEARNING, ORIGIN, PENDING, STATE, THRESHOLD, TIME
from equipoise.confidence.counts import count, lacks_room
from equipoise.models._kernels import sample
from equipoise.oracles._kernels import next_theta
from equipoise.rewards.norms import distance

# Why `advance` came back.
STEPS_DONE: Final = 0
EPISODE_OVER: Final = 1
ROOM_FULL: Final = 2

# Why an episode ended; both may hold at once.
BY_GRADIENT: Final = 1
BY_VISITS: Final = 2


@inlined
def verdict(visits, fresh, pair, clock, gauge):
    """The while condition of line 11 for the next pair: 0 to go on, else what ended the episode."""
    ended = 0
    if gauge[DRIFT] > gauge[THRESHOLD]:
        ended |= BY_GRADIENT
    if fresh[pair] >= max(1, visits[pair]) and clock[LEARNING] != 0:
        ended |= BY_VISITS
    return ended


@inlined
def step(
    fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
    total, average, theta, reference, slope, clock, gauge, outcome, response, weights,
    pair, next_state, oracle, entry, oracle_params, reward_params, dual_norm,
):  # fmt: skip
    """Lines 13 to 16: count, average, theta_{t+1}, drift, clock. The outcomes are in the buffer."""
    t = clock[TIME]
    count(
        fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end, pair, outcome, next_state
    )
    for k in range(outcome.shape[0]):
        total[k] += outcome[k]
        average[k] = total[k] / t
    next_theta(
        oracle, entry, oracle_params, reward_params, t, t - clock[ORIGIN], outcome, average, slope, response,
        weights, theta,
    )  # fmt: skip
    gauge[DRIFT] += distance(theta, reference, dual_norm)
    clock[TIME] = t + 1
    clock[STATE] = next_state


@kernel
def observe_once(
    visits, fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
    total, average, theta, reference, slope, policy, bias, clock, gauge, outcome, response, weights,
    next_state, oracle, entry, oracle_params, reward_params, dual_norm,
):  # fmt: skip
    """Take in what followed the pending pair; says whether there was room."""
    pair = clock[PENDING]
    if lacks_room(block_used, block_room, pool_state, end, pair):
        return ROOM_FULL
    step(
        fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
        total, average, theta, reference, slope, clock, gauge, outcome, response, weights,
        pair, next_state, oracle, entry, oracle_params, reward_params, dual_norm,
    )  # fmt: skip
    clock[PENDING] = -1
    return STEPS_DONE


@kernel
def advance(
    visits, fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
    total, average, theta, reference, slope, policy, bias, clock, gauge, outcome, response, weights,
    oracle, entry, oracle_params, reward_params, dual_norm,
    steps, rng, first_pair, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli,
):  # fmt: skip
    """Take up to `steps` steps of the present episode in a sampled world; says why it came back."""
    for _ in range(steps):
        state = clock[STATE]
        pair = first_pair[state] + policy[state]
        if verdict(visits, fresh, pair, clock, gauge) != 0:
            return EPISODE_OVER
        if lacks_room(block_used, block_room, pool_state, end, pair):
            return ROOM_FULL
        next_state = sample(
            rng, pair, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli, outcome
        )
        step(
            fresh, sums, block_first, block_used, block_room, pool_state, pool_count, end,
            total, average, theta, reference, slope, clock, gauge, outcome, response, weights,
            pair, next_state, oracle, entry, oracle_params, reward_params, dual_norm,
        )  # fmt: skip
    return STEPS_DONE


@kernel
def ended_by(visits, fresh, pair, clock, gauge):
    """`verdict`, from Python."""
    return verdict(visits, fresh, pair, clock, gauge)
