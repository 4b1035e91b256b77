"""A run that is looked at, compiled: every step is recorded, every episode compared with the true model.

`record` steps with the agent's own kernels, `ready` and `run` for one step, so the trajectory is that of `simulate` to
the last bit. When an episode has begun, `look` compares its regions with the truth, and `judge` computes what Lemma 4.4
needs of its plan.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined, kernel
from equipoise.agents._kernels import DONE, ready, run, tolerance_at
from equipoise.agents.memory import EPISODES, STATE, TIME
from equipoise.planning._kernels import inner_maximum, optimistic_rewards, rank_states

# Positions in `at`.
ROW: Final = 0  # rows of the trace that are written
LOOK: Final = 1  # rows of the looks that are written
LOOKED: Final = 2  # the number of the episode looked at last; 0 before the first
AT_SIZE: Final = 3


class Truth(NamedTuple):
    """The model that the agent does not know."""

    transition_first: NDArray[np.int64]
    transition_state: NDArray[np.int64]
    transition_probability: NDArray[np.float64]
    means: NDArray[np.float64]


class Trace(NamedTuple):
    """One row a step: episode, state, pair, theta_t, V_t, r~_m(s_t, a_t) and spade_t."""

    episode: NDArray[np.int64]
    state: NDArray[np.int64]
    pair: NDArray[np.int64]
    theta: NDArray[np.float64]
    outcome: NDArray[np.float64]
    reward: NDArray[np.float64]
    spade: NDArray[np.float64]


class Looks(NamedTuple):
    """One row an episode: number, tau on the clock of the regions, P, span of the bias, theta_tau, v and p in H or not.

    `v_used` and `p_used` are the largest share of a radius that lies between an estimate and the truth.
    """

    number: NDArray[np.int64]
    tau: NDArray[np.int64]
    tolerance: NDArray[np.float64]
    span: NDArray[np.float64]
    theta: NDArray[np.float64]
    v_held: NDArray[np.bool_]
    p_held: NDArray[np.bool_]
    v_used: NDArray[np.float64]
    p_used: NDArray[np.float64]


class Scratch(NamedTuple):
    """Buffers of a look."""

    chance: NDArray[np.float64]  # true probabilities of one pair's successors; zero between two pairs
    seen: NDArray[np.float64]  # their frequencies; zero between two pairs
    reward: NDArray[np.float64]  # r~, one a pair
    spade: NDArray[np.float64]  # one a state, for the action of the policy
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    prefix: NDArray[np.float64]
    sorting: NDArray[np.int64]


@inlined
def used(x, estimate, lo, hi):
    """The share of the radius between the estimate and x; a bound at 0 or at 1 does not bind."""
    if hi <= lo:
        return 0.0 if x == lo else np.inf
    centre = estimate if lo <= estimate <= hi else 0.5 * (lo + hi)
    if x > centre and hi < 1.0:
        return (x - centre) / (hi - centre)
    if x < centre and lo > 0.0:
        return (centre - x) / (centre - lo)
    return 0.0


@kernel
def look(counts, region, truth, scratch, looks, row, midway):
    """Compare a region with the truth. Midway in an episode the estimates behind it are gone, and so are the shares."""
    v_held = True
    p_held = True
    v_used = 0.0
    p_used = 0.0
    chance = scratch.chance
    seen = scratch.seen
    for pair in range(truth.means.shape[0]):
        n = float(max(1, counts.visits[pair] + counts.fresh[pair]))
        for k in range(truth.means.shape[1]):
            x = truth.means[pair, k]
            lo = region.v_lo[pair, k]
            hi = region.v_hi[pair, k]
            v_held = v_held and lo <= x <= hi
            v_used = max(v_used, used(x, counts.sums[pair, k] / n, lo, hi))
        begin = truth.transition_first[pair]
        end = truth.transition_first[pair + 1]
        block = counts.block_first[pair]
        block_end = block + counts.block_used[pair]
        for i in range(begin, end):
            chance[truth.transition_state[i]] = truth.transition_probability[i]
        for i in range(block, block_end):
            seen[counts.pool_state[i]] = counts.pool_count[i] / n
        ball = region.radius[pair] > 0.0
        rest = region.rest[pair]
        together = 0.0
        distance = 0.0
        for i in range(region.first[pair], region.first[pair + 1]):
            state = region.successor[i]
            x = chance[state]
            distance += abs(x - region.lo[i])
            if not ball:
                p_held = p_held and region.lo[i] <= x <= region.hi[i]
                p_used = max(p_used, used(x, seen[state], region.lo[i], region.hi[i]))
            chance[state] = 0.0
        for i in range(begin, end):  # what is left of it is not listed
            x = chance[truth.transition_state[i]]
            together += x
            if not ball:
                p_held = p_held and x <= rest
                p_used = max(p_used, used(x, 0.0, 0.0, rest))
            chance[truth.transition_state[i]] = 0.0
        if ball:
            if region.radius[pair] < 2.0:  # a ball of radius 2 holds every distribution
                p_held = p_held and distance + together <= region.radius[pair]
                p_used = max(p_used, (distance + together) / region.radius[pair])
        elif region.rest_sum[pair] < 1.0:
            p_held = p_held and together <= region.rest_sum[pair]
            p_used = max(p_used, used(together, 0.0, 0.0, region.rest_sum[pair]))
        for i in range(block, block_end):
            seen[counts.pool_state[i]] = 0.0
    looks.v_held[row] = v_held
    looks.p_held[row] = p_held
    looks.v_used[row] = np.nan if midway else v_used
    looks.p_used[row] = np.nan if midway else p_used


@kernel
def judge(memory, region, rules, scratch):
    """r~ of every pair, and spade of every state under the policy."""
    bias = memory.bias
    optimistic_rewards(memory.reference, region.v_lo, region.v_hi, scratch.reward)
    for s in range(bias.shape[0]):
        scratch.order[s] = s
    rank_states(bias, scratch.order, scratch.rank, scratch.prefix, scratch.sorting)
    for s in range(bias.shape[0]):
        pair = rules.first_pair[s] + memory.policy[s]
        best = inner_maximum(
            pair, region.first, region.successor, region.lo, region.hi, region.rest, region.rest_sum, region.radius,
            bias, scratch.order, scratch.rank, scratch.prefix,
        )  # fmt: skip
        scratch.spade[s] = best - bias[s]


@kernel
def record(
    counts, memory, records, buffers, region, work, rules, steps, truth, scratch, trace, looks, at,
    rng, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli,
):  # fmt: skip
    """Take `steps` steps and write them down; says why it came back, as `run` does."""
    clock = memory.clock
    n_outcomes = memory.theta.shape[0]
    one = np.int64(1)  # a literal 1 would be a type of its own, and `run` compiled twice
    for _ in range(steps):
        before = clock[EPISODES]
        reason = ready(counts, memory, records, buffers, region, work, rules)
        if reason != DONE:
            return reason
        number = clock[EPISODES]
        if number != at[LOOKED]:
            row = at[LOOK]
            begun = records.start[number - 1] - rules.tau_origin
            looks.number[row] = number
            looks.tau[row] = begun
            looks.tolerance[row] = tolerance_at(rules, begun)
            looks.span[row] = records.span[number - 1]
            for k in range(n_outcomes):
                looks.theta[row, k] = memory.reference[k]
            look(counts, region, truth, scratch, looks, row, number == before)
            judge(memory, region, rules, scratch)
            at[LOOK] = row + 1
            at[LOOKED] = number
        state = clock[STATE]
        row = at[ROW]
        for k in range(n_outcomes):
            trace.theta[row, k] = memory.theta[k]
        now = clock[TIME]
        reason = run(
            counts, memory, records, buffers, region, work, rules, one, np.inf,
            rng, branch_first, branch_cumulative, branch_next, branch_row, rows, bernoulli,
        )  # fmt: skip
        if clock[TIME] == now:
            return reason
        pair = rules.first_pair[state] + memory.policy[state]
        trace.episode[row] = number
        trace.state[row] = state
        trace.pair[row] = pair
        trace.reward[row] = scratch.reward[pair]
        trace.spade[row] = scratch.spade[state]
        for k in range(n_outcomes):
            trace.outcome[row, k] = buffers.outcome[k]
        at[ROW] = row + 1
    return DONE
