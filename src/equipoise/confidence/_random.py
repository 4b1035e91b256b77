"""Random numbers in kernels: a stream of one number, and the gamma and normal laws drawn from it.

The generator is SplitMix64 (Steele, Lea, Flood 2014): the state grows by a constant and is mixed. Gamma variates are
those of Marsaglia and Tsang (2000), normal ones those of Marsaglia's polar method.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Final

import numpy as np

from equipoise._compile import inlined

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
