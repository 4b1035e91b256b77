"""Algorithm TOC-UCRL2, compiled: one step, one plan, and the loop of both.

`step` takes in what was observed at time t (lines 13 to 16), `plan` opens an episode (lines 5 to 10), and `run`
samples a world and calls them in turn. `act` and `observe` call the same two, so both ways give the same
trajectory, to the last bit. Indices of the inner loop are unsigned: numba then leaves out the code for negative ones.

What they work on, a `Machine` and its `Rules`, is described in `machine`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._compile import call_entry, inlined, kernel
from equipoise._frames import call_framed, framed, store_leading
from equipoise.agents.episodes import BY_GRADIENT, BY_RESTART, BY_VISITS
from equipoise.agents.machine import (
    BUDGET_GONE,
    DONE,
    NO_REGION,
    NOT_CONVERGED,
    NOT_FINITE,
    OUTCOMES_FULL,
    PAUSED,
    POOL_FULL,
    RECORDS_FULL,
    REGION_FULL,
)
from equipoise.agents.proof import AT_THE_AVERAGE, BY_TANGENT, NOT_AT_ALL, ROUNDING
from equipoise.confidence.counts import add_outcome, count, pool_is_full
from equipoise.confidence.fill import all_finite, fill
from equipoise.confidence.frame import Own, Task
from equipoise.confidence.law_counts import count_case, soften, values_of
from equipoise.confidence.nonzero import add_nonzero, outcomes_are_full
from equipoise.models.kernels import draw
from equipoise.oracles.frame import OracleFrame
from equipoise.oracles.kernels import negate_and_measure
from equipoise.planning.kernels import CONVERGED, bounds_and_rewards, iterate
from equipoise.planning.kernels import PAUSED as SWEPT_ENOUGH
from equipoise.planning.leaps import iterate_with_leaps
from equipoise.rewards.base import FOREVER
from equipoise.rewards.norms import distance


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
def threshold_at(machine, rules, t):
    """Q at time t: that of the episode, or the Lipschitz constant of a reward that changes with time."""
    memory, limit = machine.memory, machine.buffers.limit
    if rules.moving_threshold == 0:
        return memory.gauge[0].threshold
    call_entry(rules.moving_threshold, t - rules.tau_origin, memory.average, rules.reward.params, limit)
    return limit[0]


@inlined
def visited_enough(laws, counts, pair):
    """Whether a pair, or with known mechanics a law that can be seen in it, has been visited as often as before."""
    if laws is None:
        return counts.fresh[pair] >= max(1, counts.visits[pair])
    else:  # noqa: RET505 - numba leaves out one branch by the type of `laws`
        for i in range(laws.tested_first[pair], laws.tested_first[pair + 1]):
            unit = laws.tested[i]
            if counts.fresh[unit] >= max(1, counts.visits[unit]):
                return True
        return False


@inlined
def verdict(laws, counts, pair, drift, threshold, learning):
    """The while condition of line 11 for the next pair: 0 to go on, else what ended the episode."""
    ended = 0
    if not drift <= threshold:  # also if the drift is NaN: the episode ends, and the next plan reports theta
        ended |= BY_GRADIENT
    if learning and visited_enough(laws, counts, pair):
        ended |= BY_VISITS
    return ended


@inlined
def oracle_frame(machine, rules):
    """What the oracle's step is given, but for the time: that is stored before every call."""
    memory, buffers = machine.memory, machine.buffers
    return OracleFrame(
        0, 0, memory.theta, buffers.outcome, memory.average, memory.oracle, buffers.oracle, rules.oracle_params,
        rules.reward,
    )  # fmt: skip


@inlined
def move_theta(memory, rules, frame, t, local):
    """Replace theta_t by theta_{t+1}, and return its distance from the reference gradient.

    `t` is the time, `local` the time counted from the oracle's own start. Frank-Wolfe is built in, as through
    its address a step took about a quarter longer; both ways give the same bits.
    """
    if rules.frank_wolfe:
        call_entry(rules.reward.gradient, t, memory.average, rules.reward.params, memory.theta)
        return negate_and_measure(memory.theta, memory.reference, rules.dual_norm)
    store_leading(frame, (t, local))
    call_framed(rules.oracle, frame)
    return distance(memory.theta, memory.reference, rules.dual_norm)


@inlined
def sum_outcome(laws, told, nonzero, counts, pair, k, outcome):
    """Add an outcome to the sums of its pair.

    Those of known mechanics are counted by case, those told not at all, and those nearly all zero once for all k.
    """
    if laws is None and told is None and nonzero is None:
        add_outcome(counts, pair, k, outcome)


@inlined
def count_step(laws, counts, pair, outcome, next_state, case):
    """Line 13: count the successor of the pair, or all laws that are seen in that case."""
    if laws is None:
        count(counts, pair, next_state)
    else:
        count_case(laws, counts, outcome, case)


