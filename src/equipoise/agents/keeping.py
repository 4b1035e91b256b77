"""The arrays of a TOC-UCRL2 agent, as a file holds them, and back.

Kernels check nothing: every array that comes back must have the type and the shape of a new agent's, and every index
that kernels will follow must be in range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import MOST
from equipoise.agents.clock import clock_fits, clock_numbers
from equipoise.agents.episodes import TRIGGERS, Episodes
from equipoise.agents.memory import Memory, as_plain, as_record
from equipoise.agents.proof import Proof, no_proof
from equipoise.agents.restoring import array_in, require
from equipoise.confidence.counts import Counts
from equipoise.confidence.law_counts import no_law_counts, nothing_counted
from equipoise.confidence.nonzero import NonzeroSums, sums_fit
from equipoise.models.space import Space

if TYPE_CHECKING:
    from equipoise.agents.toc_ucrl2 import TocUCRL2

# The names of arrays in files, where they are not those of the fields.
_IN_FILES: Final = {"pool": "end", "block_capacity": "block_room", "oracle": "slope"}
_PROVEN: Final = ("bound", "time", "theta")
_MOST_PHASES: Final = 1 << 12  # the length of a phase may double from one to the next: later ones never come


class Kept(NamedTuple):
    """What an agent goes on from.

    Attributes
    ----------
    counts : Counts
        What was observed.
    memory : Memory
        What else decides what comes next.
    records : Episodes
        The episodes so far.
    proof : Proof
        What they have proven.
    absorbed : int
        How many rows of logs are among the counts.
    """

    counts: Counts
    memory: Memory
    records: Episodes
    proof: Proof
    absorbed: int


def stored(kept: Kept) -> dict[str, dict[str, NDArray[Any]]]:
    """All arrays; records as plain vectors.

    Parameters
    ----------
    kept : Kept
        Those of an agent.
    """
    return {
        "counts": _plain(_without_nonzero(kept.counts)),
        **({} if kept.counts.nonzero is None else {"outcomes": _plain(kept.counts.nonzero._asdict())}),
        "memory": _plain(kept.memory._asdict()),
        "episodes": kept.records._asdict(),
        "log": {"rows": np.array([kept.absorbed])},
        "proof": {name: getattr(kept.proof, name) for name in _PROVEN},
    }


def restored(agent: TocUCRL2, saved: Mapping[str, Any]) -> Kept:
    """What an agent saved, if it fits one that is made of the same parts.

    Parameters
    ----------
    agent : TocUCRL2
        A new one.
    saved : mapping
        What `stored` gave.
    """
    machine = agent.machine
    proof = no_proof(agent.space.n_outcomes)
    if "proof" in saved:  # which files of earlier versions do not have
        parts = {name: array_in(saved["proof"], name, getattr(proof, name)) for name in _PROVEN}
        proof = proof._replace(**parts)
    counts = _filled(machine.counts, saved["counts"], lambda name: name.startswith("pool_"))
    if counts.nonzero is not None:
        require("outcomes" in saved, "the sums of its outcomes are missing")
        sums = _filled(counts.nonzero, saved["outcomes"], lambda name: name.startswith("pool_"))
        counts = counts._replace(nonzero=sums)
    kept = Kept(
        counts=counts,
        memory=_filled(machine.memory, saved["memory"], lambda name: False),  # noqa: ARG005
        records=_filled(machine.records, saved["episodes"], lambda name: True),  # noqa: ARG005
        proof=proof,
        absorbed=int(array_in(saved["log"], "rows", np.zeros(1, dtype=np.int64))[0]) if "log" in saved else 0,
    )
    require(_fits_together(agent, kept), "its arrays do not fit together")
    return kept


def _plain(parts: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays as a file holds them."""
    return {_IN_FILES.get(field, field): as_plain(part) for field, part in parts.items()}


def _without_nonzero(counts: Counts) -> dict[str, NDArray[Any]]:
    """The arrays of counts by name, without the sums that are kept apart."""
    return {name: part for name, part in counts._asdict().items() if isinstance(part, np.ndarray)}


_T = TypeVar("_T", Counts, NonzeroSums, Memory, Episodes)


