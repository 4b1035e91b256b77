r"""Playing a mixture of policies: which of them when, and which action in a state where they differ.

Policies that share their recurrent class are played as one: in a state where they differ, the action is taken that is
furthest behind its share of the visits. That is the occupancy of the mixture without the noise of a random choice.
Policies that live in different classes take turns, each in a slot of a *round*. To go from one class to the next takes
about D steps, so n classes lose n D / R per step to ways; and while one class is played for its part of R steps, the
average is off by up to R / t. A round of

    R = 2 sqrt(n D t)

steps makes both of the order sqrt(n D / t).

Whether policies can be played as one is seen from the chain of their common occupancy. If it takes longer than a round
to forget where it began, as where classes only leak into each other, turns are better.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._runtime.compiler import inlined, kernel
from equipoise._types import Index, Vector
from equipoise.agents.kernels import case_of_branch, count_step, exceeds_budget, sum_outcome, visited_enough
from equipoise.agents.state import BUDGET_GONE, DONE, OUTCOMES_FULL, POOL_FULL
from equipoise.confidence.counts import Counts, pool_is_full
from equipoise.confidence.nonzero import add_nonzero, outcomes_are_full
from equipoise.models.world import draw
from equipoise.offline.chains import discounted_values
from equipoise.planning.mixture import PlannedPolicy

OVER: Final = 101  # the round is over
VISITED: Final = 102  # the visits of a pair have grown enough since the last plan

PLAY: Final = np.dtype(
    [
        ("slot", np.int64),  # which one is being played
        ("left", np.int64),  # steps of it that are left
        ("again", np.int64),  # the time before which another round is begun
        ("until", np.int64),  # the time at which the last round is over at the latest
    ]
)
_ROUND: Final = 2.0
_HORIZON: Final = 4.0  # rounds that are looked ahead to see whether policies can be played as one
RARE: Final = 1e-4  # states visited less often do not belong to a policy
_HERE: Final = 1e-3  # of a slot: states that are its own
_LATE: Final = 4  # rounds after which the last one is over, though some class was not reached
_LEAST_SLOT: Final = 0.5  # steps of a slot: fewer are left to a later round
NO_SHARE: Final = 1e-6  # actions taken less often, of the visits of a state, are not taken at all
_TIE: Final = 1e-9


class Rounds(NamedTuple):
    """What is played until the next plan."""

    share: Vector
    inside: Index
    way: Index
    length: Index
    credit: Vector
    play: NDArray[np.void]


class Slot(NamedTuple):
    """Policies that are played as one."""

    weight: float
    occupancy: Vector
    states: Vector


def no_rounds(n_states: int, n_pairs: int) -> Rounds:
    """Nothing to play: the first thing to do is to plan."""
    return Rounds(
        share=np.zeros((0, n_pairs)),
        inside=np.zeros((0, n_states), dtype=np.int64),
        way=np.zeros((0, n_states), dtype=np.int64),
        length=np.zeros(0, dtype=np.int64),
        credit=np.zeros(n_pairs),
        play=np.zeros(1, dtype=PLAY),
    )


def round_length(n_slots: int, distance: float, t: int) -> int:
    """R = 2 sqrt(n D t), and no less than n D."""
    most = n_slots * max(1.0, distance)
    return math.ceil(max(most, _ROUND * math.sqrt(most * t)))


def estimated_chain(first_pair: Index, counts: Counts, policy: Index, chain: Vector | csr_array) -> Vector | csr_array:
    """The transitions of a policy as they were seen; those of `chain` in states where it was never followed."""
    pairs = first_pair[:-1] + policy
    used = counts.block_used[pairs]
    row = np.repeat(np.arange(pairs.size), used)
    place = np.arange(row.size) + np.repeat(counts.block_first[pairs] - np.cumsum(used) + used, used)
    visits = np.maximum(1, counts.visits[pairs] + counts.fresh[pairs])
    seen = counts.pool_count[place] / visits[row]
    if isinstance(chain, np.ndarray):
        estimate = np.where((used > 0)[:, None], 0.0, chain)
        estimate[row, counts.pool_state[place]] = seen
        return estimate
    unseen = csr_array(((used == 0).astype(float), (np.arange(pairs.size), np.arange(pairs.size))))
    return csr_array(csr_array((seen, (row, counts.pool_state[place])), shape=chain.shape) + unseen @ chain)


def slots_of(
    first_pair: Index,
    policies: Sequence[PlannedPolicy],
    chains: Sequence[Vector | csr_array],
    weights: Vector,
    length: int,
) -> list[Slot]:
    """Put policies together that can be played as one within a round of that length."""
    n = len(policies)
    label = np.zeros(n, dtype=np.int64)
    shares = np.array([one.share for one in policies])
    if n > 1 and not _is_one(shares, chains, weights, length):
        label = np.arange(n)
        for i in range(n):
            for j in range(i):
                pair = [i, j]
                if label[i] != label[j] and _is_one(shares[pair], [chains[k] for k in pair], weights[pair], length):
                    label[label == label[i]] = label[j]
    slots = []
    for group in np.unique(label):
        members = np.flatnonzero(label == group)
        weight = float(weights[members].sum())
        occupancy, states = np.zeros(int(first_pair[-1])), np.zeros(first_pair.size - 1)
        for member in members.tolist():
            part = weights[member] / weight
            occupancy[first_pair[:-1] + policies[member].policy] += part * shares[member]
            states += part * shares[member]
        slots.append(Slot(weight, occupancy, states))
    kept = [slot for slot in slots if slot.weight * length >= _LEAST_SLOT]
    return kept or slots


def _is_one(shares: Vector, chains: Sequence[Vector | csr_array], weights: Vector, length: int) -> bool:
    """Whether the chain of the common occupancy forgets within a round in which policy's states it began."""
    weights = weights / weights.sum()
    visits = weights[:, None] * shares
    total = visits.sum(axis=0)
    states = np.flatnonzero(total > RARE)
    parts = visits[:, states] / total[states]
    lacking, horizon = parts.T - weights, _HORIZON * length
    if isinstance(chains[0], np.ndarray):
        here = np.ix_(states, states)
        mixed = sum((part[:, None] * np.asarray(chain)[here] for chain, part in zip(chains, parts, strict=True)), 0.0)
        values = np.linalg.solve(np.eye(states.size) - (1.0 - 1.0 / horizon) * mixed, lacking)
    else:
        rows = [csr_array(csr_array(chain)[states][:, states]) for chain in chains]
        sparse = sum((row.multiply(part[:, None]) for row, part in zip(rows, parts, strict=True)), rows[0] * 0.0)
        values = np.array([discounted_values(csr_array(sparse), column, 1.0 / horizon) for column in lacking.T]).T
    return bool(np.ptp(values, axis=0).max() <= length)