@inlined
def step(machine, rules, frame, t, local, pair, next_state, case):
    """Lines 13 to 16 but for the clock: count, average, theta_{t+1}; returns what is added to Psi."""
    counts, memory, outcome = machine.counts, machine.memory, machine.buffers.outcome
    for k in range(outcome.shape[0]):
        sum_outcome(rules.laws, rules.told, counts.nonzero, counts, pair, k, outcome[k])
        memory.total[k] += outcome[k]
        memory.average[k] = memory.total[k] / t
    add_nonzero(counts.nonzero, rules.known_mask, pair, outcome)
    count_step(rules.laws, counts, pair, outcome, next_state, case)
    return move_theta(memory, rules, frame, t, local)


@inlined
def prove(memory, proof, rules, t, gain):
    """Bound the optimum by g*(theta) + gain, and keep that if it is the least so far.

    A reward that changes with time is its limit here, by which runs are judged.
    """
    if rules.proving == NOT_AT_ALL:
        return
    theta, point, params = memory.theta, proof.point, rules.reward.params
    if rules.proving == AT_THE_AVERAGE:
        for k in range(theta.shape[0]):
            point[k] = memory.average[k]
    else:
        call_entry(rules.conjugate_argmax, FOREVER, theta, params, point)
    call_entry(rules.value, FOREVER, point, params, proof.number)
    bound = proof.number[0] + gain
    if rules.proving == BY_TANGENT:
        call_entry(rules.slope, FOREVER, point, params, proof.slope)
        for k in range(theta.shape[0]):
            bound += max(0.0, proof.slope[k] + theta[k]) - proof.slope[k] * point[k]
    else:
        for k in range(theta.shape[0]):
            bound += theta[k] * point[k]
    if bound < proof.bound[0]:
        proof.bound[0] = bound
        proof.time[0] = t
        for k in range(theta.shape[0]):
            proof.theta[k] = theta[k]


@inlined
def prepare_plan(machine, rules, tau, ended):
    """What a plan starts from: the region, the optimistic rewards, and u; in buffers, so that nothing is half done.

    Random numbers are drawn from a copy of their stream, which replaces the agent's when the plan is made.
    """
    counts, memory, region, buffers, work = (
        machine.counts,
        machine.memory,
        machine.region,
        machine.buffers,
        machine.work,
    )
    n_states = memory.policy.shape[0]
    n_pairs, n_outcomes = counts.sums.shape
    for i in range(memory.stream.shape[0]):
        buffers.stream[i] = memory.stream[i]
    n_values = values_of(rules.laws, n_states)
    anew = not rules.timeless or buffers.filled[0] == 0
    task = Task(tau, rules.delta, anew, n_values, n_pairs, n_outcomes, rules.known_mask, rules.known_outcomes)
    fill(rules.confidence, task, counts, region, Own(rules.floats, rules.ints, buffers.stream))
    buffers.filled[0] = 1
    if rules.drawn:
        soften(rules.laws, counts, region)
    if not all_finite(task, counts, region):
        return NO_REGION
    bounds_and_rewards(rules.laws, rules.told, counts.nonzero, memory.theta, region, work, buffers.reward)
    warm = ended & rules.warm_after == ended
    for s in range(n_states):
        buffers.bias[s] = memory.bias[s] if warm else 0.0
    work.progress[0].sweeps = 0
    work.progress[0].risen = 0.0
    work.progress[0].swept = 0
    return DONE


@kernel
def plan(machine, rules, ended):
    """Lines 5 to 10: plan, and only then close the episode that `ended` so and open the next.

    A plan that takes long is paused, and goes on at the next call, if the time is still the same.
    """
    counts, memory, records, region, buffers, work, proof = machine
    clock = memory.clock[0]
    t = clock.time
    tau = t - rules.tau_origin
    episode = clock.episodes
    if episode == records.start.shape[0]:
        return RECORDS_FULL
    if counts.pool[0].seen > region.successor.shape[0]:
        return REGION_FULL
    for k in range(memory.theta.shape[0]):
        if not abs(memory.theta[k]) < np.inf:
            return NOT_FINITE
    n_states = memory.policy.shape[0]
    n_pairs = counts.visits.shape[0]  # of units in the place of pairs, with known mechanics
    progress = work.progress[0]
    if progress.time != t or progress.sweeps == 0:
        reason = prepare_plan(machine, rules, tau, ended)
        if reason != DONE:
            return reason
    tolerance = tolerance_at(rules, tau)
    progress.time = t
    progress.tolerance = tolerance
    if rules.leaps:
        reached = iterate_with_leaps(
            rules.laws, rules.first_pair, region, buffers.reward,
            tolerance, rules.sweep_limit, rules.relaxation, buffers.bias, buffers.policy, work, rules.pause,
        )  # fmt: skip
    else:
        reached = iterate(
            rules.laws, rules.first_pair, region, buffers.reward,
            tolerance, rules.sweep_limit, rules.relaxation, buffers.bias, buffers.policy, work, rules.pause,
        )  # fmt: skip
    if reached == SWEPT_ENOUGH:
        return PAUSED
    progress.time = 0
    if reached != CONVERGED:
        return NOT_CONVERGED
    for i in range(memory.stream.shape[0]):
        memory.stream[i] = buffers.stream[i]
    for pair in range(n_pairs):
        if counts.fresh[pair] > 0:
            counts.visits[pair] += counts.fresh[pair]
            counts.fresh[pair] = 0
    highest = 0.0
    for s in range(n_states):
        memory.policy[s] = buffers.policy[s]
        memory.bias[s] = buffers.bias[s]
        highest = max(highest, buffers.bias[s])
    for k in range(memory.theta.shape[0]):
        memory.reference[k] = memory.theta[k]
    gauge = memory.gauge[0]
    gauge.drift = 0.0
    gauge.threshold = threshold_of(rules, tau, highest)
    clock.planned = 1
    if episode > 0:
        records.ended[episode - 1] = ended
    records.start[episode] = t
    records.ended[episode] = 0
    records.gain[episode] = work.certificate[0].gain
    records.span[episode] = highest  # the least entry of the bias is zero
    records.sweeps[episode] = work.certificate[0].sweeps
    clock.episodes = episode + 1
    prove(memory, proof, rules, t, work.certificate[0].gain + ROUNDING * (1.0 + highest))
    return DONE


