"""What rounding may hide is inside the bounds: sums that are off by as much as n additions can put them off.

The exact bounds are computed with fifty digits, from the sums as they should be; the compiled ones are given the sums
as they may have come out, off to the side that hurts.
"""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import pytest

import equipoise as eq
from tests.confidence.common import ANY, BINARY, interval

getcontext().prec = 50
U = 2.0**-53
PI = Decimal("3.14159265358979323846264338327950288419716939937511")
N = 10**9
DELTA = 0.05


def log_gamma(x: Decimal) -> Decimal:
    """Stirling's series; the next term is below 1e-40 from x = 10^6 on."""
    series = 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
    return (x - Decimal("0.5")) * x.ln() - x + (2 * PI).ln() / 2 + series


def log_evidence(k: Decimal, p: Decimal, n: int = N) -> Decimal:
    """How much likelier the mixture of all coins makes k of n than a coin with p does."""
    m = n - k
    mixture = log_gamma(k + Decimal("0.5")) + log_gamma(m + Decimal("0.5")) - log_gamma(Decimal(n + 1)) - PI.ln()
    return mixture - k * p.ln() - m * (1 - p).ln()


@pytest.mark.parametrize("share", ["0.001", "0.25", "0.5", "0.999"])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_likelihood_of_a_sum_that_is_off(share, side):
    """At either end the evidence, on the exact sum, is what the level allows or more: the bound cuts nothing off."""
    exact = Decimal(share) * N
    seen = float(exact) * (1.0 + side * N * U)
    lower, upper = interval(eq.confidence.Adaptive(), N, seen, seen, delta=DELTA)
    allowed = Decimal(math.log(12 / DELTA))  # a quarter of delta, a third of it
    # Bernstein's interval is wider here: the squares say that all is 0 or 1
    assert log_evidence(exact, Decimal(lower)) >= allowed or lower <= 0
    assert log_evidence(exact, Decimal(upper)) >= allowed or upper >= 1


@pytest.mark.parametrize("k", [10**6, 10**8, N // 2, N - 10**7])
def test_the_likelihood_of_an_exact_count(k):
    """For counts the evidence at the ends is the level, and never below it, to a few parts in a million."""
    allowed = Decimal(math.log(4 / DELTA))
    for end in interval(eq.confidence.Adaptive(), N, k, k, delta=DELTA, binary=BINARY):
        assert 0 <= log_evidence(Decimal(k), Decimal(end)) - allowed <= Decimal("1e-3")


@pytest.mark.parametrize("rule", [eq.confidence.EmpiricalBernstein(), eq.confidence.Adaptive()], ids=repr)
@pytest.mark.parametrize(("low", "high"), [("0.3", "0.3"), ("0.3", "0.300001"), ("0.9", "0.99")])
def test_the_variance_of_sums_that_are_off(rule, low, high):
    """Half of the outcomes are low and half are high; the squares came out too small and the sum too large, or not."""
    a, b = Decimal(low), Decimal(high)
    mean, square = (a + b) / 2, (a * a + b * b) / 2
    variance = square - mean * mean
    for off in (-1, 0, 1):
        total = float(mean * N) * (1.0 + off * N * U)
        squares = float(square * N) * (1.0 - N * U)
        lower, upper = interval(rule, N, total, squares, delta=DELTA, binary=ANY)
        radius = exact_radius(variance, wide=exact_wide(rule, mean))
        assert Decimal(lower) <= mean - radius
        assert Decimal(upper) >= mean + radius


def exact_wide(rule: eq.confidence.Confidence, mean: Decimal) -> Decimal:
    """A radius that is known to hold: Laplace's, or for the likelihood nothing at all, which is less."""
    if not isinstance(rule, eq.confidence.EmpiricalBernstein):
        return Decimal(0)
    part = Decimal(DELTA) / 12
    return (((1 + 1 / Decimal(N)) * (Decimal(N + 1).sqrt() / part).ln()) / (2 * N)).sqrt()


def exact_radius(variance: Decimal, wide: Decimal) -> Decimal:
    """sqrt(2) s x + L / (3n), at the lesser of both rules' levels."""
    part = Decimal(DELTA) / 12
    epoch = math.floor(math.log(N) / math.log(1.1))
    log = (Decimal((epoch + 1) * (epoch + 2)) / part).ln()
    x = (Decimal("1.1") * log / N).sqrt()
    s = x / Decimal(2).sqrt() + (variance + wide * wide + x * x / 2).sqrt()
    return Decimal(2).sqrt() * s * x + log / (3 * N)
