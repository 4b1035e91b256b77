r"""UCRL2's own regions: a ball in the 1-norm around the estimate of each pair's transitions.

"jaksch", the original (Jaksch, Ortner, Auer 2010, section 3), with SA pairs, A = SA / S (or 1, should that be
less: few laws may have many values) and n = max(1, N):

    |p - p^|_1 <= sqrt(14 S log(2 A tau / delta) / n),      |v_k - v^_k| <= sqrt(7 log(2 K SA tau / delta) / (2n)).

"laplace", for all n at once and without tau (a Gaussian mixture for each set of states; docs/confidence.md):

    |p - p^|_1 <= sqrt(2 (1 + 1/n) log( sqrt(n+1) (2^(S-1) - 1) 2 SA / delta ) / n),
    |v_k - v^_k| <= sqrt((1 + 1/n) log( sqrt(n+1) 2 K SA / delta ) / (2n)).

The planner's inner maximum over a ball is that of UCRL2, so the agent with a linear reward, a threshold of
infinity and "jaksch" is UCRL2 as it was published, but that mean outcomes are kept within [0, 1].
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from equipoise._runtime.compiler import Entry
from equipoise.confidence.base import Confidence, confidence_entry, needs_filling, opened
from equipoise.confidence.bernstein import laplace_radius
from equipoise.confidence.region import lay_out
from equipoise.errors import ParameterError

_FORMS: Final = ("jaksch", "laplace")
_LAPLACE: Final = _FORMS.index("laplace")
_LOG_TWO: Final = math.log(2.0)


@confidence_entry
def _fill(frame):  # type: ignore[no-untyped-def]
    task, counts, region, own = opened(frame)
    form = own.ints[0]
    n_states, n_pairs, delta = task.n_states, task.n_pairs, task.delta
    outcomes = float(task.n_outcomes) * float(n_pairs)
    lay_out(task, counts, region)
    for pair in range(n_pairs):
        if not needs_filling(task, counts, pair):
            continue
        n = float(counts.visits[pair] + counts.fresh[pair])
        for k in range(task.n_outcomes):
            lower, upper = 0.0, 1.0
            if task.known_mask[pair]:
                lower = upper = task.known_outcomes[pair, k]
            elif n > 0.0:
                if form == _LAPLACE:
                    width = laplace_radius(n, delta / (2.0 * outcomes))
                else:
                    width = math.sqrt(3.5 * math.log(2.0 * outcomes * task.tau / delta) / n)
                mean = counts.sums[pair, k] / n
                lower, upper = max(0.0, mean - width), min(1.0, mean + width)
            region.v_lo[pair, k] = lower
            region.v_hi[pair, k] = upper
        begin = counts.block_first[pair]
        listed = region.first[pair]
        for i in range(begin, begin + counts.block_used[pair]):
            region.successor[listed] = counts.pool_state[i]
            region.lo[listed] = counts.pool_count[i] / n
            region.hi[listed] = region.lo[listed]
            listed += 1
        region.rest[pair] = 0.0
        if n <= 0.0:
            region.radius[pair] = 2.0
        elif n_states == 1:
            continue  # all is known
        elif form == _LAPLACE:
            sets = (n_states - 1) * _LOG_TWO + math.log1p(-math.exp(-(n_states - 1) * _LOG_TWO))
            log = 0.5 * math.log(n + 1.0) + sets + math.log(2.0 * n_pairs / delta)
            region.radius[pair] = min(2.0, math.sqrt(2.0 * (1.0 + 1.0 / n) * log / n))
        else:
            log = math.log(2.0 * max(1.0, n_pairs / n_states) * task.tau / delta)
            region.radius[pair] = min(2.0, math.sqrt(14.0 * n_states * log / n))


@final
class L1(Confidence):
    """Balls in the 1-norm.

    Parameters
    ----------
    form : str
        "jaksch", UCRL2's radii, or "laplace", which hold for all numbers of visits at once.

    See Also
    --------
    equipoise.confidence.Adaptive : Intervals for each successor.

    Examples
    --------
    UCRL2:

    >>> import math
    >>> import equipoise as eq
    >>> model = eq.models.riverswim(6)
    >>> agent = eq.TocUCRL2(model.space, eq.rewards.Linear([1.0]), threshold=math.inf, confidence=L1())
    """

    guarantee = "1 - delta, for all times at once"

    def __init__(self, form: str = "jaksch") -> None:
        if not isinstance(form, str) or form not in _FORMS:
            raise ParameterError(f"form: got {form!r}; one of {', '.join(map(repr, _FORMS))} is needed")
        self.form = form
        self.timeless = form == "laplace"

    @property
    def kernel(self) -> Entry:
        """Both forms."""
        return _fill

    @property
    def ints(self) -> NDArray[np.int64]:
        """Which form."""
        return np.array([_FORMS.index(self.form)])
