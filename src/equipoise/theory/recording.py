"""A run of an agent that is recorded: every step is written down, every episode compared with the true model.

`record` steps with the agent's own kernels, `ready` and `run` for one step, so the trajectory is bit-identical to that
of `simulate`. When an episode has begun, `look` compares its regions with the true model, and `judge` computes what
Lemma 4.4 needs of its plan.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import compile_once, inlined, kernel
from equipoise.agents.kernels import ready, run, tolerance_at
from equipoise.agents.state import DONE
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.errors import ParameterError, ProtocolError
from equipoise.models.model import Model
from equipoise.models.paper_instances import bandit
from equipoise.models.world import Seed, get_sampling, stream
from equipoise.planning.evi import Workspace, workspace
from equipoise.planning.kernels import inner_maximum, optimistic_rewards, rank_states
from equipoise.rewards.separable import Quadratic
from equipoise.simulation import check_simulation

_STEPS_PER_CALL: Final = 1 << 14  # steps in one call of the kernel; then Python hears Ctrl-C

# How far a recording has come: one record of this type.
PROGRESS: Final = np.dtype(
    [
        ("steps", np.int64),  # rows of the trace that are written
        ("looks", np.int64),  # rows of the looks that are written
        ("episode", np.int64),  # the number of the episode looked at last; 0 before the first
    ]
)


class Truth(NamedTuple):
    """The model that the agent does not know."""

    transition_first: NDArray[np.int64]
    transition_state: NDArray[np.int64]
    transition_probability: NDArray[np.float64]
    means: NDArray[np.float64]


class Trace(NamedTuple):
    """One row per step: episode, state, pair, theta_t, V_t, r~_m(s_t, a_t) and spade_t."""

    episode: NDArray[np.int64]
    state: NDArray[np.int64]
    pair: NDArray[np.int64]
    theta: NDArray[np.float64]
    outcome: NDArray[np.float64]
    reward: NDArray[np.float64]
    spade: NDArray[np.float64]


class Looks(NamedTuple):
    """One row per episode."""

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
    reward: NDArray[np.float64]  # r~, one per pair
    spade: NDArray[np.float64]  # one per state, for the action of the policy
    work: Workspace  # the planner's


@inlined
def used_share(x, estimate, lo, hi):
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
    """Compare a region with the true model; midway in an episode without shares, as the counts have moved on."""
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
            v_used = max(v_used, used_share(x, counts.sums[pair, k] / n, lo, hi))
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
                p_used = max(p_used, used_share(x, seen[state], region.lo[i], region.hi[i]))
            chance[state] = 0.0
        for i in range(begin, end):  # listed successors were set to zero above: the others remain
            x = chance[truth.transition_state[i]]
            together += x
            if not ball:
                p_held = p_held and x <= rest
                p_used = max(p_used, used_share(x, 0.0, 0.0, rest))
            chance[truth.transition_state[i]] = 0.0
        if ball:
            if region.radius[pair] < 2.0:  # a ball of radius 2 holds every distribution
                p_held = p_held and distance + together <= region.radius[pair]
                p_used = max(p_used, (distance + together) / region.radius[pair])
        elif region.rest_sum[pair] < 1.0:
            p_held = p_held and together <= region.rest_sum[pair]
            p_used = max(p_used, used_share(together, 0.0, 0.0, region.rest_sum[pair]))
        for i in range(block, block_end):
            seen[counts.pool_state[i]] = 0.0
    looks.v_held[row] = v_held
    looks.p_held[row] = p_held
    looks.v_used[row] = np.nan if midway else v_used
    looks.p_used[row] = np.nan if midway else p_used


@kernel
def judge(memory, region, constants, scratch):
    """r~ of every pair, and spade of every state under the policy."""
    bias = memory.bias
    optimistic_rewards(memory.reference, region.v_lo, region.v_hi, scratch.reward)
    for s in range(bias.shape[0]):
        scratch.work.order[s] = s
    rank_states(bias, scratch.work)
    for s in range(bias.shape[0]):
        pair = constants.first_pair[s] + memory.policy[s]
        scratch.spade[s] = inner_maximum(pair, region, bias, scratch.work) - bias[s]


@kernel
def record(arrays, constants, steps, truth, scratch, trace, looks, progress, rng, world):
    """Take `steps` steps and write them down; returns why it stopped, as `run` does."""
    counts, memory, records, region, buffers = (
        arrays.counts, arrays.memory, arrays.records, arrays.region, arrays.buffers,
    )  # fmt: skip
    clock = memory.clock[0]
    done = progress[0]
    n_outcomes = memory.theta.shape[0]
    one = np.int64(1)  # a literal 1 would be a type of its own, and `run` compiled twice
    for _ in range(steps):
        before = clock.episodes
        reason = ready(arrays, constants)
        if reason != DONE:
            return reason
        number = clock.episodes
        if number != done.episode:
            row = done.looks
            begun = records.start[number - 1] - constants.tau_offset
            looks.number[row] = number
            looks.tau[row] = begun
            looks.tolerance[row] = tolerance_at(constants, begun)
            looks.span[row] = records.span[number - 1]
            for k in range(n_outcomes):
                looks.theta[row, k] = memory.reference[k]
            look(counts, region, truth, scratch, looks, row, number == before)
            judge(memory, region, constants, scratch)
            done.looks = row + 1
            done.episode = number
        state = clock.state
        row = done.steps
        for k in range(n_outcomes):
            trace.theta[row, k] = memory.theta[k]
        now = clock.time
        reason = run(arrays, constants, one, np.inf, rng, world, None)
        if clock.time == now:
            return reason
        pair = constants.first_pair[state] + memory.policy[state]
        trace.episode[row] = number
        trace.state[row] = state
        trace.pair[row] = pair
        trace.reward[row] = scratch.reward[pair]
        trace.spade[row] = scratch.spade[state]
        for k in range(n_outcomes):
            trace.outcome[row, k] = buffers.outcome[k]
        done.steps = row + 1
    return DONE


def check_run(model: Model, agent: TocUCRL2, steps: int, seed: Seed) -> None:
    """Raise what `simulate` raises, and an error for agents whose regions cannot be read."""
    if not isinstance(agent, TocUCRL2):
        raise ParameterError(f"agent: got {type(agent).__name__}; a TocUCRL2 is needed")
    check_simulation(model, agent, steps, seed)
    if agent.space.laws is not None:
        raise ParameterError(
            "agent: it was told the mechanics of its system; what is recorded here is of pairs, for an agent that "
            "knows nothing of them: make it with model.space"
        )
    if agent.loop.arrays.counts.sums.shape[1] == 0:
        raise ParameterError(
            "agent: its outcomes are too many to look at one by one, as is done here; take a smaller world"
        )
    midway = agent.loop.arrays.memory.clock["planned"][0] and agent.loop.steps_left_in_phase() != 0
    region = agent.loop.arrays.region
    if midway and not region.first[-1] and not region.rest.any() and not region.radius.any():
        raise ProtocolError(
            f"agent: it was loaded or copied at time {agent.t}, in the midst of an episode, and the regions of that "
            "episode are not kept; start from the beginning, or from the agent that planned it"
        )


def record_run(model: Model, agent: TocUCRL2, steps: int, seed: Seed, rows: int) -> Iterator[tuple[Trace, Looks]]:
    """Take `steps` steps; after every `rows` of them, and at the end, yield what they were, in arrays used again."""
    compile_once("theory", _small_run)
    yield from _record_rows(model, agent, steps, seed, rows)


def _record_rows(model: Model, agent: TocUCRL2, steps: int, seed: Seed, rows: int) -> Iterator[tuple[Trace, Looks]]:
    space = agent.space
    trace, looks = _trace(min(rows, steps), space.n_outcomes), _looks(min(rows, steps), space.n_outcomes)
    scratch = _scratch(space.n_states, space.n_pairs)
    truth = Truth(model.transition_first, model.transition_state, model.transition_probability, model.means)
    world = get_sampling(model)
    rng = stream(model, seed, agent.t)
    last = agent.t - 1 + int(steps)
    progress = np.zeros(1, dtype=PROGRESS)
    loop = agent.loop
    with loop.exclusive():
        while agent.t <= last:
            loop.begin_phase_if_due()
            left = loop.steps_left_in_phase()
            free = rows - int(progress["steps"][0])
            count = min(last - agent.t + 1, _STEPS_PER_CALL, free, last if left is None else left)
            loop.handle_return_code(
                record(loop.arrays, loop.constants, count, truth, scratch, trace, looks, progress, rng, world)
            )
            loop.pause()
            if progress["steps"][0] == rows or agent.t > last:
                done, looked = int(progress["steps"][0]), int(progress["looks"][0])
                yield Trace._make(part[:done] for part in trace), Looks._make(part[:looked] for part in looks)
                progress["steps"] = progress["looks"] = 0


def _trace(rows: int, n_outcomes: int) -> Trace:
    return Trace._make(_zeros(rows, n_outcomes, kinds="iiimmff"))


def _looks(rows: int, n_outcomes: int) -> Looks:
    return Looks._make(_zeros(rows, n_outcomes, kinds="iiffmbbff"))


def _scratch(S: int, P: int) -> Scratch:
    return Scratch(np.zeros(S), np.zeros(S), np.zeros(P), np.zeros(S), workspace(S, P))


def _zeros(rows: int, n_outcomes: int, kinds: str) -> list[NDArray[Any]]:
    """Empty columns, one per letter: i for whole numbers, b for truth values, f for numbers, m for outcome vectors."""
    types = {"i": np.int64, "b": np.bool_}
    return [np.zeros((rows, n_outcomes) if kind == "m" else rows, types.get(kind, np.float64)) for kind in kinds]


def _small_run() -> None:
    model = bandit(2)
    for _ in _record_rows(model, TocUCRL2(model.space, Quadratic([0.5, 0.5])), 8, 0, 8):
        pass
