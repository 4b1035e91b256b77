r"""The five error terms summed up to T (section 4.3, appendix B), and the number of episodes, with every constant.

One step's error is at most club + diamond + heart + spade + P (Lemma 4.4; `decomposition` measures them). With

    scale = L ||1_K||,   log-v = log(12 K SA T^2 / delta),   log-p = log(12 S SA T^2 / delta),   M = M(T) episodes,

    club, heart   Q max ||V|| M                                   with certainty
    P             SA + (1 + sqrt 2) sqrt T                        with certainty, if visits end episodes
                  tolerance T                                     if the planner's tolerance is a constant
    diamond       scale [(4 + 3 sqrt 2) sqrt(SA T log-v)          on E^v, up to probability delta
                         + 6 SA (1 + 2 log T) log-v]
    spade         scale D [(3 + 2 sqrt 2) sqrt(2 Gamma SA T log-p)
                           + 6 S SA (1 + 2 log T) log-p + M + 1]  on E^p, up to probability delta

E^v and E^p fail with probability at most delta/2 each, so all five hold together with probability at least 1 - 3 delta.
They hold for all T at once: Azuma's inequality with delta / (2 T^2) costs log(2 T^2 / delta) in place of log(1/delta),
and log-v and log-p are larger than that.

**Corrections.** P: Claim 4.6 lacks the SA steps that may be taken at pairs never seen (erratum 19). diamond: (B.25)
has log T where the line before it has 1 + 2 log T (erratum 27), and (B.24) has 4 and 12 where the radii give 2 sqrt 2
and 6. spade: (B.30) as printed; the bias has span at most D scale because the optimistic rewards are values of
(-theta).v on the box, hence within scale of each other (erratum 21), and because the plan starts from zero.

**Warm starts.** Whatever u a plan starts from, it stops with Tu <= u + gain. A walk in the true model from s' to s
takes at most D steps in the mean and earns at least min r~ per step, so that u(s) - u(s') <= D (gain - min r~). From
zero, the gain is at most max r~; from elsewhere, or with `Planner(leaps=True)`, at most max r~ + P, and the scale of
spade is scale + 1 (or scale + tolerance): `Setting.excess`.

Under `Doubling` with fresh counts each mega-episode is a run of its own, with delta / 2^h: sums add up, and so do
the probabilities, to 3 delta. With inherited counts there is one clock and one delta; only M(T) knows of the restarts.

**Episodes** (lemmas fw_bd_M_brief, fgd_bd_M, tmd_bd_M); all of it holds with certainty.
At most SA (1 + log2 T) episodes are ended by the doubling of visits, and SA (1 + log T / log(1 + f)) if an episode ends
when the visits of a pair have grown by a factor f <= 1: each end after the first of a pair multiplies its visits by at
least 1 + f. Those that begin by T and are ended by the gradient threshold Q > 0 are, for T > C^{1/e} >= 1, at most

    FW    1 + log2(C^2)     + 1 + (sqrt(T) - C) / (C (sqrt 2 - 1)),        C^2 = Q / (2 beta ||1||)
    TGD   1 + log2(C^{3/2}) + 1 + (T^{2/3} - C) / (C (2^{2/3} - 1)),       C^2 = Q / (2L)
    TMD   1 + sqrt(L' / Q) T^{2/3}

and 1 + log2 T under the first two while T is smaller: `oracles.base.growth_episodes`. The paper's 1 + C^2 + 4 sqrt(T)/C
and 1 + C^{3/2} + 2.12 T^{2/3}/C are larger, and true, but not by their proofs (errata 10, 13, 36, 38). The third bound
stands, but not by its proof: over an episode of length n the sum of t - tau is n(n + 1)/2, more than the n^2 / 2 that
is used; but z = grad g* - V has entries in [-1, 1], so ||z|| <= ||1|| and not 2 ||1||: the inequality is
L' n(n + 1)/2 > Q T^{2/3}, and n(n + 1)/2 <= n^2.

The doubling trick adds up the bounds of its mega-episodes. What the paper prints is in `printed`. The formulas
themselves belong to each oracle (`Oracle.theory`); one without them has no bound here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from equipoise._checks import check_count, check_float, check_int
from equipoise.agents.schedules import check_growth
from equipoise.errors import ParameterError
from equipoise.oracles.base import Oracle
from equipoise.rewards.base import Reward
from equipoise.theory.facts import Facts, Setting, check_fit, moves, no_bound_known

SILVER: Final = 1.0 + math.sqrt(2.0)


class Errors(NamedTuple):
    """One number for each of the five terms: bounds on their sums, or the sums themselves.

    Attributes
    ----------
    club, heart : float
        The delay of theta, on what was seen and on what is aimed at.
    diamond : float
        Optimism about outcomes, and noise.
    spade : float
        Optimism about transitions, and motion.
    P : float
        The planner's tolerance.

    Examples
    --------
    >>> Errors(club=5.0, diamond=10.0, heart=5.0, spade=20.0, P=10.0).total
    50.0
    """

    club: float
    diamond: float
    heart: float
    spade: float
    P: float

    @property
    def total(self) -> float:
        """All five: a bound on the sum of (-theta_t).(v* - V_t)."""
        return math.fsum(self)


@final
@dataclass(frozen=True)
class RegretBound:
    """What is guaranteed at time `steps`, and what it is made of.

    Attributes
    ----------
    steps, oracle : int, float
        T, and the oracle's own term of Reg(T), which holds with certainty.
    errors, probability : Errors, float
        Bounds on the five sums up to T, not yet divided by T, and the probability of all, for all T at once.

    Examples
    --------
    >>> RegretBound(100, 0.25, Errors(club=5.0, diamond=10.0, heart=5.0, spade=20.0, P=10.0), 0.85).value
    0.75
    """

    steps: int
    oracle: float
    errors: Errors
    probability: float

    @property
    def value(self) -> float:
        """The bound on Reg(T) = opt(P_M) - g(average of the first T outcomes)."""
        return self.oracle + self.errors.total / self.steps


def visit_episodes(n_pairs: int, steps: int, visits: float = 1.0) -> float:
    """Bound the number of episodes that end because the visits of some pair have grown enough (eq. fw_bd_M_nu).

    Parameters
    ----------
    n_pairs, steps : int
        SA, the number of state-action pairs, and T.
    visits : float
        The factor f by which visits grow: the agent's parameter of that name, 1 for doubling.

    Examples
    --------
    >>> visit_episodes(3, 8), visit_episodes(3, 8, visits=0.5) > 12.0
    (12.0, True)
    """
    pairs, growth = check_int(n_pairs, "n_pairs", 1, error=ParameterError), check_growth(visits)
    return pairs * (1.0 + math.log2(_steps(steps)) / math.log2(1.0 + growth))


def gradient_episodes(reward: Reward, oracle: Oracle, threshold: float, steps: int) -> float:
    """Bound the number of episodes that end because Psi > Q; with certainty.

    Parameters
    ----------
    reward, oracle : Reward, Oracle
        g, and an oracle that fits it; a `ParameterError` if no bound is known for it.
    threshold, steps : float, int
        Q > 0, which may be infinite, and T.

    Examples
    --------
    A linear g never moves theta.

    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Linear, Quadratic
    >>> gradient_episodes(Linear([1.0, 0.5]), FrankWolfe(), 1.0, 1000)
    0.0
    >>> round(gradient_episodes(Quadratic([0.5, 0.5]), FrankWolfe(), 1.0, 1000), 1)
    125.3
    """
    oracle.check(reward)
    Q, T = check_float(threshold, "threshold", error=ParameterError), _steps(steps)
    if not Q > 0:
        raise ParameterError(f"threshold: got {threshold}; the bounds are for Q > 0")
    if math.isinf(Q) or not moves(reward, oracle):
        return 0.0
    bound = oracle.theory.gradient_episodes
    if bound is None:
        raise no_bound_known(oracle)
    return bound(reward, Q, T)


def episodes(reward: Reward, oracle: Oracle, threshold: float, n_pairs: int, steps: int, visits: float = 1.0) -> float:
    """Bound M(T), the number of episodes that have begun by T, the open one included; with certainty.

    Parameters
    ----------
    reward, oracle, threshold
        As for `gradient_episodes`.
    n_pairs, steps, visits
        As for `visit_episodes`.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Quadratic
    >>> round(episodes(Quadratic([0.5, 0.5]), FrankWolfe(), 1.0, n_pairs=10, steps=1000), 1)
    236.0
    """
    return math.fsum(
        1.0 + gradient_episodes(reward, phase.oracle, threshold, taken) + visit_episodes(n_pairs, taken, visits)
        for phase, taken in oracle.phases(steps)
    )


def inverse_roots(n_pairs: int, steps: int) -> float:
    """The sum over t <= T of 1 / sqrt(N+_m(t)(s_t, a_t)) is at most (1 + sqrt 2) sqrt(SA T) (Lemma B.6).

    With certainty, if the doubling of visits ends episodes: a pair is then visited in episode m at most N+_m times.

    Parameters
    ----------
    n_pairs, steps : int
        SA, the number of state-action pairs, and T.

    Examples
    --------
    >>> round(inverse_roots(4, 100), 4)
    48.2843
    """
    return SILVER * math.sqrt(_pairs(n_pairs) * _steps(steps))


def inverses(n_pairs: int, steps: int) -> float:
    """The sum over t <= T of 1 / N+_m(t)(s_t, a_t) is at most SA (1 + 2 log T) (Claim B.7); with certainty.

    Parameters
    ----------
    n_pairs, steps : int
        SA, the number of state-action pairs, and T.

    Examples
    --------
    >>> inverses(4, 1)
    4.0
    """
    return _pairs(n_pairs) * (1.0 + 2.0 * math.log(_steps(steps)))


def club(threshold: float, largest: float, n_episodes: float) -> float:
    """Q max ||V_t|| M(T), with certainty (Lemma 4.5, eq. club_refined).

    Within an episode the steps are taken while Psi <= Q, and Psi before the last of them is the sum of
    ||theta_t - theta_tau||_* over all.

    Parameters
    ----------
    threshold : float
        Q.
    largest : float
        max ||V_t|| or a bound on it: ||1_K|| in general, 1 for `Model.visits` in the 1-norm.
    n_episodes : float
        M(T), or a bound on it.

    Examples
    --------
    >>> club(0.5, 2.0, 30.0)
    30.0
    """
    return threshold * largest * n_episodes


def heart(threshold: float, largest: float, n_episodes: float) -> float:
    """The same for heart, where `largest` may be max ||v(s,a)|| (Lemma 4.5, eq. heart_refined); with certainty.

    Parameters
    ----------
    threshold, largest, n_episodes
        As for `club`.

    Examples
    --------
    >>> heart(0.5, 2.0, 30.0)
    30.0
    """
    return threshold * largest * n_episodes


def planning(n_pairs: int, steps: int, tolerance: float | None = None) -> float:
    r"""The sum of P: SA + (1 + sqrt 2) sqrt T, or tolerance T; with certainty (Claim 4.6, corrected).

    While N_m(s,a) = 0 a pair is visited at most once: SA steps in all, with P <= 1. The other steps of episode m are
    at most the sum of N_m, which is tau(m) - 1, and z / sqrt(tau) <= (1 + sqrt 2)(sqrt(tau + z) - sqrt(tau)) for
    z <= tau. Without the rule that the doubling of visits ends an episode, as with `Known`, only tolerance T holds.

    Parameters
    ----------
    n_pairs, steps : int
        SA, the number of state-action pairs, and T.
    tolerance : float, optional
        Of the planner; None: the paper's 1/sqrt(tau(m)).

    Examples
    --------
    >>> round(planning(6, 9), 4), planning(6, 9, tolerance=0.5)
    (13.2426, 4.5)
    """
    if tolerance is not None:
        return check_float(tolerance, "tolerance", error=ParameterError) * _steps(steps)
    return _pairs(n_pairs) + SILVER * math.sqrt(_steps(steps))


def diamond(scale: float, facts: Facts, delta: float, steps: int) -> float:
    r"""The sum of diamond, on E^v but for an event of probability delta (Lemma 4.7, eq. diamond_precise_bound).

    Learning: `|v~ - v| <= 2 rad` for every outcome, with rad <= sqrt(2 log-v / N+) + 3 log-v / N+, so the sum is at
    most 2 scale [sqrt(2 log-v) `inverse_roots` + 3 log-v `inverses`]. Noise: martingale differences within scale,
    whose sum is at most scale sqrt(2 T log(1/delta)) <= scale sqrt 2 sqrt(SA T log-v).

    (B.25) as printed, (4 + 5 sqrt 2) sqrt(SA T log-v) + 12 SA log T log-v, is true as well, though not by its proof:
    it is the larger one if T >= 4.5 SA log-v, and below that it exceeds T, while diamond <= scale at every step.

    Parameters
    ----------
    scale, facts : float, Facts
        L ||1_K||, and the numbers of the model.
    delta, steps : float, int
        The level of the regions, strictly between 0 and 1, and T.

    Examples
    --------
    >>> facts = Facts(n_states=2, n_pairs=4, n_outcomes=3, max_successors=2, diameter=2.0)
    >>> round(diamond(1.0, facts, 0.05, 1000), 1)
    10177.7
    """
    T, log_v = _steps(steps), _log(facts.n_outcomes * facts.n_pairs, delta, steps)
    learning = 2.0 * (
        math.sqrt(2.0 * log_v) * inverse_roots(facts.n_pairs, T) + 3.0 * log_v * inverses(facts.n_pairs, T)
    )
    noise = math.sqrt(2.0 * facts.n_pairs * T * log_v)
    return scale * (learning + noise)


def spade(scale: float, facts: Facts, delta: float, n_episodes: float, steps: int) -> float:
    r"""The sum of spade, on E^p but for an event of probability delta (Lemma 4.8, eq. explicit_bd_spade).

    Learning: `|p~ - p| <= 2 rad` for every successor, and the sum over successors of sqrt(p^) is at most sqrt(Gamma).
    Motion: within an episode the bias telescopes but for a martingale, which leaves at most one span per episode.

    Parameters
    ----------
    scale, facts, delta
        As for `diamond`.
    n_episodes : float
        M(T), or a bound on it.
    steps : int
        As for `diamond`.

    Examples
    --------
    >>> facts = Facts(n_states=2, n_pairs=4, n_outcomes=3, max_successors=2, diameter=2.0)
    >>> round(spade(1.0, facts, 0.05, 50.0, 1000), 1)
    37321.4
    """
    T, log_p = _steps(steps), _log(facts.n_states * facts.n_pairs, delta, steps)
    roots = (2.0 * SILVER + 1.0) * math.sqrt(2.0 * facts.max_successors * facts.n_pairs * T * log_p)
    learning = 6.0 * facts.n_states * inverses(facts.n_pairs, T) * log_p
    return scale * facts.diameter * (roots + learning + n_episodes + 1.0)


def errors(facts: Facts, setting: Setting, steps: int) -> Errors:
    """Proposition 4.2 made explicit: a bound on each sum, together with probability 1 - 3 delta, for all T at once.

    Parameters
    ----------
    facts, setting, steps
        The numbers of the model, how the agent is set up, and T.

    Examples
    --------
    >>> from equipoise.models import bandit
    >>> from equipoise.rewards import Quadratic
    >>> bounds = errors(Facts.of(bandit(2)), Setting(reward=Quadratic([0.5, 0.5])), 10**6)
    >>> [round(bound) for bound in bounds], round(bounds.total)
    ([4867, 80319, 4867, 84258, 2416], 176728)
    """
    check_fit(facts, setting)
    oracle = setting.steered_by
    parts = list(oracle.phases(steps))
    if not parts[0][0].inherit:
        runs = [_one_run(facts, setting, phase.oracle, setting.delta * phase.share, taken) for phase, taken in parts]
        return Errors._make(map(sum, zip(*runs, strict=True)))
    return _one_run(facts, setting, oracle, setting.delta, steps)


def _one_run(facts: Facts, setting: Setting, oracle: Oracle, delta: float, steps: int) -> Errors:
    reward = setting.reward
    Q = setting.Q if moves(reward, oracle) else math.inf
    M = episodes(reward, oracle, Q, facts.n_pairs, steps, setting.visits)
    delay = club(Q, setting.ones, M) if moves(reward, oracle) else 0.0
    return Errors(
        club=delay,
        diamond=diamond(setting.scale, facts, delta, steps),
        heart=delay,
        spade=spade(setting.scale + setting.excess, facts, delta, M, steps),
        P=planning(facts.n_pairs, steps, setting.tolerance),
    )


def _log(count: int, delta: float, steps: int) -> float:
    """log(12 count T^2 / delta)."""
    level = check_float(delta, "delta", error=ParameterError)
    if not 0 < level < 1:
        raise ParameterError(f"delta: got {delta}; it must lie strictly between 0 and 1")
    return math.log(12.0 * count / level) + 2.0 * math.log(_steps(steps))


def _steps(steps: int) -> int:
    return check_count(steps, "steps", 1, error=ParameterError)


def _pairs(n_pairs: int) -> int:
    return check_int(n_pairs, "n_pairs", 1, error=ParameterError)
