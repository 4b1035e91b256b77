"""Whether one agent does better than another: a paired test over seeds, corrected for the number of pairs.

**Pairs.** Agents that ran with the same seed met the same random numbers, so each shared seed gives one difference d_i
between the final losses of two agents, and these are independent.

**Test.** The sign-flip (Fisher-Pitman) permutation test of the mean difference. If the agents were alike then each
d_i would be as likely as -d_i, and

    p = the share of the 2^n choices of signs with |sum ± d_i| >= |sum d_i|.

It is exact for every n and every distribution, and weighs the mean, which the tables and charts show. The smallest p is
2^(1-n): with Holm's correction over m pairs it takes 1 + log2(m / 0.05) seeds, rounded up. If all d_i are zero, p = 1.
All choices are counted up to n = 32, as sums of two halves; with more seeds 9999 choices are drawn with a fixed seed,
and p = (1 + hits) / 10000, which keeps the level exact.

**No test** with one shared seed, or when d is the same nonzero number on every seed: there is no randomness to weigh.

**Correction.** Holm's, over all tested pairs of agents of one problem: with p_(1) <= ... <= p_(m),

    corrected p_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).

The probability of any false claim in a problem is then at most 5 %, whatever the dependence between the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise._statistics import Interval, mean_interval

ALPHA: Final = 0.05
MOST_EXACT: Final = 32
DRAWS: Final = 9999
_ROUNDING: Final = 1e-12  # sums this close, relative to sum |d|, are ties


@dataclass(frozen=True)
class Comparison:
    """Two agents on their shared seeds; differences are of the first minus the second, and less is better."""

    first: str
    second: str
    n: int
    lower: int
    ties: int
    difference: Interval | None
    p: float | None = None
    corrected: float | None = None

    @property
    def identical(self) -> bool:
        """Equal on every shared seed, of several."""
        return self.n > 1 and self.ties == self.n

    @property
    def without_chance(self) -> bool:
        """The same difference, not zero, on every one of several seeds."""
        return self.difference is not None and self.difference.without_chance and not self.identical

    @property
    def significant(self) -> bool:
        """Whether the corrected p is at most 5 %."""
        return self.corrected is not None and self.corrected <= ALPHA

    def flipped(self) -> Comparison:
        """The same with the agents in the other order."""
        d = self.difference
        turned = None if d is None else Interval(-d.mean, d.half, d.n)
        lower = self.n - self.ties - self.lower
        return replace(self, first=self.second, second=self.first, lower=lower, difference=turned)


def sign_flip_test(differences: ArrayLike) -> float:
    """The two-sided p of the sign-flip permutation test that the mean difference is zero."""
    d = np.asarray(differences, dtype=float)
    bound = float(abs(d.sum()) - _ROUNDING * np.abs(d).sum())
    if bound <= 0:
        return 1.0
    if d.size <= MOST_EXACT:
        left, right = np.sort(_signed_sums(d[: d.size // 2])), _signed_sums(d[d.size // 2 :])
        above = left.size * right.size - int(np.searchsorted(left, bound - right).sum())
        return min(1.0, 2.0 * above / 2.0**d.size)  # below -bound lie as many
    rng = np.random.default_rng(0)
    hits = sum(abs(float(np.where(rng.random(d.size) < 0.5, d, -d).sum())) >= bound for _ in range(DRAWS))
    return (1 + hits) / (1 + DRAWS)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's corrected p values, in the order given."""
    corrected, largest = [0.0] * len(p), 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        corrected[index] = largest
    return corrected


def seeds_needed(pairs: int) -> int:
    """How many shared seeds can make a difference significant at all, when so many pairs are compared."""
    return math.ceil(1 + math.log2(pairs / ALPHA))


def compare_all(losses: Mapping[str, Mapping[int, float]]) -> tuple[Comparison, ...]:
    """All pairs of agents, each on the seeds they share, with p values corrected over the pairs that were tested."""
    pairs = [_compare(first, second, losses[first], losses[second]) for first, second in combinations(losses, 2)]
    tested = [index for index, pair in enumerate(pairs) if pair.p is not None]
    for index, p in zip(tested, holm([p for pair in pairs if (p := pair.p) is not None]), strict=True):
        pairs[index] = replace(pairs[index], corrected=p)
    return tuple(pairs)


def _compare(first: str, second: str, one: Mapping[int, float], other: Mapping[int, float]) -> Comparison:
    seeds = sorted(one.keys() & other.keys())
    if not seeds:
        return Comparison(first, second, 0, 0, 0, None)
    d = np.array([one[seed] - other[seed] for seed in seeds])
    lower, ties = int(np.count_nonzero(d < 0)), int(np.count_nonzero(d == 0))
    pair = Comparison(first, second, d.size, lower, ties, mean_interval(d))
    return pair if d.size == 1 or pair.without_chance else replace(pair, p=sign_flip_test(d))


def _signed_sums(d: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for x in d:
        sums = np.concatenate([sums - x, sums + x])
    return sums
