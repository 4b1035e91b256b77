"""What an oracle is: the maker of theta_{t+1} from the outcomes seen (section 3 of the paper, OCO oracle).

theta is *minus* a supergradient of g, always: g(w) = min over theta of g*(theta) - theta.w is attained
at theta = -grad g(w). (-theta).v(s,a) is then how much the pair (s,a) helps at present.

An oracle says what it needs of a reward; a mismatch is an `OracleError` at construction that names an
oracle which would fit. Oracles hold no memory: their state is in the agent's arrays.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._component import Component
from equipoise._numbers import counted
from equipoise.errors import ParameterError
from equipoise.oracles.theory import OracleTheory
from equipoise.rewards.base import Reward


class OracleKernel(NamedTuple):
    """What the compiled loop needs of an oracle.

    Attributes
    ----------
    entry : Entry
        Its step, declared by `oracle_entry`; see `oracles.frame`.
    params : float array
        Constants that the step reads.
    memory : int, optional
        How many numbers the step keeps from one time to the next; None: K, one for each outcome.
    scratch : int
        How many numbers it needs for the moment.
    calls : tuple of str
        Which of the reward's functions it calls. One that it does not call need not be compiled.
    """

    entry: Entry
    params: NDArray[np.float64]
    memory: int | None = None
    scratch: int = 0
    calls: tuple[str, ...] = ("gradient", "conjugate_argmax")


class Phase(NamedTuple):
    """A stretch of time with one oracle: all of it, or a mega-episode of the doubling trick.

    Attributes
    ----------
    oracle : Oracle
        The one in force.
    length : int or None
        Its number of steps; None if it has no end.
    share : float
        The part of delta spent in it.
    inherit : bool
        Whether it goes on with the counts and the clock of the one before.
    origin : int
        How many steps were taken before it.
    """

    oracle: Oracle
    length: int | None
    share: float
    inherit: bool
    origin: int = 0


class Oracle(Component, abc.ABC):
    """An online convex optimisation oracle.

    See Also
    --------
    equipoise.testing.check_oracle : The contract of an oracle of your own.
    """

    @abc.abstractmethod
    def check(self, reward: Reward) -> None:
        """Raise `OracleError` if this oracle does not fit the reward.

        Parameters
        ----------
        reward : Reward
            g.
        """

    @abc.abstractmethod
    def first_theta(self, reward: Reward) -> NDArray[np.float64]:
        """theta_1.

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

    @property
    def theory(self) -> OracleTheory:
        """What is proven of it; nothing, unless an oracle says so."""
        return OracleTheory()

    @property
    def horizon(self) -> int | None:
        """The number of steps that the oracle is tuned for; None if it is good for any."""
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
        left, index = counted(steps, "steps", 1, error=ParameterError), 0
        while left > 0:
            index += 1
            phase = self.phase(index)
            taken = left if phase.length is None else min(left, phase.length)
            yield phase, taken
            left -= taken
