r"""Lemma C.3: how many episodes there are under tuned gradient descent, with certainty, at every T.

    m(T)  <=  1 + (Q/2L)^{3/4} + sqrt(9L/Q) T^{2/3}  +  SA (1 + log2 T),

by (C.9), the first three terms, for the episodes that begin by T and are ended by Psi > Q, and (C.10), the last one,
for those that begin by T and are ended by visits.

**(C.10) is false as written**, in the way of (4.8) (erratum 20; see `episodes_frank_wolfe`), and true of the episodes
that have *ended* by T.

**The lemma is true as written**, though not by its proof, which gives 3 in place of the 1 (erratum 36). With C^2 = Q
/ 2L and tau_i the end of the i-th episode that Psi ends, tau_0 = 1, the paper has tau_i >= tau_{i-1} + C
tau_{i-1}^{1/3}. As long as tau <= C^{3/2} it doubles. From there on x = C tau^{-2/3} <= 1, and tau^{2/3} grows by at
least C ((1 + x)^{2/3} - 1)/x >= C (2^{2/3} - 1) each time. So n such ends by T leave n <= log2(C^{3/2}) + 1 + 1.71
(T^{2/3} - C)/C (erratum 38; for T > C^{3/2} >= 1), where the paper has C^{3/2} + 2.12 T^{2/3}/C. The n-th need only
begin by T: one more, the 1. If the open episode is to be ended by visits, then all those of Psi have ended, and the 1
is free for it.

Measured on random runs, at every T; see `paper.random_cases` for what is drawn. Reported is where a count comes closest
to its bound. The rules that end episodes are held against their definitions, and the best adversary against its closed
form: see `paper.episode_rules`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.models.paper_instances import star
from equipoise.models.standard import garnet
from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import TunedGradientDescent
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from paper import episode_rules, random_cases
from paper.findings import Checked, Size, Statement
from paper.random_cases import Case, Rng

STATEMENT: Final = Statement(
    name="episodes-gradient-descent",
    number="Lemma C.3",
    title="How many episodes under tuned gradient descent",
    says="m(T) ≤ 1 + (Q/2L)^¾ + √(9L/Q) T^⅔ + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum, with log₂ C^(3/2) for C² = Q/2L and 1.71 T^⅔/C for the root; but SA(1 + log₂ T) are "
    "those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T; hold their ends against the rules."""
    drawn = list(random_cases.cases(draw, size.pick(300, 1500), size.pick(600, 3000), stream=103))
    oracle, steps = TunedGradientDescent(), size.pick(20_000, 1_000_000)
    picture = random_cases.picture(star(3, 4), Balance([1 / 3] * 3), oracle, steps, episodes_bound)
    one = Case("", garnet(1, 1, 1, 1), Balance([0.5]), oracle, 2.0, 0.05, size.pick(20_000, 100_000), 0)
    near = episode_rules.nearness("(C.9)", one, float(gradient_bound(one, np.array([one.steps]))[0]), 0.25)
    rules = episode_rules.findings(random_cases.cases(draw, size.pick(48, 300), 300, stream=104))
    return random_cases.lemma(STATEMENT, "(C.9)", "(C.10)", drawn, (gradient_bound, sharper), [*rules, *near], picture)


def gradient_bound(case: Case, T: Vector) -> Vector:
    """(C.9): at most so many episodes are ended by Psi > Q."""
    L, Q = case.reward.lipschitz, case.threshold
    power: Vector = np.cbrt(T) ** 2
    bound: Vector = 1.0 + (Q / (2.0 * L)) ** 0.75 + math.sqrt(9.0 * L / Q) * power
    return bound


def sharper(case: Case, T: Vector) -> Vector:
    """(C.9) with the logarithm of erratum 38."""
    C = math.sqrt(case.threshold / (2.0 * case.reward.lipschitz))
    doubling = 1.0 + np.log2(np.maximum(1.0, np.minimum(C**1.5, T)))
    after = float(C >= 1.0) + (np.cbrt(T) ** 2 - max(1.0, C)) / (C * (2.0 ** (2.0 / 3.0) - 1.0))
    bound: Vector = np.where(T > C**1.5, doubling + after, doubling)
    return bound


def episodes_bound(case: Case, T: Vector) -> Vector:
    """M(T), of Psi and of visits."""
    return gradient_bound(case, T) + random_cases.visits_bound(case, T)


def draw(rng: Rng, K: int, _steps: int) -> tuple[Reward, Oracle]:
    """A reward with the Euclidean norm, and gradient descent."""
    return random_cases.euclidean(rng, K), TunedGradientDescent()
