"""The agent to start with, by the kind of reward; docs/leaderboard.md and docs/mixtures.md have the measurements.

Constraints, and rewards that are not smooth (budgets, limits, the worst-off class): `MixtureUCRL2`, which computes the
dual variable instead of finding it by a descent; its regret after 100,000 steps is 3 to 100 times smaller. Smooth
rewards, and tables of more than 300 states: the paper's `TocUCRL2`. Policies of large tables are not evaluated densely,
so that plans of mixtures take long, and while most of a large table is still unknown they earn no more.

With a guarantee, regions are `Adaptive`: they contain the true model with the same probability as the paper's, and
learning costs from five to more than fifty times less. The plans of `TocUCRL2` start from the last bias where the
doubling of visits ended an episode, as they need fewer sweeps then and regret stays the same. Without a guarantee,
`PosteriorSampling` is faster still on most problems; every plan has another model, so that the last bias is of little
use.
"""

from __future__ import annotations

from equipoise.agents.mixture import MixtureUCRL2
from equipoise.agents.phase import check_kind
from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.posterior_sampling import PosteriorSampling
from equipoise.errors import ParameterError
from equipoise.models.model import Space
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.occupancy import SMALL
from equipoise.planning.options import AFTER_VISITS, Planner
from equipoise.rewards.base import Reward
from equipoise.rewards.constrained import Constrained


def recommended(space: Space, reward: Reward, guarantee: bool = True, seed: int = 0) -> TocUCRL2 | MixtureUCRL2:
    """Make the agent that a user should start with.

    Parameters
    ----------
    space : Space
        What the agent may know of the world.
    reward : Reward
        The concave g.
    guarantee : bool
        Whether the regions that it acts on must be proven to contain the true model with probability 1 - delta.
    seed : int
        Of the agent's own random numbers; it has some only without the guarantee.

    Returns
    -------
    TocUCRL2 or MixtureUCRL2
        A `MixtureUCRL2` for constraints and rewards that are not smooth, unless the space is a table of more than 300
        states; else a `TocUCRL2`. It has taken no step.

    See Also
    --------
    equipoise.TocUCRL2 : The paper's agent.
    equipoise.MixtureUCRL2 : The agent that plans mixtures of policies.
    equipoise.confidence.Adaptive : Their regions.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(6)
    >>> agent = eq.recommended(model.space, eq.rewards.Linear([1.0]))
    >>> agent.confidence, agent.caveat
    (Adaptive(), '')
    >>> agent.planner.warm_start
    'visits'
    >>> eq.recommended(model.space, eq.rewards.Linear([1.0]), guarantee=False).caveat
    'without a proof here'
    >>> star = eq.models.star(branches=3, diameter=4)
    >>> type(eq.recommended(star.space, eq.rewards.BottomSum(3, 1))).__name__
    'MixtureUCRL2'
    """
    check_kind(space, Space, "space", "model.space")
    if not isinstance(reward, Reward):
        raise ParameterError(f"reward: got {type(reward).__name__}; it must be of type Reward")
    if not isinstance(guarantee, bool):
        raise ParameterError(f"guarantee: got {guarantee!r}; True or False is needed")
    sampling = PosteriorSampling(seed=seed)  # made in either case, so that a seed that is none is refused
    confidence = Adaptive() if guarantee else sampling
    large = space.laws is None and space.n_states > SMALL
    if not large and (reward.smoothness is None or isinstance(reward, Constrained)):
        return MixtureUCRL2(space, reward, confidence)
    planner = Planner(warm_start=AFTER_VISITS) if guarantee else None
    return TocUCRL2(space, reward, fitting_oracle(reward, inherit=True), confidence=confidence, planner=planner)
