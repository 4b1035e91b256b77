r"""Section 3, in passing: on the bandit M_BG it is easy to alternate.

One state, K loops, loop k yields e_k, g(w) = 1 - sum_k |w_k - 1/K| / 2, whose optimum is 1. The paper says that loop
k_t = t mod K at time t has an anytime regret of O(K/T); and in appendix A that in bandits a randomised stationary
policy has one of O(1/sqrt T). In closed form: with T = jK + i, 0 <= i < K, i loops have j + 1 steps, the others j, so

    Reg(T) = i (K - i) / (K T)  <=  K / (4T),    with equality where i = K/2;
    E Reg(T) = (K / 2T) E|N - T/K|  <=  sqrt((K - 1) / T) / 2,    N binomial (T, 1/K), for loops drawn evenly,

by Jensen's inequality. For large T the second is sqrt(2/pi) = .798 of its bound.

How it is measured. Both agents are run on the package's bandit: the first is held against the closed form at every T,
the second against the exact expectation, with the error of its estimate.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.stats import binom

from equipoise.agents.baselines import RoundRobin, StationaryAgent
from equipoise.models.paper_instances import bandit
from equipoise.offline.benchmark import solve
from equipoise.rewards.distance import Balance
from equipoise.simulation import simulate
from paper.findings import Checked, Finding, Size, Statement
from paper.rates import half_width

STATEMENT: Final = Statement(
    name="bandit-policies",
    number="section 3",
    title="On a bandit it is easy to alternate",
    says="on M_BG, k_t = t mod K has Reg(T) = O(K/T), and loops drawn evenly have O(1/√T)",
)
_ROUNDING: Final = 1e-12
_TIMES: Final = (10, 100, 1000, 10_000)
_LIMIT: Final = math.sqrt(2.0 / math.pi)


def check(size: Size) -> Checked:
    """Hold round robin and even chances against their closed forms."""
    written: list[Finding] = []
    for K in (2, 3, 4, 7, 10):
        model, reward = bandit(K), Balance([1 / K] * K)
        every = np.arange(1, size.pick(2000, 20_000) + 1)
        run = simulate(model, RoundRobin(model.space, reward), int(every[-1]), checkpoints=every, progress=False)
        regret = run.regret(solve(model, reward, progress=False))
        beyond = every % K
        off = float(np.abs(regret - beyond * (K - beyond) / (K * every)).max())
        most = float((every * regret).max())
        written += [
            Finding(f"bandit({K}), t mod K: Reg(T), off i(K − i)/KT", off, _ROUNDING),
            Finding(f"bandit({K}), t mod K: largest T Reg(T) over K", most / K, 0.25, error=_ROUNDING * every.size),
        ]
        if K % 2 == 0:
            share, note = 4 * most / K, "1 in closed form, at T = K/2 mod K"
            written.append(
                Finding(f"bandit({K}), t mod K: share of K/4T", share, 1.0, ">=", _ROUNDING * every.size, note=note)
            )
    for K in (2, 5):
        model, reward = bandit(K), Balance([1 / K] * K)
        agents = [StationaryAgent(model.space, reward, seed=seed) for seed in range(size.pick(1000, 5000))]
        runs = [simulate(model, agent, _TIMES[-1], checkpoints=_TIMES, progress=False) for agent in agents]
        regrets = np.array([run.regret(1.0) for run in runs])
        for i, T in enumerate(_TIMES):
            exact = K * mean_deviation(T, 1 / K) / (2 * T)
            bound, name = math.sqrt((K - 1) / T) / 2, f"bandit({K}), evenly: E Reg({T})"
            gap = abs(float(regrets[:, i].mean()) - exact)
            written.append(Finding(f"{name}, off its closed form", gap, 0.0, error=half_width(regrets[:, i])))
            written.append(Finding(name, exact, bound, note="its closed form against √((K − 1)/T)/2"))
        note = "√(2/π) in the limit, but for a per cent"
        written.append(Finding(f"{name}: share of the bound", exact / bound, 0.99 * _LIMIT, ">=", note=note))
    return Checked(STATEMENT, tuple(written))


def mean_deviation(n: int, p: float) -> float:
    """E|N - np| of a binomial N, by summation.

    >>> mean_deviation(2, 0.5)
    0.5
    """
    k = np.arange(n + 1)
    return float(np.abs(k - n * p) @ binom.pmf(k, n, p))
