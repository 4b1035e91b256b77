"""All bounds under one name: episodes, sums of the error terms, regret.

- `episodes`: M(T), with certainty (lemmas 4.3, C.3, C.8);
- `sums`: the five error terms up to T (lemmas 4.5, 4.7, 4.8, Claim 4.6) and what they are made of (B.6, B.7);
- `regret`: Theorems 3.4, 5.1 and 5.2 with their constants, and the slack of Theorem 2.2;
- `maximum_entropy`: the refined bounds of section 6.2, for exploration;
- `printed`, apart from these: the paper's own constants where they differ.

>>> from equipoise.models import bandit
>>> from equipoise.rewards import Quadratic
>>> facts, setting = Facts.of(bandit(2)), Setting(reward=Quadratic([0.5, 0.5]))
>>> regret(facts, setting, 10**6).value < regret(facts, setting, 10**4).value
True
"""

from equipoise.theory.episodes import episodes, gradient_episodes, visit_episodes
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.maximum_entropy import (
    refined_entropy_regret,
    refined_episodes,
    refined_errors,
    refined_oracle_term,
    refined_regret,
)
from equipoise.theory.regret import RegretBound, benchmark_slack, oracle_term, rate, regret
from equipoise.theory.sums import Errors, club, diamond, errors, heart, inverse_roots, inverses, planning, spade

__all__ = [
    "Errors",
    "Facts",
    "RegretBound",
    "Setting",
    "benchmark_slack",
    "club",
    "diamond",
    "episodes",
    "errors",
    "gradient_episodes",
    "heart",
    "inverse_roots",
    "inverses",
    "oracle_term",
    "planning",
    "rate",
    "refined_entropy_regret",
    "refined_episodes",
    "refined_errors",
    "refined_oracle_term",
    "refined_regret",
    "regret",
    "spade",
    "visit_episodes",
]
