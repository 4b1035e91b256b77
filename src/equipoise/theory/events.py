"""The events E^v and E^p of eqs. (4.1) and (4.2) on one run: whether the regions of every episode hold the truth.

Lemma 4.1 gives each a probability of at least 1 - delta/2. Regions change only when an episode begins, so looking at
each episode once is exact. Besides yes or no there is the slack: with the estimate at distance d from the truth and
the radius rad, 1 - d/rad, the least over all pairs, outcomes and successors whose bound binds (a bound at 0 or at 1
does not). A slack of .6 says that 40 % of the radius would have done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Model
from equipoise.models.world import Seed
from equipoise.theory.recording import check_run, recorded

_ROWS: Final = 1 << 12  # steps kept at a time


@final
@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Whether the regions held the truth.

    Attributes
    ----------
    steps, episodes : int
        Steps taken, and episodes looked at.
    v_held, p_held : bool
        E^v and E^p, up to then.
    v_slack, p_slack : float
        The least slack of any episode: negative exactly if the truth was missed, 1 if no bound was ever binding.
    missed : int or None
        When the first episode whose regions missed the truth began.

    Examples
    --------
    >>> Coverage(steps=1000, episodes=20, v_held=True, p_held=False, v_slack=0.6, p_slack=-0.1, missed=17).held
    False
    """

    steps: int
    episodes: int
    v_held: bool
    p_held: bool
    v_slack: float
    p_slack: float
    missed: int | None

    @property
    def held(self) -> bool:
        """Both events."""
        return self.v_held and self.p_held


def coverage(model: Model, agent: TocUCRL2, steps: int, seed: Seed = 0) -> Coverage:
    """Run an agent as `simulate` would, and look at the regions of every episode.

    Parameters
    ----------
    model : Model
        The world.
    agent : TocUCRL2
        Changed in place, as by `simulate`. Of an episode under way only the two events are known, not the slack.
    steps : int
        How many steps to take.
    seed : int or SeedSequence
        Seeds the world.

    Returns
    -------
    Coverage
        Whether they held the truth, and with how much room.

    Examples
    --------
    >>> from equipoise.models import garnet
    >>> from equipoise.rewards import Linear
    >>> model = garnet(4, 2, 3, n_outcomes=2, seed=1)
    >>> record = coverage(model, TocUCRL2(model.space, Linear([1.0, 0.5])), 1000)
    >>> record.held, record.missed, 0 < record.p_slack < 1
    (True, None, True)
    """
    check_run(model, agent, steps, seed)
    episodes, v_held, p_held, v_used, p_used = 0, True, True, 0.0, 0.0
    missed: int | None = None
    for _, looks in recorded(model, agent, int(steps), seed, _ROWS):
        held = looks.v_held & looks.p_held
        if missed is None and not held.all():
            missed = int(agent.episode_starts[looks.number[np.argmin(held)] - 1])
        episodes += held.size
        v_held &= bool(looks.v_held.all())
        p_held &= bool(looks.p_held.all())
        v_used = float(np.fmax.reduce(looks.v_used, initial=v_used))
        p_used = float(np.fmax.reduce(looks.p_used, initial=p_used))
    return Coverage(
        steps=int(steps),
        episodes=episodes,
        v_held=v_held,
        p_held=p_held,
        v_slack=1.0 - v_used,
        p_slack=1.0 - p_used,
        missed=missed,
    )
