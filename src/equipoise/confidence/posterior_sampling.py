r"""Regions of one point, drawn from the posterior at the start of each episode (after Thompson; PSRL).

With n visits of a pair, k_i of them to the successor i, and j successors seen:

    transitions    Dirichlet(k_1 + alpha, ..., k_j + alpha, (S - j) alpha),  alpha = prior / S,
    outcome k      Beta(1 + total_k, 1 + n - total_k).

The last entry of the Dirichlet is the mass of all states never seen, which share it evenly: the distribution of their
sum is exact, and a pair costs what was seen of it. An outcome inside (0, 1) counts as that part of a success.

With `samples` above one the region is the smallest box around that many draws, a little more optimistic than the
choice among them of Agrawal and Jia (2017).

With known mechanics a law has few values, and a draw in which some of them have next to no probability could cut the
system apart. So a part 1/(n + 2) of the mass of a law is spread evenly over its values (`counts.soften`).

No regret bound is proven here for an agent with these regions. It learns fast, without a guarantee.

Random numbers come from SplitMix64 (Steele, Lea, Flood 2014), whose state is one number; gamma variates are those of
Marsaglia and Tsang (2000), normal ones those of Marsaglia's polar method.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._checks import SEED_LIMIT, check_float, check_int
from equipoise._runtime.compiler import Entry, inlined
from equipoise.confidence.base import Confidence, confidence_entry, opened
from equipoise.errors import ParameterError

_MOST_SAMPLES: Final = 1000
_KEY: Final = 0x706F7374  # apart from the streams of worlds with the same seed


@confidence_entry
def _fill(frame):
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
        self.prior = check_float(prior, "prior", error=ParameterError)
        if not 0 < self.prior < np.inf:
            raise ParameterError(f"prior: got {prior}; a number > 0 is needed")
        self.samples = check_int(samples, "samples", 1, _MOST_SAMPLES, error=ParameterError)
        self.seed = check_int(seed, "seed", 0, SEED_LIMIT, error=ParameterError)

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


_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_TINY: Final = 1e-300


@inlined
def uniform(stream):
    """In (0, 1), never at an end."""
    stream[0] += _STEP
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(12)) + 0.5) * 2.0**-52


@inlined
def normal(stream):
    """Mean 0, variance 1."""
    while True:
        x = 2.0 * uniform(stream) - 1.0
        y = 2.0 * uniform(stream) - 1.0
        s = x * x + y * y
        if 0.0 < s < 1.0:
            return x * math.sqrt(-2.0 * math.log(s) / s)


@inlined
def gamma(stream, shape):
    """Scale 1; a shape of zero gives zero."""
    if shape <= 0.0:
        return 0.0
    boost = 1.0
    if shape < 1.0:
        boost = max(_TINY, uniform(stream) ** (1.0 / shape))
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(uniform(stream)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return boost * d * v


@inlined
def beta(stream, a, b):
    """By two gamma variates."""
    x = gamma(stream, a)
    return x / (x + gamma(stream, b))
