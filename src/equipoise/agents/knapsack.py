r"""Earn as much as possible within budgets, over a known horizon T: two learners, and `budgets` for what they share.

`KnapsackAgent` plans again and again for what is left. After t of T steps with the average w, it solves

    max  g_C((t w + n z) / T)    over the long-run averages z of mixtures that its region allows,    n = T - t,

    g_C(r, c) = r - (2/b) max_k (c_k - b)^+,

so that each resource is consumed at a rate of at most I_k / n from now on, I_k being what is left of it. What chance
and wrong estimates have consumed too much or too little is spread over all steps to come. The penalty is exact as long
as no I_k / n is below b/2: the prices lambda of the rest have sum_k lambda_k I_k / n <= 1, because null actions are a
policy that consumes nothing. It is a `MixtureUCRL2` with the remaining steps as its look-ahead, which plans again
after 5 % of them at the latest. No regret bound is proven.

`KnapsackTocUCRL2` is Algorithm MDPwK (appendix A.5.2): TOC-UCRL2 on the surrogate g_C with Q = L = 1 + 2/b and the
tuned mirror descent with slack, for T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, final

from equipoise.agents.budgets import BudgetedAgent
from equipoise.agents.mixture import MixtureUCRL2
from equipoise.agents.schedules import Power
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.base import Confidence
from equipoise.models.model import Space
from equipoise.oracles.descent import TunedMirrorDescent
from equipoise.oracles.mirror_maps import SlackSimplex

_UNPROVEN: Final = "no regret bound is proven"


@final
class KnapsackAgent(BudgetedAgent):
    """Earn under budgets that are never exceeded: plan for what is left, again and again.

    Parameters
    ----------
    space : Space
        The world's; outcome 0 is the reward, the others are consumptions.
    budget : float in (0, 1)
        b: each resource has b times `horizon` units.
    horizon : int
        T.
    null_actions : int or sequence of int
        The null action of every state, or one for all states. It consumes nothing. What it yields is learnt, unless the
        space knows it.
    delta : float
        As for `MixtureUCRL2`.
    confidence : Confidence, optional
        As for `MixtureUCRL2`.

    See Also
    --------
    equipoise.agents.KnapsackTocUCRL2 : The paper's algorithm, with its regret bound.
    equipoise.solve_knapsack : The best achievable value within the budgets.
    equipoise.rewards.Knapsack : The reward that it maximises.

    Examples
    --------
    >>> import equipoise as eq
    >>> arms = eq.Model.from_branches([[  # one state: do nothing, or earn .5 for a unit, or 1 for a unit half the time
    ...     [(1.0, 0, [0.0, 0.0])], [(1.0, 0, [0.5, 1.0])], [(0.5, 0, [1.0, 1.0]), (0.5, 0, [0.0, 0.0])]]])
    >>> agent = KnapsackAgent(arms.space, budget=0.25, horizon=10_000, null_actions=0)
    >>> run = eq.simulate(arms, agent, 10_000, seed=0)
    >>> float(agent.inventory[0]) >= 0, agent.regret(eq.solve_knapsack(arms, 0.25)) < 0.05 * 10_000
    (True, True)
    """

    _first_zero: ClassVar[int] = 1
    _null_rule: ClassVar[str] = "a null action must consume nothing"

    def __init__(
        self,
        space: Space,
        budget: float,
        horizon: int,
        null_actions: int | Sequence[int],
        delta: float = 0.05,
        confidence: Confidence | None = None,
    ) -> None:
        super().__init__(space, budget, horizon, null_actions)
        self._inner = MixtureUCRL2(space, self.reward, confidence, delta)
        self._inner._horizon = self.horizon

    @property
    def caveat(self) -> str:
        """That of the regions of its certificates; or that no regret bound is proven."""
        return self._inner.caveat or _UNPROVEN


@final
class KnapsackTocUCRL2(BudgetedAgent):
    """Algorithm MDPwK: TOC-UCRL2 under budgets that are never exceeded.

    Parameters
    ----------
    space : Space
        The world's; outcome 0 is the reward, the others are consumptions.
    budget : float in (0, 1)
        b: each resource has b times `horizon` units.
    horizon : int
        T.
    null_actions : int or sequence of int
        The null action of every state, or one for all states. It is known to yield and to consume nothing.
    delta : float
        As for `TocUCRL2`.
    confidence : Confidence, optional
        As for `TocUCRL2`.
    tolerance : float or Power, optional
        As for `TocUCRL2`.

    See Also
    --------
    equipoise.KnapsackAgent : Plans for what is left; earns more.

    Examples
    --------
    >>> import equipoise as eq
    >>> arms = eq.Model.from_branches([[  # one state: do nothing, or earn .5 for a unit, or 1 for a unit half the time
    ...     [(1.0, 0, [0.0, 0.0])], [(1.0, 0, [0.5, 1.0])], [(0.5, 0, [1.0, 1.0]), (0.5, 0, [0.0, 0.0])]]])
    >>> agent = KnapsackTocUCRL2(arms.space, budget=0.25, horizon=1000, null_actions=0)
    >>> run = eq.simulate(arms, agent, 1000, seed=0)
    >>> agent.stopped, float(agent.inventory[0]) >= 0
    (True, True)
    """

    _inner: TocUCRL2
    _first_zero: ClassVar[int] = 0
    _null_rule: ClassVar[str] = "a null action must yield and consume nothing"

    def __init__(
        self,
        space: Space,
        budget: float,
        horizon: int,
        null_actions: int | Sequence[int],
        delta: float = 0.05,
        confidence: Confidence | None = None,
        tolerance: float | Power | None = None,
    ) -> None:
        super().__init__(space, budget, horizon, null_actions)
        oracle, threshold = TunedMirrorDescent(SlackSimplex(), self.horizon), self.reward.lipschitz
        informed = self._space_with_known_nulls()
        self._inner = TocUCRL2(informed, self.reward, oracle, threshold, delta, confidence, tolerance)

    @property
    def tolerance(self) -> float | Power | None:
        """At which the planner stops; None: 1/sqrt(tau(m))."""
        return self._inner.tolerance

    @property
    def caveat(self) -> str:
        """That of its confidence."""
        return self._inner.caveat

    def _space_with_known_nulls(self) -> Space:
        """The same space, in which the outcomes of null actions are known to be zero."""
        space = self.space
        if space.laws is not None:
            return space  # its mechanics say so
        mask = space.known_mask.copy()
        mask[self._null_pairs] = True
        return Space.from_arrays(space.first_pair, space.start, mask, space.known_rows, space.labels)
