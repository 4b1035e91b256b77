r"""Numbers that change from episode to episode: the threshold Q_m and the tolerance of the plans.

`Power`   scale tau(m)^exponent
`Span`    factor max(L, span of the bias of plan m), with 1 for L if g has no such constant. The theory's best Q is L D,
          and the span, at most L ||1_K|| D where the regions hold the truth, is what the agent itself knows of it.

A number in the place of a schedule is constant; a threshold of infinity is UCRL2's schedule, visits alone.

What is guaranteed. The proofs use the threshold twice: no step is steered by a theta that is farther than Q from the
present one, summed over an episode, and an episode ended by theta has moved by more than Q. So with Q_m between a and b
the bounds on the delays hold with b in the place of Q, and those on the number of episodes with a.
"""

from __future__ import annotations

import abc
import math
from typing import NamedTuple, final

from equipoise._component import Component
from equipoise._numbers import real
from equipoise.errors import ParameterError
from equipoise.rewards.base import Reward


class Rule(NamedTuple):
    """What a schedule is to the compiled loop: scale tau^exponent, times max(floor, span of the bias) if floor > 0."""

    scale: float
    exponent: float = 0.0
    floor: float = 0.0


class Schedule(Component, abc.ABC):
    """A rule for one number an episode."""

    @abc.abstractmethod
    def rule(self, unit: float) -> Rule:
        """The numbers of the rule.

        Parameters
        ----------
        unit : float
            The scale by default: L for a threshold, 1 for a tolerance.
        """


@final
class Power(Schedule):
    """A power of the time at which the episode starts.

    Parameters
    ----------
    exponent : float
        Positive: it grows; negative: it shrinks.
    scale : float, optional
        None: L for a threshold, 1 for a tolerance.

    See Also
    --------
    equipoise.agents.Span : By the span of the plan.

    Examples
    --------
    >>> Power(-0.5)
    Power(exponent=-0.5, scale=None)
    """

    def __init__(self, exponent: float, scale: float | None = None) -> None:
        self.exponent = real(exponent, "exponent", error=ParameterError)
        if not -10 <= self.exponent <= 10:
            raise ParameterError(f"exponent: got {exponent}; it must lie in [-10, 10]")
        self.scale = None if scale is None else real(scale, "scale", error=ParameterError)
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ParameterError(f"scale: got {scale}; a number > 0 is needed, or None")

    def rule(self, unit: float) -> Rule:
        """A power of tau."""
        return Rule(unit if self.scale is None else self.scale, self.exponent)


@final
class Span(Schedule):
    """Proportional to the span of the plan's bias, and to L where that is larger; for thresholds.

    Parameters
    ----------
    factor : float
        1 by default.

    See Also
    --------
    equipoise.agents.Power : By the time.

    Examples
    --------
    >>> Span(0.5)
    Span(factor=0.5)
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = real(factor, "factor", error=ParameterError)
        if not 0 < self.factor < math.inf:
            raise ParameterError(f"factor: got {factor}; a number > 0 is needed")

    def rule(self, unit: float) -> Rule:
        """Proportional to the span, or to L where that is larger; to 1 for an L that is not finite."""
        return Rule(self.factor, floor=unit if unit < math.inf else 1.0)


def checked_threshold(threshold: float | Schedule | None, reward: Reward) -> float | Schedule | None:
    """A threshold that an agent can have, or an error.

    Parameters
    ----------
    threshold : float, Schedule or None
        Q, a rule for it, or None for L.
    reward : Reward
        Whose L it may be.
    """
    if isinstance(threshold, Schedule):
        if not threshold.rule(reward.lipschitz).scale < math.inf:
            raise ParameterError(
                f"threshold: {reward!r} has no Lipschitz constant to scale {threshold!r} by; give a scale"
            )
        return threshold
    if threshold is None:
        return None
    if isinstance(threshold, bool):
        raise ParameterError(f"threshold: got {threshold}; a number, a Power, a Span, or None is needed")
    number = real(threshold, "threshold", error=ParameterError)
    if not number >= 0:
        raise ParameterError(f"threshold: got {threshold}; Q must be a number >= 0, or math.inf")
    return number


def checked_tolerance(tolerance: float | Power | None) -> float | Power | None:
    """A tolerance that an agent can have, or an error.

    Parameters
    ----------
    tolerance : float, Power or None
        At which plans stop, or None for 1/sqrt(tau).
    """
    if tolerance is None or isinstance(tolerance, Power):
        return tolerance
    if isinstance(tolerance, bool | Schedule):
        raise ParameterError(f"tolerance: got {tolerance!r}; a number, a Power, or None is needed")
    number = real(tolerance, "tolerance", error=ParameterError)
    if not 0 < number < math.inf:
        raise ParameterError(f"tolerance: got {tolerance}; a number > 0 is needed, or None for 1/sqrt(tau)")
    return number


def threshold_rule(threshold: float | Schedule | None, lipschitz: float) -> Rule:
    """The numbers of a threshold; None is L.

    Parameters
    ----------
    threshold : float, Schedule or None
        As `checked_threshold` gives it.
    lipschitz : float
        L.
    """
    if isinstance(threshold, Schedule):
        return threshold.rule(lipschitz)
    return Rule(lipschitz if threshold is None else threshold)


def tolerance_rule(tolerance: float | Power | None) -> Rule:
    """The numbers of a tolerance; None is 1/sqrt(tau).

    Parameters
    ----------
    tolerance : float, Power or None
        As `checked_tolerance` gives it.

    Examples
    --------
    >>> tolerance_rule(None)[:2], tolerance_rule(1e-3)[:2]
    ((1.0, -0.5), (0.001, 0.0))
    """
    if tolerance is None:
        return Rule(1.0, -0.5)
    return tolerance.rule(1.0) if isinstance(tolerance, Power) else Rule(tolerance)
