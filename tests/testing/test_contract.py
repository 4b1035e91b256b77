"""The contract of confidences: all of ours keep it, and whoever breaks a clause is found by that clause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import equipoise as eq
from equipoise._runtime.compiler import Entry
from equipoise.confidence import Confidence, Elementwise
from equipoise.confidence.base import confidence_entry, opened
from equipoise.confidence.elementwise import interval_entry
from equipoise.errors import ContractError
from equipoise.testing import CLAUSES, check_confidence

C = eq.confidence
OURS = [
    C.Bernstein(),
    C.EmpiricalBernstein(),
    C.Adaptive(),
    C.L1(),
    C.L1("laplace"),
    C.PosteriorSampling(),
    C.PosteriorSampling(prior=3.0, samples=3, seed=5),
    C.Scaled(C.Adaptive(), 0.1),
    C.Scaled(C.L1(), 0.5),
    C.Scaled(C.PosteriorSampling(), 0.5),
    C.Known(eq.models.star(2, 2)),
]


def clauses():
    """By name; the one that takes hundreds of runs is slow."""
    for name, clause in CLAUSES.items():
        yield pytest.param(clause, id=name, marks=[pytest.mark.slow] if clause is CLAUSES["holds_the_truth"] else [])


@pytest.mark.parametrize("clause", list(clauses()))
@pytest.mark.parametrize("confidence", OURS, ids=repr)
def test_ours_keep_it(confidence, clause):
    clause(confidence)


@interval_entry
def _rule(tau, delta, count, binary, n, total, squares, floats, bounds):
    """Hoeffding's, with a radius multiplied by floats[0], bounds moved by floats[1], and no smaller than floats[2]."""
    mean = total / n
    radius = floats[0] * np.sqrt(np.log(4.0 * count * n * (n + 1.0) / delta) / (2.0 * n))
    radius = max(radius, floats[2])
    bounds[0] = max(0.0, mean - radius) + floats[1]
    bounds[1] = min(1.0, mean + radius)


class Hoeffding(Elementwise):
    guarantee = "1 - delta"

    def __init__(self, factor: float = 1.0, shift: float = 0.0, least: float = 0.0) -> None:
        self.numbers = (factor, shift, least)

    @property
    def interval(self) -> Entry:
        return _rule

    @property
    def floats(self) -> np.ndarray:
        return np.array(self.numbers)

    def arguments(self) -> Mapping[str, Any]:
        return dict(zip(("factor", "shift", "least"), self.numbers, strict=True))


class Silent(Hoeffding):
    guarantee = ""


class Speechless(Hoeffding):
    @property
    def guarantee(self) -> str:  # type: ignore[override]
        raise AttributeError


class Undecorated(Hoeffding):
    @property
    def interval(self) -> Any:
        return np.sqrt


class Wordy(Hoeffding):
    @property
    def floats(self) -> Any:
        return ["one"]


class Fractional(Hoeffding):
    @property
    def ints(self) -> Any:
        return np.array([0.5])


class Unmade(Hoeffding):
    def arguments(self) -> Mapping[str, Any]:
        return {"size": 7.0}


@interval_entry
def _nothing(tau, delta, count, binary, n, total, squares, floats, bounds):
    pass


class Idle(Hoeffding):
    @property
    def interval(self) -> Entry:
        return _nothing


class Forgetful(Hoeffding):
    def arguments(self) -> Mapping[str, Any]:
        return {"factor": 7.0}


class Impatient(Hoeffding):
    relaxation = 0.0


