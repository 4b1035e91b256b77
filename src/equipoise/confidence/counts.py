"""What has been counted: visits, sums of outcomes, and the successors that were seen.

Eq. (Nm) of the paper, stored sparsely. The successors of a pair stand in a block of a common pool, in the order in
which they were first seen. A block that is full moves to the end of the pool with twice the capacity; when the pool
itself is full, Python extends it (`extend_pool`). So counting costs one short scan and allocates nothing, and the
memory is proportional to what was seen, never S x A x S.

With known mechanics the rows are units instead of pairs: a law, or outcomes whose means are unknown. A value of a law
counts as a successor. A law has finitely many values, so that its block has room for all of them from the beginning and
never moves.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST
from equipoise._files import ensure
from equipoise._runtime.compiler import inlined, move_within
from equipoise.confidence.nonzero import (
    FIRST_CAPACITY,
    NonzeroSums,
    block_places,
    check_blocks,
    empty_sums,
    list_arrays,
    open_block,
)
from equipoise.errors import ModelError, ParameterError
from equipoise.models.laws.laws import Laws
from equipoise.models.outcome_rows import SparseRows, get_sparse_arrays, make_read_only
from equipoise.models.space import Space

if TYPE_CHECKING:
    from equipoise.confidence.base import Confidence

# Numbers about the pool. All fields are int64, so that a file can hold them as a plain vector.
POOL: Final = np.dtype(
    [
        ("used", np.int64),  # the end of the used part of the pool
        ("seen", np.int64),  # successors seen, over all pairs
        ("largest", np.int64),  # the capacity of the largest block
        ("moved", np.int64),  # 1 if a block has moved since the size of the pool was last checked
    ]
)


class Counts(NamedTuple):
    """Sufficient statistics of all that was observed."""

    visits: NDArray[np.int64]
    fresh: NDArray[np.int64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    latest: NDArray[np.int64]
    block_first: NDArray[np.int64]
    block_used: NDArray[np.int64]
    block_capacity: NDArray[np.int64]
    pool_state: NDArray[np.int64]
    pool_count: NDArray[np.int64]
    pool: NDArray[np.void]
    nonzero: NonzeroSums | None = None

    @property
    def seen(self) -> int:
        """How many successors were seen, over all pairs."""
        return int(self.pool["seen"][0])

    @property
    def spare(self) -> int:
        """Places that a larger pool has in addition to twice those of the old one."""
        return 2 * int(self.pool["largest"][0]) + FIRST_CAPACITY

    @staticmethod
    def zeros(n_units: int, n_outcomes: int, nonzero: NonzeroSums | None = None) -> Counts:
        """Nothing seen yet of so many pairs or laws."""
        size = FIRST_CAPACITY * n_units
        pool = np.zeros(1, dtype=POOL)
        pool["moved"] = 1
        return Counts(
            visits=np.zeros(n_units, dtype=np.int64),
            fresh=np.zeros(n_units, dtype=np.int64),
            sums=np.zeros((n_units, n_outcomes)),
            squares=np.zeros((n_units, n_outcomes)),
            latest=np.zeros(n_units, dtype=np.int64),
            block_first=np.zeros(n_units, dtype=np.int64),
            block_used=np.zeros(n_units, dtype=np.int64),
            block_capacity=np.zeros(n_units, dtype=np.int64),
            pool_state=np.zeros(size, dtype=np.int64),
            pool_count=np.zeros(size, dtype=np.int64),
            pool=pool,
            nonzero=nonzero,
        )


def check_successors(counts: Counts, visits: NDArray[np.int64], sizes: NDArray[np.int64], movable: bool) -> None:
    """Refuse counts out of a file whose blocks kernels could not follow, or that do not add up to the visits."""
    pool, size, names = counts.pool[0], counts.pool_state.size, "memory.counts"
    blocks = (counts.block_first, counts.block_used, counts.block_capacity)
    ensure(counts.pool_count.size == size, f"the arrays '{names}.pool_state' and '{names}.pool_count' differ in length")
    check_blocks(*blocks, int(pool["used"]), size, names)
    largest, seen = int(counts.block_capacity.max(initial=0)), int(counts.block_used.sum())
    ensure(pool["largest"] == largest, f"the array '{names}.pool' does not say how large the largest block is")
    ensure(pool["seen"] == seen, f"the array '{names}.pool' does not say how many successors were seen")
    room = int(pool["used"]) + max(FIRST_CAPACITY, 2 * largest) <= size
    ensure(
        pool["moved"] == 1 or (pool["moved"] == 0 and (room or not movable)),
        f"the array '{names}.pool' says that the pool of {size} places has room for a larger block, and it has not",
    )
    pair, place = block_places(counts.block_first, counts.block_used, np.arange(visits.size))
    state, number = counts.pool_state[place], counts.pool_count[place]
    ensure(
        np.all((state >= 0) & (state < sizes[pair])), f"the array '{names}.pool_state' has a successor that cannot be"
    )
    order = np.lexsort((state, pair))
    twice = (pair[order][1:] == pair[order][:-1]) & (state[order][1:] == state[order][:-1])
    ensure(not twice.any(), f"the array '{names}.pool_state' lists a successor twice")
    total = np.zeros(visits.size, dtype=np.int64)
    whole = bool(np.all((number >= 1) & (number <= visits[pair]))) and float(np.sum(number, dtype=float)) < LARGEST
    if whole:
        np.add.at(total, pair, number)
    ensure(
        whole and np.array_equal(total[sizes > 0], visits[sizes > 0]),
        f"the array '{names}.pool_count' does not add up to the visits",
    )


@inlined
def without_nonzero(counts):
    """The same counts as a confidence is given them: of one type, whether outcomes are kept apart or not."""
    return Counts(
        counts.visits, counts.fresh, counts.sums, counts.squares, counts.latest, counts.block_first,
        counts.block_used, counts.block_capacity, counts.pool_state, counts.pool_count, counts.pool, None,
    )  # fmt: skip


@inlined
def pool_is_full(counts):
    """Whether the pool could not take a larger block of any pair; looks only if a block has moved."""
    pool = counts.pool[0]
    if pool.moved == 0:
        return False
    if pool.used + max(FIRST_CAPACITY, 2 * pool.largest) > counts.pool_state.shape[0]:
        return True
    pool.moved = 0
    return False


@inlined
def add_outcome(counts, pair, k, outcome):
    """Add one outcome to the sums of a pair."""
    counts.sums[pair, k] += outcome
    counts.squares[pair, k] += outcome * outcome


@inlined
def count(counts, pair, next_state):
    """Take in one transition; the pool must not be full. The sums of outcomes and squares are the caller's."""
    counts.fresh[pair] += 1
    begin = counts.block_first[pair]
    used = counts.block_used[pair]
    for i in range(begin, begin + used):
        if counts.pool_state[np.uint64(i)] == next_state:
            counts.pool_count[np.uint64(i)] += 1
            return
    pool = counts.pool[0]
    if used == counts.block_capacity[pair]:
        capacity = max(FIRST_CAPACITY, 2 * used)
        moved = open_block(counts, pair, capacity)
        move_within(counts.pool_state, moved, begin, used)
        move_within(counts.pool_count, moved, begin, used)
        pool.largest = max(pool.largest, capacity)
        pool.moved = 1
        begin = moved
    counts.pool_state[begin + used] = next_state
    counts.pool_count[begin + used] = 1
    counts.latest[pair] = counts.visits[pair] + counts.fresh[pair]
    counts.block_used[pair] = used + 1
    pool.seen += 1


