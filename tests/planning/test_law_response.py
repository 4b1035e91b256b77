"""What a plan over known mechanics believes lies in the regions of its laws, and is what the sweep used."""

from __future__ import annotations

import numpy as np
import pytest

import equipoise as eq
from equipoise.confidence.base import build_region
from equipoise.planning.optimistic_model import plan_optimistically
from equipoise.planning.optimistic_transitions import optimistic_shares
from tests.agents.mechanics_cases import CASES

RULES = [eq.confidence.Bernstein(), eq.confidence.Adaptive(), eq.confidence.L1()]
TOLD = [name for name, case in CASES.items() if case.truth]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("name", TOLD)
def test_the_laws_are_those_of_the_last_sweep(name: str, rule: eq.confidence.Confidence) -> None:
    case = CASES[name]
    mechanics = case.mechanics()
    model, space = mechanics.model(**case.truth), mechanics.space
    planner = eq.planning.Planner(relaxation=0.5)  # some are periodic
    agent = eq.TocUCRL2(space, eq.rewards.TargetSquared([0.7, 0.6]), confidence=rule, planner=planner)
    eq.simulate(model, agent, 60, seed=1, progress=False)
    region = build_region(rule, space, agent.loop.arrays.counts, agent.t, 0.05)
    theta = np.array([-0.7, 0.4])
    belief = plan_optimistically(
        space, agent.loop.arrays.counts, region, theta, 1e-9, 0.5, np.zeros(space.n_states), 100_000
    )
    assert space.laws is not None
    assert belief.work is not None
    laws, work, plan = space.laws.arrays, belief.work, belief.plan
    shares = optimistic_shares(laws, region, work)
    for node, law in enumerate(laws.node_law.tolist()):
        mass = shares[laws.node_first[node] : laws.node_first[node + 1]]
        bounds = slice(laws.first_value[law], laws.first_value[law + 1])
        assert mass.sum() == pytest.approx(1.0)
        if law < laws.learnt and region.radius[law] > 0.0:
            assert np.abs(mass - work.lo[bounds]).sum() <= region.radius[law] + 1e-12
        elif law < laws.learnt:
            assert np.all(mass >= work.lo[bounds] - 1e-12)
            assert np.all(mass <= work.hi[bounds] + 1e-12)
            assert mass[work.unseen[bounds]].sum() <= region.rest_sum[law] + 1e-12
        else:
            assert mass == pytest.approx(work.lo[bounds])
    # the sweep's own equation, which a law that is not the best would miss
    swept = belief.model.outcomes @ -theta + belief.model.chain @ plan.bias - plan.bias
    assert swept.max() <= plan.gain + 1e-9
    assert swept.min() >= plan.gain - 2e-9
