"""The arrays of a mixture agent, as a file holds them, and back.

Kernels check nothing: every array that comes back must have the type and the shape of a new agent's, and every index
that kernels will follow must be in range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import LARGEST
from equipoise._files import ensure, load_array
from equipoise.agents.checkpoint import check_counts
from equipoise.agents.dual_bound import Proof
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.agents.rounds import Rounds
from equipoise.agents.state import as_plain, as_record
from equipoise.confidence.base import Confidence
from equipoise.confidence.counts import Counts
from equipoise.confidence.nonzero import NonzeroSums
from equipoise.confidence.region import Region
from equipoise.models.space import Space

_PROVEN: Final = ("bound", "time", "theta")
_GROWING_REGION: Final = ("successor", "lo", "hi")
_GROWING_ROUNDS: Final = ("share", "inside", "way", "length")
MOST_FACTOR: Final = 1e3  # of the price of constraints
_CREDIT: Final = 2.0 + 1e-6
_NEARLY: Final = 1e-3  # by how much the shares of a policy may miss 1


class MixtureState(NamedTuple):
    """What a mixture agent goes on from."""

    counts: Counts
    region: Region
    rounds: Rounds
    records: Episodes
    proof: Proof
    pool: dict[str, NDArray[Any]]
    own: dict[str, NDArray[Any]]


def stored(state: MixtureState) -> dict[str, dict[str, NDArray[Any]]]:
    """All arrays; records as plain vectors."""
    parts = {
        "counts": _plain(state.counts),
        "region": _plain(state.region),
        "rounds": _plain(state.rounds),
        "episodes": _plain(state.records),
        "proof": {name: getattr(state.proof, name) for name in _PROVEN},
        "pool": state.pool,
        "own": state.own,
    }
    if state.counts.nonzero is not None:
        parts["nonzero"] = _plain(state.counts.nonzero)
    return parts


def restored(
    fresh: MixtureState, saved: Mapping[str, Any], space: Space, confidence: Confidence, t: int
) -> MixtureState:
    """What an agent saved, if it fits one that is made of the same parts."""
    counts = _filled(fresh.counts, saved["counts"], lambda name: name.startswith("pool_"))
    if counts.nonzero is not None:
        ensure("nonzero" in saved, "the sums of its outcomes are missing")
        sums = _filled(counts.nonzero, saved["nonzero"], lambda name: name.startswith("pool_"))
        counts = counts._replace(nonzero=sums)
    proof = fresh.proof._replace(
        **{name: load_array(saved["proof"], name, getattr(fresh.proof, name)) for name in _PROVEN}
    )
    state = MixtureState(
        counts=counts,
        region=_filled(fresh.region, saved["region"], lambda name: name in _GROWING_REGION),
        rounds=_filled(fresh.rounds, saved["rounds"], lambda name: name in _GROWING_ROUNDS),
        records=_filled(fresh.records, saved["episodes"], lambda name: True),  # noqa: ARG005
        proof=proof,
        pool=_named(fresh.pool, saved["pool"]),
        own=_named(fresh.own, saved["own"]),
    )
    absorbed = int(state.own["absorbed"][0])
    good = (
        absorbed >= 0
        and _region_fits(space, state.region)
        and _rounds_fit(space, state.rounds)
        and _pool_fits(space, state.pool)
        and _own_fits(space, fresh.own, state.own)
        and len({column.size for column in state.records}) == 1
        and set(state.records.ended.tolist()) <= set(TRIGGERS)
        and proof.bound[0] > -np.inf
        and np.all(np.isfinite(proof.theta))
    )
    ensure(good, "its arrays do not fit together")
    check_counts(space, confidence, counts, t - 1 + absorbed)
    return state


def list_alike(region: Region, saved: Region) -> Region:
    """List the successors of each row in the order of a saved region: plans sort them, and sums follow their order."""
    row = np.repeat(np.arange(region.first.size - 1), np.diff(region.first))
    ensure(np.array_equal(region.first, saved.first), "its region is not that of its confidence")
    ours, theirs = (np.lexsort((part.successor[: row.size], row)) for part in (region, saved))
    same = np.array_equal(region.successor[ours], saved.successor[theirs])
    ensure(same, "its region is not that of its confidence")
    for part in (region.successor, region.lo, region.hi):
        part[theirs] = part[ours]
    return region


def stored_rounds(rounds: Rounds) -> dict[str, NDArray[Any]]:
    """Rounds alone, for an agent that remembers nothing else."""
    return _plain(rounds)


def restored_rounds(fresh: Rounds, saved: Mapping[str, Any], space: Space) -> Rounds:
    """The reverse, if they fit."""
    rounds = _filled(fresh, saved, lambda name: name in _GROWING_ROUNDS)
    ensure(_rounds_fit(space, rounds), "its rounds do not fit its space")
    return rounds


_T = TypeVar("_T", Counts, NonzeroSums, Region, Rounds, Episodes)


def _plain(parts: Counts | NonzeroSums | Region | Rounds | Episodes) -> dict[str, NDArray[Any]]:
    return {name: as_plain(part) for name, part in parts._asdict().items() if isinstance(part, np.ndarray)}


def _filled(fresh: _T, saved: Mapping[str, Any], grows: Callable[[str], bool]) -> _T:
    """The saved arrays of one tuple."""
    parts: dict[str, Any] = {}
    for name, part in fresh._asdict().items():
        if isinstance(part, np.ndarray):
            parts[name] = as_record(load_array(saved, name, as_plain(part), grows=grows(name)), part)
    return fresh._replace(**parts)


def _named(fresh: Mapping[str, NDArray[Any]], saved: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Arrays by name, of the right types; their lengths are checked elsewhere."""
    return {name: load_array(saved, name, part, grows=True) for name, part in fresh.items()}


