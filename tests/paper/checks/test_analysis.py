"""The checks of section 4: their verdicts, and that each can fail."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence import Scaled
from equipoise.confidence.bernstein import Bernstein
from equipoise.theory.decomposition import decompose
from paper import analysis_cases, error_ratios
from paper.checks import (
    coverage,
    decomposition,
    delays,
    error_sum,
    optimism_about_outcomes,
    optimism_about_transitions,
    oracle_regret,
    tolerances,
)
from paper.exact_coverage import critical, failure, share
from paper.findings import Size
from paper.paths import stepped
from paper.written_terms import best_mean, terms


def altered(**changes):
    """`decompose`, with some of its columns changed."""

    def broken(*arguments, **more):
        found = decompose(*arguments, **more)
        return dataclasses.replace(found, **{name: change(found) for name, change in changes.items()})

    return broken


def broken(checked):
    return {finding.instance for finding in (*checked.written, *checked.corrected) if finding.verdict == "fails"}


def test_the_regions_hold_the_truth():
    checked = coverage.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert all(finding.bound == 0.25 for finding in checked.written if ": not E" in finding.instance)


def test_regions_half_as_wide_are_seen(monkeypatch):
    def narrow(case, delta=0.05):
        confidence = Scaled(Bernstein(), 0.5)
        return TocUCRL2(case.model.space, case.reward, case.oracle, delta=delta, confidence=confidence)

    monkeypatch.setattr(analysis_cases.Case, "agent", narrow)
    found = broken(coverage.check(Size.QUICK))
    assert {"ends of H^v against (3.4), all worlds", "ends of H^p against (3.5), all worlds"} <= found


def test_the_lower_end_of_a_frequency():
    """By its definition: with that chance, so many or more would be seen with probability (1 - .999) / 2."""
    from scipy.stats import binom

    assert coverage.lower_end(0, 100) == 0.0
    assert binom.sf(6, 100, coverage.lower_end(7, 100)) == pytest.approx(0.0005)


def test_exact_chances_by_enumeration():
    from scipy.stats import binom

    n, p, level, c = 60, 0.3, 0.5, 0.3
    log = math.log(12 * n**2 / level)
    k = np.arange(n + 1)
    rad = c * (np.sqrt(2 * k * log) + 3 * log) / n
    missed = np.abs(k / n - p) > rad
    assert 0 < missed.sum() < n
    assert failure(n, p, level, c) == pytest.approx(binom.pmf(k, n, p)[missed].sum())
    edge = critical(n, p, level)
    assert failure(n, p, level, 0.99 * edge) > share(n, level) >= failure(n, p, level, edge)


def test_the_best_mean_by_a_linear_program():
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    for _ in range(20):
        centre = rng.dirichlet(np.ones(5))
        lo, hi = np.maximum(0, centre - rng.uniform(0, 0.3, 5)), np.minimum(1, centre + rng.uniform(0, 0.3, 5))
        values = rng.uniform(0, 3, 5)
        best = linprog(-values, A_eq=np.ones((1, 5)), b_eq=[1.0], bounds=list(zip(lo, hi, strict=True)))
        assert best_mean(values, lo[None], hi[None])[0] == pytest.approx(-best.fun)


def test_a_path_by_hand_is_the_recorded_one():
    for case in analysis_cases.cases(1):
        recorded = decompose(case.model, case.agent(), 300, seed=3)
        written = terms(stepped(case.model, case.agent(), 300, 3), recorded.best.outcomes)
        np.testing.assert_array_equal(written.path.pair, recorded.pair)
        np.testing.assert_array_equal(written.path.tau, recorded.episodes.tau)
        np.testing.assert_array_equal(written.v_held, recorded.episodes.v_held)
        np.testing.assert_array_equal(written.p_held, recorded.episodes.p_held)


def test_five_parts():
    assert decomposition.check(Size.QUICK).verdict == "holds"


@pytest.mark.parametrize("term", ["club", "diamond", "heart", "spade", "P"])
def test_a_part_left_out_is_seen(term, monkeypatch):
    monkeypatch.setattr(decomposition, "decompose", altered(**{term: lambda found: 0.0 * getattr(found, term)}))
    checked = decomposition.check(Size.QUICK)
    assert checked.verdict == "fails"
    sign = decomposition.SIGNS[term]
    assert {f"{sign} against its formula, 8 worlds", f"where {sign} is needed"} <= broken(checked)


@pytest.mark.parametrize(
    "module",
    [delays, optimism_about_outcomes, optimism_about_transitions, error_sum],
)
def test_sums_are_below_their_bounds(module):
    checked = module.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert max(finding.measured for finding in checked.written) > 0  # something was measured


def test_delays_without_the_gradient_rule(monkeypatch):
    """With the threshold's rule left out, theta drifts as far as it likes within an episode."""

    def deaf(case, delta=0.05):
        return TocUCRL2(case.model.space, case.reward, case.oracle, threshold=100.0, delta=delta)

    monkeypatch.setattr(analysis_cases.Case, "agent", deaf)
    assert "(B.19): Σ‖θ_t − θ_τ‖ of an episode over Q" in broken(delays.check(Size.QUICK))


@pytest.mark.parametrize("module", [delays, optimism_about_outcomes, optimism_about_transitions, error_sum])
@pytest.mark.parametrize("factor", [0.99, 2.0])
def test_other_bounds_are_seen(module, factor, monkeypatch):
    errors = error_ratios.errors

    def other(*arguments):
        return error_ratios.Errors._make(factor * bound for bound in errors(*arguments))

    monkeypatch.setattr(error_ratios, "errors", other)
    assert any("against its formula" in name for name in broken(module.check(Size.QUICK)))


def test_regret_is_the_oracles_term_and_the_errors():
    checked = oracle_regret.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    (first,) = checked.written  # the counterexample: Reg(1) = 1/2, and the printed term is log 1 = 0
    assert (first.measured, first.bound) == (pytest.approx(0.5, abs=1e-6), 0.0)


def test_a_term_without_its_logarithm_is_seen(monkeypatch):
    term = oracle_regret.bounds.oracle_term

    def flat(setting, T):
        return term(setting, T) / (1.0 + math.log(T))

    monkeypatch.setattr(oracle_regret.bounds, "oracle_term", flat)
    found = broken(oracle_regret.check(Size.QUICK))
    assert any("outcomes 1 and 0 in turn" in name for name in found)
    assert any("FW" in name for name in found)


def test_tolerances_need_the_unseen_pairs():
    checked = tolerances.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    ring = checked.written[0]
    assert (ring.measured, ring.bound) == (6.0, pytest.approx((1 + 2**0.5) * 6**0.5))
    assert all(finding.verdict == "fails" for finding in checked.written)


def test_tolerances_without_the_visits_rule_are_seen(monkeypatch):
    """If episodes were not ended by visits, one episode would last for ever at tolerance 1."""
    monkeypatch.setattr(tolerances, "tolerance_sums", lambda starts, steps: np.arange(1.0, steps + 1))
    assert tolerances.check(Size.QUICK).verdict == "fails"
