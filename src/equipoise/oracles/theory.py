"""What theory knows of an oracle, in one object.

A new oracle has nothing but its step: what is not known of it is None, and bounds that need it are then refused with
an error that says so. Studies run all the same, and say that no bound is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from equipoise.rewards.base import Reward


@final
@dataclass(frozen=True, kw_only=True)
class OracleTheory:
    """What is proven of TOC-UCRL2 with an oracle.

    Parameters
    ----------
    rate : float, optional
        The exponent of T in the bound on the regret, up to logarithms.
    regret_term : callable, optional
        ``regret_term(reward, steps)``: the part of the regret after so many steps that is the oracle's own, with
        certainty.
    gradient_episodes : callable, optional
        ``gradient_episodes(reward, threshold, steps)``: at most so many episodes are ended by the gradient threshold,
        with certainty, where the threshold is finite and theta can move.
    moves : callable, optional
        ``moves(reward)``: whether theta can move at all. Not known: it may.
    printed : OracleTheory, optional
        The same as the paper prints it, where that is not what is proven.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Linear
    >>> knowledge = FrankWolfe().theory
    >>> knowledge.rate, knowledge.moves(Linear([1.0]))
    (-0.5, False)
    >>> OracleTheory().rate is None
    True
    """

    rate: float | None = None
    regret_term: Callable[[Reward, int], float] | None = None
    gradient_episodes: Callable[[Reward, float, int], float] | None = None
    moves: Callable[[Reward], bool] | None = None
    printed: OracleTheory | None = None


def moves_unless_flat(reward: Reward) -> bool:
    """Whether a descent moves theta: not if L = 0, as theta then stays in a ball of radius zero."""
    return reward.lipschitz > 0.0


def ended_by_growth(pace: float, alpha: float, steps: int) -> float:
    r"""At most so many episodes begun within T steps are ended by Psi, if their ends have tau' >= tau + C tau^alpha.

    Here tau is the end of the one before, and 1 for the first; 0 <= alpha < 1, e = 1 - alpha. While tau^e <= C the
    step C tau^alpha is at least tau, and tau doubles: at most log2 of x = C^{1/e} ends lie in (1, x], and one more
    leads beyond, if x >= 1. From there on y = C tau^{-e} <= 1, so that tau^e grows by C ((1 + y)^e - 1)/y >= C (2^e -
    1) each time. By T there are thus at most

        log2(min(x, T))  +  1  +  (T^e - C) / (C (2^e - 1))      the last two if T > x,      for x >= 1,
        (T^e - 1) / (C (2^e - 1))                                                            for x < 1,

    and one more has begun and not ended. The paper has C^{1/e} where there is a logarithm here (erratum 38).

    Parameters
    ----------
    pace : float
        C > 0.
    alpha : float
        The power.
    steps : int
        T.

    Examples
    --------
    With C^2 = 5000 and a million steps there are at most 46 episodes; C^2 + 4 sqrt(T)/C is 5057.

    >>> round(ended_by_growth(5000**0.5, 0.5, 10**6), 1)
    46.0
    """
    e = 1.0 - alpha
    crossing = math.pow(pace, 1.0 / e)
    count = 1.0 + math.log2(max(1.0, min(crossing, steps)))
    if steps > crossing:
        count += float(crossing >= 1.0)
        count += (math.pow(steps, e) - max(1.0, pace)) / (pace * (math.pow(2.0, e) - 1.0))
    return count
