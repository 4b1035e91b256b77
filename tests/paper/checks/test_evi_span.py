from __future__ import annotations

import numpy as np
import pytest

from equipoise.models import ring
from equipoise.planning import extended_value_iteration
from paper.checks import evi_span
from paper.findings import Size


def test_it_holds_as_corrected():
    checked = evi_span.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    first, *_ = checked.written
    assert (first.measured, first.bound) == (4.0, 3.0)
    assert checked.corrected[0].bound == 6.0
    assert all(finding.verdict == "fails" for finding in checked.written)
    assert any("holds as quoted" in finding.note for finding in checked.corrected)


def test_the_example_of_the_erratum():
    world, rewards = evi_span.detour(3)
    assert world.diameter() == pytest.approx(3.0)
    plan = extended_value_iteration(world.first_pair, evi_span.alone(world), rewards, 1e-6)
    assert plan.bias.tolist() == [4.0, 0.0, 2.0]
    assert plan.gain == 1.0


def test_the_regions_are_the_papers():
    world = ring(4)
    region = evi_span.around(world, np.array([100, 100, 100, 100]))
    log_p = np.log(12 * 4 * 4 * 401**2 / 0.05)
    assert region.lo.tolist() == pytest.approx([max(0.0, 1 - np.sqrt(2 * log_p / 100) - 3 * log_p / 100)] * 4)
    assert region.rest.tolist() == pytest.approx([min(1.0, 3 * log_p / 100)] * 4)


def test_regions_without_the_truth_are_seen(monkeypatch):
    def lazy(model, visits):
        """Ten times slower than the world is: each step stands still nine times out of ten."""
        region = evi_span.alone(model)
        slow = region._replace(lo=0.1 * region.lo, hi=0.1 * region.hi, rest=np.full(model.n_pairs, 0.0))
        first, successor, lo = [0], [], []
        for pair in range(model.n_pairs):
            here = slice(slow.first[pair], slow.first[pair + 1])
            chances = dict(zip(slow.successor[here].tolist(), slow.lo[here].tolist(), strict=True))
            state = int(model.state_of[pair])
            chances[state] = chances.get(state, 0.0) + 0.9
            successor += chances.keys()
            lo += chances.values()
            first.append(len(successor))
        chance = np.array(lo)
        return slow._replace(first=np.array(first), successor=np.array(successor), lo=chance, hi=chance)

    monkeypatch.setattr(evi_span, "around", lazy)
    assert evi_span.check(Size.QUICK).verdict == "fails"


def test_plans_that_do_not_end_are_seen(monkeypatch):
    monkeypatch.setattr(evi_span, "_LIMIT", 1000)
    assert evi_span.check(Size.QUICK).verdict == "fails"


def test_a_bias_that_is_twice_too_large_is_seen(monkeypatch):
    plan = evi_span.extended_value_iteration

    def doubled(*arguments, **options):
        found = plan(*arguments, **options)
        return found._replace(bias=2 * found.bias)

    monkeypatch.setattr(evi_span, "extended_value_iteration", doubled)
    assert evi_span.check(Size.QUICK).verdict == "fails"
