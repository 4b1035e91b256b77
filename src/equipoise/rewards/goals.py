r"""Goals in the user's own words: averages of outcomes, and shares of one outcome in another.

A share x / y of two averages is not a concave function of them. That it is at least z is a linear condition,
x - z y >= 0, and so it has a direct form. With r the usual size of y,

    z + (x - z y) / r

is at least z exactly if the share is, and is the share itself where y = r. A goal for a plain average needs no change.
The reward is `TargetSquared` of these images: 1 - the mean of the squares of what they lack to their goals. What has
been reached is told as shares again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._numbers import real
from equipoise._words import nearest
from equipoise.errors import RewardError
from equipoise.rewards.affine import Affine
from equipoise.rewards.base import checked_vector
from equipoise.rewards.target_squared import TargetSquared

if TYPE_CHECKING:
    import polars

Share = tuple[str, str]


@final
class Goals:
    """Goals for averages of outcomes and for shares of one in another.

    Parameters
    ----------
    outcomes : sequence of str
        The names of the world's outcomes, as in ``space.outcome_names()``.
    goals : mapping
        From the name of an outcome, or from (part, whole) for the share of one in another, to the least that is wanted.
    usual : mapping, optional
        About how large the average of a whole is, by its name; 1 if it is not told. It sets the scale on which a
        missing share is weighed, and nothing else.

    Attributes
    ----------
    reward : Affine
        What an agent maximises: 1 - the mean of the squares of what is missing. It is 1 if all goals are met.

    Raises
    ------
    RewardError
        Naming the goal that is wrong.

    Examples
    --------
    >>> goals = Goals(["seen", "in time", "rest"], {("in time", "seen"): 0.9, "rest": 0.5}, usual={"seen": 0.2})
    >>> goals.reward.value([0.2, 0.18, 0.5]), goals.reward.value([0.1, 0.09, 0.7])
    (1.0, 1.0)
    >>> goals.table([0.25, 0.1875, 0.4]).rows()
    [('in time / seen', 0.9, 0.75), ('rest', 0.5, 0.4)]
    """

    def __init__(
        self,
        outcomes: Sequence[str],
        goals: Mapping[str | Share, float],
        usual: Mapping[str, float] | None = None,
    ) -> None:
        if isinstance(outcomes, str) or not all(isinstance(name, str) for name in outcomes):
            raise RewardError(f"outcomes: got {outcomes!r}; their names are needed")
        self.outcomes = tuple(outcomes)
        if not isinstance(goals, Mapping) or not goals:
            raise RewardError(f"goals: got {goals!r}; a mapping from outcomes, or pairs of them, to goals is needed")
        self._parts = [self._places(key) for key in goals]
        self._wanted = np.array([_between(z, f"goals, {_written(key)}") for key, z in goals.items()])
        sizes = {}
        for name, size in (usual or {}).items():
            sizes[self._place(name, "usual")] = _between(size, f"usual, {name}")
            if sizes[self._place(name, "usual")] == 0.0:
                raise RewardError(f"usual, {name}: got 0; a whole of that size has no shares")
        matrix, offset = np.zeros((len(goals), len(self.outcomes))), np.zeros(len(goals))
        for i, ((part, whole), z) in enumerate(zip(self._parts, self._wanted, strict=True)):
            if whole is None:
                matrix[i, part] = 1.0
            else:
                matrix[i, part] += 1.0 / sizes.get(whole, 1.0)
                matrix[i, whole] -= z / sizes.get(whole, 1.0)
                offset[i] = z
        self._names = [_written(key) for key in goals]
        self.reward: Affine = TargetSquared(self._wanted).of(matrix, offset)

    def table(self, outcomes: ArrayLike) -> polars.DataFrame:
        """What has been reached: one row a goal, with its name, the goal, and the average or the share.

        Parameters
        ----------
        outcomes : array_like
            Average outcomes, as in ``agent.average`` or ``run.outcomes[-1]``.
        """
        import polars

        average = checked_vector(outcomes, "outcomes", len(self.outcomes))
        reached = [
            float(average[part]) if whole is None else _ratio(float(average[part]), float(average[whole]))
            for part, whole in self._parts
        ]
        return polars.DataFrame({"share": self._names, "goal": self._wanted, "reached": reached})

    def _places(self, key: Any) -> tuple[int, int | None]:
        if isinstance(key, tuple):
            if len(key) != 2:
                raise RewardError(f"goals: got {key!r}; a share is a pair (part, whole) of outcomes")
            return self._place(key[0], "goals"), self._place(key[1], "goals")
        return self._place(key, "goals"), None

    def _place(self, name: Any, where: str) -> int:
        if name not in self.outcomes:
            raise RewardError(
                f"{where}: there is no outcome {name!r}{nearest(str(name), self.outcomes)}; they are "
                f"{', '.join(self.outcomes)}"
            )
        return self.outcomes.index(name)

    def __repr__(self) -> str:
        wanted = zip(self._names, self._wanted.tolist(), strict=True)
        return f"Goals({', '.join(f'{name} >= {z:g}' for name, z in wanted)})"


def _written(key: Any) -> str:
    return " / ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _between(x: Any, name: str) -> float:
    number = real(x, name, error=RewardError)
    if not 0.0 <= number <= 1.0:
        raise RewardError(f"{name}: got {number}; it must lie in [0, 1]")
    return number


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else float("nan")
