"""What an oracle is: it computes theta_{t+1} from the outcomes seen (section 3 of the paper, OCO oracle).

theta is *minus* a supergradient of g, always: g(w) = min over theta of g*(theta) - theta.w is attained at
theta = -grad g(w). (-theta).v(s,a) is then how much the pair (s,a) helps at present.

An oracle that does not fit a reward raises an `OracleError` that names one that does. Oracles hold no memory: their
state is in the agent's arrays. `OracleTheory` is what is proven of an oracle; what is not known is None.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count
from equipoise._runtime.compiler import Entry
from equipoise._spec import Component
from equipoise.errors import OracleError, ParameterError
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import dual, length


@final
@dataclass(frozen=True, kw_only=True)
class OracleTheory:
    """What is proven of TOC-UCRL2 with an oracle.

    Parameters
    ----------
    rate : float, optional
        The exponent of T in the bound on the regret, up to logarithms.
    regret_term : callable, optional
        ``regret_term(reward, steps)``: a bound on the oracle's own part of the regret after so many steps.
    gradient_episodes : callable, optional
        ``gradient_episodes(reward, threshold, steps)``: a bound on the episodes that the gradient threshold ends.
    moves : callable, optional
        ``moves(reward)``: whether theta can move at all. None: it may.
    printed : OracleTheory, optional
        What the paper prints, where it differs from what is proven.
    start : float, optional
        A bound on what another theta_1 than the oracle's own adds to T times the regret, once per phase, in units of
        ||1_K|| times the distance between the two in the dual norm.

    Examples
    --------
    >>> from equipoise.oracles import FrankWolfe
    >>> from equipoise.rewards import Linear
    >>> knowledge = FrankWolfe().theory
    >>> knowledge.rate, knowledge.moves(Linear([1.0]))
    (-0.5, False)
    """

    rate: float | None = None
    regret_term: Callable[[Reward, int], float] | None = None
    gradient_episodes: Callable[[Reward, float, int], float] | None = None
    moves: Callable[[Reward], bool] | None = None
    printed: OracleTheory | None = None
    start: float | None = None


def moves_unless_flat(reward: Reward) -> bool:
    """Whether a descent moves theta: not if L = 0, as theta then stays in a ball of radius zero."""
    return reward.lipschitz > 0.0


def growth_episodes(pace: float, alpha: float, steps: int) -> float:
    r"""A bound on the episodes begun within T steps that Psi ends, if their ends have tau' >= tau + C tau^alpha."""
    e = 1.0 - alpha
    crossing = math.pow(pace, 1.0 / e)
    count = 1.0 + math.log2(max(1.0, min(crossing, steps)))
    if steps > crossing:
        count += float(crossing >= 1.0)
        count += (math.pow(steps, e) - max(1.0, pace)) / (pace * (math.pow(2.0, e) - 1.0))
    return count


ROUNDING: Final = 1e-9  # relative: by how much a point may leave the domain of an oracle and still count as in it


class OracleKernel(NamedTuple):
    """What the compiled loop needs of an oracle."""

    entry: Entry
    params: NDArray[np.float64]
    memory: int | None = None
    scratch: int = 0
    calls: tuple[str, ...] = ("gradient", "conjugate_argmax")


class Phase(NamedTuple):
    """A stretch of time with one oracle: all of it, or a mega-episode of the doubling trick."""

    oracle: Oracle
    length: int | None
    share: float
    inherit: bool
    origin: int = 0


class Oracle(Component, abc.ABC):
    """An online convex optimisation oracle; `equipoise.testing.check_oracle` checks one of your own."""

    @abc.abstractmethod
    def check(self, reward: Reward) -> None:
        """Raise `OracleError` if this oracle does not fit the reward.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """theta_1; `StartingAt` sets another.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def kernel(self, reward: Reward) -> OracleKernel:
        """The compiled step for this reward.

        Parameters
        ----------
        reward : Reward
            g.
        """

    def allows(self, reward: Reward, theta: NDArray[np.float64]) -> bool:
        """Whether theta is allowed as theta_1: by default, if it is in the dual ball of radius L, as in Algorithm 1.

        Parameters
        ----------
        reward : Reward
            g.
        theta : float array
            K numbers.
        """
        return length(theta, dual(reward.norm)) <= reward.lipschitz * (1.0 + ROUNDING)

    @property
    def theory(self) -> OracleTheory:
        """What is proven of the oracle; by default nothing."""
        return OracleTheory()

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it is not tuned for any."""
        return None

    def phase(self, index: int) -> Phase:  # noqa: ARG002
        """One phase.

        Parameters
        ----------
        index : int
            Its number, from 1.
        """
        return Phase(self, None, 1.0, True)

    def phases(self, steps: int) -> Iterator[tuple[Phase, int]]:
        """The phases within the first `steps` steps, with the steps that each takes.

        Parameters
        ----------
        steps : int
            At least 1.

        Yields
        ------
        phase : Phase
            With the oracle that it uses.
        taken : int
            The steps within it.

        Examples
        --------
        >>> from equipoise.oracles import Box, Doubling
        >>> [taken for _, taken in Doubling(Box()).phases(10)]
        [2, 4, 4]
        """
        left, index = check_count(steps, "steps", 1, error=ParameterError), 0
        while left > 0:
            index += 1
            phase = self.phase(index)
            taken = left if phase.length is None else min(left, phase.length)
            yield phase, taken
            left -= taken


class Restarted(Oracle, abc.ABC):
    """The doubling trick: an oracle that needs a horizon, started again in every phase with a guess twice as large.

    Phase h, a mega-episode, lasts 2^h steps, after 2 + 4 + ... = 2^h - 2 others.
    """

    def __init__(self, inherit: bool) -> None:
        if not isinstance(inherit, bool | np.bool_):
            raise OracleError(f"inherit: got {inherit!r}; it must be True or False")
        self.inherit = bool(inherit)

    @abc.abstractmethod
    def _tuned(self, horizon: int) -> Oracle:
        """The oracle for one phase."""

    def phase(self, index: int) -> Phase:
        """Mega-episode `index`, of 2^index steps."""
        length = 2**index
        return Phase(self._tuned(length), length, 1.0 if self.inherit else 0.5**index, self.inherit, origin=length - 2)

    def check(self, reward: Reward) -> None:
        """The oracle of the first mega-episode must fit the reward."""
        self._tuned(2).check(reward)

    def initial_theta(self, reward: Reward) -> NDArray[np.float64]:
        """That of the first mega-episode."""
        return self._tuned(2).initial_theta(reward)

    def allows(self, reward: Reward, theta: NDArray[np.float64]) -> bool:
        """Whether the oracle of the first mega-episode allows it."""
        return self._tuned(2).allows(reward, theta)

    def kernel(self, reward: Reward) -> OracleKernel:
        """The step of the first mega-episode; the agent asks each phase for its own."""
        return self._tuned(2).kernel(reward)


def mismatch(name: str, reward: Reward, needs: str, has: str) -> OracleError:
    """The error of an oracle or a mirror map that does not fit a reward; it recommends an oracle that does."""
    from equipoise.oracles.choice import fitting_oracle

    return OracleError(f"{name} {needs}, and {reward!r} {has}; use {fitting_oracle(reward)!r}")
