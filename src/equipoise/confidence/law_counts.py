"""Counting laws in the place of pairs: the same `Counts`, in which a unit is a row and a value is a successor.

A law has finitely many values, so that its block has room for all of them from the beginning, and never moves.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import inlined
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts, add_outcome, count, no_counts
from equipoise.confidence.elementwise import Elementwise
from equipoise.confidence.nonzero import no_sums
from equipoise.errors import ModelError, ParameterError
from equipoise.models.laws.laws import Laws
from equipoise.models.rows import SparseRows, for_kernels, sealed
from equipoise.models.space import Space


class Units(NamedTuple):
    """What is counted, in the terms of a `Task`: pairs and states, or units and values.

    Attributes
    ----------
    n_values, n_units : int
        States and pairs of a table; values and units of laws.
    known_mask : bool array, one a unit
        Whether its mean outcomes need not be learnt.
    known_outcomes : float array, units by outcomes
        These.
    told : SparseRows or None
        All mean outcomes of the pairs, if all are told, and nearly all are zero. Then there is nothing of them to count
        or to bound: `known_outcomes`, counts and regions have no columns, and a confidence is asked for none.
    """

    n_values: int
    n_units: int
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]
    told: SparseRows | None

    @property
    def n_outcomes(self) -> int:
        """How many outcomes are counted and bounded."""
        return int(self.known_outcomes.shape[1])


def units_of(space: Space, apart: bool = False) -> Units:
    """What is counted in a space; `apart` if outcomes are counted apart from all else, see `nonzero`."""
    laws = space.laws
    if laws is None:
        told = for_kernels(space.known_rows) if space.known_mask.all() else None
        known = sealed(np.zeros((space.n_pairs, 0))) if apart or told is not None else space.known_outcomes
        return Units(space.n_states, space.n_pairs, space.known_mask, known, told)
    mask = np.arange(laws.n_units) < laws.arrays.learnt  # a law has no outcomes of its own
    known = sealed(np.zeros((laws.n_units, space.n_outcomes)))
    return Units(laws.arrays.n_values, laws.n_units, sealed(mask), known, None)


def nothing_counted(space: Space, confidence: Confidence) -> Counts:
    """Nothing seen yet in a space, for regions of that kind.

    Outcomes that are nearly all zero are counted apart if the confidence is a rule for one mean: those never seen share
    it. If all are told, there is nothing to count.
    """
    if space.laws is not None:
        return no_law_counts(space.laws, space.n_outcomes)
    by_rule = isinstance(confidence, Elementwise) and confidence.is_its_rule
    if space.sparse_outcomes and by_rule and not space.known_mask.all():
        return no_counts(space.n_pairs, 0, no_sums(space.n_pairs, space.n_outcomes, space.known_rows))
    try:
        return no_counts(space.n_pairs, units_of(space).n_outcomes)
    except ModelError as error:
        raise ParameterError(
            f"confidence: {confidence!r} keeps an array of pairs by outcomes, which is too large here ({error}); "
            "eq.confidence.Adaptive(), Bernstein() and EmpiricalBernstein() do without in a space with "
            "sparse_outcomes=True"
        ) from error


def no_law_counts(laws: Laws, n_outcomes: int) -> Counts:
    """Nothing seen yet of laws."""
    sizes = np.zeros(laws.n_units, dtype=np.int64)
    sizes[: laws.arrays.learnt] = np.diff(laws.arrays.first_value)[: laws.arrays.learnt]
    counts = no_counts(laws.n_units, n_outcomes)
    counts.block_first[:] = np.cumsum(sizes) - sizes
    counts.block_capacity[:] = sizes
    total = int(sizes.sum())
    counts.pool["used"], counts.pool["largest"], counts.pool["moved"] = total, max([0, *sizes.tolist()]), 0
    return counts._replace(pool_state=np.zeros(total, dtype=np.int64), pool_count=np.zeros(total, dtype=np.int64))


@inlined
def values_of(laws, n_states):
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
