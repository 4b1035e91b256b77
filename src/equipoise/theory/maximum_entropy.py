r"""Section 6.2: the refined bounds for exploration, where outcomes are visits and known in advance.

In `Model.visits` V(s,a) = e_s: outcomes need not be learnt, and V_t, v* and all averages have 1-norm 1, where the
general bounds have ||1_S|| = S. For any smooth g in the 1-norm:

    oracle       beta ||V_t - average||^2 / (2t) in step t, where the norm is at most 2 and 1 in the first, as the
                 average is 0 then: beta (1/2 + 2 log T) / T in all
    club, heart  Q M(T)                             max ||V|| = 1
    diamond      0                                  r~(s,a) = (-theta).e_s = (-theta).V_t
    spade        2 L D [...]                        r~ is a value of -theta, which lies between -L and L
    M(T)         1 + [ends by Psi > Q] + SA (1 + log2 T)
                                                    two distributions are at most 2 apart: (4.9) with 1 for ||1||

Ends by Psi: theta_{tau + j} is at most 2 beta j / (tau + j - 1) away from theta_tau, so after n steps Psi is at most
2 beta n^2 / tau. It is above Q, so tau' > tau + C sqrt(tau) with C^2 = Q / (2 beta): as in the general case with 1 for
||1||, and `oracles.base.growth_episodes` counts such ends. At mu <= 1/e, Q = L_mu, C^2 is mu log(1/mu) / 4 < 1, and
they are 1 + (1 + sqrt 2)(sqrt T - 1)/C.

The paper replaces ||1_S|| by 1 throughout, which does not hold in the first row, where it is 4 beta and not beta, nor
in that of spade, where it is 2 L D and not L D (erratum 35). All hold together with probability 1 - 3 delta / 2, for
all T at once: E^p fails with delta/2, and the noise of spade costs delta.

**On the entropy itself.** H_mu <= H / log S <= H_mu + S mu / log S, as log(S) H_mu differs from H by the mean of
log(1 + mu / P_s). So the regret on H / log S is at most that on H_mu and S mu / log S; with mu(T) = 1 / (S^{2/3}
T^{1/3}) known in advance and Q = L_mu this is (6.3) with its constants.
"""

from __future__ import annotations

import math

from equipoise._checks import check_count
from equipoise.errors import ParameterError
from equipoise.oracles.base import growth_episodes
from equipoise.oracles.frank_wolfe import DoublingFrankWolfe
from equipoise.rewards.entropy import Entropy
from equipoise.theory.facts import Facts, Setting, check_fit
from equipoise.theory.sums import Errors, RegretBound, club, heart, planning, spade, visit_episodes


def refined_oracle_term(setting: Setting, steps: int) -> float:
    """Frank-Wolfe's own term: beta (1/2 + 2 log T) / T; with certainty.

    Parameters
    ----------
    setting, steps
        As for `refined_regret`.

    Examples
    --------
    >>> from equipoise.rewards import Entropy
    >>> round(refined_oracle_term(Setting(reward=Entropy(2, 0.5)), 1), 4)  # beta / 2
    2.8854
    """
    T = check_count(steps, "steps", 1, error=ParameterError)
    return _smoothness(setting) * (0.5 + 2.0 * math.log(T)) / T


def refined_episodes(facts: Facts, setting: Setting, steps: int) -> float:
    """M(T), with 1 for ||1_S||; with certainty.

    Parameters
    ----------
    facts, setting, steps
        As for `refined_regret`.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Entropy
    >>> facts = Facts.of(star(2, 4).visits())
    >>> round(refined_episodes(facts, Setting(reward=Entropy(5, 0.1)), 10**4), 1)
    1141.0
    """
    T, beta = check_count(steps, "steps", 1, error=ParameterError), _smoothness(setting)
    by_gradient = growth_episodes(math.sqrt(setting.Q / (2.0 * beta)), 0.5, T)
    return 1.0 + by_gradient + visit_episodes(facts.n_pairs, T, setting.visits)


