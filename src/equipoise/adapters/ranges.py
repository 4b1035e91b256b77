"""From the vector rewards of an environment to outcomes in [0, 1]: (reward - low) / (high - low), from known ranges.

The ranges are those that the user gives, or else those that the environment declares in `reward_space`, as
MO-Gymnasium's do. An infinite range, and one without width, is refused and never guessed. Rewards of an environment
that declares nothing are taken as they are, and must lie in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._numbers import real, whole
from equipoise.errors import AdapterError

_ROUNDING: Final = 1e-6  # of the range: declared in single precision, paid in double, or the reverse


@final
class OutcomeRanges:
    """The range of each reward of an environment, and which of them are outcomes.

    Parameters
    ----------
    env : gymnasium.Env
        Whose `reward_space` is read.
    ranges : sequence of pairs, optional
        (low, high) of each reward, in the place of what is declared; None in the place of a pair: as declared.
    drop : sequence of int
        Rewards that are no outcomes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> scales = OutcomeRanges(SimpleNamespace(), ranges=[(0, 10), (-1, 1), (0, 1)], drop=[2])
    >>> scales.outcomes([5.0, -1.0, 7.0]).tolist()
    [0.5, 0.0]
    """

    def __init__(
        self, env: Any, ranges: Sequence[tuple[float, float] | None] | None = None, drop: Sequence[int] = ()
    ) -> None:
        declared = _declared(env)
        given = list(ranges) if ranges is not None else [None] * (0 if declared is None else len(declared))
        if declared is not None and len(given) != len(declared):
            raise AdapterError(f"ranges: got {len(given)}; the environment has {len(declared)} rewards")
        self.n_rewards: int | None = len(given) or None  # None: nothing is known
        left_out = {whole(k, "drop", 0, max(0, len(given) - 1), error=AdapterError) for k in drop}
        if left_out and self.n_rewards is None:
            raise AdapterError("drop: the environment declares no reward_space; give ranges= as well")
        self._kept = [k for k in range(len(given)) if k not in left_out]
        if self.n_rewards is not None and not self._kept:
            raise AdapterError("drop: no outcome is left")
        pairs = [_checked(k, given[k], None if declared is None else declared[k]) for k in self._kept]
        self._low = np.array([low for low, _ in pairs])
        self._width = np.array([high - low for low, high in pairs])

    @property
    def n_outcomes(self) -> int | None:
        """How many outcomes there are; None if nothing was declared or given."""
        return None if self.n_rewards is None else len(self._kept)

    def outcomes(self, reward: ArrayLike) -> NDArray[np.float64]:
        """A vector reward as outcomes in [0, 1].

        Parameters
        ----------
        reward : array-like
            What the environment paid.

        Raises
        ------
        AdapterError
            When it is not such a vector, or leaves its range.
        """
        try:
            vector = np.asarray(reward, dtype=np.float64)
        except (TypeError, ValueError):
            raise AdapterError(f"reward: got {reward!r}; a vector of numbers is needed") from None
        if vector.ndim != 1:
            raise AdapterError(f"reward: got {reward!r}; a vector is needed, as MO-Gymnasium's environments pay it")
        if self.n_rewards is not None:
            if vector.size != self.n_rewards:
                raise AdapterError(f"reward: got {vector.size} numbers; {self.n_rewards} are declared or given")
            vector = (vector[self._kept] - self._low) / self._width
        inside = (vector >= -_ROUNDING) & (vector <= 1.0 + _ROUNDING)
        if not inside.all():
            self._refuse(np.asarray(reward, dtype=np.float64), int(np.flatnonzero(~inside)[0]))
        return np.clip(vector, 0.0, 1.0)

    def _refuse(self, reward: NDArray[np.float64], place: int) -> None:
        if self.n_rewards is None:
            raise AdapterError(
                f"reward {place}: got {reward[place]}; the environment declares no reward_space, so that rewards must "
                "lie in [0, 1]; give ranges=[(low, high), ...]"
            )
        k, low = self._kept[place], self._low[place]
        raise AdapterError(
            f"reward {k}: got {reward[k]}; it must lie in its range [{low:g}, {low + self._width[place]:g}]; give "
            "ranges= if what the environment declares is wrong"
        )


def _declared(env: Any) -> list[tuple[float, float]] | None:
    """The bounds in `reward_space`, wherever among the wrappers it is."""
    get = getattr(env, "get_wrapper_attr", None)
    try:
        space = env.reward_space if get is None else get("reward_space")
    except AttributeError:
        return None
    low, high = (np.atleast_1d(np.asarray(bound, dtype=np.float64)) for bound in (space.low, space.high))
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _checked(k: int, given: tuple[float, float] | None, declared: tuple[float, float] | None) -> tuple[float, float]:
    pair = given if given is not None else declared
    if pair is None:
        raise AdapterError(
            f"ranges[{k}]: got None, and the environment declares no reward_space; (low, high) is needed"
        )
    try:
        low, high = (real(bound, f"ranges[{k}]", error=AdapterError) for bound in pair)
    except (TypeError, ValueError):
        raise AdapterError(f"ranges[{k}]: got {pair!r}; (low, high) is needed") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        whose = "the environment declares" if given is None else "got"
        raise AdapterError(
            f"reward {k}: {whose} the range [{low:g}, {high:g}]; a finite one of some width is needed: give "
            f"ranges=[(low, high), ...], or leave it out by drop=[{k}]"
        )
    return low, high
