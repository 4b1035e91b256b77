"""When to stop before all steps are taken: as soon as it is proven that little is lost.

The proof is looked at at fixed times, each one percent after the one before, and at the checkpoints. So where a run
stops is a function of its seed, and not of the speed of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._numbers import real
from equipoise.agents.base import Agent
from equipoise.errors import ParameterError
from equipoise.simulation.checkpoints import log_spaced

_PER_DECADE: Final = 231  # one percent apart


@final
@dataclass(frozen=True)
class Certified:
    """Stop when it is certified that no more than so much is lost.

    Parameters
    ----------
    regret : float
        How much: `best_possible` less the value of the average, see `Certificate`.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.star(branches=3, diameter=4)
    >>> agent = eq.recommended(model.space, eq.rewards.Quadratic([1 / 3] * 3))
    >>> run = eq.simulate(model, agent, 10**6, until=Certified(regret=0.01))
    >>> run.status, run.steps < 10_000, float(run.certified[-1]) <= 0.01
    ('certified', True, True)
    """

    regret: float

    def __post_init__(self) -> None:
        amount = real(self.regret, "regret", error=ParameterError)
        if not amount > 0.0:
            raise ParameterError(f"regret: got {self.regret}; it must be above 0")

    def check(self, agent: Agent) -> None:
        """Refuse an agent that proves nothing, before anything runs.

        Parameters
        ----------
        agent : Agent
            The one to be run.
        """
        if not agent.proves:
            raise ParameterError(
                f"until: {type(agent).__name__} proves nothing about the optimum, so it would never stop; "
                "see agent.certificate()"
            )

    def looks(self, done: int, last: int) -> NDArray[np.int64]:
        """The times at which to look.

        Parameters
        ----------
        done, last : int
            Steps taken before, and in the end.
        """
        return log_spaced(done + 1, last, _PER_DECADE)

    def reached(self, agent: Agent) -> bool:
        """Whether it may stop.

        Parameters
        ----------
        agent : Agent
            Between two steps.
        """
        return agent.best_possible - agent.reward.value(agent.average) <= self.regret