def forget(counts: Counts, fresh: Counts) -> None:
    """Back to nothing seen, in place: what is `fresh` takes the place of what was counted."""
    for tuples in ((counts, fresh), (counts.nonzero, fresh.nonzero)):
        for part, nothing in zip(*map(list_arrays, tuples), strict=True):
            part[: nothing.shape[0]] = nothing
            part[nothing.shape[0] :] = 0


class CountLayout(NamedTuple):
    """What is counted, in the terms of a `Task`: pairs and states, or units and values."""

    n_values: int
    n_units: int
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]
    told: SparseRows | None

    @property
    def n_outcomes(self) -> int:
        """How many outcomes are counted and bounded."""
        return int(self.known_outcomes.shape[1])


def count_layout(space: Space, apart: bool = False) -> CountLayout:
    """What is counted in a space; `apart` if outcomes are counted apart from all else, see `nonzero`."""
    laws = space.laws
    if laws is None:
        told = get_sparse_arrays(space.known_rows) if space.known_mask.all() else None
        known = make_read_only(np.zeros((space.n_pairs, 0))) if apart or told is not None else space.known_outcomes
        return CountLayout(space.n_states, space.n_pairs, space.known_mask, known, told)
    mask = np.arange(laws.n_units) < laws.arrays.learnt  # a law has no outcomes of its own
    known = make_read_only(np.zeros((laws.n_units, space.n_outcomes)))
    return CountLayout(laws.arrays.n_values, laws.n_units, make_read_only(mask), known, None)


