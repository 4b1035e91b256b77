"""What the bounds depend on: `Facts`, the paper's S, SA, K, Gamma and D, and `Setting`, how the agent was set up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from equipoise._checks import check_float, check_int
from equipoise.agents.schedules import Schedule, check_growth
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.bernstein import Bernstein
from equipoise.errors import ParameterError
from equipoise.models.model import Model
from equipoise.oracles.base import Oracle
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.options import Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.norms import ones


@final
@dataclass(frozen=True, kw_only=True)
class Facts:
    """The numbers of a model that the bounds depend on.

    Parameters
    ----------
    n_states, n_pairs, n_outcomes : int
        S, SA and K.
    max_successors : int
        Gamma: the largest number of next states of a pair.
    diameter : float
        D, times of return included; at least 1.

    Examples
    --------
    >>> from equipoise.models import star
    >>> Facts.of(star(branches=3, diameter=4))
    Facts(n_states=7, n_pairs=15, n_outcomes=3, max_successors=1, diameter=4.0)
    """

    n_states: int
    n_pairs: int
    n_outcomes: int
    max_successors: int
    diameter: float

    def __post_init__(self) -> None:
        for name in ("n_states", "n_pairs", "n_outcomes", "max_successors"):
            object.__setattr__(self, name, check_int(getattr(self, name), name, 1, error=ParameterError))
        object.__setattr__(self, "diameter", check_float(self.diameter, "diameter", error=ParameterError))
        if not 1 <= self.diameter < math.inf:
            raise ParameterError(f"diameter: got {self.diameter}; a finite number >= 1 is needed")

    @classmethod
    def of(cls, model: Model, diameter: float | None = None) -> Facts:
        """Take them from a model.

        Parameters
        ----------
        model : Model
            A communicating one.
        diameter : float, optional
            D, if it is known; None: it is computed.
        """
        return cls(
            n_states=model.n_states,
            n_pairs=model.n_pairs,
            n_outcomes=model.n_outcomes,
            max_successors=model.max_successors,
            diameter=model.diameter() if diameter is None else diameter,
        )


@final
@dataclass(frozen=True, kw_only=True)
class Setting:
    """How TOC-UCRL2 is set up, with the paper's regions and the paper's planner.

    Parameters
    ----------
    reward : Reward
        g, with a finite Lipschitz constant.
    oracle : Oracle, optional
        None: the default of an agent.
    threshold : float, optional
        Q > 0. None: L. Infinity is allowed, and nothing is then guaranteed unless theta cannot move.
    delta : float
        The level of the regions.
    tolerance : float, optional
        Of the planner; None: 1/sqrt(tau(m)).
    warm_start : bool
        Whether plans may start from the bias of the last, or leap on their way.
    visits : float
        The factor by which the visits of a pair grow until an episode ends; 1 for doubling.

    Examples
    --------
    >>> from equipoise.rewards import Quadratic
    >>> Setting(reward=Quadratic([0.5, 0.5]), delta=0.1).Q
    0.7071067811865476
    """

    reward: Reward
    oracle: Oracle | None = None
    threshold: float | None = None
    delta: float = 0.05
    tolerance: float | None = None
    warm_start: bool = False
    visits: float = 1.0

    def __post_init__(self) -> None:
        reward = self.reward
        if not isinstance(reward, Reward):
            raise ParameterError(f"reward: got {type(reward).__name__}; a Reward is needed")
        if not math.isfinite(reward.lipschitz):
            raise ParameterError(f"reward: {reward!r} has no Lipschitz constant; take reward.at(t) for one time t")
        object.__setattr__(self, "oracle", fitting_oracle(reward) if self.oracle is None else self.oracle)
        self.steered_by.check(reward)
        threshold = reward.lipschitz if self.threshold is None else self.threshold
        object.__setattr__(self, "threshold", check_float(threshold, "threshold", error=ParameterError))
        if not (self.Q > 0 or (self.Q == 0 and not moves(reward, self.steered_by))):
            raise ParameterError(f"threshold: got {self.threshold}; the bounds are for Q > 0")
        object.__setattr__(self, "delta", check_float(self.delta, "delta", error=ParameterError))
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta: got {self.delta}; it must lie strictly between 0 and 1")
        object.__setattr__(self, "visits", check_growth(self.visits))
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", check_float(self.tolerance, "tolerance", error=ParameterError))
            if not 0 < self.tolerance < math.inf:
                raise ParameterError(f"tolerance: got {self.tolerance}; a number > 0 is needed, or None")

    @classmethod
    def of(cls, agent: TocUCRL2) -> Setting:
        """Take it from an agent; a `ParameterError` if it has other regions or data from logs: no bound covers it.

        The regions may be the paper's or `Adaptive` ones, which contain the true model with the same probability and
        lie within the paper's (docs/confidence.md): the proofs use nothing else of them.

        Parameters
        ----------
        agent : TocUCRL2
            The agent; not changed.
        """
        if not isinstance(agent, TocUCRL2):
            raise ParameterError(f"agent: got {type(agent).__name__}; a TocUCRL2 is needed")
        if agent.space.laws is not None:
            raise ParameterError(
                "agent: the bounds are for one that learns a table, and it was told mechanics; its certificate bounds "
                "what is lost"
            )
        if agent.absorbed:
            raise ParameterError(
                f"agent: the bounds are for one that begins without data, and it absorbed {agent.absorbed} rows of "
                "logs; its certificate counts them"
            )
        if not isinstance(agent.confidence, Bernstein | Adaptive):
            raise ParameterError(
                f"agent: the bounds are for the paper's regions and those within them, and it has {agent.confidence!r}"
            )
        if not isinstance(agent.planner, Planner):
            raise ParameterError(f"agent: the bounds are for extended value iteration, and it has {agent.planner!r}")
        threshold, tolerance = agent.threshold, agent.tolerance
        if isinstance(threshold, Schedule) or isinstance(tolerance, Schedule):
            raise ParameterError(
                f"agent: the bounds are for a constant threshold and the paper's or a constant tolerance; it has "
                f"{threshold!r} and {tolerance!r}"
            )
        return cls(
            reward=agent.reward,
            oracle=agent.oracle,
            threshold=threshold,
            delta=agent.delta,
            tolerance=tolerance,
            warm_start=bool(agent.planner.warm_start) or agent.planner.leaps,
            visits=agent.visit_growth,
        )

    @property
    def steered_by(self) -> Oracle:
        """The oracle, chosen if none was given."""
        assert self.oracle is not None
        return self.oracle

    @property
    def Q(self) -> float:
        """The threshold, L if none was given."""
        assert self.threshold is not None
        return self.threshold

    @property
    def ones(self) -> float:
        """||1_K|| in the norm of the reward."""
        return ones(self.reward.n_outcomes, self.reward.norm)

    @property
    def scale(self) -> float:
        """L ||1_K||: the widest range of (-theta).w over the box, for theta in the dual ball of radius L."""
        return self.reward.lipschitz * self.ones

    @property
    def excess(self) -> float:
        """By how much the gain of a plan may exceed the largest reward: 0 from zero, else the largest tolerance."""
        if not self.warm_start:
            return 0.0
        return 1.0 if self.tolerance is None else self.tolerance


def check_fit(facts: Facts, setting: Setting) -> None:
    """Raise an error unless the model and the reward have the same number of outcomes."""
    if facts.n_outcomes != setting.reward.n_outcomes:
        raise ParameterError(
            f"facts: the model has {facts.n_outcomes} outcomes; the reward takes {setting.reward.n_outcomes}"
        )


def moves(reward: Reward, oracle: Oracle) -> bool:
    """Whether theta can move: yes, unless the oracle is known to leave it where it is."""
    known = oracle.theory.moves
    return True if known is None else known(reward)


def no_bound_known(oracle: Oracle) -> ParameterError:
    """The error for an oracle without a bound."""
    return ParameterError(f"oracle: no bound is known for {oracle!r}")
