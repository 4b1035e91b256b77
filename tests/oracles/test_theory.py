"""How many episodes end if each end is tau + C tau^alpha at least."""

from __future__ import annotations

import math

import pytest

from equipoise.oracles.base import growth_episodes


@pytest.mark.parametrize("alpha", [1 / 2, 1 / 3])
@pytest.mark.parametrize("C", [0.01, 0.3, 1.0, 1.7, 5.0, 40.0, 3000.0])
def test_the_slowest_schedule(C, alpha):
    # whole numbers that grow as slowly as they may; the n-th begins at tau
    tau, n, bound = 1, 1, 1.0
    printed = 4.0 if alpha == 1 / 2 else 3 / math.sqrt(2)
    while tau < 10**8 and n < 20_000:
        bound = growth_episodes(C, alpha, tau)
        assert n <= bound + 1e-9
        assert bound <= 1 + C ** (1 / (1 - alpha)) + printed / C * tau ** (1 - alpha) + 1e-9
        tau, n = max(tau + 1, math.ceil(tau + C * tau**alpha)), n + 1
        assert n - 1 <= growth_episodes(C, alpha, tau - 1) + 1e-9  # just before the next begins
    if 1 <= C <= 5:  # once the first ends are few among many: (1 + sqrt 2)/2, and 1.14 under TGD
        assert bound / n < 1.3


def test_the_example_of_erratum_38():
    assert growth_episodes(math.sqrt(5000), 0.5, 10**6) == pytest.approx(46.0, abs=0.05)
    assert growth_episodes(math.sqrt(5000), 0.5, 1) == 1.0
