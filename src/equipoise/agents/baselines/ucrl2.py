"""UCRL2 (Jaksch et al. 2010), on the regions of this package: TOC-UCRL2 with a linear g.

theta never moves, so the threshold has no effect and episodes end by the doubling of visits alone.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from equipoise.agents.toc_ucrl2 import TocUCRL2
from equipoise.models.model import Space
from equipoise.rewards.linear import Linear


def ucrl2(space: Space, weights: ArrayLike, delta: float = 0.05) -> TocUCRL2:
    """An agent that maximises a weighted sum of the average outcomes.

    Parameters
    ----------
    space : Space
        What may be known of the world.
    weights : array-like
        One number for each outcome.
    delta : float
        The level of the confidence regions, strictly between 0 and 1.

    See Also
    --------
    equipoise.TocUCRL2 : For concave rewards.

    Examples
    --------
    >>> import equipoise as eq
    >>> ucrl2(eq.models.riverswim(6).space, [1.0]).threshold
    inf
    """
    return TocUCRL2(space, Linear(weights), threshold=float("inf"), delta=delta)
