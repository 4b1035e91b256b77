from __future__ import annotations

import numpy as np
import pytest

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models import garnet
from equipoise.rewards import Linear, Quadratic
from paper.checks import linear_rewards
from paper.findings import Size


def test_quick():
    checked = linear_rewards.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert [f.measured for f in checked.written[:3]] == [0, 0, 0]
    small = [f for f in checked.written if f.instance.startswith("RiverSwim-3")]
    assert [f.verdict for f in small] == ["holds"] * 3
    (swim,) = [f for f in checked.written if f.instance.startswith("RiverSwim-6")]
    assert swim.verdict == "not reached"  # the first 10^4 steps on RiverSwim-6 earn nothing
    assert "0.98 of its plateau" in swim.note


def test_traces_tell_runs_apart():
    model = garnet(4, 2, 2, 2, seed=1)
    one, same = (linear_rewards._run(model, Linear([1.0, 2.0]), Q, 500, 3) for Q in (0.0, 1.0))
    other = linear_rewards._run(model, Linear([1.0, 2.0]), 1.0, 500, 4)
    assert linear_rewards._trace(one) == linear_rewards._trace(same) != linear_rewards._trace(other)


@pytest.mark.slow
def test_a_reward_that_is_not_linear_is_seen(monkeypatch):
    monkeypatch.setattr(linear_rewards, "Linear", lambda weights: Quadratic(np.clip(np.abs(weights), 0, 1)))
    checked = linear_rewards.check(Size.QUICK)
    assert checked.verdict == "fails"
    assert all(f.verdict == "fails" for f in checked.written[:3])


@pytest.mark.slow
def test_a_threshold_that_acts_on_its_own_is_seen(monkeypatch):
    # a drift that counts steps instead of theta: every Q > 0 ends an episode at some time
    right = TocUCRL2._set_up_phase

    def wrong(self):
        right(self)
        if self.threshold == 0.0:
            self.__dict__["_constants"] = self._constants._replace(threshold=-1.0)

    monkeypatch.setattr(TocUCRL2, "_set_up_phase", wrong)
    assert linear_rewards.check(Size.QUICK).verdict == "fails"
