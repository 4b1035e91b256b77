"""Algorithm TOC-UCRL2, compiled: one step, one plan, and the loop of both.

`step` processes what was observed at time t (lines 13 to 16), `plan` opens an episode (lines 5 to 10), and `run`
samples a world and calls them in turn. `act` and `observe` call the same two, so both ways give bit-identical
trajectories. Indices of the inner loop are unsigned: numba then leaves out the code for negative ones.

What they work on, `AgentArrays` and `PhaseConstants`, is described in `state`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._runtime.compiler import call_entry, inlined, kernel
from equipoise._runtime.frames import call_framed, framed, store_leading
from equipoise.agents.dual_bound import AT_THE_AVERAGE, BY_TANGENT, NOT_AT_ALL, ROUNDING
from equipoise.agents.episodes import BY_GRADIENT, BY_RESTART, BY_VISITS
from equipoise.agents.state import (
    BUDGET_GONE,
    DONE,
    NO_REGION,
    NOT_CONVERGED,
    NOT_FINITE,
    OUTCOMES_FULL,
    PAUSED,
    PLAN_ELSEWHERE,
    POOL_FULL,
    RECORDS_FULL,
    REGION_FULL,
)
from equipoise.confidence.base import Own, Task, all_finite, fill
from equipoise.confidence.counts import add_outcome, count, count_case, count_values, pool_is_full, soften
from equipoise.confidence.nonzero import add_nonzero, outcomes_are_full
from equipoise.models.world import draw
from equipoise.oracles.frame import OracleFrame, negate_and_measure
from equipoise.planning.kernels import CONVERGED, iterate, prepare_rewards
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
def tolerance_at(constants, tau):
    """The tolerance of a plan made at time tau."""
    return constants.tolerance * power(float(tau), constants.tolerance_power)


@inlined
def threshold_of(constants, tau, span):
    """Q_m, for an episode that starts at time tau, by the agent's own clock, with a bias of that span."""
    q = constants.threshold * power(float(tau), constants.threshold_power)
    return q * max(constants.threshold_floor, span) if constants.threshold_floor > 0.0 else q


@inlined
def threshold_at(arrays, constants, t):
    """Q at time t: that of the episode, or the Lipschitz constant of a reward that changes with time."""
    memory, limit = arrays.memory, arrays.buffers.limit
    if constants.moving_threshold == 0:
        return memory.drift_state[0].threshold
    call_entry(constants.moving_threshold, t, memory.average, constants.reward.params, limit)  # the time that theta has
    return limit[0]


@inlined
def visited_enough(laws, counts, pair, growth):
    """Whether the visits of a pair, or with known mechanics of a law that can be seen in it, grew by that factor."""
    if laws is None:
        return counts.fresh[pair] >= max(1.0, growth * counts.visits[pair])
    else:  # noqa: RET505 - numba leaves out one branch by the type of `laws`
        for i in range(laws.tested_first[pair], laws.tested_first[pair + 1]):
            unit = laws.tested[i]
            if counts.fresh[unit] >= max(1.0, growth * counts.visits[unit]):
                return True
        return False


@inlined
def verdict(laws, counts, pair, growth, drift, threshold, learning):
    """The while condition of line 11 for the next pair: 0 to go on, else what ended the episode."""
    ended = 0
    if not drift <= threshold:  # also if the drift is NaN: the episode ends, and the next plan reports theta
        ended |= BY_GRADIENT
    if learning and visited_enough(laws, counts, pair, growth):
        ended |= BY_VISITS
    return ended


@inlined
def oracle_frame(arrays, constants):
    """What the oracle's step is given, but for the time: that is stored before every call."""
    memory, buffers = arrays.memory, arrays.buffers
    return OracleFrame(
        0, 0, memory.theta, buffers.outcome, memory.average, memory.oracle, buffers.oracle, constants.oracle_params,
        constants.reward,
    )  # fmt: skip


@inlined
def move_theta(memory, constants, frame, t, local):
    """Replace theta_t by theta_{t+1}, and return its distance from the reference gradient."""
    if constants.frank_wolfe:
        call_entry(constants.reward.gradient, t, memory.average, constants.reward.params, memory.theta)
        return negate_and_measure(memory.theta, memory.reference, constants.dual_norm)
    store_leading(frame, (t, local))
    call_framed(constants.oracle, frame)
    return distance(memory.theta, memory.reference, constants.dual_norm)


