r"""Lemma C.8: how many episodes there are under tuned mirror descent over T steps, with certainty.

    m(T)  <=  1 + sqrt(L'/Q) T^{2/3}  +  SA (1 + log2 T),        eta tuned for T steps,

by (C.25), the first two terms, for the episodes ended by Psi > Q, and (C.26), the last one, for those ended by
visits. With eta tuned for H steps it holds at every T <= H, with sqrt(L'/Q) H^{-1/3} T for the middle term: the proof
uses eta alone. This is what is checked.

**(C.26) is false as written**, in the way of (4.8) (erratum 20; see `episodes_frank_wolfe`), and true of the episodes
that have *ended* by T. **The lemma is true as written**: erratum 13 gives the proof of (C.25), in which all but the
last of the episodes that Psi ends take sqrt(Q/L') H^{1/3} steps by T. So if the open episode is to be ended by
visits, the 1 is free for it.

Measured on random runs, at every T; see `_random_cases` for what is drawn. Reported is where a count comes closest to
its bound.
"""

from __future__ import annotations

import math
from typing import Final

from equipoise._types import Vector
from equipoise.errors import ParameterError
from equipoise.models.star import star
from equipoise.oracles.base import Oracle
from equipoise.oracles.mirror_descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import SignedSimplex
from equipoise.paper import random_cases
from equipoise.paper.findings import Checked, Size, Statement
from equipoise.paper.random_cases import Case, Rng
from equipoise.rewards.base import Reward
from equipoise.rewards.bottom_sum import BottomSum

STATEMENT: Final = Statement(
    name="episodes-mirror-descent",
    number="Lemma C.8",
    title="How many episodes under tuned mirror descent",
    says="m(T) ≤ 1 + √(L′/Q) T^⅔ + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum; but SA(1 + log₂ T) are those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T."""
    drawn = random_cases.cases(draw, size.pick(300, 6000), size.pick(600, 20_000), stream=108)
    runs = [(case, case.episodes()) for case in drawn]
    gradient = random_cases.findings(runs, "(C.25)", random_cases.by_gradient, gradient_bound)
    total = random_cases.findings(runs, "both", random_cases.begun, episodes_bound)
    printed = random_cases.findings(runs, "(C.26)", random_cases.by_visits, random_cases.visits_bound)
    mended = random_cases.findings(runs, "(C.26), ended by T", random_cases.ended_by_visits, random_cases.visits_bound)
    steps = size.pick(20_000, 1_000_000)
    oracle = TunedMirrorDescent(SignedSimplex(), steps)
    picture = random_cases.picture(star(3, 4), BottomSum(3, 1), oracle, steps, episodes_bound)
    return Checked(STATEMENT, (*total, *gradient, *printed), (*total, *gradient, *mended), (picture,))


def gradient_bound(case: Case, T: Vector) -> Vector:
    """(C.25): at most so many episodes are ended by Psi > Q."""
    if not isinstance(case.oracle, TunedMirrorDescent):
        raise ParameterError(f"oracle: got {case.oracle!r}; the lemma is about TunedMirrorDescent")
    reach = case.oracle.mirror_map.radius(case.reward)
    return 1.0 + math.sqrt(reach / case.threshold) * T / math.cbrt(case.oracle.horizon)


def episodes_bound(case: Case, T: Vector) -> Vector:
    """M(T), of Psi and of visits."""
    return gradient_bound(case, T) + random_cases.visits_bound(case, T)


def draw(rng: Rng, K: int, steps: int) -> tuple[Reward, Oracle]:
    """A reward with a mirror map for its norm, and descent along that map."""
    reward, mirror_map = random_cases.mirrored(rng, K)
    return reward, TunedMirrorDescent(mirror_map, steps)
