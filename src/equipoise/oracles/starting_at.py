"""Another theta_1: Algorithm 1 has theta_1 in B(L, ||.||_*) as an input.

Each oracle has its own theta_1; `StartingAt` is the same oracle with another. Under the doubling trick every
mega-episode starts there. With d for ||theta_1 - the oracle's own||_*, the regret grows as follows.

- FW: only the first step uses theta_1. Its error is (-theta_1).(v* - V_1), and no entry of v* - V_1 is larger than 1,
  so T Reg(T) grows by at most ||1|| d.
- TGD: Zinkevich's theorem holds from any point of the ball, so nothing is added.
- TMD: Z counts the first step at theta_1, so T Reg(T) grows by z_1.(theta_1 - argmin F), at most ||1|| d; under
  doubling once per mega-episode.

In the first two steps of a phase theta may jump by d, which can end one episode more.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import OracleError
from equipoise.oracles.base import Oracle, OracleKernel, OracleTheory, Phase
from equipoise.rewards.base import Reward, checked_vector, read_only
from equipoise.rewards.norms import dual, length, ones


@final
class StartingAt(Oracle):
    """An oracle with another theta_1.

    Parameters
    ----------
    oracle : Oracle
        The oracle that makes all other thetas.
    theta : array_like
        theta_1: K finite numbers, in the dual ball of radius L, and in the domain of the mirror map if there is one.
        It is minus a supergradient: a negative entry asks for more of that outcome.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.bandit(2)
    >>> reward = eq.rewards.Balance([0.5, 0.5])
    >>> oracle = eq.oracles.StartingAt(eq.oracles.TunedGradientDescent(), [0.25, -0.25])
    >>> eq.TocUCRL2(model.space, reward, oracle).theta.tolist()
    [0.25, -0.25]
    """

    def __init__(self, oracle: Oracle, theta: ArrayLike) -> None:
        if not isinstance(oracle, Oracle) or isinstance(oracle, StartingAt):
            raise OracleError(f"oracle: got {oracle!r}; an oracle with a theta_1 of its own is needed")
        self.oracle = oracle
        self.theta = read_only(checked_vector(theta, "theta", error=OracleError))

    @property
    def horizon(self) -> int | None:
        """That of the oracle within."""
        return self.oracle.horizon

    def check(self, reward: Reward) -> None:
        """The oracle within must fit the reward, and theta_1 must be one that it allows."""
        self.oracle.check(reward)
        if self.theta.size != reward.n_outcomes:
            raise OracleError(f"theta: got {self.theta.size} numbers; {reward.n_outcomes} are needed, one per outcome")
        if not self.oracle.allows(reward, self.theta):
            far = length(self.theta, dual(reward.norm))
            raise OracleError(
                f"theta: got {self.theta.tolist()}, of length {far:.9g} in the dual of norm {reward.norm:g}; it must "
                f"lie in the ball of radius L = {reward.lipschitz:.9g}, and where {self.oracle!r} keeps theta"
            )

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:  # noqa: ARG002
        """The one given."""
        return self.theta.copy()

    def kernel(self, reward: Reward) -> OracleKernel:
        """The step of the oracle within."""
        return self.oracle.kernel(reward)

    def phase(self, index: int) -> Phase:
        """That of the oracle within, starting here."""
        phase = self.oracle.phase(index)
        if phase.oracle is self.oracle:
            return phase._replace(oracle=self)
        return phase._replace(oracle=StartingAt(phase.oracle, self.theta))

    @property
    def theory(self) -> OracleTheory:
        """That of the oracle within, plus the cost of the other start; nothing, if that is not known."""
        inner = self.oracle.theory
        if inner.start is None:
            return OracleTheory()
        return OracleTheory(
            rate=inner.rate,
            regret_term=None if inner.regret_term is None else self._regret_term,
            gradient_episodes=None if inner.gradient_episodes is None else self._gradient_episodes,
            moves=self._moves,
            start=inner.start,
        )

    def _cost(self, reward: Reward) -> float:
        """What one start costs: ||1|| times the distance from the oracle's own theta_1."""
        start = self.oracle.theory.start
        assert start is not None
        return start * self._distance(reward) * ones(reward.n_outcomes, reward.norm)

    def _distance(self, reward: Reward) -> float:
        return length(self.theta - self.oracle.initial_theta(reward), dual(reward.norm))

    def _regret_term(self, reward: Reward, steps: int) -> float:
        term = self.oracle.theory.regret_term
        assert term is not None
        starts = sum(1 for _ in self.oracle.phases(steps))
        return term(reward, steps) + starts * self._cost(reward) / steps

    def _gradient_episodes(self, reward: Reward, threshold: float, steps: int) -> float:
        inner = self.oracle.theory
        assert inner.gradient_episodes is not None
        still = inner.moves is not None and not inner.moves(reward)
        return float(self._cost(reward) > 0.0) + (0.0 if still else inner.gradient_episodes(reward, threshold, steps))

    def _moves(self, reward: Reward) -> bool:
        inner = self.oracle.theory.moves
        return inner is None or inner(reward) or self._distance(reward) > 0.0
