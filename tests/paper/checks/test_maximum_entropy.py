"""Maximum entropy: each of its five checks holds, and fails when what it is named for is broken."""

from __future__ import annotations

import pytest

from equipoise.agents.baselines import StationaryAgent
from equipoise.rewards import Entropy
from paper import exploration
from paper.checks import (
    entropy_anytime,
    entropy_constants,
    entropy_doubling,
    entropy_refined,
    maximum_entropy,
)
from paper.findings import Size


def idle(model, reward):
    """Always the first action: it goes nowhere, and its regret does not fall."""
    policy = [float(pair in model.first_pair) for pair in range(model.n_pairs)]
    return StationaryAgent(model.space, reward, policy)


def failures(checked):
    """The names of what fails and should not."""
    findings = checked.corrected if checked.statement.correction else checked.written
    return [finding.instance for finding in findings if finding.verdict == "fails"]


@pytest.mark.parametrize(
    ("module", "verdict"),
    [
        (entropy_constants, "holds as corrected"),
        (maximum_entropy, "holds"),
        (entropy_refined, "holds as corrected"),
        (entropy_anytime, "holds"),
        (entropy_doubling, "holds"),
    ],
)
def test_quick(module, verdict):
    checked = module.check(Size.QUICK)
    assert checked.verdict == verdict
    assert all(finding.verdict == "fails" for finding in checked.written) or not checked.corrected
    assert all(finding.reached for finding in (*checked.written, *checked.corrected))


def test_even_visits_are_the_optimum():
    for S, mu in ((2, 0.5), (5, 0.1), (50, 0.001)):
        assert exploration.evenly(S, mu) == pytest.approx(Entropy(S, mu).value([1 / S] * S))
    for model in exploration.small_worlds().values():
        assert model.n_outcomes == model.n_states


@pytest.mark.parametrize("module", [maximum_entropy, entropy_anytime, entropy_doubling])
def test_an_agent_that_does_not_explore_is_seen(monkeypatch, module):
    monkeypatch.setattr(module, "learner", idle)
    if module is entropy_anytime:
        monkeypatch.setattr(module, "_recorded", lambda steps: [])  # that agent has no theta
    failed = failures(module.check(Size.QUICK))
    assert any("slope" in name for name in failed)
    assert any("regret" in name for name in failed)


def test_a_value_that_is_off_is_seen(monkeypatch):
    value = Entropy.value
    monkeypatch.setattr(Entropy, "value", lambda self, w: value(self, w) * 0.9)
    failed = failures(entropy_constants.check(Size.QUICK))
    assert any("distance" in name for name in failed)
    assert any("definition" in name for name in failed)


def test_a_smoothing_that_falls_like_one_over_t_is_seen(monkeypatch):
    monkeypatch.setattr(Entropy, "at", lambda self, t: Entropy(self.n_states, 1.0 / (self.n_states ** (2 / 3) * t)))
    assert any("μ(t)" in name for name in failures(entropy_anytime.check(Size.QUICK)))


@pytest.mark.parametrize("part", ["club", "heart", "spade", "P"])
def test_a_refined_part_that_is_off_is_seen(monkeypatch, part):
    refined = entropy_refined.bounds.refined_regret

    def wrong(*arguments):
        bound = refined(*arguments)
        errors = bound.errors._replace(**{part: 0.9 * getattr(bound.errors, part)})
        return type(bound)(bound.steps, bound.oracle, errors, bound.probability)

    monkeypatch.setattr(entropy_refined.bounds, "refined_regret", wrong)
    assert any("formulas" in name for name in failures(entropy_refined.check(Size.QUICK)))


def test_phases_that_begin_elsewhere_are_the_same_world():
    model = exploration.small_worlds()["room of 9 cells"]
    moved = entropy_doubling.begun_at(model, 4)
    assert moved.start == 4
    assert (moved.transitions() != model.transitions()).nnz == 0
    assert moved.space.known_mask.all()
