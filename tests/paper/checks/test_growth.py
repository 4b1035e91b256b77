from __future__ import annotations

import math

import numpy as np
import pytest

from paper.checks import growth
from paper.findings import Size


def test_quick():
    checked = growth.check(Size.QUICK)
    assert checked.verdict == "holds"
    # alpha = 0: rho_j = C j against C (j - 1)
    assert checked.written[0].measured == pytest.approx(10_000 / 9_999)


def test_episodes_that_are_too_few_or_too_many_are_seen(monkeypatch):
    right = growth.gradient_episodes
    for factor in (0.45, 1.3):
        monkeypatch.setattr(growth, "gradient_episodes", lambda *arguments, by=factor: by * right(*arguments))
        assert growth.check(Size.QUICK).verdict == "fails"


def test_against_plain_iteration():
    rho, alpha, C = 4.0, 0.5, 2.0  # C^(1/(1 - alpha)) = 4
    found = growth.least_sequence(np.array([C]), alpha, 50)[:, 0]
    limit = growth.lower_bound(np.array([C]), alpha, 50)[:, 0]
    for j in range(2, 51):
        rho += C * rho**alpha
        assert math.exp(found[j - 2]) == pytest.approx(rho)
        assert math.exp(limit[j - 2]) == pytest.approx(((j - 1) * C / 2) ** 2 / 4)


def test_without_its_factor_the_bound_is_too_good(monkeypatch):
    right = growth.lower_bound
    give = {alpha: math.log(2) * alpha / (1 - alpha) ** 2 for alpha in growth._ALPHAS}
    monkeypatch.setattr(growth, "lower_bound", lambda C, alpha, n: right(C, alpha, n) + give[alpha])
    assert growth.check(Size.QUICK).verdict == "fails"


def test_the_first_term_matters(monkeypatch):
    # from a smaller rho_1 the sequence may stay near 0 for ever
    right = growth.least_sequence
    monkeypatch.setattr(growth, "least_sequence", lambda C, alpha, n: right(C, alpha, n) - 1e3)
    assert growth.check(Size.QUICK).verdict == "fails"
