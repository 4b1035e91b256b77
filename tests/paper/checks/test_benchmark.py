from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from equipoise.models import Model, bandit
from equipoise.rewards import Balance, Linear
from paper.checks import benchmark
from paper.findings import Size


@pytest.mark.slow
def test_it_holds_with_the_constant_two_and_with_one():
    checked = benchmark.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert all(finding.verdict == "holds" for finding in checked.corrected)
    rings = {f.instance: f.measured for f in checked.written if f.instance.startswith("ring") and f.relation == ">="}
    assert rings["ring(2), T = 3"] == pytest.approx(1 / 2)
    assert rings["ring(10), T = 11"] == pytest.approx(11 * (2 / 11 - 1 / 10))
    shares = [f.measured for f in checked.corrected if "share" in f.instance]
    assert shares[-1] == pytest.approx(1000 * 40 / 1040 / 41)
    assert shares[-1] > 0.93


def test_the_best_of_all_policies_by_hand():
    coins = Model.from_arrays([[[1.0], [1.0]]], [[[0.3], [0.6]]])
    for T in (1, 2, 5):
        assert benchmark.best_of_all(coins, Linear([1.0]), T) == pytest.approx([0.6])
    # one step on one arm, one on the other; three steps cannot be halved
    found = [float(benchmark.best_of_all(bandit(2), Balance([0.5, 0.5]), T)[0]) for T in (1, 2, 3)]
    assert found == pytest.approx([0.5, 1.0, 1 - 1 / 6])
    # after a success of the first coin it is left alone: E|n - 1| is .5 for two fair draws, 0 can not be had
    fair = Model.from_arrays([[[1.0], [1.0]]], [[[0.5], [0.0]]])
    values = benchmark.best_of_all(fair, Balance([0.5]), 2)
    assert values[0] == pytest.approx(1 - 0.25 * 0.25)  # wrong only after two failures: n = 0


@pytest.mark.slow
def test_a_tenth_of_the_printed_bound_is_seen(monkeypatch):
    slack = benchmark.printed.benchmark_slack
    monkeypatch.setattr(benchmark.printed, "benchmark_slack", lambda *arguments: 0.1 * slack(*arguments))
    assert benchmark.check(Size.QUICK).verdict == "fails"


@pytest.mark.slow
def test_no_constant_below_one_will_do(monkeypatch):
    slack = benchmark.bounds.benchmark_slack
    monkeypatch.setattr(benchmark.bounds, "benchmark_slack", lambda *arguments: 0.93 * slack(*arguments))
    checked = benchmark.check(Size.QUICK)
    assert checked.verdict == "fails"
    assert "reserve(1000, 40), T = 1000" in [f.instance for f in checked.corrected if f.verdict == "fails"]


@pytest.mark.slow
def test_an_optimum_too_low_by_one_per_cent_is_seen(monkeypatch):
    solve = benchmark.solve

    def wrong(*arguments):
        best = solve(*arguments)
        return dataclasses.replace(best, value=0.99 * best.value)

    monkeypatch.setattr(benchmark, "solve", wrong)
    assert benchmark.check(Size.QUICK).verdict == "fails"


@pytest.mark.slow
def test_a_policy_that_anticipates_is_seen(monkeypatch):
    best_of_all = benchmark.best_of_all

    def chosen(model: Model) -> Model:
        """Where chance decided on the next state, the agent does."""
        states = []
        for s in range(model.n_states):
            branches = range(model.branch_first[model.first_pair[s]], model.branch_first[model.first_pair[s + 1]])
            states.append([[(1.0, int(model.branch_next[b]), model.rows[model.branch_row[b]])] for b in branches])
        return Model.from_branches(states, noise=model.noise)

    monkeypatch.setattr(benchmark, "best_of_all", lambda model, *rest: best_of_all(chosen(model), *rest))
    assert benchmark.check(Size.QUICK).verdict == "fails"


def test_the_reserve_has_the_optimum_and_the_diameter_that_it_claims():
    world = benchmark.reserve(20, 5)
    assert world.diameter() == pytest.approx(6.0)
    assert benchmark.solve(world, Linear([1.0])).value == pytest.approx(20 / 25)
    assert float(np.max(benchmark.best_of_all(world, Linear([1.0]), 20))) == 1.0
