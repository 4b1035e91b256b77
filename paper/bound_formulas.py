r"""The bounds of appendix B with their constants, written out part by part, for comparison with `theory.sums`.

With scale = L ||1_K||, log-v = log(12 K SA T^2 / delta), log-p = log(12 S SA T^2 / delta) and M = M(T),

    (B.20), (B.21)   delay            Q ||1|| M
    Claim 4.6        tolerances       SA + (1 + sqrt 2) sqrt T                                 as erratum 19 has it
    (B.25)           outcomes         2 scale [(1 + sqrt 2) sqrt(2 SA T log-v) + 3 SA (1 + 2 log T) log-v]
                                      + scale sqrt(2 SA T log-v)                               as erratum 27 has it
    (B.30)           transitions      scale D [2 (1 + sqrt 2) sqrt(2 Gamma SA T log-p) + 6 S SA (1 + 2 log T) log-p]
                                      + scale D sqrt(2 Gamma SA T log-p) + scale D (M + 1)

M(T) itself is the business of Lemmas 4.3, C.3 and C.8, and is taken from `theory.sums`. Under the doubling trick
the bounds of the mega-episodes are added up, each with its share of delta.
"""

from __future__ import annotations

import math

from equipoise.oracles.base import Oracle
from equipoise.oracles.descent import Doubling
from equipoise.theory.facts import Facts, Setting, moves
from equipoise.theory.sums import Errors, episodes


def inverse_roots(SA: int, T: int) -> float:
    """Lemma B.6."""
    return (1.0 + math.sqrt(2.0)) * math.sqrt(SA * T)


def inverses(SA: int, T: int) -> float:
    """Claim B.7."""
    return SA * (1.0 + 2.0 * math.log(T))


def tolerances(SA: int, T: int) -> float:
    """Claim 4.6, corrected."""
    return SA + (1.0 + math.sqrt(2.0)) * math.sqrt(T)


def log_v(facts: Facts, delta: float, T: int) -> float:
    """The logarithm of (B.23)."""
    return math.log(12 * facts.n_outcomes * facts.n_pairs * T**2 / delta)


def log_p(facts: Facts, delta: float, T: int) -> float:
    """The logarithm of (B.26)."""
    return math.log(12 * facts.n_states * facts.n_pairs * T**2 / delta)


def learning_outcomes(scale: float, facts: Facts, delta: float, T: int) -> float:
    """The first part of (B.25)."""
    log = log_v(facts, delta, T)
    roots, each = inverse_roots(facts.n_pairs, T), inverses(facts.n_pairs, T)
    return 2.0 * scale * (math.sqrt(2.0 * log) * roots + 3.0 * log * each)


def noise(scale: float, facts: Facts, delta: float, T: int) -> float:
    """The second part of (B.25), for all T at once."""
    return scale * math.sqrt(2.0 * facts.n_pairs * T * log_v(facts, delta, T))


def learning_transitions(scale: float, facts: Facts, delta: float, T: int) -> float:
    """(B.27)."""
    log = log_p(facts, delta, T)
    roots, each = inverse_roots(facts.n_pairs, T), inverses(facts.n_pairs, T)
    inside = math.sqrt(2.0 * facts.max_successors * log) * roots + 3.0 * facts.n_states * log * each
    return 2.0 * scale * facts.diameter * inside


def chance(scale: float, facts: Facts, delta: float, T: int) -> float:
    """The martingale part of (B.30), for all T at once."""
    log = log_p(facts, delta, T)
    return scale * facts.diameter * math.sqrt(2.0 * facts.max_successors * facts.n_pairs * T * log)


def all_five(facts: Facts, setting: Setting, T: int) -> Errors:
    """What the five terms are bounded by, in numbers."""
    oracle = setting.steered_by
    if isinstance(oracle, Doubling) and not oracle.inherit:
        parts = [
            _one(facts, setting, phase.oracle, setting.delta / 2**h, n)
            for h, (phase, n) in enumerate(oracle.phases(T), start=1)
        ]
        return Errors._make(sum(column) for column in zip(*parts, strict=True))
    return _one(facts, setting, oracle, setting.delta, T)


def _one(facts: Facts, setting: Setting, oracle: Oracle, delta: float, T: int) -> Errors:
    moving = moves(setting.reward, oracle)
    M = episodes(setting.reward, oracle, setting.Q if moving else math.inf, facts.n_pairs, T)
    scale, delay = setting.reward.lipschitz * setting.ones, setting.Q * setting.ones * M if moving else 0.0
    return Errors(
        club=delay,
        diamond=learning_outcomes(scale, facts, delta, T) + noise(scale, facts, delta, T),
        heart=delay,
        spade=learning_transitions(scale, facts, delta, T)
        + chance(scale, facts, delta, T)
        + scale * facts.diameter * (M + 1.0),
        P=tolerances(facts.n_pairs, T) if setting.tolerance is None else setting.tolerance * T,
    )
