r"""All bounds under one name: episodes and sums of the error terms (`sums`), regret (here), exploration.

- `sums`: the number of episodes (lemmas 4.3, C.3, C.8), and the five error terms up to T (lemmas 4.5, 4.7, 4.8, Claim
  4.6) with what they are made of (B.6, B.7);
- here: Theorems 3.4, 5.1 and 5.2 with their constants, and the slack of Theorem 2.2;
- `maximum_entropy`: the refined bounds of section 6.2;
- `printed`, apart from these: the paper's own constants where they differ.

**The theorems**: Reg(T) <= oracle term + (sum of errors) / T. With certainty, at every T,

    Reg(T) <= oracle term + (1/T) sum over t <= T of (-theta_t).(v* - V_t),

    FW          beta ||1||^2 (1 + log T) / (2T)
    TGD         L ||1|| [2 T^{-1/3} + (3 T^{1/3} - 2) / (2T)]
    TMD(F, H)   L' ||1|| [H^{2/3} / T + H^{-2/3}],   T <= H
    doubling    L' ||1|| sum over h of [2^{2h/3} + l(h) 2^{-2h/3}] / T

with l(h) the steps taken in mega-episode h. The second part is bounded by `sums.errors`, with probability 1 - 3 delta
for all T at once. Since M(T) is of order T^{1/2} under FW and T^{2/3} under the others, so is the whole times T.

FW: t Reg(t) <= (t-1) Reg(t-1) + beta ||V_t - average||^2 / (2t) + error_t (eqs. 4.3 to 4.5), and both are in the box,
so the norm is at most ||1||; the sum of 1/t is at most 1 + log T, where (4.6) has 2 log T, false at T = 1 (erratum 26).
The others: g(average) is the minimum over theta of the mean of f_t(theta) = g*(theta) - theta.V_t, online descent comes
close to it, and f_t(theta_t) >= opt - error_t by duality (C.4, C.5, C.19 to C.23).

- TGD: Zinkevich's bound on a ball of *diameter* 2L, (2L)^2 / (2 eta_T) + (R^2 / 2) sum of eta_t (erratum 24), with
  R = ||1||: grad f_t is the difference of two points of the box. The paper has a quarter of the first term and four
  times the second; its sum, 3 L ||1|| / T^{1/3}, is right all the same, as 3y - 2 <= 2y^2 for all y.
- TMD: L'^2 / eta + eta R^2 T, again with R = ||1||. With 2 ||1|| the printed 10 L' ||1|| / T^{1/3} would have to be 14
  (erratum 25). With ||1|| it is true: the sum is at most 2 sum of 2^{2h/3} <= 5.41 2^{2H/3}, and 2^{H-1} <= T.
"""

from __future__ import annotations

from equipoise._checks import check_count
from equipoise.errors import ParameterError
from equipoise.oracles.base import Oracle
from equipoise.theory.facts import Facts, Setting, no_bound_known
from equipoise.theory.maximum_entropy import (
    doubled_entropy_regret,
    refined_entropy_regret,
    refined_episodes,
    refined_errors,
    refined_oracle_term,
    refined_regret,
)
from equipoise.theory.sums import (
    Errors,
    RegretBound,
    club,
    diamond,
    episodes,
    errors,
    gradient_episodes,
    heart,
    inverse_roots,
    inverses,
    planning,
    spade,
    visit_episodes,
)

__all__ = [
    "Errors",
    "Facts",
    "RegretBound",
    "Setting",
    "benchmark_slack",
    "club",
    "diamond",
    "doubled_entropy_regret",
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


def rate(oracle: Oracle) -> float | None:
    """The exponent of T in the regret bound, up to logarithms: -1/2 under Frank-Wolfe, -1/3 under the descents.

    Parameters
    ----------
    oracle : Oracle
        Any; None is returned if no bound is known for it.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe, TunedGradientDescent
    >>> rate(FrankWolfe()), round(rate(TunedGradientDescent()), 3)
    (-0.5, -0.333)
    """
    if not isinstance(oracle, Oracle):
        raise ParameterError(f"oracle: got {oracle!r}; an Oracle is needed")
    return oracle.theory.rate


def oracle_term(setting: Setting, steps: int) -> float:
    """Bound the part of Reg(T) that is the oracle's own; with certainty.

    Parameters
    ----------
    setting, steps : Setting, int
        How the agent is set up, and T; a `ParameterError` if no bound is known for the oracle.

    Examples
    --------
    >>> from equipoise.rewards import Quadratic
    >>> round(oracle_term(Setting(reward=Quadratic([0.5, 0.5])), 1), 12)
    1.0
    """
    T = check_count(steps, "steps", 1, error=ParameterError)
    term = setting.steered_by.theory.regret_term
    if term is None:
        raise no_bound_known(setting.steered_by)
    return term(setting.reward, T)


def regret(facts: Facts, setting: Setting, steps: int) -> RegretBound:
    """Theorem 3.4, 5.1 or 5.2, by the oracle, as a number: infinite if Q is and theta can move.

    Parameters
    ----------
    facts, setting, steps
        The numbers of the model, how the agent is set up, and T.

    Examples
    --------
    >>> from equipoise.models import bandit
    >>> from equipoise.rewards import Quadratic
    >>> bound = regret(Facts.of(bandit(2)), Setting(reward=Quadratic([0.5, 0.5])), 10**6)
    >>> round(bound.value, 3), round(bound.probability, 2)
    (0.177, 0.85)
    """
    return RegretBound(
        steps=check_count(steps, "steps", 1, error=ParameterError),
        oracle=oracle_term(setting, steps),
        errors=errors(facts, setting, steps),
        probability=max(0.0, 1.0 - 3.0 * setting.delta),
    )


def benchmark_slack(facts: Facts, setting: Setting, steps: int) -> float:
    r"""Theorem 2.2: no policy has E[g(average)] above opt(P_M) by more than L ||1|| D / T.

    By (A.3) the slack is the span of gamma* over T. The proof of Lemma A.2 gives (phi* - min r) D with
    r = (-theta*).v, and phi* <= max r; both are values of (-theta*).w on the box, which lie within L ||1|| of each
    other (erratum 22). The paper has twice as much.

    Parameters
    ----------
    facts, setting, steps
        As for `regret`.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> from equipoise.rewards import Linear
    >>> benchmark_slack(Facts.of(ring(4)), Setting(reward=Linear([1.0])), 8)
    0.5
    """
    return setting.scale * facts.diameter / check_count(steps, "steps", 1, error=ParameterError)
