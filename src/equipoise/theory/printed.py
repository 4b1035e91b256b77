r"""The paper's constants as they are printed, where they are not those of `bounds`.

For comparison, and so that what is wrong can be shown to be. Each function says whether its number is a bound:

    (4.7), (C.9)   episodes ended by the gradient     true, not by their proofs, and larger than need be (errata 36, 38)
    (4.8)          episodes ended by visits           false for episodes that have begun: one may be open (erratum 20)
    (4.6)          Frank-Wolfe's own term             false at T = 1 (erratum 26)
    Claim 4.6      sum of P                           false (erratum 19)
    (B.25)         sum of diamond                     true, not by its proof (see `bounds.diamond`)
    Theorem C.4    online gradient descent            false: L is the radius, not the diameter (erratum 24)
    (C.5)          TGD's own term                     true, not by its proof (see `bounds`)
    (C.23)         TMD's own term                     true, not by its proof (see `bounds`)
    Theorem 2.2    slack of the benchmark             true, twice what is needed (erratum 22)

(4.8) is `bounds.visit_episodes`, (B.30) is `bounds.spade`, Lemma 4.5 is `bounds.club` and `bounds.heart`, and (C.25)
is `bounds.gradient_episodes`: these are not repeated here. Proposition 6.1, on budgets, has no number anywhere: its
additive term 2D is false, and one step of its proof is missing (erratum 23).
"""

from __future__ import annotations

import math

from equipoise._checks import check_count
from equipoise.errors import ParameterError
from equipoise.oracles.base import Oracle
from equipoise.rewards.base import Reward
from equipoise.theory import sums as corrected
from equipoise.theory.facts import Facts, Setting
from equipoise.theory.sums import SILVER


def gradient_episodes(reward: Reward, oracle: Oracle, threshold: float, steps: int) -> float:
    """(4.7) and (C.9), which are larger than `bounds` has them; (C.25) as it is.

    Parameters
    ----------
    reward, oracle, threshold, steps
        As for `bounds.gradient_episodes`.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Linear
    >>> gradient_episodes(Linear([1.0, 0.5]), FrankWolfe(), 1.0, 1000)  # a linear g never moves theta
    0.0
    """
    proven = corrected.gradient_episodes(reward, oracle, threshold, steps)
    printed = oracle.theory.printed
    if printed is None or printed.gradient_episodes is None or proven == 0.0:
        return proven
    return printed.gradient_episodes(reward, threshold, check_count(steps, "steps", 1, error=ParameterError))


def episodes(reward: Reward, oracle: Oracle, threshold: float, n_pairs: int, steps: int) -> float:
    """M(T) of lemmas 4.3, C.3 and C.8: nothing is added for the episode that is open at T (erratum 36).

    Parameters
    ----------
    reward, oracle, threshold, n_pairs, steps
        As for `bounds.episodes`.

    Examples
    --------
    With a linear g only visits end episodes, and the two bounds are apart by the one that is open.

    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Linear
    >>> g, oracle = Linear([1.0, 0.5]), FrankWolfe()
    >>> corrected.episodes(g, oracle, 1.0, 3, 8) - episodes(g, oracle, 1.0, 3, 8)
    1.0
    """
    return math.fsum(
        gradient_episodes(reward, phase.oracle, threshold, taken) + corrected.visit_episodes(n_pairs, taken)
        for phase, taken in oracle.phases(steps)
    )


def planning(steps: int) -> float:
    """Claim 4.6: the sum of P is at most (1 + sqrt 2) sqrt T. False: on a ring of six states it is 6 at T = 6.

    Parameters
    ----------
    steps : int
        T.

    Examples
    --------
    >>> round(planning(6), 2)
    5.91
    """
    return SILVER * math.sqrt(check_count(steps, "steps", 1, error=ParameterError))


