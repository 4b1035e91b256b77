"""N_alt of Claim 3.1: which pairs leave a loop, and how often they were taken."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ParameterError
from equipoise.models import departures


def test_the_arcs_of_the_papers_worlds():
    hub = eq.models.hub(branches=3)
    n = hub.n_states - 3
    assert departures(hub).tolist() == [hub.pair(n + k, 1) for k in range(3)]
    star = eq.models.star(branches=3, diameter=4)
    p = star.transitions().toarray()
    loops = [s for s in range(star.n_states) if any(p[star.pair(s, a), s] == 1.0 for a in range(star.n_actions[s]))]
    assert len(loops) == 3
    expected = [star.pair(s, a) for s in loops for a in range(star.n_actions[s]) if p[star.pair(s, a), s] < 1.0]
    assert departures(star).tolist() == expected
    assert len(expected) == 3
    assert departures(eq.models.bandit(3)).size == 0  # nowhere to go
    assert departures(eq.models.ring(4)).size == 0  # nowhere to stay


def test_they_are_counted_step_by_step():
    """On a star: a step from s to another state, where the step before stayed or the loop was there to be taken."""
    model = eq.models.star(branches=3, diameter=4)
    agent = eq.TocUCRL2(model.space, eq.rewards.Balance([1 / 3] * 3), confidence=eq.confidence.Known(model))
    run = eq.simulate(model, agent, 4000, trace=True, progress=False)
    p = model.transitions().toarray()
    count = 0
    for state, after in run.trace.select("state", "next_state").rows():
        stays = any(p[model.pair(state, a), state] == 1.0 for a in range(model.n_actions[state]))
        count += stays and after != state
    assert run.alternations() == agent.alternations(model) == count
    assert count > 10
    more = eq.simulate(model, agent, 500, trace=True, progress=False)
    assert agent.alternations(model) == count + more.alternations()


def test_what_is_refused():
    model = eq.models.star(2, 2)
    agent = eq.TocUCRL2(model.space, eq.rewards.Balance([0.5, 0.5]))
    run = eq.simulate(model, agent, 10, progress=False)
    with pytest.raises(ParameterError, match="no trace"):
        run.alternations()
    with pytest.raises(ParameterError, match="its space is not the agent's"):
        agent.alternations(eq.models.star(3, 2))
    shop = eq.mechanics.inventory()
    told = eq.TocUCRL2(shop.space, eq.rewards.Linear(np.ones(shop.space.n_outcomes)))
    with pytest.raises(ParameterError, match=r"its space is not"):
        told.alternations(eq.models.star(3, 2))
