"""Confidences made of intervals, one for each mean: a rule for one mean gives the whole region.

The rule is a compiled entry, `interval`, called for every mean outcome and every successor seen:

    void(tau, delta, count, binary, n, total, squares, floats, bounds)

    tau, delta      when the episode starts, and the level of all regions together,
    count           how many such means there are: K SA outcomes, or S SA successors,
    binary          1 if what is averaged is known to be 0 or 1 (a successor), 0 if it lies anywhere in [0, 1],
    n, total, squares     observations, at least one; their sum; the sum of their squares,
    floats          the confidence's own parameters,
    bounds          bounds[0] <= mean <= bounds[1], to be written, within [0, 1].

A rule that does not read tau is `timeless`: then only the means of pairs visited since the last plan are asked again.

Half of delta is for outcomes and half for successors, unless the proof shares it in another way; each half is shared
among `count` means. A pair never visited has the whole of [0, 1], and the rule is not asked. For successors never seen
the rule is asked once, with a total of zero. A second entry, `missing`, may bound all of them together, by writing
bounds[1]:

    void(delta, pairs, states, seen, since, logged, bounds)

    states, seen    how many successors there may be, and how many of them were seen,
    since           visits since the last of these was new,
    logged          all visits, if some were rows of a log, of which nobody knows the order; else 0.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry, call_for_two
from equipoise.confidence.base import Confidence, confidence_entry, needs_filling, opened
from equipoise.confidence.region import lay_out
from equipoise.errors import ParameterError

__all__ = ["INTERVAL", "MISSING", "Elementwise", "Entry", "interval_entry", "missing_entry"]

_INT, _FLOAT, _FLOATS = types.int64, types.float64, types.CPointer(types.float64)
INTERVAL: Final = types.void(_INT, _FLOAT, _FLOAT, _INT, _FLOAT, _FLOAT, _FLOAT, _FLOATS, _FLOATS)
MISSING: Final = types.void(_FLOAT, _FLOAT, _FLOAT, _FLOAT, _FLOAT, _FLOAT, _FLOATS)


def interval_entry(function: Callable[..., None]) -> Entry:
    """Declare the rule for one mean; as a decorator."""
    return Entry(function, signature=INTERVAL)


def missing_entry(function: Callable[..., None]) -> Entry:
    """Declare the bound on all successors never seen together; as a decorator."""
    return Entry(function, signature=MISSING)


@confidence_entry
def _fill(frame):  # type: ignore[no-untyped-def]
    task, counts, region, own = opened(frame)
    interval, missing = own.ints[0], own.ints[1]
    tau, delta, floats = task.tau, task.delta, own.floats
    outcomes = float(task.n_outcomes) * float(task.n_pairs)
    successors = float(task.n_states) * float(task.n_pairs)
    any_value, binary = np.int64(0), np.int64(1)
    lay_out(task, counts, region)
    for pair in range(task.n_pairs):
        if not needs_filling(task, counts, pair):
            continue
        n = float(counts.visits[pair] + counts.fresh[pair])
        for k in range(task.n_outcomes):
            bounds = (0.0, 1.0)
            if task.known_mask[pair]:
                bounds = (task.known_outcomes[pair, k], task.known_outcomes[pair, k])
            elif n > 0.0:
                total, squares = counts.sums[pair, k], counts.squares[pair, k]
                bounds = call_for_two(interval, (tau, delta, outcomes, any_value, n, total, squares, floats))
            region.v_lo[pair, k], region.v_hi[pair, k] = bounds
        begin = counts.block_first[pair]
        listed = region.first[pair]
        for i in range(counts.block_used[pair]):
            seen_at, place = np.uint64(begin + i), np.uint64(listed + i)  # unsigned: no code for negative ones
            total = float(counts.pool_count[seen_at])
            bounds = call_for_two(interval, (tau, delta, successors, binary, n, total, total, floats))
            region.successor[place] = counts.pool_state[seen_at]
            region.lo[place], region.hi[place] = bounds
        region.rest[pair] = 1.0
        if counts.block_used[pair] > 0:  # outcomes alone may be seen where they are counted apart from transitions
            rest = call_for_two(interval, (tau, delta, successors, binary, n, 0.0, 0.0, floats))[1]
            if missing != 0:
                seen, since = float(counts.block_used[pair]), n - float(counts.latest[pair])
                pairs, states, logged = float(task.n_pairs), float(task.n_states), n if task.logged else 0.0
                together = call_for_two(missing, (delta, pairs, states, seen, since, logged))[1]
                region.rest_sum[pair] = together
                rest = min(rest, together)
            region.rest[pair] = rest


class Elementwise(Confidence):
    """A confidence that is a rule for one mean at a time."""

    @property
    def is_its_rule(self) -> bool:
        """Whether all of its bounds are the rule's: not if a subclass fills its regions in another way."""
        return all(getattr(type(self), name) is getattr(Elementwise, name) for name in ("kernel", "ints"))

    @property
    @abc.abstractmethod
    def interval(self) -> Entry:
        """The rule; see `interval_entry`."""

    @property
    def missing(self) -> Entry | None:
        """The bound on all successors never seen together; see `missing_entry`."""
        return None

    @property
    def kernel(self) -> Entry:
        """The loop over all means."""
        return _fill

    @property
    def ints(self) -> NDArray[np.int64]:
        """The addresses of the rules."""
        rules: tuple[tuple[str, object, object], ...] = (
            ("interval", self.interval, INTERVAL),
            ("missing", self.missing, MISSING),
        )
        for name, rule, signature in rules:
            absent = name == "missing" and rule is None
            if not absent and (not isinstance(rule, Entry) or not rule.has(signature)):
                raise ParameterError(f"{name}: got {rule!r}; declare it with @{name}_entry")
        return np.array([self.interval.address, 0 if self.missing is None else self.missing.address])
