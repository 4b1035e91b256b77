r"""Bounds on the number of episodes that hold with certainty (lemmas fw_bd_M_brief, fgd_bd_M, tmd_bd_M).

With SA pairs, at most SA (1 + log2 T) episodes are ended by the doubling of visits. Those that begin by T and are ended
by the gradient threshold Q > 0 are, for T > C^{1/e} >= 1, at most

    FW    1 + log2(C^2)     + 1 + (sqrt(T) - C) / (C (sqrt 2 - 1)),        C^2 = Q / (2 beta ||1||)
    TGD   1 + log2(C^{3/2}) + 1 + (T^{2/3} - C) / (C (2^{2/3} - 1)),       C^2 = Q / (2L)
    TMD   1 + sqrt(L' / Q) T^{2/3}

and 1 + log2 T under the first two while T is smaller: `oracles.theory.ended_by_growth`. The paper prints 1 + C^2 + 4
sqrt(T)/C and 1 + C^{3/2} + 2.12 T^{2/3}/C, which are larger, and true, though its proofs give 3 for the 1 (errata 10,
13, 36): they count as many ends below C^{1/e} as there are whole numbers, where tau doubles with each (erratum 38). The
third bound stands, but not by its proof. With n the length of an episode, the sum of t - tau over its n + 1 terms is
n(n + 1)/2, more than the n^2 / 2 that is used; what saves it is that z = grad g* - V has entries in [-1, 1], so ||z||
<= ||1|| and not 2 ||1||: the inequality is L' n(n + 1)/2 > Q T^{2/3}, and n(n + 1)/2 <= n^2.

The doubling trick adds up the bounds of its mega-episodes. What the paper prints is in `printed`. The formulas
themselves are what each oracle knows of itself (`Oracle.theory`); one that knows nothing has no bound here.
"""

from __future__ import annotations

import math

from equipoise._numbers import counted, real, whole
from equipoise.errors import ParameterError
from equipoise.oracles.base import Oracle
from equipoise.rewards.base import Reward


def visit_episodes(n_pairs: int, steps: int) -> float:
    """At most so many episodes end because some pair was visited as often as before (eq. fw_bd_M_nu).

    Parameters
    ----------
    n_pairs : int
        SA, the number of state-action pairs.
    steps : int
        T.

    Returns
    -------
    float
        A bound on their number.

    Examples
    --------
    >>> visit_episodes(3, 8)
    12.0
    """
    pairs = whole(n_pairs, "n_pairs", 1, error=ParameterError)
    return pairs * (1.0 + math.log2(counted(steps, "steps", 1, error=ParameterError)))


def gradient_episodes(reward: Reward, oracle: Oracle, threshold: float, steps: int) -> float:
    """At most so many episodes end because Psi > Q, with certainty.

    Parameters
    ----------
    reward : Reward
        g.
    oracle : Oracle
        One that fits it.
    threshold : float
        Q > 0. With infinity no episode ends so.
    steps : int
        T.

    Returns
    -------
    float
        A bound on their number.

    Raises
    ------
    ParameterError
        When no bound is known for the oracle.

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
    Q, T = real(threshold, "threshold", error=ParameterError), counted(steps, "steps", 1, error=ParameterError)
    if not Q > 0:
        raise ParameterError(f"threshold: got {threshold}; the bounds are for Q > 0")
    if math.isinf(Q) or not moves(reward, oracle):
        return 0.0
    bound = oracle.theory.gradient_episodes
    if bound is None:
        raise no_bound_known(oracle)
    return bound(reward, Q, T)


def episodes(reward: Reward, oracle: Oracle, threshold: float, n_pairs: int, steps: int) -> float:
    """M(T): at most so many episodes have begun by time `steps`, with certainty.

    One is added to the two counts for the episode that is open at time T.

    Parameters
    ----------
    reward : Reward
        g.
    oracle : Oracle
        One that fits it.
    threshold : float
        Q > 0.
    n_pairs : int
        SA, the number of state-action pairs.
    steps : int
        T.

    Returns
    -------
    float
        A bound on M(T).

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Quadratic
    >>> round(episodes(Quadratic([0.5, 0.5]), FrankWolfe(), 1.0, n_pairs=10, steps=1000), 1)
    236.0
    """
    return sum(
        1.0 + gradient_episodes(reward, phase.oracle, threshold, taken) + visit_episodes(n_pairs, taken)
        for phase, taken in oracle.phases(steps)
    )


def moves(reward: Reward, oracle: Oracle) -> bool:
    """Whether theta can move at all; it may, unless the oracle is known to leave it where it is."""
    known = oracle.theory.moves
    return True if known is None else known(reward)


def no_bound_known(oracle: Oracle) -> ParameterError:
    """The error of a bound that needs what is not known of an oracle."""
    return ParameterError(f"oracle: no bound is known for {oracle!r}")
