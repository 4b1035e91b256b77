r"""Lemma 4.3: how many episodes there are under Frank-Wolfe, with certainty, at every T.

    m(T)        <=  1 + Q/(2 beta ||1||) + sqrt(32 beta ||1|| T / Q)  +  SA (1 + log2 T),

by (4.7), the first three terms, for the episodes that begin by T and are ended by Psi > Q, and (4.8), the last one,
for those that begin by T and are ended by visits.

**(4.8) is false as written** (erratum 20): it counts the episode that is open at T. On one pair episodes start at 1,
2, 3, 5, ...; at T = 3 there are 3, and 1 + log2 3 = 2.58. It is true of the episodes that have *ended* by T.

**(4.7) and the sum are true as written**, though not by their proof, which gives 3 in place of the 1 (erratum 10).
With C^2 = Q / (2 beta ||1||) and tau_i the end of the i-th episode that Psi ends, tau_0 = 1, the paper has tau_i >=
tau_{i-1} + C sqrt(tau_{i-1}). Those with tau_i < C^2 are at most C^2, for tau_i >= i + 1. From there on C/sqrt(tau)
<= 1, so sqrt(tau) grows by at least C / (1 + sqrt 2) each time. Hence n such ends by T leave n <= C^2 + (1 + sqrt 2)
sqrt(T) / C, and (1 + sqrt 2)/C < 4/C = sqrt(32 beta ||1|| / Q). The n-th need only begin by T: one more, the 1. And
if the open episode is to be ended by visits, then all those of Psi have ended: the 1 is free for it.

Measured on random runs, at every T; see `_random_cases` for what is drawn. Reported is where a count comes closest to
its bound.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.models.star import star
from equipoise.oracles.base import Oracle
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.paper import random_cases
from equipoise.paper.findings import Checked, Size, Statement
from equipoise.paper.random_cases import Case, Rng
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones
from equipoise.rewards.quadratic import Quadratic

STATEMENT: Final = Statement(
    name="episodes-frank-wolfe",
    number="Lemma 4.3",
    title="How many episodes under Frank-Wolfe",
    says="m(T) ≤ 1 + Q/(2β‖1‖) + √(32β‖1‖T/Q) + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum; but SA(1 + log₂ T) are those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T."""
    drawn = random_cases.cases(draw, size.pick(300, 6000), size.pick(600, 20_000), stream=43)
    runs = [(case, case.episodes()) for case in drawn]
    gradient = random_cases.findings(runs, "(4.7)", random_cases.by_gradient, gradient_bound)
    total = random_cases.findings(runs, "both", random_cases.begun, episodes_bound)
    printed = random_cases.findings(runs, "(4.8)", random_cases.by_visits, random_cases.visits_bound)
    mended = random_cases.findings(runs, "(4.8), ended by T", random_cases.ended_by_visits, random_cases.visits_bound)
    thirds = Quadratic([1 / 3] * 3)
    picture = random_cases.picture(star(3, 4), thirds, FrankWolfe(), size.pick(20_000, 1_000_000), episodes_bound)
    return Checked(STATEMENT, (*total, *gradient, *printed), (*total, *gradient, *mended), (picture,))


def gradient_bound(case: Case, T: Vector) -> Vector:
    """(4.7): at most so many episodes are ended by Psi > Q."""
    movement = (case.reward.smoothness or 0.0) * ones(case.reward.n_outcomes, case.reward.norm)
    return 1.0 + case.threshold / (2.0 * movement) + np.sqrt(32.0 * movement * T / case.threshold)


def episodes_bound(case: Case, T: Vector) -> Vector:
    """M(T), of Psi and of visits."""
    return gradient_bound(case, T) + random_cases.visits_bound(case, T)


def draw(rng: Rng, K: int, _steps: int) -> tuple[Reward, Oracle]:
    """A smooth reward, and Frank-Wolfe."""
    return random_cases.smooth(rng, K), FrankWolfe()