def new_rounds(
    first_pair: Index, slots: list[Slot], ways: list[Index], length: int, times: tuple[int, int], credit: Vector
) -> Rounds:
    """What to play, beginning with the first slot."""
    n_states = first_pair.size - 1
    inside = np.array([slot.states > RARE for slot in slots])
    state_of = np.repeat(np.arange(n_states), np.diff(first_pair))
    share = np.array(
        [np.where(own[state_of], slot.occupancy / np.where(own, slot.states, 1.0)[state_of], 0.0)
         for slot, own in zip(slots, inside, strict=True)]
    )  # fmt: skip
    share[share < NO_SHARE] = 0.0
    weights = np.array([slot.weight for slot in slots])
    steps = np.maximum(1, np.round(length * weights / weights.sum())).astype(np.int64)
    play = np.zeros(1, dtype=PLAY)
    play["left"], play["again"], play["until"] = steps[0], *times
    return Rounds(share, inside.astype(np.int64), np.array(ways), steps, credit, play)


def distances(slots: Sequence[Slot], ways: Sequence[PlannedPolicy], unit: float) -> Vector:
    """The steps from each slot to each other, a row per destination; `unit` is what the ways pay for a step there."""
    return np.array(
        [
            [float((slot.states - other.states) @ way.bias) / unit for other in slots]
            for slot, way in zip(slots, ways, strict=True)
        ]
    )


def rounds_of(
    first_pair: Index,
    slots: list[Slot],
    ways: list[PlannedPolicy],
    unit: float,
    now: tuple[int, int],
    length: int,
    credit: Vector,
) -> Rounds:
    """What to play for some steps: one slot, or rounds of several, beginning where the system is."""
    state, t = now
    times = t, t + length
    if len(slots) > 1:
        order = sorted(range(len(slots)), key=lambda i: bool(slots[i].states[state] <= _HERE))
        slots, ways = [slots[i] for i in order], [ways[i] for i in order]
        between = distances(slots, ways, unit)
        length = round_length(len(slots), float(np.mean(between[~np.eye(len(slots), dtype=bool)])), t)
        times = times[1], times[1] + _LATE * length
    return new_rounds(first_pair, slots, [way.policy for way in ways], length, times, credit)