@confidence_entry
def _spill(frame):
    task, counts, region, own = opened(frame)
    slip = own.ints[0]
    first = region.first
    first[0] = 0
    for pair in range(task.n_pairs):
        for k in range(task.n_outcomes):
            region.v_lo[pair, k] = 0.0
            region.v_hi[pair, k] = 1.0
            if task.known_mask[pair] and slip != 1:
                region.v_lo[pair, k] = task.known_outcomes[pair, k]
                region.v_hi[pair, k] = task.known_outcomes[pair, k]
        first[pair + 1] = first[pair]
        region.rest[pair] = 1.0
        if slip == 5:
            for i in range(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair]):
                region.successor[first[pair + 1]] = counts.pool_state[i]
                region.lo[first[pair + 1]] = 0.0
                region.hi[first[pair + 1]] = 1.0
                first[pair + 1] += 1
    if slip == 0:
        region.lo[0] = 0.0  # one place more than the region has, before anything is seen
    if slip == 2:
        own.stream[0] += np.uint64(1)
        region.rest[0] = 1.0 + float(counts.sums[0, 0])
        counts.visits[0] += 1
    if slip == 3:
        region.rest[0] = 0.0  # nothing is listed, and nothing may be reached


class Whole(Confidence):
    """All that is possible, but for one slip: 0 writes too far, 1 ignores what is known, 2 counts, 3 leaves nothing.

    With 4 there is none, and with 5 what was seen is listed.
    """

    guarantee = "certain"

    def __init__(self, slip: int) -> None:
        self.slip = slip

    @property
    def kernel(self) -> Entry:
        return _spill

    @property
    def ints(self) -> np.ndarray:
        return np.array([self.slip])

    def arguments(self) -> Mapping[str, Any]:
        return {"slip": self.slip}


BROKEN = [
    (Silent(), "says_what_it_is", "guarantee: a text is needed"),
    (Forgetful(), "says_what_it_is", "made from them again is another"),
    (Impatient(), "says_what_it_is", "relaxation: got 0.0"),
    (Speechless(), "says_what_it_is", "guarantee: a text is needed"),
    (Undecorated(), "says_what_it_is", "interval: got .*sqrt.*; declare it with @interval_entry"),
    (Wordy(), "says_what_it_is", "its floats must be numbers"),
    (Fractional(), "says_what_it_is", "its ints whole ones"),
    (Unmade(), "says_what_it_is", "unexpected keyword argument 'size'"),
    (Idle(), "is_well_formed", "no intervals? within"),
    (Hoeffding(shift=0.1), "is_well_formed", "no intervals? within"),
    (Hoeffding(factor=0.0, least=1e-4), "holds_the_truth", "the truth was missed in 100 of 100 runs"),
    (Hoeffding(least=0.4), "learns", "from the truth after 50 steps"),
    (Whole(0), "is_well_formed", "more than 0 successors were written"),
    (Whole(1), "is_well_formed", "the outcomes that the space knows are not the region's"),
    (Whole(2), "is_a_function_of_the_counts", "the counts were changed"),
    (Whole(3), "is_well_formed", "pair 0: no distribution lies within its bounds"),
    (Whole(4), "learns", "from the truth"),
]


@pytest.mark.parametrize(("confidence", "clause", "message"), BROKEN, ids=lambda x: repr(x)[:40])
def test_a_broken_clause_is_found(confidence, clause, message):
    with pytest.raises(ContractError, match=message):
        CLAUSES[clause](confidence)


@pytest.mark.slow
def test_one_of_somebody_else_passes_as_a_whole():
    check_confidence(Hoeffding())
    check_confidence(Hoeffding(factor=1))  # a whole number where a kernel reads floats


def test_what_a_confidence_leaves_alone_is_not_scaled_again_and_again():
    scaled = C.Scaled(Whole(5), 0.5)
    for clause in ("is_well_formed", "is_a_function_of_the_counts"):
        CLAUSES[clause](scaled)
    model = eq.models.riverswim(3)
    agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=scaled)
    eq.simulate(model, agent, 3000)
    assert len(agent.episode_record.start) > 3
    assert {0.5} <= set(agent.loop.arrays.region.rest_sum.tolist()) <= {0.5, 1.0}  # 1 where a pair was never visited


def test_anything_else_is_refused():
    with pytest.raises(ContractError, match="got str; a Confidence is needed"):
        check_confidence("Bernstein")  # type: ignore[arg-type]