def diamond(scale: float, facts: Facts, delta: float, steps: int) -> float:
    """(B.25): scale [(4 + 5 sqrt 2) sqrt(SA T log-v) + 12 SA log T log-v].

    Parameters
    ----------
    scale, facts, delta, steps
        As for `bounds.diamond`.

    Examples
    --------
    At T = 1 the logarithm of the second term is 0.

    >>> facts = Facts(n_states=2, n_pairs=4, n_outcomes=3, max_successors=2, diameter=2.0)
    >>> roots = (4 + 5 * math.sqrt(2)) * math.sqrt(4 * math.log(12 * 12 / 0.05))
    >>> math.isclose(diamond(1.0, facts, 0.05, 1), roots)
    True
    """
    return _diamond(scale, facts, delta, steps, 0.0, 1.0)


def diamond_mended(scale: float, facts: Facts, delta: float, steps: int) -> float:
    """(B.25) with the factor 1 + 2 log T of the line before it (erratum 27): what the proof as it stands gives.

    Parameters
    ----------
    scale, facts, delta, steps
        As for `bounds.diamond`.

    Examples
    --------
    >>> facts = Facts(n_states=2, n_pairs=4, n_outcomes=3, max_successors=2, diameter=2.0)
    >>> diamond_mended(1.0, facts, 0.05, 1000) > diamond(1.0, facts, 0.05, 1000)
    True
    """
    return _diamond(scale, facts, delta, steps, 1.0, 2.0)


def gradient_descent(radius: float, slope: float, rates: list[float]) -> float:
    """Theorem C.4: the average regret is at most L^2 / (2 T eta_T) + R^2 (sum of eta) / (2T). False.

    With K = 1, L = R = eta_1 = T = 1, f(theta) = theta and theta_1 = 1 the regret is 2.

    Parameters
    ----------
    radius, slope : float
        L, of the ball that theta is kept in, and R, the largest gradient.
    rates : list of float
        eta_1 to eta_T.

    Examples
    --------
    >>> gradient_descent(1.0, 1.0, [1.0])
    1.0
    """
    T = len(rates)
    return radius**2 / (2 * T * rates[-1]) + slope**2 * math.fsum(rates) / (2 * T)


def oracle_term(setting: Setting, steps: int) -> float:
    """(4.6): beta ||1||^2 log T / T. (C.5): 3 L ||1|| / T^{1/3}. (C.23): 10 L' ||1|| / T^{1/3}.

    Parameters
    ----------
    setting, steps
        As for `bounds.oracle_term`; a `ParameterError` if the paper prints none for the oracle.

    Examples
    --------
    At T = 1 that of Frank-Wolfe is 0, which is false.

    >>> from equipoise.rewards import Quadratic
    >>> oracle_term(Setting(reward=Quadratic([0.5, 0.5])), 1)
    0.0
    """
    T = check_count(steps, "steps", 1, error=ParameterError)
    printed = setting.steered_by.theory.printed
    if printed is None or printed.regret_term is None:
        raise ParameterError(f"oracle: the paper prints no term for {setting.steered_by!r}")
    return printed.regret_term(setting.reward, T)


def benchmark_slack(facts: Facts, setting: Setting, steps: int) -> float:
    """Theorem 2.2: 2 L ||1|| D / T.

    Parameters
    ----------
    facts, setting, steps
        As for `bounds.benchmark_slack`.

    Examples
    --------
    >>> from equipoise.models import ring
    >>> from equipoise.rewards import Linear
    >>> benchmark_slack(Facts.of(ring(4)), Setting(reward=Linear([1.0])), 8)
    1.0
    """
    return 2.0 * setting.scale * facts.diameter / check_count(steps, "steps", 1, error=ParameterError)


def _diamond(scale: float, facts: Facts, delta: float, steps: int, constant: float, factor: float) -> float:
    """(B.25), the sum of 1 / N+ being taken for SA (constant + factor log T)."""
    T = check_count(steps, "steps", 1, error=ParameterError)
    log_v = math.log(12.0 * facts.n_outcomes * facts.n_pairs * T**2 / delta)
    roots = (4.0 + 5.0 * math.sqrt(2.0)) * math.sqrt(facts.n_pairs * T * log_v)
    return scale * (roots + 12.0 * log_v * facts.n_pairs * (constant + factor * math.log(T)))
