"""Sum over i of c_i g_i(w), c_i > 0: several goals at once, each with what it is worth.

A supergradient is the sum of c_i times those of the parts. The constants are those of the parts added up, after they
are put into one norm (see `norms.stretch`): the one that all parts have, or the Euclidean one if they differ, or the
one that is asked for. They are upper bounds. g is smooth if all parts are, piecewise linear if all are. If every part
states a simplex of its supergradients, base_i + sum_j lambda_ij scale_ij e_c(ij), the sum lies in

    sum_i c_i base_i  +  the simplex of the vertices  (M / M_i) scale_ij e_c(ij),

M_i = max_j |scale_ij|, M = sum_i c_i M_i, with the weights (c_i M_i / M) lambda_ij.

The conjugate is exact where all parts but one are linear: with their weights c, that of c_1 g_1(w) + c.w has its
maximiser at that of g_1 for (theta + c) / c_1. Otherwise it is iterated for (`_composed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numba import carray
from numpy.typing import ArrayLike

from equipoise._compile import entry, stack_floats
from equipoise._types import Vector
from equipoise.rewards._composed import (
    ON_STACK,
    Composed,
    common_norm,
    fixed_rewards,
    iterated_argmax,
    lipschitz_in,
    lipschitz_of_each,
    merged,
    n_parts,
    own_numbers,
    part_argmax,
    part_gradient,
    part_value,
    positive_weights,
    simplex_of,
    smoothness_in,
)
from equipoise.rewards.base import Reward, RewardKernels, Vertices, read_only
from equipoise.rewards.linear import Linear

if TYPE_CHECKING:
    import cvxpy

# The own numbers are the weights; where the conjugate is exact, then the part that is not linear, and the others' sum.


@entry
def _value(t, n, w, params, out):  # type: ignore[no-untyped-def]
    weights, number = own_numbers(params), stack_floats(1)
    total = 0.0
    for i in range(n_parts(params)):
        part_value(i, t, n, w, params, number)
        total += weights[i] * number[0]
    out[0] = total


@entry
def _gradient(t, n, w, params, out):  # type: ignore[no-untyped-def]
    weights = own_numbers(params)
    slope = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    for k in range(n):
        out[k] = 0.0
    for i in range(n_parts(params)):
        part_gradient(i, t, n, w, params, slope)
        for k in range(n):
            out[k] += weights[i] * slope[k]


@entry
def _shifted_argmax(t, n, theta, params, out):  # type: ignore[no-untyped-def]
    own, parts = own_numbers(params), n_parts(params)
    curved = int(own[parts])
    inner = carray(stack_floats(n), n) if n <= ON_STACK else np.empty(n)
    for k in range(n):
        inner[k] = (theta[k] + own[parts + 1 + k]) / own[curved]
    part_argmax(curved, t, n, inner, params, out)


_ITERATED: Final = RewardKernels(_value, _gradient, iterated_argmax)
_SHIFTED: Final = RewardKernels(_value, _gradient, _shifted_argmax)


@final
class Sum(Composed):
    """A sum of rewards with positive weights.

    Parameters
    ----------
    rewards : sequence of Reward
        The parts, all of the same outcomes; none may change with time.
    weights : array_like, optional
        One positive number for each; by default 1.
    norm : float, optional
        The norm that `lipschitz` and `smoothness` refer to: 1, 2 or infinity. By default that of the parts, or 2 if
        they differ.

    Raises
    ------
    RewardError
        Naming the part or the weight that will not do.

    Examples
    --------
    The sum of all outcomes, and the least of them twice.

    >>> from equipoise.rewards import BottomSum, Linear
    >>> g = Sum([Linear([1.0, 1.0]), BottomSum(2, kappa=1)], [1.0, 2.0])
    >>> g.value([0.5, 0.25]), g.gradient([0.5, 0.25]).tolist()
    (1.25, [1.0, 3.0])
    >>> g.exact_conjugate, g.conjugate_argmax([-1.5, -2.0]).tolist()
    (True, [1.0, 1.0])
    """

    def __init__(self, rewards: Sequence[Reward], weights: ArrayLike | None = None, norm: float | None = None) -> None:
        self.rewards = fixed_rewards(rewards, "rewards")
        self._weights = positive_weights(weights, len(self.rewards), "weights")
        self.n_outcomes = self.rewards[0].n_outcomes
        self.norm = common_norm(self.rewards, norm)
        self.lipschitz = float(sum(c * lipschitz_in(part, self.norm) for c, part in self._terms))
        bends = [smoothness_in(part, self.norm) for part in self.rewards]
        known = [c * bend for c, bend in zip(self._weights.tolist(), bends, strict=True) if bend is not None]
        self.smoothness = float(sum(known)) if len(known) == len(bends) else None
        self.piecewise_linear = all(part.piecewise_linear for part in self.rewards)
        self.separable = all(part.separable for part in self.rewards)
        self.vertices = self._simplex()
        curved = [i for i, part in enumerate(self.rewards) if not isinstance(part, Linear)] or [0]
        self._curved = curved[0]
        self.exact_conjugate = len(curved) == 1 and self.rewards[self._curved].exact_conjugate

    @property
    def weights(self) -> Vector:
        """One positive number for each part."""
        return read_only(self._weights)

    @property
    def parts(self) -> tuple[Reward, ...]:
        """The rewards that are added up."""
        return self.rewards

    @property
    def numbers(self) -> Vector:
        """The weights; and where the conjugate is exact, the part that is not linear and the sum of the others."""
        if not self.exact_conjugate:
            return self._weights
        rest = np.zeros(self.n_outcomes)
        for i, (c, part) in enumerate(self._terms):
            if i != self._curved and isinstance(part, Linear):
                rest += c * part.weights
        return np.concatenate([self._weights, [float(self._curved)], rest])

    @property
    def kernels(self) -> RewardKernels:
        """The compiled entries."""
        return _SHIFTED if self.exact_conjugate else _ITERATED

    def lipschitz_on(self, low: Vector, high: Vector) -> float | None:
        """The sum of those of the parts; None if one of them is None.

        Parameters
        ----------
        low, high : float arrays
            The corners of the box.
        """
        each = lipschitz_of_each(self.rewards, self.norm, low, high)
        return None if each is None else float(self._weights @ each)

    def within(self, low: ArrayLike, high: ArrayLike) -> Sum:
        """The sum of the parts within the box; see `Reward.within`.

        Parameters
        ----------
        low, high : array_like
            The corners of the box.
        """
        return Sum([part.within(low, high) for part in self.rewards], self._weights, self.norm)

    def concave_expression(self, w: cvxpy.Expression) -> cvxpy.Expression:
        """The sum of the expressions."""
        import cvxpy

        return cvxpy.sum([c * part.concave_expression(w) for c, part in self._terms])

    @property
    def _terms(self) -> list[tuple[float, Reward]]:
        return list(zip(self._weights.tolist(), self.rewards, strict=True))

    def _simplex(self) -> Vertices | None:
        base = np.zeros(self.n_outcomes)
        simplices: list[tuple[float, Vertices]] = []
        for c, part in self._terms:
            simplex = simplex_of(part)
            if simplex is None:
                return None
            base += c * simplex.base
            simplices.append((c * float(np.abs(simplex.scale).max()), simplex))
        reach = sum(own for own, _ in simplices)
        moving = [(c, simplex) for c, simplex in simplices if c > 0.0]
        if not moving:
            return None
        scales = [reach * simplex.scale / np.abs(simplex.scale).max() for _, simplex in moving]
        return merged(base, [simplex.coordinate for _, simplex in moving], scales)
