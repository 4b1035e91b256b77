"""Sweeps of a large plan that several threads share.

A plan pauses after its first sweep. From there on each sweep is made here, a part of the states per thread
(`_runtime.threads`), and handed back to `kernels.iterate`, which takes it for its own and decides as ever whether it
was the last: what a plan comes to is the same, to the last bit, however many threads there are.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import kernel
from equipoise._runtime.threads import cut_states, parallel_map, thread_count
from equipoise.confidence.region import Region
from equipoise.planning.evi import Workspace, sweeps_per_call
from equipoise.planning.kernels import PAUSED, iterate, rank_states, sweep_states

LARGE: Final = 100_000  # pairs from which a plan may be shared: below, it gains nothing that could be measured


def worth_sharing(n_pairs: int) -> bool:
    """Whether plans over so many pairs are large enough to be shared, and there are threads to share them."""
    return n_pairs >= LARGE and thread_count() > 1


def continue_sweeps(
    first_pair: NDArray[np.int64],
    region: Region,
    reward: NDArray[np.float64],
    limit: int,
    relaxation: float,
    u: NDArray[np.float64],
    policy: NDArray[np.int64],
    work: Workspace,
) -> None:
    """Go on with a paused plan of an agent, up to its last sweep, on which `iterate` has then the last word."""
    progress, certificate = work.progress[0], work.certificate[0]
    n_pairs = reward.size
    parts = cut_states(u.size, n_pairs + int(region.first[n_pairs]))
    pause = 1 if len(parts) > 1 else sweeps_per_call(n_pairs)
    ended = PAUSED
    while ended == PAUSED:
        if len(parts) > 1:
            _rank(u, work)
            arrays = (first_pair, region, reward, u, policy, work, float(progress["risen"]))
            parallel_map(lambda begin, end: _sweep_part(*arrays, begin, end), parts)  # noqa: B023
            progress["swept"] = 1
        tolerance = float(progress["tolerance"])
        ended = iterate(None, first_pair, region, reward, tolerance, limit, relaxation, u, policy, work, pause)
    progress["sweeps"], progress["swept"] = certificate["sweeps"] - 1, 1


@kernel
def _rank(u, work):
    rank_states(u, work)


@kernel
def _sweep_part(first_pair, region, reward, u, policy, work, risen, begin, end):
    sweep_states(first_pair, region, reward, u, policy, work, risen, begin, end)
