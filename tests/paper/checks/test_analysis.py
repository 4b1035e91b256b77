"""The checks of section 4: their verdicts, and that each can fail."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.paper import analysis_cases, error_ratios
from equipoise.paper.checks import (
    coverage,
    decomposition,
    delays,
    error_sum,
    optimism_about_outcomes,
    optimism_about_transitions,
    oracle_regret,
    tolerances,
)
from equipoise.paper.findings import Size
from equipoise.theory.decomposition import decompose
from tests.theory.kinds import Scaled


def narrow(factor_v: float, factor_p: float):
    """The agent with radii that are too small."""

    def agent(case, delta=0.05):
        confidence = Scaled(factor_v, factor_p)
        return TocUCRL2(case.model.space, case.reward, case.oracle, delta=delta, confidence=confidence)

    return agent


def altered(**changes):
    """`decompose`, with some of its columns changed."""

    def broken(*arguments, seed):
        found = decompose(*arguments, seed=seed)
        return dataclasses.replace(found, **{name: change(found) for name, change in changes.items()})

    return broken


def test_the_regions_hold_the_truth():
    checked = coverage.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert {finding.bound for finding in checked.written} == {0.25}


@pytest.mark.parametrize("factors", [(0.02, 1.0), (1.0, 0.02)])
def test_regions_too_narrow_are_seen(factors, monkeypatch):
    monkeypatch.setattr(analysis_cases.Case, "agent", narrow(*factors))
    assert coverage.check(Size.QUICK).verdict == "fails"


def test_the_lower_end_of_a_frequency():
    """By its definition: with that chance, so many or more would be seen with probability (1 - .999) / 2."""
    from scipy.stats import binom

    assert coverage.lower_end(0, 100) == 0.0
    assert binom.sf(6, 100, coverage.lower_end(7, 100)) == pytest.approx(0.0005)


def test_five_parts():
    checked = decomposition.check(Size.QUICK)
    assert checked.verdict == "holds"
    assert all(finding.measured <= 0 for finding in checked.written)


@pytest.mark.parametrize(
    "changes",
    [
        {"heart": lambda found: -found.heart},
        {"spade": lambda found: -found.spade},
        {"diamond": lambda found: 0.0 * found.diamond},
    ],
    ids=["heart with the wrong sign", "spade with the wrong sign", "diamond left out"],
)
def test_a_wrong_part_is_seen(changes, monkeypatch):
    monkeypatch.setattr(decomposition, "decompose", altered(**changes))
    assert decomposition.check(Size.QUICK).verdict == "fails"


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
        return TocUCRL2(case.model.space, case.reward, case.oracle, threshold=np.inf, delta=delta)

    heard = error_ratios.Setting.of

    def setting(agent):
        return dataclasses.replace(heard(agent), threshold=0.001)

    monkeypatch.setattr(analysis_cases.Case, "agent", deaf)
    monkeypatch.setattr(error_ratios, "Setting", type("Heard", (), {"of": staticmethod(setting)}))
    assert delays.check(Size.QUICK).verdict == "fails"


@pytest.mark.parametrize("module", [optimism_about_outcomes, optimism_about_transitions, error_sum])
def test_a_thousandth_of_the_bounds_is_seen(module, monkeypatch):
    errors = error_ratios.errors

    def small(*arguments):
        return error_ratios.Errors._make(1e-3 * bound for bound in errors(*arguments))

    monkeypatch.setattr(error_ratios, "errors", small)
    assert module.check(Size.QUICK).verdict == "fails"


def test_regret_is_the_oracles_term_and_the_errors():
    checked = oracle_regret.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    first = checked.written[0]  # the counterexample: Reg(1) = 1/2, and the printed term is log 1 = 0
    assert (first.measured, first.bound) == (pytest.approx(0.5, abs=1e-6), 0.0)


def test_a_smaller_term_is_seen(monkeypatch):
    term = oracle_regret.regret.oracle_term
    monkeypatch.setattr(oracle_regret.regret, "oracle_term", lambda *arguments: 0.5 * term(*arguments))
    assert oracle_regret.check(Size.QUICK).verdict == "fails"


def test_tolerances_need_the_unseen_pairs():
    checked = tolerances.check(Size.QUICK)
    assert checked.verdict == "holds as corrected"
    ring = checked.written[0]
    assert (ring.measured, ring.bound) == (6.0, pytest.approx((1 + 2**0.5) * 6**0.5))


def test_tolerances_without_the_visits_rule_are_seen(monkeypatch):
    """If episodes were not ended by visits, one episode would last for ever at tolerance 1."""
    monkeypatch.setattr(tolerances, "tolerance_sums", lambda starts, steps: np.arange(1.0, steps + 1))
    assert tolerances.check(Size.QUICK).verdict == "fails"
