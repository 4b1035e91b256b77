"""The agent to start with: the paper's algorithm, with regions that fit the data.

With a guarantee: `Adaptive` regions, which hold the truth with the same probability as the paper's, while learning
costs from five to more than fifty times less; and plans that start from the last bias where the doubling of visits
ended an episode, as they need fewer sweeps then, and regret stays the same. Without: `PosteriorSampling`, on most
problems faster still; a sampled model is another one at every plan, so the last bias is of little use to it. With both,
where the oracle restarts (`Doubling`), the counts are kept, as the paper's remark allows.
The measurements are in docs/leaderboard.md and docs/performance.md, and what to choose when in docs/confidence.md.
"""

from __future__ import annotations

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.confidence.adaptive import Adaptive
from equipoise.confidence.posterior_sampling import PosteriorSampling
from equipoise.errors import ParameterError
from equipoise.models.model import Space
from equipoise.oracles.choice import fitting_oracle
from equipoise.planning.options import AFTER_VISITS, Planner
from equipoise.rewards.base import Reward


def recommended(space: Space, reward: Reward, guarantee: bool = True, seed: int = 0) -> TocUCRL2:
    """Make the agent that a user should start with.

    Parameters
    ----------
    space : Space
        What the agent may know of the world.
    reward : Reward
        The concave g.
    guarantee : bool
        Whether its regions must be proven to hold the truth with probability 1 - delta.
    seed : int
        Of the agent's own random numbers; it has some only without the guarantee.

    Returns
    -------
    TocUCRL2
        An agent that has taken no step.

    See Also
    --------
    equipoise.TocUCRL2 : The agent that it makes, with the paper's choices by default.
    equipoise.confidence.Adaptive : Its regions.

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
    """
    if not isinstance(reward, Reward):
        raise ParameterError(f"reward: got {type(reward).__name__}; it must be of type Reward")
    if not isinstance(guarantee, bool):
        raise ParameterError(f"guarantee: got {guarantee!r}; True or False is needed")
    sampling = PosteriorSampling(seed=seed)  # made in either case, so that a seed that is none is refused
    oracle = fitting_oracle(reward, inherit=True)
    if guarantee:
        return TocUCRL2(space, reward, oracle, confidence=Adaptive(), planner=Planner(warm_start=AFTER_VISITS))
    return TocUCRL2(space, reward, oracle, confidence=sampling)
