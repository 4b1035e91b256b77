"""How an agent plans: the paper's extended value iteration by default, accelerations by name, or a planner of your own.

Algorithm 1 has an EVI oracle as an input. `PlanningOracle` is that input: anything that makes a plan over a region.
`Planner` is the one of this package, which the compiled loop runs without going back to Python. For any other the loop
comes back at the start of each episode, and the plan is verified before it is used (`verification`).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import check_count, check_float
from equipoise._spec import Component
from equipoise.confidence.region import Region
from equipoise.errors import ParameterError
from equipoise.planning.evi import SWEEP_LIMIT, Plan, extended_value_iteration

AFTER_VISITS: Final = "visits"  # the trigger of an episode, as `TocUCRL2.episodes` names it


class PlanningOracle(Component, abc.ABC):
    """A planner: the EVI oracle of Algorithm 1.

    See Also
    --------
    equipoise.testing.check_planner : The contract of a planner of your own.

    Examples
    --------
    A planner that starts each plan from the bias of the last, and is more exact than it need be:

    >>> import equipoise as eq
    >>> class Exact(eq.planning.PlanningOracle):
    ...     def __init__(self, share=0.5):
    ...         self.share = share
    ...     def plan(self, first_pair, region, reward, tolerance):
    ...         return eq.planning.extended_value_iteration(first_pair, region, reward, self.share * tolerance)
    >>> model = eq.models.riverswim(4)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), planner=Exact())
    >>> eq.simulate(model, agent, 1000).status
    'done'
    """

    @abc.abstractmethod
    def plan(
        self, first_pair: NDArray[np.int64], region: Region, reward: NDArray[np.float64], tolerance: float
    ) -> Plan:
        """Plan optimistically over a region.

        With gain, bias and policy of the plan, r the rewards and p in the region of each pair, every state s must have

            max over a of [r(s,a) + max over p of p.bias]    <= bias(s) + gain,
            r(s, policy(s)) + max over p of p.bias           >= bias(s) + gain - tolerance,

        which is what the paper's proofs use of a plan. An agent verifies both, up to rounding.

        Parameters
        ----------
        first_pair : int array, length S + 1
            Where the pairs of each state begin.
        region : Region
            Bounds on the transitions; a copy.
        reward : float array
            The optimistic reward of each pair; a copy.
        tolerance : float
            How far from optimal the policy may be.

        Returns
        -------
        Plan
            A policy with its certificate.
        """


@final
@dataclass(frozen=True, repr=False, eq=False)
class Planner(PlanningOracle):
    """Options of extended value iteration.

    Parameters
    ----------
    warm_start : bool or "visits"
        Start from the bias of the last plan instead of zero. Fewer sweeps; other policies may be returned
        within the same tolerance, so the trajectory is another one. "visits": only if the episode ended because
        visits had doubled. Where theta has moved, the last bias speaks for what was best before, and it may take more
        sweeps to forget it than to start from zero.
    relaxation : float in (0, 1], optional
        The step of the iteration. None: what the confidence asks for, which is 1, the paper's, unless the
        regions may be periodic. A plan that has not converged after 1,000 sweeps over known mechanics continues
        with 0.5 instead of 1, which converges on periodic models too.
    limit : int
        Sweeps before a plan is given up with `ConvergenceError`.
    leaps : bool
        Many steps at once where the sweeps go on in one direction; see `leaps`. For exact plans at every step: where
        two ways of living differ by little, plain sweeps take as long as the difference is small. Other policies may
        be returned within the same tolerance.

    Examples
    --------
    >>> Planner(warm_start=True, limit=1e5), Planner(leaps=True)
    (Planner(warm_start=True, limit=100000), Planner(leaps=True))
    """

    implicit_kind: ClassVar[bool] = True

    warm_start: bool | str = False
    relaxation: float | None = None
    limit: int = SWEEP_LIMIT
    leaps: bool = False

    def __post_init__(self) -> None:
        # coerced, because a kernel is compiled again for an argument of another type
        if self.warm_start != AFTER_VISITS:
            if isinstance(self.warm_start, str):
                raise ParameterError(f'warm_start: got {self.warm_start!r}; True, False or "visits" is needed')
            object.__setattr__(self, "warm_start", bool(self.warm_start))
        object.__setattr__(self, "leaps", bool(self.leaps))
        object.__setattr__(self, "limit", check_count(self.limit, "limit", 1, error=ParameterError))
        if self.relaxation is not None:
            object.__setattr__(self, "relaxation", check_float(self.relaxation, "relaxation", error=ParameterError))
            if not 0 < self.relaxation <= 1:
                raise ParameterError(f"relaxation: got {self.relaxation}; it must lie in (0, 1]")

    def plan(
        self, first_pair: NDArray[np.int64], region: Region, reward: NDArray[np.float64], tolerance: float
    ) -> Plan:
        """Plan from u = 0; an agent's compiled loop has this built in, with all options.

        Parameters
        ----------
        first_pair : int array, length S + 1
            As for `PlanningOracle.plan`.
        region : Region
            As for `PlanningOracle.plan`.
        reward : float array
            As for `PlanningOracle.plan`.
        tolerance : float
            As for `PlanningOracle.plan`.
        """
        relaxation = 1.0 if self.relaxation is None else self.relaxation
        return extended_value_iteration(first_pair, region, reward, tolerance, limit=self.limit, relaxation=relaxation)