@inlined
def sum_outcome(laws, told, nonzero, counts, pair, k, outcome):
    """Add an outcome to the sums of its pair."""
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
def step(arrays, constants, frame, t, local, pair, next_state, case):
    """Lines 13 to 16 but for the clock: count, average, theta_{t+1}; returns what is added to Psi."""
    counts, memory, outcome = arrays.counts, arrays.memory, arrays.buffers.outcome
    for k in range(outcome.shape[0]):
        sum_outcome(constants.laws, constants.told, counts.nonzero, counts, pair, k, outcome[k])
        memory.total[k] += outcome[k]
        memory.average[k] = memory.total[k] / t
    add_nonzero(counts.nonzero, constants.known_mask, pair, outcome)
    count_step(constants.laws, counts, pair, outcome, next_state, case)
    return move_theta(memory, constants, frame, t, local)


@inlined
def prove(memory, proof, constants, t, gain, span):
    """Bound the optimum by g*(theta) + gain, and keep that if it is the least so far."""
    if constants.proving == NOT_AT_ALL:
        return
    theta, point, params = memory.theta, proof.point, constants.reward.params
    if constants.proving == AT_THE_AVERAGE:
        for k in range(theta.shape[0]):
            point[k] = memory.average[k]
    else:
        call_entry(constants.conjugate_argmax, FOREVER, theta, params, point)
    call_entry(constants.value, FOREVER, point, params, proof.number)
    bound = proof.number[0] + gain
    size = span + abs(proof.number[0])
    if constants.proving == BY_TANGENT:
        call_entry(constants.slope, FOREVER, point, params, proof.slope)
        for k in range(theta.shape[0]):
            bound += max(0.0, proof.slope[k] + theta[k]) - proof.slope[k] * point[k]
            size += abs(theta[k]) + abs(proof.slope[k])
    else:
        for k in range(theta.shape[0]):
            bound += theta[k] * point[k]
            size += abs(theta[k])
    bound += ROUNDING * size
    if bound < proof.bound[0]:
        proof.bound[0] = bound
        proof.time[0] = t
        for k in range(theta.shape[0]):
            proof.theta[k] = theta[k]


@inlined
def prepare_plan(arrays, constants, tau, ended):
    """What a plan starts from: the region, the optimistic rewards, and u; in buffers, so that nothing is half done."""
    counts, memory, region = arrays.counts, arrays.memory, arrays.region
    buffers, work = arrays.buffers, arrays.work
    n_states = memory.policy.shape[0]
    n_pairs, n_outcomes = counts.sums.shape
    for i in range(memory.stream.shape[0]):
        buffers.stream[i] = memory.stream[i]
    n_values = count_values(constants.laws, n_states)
    anew = not constants.timeless or buffers.filled[0] == 0
    logged = constants.rows > 0
    known = constants.known_mask
    task = Task(tau, constants.delta, anew, logged, n_values, n_pairs, n_outcomes, known, constants.known_outcomes)
    fill(constants.confidence, task, counts, region, Own(constants.floats, constants.ints, buffers.stream))
    buffers.filled[0] = 1
    if constants.drawn:
        soften(constants.laws, counts, region)
    if not all_finite(task, counts, region):
        return NO_REGION
    prepare_rewards(constants.laws, constants.told, counts.nonzero, memory.theta, region, work, buffers.reward)
    warm = ended & constants.warm_after == ended
    for s in range(n_states):
        buffers.bias[s] = memory.bias[s] if warm else 0.0
    work.progress[0].sweeps = 0
    work.progress[0].risen = 0.0
    work.progress[0].swept = 0
    return DONE


