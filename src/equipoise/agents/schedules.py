r"""Numbers that change from episode to episode: the threshold Q_m and the tolerance of the plans.

`Power`   scale tau(m)^exponent
`Span`    factor max(L, span of the bias of plan m), with 1 for L if g has no such constant. The theory's best Q is L D,
          and the span is the agent's own estimate of it: at most L ||1_K|| D if the regions contain the true model.

A number instead of a schedule is constant; a threshold of infinity is UCRL2's schedule, visits alone.

Guarantees. The proofs use the threshold twice: within an episode the distances of theta from the one in use sum to at
most Q, but for the last step, and in an episode ended by theta they sum to more than Q. So with Q_m between a and b the
bounds on the delays hold with b instead of Q, and those on the number of episodes with a.
"""

from __future__ import annotations

import abc
import math
from typing import Any, NamedTuple, final

from equipoise._checks import check_float
from equipoise._spec import Component
from equipoise.errors import ParameterError
from equipoise.rewards.base import Reward


class ScheduleRule(NamedTuple):
    """A schedule for the compiled loop: scale tau^exponent, times max(floor, span of the bias) if floor > 0."""

    scale: float
    exponent: float = 0.0
    floor: float = 0.0


class Schedule(Component, abc.ABC):
    """A rule for one number per episode."""

    @abc.abstractmethod
    def rule(self, unit: float) -> ScheduleRule:
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
    Power(exponent=-0.5)
    """

    def __init__(self, exponent: float, scale: float | None = None) -> None:
        self.exponent = check_float(exponent, "exponent", error=ParameterError)
        if not -10 <= self.exponent <= 10:
            raise ParameterError(f"exponent: got {exponent}; it must lie in [-10, 10]")
        self.scale = None if scale is None else check_float(scale, "scale", error=ParameterError)
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ParameterError(f"scale: got {scale}; a number > 0 is needed, or None")

    def rule(self, unit: float) -> ScheduleRule:
        """A power of tau."""
        return ScheduleRule(unit if self.scale is None else self.scale, self.exponent)


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
        self.factor = check_float(factor, "factor", error=ParameterError)
        if not 0 < self.factor < math.inf:
            raise ParameterError(f"factor: got {factor}; a number > 0 is needed")

    def rule(self, unit: float) -> ScheduleRule:
        """Proportional to the span, or to L where that is larger; to 1 for an L that is not finite."""
        return ScheduleRule(self.factor, floor=unit if unit < math.inf else 1.0)


def check_threshold(threshold: float | Schedule | None, reward: Reward) -> float | Schedule | None:
    """The threshold as given, if it is a possible one."""
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
    number = check_float(threshold, "threshold", error=ParameterError)
    if not number >= 0:
        raise ParameterError(f"threshold: got {threshold}; Q must be a number >= 0, or math.inf")
    return number


def check_tolerance(tolerance: float | Power | None) -> float | Power | None:
    """The tolerance as given, if it is a possible one."""
    if tolerance is None or isinstance(tolerance, Power):
        return tolerance
    if isinstance(tolerance, bool | Schedule):
        raise ParameterError(f"tolerance: got {tolerance!r}; a number, a Power, or None is needed")
    number = check_float(tolerance, "tolerance", error=ParameterError)
    if not 0 < number < math.inf:
        raise ParameterError(f"tolerance: got {tolerance}; a number > 0 is needed, or None for 1/sqrt(tau)")
    return number


def check_growth(visits: float) -> float:
    """The factor for visits as a number, if it is a possible one."""
    growth = 0.0 if isinstance(visits, bool) else check_float(visits, "visits", error=ParameterError)
    if not 0 < growth <= 1:
        raise ParameterError(f"visits: got {visits}; a factor above 0 and at most 1, which is doubling, is needed")
    return growth


def with_growth(arguments: dict[str, Any], growth: float) -> dict[str, Any]:
    """The arguments of an agent whose parameter `visits` is kept under another name, as `visits` are its counts."""
    given = {name: value for name, value in arguments.items() if name != "visits"}
    return given if growth == 1.0 else given | {"visits": growth}


def threshold_rule(threshold: float | Schedule | None, lipschitz: float) -> ScheduleRule:
    """The numbers of a threshold; None is L."""
    if isinstance(threshold, Schedule):
        return threshold.rule(lipschitz)
    return ScheduleRule(lipschitz if threshold is None else threshold)


def tolerance_rule(tolerance: float | Power | None) -> ScheduleRule:
    """The numbers of a tolerance; None is 1/sqrt(tau)."""
    if tolerance is None:
        return ScheduleRule(1.0, -0.5)
    return tolerance.rule(1.0) if isinstance(tolerance, Power) else ScheduleRule(tolerance)
