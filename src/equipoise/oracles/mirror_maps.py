r"""Mirror maps for `TunedMirrorDescent` (appendix C.3.1 of the paper).

A mirror map F for (g, ||.||) is 1-strongly convex in the dual norm, and its domain, inside the dual ball of
radius L, holds *minus* every supergradient of g (the paper forgets the minus). The oracle plays

    theta_{t+1} = argmax over theta in dom F of  -theta.(eta Z_t) - F(theta),   Z_t = sum of grad g*(theta_q) - V_q,

with eta = L' / (||1_K|| T^{2/3}) and L'^2 = max F - min F. The maps here:

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
from typing import final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._component import Component
from equipoise.errors import OracleError
from equipoise.oracles.frame import opened, oracle_entry
from equipoise.oracles.kernels import accumulated, entropic_point, project_ball
from equipoise.rewards.base import Reward, Vertices
from equipoise.rewards.norms import ones


@oracle_entry
def _in_the_ball(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, eta = step.params[0], step.params[1]
    accumulated(step, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] = -eta * step.memory[k]
    project_ball(step.theta, radius)


@oracle_entry
def _in_the_box(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    radius, eta = step.params[0], step.params[1]
    accumulated(step, step.scratch)
    for k in range(step.theta.shape[0]):
        step.theta[k] = min(radius, max(-radius, -eta * step.memory[k]))


@oracle_entry
def _on_the_simplex(frame):  # type: ignore[no-untyped-def]
    step = opened(frame)
    n = step.theta.shape[0]
    accumulated(step, step.scratch[:n])
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
    def radius(self, reward: Reward) -> float:
        """L', the root of the range of F.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
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
            raise self._mismatch(
                reward, f"is for rewards that are Lipschitz in the {self.norm}-norm", f"declares the {reward.norm}-norm"
            )

    def eta(self, reward: Reward, horizon: int) -> float:
        """The learning rate L' / (||1_K|| T^{2/3}).

        Parameters
        ----------
        reward : Reward
            g.
        horizon : int
            T.
        """
        return float(self.radius(reward) / (ones(reward.n_outcomes, reward.norm) * horizon ** (2.0 / 3.0)))

    def _mismatch(self, reward: Reward, needs: str, has: str) -> OracleError:
        from equipoise.oracles.choice import fitting_oracle

        return OracleError(f"{self!r} {needs}, and {reward!r} {has}; use {fitting_oracle(reward)!r}")


@final
class EuclideanBall(MirrorMap):
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

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre."""
        return np.zeros(reward.n_outcomes)

    def params(self, reward: Reward, eta: float) -> NDArray[np.float64]:
        """L and eta."""
        return np.array([reward.lipschitz, eta])


@final
class Box(MirrorMap):
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

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """The centre."""
        return np.zeros(reward.n_outcomes)

    def params(self, reward: Reward, eta: float) -> NDArray[np.float64]:
        """L and eta."""
        return np.array([reward.lipschitz, eta])


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

    def scratch(self, reward: Reward) -> int:
        """The maximiser of the conjugate, and a weight for each vertex."""
        return reward.n_outcomes + int(self.vertices(reward).scale.size)

    def radius(self, reward: Reward) -> float:
        """M sqrt(log J)."""
        scale = self.vertices(reward).scale
        return float(np.abs(scale).max() * math.sqrt(math.log(scale.size)))

    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
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
    >>> SignedSimplex().first_theta(BottomSum(4, 2)).tolist()
    [-0.5, -0.5, -0.5, -0.5]
    """

    def check(self, reward: Reward) -> None:
        """Every supergradient must lie on a simplex without slack."""
        super().check(reward)
        if reward.vertices is None or (reward.vertices.scale == 0).any():
            raise self._mismatch(reward, "needs supergradients of constant 1-norm", "has none such")

    def vertices(self, reward: Reward) -> Vertices:
        """The reward's own."""
        assert reward.vertices is not None
        return reward.vertices


@final
class SlackSimplex(EntropicMap):
    """Multiplicative weights with a slack coordinate, for supergradients that may be shorter than L.

    This is what `Knapsack` needs: its first component is fixed, and the prices of the resources sum to at
    most 2/b.

    Examples
    --------
    >>> from equipoise.rewards import Knapsack
    >>> SlackSimplex().first_theta(Knapsack(3, 0.5)).round(6).tolist()
    [-1.0, 1.333333, 1.333333]
    """

    def check(self, reward: Reward) -> None:
        """The reward must state the simplex of its supergradients."""
        super().check(reward)
        if reward.vertices is None:
            raise self._mismatch(reward, "needs a reward that states its vertices", "states none")

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
    >>> len(CrossPolytope().vertices(reward).scale), CrossPolytope().first_theta(reward).tolist()
    (4, [0.0, 0.0])
    """

    def vertices(self, reward: Reward) -> Vertices:
        """+L e_k and -L e_k."""
        n, L = reward.n_outcomes, reward.lipschitz
        coordinate = np.concatenate([np.arange(n), np.arange(n)])
        return Vertices(np.zeros(n), coordinate, np.concatenate([np.full(n, L), np.full(n, -L)]))