def _filled(fresh: _T, saved: Mapping[str, Any], grows: Callable[[str], bool]) -> _T:
    """The saved arrays of one tuple."""
    parts: dict[str, Any] = {}
    for field, part in fresh._asdict().items():
        if not isinstance(part, np.ndarray):
            continue  # a tuple of its own
        plain = array_in(saved, _IN_FILES.get(field, field), as_plain(part), grows=grows(field))
        parts[field] = as_record(plain, part)
    return fresh._replace(**parts)


def _fits_together(agent: TocUCRL2, kept: Kept) -> bool:
    """Whether every index that kernels will follow is in range, and every sum one that can have come about."""
    counts, memory, records = kept.counts, kept.memory, kept.records
    space, clock, pool = agent.space, memory.clock[0], counts.pool[0]
    steps, phase, origin = int(clock["time"]) - 1, int(clock["phase"]), int(clock["origin"])
    restarts = agent.oracle.phase(1).length is not None
    if not (clock_fits(clock_numbers(memory.clock), space) and 0 <= phase <= (_MOST_PHASES if restarts else 1)):
        return False
    present = agent.oracle.phase(max(1, phase))
    since = steps - (0 if present.inherit else origin)
    visits = counts.visits + counts.fresh
    n_values = space.n_states if space.laws is None else space.laws.arrays.n_values
    return bool(
        origin == present.origin
        and (present.length or since) >= steps - origin
        and steps <= (agent.horizon or MOST)
        and np.all((counts.visits >= 0) & (counts.fresh >= 0))
        and kept.absorbed >= 0
        and _visits_fit(space, visits, since + kept.absorbed)
        and np.all((counts.sums >= 0) & (counts.sums <= visits[:, None]))
        and np.all((counts.squares >= 0) & (counts.squares <= visits[:, None]))
        and (counts.nonzero is None or _sums_fit(agent, counts.nonzero, visits))
        and np.all((counts.latest >= 0) & (counts.latest <= visits))
        and np.all((memory.total >= 0) & (memory.total <= steps))
        and clock["learning"] == agent.confidence.learning
        and np.all((memory.policy >= 0) & (memory.policy < space.n_actions))
        and 0 <= pool["largest"] <= pool["used"] <= counts.pool_state.size == counts.pool_count.size
        and np.all((counts.block_first >= 0) & (counts.block_used >= 0) & (counts.block_used <= counts.block_capacity))
        and np.all(counts.block_capacity <= pool["largest"])
        and np.all(counts.block_first <= pool["used"] - counts.block_capacity)
        and counts.block_used.sum() == pool["seen"]
        and np.all((counts.pool_state >= 0) & (counts.pool_state < n_values))
        and _blocks_fit(space, counts)
        and {column.size for column in records} == {int(clock["episodes"])}
        and set(records.ended.tolist()) <= set(TRIGGERS)
        and kept.proof.bound[0] > -np.inf
        and np.all(np.isfinite(kept.proof.theta))
        and 0 <= kept.proof.time[0] <= clock["time"]
    )


def _sums_fit(agent: TocUCRL2, sums: NonzeroSums, visits: NDArray[np.int64]) -> bool:
    fresh = nothing_counted(agent.space, agent.confidence).nonzero
    return fresh is not None and sums_fit(sums, fresh, agent.space.known_mask, visits)


def _visits_fit(space: Space, visits: NDArray[np.int64], observed: int) -> bool:
    """Each step visits one pair; a law is seen at most once in a step."""
    if space.laws is None:
        return int(visits.sum(dtype=object)) == observed
    return bool(np.all(visits <= observed))


def _blocks_fit(space: Space, counts: Counts) -> bool:
    """The blocks of laws never move, and kernels do not look whether there is room."""
    if space.laws is None:
        return True
    fresh, learnt = no_law_counts(space.laws, space.n_outcomes), space.laws.arrays.learnt
    places = (fresh.block_first, fresh.block_capacity, counts.block_first, counts.block_capacity)
    values = np.repeat(fresh.block_capacity[:learnt], fresh.block_capacity[:learnt])
    return (
        np.array_equal(places[0], places[2])
        and np.array_equal(places[1], places[3])
        and bool(counts.pool["moved"][0] == 0)
        and bool(np.all(counts.pool_state < values))
    )