@kernel
def ready(machine, rules):
    """Make sure that there is a policy to follow at the present time."""
    memory = machine.memory
    clock = memory.clock[0]
    if clock.planned == 0:
        ended = BY_RESTART
    else:
        pair = rules.first_pair[clock.state] + memory.policy[clock.state]
        limit = threshold_at(machine, rules, clock.time)
        ended = verdict(rules.laws, machine.counts, np.uint64(pair), memory.gauge[0].drift, limit, clock.learning != 0)
    if ended == 0:
        return DONE
    return plan(machine, rules, ended)


@kernel
def observe_once(machine, rules, next_state, case):
    """Take in what followed the pending pair; the outcomes are in the buffer. A `StepMachine` is enough.

    `case` is what was seen of known mechanics; without any it says nothing.
    """
    if pool_is_full(machine.counts):
        return POOL_FULL
    if outcomes_are_full(machine.counts.nonzero):
        return OUTCOMES_FULL
    memory = machine.memory
    clock = memory.clock[0]
    frame = framed(oracle_frame(machine, rules))
    t = clock.time
    pair = np.uint64(clock.pending)
    memory.gauge[0].drift += step(machine, rules, frame, t, t - clock.origin, pair, next_state, case)
    clock.time = t + 1
    clock.state = next_state
    clock.pending = -1
    return DONE


@inlined
def spent(total, budget):
    """Whether one more unit of some resource might exceed the budget; outcome 0 is no resource."""
    for k in range(1, total.shape[0]):
        if total[k] + 1.0 > budget:
            return True
    return False


@inlined
def case_of_branch(cases, branch):
    """What is seen of known mechanics when a branch of the world is taken; without any, nothing."""
    if cases is None:
        return np.int64(0)
    else:  # noqa: RET505
        return cases[branch]


@kernel
def run(machine, rules, steps, budget, rng, world, cases):
    """Take up to `steps` steps in a sampled world, planning on the way; says why it came back.

    There must be a plan. `cases` has the case of each branch of the world, for an agent that was told its mechanics,
    and is None for others. With a finite `budget` it comes back as soon as the total of some outcome after the first
    is within one of it.
    """
    counts, memory, outcome = machine.counts, machine.memory, machine.buffers.outcome
    first_pair, policy = rules.first_pair, memory.policy
    clock = memory.clock[0]
    gauge = memory.gauge[0]
    frame = framed(oracle_frame(machine, rules))
    learning = clock.learning != 0
    t = clock.time
    origin = clock.origin
    state = clock.state
    drift = gauge.drift
    limit = gauge.threshold
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
            limit = threshold_at(machine, rules, t)
        ended = verdict(rules.laws, counts, np.uint64(pair), drift, limit, learning)
        if ended != 0:
            if swept > rules.pause:
                reason = PAUSED
                break
            clock.time = t
            reason = plan(machine, rules, ended)
            if reason != DONE:
                break
            swept += machine.work.certificate[0].sweeps
            drift = 0.0
            limit = gauge.threshold
            pair = first_pair[state] + policy[state]
        if pool_is_full(counts):
            reason = POOL_FULL
            break
        if outcomes_are_full(counts.nonzero):
            reason = OUTCOMES_FULL
            break
        branch = draw(rng, pair, world, outcome)
        next_state = world.branch_next[branch]
        case = case_of_branch(cases, branch)
        drift += step(machine, rules, frame, t, t - origin, np.uint64(pair), next_state, case)
        t += 1
        state = next_state
    clock.time = t
    clock.state = state
    gauge.drift = drift
    return reason
