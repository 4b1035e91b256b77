"""What a confidence is: it turns counts into a `Region`, which is all that the planner sees.

A confidence is a compiled kernel, declared by `confidence_entry`, and two vectors of parameters that the kernel reads:

    @confidence_entry
    def _fill(frame):
        task, counts, region, own = opened(frame)
        for pair in range(task.n_pairs):
            visits = counts.visits[pair] + counts.fresh[pair]
            ...
            region.v_lo[pair, k] = ...

`ConfidenceFrame` lists all that a kernel is given: a `Task`, the `Counts`, the `Region` to fill, and the parameters,
`Own`. The kernel writes the region and the state of its random numbers, `own.stream`, and nothing else. When it is
called, `region.rest_sum` is one and `region.radius` zero for all pairs that are to be filled. All pairs are, unless the
confidence is `timeless`: see `needs_filling`.

A rule for single means is best written as an `Elementwise` confidence; `L1`, `Known` and `PosteriorSampling` fill whole
regions. `fill` calls a kernel from a compiled loop, `build_region` and `fill_region` call it from Python.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry, call_for_two, inlined, kernel
from equipoise._runtime.frames import call_framed, framed, opened
from equipoise._spec import Component
from equipoise.confidence.counts import Counts, count_layout, soften, without_nonzero
from equipoise.confidence.region import Region, empty_region, without_bounds
from equipoise.errors import ContractError, ParameterError
from equipoise.models.model import Space


class Confidence(Component, abc.ABC):
    """A rule for the regions H^v_m and H^p_m.

    Attributes
    ----------
    guarantee : str
        With what probability, and when, the regions hold the truth.
    caveat : str
        What reports say of an agent with these regions; empty if the guarantee is proven.
    relaxation : float
        The planner's relaxation on these regions: 1, the paper's, unless they may be periodic.
    timeless : bool
        Whether the bounds of a pair depend on its own counts alone, and not on the time. Then those of pairs that were
        not visited since the last plan are kept, and its kernel is asked for the others only: see `Task.anew`.
    scratch : int
        How many numbers its kernel may keep for itself, behind its `floats`; they are zero when a phase begins. The
        first of its floats is then this number where there is such room, and zero where there is none.
    learning : bool
        Whether visits narrow the regions; if not, the doubling of visits ends no episode.
    drawn : bool
        Whether a region is drawn at random, and may be a model in which not all states can be reached.

    See Also
    --------
    equipoise.testing.check_confidence : The contract of a confidence of your own.
    """

    guarantee: str
    caveat: str = ""
    relaxation: float = 1.0
    timeless: bool = False
    scratch: int = 0
    learning: bool = True
    drawn: bool = False

    @property
    @abc.abstractmethod
    def kernel(self) -> Entry:
        """The compiled entry that fills a region."""

    @property
    def floats(self) -> NDArray[np.float64]:
        """Parameters that the kernel reads."""
        return np.zeros(1)

    @property
    def ints(self) -> NDArray[np.int64]:
        """Parameters that the kernel reads; addresses may be among them, so they hold for this process only."""
        return np.zeros(1, dtype=np.int64)

    @property
    def listed(self) -> int:
        """How many successors are listed whatever was seen; those seen come on top of it."""
        return 0

    @property
    def is_its_rule(self) -> bool:
        """Whether all bounds are made by one rule for single means; see `Elementwise`."""
        return False

    def first_stream(self) -> NDArray[np.uint64]:
        """The state of its random numbers at the beginning; most confidences draw none."""
        return np.zeros(1, dtype=np.uint64)

    def check(self, space: Space) -> None:
        """Raise an error if this confidence is not for that space.

        Parameters
        ----------
        space : Space
            What an agent may know of its world.
        """


__all__ = ["ConfidenceFrame", "Own", "Task", "confidence_entry", "needs_filling", "opened"]


class Task(NamedTuple):
    """For which problem, and when, a region is needed."""

    tau: int
    delta: float
    anew: bool
    logged: bool
    n_states: int
    n_pairs: int
    n_outcomes: int
    known_mask: NDArray[np.bool_]
    known_outcomes: NDArray[np.float64]


class Own(NamedTuple):
    """What belongs to the confidence itself."""

    floats: NDArray[np.float64]
    ints: NDArray[np.int64]
    stream: NDArray[np.uint64]


class ConfidenceFrame(NamedTuple):
    """All that the kernel of a confidence is given."""

    task: Task
    counts: Counts
    region: Region
    own: Own

    @staticmethod
    def example() -> ConfidenceFrame:
        """One of the right types; its values mean nothing."""
        return ConfidenceFrame(
            Task(1, 0.05, True, False, 1, 1, 1, np.zeros(1, dtype=np.bool_), np.zeros((1, 1))),
            Counts.zeros(1, 1),
            empty_region(1, 1, 1),
            Own(np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint64)),
        )


@inlined
def needs_filling(task, counts, pair):
    """Whether the bounds of a pair are to be worked out, or still stand."""
    return task.anew or counts.fresh[pair] > 0


def confidence_entry(function: Callable[..., None]) -> Entry:
    """Declare the kernel of a confidence, a function of one frame; as a decorator."""
    return Entry(function, frame=ConfidenceFrame)


@inlined
def fill(address, task, counts, region, own):
    """Call the kernel at `address` of a confidence; `rest_sum` is 1 and `radius` 0 unless it sets them."""
    for pair in range(region.radius.shape[0]):
        if needs_filling(task, counts, pair):
            region.rest_sum[pair] = 1.0
            region.radius[pair] = 0.0
    frame = ConfidenceFrame(task, without_nonzero(counts), without_bounds(region), own)
    call_framed(address, framed(frame))
    _bound_nonzero(counts.nonzero, region.nonzero, task, counts, own)


@inlined
def all_finite(task, counts, region):
    """Whether every bound that was filled is a number; the planner would make a policy of anything."""
    for pair in range(region.radius.shape[0]):
        if not needs_filling(task, counts, pair):
            continue
        for k in range(region.v_lo.shape[1]):
            if not (abs(region.v_lo[pair, k]) < np.inf and abs(region.v_hi[pair, k]) < np.inf):
                return False
        if not (abs(region.rest[pair]) < np.inf and abs(region.rest_sum[pair]) < np.inf):
            return False
        if not abs(region.radius[pair]) < np.inf:
            return False
        for i in range(region.first[pair], region.first[pair + 1]):
            if not (abs(region.lo[i]) < np.inf and abs(region.hi[i]) < np.inf):
                return False
    return _nonzero_finite(counts.nonzero, region.nonzero, task, counts)


@inlined
def _bound_nonzero(sums, bounds, task, counts, own):
    """Bound the mean outcomes of all pairs that are to be filled, by the rule for one mean of an `Elementwise`."""
    if sums is not None:
        interval, floats = own.ints[0], own.floats
        means = float(sums.pool[0].outcomes) * float(task.n_pairs)
        any_value = np.int64(0)
        for pair in range(task.n_pairs):
            if not needs_filling(task, counts, pair):
                continue
            begin = sums.block_first[pair]
            if task.known_mask[pair]:  # the means stand instead of the sums, and all others are zero
                bounds.rest_lo[pair], bounds.rest_hi[pair] = 0.0, 0.0
                for i in range(begin, begin + sums.block_used[pair]):
                    bounds.lo[i], bounds.hi[i] = sums.pool_sum[i], sums.pool_sum[i]
                continue
            n = float(counts.visits[pair] + counts.fresh[pair])
            rest = (0.0, 1.0)
            if n > 0.0:
                rest = call_for_two(interval, (task.tau, task.delta, means, any_value, n, 0.0, 0.0, floats))
            bounds.rest_lo[pair], bounds.rest_hi[pair] = rest
            for i in range(begin, begin + sums.block_used[pair]):
                total, squares = sums.pool_sum[i], sums.pool_square[i]
                found = call_for_two(interval, (task.tau, task.delta, means, any_value, n, total, squares, floats))
                bounds.lo[i], bounds.hi[i] = found


@inlined
def _nonzero_finite(sums, bounds, task, counts):
    """Whether every bound that was filled is a number."""
    if sums is not None:
        for pair in range(task.n_pairs):
            if needs_filling(task, counts, pair):
                if not (abs(bounds.rest_lo[pair]) < np.inf and abs(bounds.rest_hi[pair]) < np.inf):
                    return False
                begin = sums.block_first[pair]
                for i in range(begin, begin + sums.block_used[pair]):
                    if not (abs(bounds.lo[i]) < np.inf and abs(bounds.hi[i]) < np.inf):
                        return False
    return True


@kernel
def _fill_once(address, task, counts, region, own):
    fill(address, task, counts, region, own)


@kernel
def soften_region(laws, counts, region):
    """Soften a region that was drawn at random, once, from Python; see `counts.soften`."""
    soften(laws, counts, region)


def build_region(
    confidence: Confidence, space: Space, counts: Counts, tau: int, delta: float, logged: bool = False
) -> Region:
    """The region of an episode that starts at time `tau` with these counts, as a new object."""
    units = count_layout(space, counts.nonzero is not None)
    region = empty_region(units.n_units, units.n_outcomes, max(counts.seen, confidence.listed), counts.nonzero)
    fill_region(confidence, space, counts, tau, delta, confidence.first_stream(), region, logged)
    return region


def fill_region(
    confidence: Confidence,
    space: Space,
    counts: Counts,
    tau: int,
    delta: float,
    stream: NDArray[np.uint64],
    region: Region,
    logged: bool = False,
) -> None:
    """The same, in a region that is large enough for it; random numbers are drawn from `stream`."""
    units = count_layout(space, counts.nonzero is not None)
    task = Task(
        tau=int(tau),
        delta=float(delta),
        anew=True,
        logged=bool(logged),
        n_states=units.n_values,
        n_pairs=units.n_units,
        n_outcomes=units.n_outcomes,
        known_mask=units.known_mask,
        known_outcomes=units.known_outcomes,
    )
    _fill_once(kernel_address(confidence), task, counts, region, Own(*kernel_numbers(confidence), stream))


def kernel_address(confidence: Confidence) -> int:
    """The address of its kernel, which must take the frame of confidences: compiled code checks nothing."""
    entry: object = confidence.kernel
    if not isinstance(entry, Entry) or not entry.takes(ConfidenceFrame):
        raise ContractError(
            f"confidence: the kernel of {confidence!r} is {entry!r}; an entry declared by @confidence_entry is needed"
        )
    return entry.address


def kernel_numbers(confidence: Confidence) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Its `floats`, with its scratch behind them, and its `ints`, of the types that a kernel reads by raw pointers."""
    try:
        given = np.array(confidence.floats, dtype=np.float64, ndmin=1)
        floats = np.zeros(given.size + int(confidence.scratch))  # what is never written takes no memory
        floats[: given.size] = given
        if confidence.scratch:
            floats[0] = confidence.scratch
        ints = np.array(confidence.ints, ndmin=1)
        return floats, ints.astype(np.int64, casting="safe" if ints.size else "unsafe")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"confidence: {confidence!r}: its floats must be numbers and its ints whole ones ({error})"
        ) from None
