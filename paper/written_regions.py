"""The estimates and regions of (3.3), (3.4) and (3.5) at every episode of a path.

The formulas are those of `tests.reference.confidence`, the dense transcription of the paper; nothing here is taken from
`equipoise.confidence`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise._types import Index, Vector
from equipoise.models.model import Model
from paper.paths import Path
from tests.reference.confidence import log_p, log_v, mean_and_radius


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
    levels = np.broadcast_to(path.level, path.tau.shape)
    logs_v = np.array([log_v(SA, K, int(tau), float(level)) for tau, level in zip(path.tau, levels, strict=True)])
    logs_p = np.array([log_p(SA, S, int(tau), float(level)) for tau, level in zip(path.tau, levels, strict=True)])
    return Regions(visits, logs_v, logs_p, _around(sums, visits, logs_v), _around(successors, visits, logs_p))


def truth(model: Model, episodes: int) -> Regions:
    """The regions of an agent that knows the model: v and p alone."""
    p, none = model.transitions().toarray(), np.zeros(episodes)
    v = np.broadcast_to(model.means, (episodes, *model.means.shape))
    P = np.broadcast_to(p, (episodes, *p.shape))
    visits = np.zeros((episodes, model.n_pairs), np.int64)
    return Regions(visits, none, none, Intervals(v, np.zeros(v.shape)), Intervals(P, np.zeros(P.shape)))


def _around(sums: Vector, visits: Index, logs: Vector) -> Intervals:
    parts = [mean_and_radius(*episode) for episode in zip(sums, visits, logs, strict=True)]
    return Intervals(np.array([mean for mean, _ in parts]), np.array([radius for _, radius in parts]))
