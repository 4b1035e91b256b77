from __future__ import annotations

import math

import numpy as np
import pytest

from paper.checks import zero_threshold
from paper.findings import Size


def test_it_holds_for_exact_plans_in_a_known_model_only():
    checked = zero_threshold.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    assert [finding.verdict for finding in checked.written] == ["fails"] * 4
    limit = 8 / 11 + (8 / 11) ** 2 / 6
    assert limit == pytest.approx(0.8154, abs=5e-5)
    assert checked.corrected[0].measured == pytest.approx(limit, abs=0.01)


def test_the_reward_is_that_of_the_claim():
    rng = np.random.default_rng(0)
    for K in (2, 3):
        reward = zero_threshold.claimed_reward(K)
        points = rng.random((20, K))
        expected = points.sum(axis=1) - 0.5 * ((points - 1 / K) ** 2).sum(axis=1)
        found = np.array([reward.value(w) for w in points])
        np.testing.assert_allclose(found - expected, found[0] - expected[0], atol=1e-12)
        assert max(np.linalg.norm(reward.gradient(w)) for w in points) <= reward.lipschitz


def test_the_table_of_erratum_9():
    times = np.array([100, 1000])
    known = {"known": True, "tolerance": 1e-9}
    assert zero_threshold.run(3, 4, 0.0, times, **known) == pytest.approx([0.831, 0.816], abs=5.1e-4)
    assert zero_threshold.run(3, 4, 1.0, times, **known) == pytest.approx([0.360, 0.137], abs=5.1e-4)
    assert zero_threshold.run(3, 4, math.inf, times, **known) == pytest.approx([0.340, 0.334], abs=5.1e-4)
    loose = zero_threshold.run(3, 4, 0.0, times, known=True, tolerance=None)
    assert loose == pytest.approx([0.339, 0.137], abs=5.1e-4)


def test_in_a_known_model_an_exact_plan_leaves_a_loop_that_is_one_ahead():
    times = np.arange(1, 200)
    regret = zero_threshold.run(2, 2, 0.0, times, known=True, tolerance=1e-9)
    # go out, loop; two steps to the other, loop twice; ...: by t = 8 the loops have 2 + 2 steps
    taken = np.array([0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5])
    lost = 1 - taken / np.arange(1, 13)
    assert np.all(regret[:12] >= lost - 1e-12)
    assert np.all(regret[:12] <= lost + lost**2 / 4 + 1 / np.arange(1, 13) ** 2)


@pytest.mark.parametrize("change", [{"tolerance": None}, {"Q": 1.0}])
def test_loose_plans_or_another_threshold_are_seen(monkeypatch, change):
    run = zero_threshold.run

    def other(K, D, Q, times, *, known, tolerance):
        if Q == 0.0 and known:
            Q, tolerance = change.get("Q", Q), change.get("tolerance", tolerance)
        return run(K, D, Q, times, known=known, tolerance=tolerance)

    monkeypatch.setattr(zero_threshold, "run", other)
    assert zero_threshold.check(Size.QUICK).verdict == "fails"


def test_the_share_of_the_paper_is_not_the_limit(monkeypatch):
    """With (D - 1) / D in place of q, as the paper has it, the two-sided bound does not hold."""

    def printed(K, D, times):
        q = (D - 1) / D
        return q + q**2 / (2 * K) - K / times, q + q**2 / (2 * K) + (K + D) / times

    monkeypatch.setattr(zero_threshold, "between", printed)
    assert zero_threshold.check(Size.QUICK).verdict == "fails"
