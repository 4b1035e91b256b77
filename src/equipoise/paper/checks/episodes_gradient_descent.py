r"""Lemma C.3: how many episodes there are under tuned gradient descent, with certainty, at every T.

    m(T)  <=  1 + (Q/2L)^{3/4} + sqrt(9L/Q) T^{2/3}  +  SA (1 + log2 T),

by (C.9), the first three terms, for the episodes that begin by T and are ended by Psi > Q, and (C.10), the last one,
for those that begin by T and are ended by visits.

**(C.10) is false as written**, in the way of (4.8) (erratum 20; see `episodes_frank_wolfe`), and true of the episodes
that have *ended* by T.

**The lemma is true as written**, though not by its proof, which gives 3 in place of the 1 (erratum 13). With C^2 = Q
/ 2L and tau_i the end of the i-th episode that Psi ends, tau_0 = 1, the paper has tau_i >= tau_{i-1} + C
tau_{i-1}^{1/3}. Those with tau_i < C^{3/2} are at most C^{3/2}. From there on x = C tau^{-2/3} <= 1, and tau^{2/3}
grows by at least C ((1 + x)^{2/3} - 1)/x >= C (2^{2/3} - 1) each time. So n such ends by T leave n <= C^{3/2} + 1.71
T^{2/3}/C, and 1.71/C < 2.12/C = sqrt(9L/Q). The n-th need only begin by T: one more, the 1. If the open episode is to
be ended by visits, then all those of Psi have ended, and the 1 is free for it.

Measured on random runs, at every T; see `_random_cases` for what is drawn. Reported is where a count comes closest to
its bound.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.models.star import star
from equipoise.oracles.base import Oracle
from equipoise.oracles.gradient_descent import TunedGradientDescent
from equipoise.paper import random_cases
from equipoise.paper.findings import Checked, Size, Statement
from equipoise.paper.random_cases import Case, Rng
from equipoise.rewards.balance import Balance
from equipoise.rewards.base import Reward

STATEMENT: Final = Statement(
    name="episodes-gradient-descent",
    number="Lemma C.3",
    title="How many episodes under tuned gradient descent",
    says="m(T) ≤ 1 + (Q/2L)^¾ + √(9L/Q) T^⅔ + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum; but SA(1 + log₂ T) are those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T."""
    drawn = random_cases.cases(draw, size.pick(300, 6000), size.pick(600, 20_000), stream=103)
    runs = [(case, case.episodes()) for case in drawn]
    gradient = random_cases.findings(runs, "(C.9)", random_cases.by_gradient, gradient_bound)
    total = random_cases.findings(runs, "both", random_cases.begun, episodes_bound)
    printed = random_cases.findings(runs, "(C.10)", random_cases.by_visits, random_cases.visits_bound)
    mended = random_cases.findings(runs, "(C.10), ended by T", random_cases.ended_by_visits, random_cases.visits_bound)
    oracle, steps = TunedGradientDescent(), size.pick(20_000, 1_000_000)
    picture = random_cases.picture(star(3, 4), Balance([1 / 3] * 3), oracle, steps, episodes_bound)
    return Checked(STATEMENT, (*total, *gradient, *printed), (*total, *gradient, *mended), (picture,))


def gradient_bound(case: Case, T: Vector) -> Vector:
    """(C.9): at most so many episodes are ended by Psi > Q."""
    L, Q = case.reward.lipschitz, case.threshold
    power: Vector = np.cbrt(T) ** 2
    bound: Vector = 1.0 + (Q / (2.0 * L)) ** 0.75 + math.sqrt(9.0 * L / Q) * power
    return bound


def episodes_bound(case: Case, T: Vector) -> Vector:
    """M(T), of Psi and of visits."""
    return gradient_bound(case, T) + random_cases.visits_bound(case, T)


def draw(rng: Rng, K: int, _steps: int) -> tuple[Reward, Oracle]:
    """A reward with the Euclidean norm, and gradient descent."""
    return random_cases.euclidean(rng, K), TunedGradientDescent()
