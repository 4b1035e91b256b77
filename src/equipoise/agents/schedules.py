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
from collections.abc import Mapping
from typing import Any, final

from equipoise._numbers import real
from equipoise.errors import ParameterError
from equipoise.rewards.base import Reward


class Schedule(abc.ABC):
    """A rule for one number an episode."""

    @abc.abstractmethod
    def arguments(self) -> Mapping[str, Any]:
        """The constructor's arguments."""

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.arguments().items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.arguments() == getattr(other, "arguments", dict)()

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self.arguments().items()))


@final
class Power(Schedule):
    """A power of the time at which the episode starts.

    Parameters
    ----------
    exponent : float
        Positive: it grows; negative: it shrinks.
    scale : float, optional
        None: L for a threshold, 1 for a tolerance.

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

    def arguments(self) -> Mapping[str, Any]:
        """Exponent and scale."""
        return {"exponent": self.exponent, "scale": self.scale}


@final
class Span(Schedule):
    """Proportional to the span of the plan's bias, and to L where that is larger; for thresholds.

    Parameters
    ----------
    factor : float
        1 by default.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = real(factor, "factor", error=ParameterError)
        if not 0 < self.factor < math.inf:
            raise ParameterError(f"factor: got {factor}; a number > 0 is needed")

    def arguments(self) -> Mapping[str, Any]:
        """The factor."""
        return {"factor": self.factor}


def checked_threshold(threshold: float | Schedule | None, reward: Reward) -> float | Schedule | None:
    """A threshold that an agent can have, or an error."""
    if isinstance(threshold, Power) and threshold.scale is None and not reward.lipschitz < math.inf:
        raise ParameterError(f"threshold: {reward!r} has no Lipschitz constant to scale {threshold!r} by; give a scale")
    if threshold is None or isinstance(threshold, Power | Span):
        return threshold
    if isinstance(threshold, bool):
        raise ParameterError(f"threshold: got {threshold}; a number, a Power, a Span, or None is needed")
    found = real(threshold, "threshold", error=ParameterError)
    if not found >= 0:
        raise ParameterError(f"threshold: got {threshold}; Q must be a number >= 0, or math.inf")
    return found


def checked_tolerance(tolerance: float | Power | None) -> float | Power | None:
    """A tolerance that an agent can have, or an error."""
    if tolerance is None or isinstance(tolerance, Power):
        return tolerance
    if isinstance(tolerance, bool | Schedule):
        raise ParameterError(f"tolerance: got {tolerance!r}; a number, a Power, or None is needed")
    found = real(tolerance, "tolerance", error=ParameterError)
    if not 0 < found < math.inf:
        raise ParameterError(f"tolerance: got {tolerance}; a number > 0 is needed, or None for 1/sqrt(tau)")
    return found


def threshold_rule(threshold: float | Schedule | None, lipschitz: float) -> tuple[float, float, float]:
    """Scale, exponent, and the floor of the span, or 0 if the span plays no part."""
    if isinstance(threshold, Power):
        return lipschitz if threshold.scale is None else threshold.scale, threshold.exponent, 0.0
    if isinstance(threshold, Span):
        return threshold.factor, 0.0, lipschitz if lipschitz < math.inf else 1.0
    assert not isinstance(threshold, Schedule)
    return lipschitz if threshold is None else threshold, 0.0, 0.0


def tolerance_rule(tolerance: float | Power | None) -> tuple[float, float]:
    """Scale and exponent.

    >>> tolerance_rule(None), tolerance_rule(1e-3)
    ((1.0, -0.5), (0.001, 0.0))
    """
    if tolerance is None:
        return 1.0, -0.5
    if isinstance(tolerance, Power):
        return 1.0 if tolerance.scale is None else tolerance.scale, tolerance.exponent
    return tolerance, 0.0
