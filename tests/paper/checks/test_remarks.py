"""What the paper says in passing: each check holds, and fails when something is broken on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.agents.baselines import StationaryAgent
from equipoise.models import ring, scalar_hub
from paper.checks import bandit_policies, dynamic_thresholds, scalar_policies, threshold_remarks
from paper.findings import Size


@pytest.mark.parametrize(
    ("module", "verdict"),
    [
        (bandit_policies, "holds"),
        (scalar_policies, "holds"),
        (threshold_remarks, "holds as corrected"),
        (dynamic_thresholds, "holds"),
    ],
)
def test_quick(module, verdict):
    assert module.check(Size.QUICK).verdict == verdict


def test_the_mean_deviation_by_hand():
    assert bandit_policies.mean_deviation(3, 0.5) == pytest.approx(0.75)  # 1.5, .5, .5, 1.5 with 1, 3, 3, 1 eighths


def test_chance_in_the_place_of_turns_is_seen(monkeypatch):
    monkeypatch.setattr(bandit_policies, "RoundRobin", StationaryAgent)
    assert bandit_policies.check(Size.QUICK).verdict == "fails"


def test_a_policy_that_stays_where_it_is_is_seen(monkeypatch):
    monkeypatch.setattr(scalar_policies, "greedy", lambda model, _: model.first_pair[:-1])
    assert scalar_policies.check(Size.QUICK).verdict == "fails"


def test_the_longest_way_in_a_hub_by_hand():
    assert scalar_policies.longest(ring(3), [0, 1, 2]) == scalar_hub(3).diameter() == 4.0
    gain, policy = scalar_policies.planned(ring(4), ring(4).means[:, 0])
    assert gain == pytest.approx(0.25)
    assert np.all(policy == 1.0)


def test_an_agent_that_never_waits_is_seen(monkeypatch):
    """With Q = 0 in the place of Q the alternations do not follow it."""
    agent = threshold_remarks.TocUCRL2

    def hasty(space, reward, oracle, threshold, *rest, **more):
        return agent(space, reward, oracle, min(threshold, 0.5), *rest, **more)

    monkeypatch.setattr(threshold_remarks, "TocUCRL2", hasty)
    assert threshold_remarks.check(Size.QUICK).verdict == "fails"


def test_a_schedule_that_does_nothing_is_seen(monkeypatch):
    power = dynamic_thresholds.Power
    monkeypatch.setattr(dynamic_thresholds, "Power", lambda exponent: power(0.0 * exponent))
    assert dynamic_thresholds.check(Size.QUICK).verdict == "fails"
