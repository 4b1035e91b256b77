"""Elimination without subtractions (Grassmann, Taksar, Heyman): the stationary distribution of a small chain.

States are struck out from the last to the second. When k goes, the chain is watched only while it is in 0 ... k - 1:

    p(i,j) becomes p(i,j) + p(i,k) p(k,j) / (p(k,0) + ... + p(k,k-1)).

The weights then follow from the first to the last. Nothing is ever subtracted, so every entry of the result is right to
a few units in its last place, however small it is.
"""

from __future__ import annotations

from typing import Final

from equipoise._compile import kernel

_LARGE: Final = 1e200  # a weight above it is scaled down, and all before it with it


@kernel
def eliminate(n, matrix, weight):  # type: ignore[no-untyped-def]
    """Fill ``weight[:n]`` with the stationary distribution of the chain ``matrix[:n, :n]``, which is overwritten."""
    for k in range(n - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += matrix[k, j]
        for i in range(k):
            matrix[i, k] /= out
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    weight[0] = 1.0
    for k in range(1, n):
        weight[k] = 0.0
        for i in range(k):
            weight[k] += weight[i] * matrix[i, k]
        if weight[k] > _LARGE:
            largest = weight[k]
            for i in range(k + 1):
                weight[i] /= largest
    total = 0.0
    for k in range(n):
        total += weight[k]
    for k in range(n):
        weight[k] /= total
