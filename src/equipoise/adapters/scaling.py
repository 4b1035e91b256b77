"""Rewards of an environment as outcomes in [0, 1], and back.

Reward k, which lies between low_k and high_k, is the outcome (r_k - low_k) / (high_k - low_k). The ranges are declared
in the environment's `reward_space`, or given. Only where neither is so and everything that can happen is known, they
are the least and the largest of all rewards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._checks import check_float
from equipoise.errors import AdapterError
from equipoise.models.labels import Labels
from equipoise.rewards.base import Reward

ENDED: Final = "episode ended"
_ROUNDING: Final = 1e-6  # of a range; rewards are often of single precision

Ranges = Mapping[Any, tuple[float, float]] | Sequence[tuple[float, float]]


@final
@dataclass(frozen=True)
class Scaling:
    """How the rewards of an environment became outcomes.

    Attributes
    ----------
    names : tuple of str
        What the outcomes are called.
    rewards : tuple of int
        Which component of the reward each outcome is; -1 for the outcome "episode ended".
    low, high : tuple of float
        What an outcome of 0 and of 1 stands for.

    Examples
    --------
    >>> scaling = Scaling(("treasure", "episode ended"), (0, -1), (0.0, 0.0), (20.0, 1.0))
    >>> scaling.original([0.1, 0.25]).tolist(), scaling.returns([0.1, 0.25]).tolist()
    ([2.0, 0.25], [8.0, 1.0])
    """

    names: tuple[str, ...]
    rewards: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def outcomes(self, reward: Sequence[float], ended: bool) -> list[float]:
        """The outcomes of a step; a reward outside of its range is an `AdapterError`.

        Parameters
        ----------
        reward : sequence of float
            All components of the reward.
        ended : bool
            Whether the episode ended.
        """
        found = []
        for name, k, low, high in zip(self.names, self.rewards, self.low, self.high, strict=True):
            r = float(ended) if k < 0 else reward[k]
            if not low - _ROUNDING * (high - low) <= r <= high + _ROUNDING * (high - low):
                raise AdapterError(
                    f"{name} is {r:g}, outside of its range, {low:g} to {high:g}; give ranges={{{k}: ...}}"
                )
            found.append(min(1.0, max(0.0, (r - low) / (high - low))))
        return found

    def original(self, outcomes: ArrayLike) -> NDArray[np.float64]:
        """Averages of outcomes in the environment's own units: the average reward per step.

        Parameters
        ----------
        outcomes : array_like
            One number for each outcome, or rows of them.
        """
        low, high = np.array(self.low), np.array(self.high)
        return np.asarray(low + (high - low) * np.asarray(outcomes, np.float64))

    def returns(self, outcomes: ArrayLike) -> NDArray[np.float64]:
        """The mean return of an episode, E[return] = average reward per step / share of the steps that end one.

        Parameters
        ----------
        outcomes : array_like
            Long-run averages, of which "episode ended" is one.
        """
        if -1 not in self.rewards:
            raise AdapterError(f'there is no outcome "{ENDED}"; ask for it: episodes=True')
        averages = self.original(outcomes)
        return averages / averages[..., self.rewards.index(-1), None]

    def in_units(self, reward: Reward) -> Reward:
        """A reward of averages in the environment's own units, as one of the outcomes.

        Parameters
        ----------
        reward : Reward
            It must be defined on the whole range of the environment's rewards: `Linear`, `Quadratic`,
            `TargetSquared` and `TargetDistance` are. The constraints of a `Constrained` one are then in these units
            too: ``Constraint(Linear([0.0, 1.0]), -5.0)`` for an average of the second reward of at least -5.
        """
        low, high = np.array(self.low), np.array(self.high)
        return reward.of(np.diag(high - low), low)


@dataclass(frozen=True)
class Request:
    """What was asked for: names, ranges, what to leave out, and whether ends are counted."""

    names: Sequence[str] | None
    ranges: Ranges | None
    drop: Sequence[Any]
    episodes: bool
    declared: tuple[NDArray[np.float64], NDArray[np.float64]] | None

    def scaling(self, least: Sequence[float] | None, largest: Sequence[float] | None) -> Scaling:
        """Decide the ranges."""
        if self.declared is not None and (least is None or len(least) == len(self.declared[0])):
            low, high = (np.array(bound, np.float64) for bound in self.declared)
        elif least is not None and largest is not None:
            low, high = np.array(least, np.float64), np.array(largest, np.float64)
        else:
            given = self.ranges if isinstance(self.ranges, Sequence) else self.names
            low, high = np.full((2, 1 if given is None else len(given)), np.nan)
        names = self._names(low.size)
        for place, (a, b) in self._given(names).items():
            low[place], high[place] = a, b
        dropped = {self._place(key, names, "drop") for key in self.drop}
        kept = [k for k in range(low.size) if k not in dropped]
        for k in kept:
            self._check(k, names[k], low[k], high[k])
        names, lowest, highest = [names[k] for k in kept], low[kept].tolist(), high[kept].tolist()
        if self.episodes:
            names, kept, lowest, highest = [*names, ENDED], [*kept, -1], [*lowest, 0.0], [*highest, 1.0]
        if not kept:
            raise AdapterError("drop: nothing is left; at least one component of the reward is needed")
        return Scaling(tuple(names), tuple(kept), tuple(lowest), tuple(highest))

    def _names(self, count: int) -> list[str]:
        if self.names is None:
            return ["reward"] if count == 1 else [f"reward {k}" for k in range(count)]
        names = list(self.names)
        if len(names) != count or not all(isinstance(name, str) for name in names):
            raise AdapterError(f"outcomes: got {names}; {count} names are needed, one for each component of the reward")
        Labels(outcomes=names)  # which refuses those that cannot be columns of a log
        return names

    def _given(self, names: list[str]) -> dict[int, tuple[float, float]]:
        if self.ranges is None:
            return {}
        if isinstance(self.ranges, Mapping):
            pairs = {self._place(key, names, "ranges"): pair for key, pair in self.ranges.items()}
        else:
            pairs = dict(enumerate(self.ranges))
            if len(pairs) != len(names):
                raise AdapterError(f"ranges: got {len(pairs)}; {len(names)} are needed, or a mapping of some")
        return {k: _pair(pair, f"ranges, {names[k]}") for k, pair in pairs.items()}

    def _place(self, key: Any, names: list[str], what: str) -> int:
        if key in names:
            return names.index(key)
        if isinstance(key, int | np.integer) and 0 <= key < len(names):
            return int(key)
        raise AdapterError(f"{what}: got {key!r}; the components of the reward are {names}, numbers from 0")

    def _check(self, k: int, name: str, low: float, high: float) -> None:
        ways = f"give ranges={{{k}: (low, high)}}, what it can be, or drop=[{k}], to leave it out"
        if np.isnan(low) or np.isnan(high):
            raise AdapterError(f"{name}: the environment does not declare its range; {ways}")
        if not (np.isfinite(low) and np.isfinite(high)):
            raise AdapterError(f"{name}: its range is declared as {low:g} to {high:g}, which is infinite; {ways}")
        if not low < high:
            raise AdapterError(f"{name}: it is always {low:g}, so there is nothing to control; {ways}")


def declared_ranges(env: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The lower and upper bounds of the reward that an environment declares; None if it declares nothing."""
    space = getattr(env.unwrapped, "reward_space", None)
    if space is None or not hasattr(space, "low"):
        return None
    return np.ravel(space.low).astype(np.float64), np.ravel(space.high).astype(np.float64)


def _pair(pair: Any, name: str) -> tuple[float, float]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise AdapterError(f"{name}: got {pair!r}; two numbers are needed, (low, high)") from None
    low, high = check_float(low, name, error=AdapterError), check_float(high, name, error=AdapterError)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise AdapterError(f"{name}: got ({low:g}, {high:g}); two finite numbers are needed, the lower one first")
    return low, high
