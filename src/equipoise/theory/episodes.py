r"""Bounds on the number of episodes that hold with certainty (lemmas fw_bd_M_brief, fgd_bd_M, tmd_bd_M).

With SA pairs, at most SA (1 + log2 T) episodes are ended by the doubling of visits. Those ended by the
gradient threshold Q > 0 are at most

    FW    3 + Q / (2 beta ||1||) + sqrt(32 beta ||1|| T / Q)
    TGD   3 + (Q / 2L)^{3/4}     + sqrt(9 L / Q) T^{2/3}
    TMD   1 + sqrt(L' / Q) T^{2/3}

A correction to the paper: its first two proofs put j = n - ceil(C^2) - 1 (C^{3/2} for TGD) into a bound in
(j - 1) and then drop the ceiling and one of the ones, so the constant 1 must be 3. The third bound stands, but
not by its proof. With n the length of an episode, the sum of t - tau over its n + 1 terms is n(n + 1)/2, more
than the n^2 / 2 that is used; what saves it is that z = grad g* - V has entries in [-1, 1], so ||z|| <= ||1||
and not 2 ||1||: the inequality is L' n(n + 1)/2 > Q T^{2/3}, and n(n + 1)/2 <= n^2.

The doubling trick adds up the bounds of its mega-episodes. What the paper prints is in `printed`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from equipoise._numbers import real, whole
from equipoise.errors import ParameterError
from equipoise.oracles.base import Oracle, Phase
from equipoise.oracles.frank_wolfe import FrankWolfe
from equipoise.oracles.gradient_descent import TunedGradientDescent
from equipoise.oracles.mirror_descent import TunedMirrorDescent
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


def visit_episodes(n_pairs: int, steps: int) -> float:
    """At most so many episodes end because some pair was visited as often as before (eq. fw_bd_M_nu).

    >>> visit_episodes(3, 8)
    12.0
    """
    pairs = whole(n_pairs, "n_pairs", 1, error=ParameterError)
    return pairs * (1.0 + math.log2(whole(steps, "steps", 1, error=ParameterError)))


def gradient_episodes(reward: Reward, oracle: Oracle, threshold: float, steps: int) -> float:
    """At most so many episodes end because Psi > Q, with certainty; Q > 0."""
    oracle.check(reward)
    Q, T = real(threshold, "threshold", error=ParameterError), whole(steps, "steps", 1, error=ParameterError)
    if not Q > 0:
        raise ParameterError(f"threshold: got {threshold}; the bounds are for Q > 0")
    if math.isinf(Q) or not moves(reward, oracle):
        return 0.0
    if isinstance(oracle, FrankWolfe):
        movement = (reward.smoothness or 0.0) * ones(reward.n_outcomes, reward.norm)
        return 3.0 + Q / (2.0 * movement) + math.sqrt(32.0 * movement * T / Q)
    if isinstance(oracle, TunedGradientDescent):
        L = reward.lipschitz
        return 3.0 + math.pow(Q / (2.0 * L), 0.75) + math.sqrt(9.0 * L / Q) * math.pow(T, 2.0 / 3.0)
    if isinstance(oracle, TunedMirrorDescent):
        reach = oracle.mirror_map.radius(reward)
        return 1.0 + math.sqrt(reach / Q) * math.pow(oracle.horizon, -1.0 / 3.0) * T
    raise ParameterError(f"oracle: no bound is known for {oracle!r}")


def episodes(reward: Reward, oracle: Oracle, threshold: float, n_pairs: int, steps: int) -> float:
    """M(T): at most so many episodes have begun by time `steps`, with certainty.

    One is added to the two counts for the episode that is open at time T.

    >>> from equipoise.rewards import Quadratic
    >>> round(episodes(Quadratic([0.5, 0.5]), FrankWolfe(), 1.0, n_pairs=10, steps=1000), 1)
    326.7
    """
    return sum(
        1.0 + gradient_episodes(reward, phase.oracle, threshold, taken) + visit_episodes(n_pairs, taken)
        for phase, taken in phases(oracle, steps)
    )


def moves(reward: Reward, oracle: Oracle) -> bool:
    """Whether theta can move at all: not if L = 0, nor under Frank-Wolfe if the gradient is constant."""
    return reward.lipschitz > 0.0 and not (isinstance(oracle, FrankWolfe) and reward.smoothness == 0.0)


def phases(oracle: Oracle, steps: int) -> Iterator[tuple[Phase, int]]:
    """The oracle's phases within the first `steps` steps, with the steps that each takes: one, or mega-episodes.

    >>> from equipoise.oracles import Box, Doubling
    >>> [taken for _, taken in phases(Doubling(Box()), 10)]
    [2, 4, 4]
    """
    left, index = whole(steps, "steps", 1, error=ParameterError), 0
    while left > 0:
        index += 1
        phase = oracle.phase(index)
        taken = left if phase.length is None else min(left, phase.length)
        yield phase, taken
        left -= taken