def empty_counts(space: Space, confidence: Confidence) -> Counts:
    """Nothing seen yet in a space, for regions of that kind."""
    if space.laws is not None:
        return _empty_law_counts(space.laws, space.n_outcomes)
    if space.sparse_outcomes and confidence.is_its_rule and not space.known_mask.all():
        return Counts.zeros(space.n_pairs, 0, empty_sums(space.n_pairs, space.n_outcomes, space.known_rows))
    try:
        return Counts.zeros(space.n_pairs, count_layout(space).n_outcomes)
    except ModelError as error:
        raise ParameterError(
            f"confidence: {confidence!r} keeps an array of pairs by outcomes, which is too large here ({error}); "
            "eq.confidence.Adaptive(), Bernstein() and EmpiricalBernstein() do without in a space with "
            "sparse_outcomes=True"
        ) from error


def _empty_law_counts(laws: Laws, n_outcomes: int) -> Counts:
    """Nothing seen yet of laws."""
    sizes = np.zeros(laws.n_units, dtype=np.int64)
    sizes[: laws.arrays.learnt] = np.diff(laws.arrays.first_value)[: laws.arrays.learnt]
    counts = Counts.zeros(laws.n_units, n_outcomes)
    counts.block_first[:] = np.cumsum(sizes) - sizes
    counts.block_capacity[:] = sizes
    total = int(sizes.sum())
    counts.pool["used"], counts.pool["largest"], counts.pool["moved"] = total, max([0, *sizes.tolist()]), 0
    return counts._replace(pool_state=np.zeros(total, dtype=np.int64), pool_count=np.zeros(total, dtype=np.int64))


@inlined
def count_values(laws, n_states):
    """How many successors a unit can have: states, or values of a law."""
    if laws is None:
        return n_states
    else:  # noqa: RET505 - numba leaves out one branch by the type of `laws`
        return laws.n_values


@inlined
def count_case(laws, counts, outcome, case):
    """Count what is seen in a case: a value of each law that is seen, and outcomes whose means are unknown."""
    for i in range(laws.seen_first[case], laws.seen_first[case + 1]):
        count(counts, laws.seen_unit[i], laws.seen_value[i])
    unit = laws.outcome_unit[case]
    if unit >= 0:
        counts.fresh[unit] += 1
        for k in range(outcome.shape[0]):
            add_outcome(counts, unit, k, outcome[k])


@inlined
def soften(laws, counts, region):
    """Spread a part 1/(n + 2) of the mass of each law evenly over its values; for regions that are drawn at random."""
    if laws is not None:
        for law in range(laws.learnt):
            part = 1.0 / (2.0 + counts.visits[law] + counts.fresh[law])
            size = laws.first_value[law + 1] - laws.first_value[law]
            each = part / size
            for i in range(region.first[law], region.first[law + 1]):
                region.lo[i] = (1.0 - part) * region.lo[i] + each
                region.hi[i] = (1.0 - part) * region.hi[i] + each
            unseen = size - (region.first[law + 1] - region.first[law])
            if unseen == 0:  # what was drawn for values that other laws have, and this one has not
                total = 0.0
                for i in range(region.first[law], region.first[law + 1]):
                    total += region.hi[i]
                for i in range(region.first[law], region.first[law + 1]):
                    region.lo[i] /= min(1.0, total)
                    region.hi[i] /= min(1.0, total)
            together = (1.0 - part) * min(region.rest_sum[law], region.rest[law] * laws.n_values) + each * unseen
            region.rest_sum[law] = together
            region.rest[law] = together / unseen if unseen > 0 else 0.0
