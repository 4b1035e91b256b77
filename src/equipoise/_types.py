"""The kinds of arrays that the package speaks of, by one name each."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Branch: TypeAlias = tuple[float, int, Vector]  # of a law: a probability, the next state, the outcomes