@inlined
def next_pair(rounds, first_pair, state, time):
    """The pair to take; -1 if the round is over. Calling it again gives the same."""
    play = rounds.play[0]
    if time >= play.until:
        return np.int64(-1)
    if play.left <= 0:
        if play.slot + 1 < rounds.length.shape[0]:
            play.slot += 1
        elif time < play.again:
            play.slot = 0
        else:
            return np.int64(-1)
        play.left = rounds.length[play.slot]
    slot = play.slot
    if rounds.inside[slot, state] == 0:
        return first_pair[state] + rounds.way[slot, state]
    chosen = np.int64(-1)
    most = -np.inf
    for pair in range(first_pair[state], first_pair[state + 1]):
        share = rounds.share[slot, pair]
        if share > 0.0 and rounds.credit[pair] + share > most + _TIE:
            most = rounds.credit[pair] + share
            chosen = np.int64(pair)
    return chosen


@inlined
def take_pair(rounds, first_pair, state, pair):
    """Take note that a pair was taken."""
    play = rounds.play[0]
    slot = play.slot
    if rounds.inside[slot, state] != 0:
        for i in range(first_pair[state], first_pair[state + 1]):
            if rounds.share[slot, i] > 0.0:
                rounds.credit[i] = min(1.0, max(-1.0, rounds.credit[i] + rounds.share[slot, i]))
        rounds.credit[pair] -= 1.0
        play.left -= 1
    elif rounds.length.shape[0] == 1:
        play.left -= 1


@kernel
def next_action(laws, rounds, first_pair, counts, learning, growth, state, time):
    """The pair to take in a state, which is noted; or minus why a plan is needed."""
    pair = next_pair(rounds, first_pair, state, time)
    if pair < 0:
        return np.int64(-OVER)
    if learning and visited_enough(laws, counts, np.uint64(pair), growth):
        return np.int64(-VISITED)
    take_pair(rounds, first_pair, state, pair)
    return pair


@inlined
def _learn(laws, told, known_mask, counts, pair, outcome, next_state, case):
    for k in range(outcome.shape[0]):
        sum_outcome(laws, told, counts.nonzero, counts, pair, k, outcome[k])
    add_nonzero(counts.nonzero, known_mask, pair, outcome)
    count_step(laws, counts, pair, outcome, next_state, case)


@kernel
def learn_once(laws, told, known_mask, counts, pair, outcome, next_state, case):
    """Count what followed a pair; says which array is too small for it, if one is."""
    if pool_is_full(counts):
        return POOL_FULL
    if outcomes_are_full(counts.nonzero):
        return OUTCOMES_FULL
    _learn(laws, told, known_mask, counts, np.uint64(pair), outcome, next_state, case)
    return DONE


@kernel
def play(
    laws, told, known_mask, rounds, first_pair, counts, learning, growth, clock, total, outcome, steps, budget, rng,
    world, cases,
):  # fmt: skip
    """Take up to `steps` steps in a sampled world; says why it came back."""
    now = clock[0]
    last = now.time + steps
    limited = budget < np.inf
    while now.time < last:
        if limited and exceeds_budget(total, budget):
            return BUDGET_GONE
        state = now.state
        pair = next_pair(rounds, first_pair, state, now.time)
        if pair < 0:
            return OVER
        place = np.uint64(pair)
        if learning and visited_enough(laws, counts, place, growth):
            return VISITED
        if pool_is_full(counts):
            return POOL_FULL
        if outcomes_are_full(counts.nonzero):
            return OUTCOMES_FULL
        take_pair(rounds, first_pair, state, pair)
        branch = draw(rng, place, world, outcome)
        next_state = world.branch_next[branch]
        _learn(laws, told, known_mask, counts, place, outcome, next_state, case_of_branch(cases, branch))
        for k in range(outcome.shape[0]):
            total[k] += outcome[k]
        now.state = next_state
        now.time += 1
    return DONE


@kernel
def follow_rounds(rounds, first_pair, clock, total, outcome, steps, rng, world):
    """Take up to `steps` steps in a sampled world, and count nothing; it comes back before if the round is over."""
    now = clock[0]
    last = now.time + steps
    while now.time < last:
        pair = next_pair(rounds, first_pair, now.state, now.time)
        if pair < 0:
            return
        take_pair(rounds, first_pair, now.state, pair)
        now.state = world.branch_next[draw(rng, np.uint64(pair), world, outcome)]
        for k in range(outcome.shape[0]):
            total[k] += outcome[k]
        now.time += 1
