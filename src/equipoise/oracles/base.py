"""What an oracle is: the maker of theta_{t+1} from the outcomes seen (section 3 of the paper, OCO oracle).

theta is *minus* a supergradient of g, always: g(w) = min over theta of g*(theta) - theta.w is attained
at theta = -grad g(w). (-theta).v(s,a) is then how much the pair (s,a) helps at present.

An oracle says what it needs of a reward; a mismatch is an `OracleError` at construction that names an
oracle which would fit. Oracles hold no memory: their state is in the agent's arrays.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._component import Component
from equipoise.rewards.base import Reward


class OracleKernel(NamedTuple):
    """What the compiled loop needs of an oracle: which step, which entry of the reward, its constants."""

    code: int
    entry: Entry
    params: NDArray[np.float64]


class Phase(NamedTuple):
    """A stretch of time with one oracle: all of it, or a mega-episode of the doubling trick.

    `share` is the part of delta spent in this phase; `inherit` says whether it goes on with the counts
    and the clock of the one before.
    """

    oracle: Oracle
    length: int | None
    share: float
    inherit: bool


class Oracle(Component, abc.ABC):
    """An online convex optimisation oracle."""

    @abc.abstractmethod
    def check(self, reward: Reward) -> None:
        """Raise `OracleError` if this oracle does not fit the reward."""

    @abc.abstractmethod
    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """theta_1."""

    @abc.abstractmethod
    def kernel(self, reward: Reward) -> OracleKernel:
        """The compiled step for this reward."""

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it is good for any."""
        return None

    def phase(self, index: int) -> Phase:  # noqa: ARG002
        """Phase number `index`, from 1."""
        return Phase(self, None, 1.0, True)
