"""Mirror maps for `TunedMirrorDescent` (appendix C.3.1 of the paper).

A mirror map F for (g, ||.||) is 1-strongly convex in the dual norm, and its domain, inside the dual ball of radius L,
holds *minus* every supergradient of g (the paper forgets the minus). The oracle plays

    theta_{t+1} = argmax over theta in dom F of  -theta.(eta Z_t) - F(theta),   Z_t = sum of grad g*(theta_q) - V_q,

with eta = L' / (||1_K|| T^{2/3}) and L'^2 = max F - min F. `value` is F itself, infinite outside its domain. The maps:

=================  =========  ==================================  ==================  =========================
map                norm of g  F                                   L'                  theta_{t+1}
=================  =========  ==================================  ==================  =========================
`EuclideanBall`    2          |theta|^2/2 on the ball L           L / sqrt 2          Proj_L(-eta Z)
`Box`              1          |theta|^2/2 on the box [-L,L]^K     L sqrt(K/2)         clip(-eta Z)
`SignedSimplex`    infinity   L sum x log x, x = -theta, |x|=L    L sqrt(log K)       -L softmax(eta Z / L)
`SlackSimplex`     infinity   M^2 sum lambda log lambda           M sqrt(log J)       see below
`CrossPolytope`    infinity   the same on the vertices +-L e_k    L sqrt(log 2K)      the same
=================  =========  ==================================  ==================  =========================

The last three are one map. A reward states a simplex that holds its supergradients (`Reward.vertices`):
base + sum_j lambda_j scale_j e_c(j). Negative entropy is 1-strongly convex in the 1-norm on the simplex of
lambda, and |theta - theta'|_1 <= M |lambda - lambda'|_1 with M = max |scale|; so M^2 sum lambda log lambda,
minimised over the lambda that represent theta, is 1-strongly convex in theta. Its range is M^2 log J, and
the step is multiplicative weights: lambda_j ~ exp(-(eta / M^2) d_j.Z), d_j = -scale_j e_c(j).
"""

from __future__ import annotations

import abc
import math
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._runtime.compiler import Entry, inlined
from equipoise._spec import Component
from equipoise.errors import OracleError
from equipoise.oracles.base import ROUNDING, mismatch
from equipoise.oracles.frame import accumulate, opened, oracle_entry, project_ball
from equipoise.rewards.base import Reward, Vertices
from equipoise.rewards.norms import dual, ones

_HALVINGS: Final = 60  # of [0, 1]: to the last bit
_TINY: Final = 1e-300


@inlined
def entropic_point(params, slope, weights, theta):  # type: ignore[no-untyped-def]
    """Theta = base + sum_j lambda_j scale_j e_c(j), with lambda_j proportional to exp(-rate scale_j slope_c(j))."""
    n = theta.shape[0]
    rate = params[0]
    vertices = int(params[1])
    highest = -np.inf
    for j in range(vertices):
        weights[j] = -rate * params[2 + n + vertices + j] * slope[int(params[2 + n + j])]
        highest = max(highest, weights[j])
    total = 0.0
    for j in range(vertices):
        weights[j] = np.exp(weights[j] - highest)
        total += weights[j]
    for k in range(n):
        theta[k] = params[2 + k]
    for j in range(vertices):
        theta[int(params[2 + n + j])] += weights[j] / total * params[2 + n + vertices + j]


