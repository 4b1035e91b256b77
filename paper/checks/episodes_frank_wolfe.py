r"""Lemma 4.3: how many episodes there are under Frank-Wolfe, with certainty, at every T.

    m(T)        <=  1 + Q/(2 beta ||1||) + sqrt(32 beta ||1|| T / Q)  +  SA (1 + log2 T),

by (4.7), the first three terms, for the episodes that begin by T and are ended by Psi > Q, and (4.8), the last one,
for those that begin by T and are ended by visits.

**(4.8) is false as written** (erratum 20): it counts the episode that is open at T. On one pair episodes start at 1,
2, 3, 5, ...; at T = 3 there are 3, and 1 + log2 3 = 2.58. It is true of the episodes that have *ended* by T.

**(4.7) and the sum are true as written**, though not by their proof, which gives 3 in place of the 1 (erratum 36).
With C^2 = Q / (2 beta ||1||) and tau_i the end of the i-th episode that Psi ends, tau_0 = 1, the paper has tau_i >=
tau_{i-1} + C sqrt(tau_{i-1}). As long as tau <= C^2 it doubles; from there on sqrt(tau) grows by C / (1 + sqrt 2)
at least. Hence n such ends by T leave n <= log2(C^2) + (1 + sqrt 2) sqrt(T) / C - sqrt 2 (erratum 38; for T > C^2 >=
1, the rest is in `oracles.base.growth_episodes`), where the paper has C^2 + 4 sqrt(T)/C. The n-th need only begin by
T: one more, the 1. And if the open episode is to be ended by visits, then all those of Psi have ended: the 1 is free
for it.

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
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones
from equipoise.rewards.separable import Quadratic
from paper import episode_rules, random_cases
from paper.findings import Checked, Size, Statement
from paper.random_cases import Case, Rng

STATEMENT: Final = Statement(
    name="episodes-frank-wolfe",
    number="Lemma 4.3",
    title="How many episodes under Frank-Wolfe",
    says="m(T) ≤ 1 + Q/(2β‖1‖) + √(32β‖1‖T/Q) + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum, with log₂ C² for C² = Q/(2β‖1‖) and (1 + √2)√T/C for the root; but SA(1 + log₂ T) are "
    "those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T; hold their ends against the rules."""
    drawn = list(random_cases.cases(draw, size.pick(300, 1500), size.pick(600, 3000), stream=43))
    thirds = Quadratic([1 / 3] * 3)
    picture = random_cases.picture(star(3, 4), thirds, FrankWolfe(), size.pick(20_000, 1_000_000), episodes_bound)
    one = Case("", garnet(1, 1, 1, 1), Quadratic([0.5]), FrankWolfe(), 1.0, 0.05, size.pick(20_000, 100_000), 0)
    near = episode_rules.nearness("(4.7)", one, float(gradient_bound(one, np.array([one.steps]))[0]), math.sqrt(1 / 32))
    rules = episode_rules.findings(random_cases.cases(draw, size.pick(48, 300), 300, stream=44))
    return random_cases.lemma(STATEMENT, "(4.7)", "(4.8)", drawn, (gradient_bound, sharper), [*rules, *near], picture)


def gradient_bound(case: Case, T: Vector) -> Vector:
    """(4.7): at most so many episodes are ended by Psi > Q."""
    movement = (case.reward.smoothness or 0.0) * ones(case.reward.n_outcomes, case.reward.norm)
    return 1.0 + case.threshold / (2.0 * movement) + np.sqrt(32.0 * movement * T / case.threshold)


def sharper(case: Case, T: Vector) -> Vector:
    """(4.7) with the logarithm of erratum 38."""
    movement = (case.reward.smoothness or 0.0) * ones(case.reward.n_outcomes, case.reward.norm)
    C = math.sqrt(case.threshold / (2.0 * movement))
    doubling = 1.0 + np.log2(np.maximum(1.0, np.minimum(C**2, T)))
    after = float(C >= 1.0) + (1.0 + math.sqrt(2.0)) * (np.sqrt(T) - max(1.0, C)) / C
    bound: Vector = np.where(T > C**2, doubling + after, doubling)
    return bound


def episodes_bound(case: Case, T: Vector) -> Vector:
    """M(T), of Psi and of visits."""
    return gradient_bound(case, T) + random_cases.visits_bound(case, T)


def draw(rng: Rng, K: int, _steps: int) -> tuple[Reward, Oracle]:
    """A smooth reward, and Frank-Wolfe."""
    return random_cases.smooth(rng, K), FrankWolfe()
