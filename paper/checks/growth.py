r"""Claim C.2: a sequence that grows by a power of itself grows like a power of its index.

    rho_{j+1} >= rho_j + C rho_j^alpha,  rho_1 >= C^{1/(1-alpha)}
        =>   rho_j >= 2^{-alpha/(1-alpha)^2} [C (1-alpha)(j-1)]^{1/(1-alpha)}     for all j, alpha in [0,1), C > 0.

rho + C rho^alpha increases with rho, so the least sequence is the one with equality from rho_1 = C^{1/(1-alpha)} on:
the claim holds for all sequences if it does for this one. (In units of C^{1/(1-alpha)} it does not depend on C; the
grid over C is there to see that, and for the rounding.) It is computed in logarithms, as rho may be as large as j^20.
Reported is the smallest ratio of sequence to bound, which must be at least 1.

The ratio tends to 2^{alpha/(1-alpha)^2}: the claim gives away a factor that grows fast with alpha, 4 at 1/2, where
Lemma 4.3 uses it, and 1.68 at 1/3, where Lemma C.3 does. All of it cannot be had back: at alpha = 1/2 the ratio comes
down to 3.987.

What it is used for: the starts of the episodes that the gradient ends satisfy (4.10), tau + C tau^alpha, with
C = sqrt(Q / (2 beta ||1||)) and alpha = 1/2 under Frank-Wolfe, C = sqrt(Q / (2L)) and alpha = 1/3 under TGD. So the
number of terms up to T of the least such sequence, from tau = 1, must not be above `theory.sums.gradient_episodes`.
With e = 1 - alpha it is T^e / (C e) in the end, and the bound T^e / (C (2^e - 1)) (erratum 38): .83 and .88 of it are
used, (2^e - 1)/e, and a bound of which less is used has lost a factor. Claim C.2 itself would leave 1/2 and 1/sqrt(2).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import TunedGradientDescent
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import TargetDistance
from equipoise.rewards.separable import Quadratic
from equipoise.theory.sums import gradient_episodes
from paper.findings import Checked, Finding, Picture, Size, Statement

STATEMENT: Final = Statement(
    name="growth",
    number="Claim C.2",
    title="Growth by a power of itself",
    says="ρ_{j+1} ≥ ρ_j + Cρ_j^α and ρ₁ ≥ C^(1/(1−α)) imply ρ_j ≥ 2^(−α/(1−α)²) [C(1−α)(j−1)]^(1/(1−α))",
)
_ALPHAS: Final = (0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 0.95)
_CONSTANTS: Final = (1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3, 1e6)
_ROUNDING: Final = 1e-9  # of a logarithm summed over the sequence


def check(size: Size) -> Checked:
    """Compare the least sequence with its bound at every j."""
    findings: list[Finding] = []
    rows: list[dict[str, object]] = []
    for alpha in _ALPHAS:
        C = np.array(_CONSTANTS)
        ratio = least_sequence(C, alpha, size.pick(10_000, 100_000)) - lower_bound(C, alpha, size.pick(10_000, 100_000))
        at, c = np.unravel_index(int(np.argmin(ratio)), ratio.shape)
        name = f"α = {alpha:.4g}, C from 1e-06 to 1e+06, j = {at + 2}"
        findings.append(Finding(name, math.exp(ratio[at, c]), 1.0, ">=", error=_ROUNDING))
        if alpha <= 0.75:
            marks = np.unique(np.geomspace(2, ratio.shape[0] + 1, 25).astype(int)).tolist()
            rows += [{"alpha": f"{alpha:.3g}", "j": j, "ratio": math.exp(ratio[j - 2, 4])} for j in marks]
    findings += _episodes(size.pick(10**6, 10**8))
    return Checked(STATEMENT, tuple(findings), (), (_picture(rows),))


def _episodes(steps: int) -> list[Finding]:
    """The terms of the least sequence of (4.10) up to T, against the bound on the episodes that the gradient ends."""
    smooth, ball = Quadratic([0.5, 0.5]), TargetDistance([0.5, 0.5], 2)
    kinds: list[tuple[str, Reward, Oracle, float, float]] = [
        ("FW", smooth, FrankWolfe(), 0.5, 2.0 * math.sqrt(2.0)),  # beta = 1 and ||1|| = sqrt 2
        ("TGD", ball, TunedGradientDescent(), 1.0 / 3.0, 2.0 * ball.lipschitz),
    ]
    findings = []
    for name, reward, oracle, alpha, unit in kinds:
        share = (2.0 ** (1.0 - alpha) - 1.0) / (1.0 - alpha)
        for Q in (0.1, 1.0, 10.0):
            starts, C = [1.0], math.sqrt(Q / unit)
            while starts[-1] <= steps:
                starts.append(starts[-1] + C * starts[-1] ** alpha)
            counts = np.arange(1, len(starts))
            T = np.maximum(1, np.ceil(starts[:-1])).astype(np.int64)
            at = np.unique(np.geomspace(1, T.size, 60).astype(int)) - 1
            bounds = np.array([gradient_episodes(reward, oracle, Q, int(t)) for t in T[at]])
            ratios = counts[at] / bounds
            what = f"episodes ended by the gradient, {name}, Q = {Q:g}"
            findings += [
                Finding(
                    what, float(ratios.max()), 1.0, note=f"terms of the least sequence over the bound, T to {steps:,}"
                ),
                Finding(
                    what, float(ratios[-1]), 0.9 * share, ">=", note=f"the same at the end; the limit is {share:.3g}"
                ),
            ]
    return findings


def least_sequence(C: NDArray[np.float64], alpha: float, length: int) -> NDArray[np.float64]:
    """The logarithm of rho_j for j = 2 ... length, one column a constant C.

    >>> np.exp(least_sequence(np.array([1.0]), 0.0, 4)).ravel().round(9).tolist()
    [2.0, 3.0, 4.0]
    """
    logarithms = np.empty((length - 1, C.size))
    now = np.log(C) / (1.0 - alpha)
    for j in range(length - 1):
        now = now + np.log1p(C * np.exp((alpha - 1.0) * now))
        logarithms[j] = now
    return logarithms


def lower_bound(C: NDArray[np.float64], alpha: float, length: int) -> NDArray[np.float64]:
    """The logarithm of the claim's bound for j = 2 ... length; at j = 1 the bound is 0."""
    j = np.arange(2.0, length + 1.0)[:, None]
    return (np.log(C * (1.0 - alpha) * (j - 1.0))) / (1.0 - alpha) - math.log(2.0) * alpha / (1.0 - alpha) ** 2


def _picture(rows: list[dict[str, object]]) -> Picture:
    return Picture(
        "The least sequence over its bound",
        "Never below 1. The ratio tends to 2^(α/(1−α)²), which the claim gives away; C makes no difference.",
        {
            "data": {"values": rows},
            "mark": "line",
            "encoding": {
                "x": {"field": "j", "type": "quantitative", "scale": {"type": "log"}},
                "y": {"field": "ratio", "type": "quantitative", "scale": {"type": "log"}, "title": "sequence / bound"},
                "color": {"field": "alpha", "type": "nominal", "title": "α"},
            },
        },
    )
