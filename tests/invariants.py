"""What holds with certainty on every run, whatever the world, the reward and the seed."""

from __future__ import annotations

import math

import numpy as np

import equipoise as eq
from equipoise.theory import bounds


def assert_invariants(agent: eq.TocUCRL2) -> None:
    steps = agent.t - 1
    starts = agent.episode_starts
    counts, clock, drift_state = (
        agent.loop.arrays.counts,
        agent.loop.arrays.memory.clock[0],
        agent.loop.arrays.memory.drift_state[0],
    )
    assert starts[0] == 1
    assert np.all(np.diff(starts) >= 1)
    assert starts[-1] <= steps
    assert np.all((agent.average >= 0) & (agent.average <= 1))

    since_restart = steps - (0 if agent.loop.phase.inherit else int(clock["origin"]))
    assert int(agent.visits.sum()) == since_restart
    if clock["learning"]:
        assert np.all(counts.fresh <= np.maximum(1, counts.visits))
    for pair in range(agent.space.n_pairs):
        block = slice(counts.block_first[pair], counts.block_first[pair] + counts.block_used[pair])
        assert counts.pool_count[block].sum() == agent.visits[pair]
        assert len(set(counts.pool_state[block].tolist())) == counts.block_used[pair]
        assert np.all(counts.sums[pair] <= agent.visits[pair])

    ended = agent.episode_record.triggers()
    assert ended[-1] == "open"
    restarts = agent.oracle.phase(1).length is not None
    assert ("restart" in ended) <= restarts
    assert clock["origin"] == agent.loop.phase.origin
    Q = drift_state["threshold"]
    if not clock["learning"]:
        assert "visits" not in ended
        assert "both" not in ended
    varies = agent.threshold is None and math.isinf(agent.reward.lipschitz)
    if not varies and Q > 0 and not restarts:
        by_gradient = sum(reason in ("gradient", "both") for reason in ended)
        assert by_gradient <= bounds.gradient_episodes(agent.reward, agent.oracle, Q, steps)
        by_visits = sum(reason in ("visits", "both") for reason in ended)
        assert by_visits <= bounds.visit_episodes(agent.space.n_pairs, steps)
    if Q > 0 and math.isfinite(agent.reward.lipschitz):
        assert len(starts) <= bounds.episodes(agent.reward, agent.oracle, Q, agent.space.n_pairs, steps)
    # the drift that has not ended the episode yet is at most Q plus one step of at most the diameter 2L
    if math.isfinite(agent.reward.lipschitz):
        assert drift_state["drift"] <= Q + 2 * agent.reward.lipschitz * (1 + 1e-12)
