r"""Regions of one point, drawn from the posterior at the start of each episode (after Thompson; PSRL).

With n visits of a pair, k_i of them to the successor i, and j successors seen:

    transitions    Dirichlet(k_1 + alpha, ..., k_j + alpha, (S - j) alpha),  alpha = prior / S,
    outcome k      Beta(1 + total_k, 1 + n - total_k).

The last entry of the Dirichlet is the mass of all states never seen, which share it evenly: the law of their sum is
exact, and a pair costs what was seen of it. An outcome inside (0, 1) counts as that part of a success.

With `samples` above one the region is the smallest box around that many draws, a little more optimistic than the
choice among them of Agrawal and Jia (2017).

With known mechanics a law has few values, and a draw in which some of them have next to no probability could cut the
system apart. So a part 1/(n + 2) of the mass of a law is spread evenly over its values (`law_counts.soften`).

There is no proof here that this agent's regret is small. It learns fast; what it spends is the guarantee.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._compile import Entry
from equipoise._numbers import SEEDS, real, whole
from equipoise.confidence._random import beta
from equipoise.confidence.base import Confidence
from equipoise.confidence.frame import confidence_entry, opened
from equipoise.errors import ParameterError

_MOST_SAMPLES: Final = 1000
_KEY: Final = 0x706F7374  # apart from the streams of worlds with the same seed


@confidence_entry
def _fill(frame):  # type: ignore[no-untyped-def]
    task, counts, region, own = opened(frame)
    n_states, n_outcomes, stream = task.n_states, task.n_outcomes, own.stream
    v_lo, v_hi, lo, hi, rest_sum = region.v_lo, region.v_hi, region.lo, region.hi, region.rest_sum
    prior = own.floats[0]
    alpha = prior / n_states
    samples = own.ints[0]
    region.first[0] = 0
    for pair in range(task.n_pairs):
        n = float(counts.visits[pair] + counts.fresh[pair])
        known = task.known_mask[pair]
        for k in range(n_outcomes):
            v_lo[pair, k] = 1.0
            v_hi[pair, k] = 0.0
            if known:
                v_lo[pair, k] = task.known_outcomes[pair, k]
                v_hi[pair, k] = task.known_outcomes[pair, k]
        begin = region.first[pair]
        block = counts.block_first[pair]
        used = counts.block_used[pair]
        for i in range(used):
            region.successor[begin + i] = counts.pool_state[block + i]
            lo[begin + i] = 1.0
            hi[begin + i] = 0.0
        region.first[pair + 1] = begin + used
        region.rest[pair] = 0.0
        rest_sum[pair] = 0.0
        for _ in range(samples):
            if not known:
                for k in range(n_outcomes):
                    total = counts.sums[pair, k]
                    drawn = beta(stream, 1.0 + total, 1.0 + max(0.0, n - total))
                    v_lo[pair, k] = min(v_lo[pair, k], drawn)
                    v_hi[pair, k] = max(v_hi[pair, k], drawn)
            # stick-breaking: one successor after the other, what is left is for those never seen
            left = 1.0
            weight = n + prior
            for i in range(used):
                share = counts.pool_count[block + i] + alpha
                weight = max(0.0, weight - share) if used - i > 1 or used < n_states else 0.0
                drawn = left * beta(stream, share, weight)
                left = max(0.0, left - drawn)
                lo[begin + i] = min(lo[begin + i], drawn)
                hi[begin + i] = max(hi[begin + i], drawn)
            rest_sum[pair] = max(rest_sum[pair], left)
        if used < n_states:
            region.rest[pair] = rest_sum[pair] / (n_states - used)


@final
class PosteriorSampling(Confidence):
    """A draw from the posterior, new at every episode.

    Parameters
    ----------
    prior : float
        How many visits the prior over a pair's transitions is worth.
    samples : int
        1: a single draw. More: the smallest box around that many, which is optimistic.
    seed : int
        Of its own stream of random numbers, apart from the world's; it is saved with the agent.

    See Also
    --------
    equipoise.confidence.Adaptive : With a guarantee.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(6)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), confidence=PosteriorSampling(seed=1))
    >>> run = eq.simulate(model, agent, steps=1000, seed=1)
    """

    guarantee = "none is proven here"
    caveat = "without a proof here"
    relaxation = 0.5  # a draw may be all but periodic
    drawn = True

    def __init__(self, prior: float = 0.5, samples: int = 1, seed: int = 0) -> None:
        self.prior = real(prior, "prior", error=ParameterError)
        if not 0 < self.prior < np.inf:
            raise ParameterError(f"prior: got {prior}; a number > 0 is needed")
        self.samples = whole(samples, "samples", 1, _MOST_SAMPLES, error=ParameterError)
        self.seed = whole(seed, "seed", 0, SEEDS, error=ParameterError)

    @property
    def kernel(self) -> Entry:
        """The draws."""
        return _fill

    @property
    def floats(self) -> NDArray[np.float64]:
        """The prior."""
        return np.array([self.prior])

    @property
    def ints(self) -> NDArray[np.int64]:
        """The number of draws."""
        return np.array([self.samples])

    def first_stream(self) -> NDArray[np.uint64]:
        """From the seed."""
        return np.random.SeedSequence(self.seed, spawn_key=(_KEY,)).generate_state(1, np.uint64).astype(np.uint64)
