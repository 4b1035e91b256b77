r"""Value iteration that leaps: many steps at once where the sweeps go on in one direction.

Where two ways of living differ by a gain of delta and are c apart, sweeps make the difference of their values grow by
delta each, until after c / delta of them it pays to move: with theta = 1/t from balance, as many as there were steps.
All that time Tu - u stays what it is, and u + m (Tu - u) is what m sweeps would make of u. So after some sweeps m is
doubled, from 1, as long as the span of the difference at the new u is no larger than it was; then sweeps go on.

Nothing is lost: whatever u is, the last difference is the certificate, as in `evi`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from equipoise._runtime.compiler import inlined, kernel
from equipoise.planning.kernels import CONVERGED, GAVE_UP, PAUSED, step_length, sweep

_EVERY = 8  # sweeps between two leaps: what is not in the direction dies out meanwhile
_GROWTH = 1e-3  # by so much, relative, the span may be larger after a leap: rounding, and what has not died out yet
_FARTHEST = 1e12


@kernel
def iterate_with_leaps(laws, first_pair, region, reward, tolerance, limit, relaxation, u, policy, work, pause):
    """As `kernels.iterate`, with leaps."""
    certificate = work.certificate[0]
    progress = work.progress[0]
    done = progress.sweeps
    since = progress.since
    length = progress.length  # of the leap that is being tried, if any
    before = progress.before  # the span before it
    progress.sweeps = 0
    if done == 0:
        for s in range(u.shape[0]):
            work.order[s] = s
        since = 0
        length = 0.0
        before = np.inf
    for count in range(done + 1, limit + 1):
        sweep(laws, first_pair, region, reward, u, policy, work, np.inf)
        span = _certify(u, work.u_next, count, certificate)
        if 0.0 <= span <= tolerance:
            return CONVERGED
        if not 0.0 <= span < np.inf:
            return GAVE_UP  # a reward, a bound or a bias is not finite
        since += 1
        if length > 0.0:
            if span <= before * (1.0 + _GROWTH) and length < _FARTHEST:
                length *= 2.0
                _add(length, work.ahead, u)
            else:
                _add(-length, work.ahead, u)
                length = 0.0
                since = 0
        elif since >= _EVERY:
            least = certificate.gain - span
            for s in range(u.shape[0]):
                work.ahead[s] = work.u_next[s] - u[s] - least
            before = span
            length = 1.0
            _add(length, work.ahead, u)
        else:
            for s in range(u.shape[0]):
                work.u_next[s] -= u[s]
            _add(step_length(laws, relaxation, count), work.u_next, u)
        if count - done == pause and count < limit:
            progress.sweeps = count
            progress.since = since
            progress.length = length
            progress.before = before
            return PAUSED
    return GAVE_UP


@inlined
def _certify(u, u_next, count, certificate):
    """Write the certificate of a sweep; return the span of the difference."""
    largest = -np.inf
    smallest = np.inf
    for s in range(u.shape[0]):
        difference = u_next[s] - u[s]
        largest = max(largest, difference)
        smallest = min(smallest, difference)
    certificate.gain = largest
    certificate.span = largest - smallest
    certificate.sweeps = count
    return largest - smallest


@inlined
def _add(length, direction, u):
    """Add to u so much of a direction, and make its smallest entry zero."""
    base = np.inf
    for s in range(u.shape[0]):
        u[s] += length * direction[s]
        base = min(base, u[s])
    for s in range(u.shape[0]):
        u[s] -= base
