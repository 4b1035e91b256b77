"""The minimum over i of g_i(w): the goal that is worst served counts.

A supergradient is that of the part that is smallest, the first of them; all lie in the hull of those of the parts. So L
is the largest of the parts' constants in one norm, see `Sum`. It is not smooth, unless there is one part only.
If every part states a simplex of its supergradients with the base zero, the simplex of all their vertices holds them;
the weights of a linear part are such a mixture.

The conjugate is iterated for, see `_composed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike

from equipoise._compile import entry, stack_floats
from equipoise._types import Vector
from equipoise.rewards._composed import (
    Composed,
    common_norm,
    fixed_rewards,
    iterated_argmax,
    lipschitz_in,
    lipschitz_of_each,
    merged,
    n_parts,
    part_gradient,
    part_value,
    simplex_from_zero,
    smoothness_in,
)
from equipoise.rewards.base import Reward, RewardKernels, Vertices

if TYPE_CHECKING:
    import cvxpy


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    number = stack_floats(1)
    part_value(0, t, n, w, params, out)
    for i in range(1, n_parts(params)):
        part_value(i, t, n, w, params, number)
        # written so that a part that is not a number is the minimum, and is noticed
        if not number[0] >= out[0]:
            out[0] = number[0]


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    number = stack_floats(1)
    part_value(0, t, n, w, params, number)
    least, where = number[0], 0
    for i in range(1, n_parts(params)):
        part_value(i, t, n, w, params, number)
        if not number[0] >= least:
            least, where = number[0], i
    part_gradient(where, t, n, w, params, out)


_KERNELS: Final = RewardKernels(_value, _gradient, iterated_argmax)


@final
class Minimum(Composed):
    """The least of several rewards.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts, all of the same outcomes; none may change with time.
    norm : float, optional
        The norm that `lipschitz` refers to: 1, 2 or infinity. By default that of the parts, or 2 if they differ.

    Raises
    ------
    RewardError
        Naming the part that will not do.

    Examples
    --------
    The first outcome counts twice as much as the second.

    >>> from equipoise.rewards import Linear
    >>> g = Minimum([Linear([0.5, 0.0]), Linear([0.0, 1.0])])
    >>> g.value([0.5, 0.5]), g.gradient([0.5, 0.5]).tolist(), g.lipschitz
    (0.25, [0.5, 0.0], 1.0)
    """

    def __init__(self, rewards: Sequence[Reward], norm: float | None = None) -> None:
        self.rewards = fixed_rewards(rewards, "rewards")
        self.n_outcomes = self.rewards[0].n_outcomes
        self.norm = common_norm(self.rewards, norm)
        self.lipschitz = max(lipschitz_in(part, self.norm) for part in self.rewards)
        self.smoothness = smoothness_in(self.rewards[0], self.norm) if len(self.rewards) == 1 else None
        self.piecewise_linear = all(part.piecewise_linear for part in self.rewards)
        self.vertices = self._simplex()

    @property
    def parts(self) -> tuple[Reward, ...]:
        """The rewards of which it is the least."""
        return self.rewards

    @property
    def numbers(self) -> Vector:
        """None."""
        return np.zeros(0)

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _KERNELS

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """The largest of those of the parts; None if one of them is None.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        each = lipschitz_of_each(self.rewards, self.norm, low, high)
        return None if each is None else max(each)

    def within(self, low: ArrayLike, high: ArrayLike) -> Minimum:
        """The minimum of the parts within the box; see `Reward.within`.

        Parameters
        ----------
        low, high : array_like
            The corners of the box.
        """
        return Minimum([part.within(low, high) for part in self.rewards], self.norm)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The minimum of the expressions."""
        import cvxpy

        return cvxpy.min(cvxpy.hstack([part.concave_expression(w) for part in self.rewards]))

    def _simplex(self) -> Vertices | None:
        simplices = [simplex_from_zero(part) for part in self.rewards]
        found = [simplex for simplex in simplices if simplex is not None]
        if len(found) < len(simplices) or not any(simplex.scale.any() for simplex in found):
            return None
        return merged(
            np.zeros(self.n_outcomes), [simplex.coordinate for simplex in found], [simplex.scale for simplex in found]
        )
