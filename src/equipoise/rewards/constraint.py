"""h(w) >= level: something that the average outcomes have to meet, for a concave h; for `Constrained`.

The set of the w that meet it is convex. Any reward serves as h: `Linear` for a service level or a cost, `BottomSum` for
a floor that every outcome must reach, `TargetDistance` for several targets at once, `Entropy` for diversity,
`Quadratic` for a sum of squares that must stay small, and `reward.of(matrix)` for sums, differences and shares.

`at_least` and `at_most` make the most common one: the average of one outcome has to reach a level, or to stay below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from equipoise._component import Component
from equipoise._numbers import whole
from equipoise._words import nearest
from equipoise.errors import RewardError
from equipoise.models.model import Model
from equipoise.models.space import Space
from equipoise.rewards._composed import fixed_reward
from equipoise.rewards.base import Reward, checked_number
from equipoise.rewards.linear import Linear


@final
class Constraint(Component):
    """What a concave function of the average outcomes must reach.

    Parameters
    ----------
    function : Reward
        h, concave; it may not change with time.
    at_least : float
        The level: h(w) >= at_least.
    name : str, optional
        What multipliers, violations and reports call it; by default its number among the constraints.

    Raises
    ------
    RewardError
        Naming the argument that will not do.

    Examples
    --------
    No outcome may be below 0.25 on average.

    >>> from equipoise.rewards import BottomSum
    >>> fair = Constraint(BottomSum(3, kappa=1), at_least=0.25, name="fair")
    >>> fair.violation([0.5, 0.125, 0.5]), fair.violation([0.5, 0.5, 0.5])
    (0.125, 0.0)
    """

    def __init__(self, function: Reward, at_least: float, name: str | None = None) -> None:
        self.function = fixed_reward(function, "function")
        self.at_least = checked_number(at_least, "at_least")
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise RewardError(f"name: got {name!r}; a few words are needed, or None")
        self.name = name

    def violation(self, w: Sequence[float] | np.ndarray) -> float:
        """What is missing at w: max(0, at_least - h(w)).

        Parameters
        ----------
        w : array_like
            A point of [0,1]^K.
        """
        return max(0.0, self.at_least - self.function.value(w))


def at_least(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None = None
) -> Constraint:
    """The average of one outcome must reach a level.

    Parameters
    ----------
    outcome : int or str
        Which: its number or its label.
    level : float
        The level, in [0, 1].
    outcomes : Model, Space or sequence of str
        Where it is: a world, its space, or the labels of all outcomes.
    name : str, optional
        Of the constraint; by default such as "fill rate at least 0.9".

    Returns
    -------
    Constraint
        For `Constrained`.

    Raises
    ------
    RewardError
        When there is no such outcome, or the level is not in [0, 1].

    See Also
    --------
    equipoise.rewards.at_most : From above.
    equipoise.rewards.Constraint : On any concave function of the averages.

    Examples
    --------
    >>> from equipoise.models import inventory
    >>> constraint = at_least("fill rate", 0.9, inventory())
    >>> constraint.name, constraint.at_least, constraint.function.weights.tolist()
    ('fill rate at least 0.9', 0.9, [1.0, 0.0, 0.0])
    """
    return _bounded(outcome, level, outcomes, name, 1.0)


def at_most(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None = None
) -> Constraint:
    """The average of one outcome must not exceed a level.

    Parameters
    ----------
    outcome : int or str
        Which: its number or its label.
    level : float
        The level, in [0, 1].
    outcomes : Model, Space or sequence of str
        Where it is: a world, its space, or the labels of all outcomes.
    name : str, optional
        Of the constraint; by default such as "waste at most 0.1".

    Returns
    -------
    Constraint
        For `Constrained`.

    Raises
    ------
    RewardError
        When there is no such outcome, or the level is not in [0, 1].

    See Also
    --------
    equipoise.rewards.at_least : From below.
    equipoise.rewards.Constraint : On any concave function of the averages.

    Examples
    --------
    >>> constraint = at_most(1, 0.25, ["work", "waste"])
    >>> constraint.name, constraint.violation([0.5, 0.375])
    ('waste at most 0.25', 0.125)
    """
    return _bounded(outcome, level, outcomes, name, -1.0)


def _bounded(
    outcome: int | str, level: float, outcomes: Model | Space | Sequence[str], name: str | None, sign: float
) -> Constraint:
    if isinstance(outcomes, Model | Space):
        space = outcomes if isinstance(outcomes, Space) else outcomes.space
        names = list(space.outcome_names())
    elif isinstance(outcomes, Sequence) and not isinstance(outcomes, str) and outcomes:
        names = [str(one) for one in outcomes]
    else:
        raise RewardError(f"outcomes: got {outcomes!r}; a world, its space, or the labels of all outcomes are needed")
    if isinstance(outcome, str):
        if outcome not in names:
            listed = ", ".join(repr(one) for one in names)
            raise RewardError(f"outcome: there is no {outcome!r}{nearest(outcome, names)}; there are {listed}")
        index = names.index(outcome)
    else:
        index = whole(outcome, "outcome", 0, len(names) - 1, error=RewardError)
    number = checked_number(level, "level")
    if not 0.0 <= number <= 1.0:
        raise RewardError(f"level: got {number:g}; averages of outcomes lie in [0, 1]")
    weights = np.zeros(len(names))
    weights[index] = sign
    words = f"{names[index]} {'at least' if sign > 0 else 'at most'} {number:g}"
    return Constraint(Linear(weights), sign * number, words if name is None else name)
