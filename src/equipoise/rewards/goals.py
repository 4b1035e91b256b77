"""Goals for averages of outcomes, and for shares of one outcome in another.

A share x / y of two averages is not a concave function of them, but that it is at least z is a linear condition,
x - z y >= 0. With r the usual size of y,

    z + (x - z y) / r

is at least z exactly if the share is, and is the share itself where y = r. The reward is `TargetSquared` of these
images, 1 - the mean of the squared shortfalls. Results are reported as shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._checks import suggest
from equipoise.errors import RewardError
from equipoise.rewards.base import checked_unit_number, checked_vector
from equipoise.rewards.images import Affine
from equipoise.rewards.separable import TargetSquared

if TYPE_CHECKING:
    import polars

Share = tuple[str, str]


@final
class Goals:
    """Goals for averages of outcomes and for shares of one in another.

    Parameters
    ----------
    outcomes : sequence of str
        The names of the model's outcomes, as in ``space.outcome_names()``.
    goals : mapping
        From the name of an outcome, or from (part, whole) for the share of one in another, to the least that is wanted.
    usual : mapping, optional
        The approximate average of a whole, by its name; by default 1. It only scales the shortfall of a share.

    Attributes
    ----------
    reward : Affine
        What an agent maximises: 1 - the mean of the squared shortfalls. It is 1 if all goals are met.

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
        self._names = [" / ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in goals]
        self._wanted = np.array(
            [checked_unit_number(z, f"goals, {name}") for name, z in zip(self._names, goals.values(), strict=True)]
        )
        sizes = {}
        for name, size in (usual or {}).items():
            sizes[self._place(name, "usual")] = whole_size = checked_unit_number(size, f"usual, {name}")
            if whole_size == 0.0:
                raise RewardError(f"usual, {name}: got 0; a whole of that size has no shares")
        matrix, offset = np.zeros((len(goals), len(self.outcomes))), np.zeros(len(goals))
        for i, ((part, whole), z) in enumerate(zip(self._parts, self._wanted, strict=True)):
            if whole is None:
                matrix[i, part] = 1.0
            else:
                matrix[i, part] += 1.0 / sizes.get(whole, 1.0)
                matrix[i, whole] -= z / sizes.get(whole, 1.0)
                offset[i] = z
        self.reward = Affine(TargetSquared(self._wanted), matrix, offset)

    def table(self, outcomes: ArrayLike) -> polars.DataFrame:
        """The results: one row per goal, with its name, the goal, and the average or the share.

        Parameters
        ----------
        outcomes : array_like
            Average outcomes, as in ``agent.average`` or ``run.outcomes[-1]``.
        """
        import polars

        average = checked_vector(outcomes, "outcomes", len(self.outcomes)).tolist()
        pairs = [(average[part], 1.0 if whole is None else average[whole]) for part, whole in self._parts]
        reached = [part / whole if whole > 0.0 else math.nan for part, whole in pairs]
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
                f"{where}: there is no outcome {name!r}{suggest(str(name), self.outcomes)}; they are "
                f"{', '.join(self.outcomes)}"
            )
        return self.outcomes.index(name)

    def __repr__(self) -> str:
        wanted = zip(self._names, self._wanted.tolist(), strict=True)
        return f"Goals({', '.join(f'{name} >= {z:g}' for name, z in wanted)})"