def _region_fits(space: Space, region: Region) -> bool:
    """Whether a planner can follow it; its bounds are filled before they are used, or were saved with it."""
    n_values = space.n_states if space.laws is None else space.laws.arrays.n_values
    first, listed = region.first, int(region.first[-1])
    sizes = {region.successor.size, region.lo.size, region.hi.size}
    return bool(
        first[0] == 0
        and np.all(first[1:] >= first[:-1])
        and len(sizes) == 1
        and listed <= region.successor.size
        and np.all((region.successor >= 0) & (region.successor < n_values))
        and all(np.all(np.isfinite(part)) for part in (region.lo, region.hi, region.rest, region.v_lo, region.v_hi))
    )


def _rounds_fit(space: Space, rounds: Rounds) -> bool:
    """Whether in every state of every slot there is an action to take."""
    n = rounds.length.size
    shapes = (rounds.share.shape, rounds.inside.shape, rounds.way.shape)
    if shapes != ((n, space.n_pairs), (n, space.n_states), (n, space.n_states)):
        return False
    if n == 0:
        return True
    some = np.array([np.add.reduceat(share, space.first_pair[:-1]) for share in rounds.share]) > 0.0
    return bool(
        np.all((rounds.way >= 0) & (rounds.way < np.asarray(space.n_actions)))
        and np.all((rounds.share >= 0.0) & (rounds.share <= 1.0 + 1e-9))
        and np.all(some | (rounds.inside == 0))
        and np.all(rounds.length >= 1)
        and np.all(np.abs(rounds.credit) <= _CREDIT)
        and 0 <= rounds.play["slot"][0] < n
    )


def _pool_fits(space: Space, pool: Mapping[str, NDArray[Any]]) -> bool:
    """Whether these are policies that there are, and one weight each."""
    size, states, outcomes = pool["gain"].size, space.n_states, space.n_outcomes
    shapes = {"theta": outcomes, "policy": states, "bias": states, "share": states, "outcomes": outcomes}
    return bool(
        all(pool[name].shape == (size, width) for name, width in shapes.items())
        and pool["weights"].size in (size, 0)
        and pool["tangents"].shape[1] == outcomes
        and np.all((pool["tangents"] >= 0.0) & (pool["tangents"] <= 1.0))
        and np.all(pool["share"] >= -_NEARLY)
        and np.all(np.abs(pool["share"].sum(axis=1) - 1.0) <= _NEARLY)
        and all(np.all(np.isfinite(part)) for name, part in pool.items() if name != "gain")
        and np.all((pool["policy"] >= 0) & (pool["policy"] < np.asarray(space.n_actions)))
    )


def _own_fits(space: Space, fresh: Mapping[str, NDArray[Any]], own: Mapping[str, NDArray[Any]]) -> bool:
    """Whether the agent's other arrays have their lengths."""
    size = own["weights"].size
    same = (
        "stream",
        "drawn_at",
        "theta",
        "bias",
        "absorbed",
        "factors",
        "errors",
        "followed",
        "missed",
        "then",
        "proven",
    )
    finite = ("theta", "bias", "weights", "outcomes", "errors", "missed", "missed_steps", "then")
    return bool(
        all(own[name].shape == fresh[name].shape for name in (*same, "missed_steps", "proven"))
        and own["policies"].shape == (size, space.n_states)
        and own["outcomes"].shape == (size, space.n_outcomes)
        and all(np.all(np.isfinite(own[name])) for name in finite)
        and bool(np.all(own["errors"] >= 0.0) and np.all(own["followed"] >= 0) and np.all(own["missed_steps"] >= 0.0))
        and 0.0 <= own["proven"][1] <= LARGEST
        and bool(np.all((own["factors"] >= 1.0) & (own["factors"] <= MOST_FACTOR)))
    )
