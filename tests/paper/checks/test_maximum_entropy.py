"""Maximum entropy: the constants of erratum 8, the rate, and that the check can fail."""

from __future__ import annotations

import math

import pytest

from equipoise.agents.baselines import StationaryAgent
from equipoise.paper.checks import maximum_entropy
from equipoise.paper.findings import Size


@pytest.fixture(scope="module")
def checked():
    return maximum_entropy.check(Size.QUICK)


@pytest.mark.slow
def test_quick(checked):
    assert checked.verdict == "holds as corrected"
    bends = [finding for finding in checked.written if "second derivative" in finding.instance]
    assert [finding.measured / finding.bound for finding in bends] == pytest.approx([2.0] * 4, rel=1e-5)
    assert all(finding.verdict == "fails" for finding in bends)
    steep = {finding.instance: finding for finding in checked.written if "gradient" in finding.instance}
    assert steep["S = 5, μ = 0.01: longest gradient"].verdict == "holds"
    assert steep["S = 5, μ = 0.9: longest gradient"].verdict == "fails"
    uniform = [finding for finding in checked.written if "S = 2, μ = 0.5: distance" in finding.instance]
    assert math.log(2) <= uniform[0].measured <= 1.0  # log(1/2) + log 1 for the uniform distribution
    assert any(finding.instance.startswith("star") and finding.reached for finding in checked.written)


def test_wrong_constants_are_seen(monkeypatch):
    monkeypatch.setattr(maximum_entropy, "bend", lambda mu: 2.1 / (mu * math.log(5)))
    monkeypatch.setattr(maximum_entropy, "curve", lambda instance: None)
    monkeypatch.setattr(maximum_entropy, "rate", lambda *_: maximum_entropy.Finding("rate", -1.0, -0.3))
    monkeypatch.setattr(maximum_entropy, "picture", lambda *_: None)
    assert maximum_entropy.check(Size.QUICK).verdict == "fails"


def test_an_agent_that_does_not_explore_is_seen(monkeypatch):
    """A policy that stays where it is: its regret does not fall, and its slope fails once it counts."""
    from equipoise.paper import rates

    def idle(instance, threshold=None):
        policy = [float(pair in instance.model.first_pair) for pair in range(instance.model.n_pairs)]
        return StationaryAgent(instance.model.space, instance.reward, policy)

    monkeypatch.setattr(rates.Instance, "agent", idle)
    monkeypatch.setattr(rates, "REACHED", 2.0)
    found = maximum_entropy.check(Size.QUICK)
    assert any(f.verdict == "fails" for f in found.written if f.instance.startswith(("patrol", "star")))