@kernel
def plan(arrays, constants, ended):
    """Lines 5 to 10: plan, and only then close the episode that `ended` so and open the next."""
    counts, memory, records, region, buffers, work, proof = arrays
    clock = memory.clock[0]
    t = clock.time
    tau = t - constants.tau_offset
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
        reason = prepare_plan(arrays, constants, tau, ended)
        if reason != DONE:
            return reason
    tolerance = tolerance_at(constants, tau)
    progress.time = t
    progress.tolerance = tolerance
    if constants.elsewhere:
        if progress.swept == 0:
            return PLAN_ELSEWHERE
        progress.swept = 0  # the plan is in the buffers
        progress.sweeps = 0
        reached = CONVERGED
    elif constants.leaps:
        reached = iterate_with_leaps(
            constants.laws, constants.first_pair, region, buffers.reward,
            tolerance, constants.sweep_limit, constants.relaxation, buffers.bias, buffers.policy, work, constants.pause,
        )  # fmt: skip
    else:
        reached = iterate(
            constants.laws, constants.first_pair, region, buffers.reward,
            tolerance, constants.sweep_limit, constants.relaxation, buffers.bias, buffers.policy, work, constants.pause,
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
    drift_state = memory.drift_state[0]
    drift_state.drift = 0.0
    drift_state.threshold = threshold_of(constants, tau - constants.rows, highest)
    clock.planned = 1
    if episode > 0:
        records.ended[episode - 1] = ended
    records.start[episode] = t
    records.ended[episode] = 0
    records.gain[episode] = work.certificate[0].gain
    records.span[episode] = highest  # the least entry of the bias is zero
    records.sweeps[episode] = work.certificate[0].sweeps
    clock.episodes = episode + 1
    prove(memory, proof, constants, t, work.certificate[0].gain, highest)
    return DONE


@kernel
def ready(arrays, constants):
    """Make sure that there is a policy to follow at the present time."""
    memory = arrays.memory
    clock = memory.clock[0]
    if clock.planned == 0:
        ended = BY_RESTART
    else:
        pair = constants.first_pair[clock.state] + memory.policy[clock.state]
        limit = threshold_at(arrays, constants, clock.time)
        drift, learning = memory.drift_state[0].drift, clock.learning != 0
        ended = verdict(constants.laws, arrays.counts, np.uint64(pair), constants.growth, drift, limit, learning)
    if ended == 0:
        return DONE
    return plan(arrays, constants, ended)


@kernel
def observe_once(arrays, constants, next_state, case):
    """Process what followed the pending pair; the outcomes are in the buffer. `StepArrays` are enough."""
    if pool_is_full(arrays.counts):
        return POOL_FULL
    if outcomes_are_full(arrays.counts.nonzero):
        return OUTCOMES_FULL
    memory = arrays.memory
    clock = memory.clock[0]
    frame = framed(oracle_frame(arrays, constants))
    t = clock.time
    pair = np.uint64(clock.pending)
    memory.drift_state[0].drift += step(arrays, constants, frame, t, t - clock.origin, pair, next_state, case)
    clock.time = t + 1
    clock.state = next_state
    clock.pending = -1
    return DONE


@inlined
def exceeds_budget(total, budget):
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
def run(arrays, constants, steps, budget, rng, world, cases):
    """Take up to `steps` steps in a sampled world, with plans in between; returns why it stopped."""
    counts, memory, outcome = arrays.counts, arrays.memory, arrays.buffers.outcome
    first_pair, policy = constants.first_pair, memory.policy
    clock = memory.clock[0]
    drift_state = memory.drift_state[0]
    frame = framed(oracle_frame(arrays, constants))
    learning = clock.learning != 0
    t = clock.time
    origin = clock.origin
    state = clock.state
    drift = drift_state.drift
    limit = drift_state.threshold
    moving = constants.moving_threshold != 0
    last = t + steps
    swept = 0
    reason = DONE
    limited = budget < np.inf
    while t < last:
        if limited and exceeds_budget(memory.total, budget):
            reason = BUDGET_GONE
            break
        pair = first_pair[np.uint64(state)] + policy[np.uint64(state)]
        if moving:
            limit = threshold_at(arrays, constants, t)
        ended = verdict(constants.laws, counts, np.uint64(pair), constants.growth, drift, limit, learning)
        if ended != 0:
            if swept > constants.pause:
                reason = PAUSED
                break
            clock.time = t
            reason = plan(arrays, constants, ended)
            if reason != DONE:
                break
            swept += arrays.work.certificate[0].sweeps
            drift = 0.0
            limit = drift_state.threshold
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
        drift += step(arrays, constants, frame, t, t - origin, np.uint64(pair), next_state, case)
        t += 1
        state = next_state
    clock.time = t
    clock.state = state
    drift_state.drift = drift
    return reason
