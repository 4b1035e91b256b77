from __future__ import annotations

import numpy as np
import pytest

from equipoise.models import star
from equipoise.rewards import Balance
from paper.checks import alternations
from paper.findings import Size


def test_it_holds_with_the_best_exponent_at_a_half():
    checked = alternations.check(Size.QUICK)
    assert checked.verdict == "holds"
    exponents = {
        f.instance.split(":")[0]: float(f.instance.split()[-1]) for f in checked.written if "exponent 0" in f.instance
    }
    for alpha in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        assert exponents[f"star(3, 4), α = {alpha}"] == pytest.approx(min(alpha, 1 - alpha), abs=0.03)
    assert max(exponents, key=lambda name: exponents[name]).endswith("0.5")


@pytest.mark.parametrize(("K", "D"), [(3, 4), (2, 2), (4, 6)])
def test_the_path_is_that_of_the_star(K, D):
    rng = np.random.default_rng(5)
    loops, stays = rng.integers(0, K, 40), rng.integers(1, 12, 40)
    actions = [int(loops[0]), *[0] * (D // 2 - 1)]
    for j in range(40):
        actions += [0] * int(stays[j])
        if j < 39 and loops[j + 1] != loops[j]:
            actions += [1] * (D // 2) + [int(loops[j + 1])] + [0] * (D // 2 - 1)
        elif j < 39:
            actions += [1, int(loops[j]) if D == 2 else 0]
    world, reward = star(K, D).world(seed=0), Balance([1 / K] * K)
    total, regret, left, off = np.zeros(K), [], 0, 0
    departures, away = [], []
    for t, action in enumerate(actions, 1):
        at_an_end = world.state > 0 and (world.state - 1) % (D // 2) == D // 2 - 1
        outcomes, _ = world.step(action)
        total += outcomes
        left += at_an_end and action == 1
        off += not outcomes.any()
        regret.append(1.0 - reward.value(total / t))
        departures.append(left)
        away.append(off)
    path = alternations.follow(K, D, loops, stays, len(actions))
    np.testing.assert_allclose(path.regret, regret, atol=1e-12)
    assert path.departures.tolist() == departures
    assert path.off.tolist() == away


def test_a_script_leaves_when_it_says():
    path = alternations.follow(3, 4, *alternations.script(3, 4, 0.5, 10_000), 10_000)
    assert [int(path.departures[t - 1]) for t in (900, 2500, 9999)] == [29, 49, 99]  # the j-th after j^2 steps


def test_travelling_in_no_time_is_seen(monkeypatch):
    script, follow = alternations.script, alternations.follow
    monkeypatch.setattr(alternations, "script", lambda K, D, *rest: script(K, 0, *rest))
    monkeypatch.setattr(alternations, "follow", lambda K, D, *rest: follow(K, 0, *rest))
    assert alternations.check(Size.QUICK).verdict == "fails"


def test_other_alternations_than_claimed_are_seen(monkeypatch):
    script = alternations.script
    monkeypatch.setattr(alternations, "script", lambda K, D, alpha, steps: script(K, D, 0.9 * alpha, steps))
    assert alternations.check(Size.QUICK).verdict == "fails"


def test_a_bound_that_is_too_good_is_seen(monkeypatch):
    bound = alternations.seldom_bound
    monkeypatch.setattr(alternations, "seldom_bound", lambda T, off, D: 30 * bound(T, off, D))
    assert alternations.check(Size.QUICK).verdict == "fails"
