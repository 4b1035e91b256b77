r"""Section 6.2: the smoothed entropy, its constants, and how far it is from the entropy.

    H_mu(P) = (1 / log S) sum_s P_s log(1 / (P_s + mu)),   0 < mu <= 1,
    L_mu = log(1/mu) / log S,   beta_mu = 1 / (mu log S)   in the 1-norm,   |H_mu - H| <= S mu,    as written.

All three are wrong as they stand (erratum 8). With u = p + mu, the derivative of p log(1/u) is -log u - p/u: it falls
from log(1/mu) at 0 to -(log(1 + mu) + 1/(1 + mu)) at 1, which is the longer one for mu above .353. The second
derivative is -(p + 2 mu)/u^2, which is -2/mu at 0. And H_mu is divided by log S, where H is not. What is true:

    L_mu = max(log(1/mu), log(1+mu) + 1/(1+mu)) / log S,   beta_mu = 2 / (mu log S),   0 <= H - log(S) H_mu <= S mu.

The constants are attained: at a vertex of the simplex, and at P_s = 0. The distance is sum_s P_s log(1 + mu/P_s), a
concave function of P: its largest value is log(1 + S mu), at the even distribution, which is all but S mu/2 of S mu.

How it is measured. Values and gradients are those of the package, and formulas are written out again here.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.rewards.entropy import Entropy
from paper.findings import Checked, Finding, Size, Statement, nearest

STATEMENT: Final = Statement(
    name="entropy-constants",
    number="section 6.2",
    title="The constants of the smoothed entropy",
    says="L_μ = log(1/μ)/log S; β_μ = 1/(μ log S); |H_μ − H| ≤ Sμ",
    correction="L_μ = max(log(1/μ), log(1+μ) + 1/(1+μ))/log S; β_μ = 2/(μ log S); 0 ≤ H − log S · H_μ ≤ Sμ",
    erratum=8,
)
_SIZES: Final = (2, 5, 50)
_SMOOTHINGS: Final = (0.001, 0.01, 0.1, 0.353, 0.9)
_STEP: Final = 1e-6  # of the difference quotient, in units of mu; its error is of that relative order
_ROUNDING: Final = 1e-12  # of sums of a few dozen terms of order one
_SHORT: Final = 0.01  # S mu, where log(1 + S mu) is S mu but for half a per cent


def check(size: Size) -> Checked:
    """Hold values, gradients, both constants and the distance against what is written and against what is true."""
    written, corrected = [], []
    each: list[list[Finding]] = []
    rng = np.random.default_rng(0)
    for S in _SIZES:
        points = _points(S, size.pick(200, 20_000), rng)
        for mu in _SMOOTHINGS:
            reward, name = Entropy(S, mu), f"S = {S}, μ = {mu}"
            few = points[:: max(1, len(points) // 50)]
            each.append(
                _formulas(name, reward, few) + _lengths(name, reward, points[-S:]) + _distances(name, reward, points)
            )
    corrected += [nearest(kind) for kind in zip(*each, strict=True)]  # of all S and mu, the one nearest to its bound
    for mu in (0.1, 0.9):
        reward = Entropy(5, mu)
        bend, steepest = _bend(reward), _steepest(reward, np.eye(5))
        written.append(Finding(f"S = 5, μ = {mu}: second derivative at 0", bend, 1 / (mu * math.log(5)), error=_STEP))
        if mu > 0.5:  # below .353 the printed L is right
            written.append(Finding(f"S = 5, μ = {mu}: longest gradient", steepest, math.log(1 / mu) / math.log(5)))
    even = np.full(50, 1 / 50)
    apart = abs(Entropy(50, 0.001).value(even) - math.log(50))
    written.append(Finding("S = 50, μ = 0.001: |H_μ − H|, H not divided by log S", apart, 50 * 0.001))
    for S in _SIZES:
        mu = _SHORT / S
        share = (math.log(S) - math.log(S) * Entropy(S, mu).value(np.full(S, 1 / S))) / (S * mu)
        note = "log(1 + Sμ)/Sμ in closed form: the bound is met"
        floor = math.log1p(_SHORT) / _SHORT
        corrected.append(
            Finding(
                f"S = {S}, Sμ = {_SHORT}, even: share of Sμ", share, floor, ">=", error=_ROUNDING / _SHORT, note=note
            )
        )
    return Checked(STATEMENT, tuple(written), tuple(corrected))


def _points(S: int, draws: int, rng: np.random.Generator) -> Vector:
    """Distributions, from nearly even ones to nearly certain ones; the even one, and the vertices last."""
    spread = rng.dirichlet(np.full(S, 0.3), draws)
    near = rng.dirichlet(np.full(S, 10.0), draws // 4)
    return np.vstack([spread, near, np.full(S, 1 / S), np.eye(S)])


def _formulas(name: str, reward: Entropy, points: Vector) -> list[Finding]:
    """H_mu and its gradient, by hand: sum of -p log(p + mu), and -log(p + mu) - p / (p + mu), over log S."""
    mu, scale = reward.params[0], math.log(reward.n_states)
    values = (-points * np.log(points + mu)).sum(axis=1) / scale
    slopes = (-np.log(points + mu) - points / (points + mu)) / scale
    off = max(abs(reward.value(p) - value) for p, value in zip(points, values, strict=True))
    tilted = max(float(np.abs(reward.gradient(p) - slope).max()) for p, slope in zip(points, slopes, strict=True))
    rounding = _ROUNDING * max(1.0, -math.log(mu))
    return [
        Finding(f"{name}: value against its definition", off, rounding),
        Finding(f"{name}: gradient against its formula", tilted, rounding),
    ]


def _lengths(name: str, reward: Entropy, vertices: Vector) -> list[Finding]:
    """Both constants by their formulas, which are attained: each from both sides."""
    mu, scale = reward.params[0], math.log(reward.n_states)
    lipschitz = max(math.log(1 / mu), math.log(1 + mu) + 1 / (1 + mu)) / scale
    steepest, bend = _steepest(reward, vertices), _bend(reward)
    return [
        Finding(f"{name}: L against its formula", abs(reward.lipschitz / lipschitz - 1.0), _ROUNDING),
        Finding(f"{name}: longest gradient over L", steepest / reward.lipschitz, 1.0, error=_ROUNDING),
        Finding(f"{name}: share of L that is used", steepest / reward.lipschitz, 1.0, ">=", error=_ROUNDING),
        Finding(f"{name}: second derivative at 0 over β", bend / reward.smoothness, 1.0, error=2 * _STEP),
        Finding(f"{name}: share of β that is used", bend / reward.smoothness, 1.0, ">=", error=2 * _STEP),
    ]


def _distances(name: str, reward: Entropy, points: Vector) -> list[Finding]:
    """H - log(S) H_mu over all points: at least 0, and at most S mu."""
    scale = math.log(reward.n_states)
    logs = np.log(points, where=points > 0, out=np.zeros_like(points))
    apart = -(points * logs).sum(axis=1) - scale * np.array([reward.value(p) for p in points])
    bound = reward.n_states * float(reward.params[0])
    return [
        Finding(f"{name}: largest distance from the entropy", float(apart.max()), bound, error=_ROUNDING),
        Finding(f"{name}: least distance from the entropy", float(apart.min()), 0.0, ">=", error=_ROUNDING),
    ]


def _steepest(reward: Entropy, points: Vector) -> float:
    """The largest entry of the package's gradient."""
    return max(float(np.abs(reward.gradient(p)).max()) for p in points)


def _bend(reward: Entropy) -> float:
    """How fast the first entry of the package's gradient changes at P_1 = 0."""
    step = _STEP * float(reward.params[0])
    at = np.zeros(reward.n_states)
    at[-1] = 1.0
    beside = at.copy()
    beside[0] = step
    return abs(float(reward.gradient(beside)[0] - reward.gradient(at)[0])) / step
