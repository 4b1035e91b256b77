r"""Optimistic outcomes of some pairs, where those of each are nearly all alike; see `confidence.nonzero`.

Of pair i, outcome k is believed to have the mean

    v~(i,k) = high(i) if theta_k < 0, else low(i),                  where it is not listed,
    v~(i,k) = hi(i,k) if theta_k < 0, else lo(i,k),                 where it is.

As a matrix that is high (x) up + low (x) (1 - up) + listed, with up the indicator of theta < 0 and `listed` what the
listed ones have more than they would have if they were not. It is only ever multiplied by vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array

from equipoise._types import Index, Vector
from equipoise.confidence.nonzero import NonzeroBounds, NonzeroSums, listed_places


@final
@dataclass(frozen=True, eq=False)
class BelievedRows:
    """One row a pair; it stands on either side of ``@``.

    Attributes
    ----------
    listed : sparse array
        What the listed outcomes have more than the others.
    high, low : float arrays, one entry a row
        The bounds of every outcome that is not listed.
    up : float array, one entry an outcome
        1 where theta is negative, so that more is better; else 0.
    """

    listed: csr_array
    high: Vector
    low: Vector
    up: Vector
    __array_ufunc__ = None  # so that an array on the left leaves the product to this class

    def __matmul__(self, vector: Vector) -> Vector:
        return np.asarray(self.listed @ vector + self.high * (self.up @ vector) + self.low * ((1.0 - self.up) @ vector))

    def __rmatmul__(self, weights: Vector) -> Vector:
        product: Any = weights @ self.listed
        return np.asarray(product + (weights @ self.high) * self.up + (weights @ self.low) * (1.0 - self.up))


def believed_rows(sums: NonzeroSums, bounds: NonzeroBounds, theta: Vector, pairs: Index) -> BelievedRows:
    """Optimistic outcomes of these pairs.

    Parameters
    ----------
    sums : NonzeroSums
        Which outcomes are listed.
    bounds : NonzeroBounds
        Their bounds, and those of the others.
    theta : float array
        Minus the prices of the outcomes.
    pairs : int array
        Which.

    Examples
    --------
    One pair, three outcomes, of which the second was seen:

    >>> from equipoise.confidence.nonzero import no_bounds, no_sums
    >>> sums = no_sums(1, 3)
    >>> sums.block_used[0], sums.pool_outcome[0] = 1, 1
    >>> bounds = no_bounds(sums)
    >>> bounds.lo[0], bounds.hi[0], bounds.rest_hi[0] = 0.25, 0.75, 0.5
    >>> rows = believed_rows(sums, bounds, np.array([-1.0, -1.0, 2.0]), np.array([0]))
    >>> (np.array([1.0]) @ rows).tolist(), (rows @ np.ones(3)).tolist()
    ([0.5, 0.75, 0.0], [1.25])
    """
    row, place = listed_places(sums, pairs)
    outcome, high, low = sums.pool_outcome[place], bounds.rest_hi[pairs], bounds.rest_lo[pairs]
    better = theta[outcome] < 0.0
    more = np.where(better, bounds.hi[place] - high[row], bounds.lo[place] - low[row])
    listed = csr_array((more, (row, outcome)), shape=(pairs.size, theta.size))
    return BelievedRows(listed, high, low, (theta < 0.0).astype(np.float64))
