"""What theory knows of an oracle, in one object.

A new oracle has nothing but its step: what is not known of it is None, and bounds that need it are then refused with
an error that says so. Studies run all the same, and say that no bound is known.
"""

from __future__ import annotations

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
