from __future__ import annotations

import numpy as np
import pytest

from equipoise.agents.baselines import StationaryAgent
from equipoise.models import star
from equipoise.offline.chains import occupancy_policy
from paper.checks import stationary_policies
from paper.findings import Size


def test_it_holds_policy_by_policy_and_no_constant_serves_all():
    checked = stationary_policies.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert not checked.corrected
    mixed = [finding for finding in checked.written if "2ε/5" in finding.instance]
    assert len(mixed) == 5
    assert all("infimum is 0" in finding.note for finding in mixed)


def test_limits_and_constants_by_hand():
    model = star(3, 4)
    uniform = occupancy_policy(model, np.zeros(model.n_pairs))
    # a walk on a graph with 15 ends of arcs, a loop counting once: 3/15 of the time on the loops
    assert stationary_policies.limits(model, uniform) == pytest.approx([0.4])
    assert stationary_policies.constant(model, uniform) == pytest.approx(1 / 3)  # q = 1/2
    staying = occupancy_policy(model, np.where(model.means.max(axis=1) > 0, 1.0, 0.0))
    assert stationary_policies.limits(model, staying) == pytest.approx([2 / 3] * 3)
    assert stationary_policies.constant(model, staying) == pytest.approx(1 / 6)


@pytest.mark.slow
def test_taking_the_value_of_the_mixture_for_the_mixture_of_values_is_seen(monkeypatch):
    long_run = stationary_policies.long_run

    def merged(model, policy):
        classes = long_run(model, policy)
        return [(classes[0][0], sum(x for _, x in classes) / len(classes))]

    monkeypatch.setattr(stationary_policies, "long_run", merged)
    assert stationary_policies.check(Size.QUICK).verdict == "fails"


@pytest.mark.slow
def test_a_constant_that_is_too_large_is_seen(monkeypatch):
    constant = stationary_policies.constant
    monkeypatch.setattr(stationary_policies, "constant", lambda model, policy: 1.1 * constant(model, policy))
    assert stationary_policies.check(Size.QUICK).verdict == "fails"


def test_an_agent_that_is_stationary_is_seen(monkeypatch):
    monkeypatch.setattr(stationary_policies, "TocUCRL2", StationaryAgent)
    assert stationary_policies.check(Size.QUICK).verdict == "fails"
