r"""Section 6.2: exploring all states evenly, by the smoothed entropy H_mu, and its regret (6.3).

    H_mu(P) = (1 / log S) sum_s P_s log(1 / (P_s + mu)),    |log(S) H_mu - H| <= S mu on the simplex,
    L_mu = log(1/mu) / log S,   beta_mu = 1 / (mu log S),   in the 1-norm,       as written,
    Reg = O~(D S^{1/3} / T^{1/3}) on H, with mu = 1 / (S^{2/3} T^{1/3}).                                  (6.3)

The constants are wrong (erratum 8): the gradient at a vertex is -(log(1 + mu) + 1/(1 + mu)) / log S in its own entry,
which is the longer one for large mu, and the second derivative at P_s = 0 is -2 / (mu log S). Measured here by the
gradient at vertices, and by its difference quotient at 0, computed from the definition. The rate is that of the
anytime form, in worlds whose states can be visited evenly; judged as the other rates are (`paper.rates`).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise.models.applied import patrol
from equipoise.models.star import star
from equipoise.paper.findings import Checked, Finding, Size, Statement
from equipoise.paper.rates import Instance, curve, picture, rate
from equipoise.rewards.entropy import Entropy

STATEMENT: Final = Statement(
    name="maximum-entropy",
    number="(6.2), (6.3)",
    title="Exploring all states evenly",
    says="|log S · H_μ − H| ≤ Sμ; L_μ = log(1/μ)/log S; β_μ = 1/(μ log S); Reg(T) = Õ(T^(−1/3)) on H",
    correction="L_μ = max(log(1/μ), log(1+μ) + 1/(1+μ))/log S; β_μ = 2/(μ log S)",
    erratum=8,
)
_SMOOTHINGS: Final = (0.01, 0.1, 0.5, 0.9)
_STATES: Final = 5
_STEP: Final = 1e-6  # of the difference quotient, in units of mu; its error is of that relative order


def check(size: Size) -> Checked:
    """The constants on a grid of mu, the distance from the entropy, and the rate."""
    T, seeds = size.pick(10**6, 10**7), size.pick(3, 8)
    instances = [
        Instance("patrol", patrol(), Entropy(patrol().n_outcomes), T, seeds),
        Instance("star(2, 4), visits", star(2, 4).visits(), Entropy(5), T),
    ]
    curves = [(instance, curve(instance)) for instance in instances]
    true = [*_distances(size), *(rate(instance.name, measured, 1.0 / 3.0) for instance, measured in curves)]
    written, corrected = [], []
    for mu in _SMOOTHINGS:
        reward = Entropy(_STATES, mu)
        for what, measured, printed, mended in (
            ("longest gradient", steepest(mu), math.log(1 / mu) / math.log(_STATES), reward.lipschitz),
            ("second derivative at 0", bend(mu), 1 / (mu * math.log(_STATES)), reward.smoothness),
        ):
            assert mended is not None
            instance = f"S = {_STATES}, μ = {mu}: {what}"
            written.append(Finding(instance, measured, printed, error=2 * _STEP * measured))
            corrected.append(Finding(instance, measured, mended, error=2 * _STEP * measured))
    drawn = picture("Regret of exploration", [(instance.name, measured) for instance, measured in curves], "−1/3")
    return Checked(STATEMENT, (*true, *written), tuple(corrected), (drawn,))


def slope_of_entropy(p: float, mu: float) -> float:
    """The derivative of p log(1 / (p + mu)) / log S, by hand: (-log(p + mu) - p / (p + mu)) / log S."""
    return (-math.log(p + mu) - p / (p + mu)) / math.log(_STATES)


def steepest(mu: float) -> float:
    """The largest entry of a gradient at a vertex of the simplex.

    >>> round(steepest(0.9) * math.log(5), 4)  # log 1.9 + 1 / 1.9
    1.1682
    """
    return max(abs(slope_of_entropy(0.0, mu)), abs(slope_of_entropy(1.0, mu)))


def bend(mu: float) -> float:
    """How fast the gradient changes at P_s = 0."""
    step = _STEP * mu
    return abs(slope_of_entropy(step, mu) - slope_of_entropy(0.0, mu)) / step


def _distances(size: Size) -> list[Finding]:
    """The largest distance between the two entropies, over random distributions, the uniform one and a vertex."""
    rng = np.random.default_rng(0)
    findings = []
    for states in (2, 5, 50):
        points = np.vstack([rng.dirichlet(np.full(states, 0.3), size.pick(200, 20_000)), np.full(states, 1 / states)])
        points = np.vstack([points, np.eye(states)[0]])
        logs = np.log(points, where=points > 0, out=np.zeros_like(points))
        entropy = -(points * logs).sum(axis=1)
        for mu in (0.01, 0.5):
            smoothed = -(points * np.log(points + mu)).sum(axis=1)
            worst = float(np.abs(smoothed - entropy).max())
            findings.append(Finding(f"S = {states}, μ = {mu}: distance from the entropy", worst, states * mu))
    return findings