@oracle_entry
def _in_the_ball(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, eta = step.params[0], step.params[1]
    accumulate(step, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -eta * step.memory[k]
    project_ball(step.theta, radius)


@oracle_entry
def _in_the_box(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, eta = step.params[0], step.params[1]
    accumulate(step, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] = min(radius, max(-radius, -eta * step.memory[k]))


@oracle_entry
def _on_the_simplex(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    n = step.theta.shape[0]
    accumulate(step, step.scratch[:n])
    entropic_point(step.params, step.memory, step.scratch[n:], step.theta)


class MirrorMap(Component, abc.ABC):
    """A strongly convex function on the dual space.

    Attributes
    ----------
    norm : float
        The norm of the rewards that it is for.
    step : Entry
        The compiled step of `TunedMirrorDescent` with this map, declared by `oracle_entry`.
    """

    norm: float
    step: Entry

    @abc.abstractmethod
    def value(self, reward: Reward, theta: ArrayLike) -> NDArray[np.float64]:
        """F up to a constant, one number for each theta; infinity outside its domain, of which 1e-9 L more is allowed.

        Parameters
        ----------
        reward : Reward
            g.
        theta : array_like
            K numbers, or an array of any shape whose last axis has K.
        """

    @abc.abstractmethod
    def radius(self, reward: Reward) -> float:
        """L', the root of the range of F.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The minimiser of F.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def params(self, reward: Reward, eta: float) -> NDArray[np.float64]:
        """The constants of the compiled step.

        Parameters
        ----------
        reward : Reward
            g.
        eta : float
            The learning rate.
        """

    def scratch(self, reward: Reward) -> int:
        """How many numbers the step needs for the moment: K, for the maximiser of the conjugate.

        Parameters
        ----------
        reward : Reward
            g.
        """
        return reward.n_outcomes

    def check(self, reward: Reward) -> None:
        """Raise `OracleError` unless the map fits the reward's norm.

        Parameters
        ----------
        reward : Reward
            g.
        """
        if reward.norm != self.norm or not np.isfinite(reward.lipschitz):
            needs = f"is for rewards that are Lipschitz in the {self.norm}-norm"
            raise mismatch(repr(self), reward, needs, f"declares the {reward.norm}-norm")

    def eta(self, reward: Reward, horizon: int, exponent: float = -2.0 / 3.0) -> float:
        """The learning rate, L' / (||1_K|| T^{2/3}) in the paper.

        Parameters
        ----------
        reward : Reward
            g.
        horizon : int
            T.
        exponent : float
            The power of T, by default the paper's -2/3.
        """
        return float(self.radius(reward) / (ones(reward.n_outcomes, reward.norm) * horizon**-exponent))


class _Squared(MirrorMap):
    """|theta|^2 / 2 on the dual ball of radius L, in the 2-norm or in the infinity norm."""

    def value(self, reward: Reward, theta: ArrayLike) -> NDArray[np.float64]:
        """Half the square of the 2-norm, on the ball."""
        point = _points(reward, theta)
        inside = np.linalg.norm(point, dual(self.norm), axis=-1) <= reward.lipschitz * (1.0 + ROUNDING)
        return np.where(inside, 0.5 * np.sum(point * point, axis=-1), np.inf)

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre."""
        return np.zeros(reward.n_outcomes)

    def params(self, reward: Reward, eta: float) -> NDArray[np.float64]:
        """L and eta."""
        return np.array([reward.lipschitz, eta])


@final
class EuclideanBall(_Squared):
    """F_2: gradient descent with lazy projection.

    Examples
    --------
    >>> from equipoise.rewards import Balance
    >>> reward = Balance([0.5, 0.5])
    >>> EuclideanBall().radius(reward) == reward.lipschitz / 2**0.5
    True
    """

    norm = 2.0
    step = _in_the_ball

    def radius(self, reward: Reward) -> float:
        """L / sqrt 2."""
        return reward.lipschitz / math.sqrt(2.0)


@final
class Box(_Squared):
    """`|theta|^2 / 2` on the box [-L, L]^K, the dual ball of the 1-norm.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> reward = Linear([0.5, -2.0], norm=1)
    >>> reward.lipschitz, Box().radius(reward)
    (2.0, 2.0)
    """

    norm = 1.0
    step = _in_the_box

    def radius(self, reward: Reward) -> float:
        """L sqrt(K / 2)."""
        return reward.lipschitz * math.sqrt(reward.n_outcomes / 2.0)


class EntropicMap(MirrorMap):
    """Negative entropy over the vertices of a simplex; multiplicative weights.

    A map of this kind says which simplex, and nothing else.

    Examples
    --------
    >>> issubclass(SignedSimplex, EntropicMap)
    True
    """

    norm = math.inf
    step = _on_the_simplex

    @abc.abstractmethod
    def vertices(self, reward: Reward) -> Vertices:
        """The simplex that holds the supergradients of the reward.

        Parameters
        ----------
        reward : Reward
            g.
        """

    def value(self, reward: Reward, theta: ArrayLike) -> NDArray[np.float64]:
        """M^2 sum lambda log lambda at the weights that make theta, for a simplex with one vertex per coordinate.

        A map whose simplex has several vertices on one coordinate must say itself which weights it takes.
        """
        base, coordinate, scale = self.vertices(reward)
        point, reach = _points(reward, theta), float(np.abs(scale).max())
        own, slack = np.flatnonzero(scale), int(np.sum(scale == 0.0))
        if np.unique(coordinate[own]).size < own.size:
            raise OracleError(
                f"{self!r}: the vertices of {reward!r} are several on one coordinate, so that theta has several "
                "weights; use CrossPolytope(), or a map with a `value` of its own"
            )
        weights = -(point[..., coordinate[own]] + base[coordinate[own]]) / scale[own]
        rest = 1.0 - np.sum(weights, axis=-1, keepdims=True)
        if slack:
            weights = np.concatenate([weights, np.repeat(rest / slack, slack, axis=-1)], axis=-1)
        still = np.delete(np.arange(point.shape[-1]), coordinate[own])  # where theta cannot move
        inside = np.all(weights >= -ROUNDING, axis=-1) & ((slack > 0) | (np.abs(rest[..., 0]) <= ROUNDING * own.size))
        inside &= np.all(np.abs(point[..., still] + base[still]) <= ROUNDING * reach, axis=-1)
        return np.where(inside, reach**2 * _negative_entropy(weights), np.inf)

    def scratch(self, reward: Reward) -> int:
        """The maximiser of the conjugate, and a weight for each vertex."""
        return reward.n_outcomes + int(self.vertices(reward).scale.size)

    def radius(self, reward: Reward) -> float:
        """M sqrt(log J)."""
        scale = self.vertices(reward).scale
        return float(np.abs(scale).max() * math.sqrt(math.log(scale.size)))

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """Minus the barycentre."""
        simplex = self.vertices(reward)
        theta = -simplex.base.copy()
        np.subtract.at(theta, simplex.coordinate, simplex.scale / simplex.scale.size)
        return theta

    def params(self, reward: Reward, eta: float) -> NDArray[np.float64]:
        """The rate eta / M^2, J, and the vertices of -supergradients."""
        simplex = self.vertices(reward)
        reach = float(np.abs(simplex.scale).max())
        head = [eta / reach**2, float(simplex.scale.size)]
        return np.concatenate([head, -simplex.base, simplex.coordinate.astype(np.float64), -simplex.scale])


@final
class SignedSimplex(EntropicMap):
    """F_inf with the sign put right: theta = -L times softmax weights.

    For rewards whose supergradients are non-negative and sum to L, such as `BottomSum`.

    Examples
    --------
    >>> from equipoise.rewards import BottomSum
    >>> SignedSimplex().initial_theta(BottomSum(4, 2)).tolist()
    [-0.5, -0.5, -0.5, -0.5]
    """

    def check(self, reward: Reward) -> None:
        """Every supergradient must lie on a simplex without slack."""
        super().check(reward)
        if reward.vertices is None or (reward.vertices.scale == 0).any():
            raise mismatch(repr(self), reward, "needs supergradients of constant 1-norm", "has none such")

    def vertices(self, reward: Reward) -> Vertices:
        """The reward's own."""
        assert reward.vertices is not None
        return reward.vertices


@final
class SlackSimplex(EntropicMap):
    """Multiplicative weights with a slack coordinate, for supergradients that may be shorter than L.

    `Knapsack` needs it: its first component is fixed, and the prices of the resources sum to at most 2/b.

    Examples
    --------
    >>> from equipoise.rewards import Knapsack
    >>> SlackSimplex().initial_theta(Knapsack(3, 0.5)).round(6).tolist()
    [-1.0, 1.333333, 1.333333]
    """

    def check(self, reward: Reward) -> None:
        """The reward must state the simplex of its supergradients."""
        super().check(reward)
        if reward.vertices is None:
            raise mismatch(repr(self), reward, "needs a reward that states its vertices", "states none")

    def vertices(self, reward: Reward) -> Vertices:
        """The reward's own, with a slack vertex if it has none."""
        assert reward.vertices is not None
        base, coordinate, scale = reward.vertices
        if (scale == 0).any():
            return reward.vertices
        return Vertices(base, np.append(coordinate, 0), np.append(scale, 0.0))


@final
class CrossPolytope(EntropicMap):
    """Multiplicative weights on +-L e_k, the whole dual ball of the infinity norm: fits any such reward.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> reward = Linear([0.5, -2.0], norm=float("inf"))
    >>> len(CrossPolytope().vertices(reward).scale), CrossPolytope().initial_theta(reward).tolist()
    (4, [0.0, 0.0])
    """

    def value(self, reward: Reward, theta: ArrayLike) -> NDArray[np.float64]:
        """L^2 sum lambda log lambda, minimised over the weights of +-L e_k that make theta.

        With x = theta / L, the weights of +e_k and -e_k are (sqrt(x_k^2 + c^2) +- x_k) / 2, with c such that all sum to
        1: at the minimum their product is c^2 / 4 for all k.
        """
        point = _points(reward, theta)
        L = reward.lipschitz
        if L == 0.0:
            return np.where(np.all(point == 0.0, axis=-1), 0.0, np.inf)
        x = np.abs(point) / L
        low, high = np.zeros((*x.shape[:-1], 1)), np.ones((*x.shape[:-1], 1))
        for _ in range(_HALVINGS):
            c = 0.5 * (low + high)
            more = np.sum(np.hypot(x, c), axis=-1, keepdims=True) > 1.0
            low, high = np.where(more, low, c), np.where(more, c, high)
        both = np.hypot(x, low)
        larger = 0.5 * (both + x)
        smaller = np.where(low > 0.0, 0.25 * low**2 / np.maximum(larger, _TINY), 0.0)  # 0.5 (both - x), no cancelling
        inside = np.sum(x, axis=-1) <= 1.0 + ROUNDING
        return np.where(inside, L**2 * (_negative_entropy(larger) + _negative_entropy(smaller)), np.inf)

    def vertices(self, reward: Reward) -> Vertices:
        """+L e_k and -L e_k."""
        n, L = reward.n_outcomes, reward.lipschitz
        coordinate = np.concatenate([np.arange(n), np.arange(n)])
        return Vertices(np.zeros(n), coordinate, np.concatenate([np.full(n, L), np.full(n, -L)]))


def _points(reward: Reward, theta: ArrayLike) -> NDArray[np.float64]:
    """One theta, or many, each of K finite numbers."""
    points: NDArray[np.float64] = np.asarray(theta, dtype=np.float64)
    if points.ndim < 1 or points.shape[-1] != reward.n_outcomes or not np.all(np.isfinite(points)):
        raise OracleError(f"theta: got an array of shape {points.shape}; {reward.n_outcomes} finite numbers are needed")
    return points


def _negative_entropy(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of w log w over the last axis, with 0 log 0 = 0."""
    positive = np.maximum(weights, 0.0)
    return np.asarray(np.sum(positive * np.log(np.maximum(positive, _TINY)), axis=-1))
