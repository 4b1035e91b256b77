r"""Lemma C.8: how many episodes there are under tuned mirror descent over T steps, with certainty.

    m(T)  <=  1 + sqrt(L'/Q) T^{2/3}  +  SA (1 + log2 T),        eta tuned for T steps,

by (C.25), the first two terms, for the episodes ended by Psi > Q, and (C.26), the last one, for those ended by
visits. With eta tuned for H steps it holds at every T <= H, with sqrt(L'/Q) H^{-1/3} T for the middle term: the proof
uses eta alone. This is what is checked.

**(C.26) is false as written**, in the way of (4.8) (erratum 20; see `episodes_frank_wolfe`), and true of the episodes
that have *ended* by T. **The lemma is true as written**: erratum 13 gives the proof of (C.25), in which all but the
last of the episodes that Psi ends take sqrt(Q/L') H^{1/3} steps by T. So if the open episode is to be ended by
visits, the 1 is free for it.

Measured on random runs, at every T; see `paper.random_cases` for what is drawn. Reported is where a count comes closest
to its bound. The rules that end episodes are held against their definitions, and the best adversary against its closed
form: see `paper.episode_rules`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._types import Vector
from equipoise.errors import ParameterError
from equipoise.models.paper_instances import star
from equipoise.models.standard import garnet
from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import EuclideanBall, SignedSimplex
from equipoise.rewards.base import Reward
from equipoise.rewards.distance import Balance
from equipoise.rewards.ordered import BottomSum
from paper import episode_rules, random_cases
from paper.findings import Checked, Size, Statement
from paper.random_cases import Case, Rng

STATEMENT: Final = Statement(
    name="episodes-mirror-descent",
    number="Lemma C.8",
    title="How many episodes under tuned mirror descent",
    says="m(T) ≤ 1 + √(L′/Q) T^⅔ + SA(1 + log₂ T), of which SA(1 + log₂ T) are ended by visits",
    correction="the same sum; but SA(1 + log₂ T) are those that have ended by T, the open one not among them",
    erratum=20,
)


def check(size: Size) -> Checked:
    """Count the episodes of random runs at every T; hold their ends against the rules."""
    drawn = list(random_cases.cases(draw, size.pick(300, 1500), size.pick(600, 3000), stream=108))
    steps = size.pick(20_000, 1_000_000)
    oracle = TunedMirrorDescent(SignedSimplex(), steps)
    picture = random_cases.picture(star(3, 4), BottomSum(3, 1), oracle, steps, episodes_bound)
    reward, horizon = Balance([0.5]), size.pick(20_000, 100_000)
    lazy = TunedMirrorDescent(EuclideanBall(), horizon)
    one = Case("", garnet(1, 1, 1, 1), reward, lazy, lazy.mirror_map.radius(reward), 0.05, horizon, 0)
    near = episode_rules.nearness("(C.25)", one, float(gradient_bound(one, np.array([horizon]))[0]), 0.5)
    rules = episode_rules.findings(random_cases.cases(draw, size.pick(48, 300), 300, stream=109))
    return random_cases.lemma(STATEMENT, "(C.25)", "(C.26)", drawn, (gradient_bound,), [*rules, *near], picture)


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