def refined_errors(facts: Facts, setting: Setting, steps: int) -> Errors:
    """The five sums up to T; together with probability 1 - 3 delta / 2, for all T at once.

    Parameters
    ----------
    facts, setting, steps
        As for `refined_regret`.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Entropy
    >>> refined_errors(Facts.of(star(2, 4).visits()), Setting(reward=Entropy(5, 0.1)), 10**4).diamond
    0.0
    """
    check_fit(facts, setting)
    if facts.n_outcomes != facts.n_states:
        raise ParameterError(
            f"facts: {facts.n_outcomes} outcomes and {facts.n_states} states; the refined bounds are for "
            "`Model.visits`, which has as many of the one as of the other"
        )
    M = refined_episodes(facts, setting, steps)
    return Errors(
        club=club(setting.Q, 1.0, M),
        diamond=0.0,
        heart=heart(setting.Q, 1.0, M),
        spade=spade(2.0 * setting.reward.lipschitz + setting.excess, facts, setting.delta, M, steps),
        P=planning(facts.n_pairs, steps, setting.tolerance),
    )


def refined_regret(facts: Facts, setting: Setting, steps: int) -> RegretBound:
    """The refined form of (6.2) as a number: the regret on a smooth g of the visits.

    Parameters
    ----------
    facts : Facts
        Of the model, with as many outcomes as states.
    setting, steps : Setting, int
        How the agent is set up, with a reward that is smooth in the 1-norm, and T.

    Examples
    --------
    >>> from equipoise.models import star
    >>> from equipoise.rewards import Entropy
    >>> from equipoise.theory.bounds import regret
    >>> facts, setting = Facts.of(star(2, 4).visits()), Setting(reward=Entropy(5, 0.1))
    >>> refined_regret(facts, setting, 10**6).value < regret(facts, setting, 10**6).value / 2
    True
    """
    return RegretBound(
        steps=check_count(steps, "steps", 1, error=ParameterError),
        oracle=refined_oracle_term(setting, steps),
        errors=refined_errors(facts, setting, steps),
        probability=max(0.0, 1.0 - 1.5 * setting.delta),
    )


def refined_entropy_regret(facts: Facts, steps: int, delta: float = 0.05) -> float:
    """(6.3) as a number: the regret on H / log S of an agent that knows T, with mu(T) and Q = L_mu.

    Parameters
    ----------
    facts : Facts
        Of the model, with as many outcomes as states, at least 2.
    steps, delta : int, float
        T, and the level of the regions.

    Examples
    --------
    >>> from equipoise.models import star
    >>> facts = Facts.of(star(2, 4).visits())
    >>> refined_entropy_regret(facts, 10**9) < refined_entropy_regret(facts, 10**6) / 5
    True
    """
    T, S = check_count(steps, "steps", 1, error=ParameterError), facts.n_states
    reward = Entropy(S).at(T)
    assert reward.mu is not None
    return refined_regret(facts, Setting(reward=reward, delta=delta), T).value + S * reward.mu / math.log(S)


def doubled_entropy_regret(facts: Facts, steps: int, delta: float = 0.05) -> float:
    """(6.3) without T, by the doubling trick: the regret on H / log S of an agent with `DoublingFrankWolfe`.

    Mega-episode h has mu(2^h), Q = L_mu and delta / 2^h. H is concave, and the average of all time is a mean of those
    of the mega-episodes, so the regret is at most the mean of theirs; each is bounded as in (6.3) after l(h) steps.

    Parameters
    ----------
    facts, steps, delta
        As for `refined_entropy_regret`; the level is that of all mega-episodes together.

    Examples
    --------
    >>> from equipoise.models import star
    >>> facts = Facts.of(star(2, 4).visits())
    >>> bound = doubled_entropy_regret(facts, 10**9)
    >>> refined_entropy_regret(facts, 10**9) < bound < doubled_entropy_regret(facts, 10**8)
    True
    """
    T, S = check_count(steps, "steps", 1, error=ParameterError), facts.n_states
    total = 0.0
    for phase, taken in DoublingFrankWolfe().phases(T):
        assert phase.length is not None
        reward = Entropy(S).at(phase.length)
        assert reward.mu is not None
        setting = Setting(reward=reward, delta=delta * phase.share)
        total += taken * (refined_regret(facts, setting, taken).value + S * reward.mu / math.log(S))
    return total / T


def _smoothness(setting: Setting) -> float:
    """Beta, if g is smooth in the 1-norm."""
    beta = setting.reward.smoothness
    if setting.reward.norm != 1.0 or beta is None or not 0.0 < beta < math.inf:
        raise ParameterError(f"reward: {setting.reward!r} is not smooth in the 1-norm, as the refined bounds need")
    return beta
