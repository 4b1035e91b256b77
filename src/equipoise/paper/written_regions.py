r"""The estimates and regions of (3.3), (3.4) and (3.5), written out densely for a path.

With N+ = max(1, N_m(s,a)), log-v = log(12 K SA tau^2 / delta) and log-p = log(12 S SA tau^2 / delta),

    rad^v = sqrt(2 v^ log-v / N+) + 3 log-v / N+,        rad^p = sqrt(2 p^ log-p / N+) + 3 log-p / N+,

and the regions are the intervals around v^ and p^, within [0, 1]. Nothing here is taken from `confidence`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.models.model import Model
from equipoise.paper.paths import Path


class Intervals(NamedTuple):
    """Estimates and radii of all episodes: axes episode, pair, and outcome or successor."""

    centre: Vector
    radius: Vector

    @property
    def lo(self) -> Vector:
        """The lower ends, not below 0."""
        return np.maximum(0.0, self.centre - self.radius)

    @property
    def hi(self) -> Vector:
        """The upper ends, not above 1."""
        return np.minimum(1.0, self.centre + self.radius)


class Regions(NamedTuple):
    """N_m(s,a), log-v and log-p, H^v and H^p of all episodes."""

    visits: Index
    log_v: Vector
    log_p: Vector
    v: Intervals
    p: Intervals


def regions(path: Path) -> Regions:
    """The regions of (3.4) and (3.5) at every episode of a path."""
    model = path.model
    S, SA, K, M = model.n_states, model.n_pairs, model.n_outcomes, path.start.size
    visits, sums, successors = np.zeros((M, SA), np.int64), np.zeros((M, SA, K)), np.zeros((M, SA, S))
    bounds = np.append(path.start - 1, path.pair.size)
    for m in range(1, M):
        if path.mega[m] != path.mega[m - 1]:
            continue  # the counts are forgotten
        visits[m], sums[m], successors[m] = visits[m - 1], sums[m - 1], successors[m - 1]
        steps = slice(bounds[m - 1], bounds[m])
        pair = path.pair[steps]
        np.add.at(visits[m], pair, 1)
        np.add.at(sums[m], pair, path.outcome[steps])
        np.add.at(successors[m], (pair, path.state[1:][steps]), 1.0)
    log_v = np.log(12.0 * K * SA * path.tau.astype(float) ** 2 / path.level)
    log_p = np.log(12.0 * S * SA * path.tau.astype(float) ** 2 / path.level)
    n = np.maximum(1, visits)[:, :, None]
    return Regions(visits, log_v, log_p, _around(sums / n, log_v, n), _around(successors / n, log_p, n))


def truth(model: Model, episodes: int) -> Regions:
    """The regions of an agent that knows the model: v and p alone."""
    p, none = model.transitions().toarray(), np.zeros(episodes)
    v = np.broadcast_to(model.means, (episodes, *model.means.shape))
    P = np.broadcast_to(p, (episodes, *p.shape))
    visits = np.zeros((episodes, model.n_pairs), np.int64)
    return Regions(visits, none, none, Intervals(v, np.zeros(v.shape)), Intervals(P, np.zeros(P.shape)))


def _around(centre: Vector, log: Vector, n: Index) -> Intervals:
    rate = log[:, None, None] / n
    return Intervals(centre, np.sqrt(2.0 * centre * rate) + 3.0 * rate)
